/* Resources: base URIs, anchors and dialects of schemas. */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_schema_validator.h"

int
tg_schema_fetch_document(tg_schema_compiler_t *compile, tg_str_t uri,
                         tg_str_t *raw)
{
    tg_str_t found;

    found = tg_schema_meta_find(uri);

    if (found.data != NULL) {
        *raw = found;
        return TG_OK;
    }

    if (compile->options.resolve == NULL) {
        return TG_MISSING;
    }

    return compile->options.resolve(compile->options.resolve_ctx, uri, raw);
}

tg_schema_resource_t *
tg_schema_resource_new(tg_schema_compiler_t *compile,
                       const tg_schema_doc_t *doc, tg_str_t uri, unsigned draft,
                       unsigned vocabularies)
{
    tg_schema_resource_t *resource;

    resource = tg_schema_alloc(compile, sizeof(*resource));

    if (resource != NULL) {
        resource->doc = doc;
        resource->uri = uri;
        resource->draft = draft;
        resource->vocabularies = vocabularies;
        resource->next = compile->resources;
        compile->resources = resource;
    }

    return resource;
}

/* Reads the vocabularies that a metaschema enables, as bits. */
static int
tg_schema_read_vocabularies(tg_schema_compiler_t *compile, tg_str_t at,
                            tg_str_t list, unsigned *vocabularies)
{
    tg_schema_entries_t entries;
    tg_str_t text;
    unsigned bit;
    int is_required, rc;

    *vocabularies = TG_SCHEMA_V_CORE;
    tg_schema_entries_init(&entries, list);

    while (tg_schema_entries_next(&entries)) {
        rc = tg_schema_unescape(compile, entries.key, &text);

        if (rc != TG_OK) {
            return rc;
        }

        is_required = tg_json_type(entries.value) == TG_JSON_TRUE;
        bit = tg_schema_meta_get_vocabulary(text, is_required);
        *vocabularies |= bit;

        if (bit == 0 && is_required) {
            (void) tg_schema_error_begin(compile, at.data);
            tg_buf_append_cstr(compile->error,
                               "this dialect requires the unknown "
                               "vocabulary ");
            tg_schema_append_quoted(compile->error, text);
            return TG_INVALID;
        }
    }

    return TG_OK;
}

static int
tg_schema_error_set_dialect(tg_schema_compiler_t *compile, tg_str_t at)
{
    return tg_schema_error_set_value(compile, at,
                                     "unknown dialect: write "
                                     "\"" TG_SCHEMA_DIALECT "\"");
}

static int
tg_schema_meta_check_add(tg_schema_compiler_t *compile, tg_str_t at,
                         tg_str_t uri, const tg_schema_node_t *node)
{
    tg_schema_meta_check_t *meta_check;

    meta_check = tg_schema_alloc(compile, sizeof(*meta_check));

    if (meta_check == NULL) {
        return TG_NOMEM;
    }

    meta_check->at = at.data;
    meta_check->uri = uri;
    meta_check->raw = tg_str(node->at, node->len);
    meta_check->next = compile->meta_check;
    compile->meta_check = meta_check;

    return TG_OK;
}

static int
tg_schema_read_dialect(tg_schema_compiler_t *compile, tg_str_t at,
                       const tg_schema_node_t *node)
{
    tg_str_t uri, raw, list;
    tg_uri_t parts;
    int rc;

    rc = tg_schema_read_string(compile, at, &uri);

    if (rc != TG_OK) {
        return rc;
    }

    if (tg_schema_draft_from_uri(uri) != 0) {
        node->resource->vocabularies = TG_SCHEMA_V_DEFAULT;
        return TG_OK;
    }

    if (uri.len != 0 && uri.data[uri.len - 1] == '#') {
        uri.len--;
    }

    if (tg_uri_parse(uri, &parts) != TG_OK || parts.scheme.data == NULL
        || parts.fragment.data != NULL)
    {
        return tg_schema_error_set_dialect(compile, at);
    }

    rc = tg_schema_fetch_document(compile, uri, &raw);

    if (rc == TG_MISSING || rc == TG_INVALID
        || (rc == TG_OK
            && (tg_json_validate(raw, NULL) != TG_OK
                || *tg_schema_skip_space(raw.data) != '{')))
    {
        return tg_schema_error_set_dialect(compile, at);
    }

    if (rc == TG_OK) {
        rc = tg_schema_meta_check_add(compile, at, uri, node);
    }

    if (rc != TG_OK) {
        return rc;
    }

    node->resource->vocabularies = TG_SCHEMA_V_DEFAULT;

    return tg_json_has_member(raw, TG_STR("$vocabulary"), TG_JSON_OBJECT, &list)
               ? tg_schema_read_vocabularies(compile, at, list,
                                             &node->resource->vocabularies)
               : TG_OK;
}

