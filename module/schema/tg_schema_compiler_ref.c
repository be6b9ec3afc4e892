/* Resolution of references to nodes, and detection of reference cycles. */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_schema_validator.h"

/* Objects of this size are indexed, so that references do not parse again. */
#define TG_SCHEMA_INDEXED_OBJECT_MIN 1024

static int
tg_schema_error_set_ref(tg_schema_compiler_t *compile,
                        const tg_schema_pending_ref_t *pending, const char *why)
{
    (void) tg_schema_error_begin(compile, pending->at);
    tg_schema_append_quoted(compile->error, pending->text);
    tg_buf_append_cstr(compile->error, why);

    return TG_INVALID;
}

/* Finds the root of the resource; loads the document if necessary. */
static int
tg_schema_find_resource(tg_schema_compiler_t *compile,
                        const tg_schema_pending_ref_t *pending, tg_str_t uri,
                        const tg_schema_node_t **root)
{
    tg_schema_resource_t *resource;
    tg_schema_doc_t *doc;
    int rc;

    for (resource = compile->resources; resource != NULL;
         resource = resource->next) {
        if (tg_schema_compiler_spend(compile, TG_SCHEMA_URI_STEPS(uri))
            != TG_OK) {
            return TG_LIMIT;
        }

        if (tg_str_eq(resource->uri, uri) && resource->root != NULL) {
            *root = resource->root;
            return TG_OK;
        }
    }

    rc = tg_schema_load_document(compile, pending->at, uri, TG_STR_NONE,
                                 pending->node->resource->draft, &doc);

    if (rc == TG_OK) {
        *root = doc->root;
    }

    return rc;
}

/* Makes a member's key from its object's position and its name. */
static int
tg_schema_member_make_key(tg_schema_compiler_t *compile, const char *at,
                          tg_str_t token, tg_str_t *key)
{
    char *data;

    data = tg_schema_arena_alloc(&compile->temp, sizeof(at) + token.len);

    if (data == NULL) {
        return TG_NOMEM;
    }

    memcpy(data, &at, sizeof(at));

    if (token.len != 0) {
        memcpy(data + sizeof(at), token.data, token.len);
    }

    *key = tg_str(data, sizeof(at) + token.len);

    return TG_OK;
}

static int
tg_schema_member_add(tg_schema_compiler_t *compile, const char *at,
                     tg_str_t token, tg_str_t value)
{
    uint32_t index;
    tg_str_t key;
    int rc;

    rc = tg_schema_compiler_spend(compile, TG_SCHEMA_STEPS_PER_ENTRY);

    if (rc == TG_OK) {
        rc = tg_schema_member_make_key(compile, at, token, &key);
    }

    if (rc == TG_OK) {
        rc = tg_schema_names_add(&compile->members, &compile->temp, key,
                                 &index);
    }

    if (rc == TG_OK) {
        rc = tg_schema_grow_array(compile->alloc, &compile->values,
                                  &compile->cap_values, compile->members.n,
                                  sizeof(*compile->values));
    }

    if (rc == TG_OK) {
        compile->values[index] = value;
    }

    return rc;
}

static int
tg_schema_member_add_all(tg_schema_compiler_t *compile, tg_str_t raw)
{
    tg_schema_entries_t entries;
    tg_str_t token;
    int rc;

    rc = tg_schema_compiler_spend(compile,
                                  raw.len / TG_SCHEMA_SKIP_BYTES_PER_STEP);
    tg_schema_entries_init(&entries, raw);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        rc = tg_schema_unescape(compile, entries.key, &token);

        if (rc == TG_OK) {
            rc = tg_schema_member_add(compile, raw.data + 1, token,
                                      entries.value);
        }
    }

    return rc == TG_OK
               ? tg_schema_member_add(compile, raw.data, TG_STR_NONE, raw)
               : rc;
}

static int
tg_schema_member_find(tg_schema_compiler_t *compile, const char *at,
                      tg_str_t token, tg_str_t *found)
{
    const tg_schema_name_t *name;
    uint32_t hint;
    tg_str_t key;
    int rc;

    rc = tg_schema_member_make_key(compile, at, token, &key);

    if (rc != TG_OK) {
        return rc;
    }

    hint = 0;
    name = tg_schema_names_find(&compile->members, key, &hint);

    if (name == NULL) {
        return TG_MISSING;
    }

    *found = compile->values[name - compile->members.list];

    return TG_OK;
}

/* Finds a member. A large object is parsed once, and then indexed. */
static int
tg_schema_pointer_find_member(tg_schema_compiler_t *compile, tg_str_t raw,
                              tg_str_t token, tg_str_t *found)
{
    tg_str_t all;
    int rc;

    if (raw.len < TG_SCHEMA_INDEXED_OBJECT_MIN) {
        return tg_json_get_member(raw, token, found);
    }

    rc = tg_schema_member_find(compile, raw.data, TG_STR_NONE, &all);

    if (rc == TG_MISSING) {
        rc = tg_schema_member_add_all(compile, raw);
    }

    return rc == TG_OK
               ? tg_schema_member_find(compile, raw.data + 1, token, found)
               : rc;
}

