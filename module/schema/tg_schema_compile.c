/*
 * The compiler: documents become nodes, references are resolved when all
 * nodes are there.  It recurses as deep as JSON nests, never along
 * references.
 */
#include "schema/tg_schema_compile.h"

#include "schema/tg_pattern.h"
#include "schema/tg_schema_run.h"

int
tg_schema_mistake_begin(tg_schema_compile_t *compile, const char *at)
{
    const tg_schema_doc_t *doc;

    tg_buf_truncate(compile->error, compile->error_start);

    for (doc = compile->docs; doc != NULL; doc = doc->next) {
        if (at >= doc->raw.data && at < doc->raw.data + doc->raw.len) {
            break;
        }
    }

    if (doc == NULL) {
        return TG_BAD;
    }

    if (doc != compile->main) {
        tg_buf_str(compile->error, doc->uri);
        tg_buf_char(compile->error, '#');
    }

    tg_schema_put_path(compile->error, doc->raw, at);
    tg_buf_text(compile->error, ": ");

    return TG_BAD;
}

int
tg_schema_mistake(tg_schema_compile_t *compile, const char *at,
                  const char *text)
{
    (void) tg_schema_mistake_begin(compile, at);
    tg_buf_text(compile->error, text);

    return TG_BAD;
}

static int
tg_schema_mistake_got(tg_schema_compile_t *compile, tg_str_t raw,
                      const char *text)
{
    tg_buf_text(compile->error, text);
    tg_buf_text(compile->error, ", got ");
    tg_schema_put_value(compile->error, raw);

    return TG_BAD;
}

int
tg_schema_mistake_value(tg_schema_compile_t *compile, tg_str_t raw,
                        const char *text)
{
    (void) tg_schema_mistake_begin(compile, raw.data);

    return tg_schema_mistake_got(compile, raw, text);
}

void *
tg_schema_get(tg_schema_compile_t *compile, size_t size)
{
    return tg_schema_arena_get(&compile->schema->arena, size);
}

int
tg_schema_copy(tg_schema_compile_t *compile, tg_str_t text, tg_str_t *copy)
{
    char *data;

    data = tg_schema_get(compile, text.len);

    if (data == NULL) {
        return TG_NOMEM;
    }

    memcpy(data, text.data, text.len);
    *copy = tg_str(data, text.len);

    return TG_OK;
}

int
tg_schema_decode(tg_schema_compile_t *compile, tg_str_t body, tg_str_t *text)
{
    char *data;

    if (body.len == 0 || memchr(body.data, '\\', body.len) == NULL) {
        *text = body;
        return TG_OK;
    }

    data = tg_schema_get(compile, body.len);

    if (data == NULL) {
        return TG_NOMEM;
    }

    *text = tg_str(data, tg_json_decode(data, body));

    return TG_OK;
}

int
tg_schema_read_string(tg_schema_compile_t *compile, tg_str_t raw,
                      tg_str_t *text)
{
    int rc;

    rc = tg_schema_need(compile, raw, TG_JSON_STRING, "a string");

    return rc == TG_OK ? tg_schema_decode(compile, tg_json_body(raw), text)
                       : rc;
}

void
tg_schema_entries(tg_schema_entries_t *entries, tg_str_t raw)
{
    tg_json_init(&entries->json, raw);
    entries->is_object = tg_json_type(raw) == TG_JSON_OBJECT;
    (void) (entries->is_object ? tg_json_object(&entries->json)
                               : tg_json_array(&entries->json));
}

int
tg_schema_entry(tg_schema_entries_t *entries)
{
    tg_json_t *json;

    json = &entries->json;

    return (entries->is_object ? tg_json_member(json, &entries->key)
                               : tg_json_element(json))
               == TG_OK
           && tg_json_value(json, &entries->value) == TG_OK;
}

size_t
tg_schema_size(tg_str_t raw)
{
    tg_schema_entries_t entries;
    size_t n;

    tg_schema_entries(&entries, raw);

    for (n = 0; tg_schema_entry(&entries); n++) {
        /* void */
    }

    return n;
}

int
tg_schema_need(tg_schema_compile_t *compile, tg_str_t raw, tg_json_type_t type,
               const char *what)
{
    if (tg_json_type(raw) == type) {
        return TG_OK;
    }

    (void) tg_schema_mistake_begin(compile, raw.data);
    tg_buf_text(compile->error, "must be ");

    return tg_schema_mistake_got(compile, raw, what);
}