static int
tg_schema_read_uri(tg_schema_compiler_t *compile, tg_str_t raw, tg_str_t *text)
{
    tg_uri_t uri;
    int rc;

    rc = tg_schema_read_string(compile, raw, text);

    return rc != TG_OK || tg_uri_parse(*text, &uri) == TG_OK
               ? rc
               : tg_schema_error_set_value(compile, raw,
                                           "must be a URI reference");
}

/* Adds an anchor to the node's resource. Its name must be new. */
static int
tg_schema_anchor_add(tg_schema_compiler_t *compile, tg_str_t raw, tg_str_t name,
                     tg_schema_node_t *node, int is_dynamic)
{
    tg_schema_anchor_t *anchor;

    if (tg_schema_compiler_spend(compile, node->resource->n_anchors) != TG_OK) {
        return TG_LIMIT;
    }

    if (tg_schema_anchor_find(node->resource, name) != NULL) {
        return tg_schema_error_set_value(compile, raw,
                                         "two schemas have this anchor");
    }

    anchor = tg_schema_alloc(compile, sizeof(*anchor));

    if (anchor == NULL) {
        return TG_NOMEM;
    }

    anchor->name = name;
    anchor->node = node;
    anchor->is_dynamic = is_dynamic;
    anchor->next = node->resource->anchors;
    node->resource->anchors = anchor;
    node->resource->n_anchors++;

    return TG_OK;
}

static int
tg_schema_read_id(tg_schema_compiler_t *compile, tg_str_t raw,
                  const tg_schema_node_t *node, tg_str_t *id,
                  tg_str_t *fragment)
{
    tg_buf_t full;
    tg_str_t text;
    size_t len;
    int rc;

    rc = tg_schema_read_uri(compile, raw, &text);

    if (rc != TG_OK) {
        return rc;
    }

    tg_buf_init(&full, compile->alloc);
    rc = tg_schema_resolve_uri(compile, node->resource, text, &full, &len);

    if (rc == TG_INVALID) {
        rc = tg_schema_error_set_value(compile, raw, "is not valid UTF-8");
    } else if (rc == TG_OK) {
        rc = tg_schema_copy_text(compile, tg_buf_view(&full), id);
    }

    tg_buf_deinit(&full);

    if (rc == TG_OK && id->data != NULL) {
        *fragment = tg_str_skip(*id, len);
        id->len = len;
    }

    return rc;
}

/* Makes the node the root of a resource with this (base) URI. */
static int
tg_schema_resource_set_uri(tg_schema_compiler_t *compile, tg_str_t raw,
                           tg_str_t uri, tg_schema_node_t *node)
{
    tg_schema_resource_t *other;

    for (other = compile->resources; other != NULL; other = other->next) {
        if (tg_schema_compiler_spend(compile, TG_SCHEMA_URI_STEPS(uri))
            != TG_OK) {
            return TG_LIMIT;
        }

        if (tg_str_eq(other->uri, uri)
            && (other != node->resource || other->root != NULL))
        {
            return tg_schema_error_set_value(compile, raw,
                                             "two schemas have this \"$id\"");
        }
    }

    if (node->resource->root == NULL) {
        node->resource->uri = uri;
        return TG_OK;
    }

    other = tg_schema_resource_new(compile, node->resource->doc, uri,
                                   node->resource->draft,
                                   node->resource->vocabularies);

    if (other == NULL) {
        return TG_NOMEM;
    }

    node->resource = other;

    return TG_OK;
}