static int
tg_schema_pointer_find_element(tg_str_t raw, tg_str_t token, tg_str_t *found)
{
    tg_json_cursor_t json;
    int64_t index;

    if (token.len == 0 || token.len > 9
        || (token.len > 1 && token.data[0] == '0')
        || tg_json_validate(token, NULL) != TG_OK
        || tg_json_parse_int64(token, &index) != TG_OK || index < 0)
    {
        return TG_MISSING;
    }

    tg_json_init(&json, raw);
    (void) tg_json_enter_array(&json);

    for (/* void */; tg_json_next_element(&json) == TG_OK; index--) {
        (void) tg_json_read_value(&json, found);

        if (index == 0) {
            return TG_OK;
        }
    }

    return TG_MISSING;
}

/*
 * Follows a JSON pointer from the root of a resource, even into values that are
 * not keywords. The value found becomes a schema of the innermost resource.
 */
static int
tg_schema_follow_pointer(tg_schema_compiler_t *compile,
                         const tg_schema_pending_ref_t *pending,
                         const tg_schema_node_t *root, tg_str_t pointer,
                         const tg_schema_node_t **found)
{
    const tg_schema_node_t *node;
    tg_str_t raw, token;
    char *scratch;
    int rc;

    scratch = tg_schema_alloc(compile, pointer.len);

    if (scratch == NULL) {
        return TG_NOMEM;
    }

    raw = tg_str(root->at, root->len);
    rc = TG_OK;

    while (rc == TG_OK && pointer.len != 0) {
        /* Finding an element skips all elements before it. */
        rc = tg_schema_compiler_spend(
            compile,
            TG_SCHEMA_STEPS_PER_ENTRY
                + (*raw.data == '[' ? raw.len / TG_SCHEMA_SKIP_BYTES_PER_STEP
                                    : 0));

        if (rc != TG_OK) {
            return rc;
        }

        token = tg_schema_pointer_next_token(&pointer, scratch);

        if (tg_json_type(raw) == TG_JSON_OBJECT) {
            rc = tg_schema_pointer_find_member(compile, raw, token, &raw);
        } else if (tg_json_type(raw) == TG_JSON_ARRAY) {
            rc = tg_schema_pointer_find_element(raw, token, &raw);
        } else {
            rc = TG_MISSING;
        }

        node = rc == TG_OK ? tg_schema_node_find(compile, raw.data) : NULL;
        root = node != NULL ? node : root;
    }

    if (rc != TG_OK && rc != TG_MISSING) {
        return rc;
    }

    if (rc != TG_OK) {
        return tg_schema_error_set_ref(compile, pending,
                                       " leads to nothing; check that this "
                                       "path is in the schema");
    }

    if (tg_json_type(raw) != TG_JSON_OBJECT && tg_json_type(raw) != TG_JSON_TRUE
        && tg_json_type(raw) != TG_JSON_FALSE)
    {
        return tg_schema_error_set_ref(compile, pending,
                                       " leads to something that is not a "
                                       "schema");
    }

    return tg_schema_build_node(compile, raw, root->resource, found);
}

static int
tg_schema_find_target(tg_schema_compiler_t *compile,
                      tg_schema_pending_ref_t *pending,
                      const tg_schema_node_t *root, tg_str_t fragment,
                      const tg_schema_node_t **target)
{
    const tg_schema_anchor_t *anchor;

    if (fragment.len == 0) {
        *target = root;

        /* A `$recursiveRef` refers to the dynamic anchor with an empty name. */
        if (pending->is_dynamic
            && tg_schema_anchor_find(root->resource, TG_STR("")) != NULL)
        {
            pending->node->dynamic_name = TG_STR("");
        }

        return TG_OK;
    }

    if (fragment.data[0] == '/') {
        return tg_schema_follow_pointer(compile, pending, root, fragment,
                                        target);
    }

    if (tg_schema_compiler_spend(compile, root->resource->n_anchors) != TG_OK) {
        return TG_LIMIT;
    }

    anchor = tg_schema_anchor_find(root->resource, fragment);

    if (anchor == NULL) {
        return tg_schema_error_set_ref(compile, pending,
                                       ": no schema has this anchor; a path "
                                       "starts with \"#/\"");
    }

    *target = anchor->node;

    if (pending->is_dynamic && anchor->is_dynamic) {
        pending->node->dynamic_name = anchor->name;
    }

    return TG_OK;
}

