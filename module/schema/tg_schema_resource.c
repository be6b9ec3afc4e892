/* Resources: what a schema is called, and in which dialect it is written. */
#include "schema/tg_schema_compile.h"

#include "schema/tg_schema_run.h"

/* The vocabularies that a metaschema switches on, as bits. */
static int
tg_schema_vocabularies(tg_schema_compile_t *compile, tg_str_t at, tg_str_t list,
                       unsigned *vocabularies)
{
    tg_str_t key, text, value;
    unsigned bit, bits;
    tg_json_t json;
    int rc;

    tg_json_init(&json, list);
    rc = tg_json_object(&json);
    bits = TG_SCHEMA_V_CORE;

    while (rc == TG_OK && (rc = tg_json_member(&json, &key)) == TG_OK) {
        rc = tg_json_value(&json, &value);

        if (rc == TG_OK) {
            rc = tg_schema_decode(compile, key, &text);
        }

        bit = rc == TG_OK ? tg_schema_meta_vocabulary(text) : 0;
        bits |= bit;

        if (rc == TG_OK && bit == 0 && tg_json_type(value) == TG_JSON_TRUE) {
            (void) tg_schema_mistake_begin(compile, at.data);
            tg_buf_text(compile->error, "this dialect requires the unknown "
                                        "vocabulary ");
            tg_schema_put_quoted(compile->error, text);
            return TG_BAD;
        }
    }

    if (rc == TG_END) {
        *vocabularies = bits;
        rc = TG_OK;
    }

    return rc;
}

static int
tg_schema_mistake_dialect(tg_schema_compile_t *compile, tg_str_t at)
{
    return tg_schema_mistake_value(compile, at,
                                   "unknown dialect: write "
                                   "\"" TG_SCHEMA_DIALECT "\"");
}

static int
tg_schema_dialect(tg_schema_compile_t *compile, tg_str_t at,
                  const tg_schema_node_t *node)
{
    tg_schema_judged_t *judged;
    tg_str_t uri, raw, list;
    tg_json_t json;
    tg_uri_t parts;
    int rc;

    rc = tg_schema_read_string(compile, at, &uri);

    if (rc != TG_OK) {
        return rc;
    }

    if (uri.len != 0 && uri.data[uri.len - 1] == '#') {
        uri.len--;
    }

    if (tg_str_eq(uri, TG_STR(TG_SCHEMA_DIALECT))) {
        node->resource->vocabularies = TG_SCHEMA_V_DEFAULT;
        return TG_OK;
    }

    if (tg_uri_parse(uri, &parts) != TG_OK || parts.scheme.data == NULL
        || parts.fragment.data != NULL)
    {
        return tg_schema_mistake_dialect(compile, at);
    }

    rc = tg_schema_fetch(compile, uri, &raw);

    if (rc == TG_MISSING || rc == TG_BAD
        || (rc == TG_OK
            && (tg_json_check(raw, NULL) != TG_OK
                || *tg_schema_space(raw.data) != '{')))
    {
        return tg_schema_mistake_dialect(compile, at);
    }

    judged = rc == TG_OK ? tg_schema_get(compile, sizeof(*judged)) : NULL;

    if (judged == NULL) {
        return TG_NOMEM;
    }

    judged->at = at.data;
    judged->uri = uri;
    tg_json_init(&json,
                 tg_str(node->at,
                        (size_t) (node->resource->doc->raw.data
                                  + node->resource->doc->raw.len - node->at)));
    (void) tg_json_value(&json, &judged->raw);
    judged->next = compile->judged;
    compile->judged = judged;
    node->resource->vocabularies = TG_SCHEMA_V_DEFAULT;

    if (tg_json_get(raw, TG_STR("$vocabulary"), &list) != TG_OK) {
        return TG_OK;
    }

    return tg_schema_vocabularies(compile, at, list,
                                  &node->resource->vocabularies);
}

/* A schema with an $id is a resource of its own, and its own base URI. */
static int
tg_schema_build_id(tg_schema_compile_t *compile, tg_str_t raw,
                   tg_schema_node_t *node)
{
    tg_schema_resource_t *resource, *other;
    tg_uri_t base, reference;
    tg_str_t text, uri;
    tg_buf_t full;
    char *data;
    int rc;

    rc = tg_schema_read_string(compile, raw, &text);

    if (rc != TG_OK) {
        return rc;
    }

    if (tg_uri_parse(text, &reference) != TG_OK) {
        return tg_schema_mistake_value(compile, raw, "must be a URI reference");
    }

    if (reference.fragment.len != 0) {
        return tg_schema_mistake_value(compile, raw,
                                       "must have no fragment; name a part of "
                                       "a schema with \"$anchor\"");
    }

    (void) tg_uri_parse(node->resource->uri, &base);
    tg_buf_init(&full, compile->alloc);
    tg_uri_resolve(&base, &reference, &full);
    data = tg_buf_failed(&full) ? NULL : tg_schema_get(compile, full.len);

    if (data != NULL) {
        memcpy(data, tg_buf_view(&full).data, full.len);
    }

    uri = tg_str(data, full.len);
    tg_buf_deinit(&full);

    if (data == NULL) {
        return TG_NOMEM;
    }

    for (other = compile->resources; other != NULL; other = other->next) {
        if (tg_str_eq(other->uri, uri)
            && (other != node->resource || other->root != NULL))
        {
            return tg_schema_mistake_value(compile, raw,
                                           "two schemas have this \"$id\"");
        }
    }

    if (node->resource->root == NULL) {
        node->resource->uri = uri;
        node->resource->hash = tg_schema_hash(uri, 0);
        return TG_OK;
    }

    resource = tg_schema_resource_new(compile, uri,
                                      node->resource->vocabularies);

    if (resource == NULL) {
        return TG_NOMEM;
    }

    resource->doc = node->resource->doc;
    node->resource = resource;

    return TG_OK;
}