int
tg_schema_build_pattern(tg_schema_compile_t *compile, const char *at,
                        tg_str_t text, tg_schema_pattern_t *pattern)
{
    const tg_schema_regex_t *regex;
    tg_schema_regexes_t *entry;
    const char *why;
    tg_buf_t translated;
    int rc;

    regex = compile->options.regex;
    entry = tg_schema_get(compile, sizeof(*entry));

    if (entry == NULL) {
        return TG_NOMEM;
    }

    if (regex == NULL) {
        return tg_schema_mistake(compile, at,
                                 "patterns are not supported here");
    }

    pattern->text = text;
    tg_buf_init(&translated, compile->alloc);
    rc = tg_pattern_translate(text, &translated, &pattern->weight, &why);
    (void) tg_schema_mistake_begin(compile, at);

    if (rc == TG_BAD) {
        tg_buf_text(compile->error, why);

    } else if (rc == TG_OK) {
        rc = regex->compile(regex->ctx, tg_buf_view(&translated), &entry->regex,
                            compile->error);
    }

    tg_buf_deinit(&translated);

    if (rc == TG_OK) {
        tg_buf_truncate(compile->error, compile->error_start);
        entry->next = compile->schema->regexes;
        compile->schema->regexes = entry;
        pattern->regex = entry->regex;
    }

    return rc;
}

/* The name of a place in a document. */
static tg_str_t
tg_schema_place(const char *const *at)
{
    return tg_str((const char *) at, sizeof(*at));
}

tg_schema_node_t *
tg_schema_node_at(const tg_schema_compile_t *compile, const char *at)
{
    const tg_schema_name_t *name;
    uint32_t hint;

    hint = 0;
    name = tg_schema_names_find(&compile->places, tg_schema_place(&at), &hint);

    return name != NULL ? compile->nodes[name - compile->places.list] : NULL;
}

static int
tg_schema_node_add(tg_schema_compile_t *compile, tg_schema_node_t *node)
{
    uint32_t index;

    if (tg_schema_grow(compile->alloc, &compile->nodes, &compile->cap_nodes,
                       compile->n_nodes + 1, sizeof(*compile->nodes))
            != TG_OK
        || tg_schema_names_add(&compile->places, &compile->temp,
                               tg_schema_place(&node->at), &index)
               != TG_OK)
    {
        return TG_NOMEM;
    }

    compile->nodes[compile->n_nodes++] = node;

    return TG_OK;
}

static int
tg_schema_has_rules(const tg_schema_node_t *node,
                    const tg_schema_object_t *object)
{
    return node->types != TG_SCHEMA_ANY || node->constant != NULL
           || node->values != NULL || node->number != NULL
           || node->string != NULL || node->array != NULL
           || node->object != NULL || node->logic != NULL
           || node->unevaluated_items != NULL
           || node->unevaluated_properties != NULL
           || object->k[TG_SCHEMA_K_REF].data != NULL
           || object->k[TG_SCHEMA_K_DYNAMIC_REF].data != NULL;
}

static int
tg_schema_build_object(tg_schema_compile_t *compile, tg_str_t raw,
                       tg_schema_node_t *node)
{
    tg_schema_object_t object;
    int rc;

    tg_schema_collect(raw, &object);
    rc = tg_schema_build_identity(compile, &object, node);

    if (rc == TG_OK) {
        rc = tg_schema_read_rules(compile, &object, node);
    }

    node->is_true = !tg_schema_has_rules(node, &object);

    return rc;
}

int
tg_schema_build(tg_schema_compile_t *compile, tg_str_t raw,
                tg_schema_resource_t *resource, const tg_schema_node_t **out)
{
    tg_schema_node_t *node;
    int rc;

    node = tg_schema_node_at(compile, raw.data);

    if (node != NULL) {
        *out = node;
        return TG_OK;
    }

    if (compile->n_nodes == compile->options.max_subschemas) {
        return tg_schema_mistake(compile, raw.data,
                                 "too many subschemas; split the schema or "
                                 "raise the limit");
    }

    node = tg_schema_get(compile, sizeof(*node));

    if (node == NULL) {
        return TG_NOMEM;
    }

    node->at = raw.data;
    node->resource = resource;
    node->types = TG_SCHEMA_ANY;
    rc = tg_schema_node_add(compile, node);

    if (rc != TG_OK) {
        return rc;
    }

    *out = node;

    switch (tg_json_type(raw)) {
    case TG_JSON_TRUE:
        node->is_true = 1;
        return TG_OK;

    case TG_JSON_FALSE:
        node->is_false = 1;
        return TG_OK;

    case TG_JSON_OBJECT:
        return tg_schema_build_object(compile, raw, node);

    default:
        return tg_schema_mistake_value(compile, raw,
                                       "a schema must be an object, true or "
                                       "false");
    }
}