/*
 * Until draft 7 the fragment of an id is an anchor, and the part before may
 * name a resource. Fragments that are JSON pointers, which some tools write,
 * are ignored.
 */
static int
tg_schema_build_id(tg_schema_compiler_t *compile, tg_str_t raw, unsigned draft,
                   tg_schema_node_t *node)
{
    tg_str_t uri, fragment;
    int rc;

    uri = TG_STR_NONE;
    fragment = TG_STR_NONE;
    rc = tg_schema_read_id(compile, raw, node, &uri, &fragment);

    if (rc != TG_OK || fragment.len == 0) {
        return rc == TG_OK ? tg_schema_resource_set_uri(compile, raw, uri, node)
                           : rc;
    }

    if (!(draft & TG_SCHEMA_DRAFTS_UNTIL_7)) {
        return tg_schema_error_set_value(
            compile, raw,
            "must not have a fragment; name a part of "
            "a schema with \"$anchor\"");
    }

    if (fragment.data[0] == '/') {
        return TG_OK;
    }

    if (!tg_str_eq(uri, node->resource->uri)) {
        rc = tg_schema_resource_set_uri(compile, raw, uri, node);
    }

    return rc == TG_OK ? tg_schema_anchor_add(compile, raw, fragment, node, 0)
                       : rc;
}

static int
tg_schema_is_anchor(tg_str_t name)
{
    size_t i;
    char c;

    for (i = 0; i < name.len; i++) {
        c = name.data[i];

        if (!tg_is_alpha(c) && c != '_'
            && (i == 0 || (!tg_is_digit(c) && c != '-' && c != '.')))
        {
            return 0;
        }
    }

    return name.len != 0;
}

static int
tg_schema_build_anchor(tg_schema_compiler_t *compile, tg_str_t raw,
                       tg_schema_node_t *node, int is_dynamic)
{
    tg_str_t name;
    int rc;

    rc = tg_schema_read_string(compile, raw, &name);

    if (rc != TG_OK) {
        return rc;
    }

    if (!tg_schema_is_anchor(name)) {
        return tg_schema_error_set_value(compile, raw,
                                         "must be a letter or _ followed by "
                                         "letters, digits, _, - and .");
    }

    return tg_schema_anchor_add(compile, raw, name, node, is_dynamic);
}

/* Reads `$recursiveAnchor` (2019-09): a dynamic anchor with an empty name. */
static int
tg_schema_build_recursive_anchor(tg_schema_compiler_t *compile, tg_str_t raw,
                                 tg_schema_node_t *node, int is_dynamic)
{
    int is_anchor, rc;

    rc = tg_schema_read_flag(compile, raw, node, &is_anchor);

    return rc == TG_OK && is_anchor && node == node->resource->root
               ? tg_schema_anchor_add(compile, raw, TG_STR(""), node,
                                      is_dynamic)
               : rc;
}

static int
tg_schema_build_ref(tg_schema_compiler_t *compile, tg_str_t raw,
                    tg_schema_node_t *node, int is_dynamic)
{
    tg_schema_pending_ref_t *pending;
    tg_str_t text;
    int rc;

    rc = tg_schema_read_uri(compile, raw, &text);

    if (rc != TG_OK) {
        return rc;
    }

    pending = tg_schema_alloc(compile, sizeof(*pending));

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
tg_schema_check_vocabulary(tg_schema_compiler_t *compile, tg_str_t raw,
                           tg_schema_node_t *node, int is_dynamic)
{
    tg_schema_entries_t entries;
    tg_str_t text;
    tg_uri_t uri;
    int rc;

    rc = tg_schema_expect_type(compile, raw, TG_JSON_OBJECT, "an object");
    tg_schema_entries_init(&entries, raw);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        rc = tg_schema_unescape(compile, entries.key, &text);

        if (rc == TG_OK
            && (tg_uri_parse(text, &uri) != TG_OK || uri.scheme.data == NULL))
        {
            return tg_schema_error_set(
                compile, entries.value.data,
                "the name of a vocabulary must be a URI");
        }

        if (rc == TG_OK && tg_json_type(entries.value) != TG_JSON_TRUE) {
            rc = tg_schema_expect_type(compile, entries.value, TG_JSON_FALSE,
                                       "true or false");
        }
    }

    return rc;
}