static int
tg_schema_resolve_ref(tg_schema_compiler_t *compile,
                      tg_schema_pending_ref_t *pending)
{
    const tg_schema_node_t *root, *target;
    tg_buf_t full;
    tg_str_t uri;
    size_t len;
    int rc;

    tg_buf_init(&full, compile->alloc);
    rc = tg_schema_resolve_uri(compile, pending->node->resource, pending->text,
                               &full, &len);

    if (rc == TG_INVALID) {
        rc = tg_schema_error_set_ref(compile, pending, " is not valid UTF-8");
    }

    uri = tg_str(tg_buf_view(&full).data, len);

    if (rc == TG_OK) {
        rc = tg_schema_find_resource(compile, pending, uri, &root);
    }

    if (rc == TG_OK) {
        rc = tg_schema_find_target(compile, pending, root,
                                   tg_str(uri.data + len, full.len - len),
                                   &target);
    }

    tg_buf_deinit(&full);

    if (rc != TG_OK) {
        return rc;
    }

    if (pending->is_dynamic) {
        pending->node->dynamic_ref = target;
    } else {
        pending->node->ref = target;
    }

    return TG_OK;
}

int
tg_schema_resolve_refs(tg_schema_compiler_t *compile)
{
    tg_schema_pending_ref_t *pending;
    int rc;

    /* Resolving may append new references. */
    while ((pending = compile->pending) != NULL) {
        rc = tg_schema_resolve_ref(compile, pending);

        if (rc != TG_OK) {
            return rc;
        }

        compile->pending = pending->next;

        if (compile->pending == NULL) {
            compile->pending_tail = &compile->pending;
        }
    }

    return TG_OK;
}

enum {
    TG_SCHEMA_CYCLE_UNVISITED,
    TG_SCHEMA_CYCLE_OPEN,
    TG_SCHEMA_CYCLE_DONE
};

static int tg_schema_cycle_visit_node(tg_schema_compiler_t *compile,
                                      tg_schema_node_t *from,
                                      const tg_schema_node_t *target,
                                      unsigned depth);

static int
tg_schema_cycle_visit_edges(tg_schema_compiler_t *compile,
                            tg_schema_node_t *node, unsigned depth)
{
    static const tg_schema_logic_t nothing;
    const tg_schema_logic_t *logic = node->logic != NULL ? node->logic
                                                         : &nothing;
    const tg_schema_nodes_t *lists[] = { &logic->all, &logic->any,
                                         &logic->one };
    const tg_schema_node_t *ones[] = { node->ref,          node->dynamic_ref,
                                       logic->not_schema,  logic->if_schema,
                                       logic->then_schema, logic->else_schema };
    size_t i, k;
    int rc;

    for (i = 0, rc = TG_OK; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (k = 0; rc == TG_OK && k < lists[i]->n; k++) {
            rc = tg_schema_cycle_visit_node(compile, node, lists[i]->list[k],
                                            depth);
        }
    }

    for (i = 0; rc == TG_OK && i < sizeof(ones) / sizeof(ones[0]); i++) {
        rc = tg_schema_cycle_visit_node(compile, node, ones[i], depth);
    }

    for (i = 0;
         rc == TG_OK && node->object != NULL && i < node->object->names.n; i++)
    {
        rc = tg_schema_cycle_visit_node(
            compile, node, node->object->names.list[i].dependent_schema, depth);
    }

    return rc;
}

/*
 * Visits the target, which `from` applies to the same value. Too long chains
 * are found by depth, which bounds the recursion, or by the height of a visited
 * node.
 */
static int
tg_schema_cycle_visit_node(tg_schema_compiler_t *compile,
                           tg_schema_node_t *from,
                           const tg_schema_node_t *target, unsigned depth)
{
    tg_schema_node_t *node;
    int rc;

    if (target == NULL) {
        return TG_OK;
    }

    if (target->cycle_state == TG_SCHEMA_CYCLE_OPEN) {
        return tg_schema_error_set(compile, target->at,
                                   "this schema refers to itself without "
                                   "descending into the value, which never "
                                   "ends");
    }

    rc = TG_OK;

    if (target->cycle_state == TG_SCHEMA_CYCLE_UNVISITED
        && depth < compile->options.max_depth)
    {
        node = tg_schema_node_find(compile, target->at);
        node->cycle_state = TG_SCHEMA_CYCLE_OPEN;
        rc = tg_schema_cycle_visit_edges(compile, node, depth + 1);
        node->cycle_state = TG_SCHEMA_CYCLE_DONE;
    }

    if (rc != TG_OK || from == NULL) {
        return rc;
    }

    if (from->height <= target->height) {
        from->height = target->height + 1;
    }

    if (from->height >= compile->options.max_depth
        || depth >= compile->options.max_depth)
    {
        return tg_schema_error_set(compile, target->at,
                                   "too many references in a row");
    }

    return TG_OK;
}

int
tg_schema_find_cycles(tg_schema_compiler_t *compile)
{
    size_t i;
    int rc;

    for (i = 0, rc = TG_OK; rc == TG_OK && i < compile->n_nodes; i++) {
        rc = tg_schema_cycle_visit_node(compile, NULL, compile->nodes[i], 0);
    }

    return rc;
}