static void
tg_schema_options_init(tg_schema_options_t *to, const tg_schema_options_t *from)
{
    memset(to, 0, sizeof(*to));

    if (from != NULL) {
        *to = *from;
    }

    if (to->max_subschemas == 0) {
        to->max_subschemas = TG_SCHEMA_SUBSCHEMAS;
    }

    if (to->max_bytes == 0) {
        to->max_bytes = TG_SCHEMA_BYTES;
    }

    if (to->max_depth == 0) {
        to->max_depth = TG_SCHEMA_DEPTH;
    }

    if (to->max_steps == 0) {
        to->max_steps = TG_SCHEMA_STEPS;
    }

    /* Relative references of a document from nowhere still need a base. */
    if (to->base_uri.len == 0) {
        to->base_uri = TG_STR("schema:///");
    }
}

/* Each document that names a dialect of its own must be valid in it. */
static int
tg_schema_judge(tg_schema_compile_t *compile)
{
    tg_schema_checker_t *checker;
    tg_schema_judged_t *judged;
    tg_schema_t schema;
    tg_schema_doc_t *doc;
    uint64_t spent;
    tg_buf_t text;
    int rc;

    judged = compile->judged;
    compile->judged = judged->next;
    rc = tg_schema_load(compile, judged->at, judged->uri, TG_STR_NONE, &doc);

    if (rc == TG_OK) {
        rc = tg_schema_resolve(compile);
    }

    if (rc == TG_OK) {
        rc = tg_schema_find_loops(compile);
    }

    if (rc != TG_OK) {
        return rc;
    }

    checker = tg_schema_checker_new(compile->alloc, 0);

    if (checker == NULL) {
        return TG_NOMEM;
    }

    /* Who writes schemas is trusted: a long one may take long. */
    spent = 0;
    tg_schema_checker_frame(checker, SIZE_MAX / TG_SCHEMA_BYTE_STEPS / 2,
                            &spent);
    schema = *compile->schema;
    schema.root = doc->root;
    schema.max_steps += TG_SCHEMA_BYTE_STEPS * (uint64_t) judged->raw.len;
    tg_buf_init(&text, compile->alloc);
    rc = tg_schema_check(&schema, checker, judged->raw, &text);
    tg_schema_checker_free(checker);

    if (rc == TG_BAD || rc == TG_LIMIT) {
        (void) tg_schema_mistake_begin(compile, judged->at);
        tg_buf_text(compile->error, "not valid in this dialect: ");
        tg_buf_str(compile->error, tg_buf_view(&text));
        rc = TG_BAD;
    }

    tg_buf_deinit(&text);

    return rc;
}

static int
tg_schema_compile_all(tg_schema_compile_t *compile, tg_str_t raw)
{
    tg_schema_doc_t *doc;
    int rc;

    rc = tg_schema_load(compile, NULL, compile->options.base_uri, raw, &doc);

    if (rc == TG_OK) {
        compile->schema->root = doc->root;
        rc = tg_schema_resolve(compile);
    }

    if (rc == TG_OK) {
        rc = tg_schema_find_loops(compile);
    }

    while (rc == TG_OK && compile->judged != NULL) {
        rc = tg_schema_judge(compile);
    }

    return rc;
}

tg_schema_t *
tg_schema_compile(const tg_alloc_t *alloc, tg_str_t raw,
                  const tg_schema_options_t *options, tg_buf_t *error)
{
    tg_schema_compile_t compile;
    tg_schema_t *schema;
    int rc;

    schema = tg_calloc(alloc, sizeof(*schema));

    if (schema == NULL) {
        return NULL;
    }

    memset(&compile, 0, sizeof(compile));
    tg_schema_options_init(&compile.options, options);
    compile.alloc = alloc;
    compile.schema = schema;
    compile.error = error;
    compile.error_start = error->len;
    compile.pending_tail = &compile.pending;
    compile.temp.alloc = alloc;
    schema->arena.alloc = alloc;
    schema->regex = compile.options.regex;
    schema->max_depth = compile.options.max_depth;
    schema->max_steps = compile.options.max_steps;

    rc = tg_schema_compile_all(&compile, raw);

    if (rc == TG_OK) {
        tg_schema_flatten(schema, compile.nodes, compile.n_nodes);

    } else {
        tg_schema_free(schema);
        schema = NULL;
    }

    if (rc == TG_NOMEM) {
        tg_buf_truncate(error, compile.error_start);
    }

    tg_free(alloc, compile.nodes);
    tg_schema_arena_deinit(&compile.temp);

    return schema;
}

void
tg_schema_free(tg_schema_t *schema)
{
    const tg_alloc_t *alloc;
    tg_schema_regexes_t *entry;

    if (schema == NULL) {
        return;
    }

    for (entry = schema->regexes; entry != NULL; entry = entry->next) {
        schema->regex->free(schema->regex->ctx, entry->regex);
    }

    alloc = schema->arena.alloc;
    tg_schema_arena_deinit(&schema->arena);
    tg_free(alloc, schema);
}