unsigned
tg_schema_resolve_draft(tg_schema_compiler_t *compile, tg_str_t dialect,
                        unsigned around)
{
    tg_str_t uri, raw;
    unsigned draft;

    if (dialect.data == NULL || tg_json_type(dialect) != TG_JSON_STRING
        || tg_schema_unescape(compile, tg_json_string_body(dialect), &uri)
               != TG_OK)
    {
        return around;
    }

    draft = tg_schema_draft_from_uri(uri);

    if (draft != 0) {
        return draft;
    }

    if (uri.len != 0 && uri.data[uri.len - 1] == '#') {
        uri.len--;
    }

    /* A custom dialect has the draft in which its metaschema is written. */
    if (tg_schema_fetch_document(compile, uri, &raw) != TG_OK
        || tg_json_validate(raw, NULL) != TG_OK
        || !tg_json_has_member(raw, TG_STR("$schema"), TG_JSON_STRING, &dialect)
        || tg_schema_unescape(compile, tg_json_string_body(dialect), &uri)
               != TG_OK)
    {
        return around;
    }

    draft = tg_schema_draft_from_uri(uri);

    return draft != 0 ? draft : around;
}

/* Reads `$schema`, which is allowed at the root of a resource only. */
static int
tg_schema_build_dialect(tg_schema_compiler_t *compile, tg_str_t raw,
                        unsigned draft, tg_schema_node_t *node)
{
    if (node->resource->root == NULL) {
        node->resource->draft = draft;
        return tg_schema_read_dialect(compile, raw, node);
    }

    /* Some generators for old drafts repeat it in each schema. */
    if ((draft & TG_SCHEMA_DRAFTS_UNTIL_7) && draft == node->resource->draft) {
        return TG_OK;
    }

    return tg_schema_error_set(compile, raw.data,
                               "\"$schema\" belongs to the root of a schema or "
                               "beside an \"$id\"");
}

int
tg_schema_build_identity(tg_schema_compiler_t *compile,
                         const tg_schema_keyword_values_t *object,
                         unsigned draft, tg_schema_node_t *node)
{
    static const struct {
        tg_schema_keyword_t keyword;
        int is_dynamic;
        int (*build)(tg_schema_compiler_t *compile, tg_str_t raw,
                     tg_schema_node_t *node, int is_dynamic);
    } rows[] = {
        { TG_SCHEMA_K_VOCABULARY, 0, tg_schema_check_vocabulary },
        { TG_SCHEMA_K_ANCHOR, 0, tg_schema_build_anchor },
        { TG_SCHEMA_K_DYNAMIC_ANCHOR, 1, tg_schema_build_anchor },
        { TG_SCHEMA_K_RECURSIVE_ANCHOR, 1, tg_schema_build_recursive_anchor },
        { TG_SCHEMA_K_REF, 0, tg_schema_build_ref },
        { TG_SCHEMA_K_DYNAMIC_REF, 1, tg_schema_build_ref },
        { TG_SCHEMA_K_RECURSIVE_REF, 1, tg_schema_build_ref },
    };
    const tg_str_t *k;
    size_t i;
    int rc;

    k = object->k;
    rc = k[TG_SCHEMA_K_ID].data != NULL
             ? tg_schema_build_id(compile, k[TG_SCHEMA_K_ID], draft, node)
             : TG_OK;

    if (rc == TG_OK && k[TG_SCHEMA_K_SCHEMA].data != NULL) {
        rc = tg_schema_build_dialect(compile, k[TG_SCHEMA_K_SCHEMA], draft,
                                     node);
    }

    if (rc == TG_OK && node->resource->root == NULL) {
        node->resource->root = node;
    }

    for (i = 0; rc == TG_OK && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (k[rows[i].keyword].data != NULL) {
            rc = rows[i].build(compile, k[rows[i].keyword], node,
                               rows[i].is_dynamic);
        }
    }

    return rc;
}