static int
tg_schema_is_anchor(tg_str_t name)
{
    size_t i;
    char c;

    for (i = 0; i < name.len; i++) {
        c = name.data[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') {
            continue;
        }

        if (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.')) {
            return 0;
        }
    }

    return name.len != 0;
}

const tg_schema_anchor_t *
tg_schema_anchor_find(const tg_schema_resource_t *resource, tg_str_t name)
{
    const tg_schema_anchor_t *anchor;

    for (anchor = resource->anchors; anchor != NULL; anchor = anchor->next) {
        if (tg_str_eq(anchor->name, name)) {
            break;
        }
    }

    return anchor;
}

static int
tg_schema_build_anchor(tg_schema_compile_t *compile, tg_str_t raw,
                       tg_schema_node_t *node, int is_dynamic)
{
    tg_schema_anchor_t *anchor;
    tg_str_t name;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    rc = tg_schema_read_string(compile, raw, &name);

    if (rc != TG_OK) {
        return rc;
    }

    if (!tg_schema_is_anchor(name)) {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a letter or _ followed by "
                                       "letters, digits, _, - and .");
    }

    if (tg_schema_anchor_find(node->resource, name) != NULL) {
        return tg_schema_mistake_value(compile, raw,
                                       "two schemas have this anchor");
    }

    anchor = tg_schema_get(compile, sizeof(*anchor));

    if (anchor == NULL) {
        return TG_NOMEM;
    }

    anchor->name = name;
    anchor->node = node;
    anchor->is_dynamic = is_dynamic;
    anchor->next = node->resource->anchors;
    node->resource->anchors = anchor;

    return TG_OK;
}

static int
tg_schema_build_ref(tg_schema_compile_t *compile, tg_str_t raw,
                    tg_schema_node_t *node, int is_dynamic)
{
    tg_schema_pending_t *pending;
    tg_uri_t reference;
    tg_str_t text;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    rc = tg_schema_read_string(compile, raw, &text);

    if (rc != TG_OK) {
        return rc;
    }

    if (tg_uri_parse(text, &reference) != TG_OK) {
        return tg_schema_mistake_value(compile, raw, "must be a URI reference");
    }

    pending = tg_schema_get(compile, sizeof(*pending));

    if (pending == NULL) {
        return TG_NOMEM;
    }

    pending->node = node;
    pending->at = raw.data;
    pending->text = text;
    pending->is_dynamic = is_dynamic;
    *compile->pending_tail = pending;
    compile->pending_tail = &pending->next;

    return TG_OK;
}

static int
tg_schema_check_vocabulary(tg_schema_compile_t *compile, tg_str_t raw)
{
    tg_str_t key, value, text;
    tg_json_t json;
    tg_uri_t uri;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_OBJECT) {
        return tg_schema_mistake_value(compile, raw, "must be an object");
    }

    tg_json_init(&json, raw);
    rc = tg_json_object(&json);

    while (rc == TG_OK && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_schema_decode(compile, key, &text);

        if (rc == TG_OK
            && (tg_uri_parse(text, &uri) != TG_OK || uri.scheme.data == NULL))
        {
            return tg_schema_mistake(compile, value.data,
                                     "the name of a vocabulary must be a URI");
        }

        if (rc == TG_OK && tg_json_type(value) != TG_JSON_TRUE
            && tg_json_type(value) != TG_JSON_FALSE)
        {
            return tg_schema_mistake_value(compile, value,
                                           "must be true or false");
        }
    }

    return rc;
}

int
tg_schema_build_identity(tg_schema_compile_t *compile,
                         const tg_schema_object_t *object,
                         tg_schema_node_t *node)
{
    tg_str_t dialect;
    int rc;

    rc = object->k[TG_SCHEMA_K_ID].data != NULL
             ? tg_schema_build_id(compile, object->k[TG_SCHEMA_K_ID], node)
             : TG_OK;
    dialect = object->k[TG_SCHEMA_K_SCHEMA];

    if (rc == TG_OK && dialect.data != NULL) {
        if (node->resource->root != NULL) {
            return tg_schema_mistake(compile, dialect.data,
                                     "\"$schema\" belongs to the root of a "
                                     "schema or beside an \"$id\"");
        }

        rc = tg_schema_dialect(compile, dialect, node);
    }

    if (rc == TG_OK && node->resource->root == NULL) {
        node->resource->root = node;
    }

    if (rc == TG_OK) {
        rc = tg_schema_check_vocabulary(compile,
                                        object->k[TG_SCHEMA_K_VOCABULARY]);
    }

    if (rc == TG_OK) {
        rc = tg_schema_build_anchor(compile, object->k[TG_SCHEMA_K_ANCHOR],
                                    node, 0);
    }

    if (rc == TG_OK) {
        rc = tg_schema_build_anchor(compile,
                                    object->k[TG_SCHEMA_K_DYNAMIC_ANCHOR], node,
                                    1);
    }

    if (rc == TG_OK) {
        rc = tg_schema_build_ref(compile, object->k[TG_SCHEMA_K_REF], node, 0);
    }

    if (rc == TG_OK) {
        rc = tg_schema_build_ref(compile, object->k[TG_SCHEMA_K_DYNAMIC_REF],
                                 node, 1);
    }

    return rc;
}
