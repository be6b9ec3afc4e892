/* Compilation of a schema: options, limits, documents, and the result. */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_schema_validator.h"

static void
tg_schema_options_set_defaults(tg_schema_options_t *to,
                               const tg_schema_options_t *from)
{
    memset(to, 0, sizeof(*to));

    if (from != NULL) {
        *to = *from;
    }

    if (to->max_subschemas == 0) {
        to->max_subschemas = TG_SCHEMA_MAX_SUBSCHEMAS;
    }

    if (to->max_bytes == 0) {
        to->max_bytes = TG_SCHEMA_MAX_BYTES;
    }

    if (to->max_depth == 0) {
        to->max_depth = TG_SCHEMA_MAX_DEPTH;
    }

    if (to->max_steps == 0) {
        to->max_steps = TG_SCHEMA_MAX_STEPS;
    }

    /* A base URI is necessary to resolve relative references. */
    if (to->base_uri.len == 0) {
        to->base_uri = TG_STR("schema:///");
    }
}

/* Validates the next document of a custom dialect against its metaschema. */
static int
tg_schema_meta_check_run(tg_schema_compiler_t *compile)
{
    tg_schema_validator_t *validator;
    tg_schema_meta_check_t *meta_check;
    tg_schema_t schema;
    tg_schema_doc_t *doc;
    uint64_t spent;
    tg_buf_t text;
    int rc;

    meta_check = compile->meta_check;
    compile->meta_check = meta_check->next;
    rc = tg_schema_load_document(compile, meta_check->at, meta_check->uri,
                                 TG_STR_NONE, TG_SCHEMA_DRAFT_2020, &doc);

    if (rc == TG_OK) {
        rc = tg_schema_resolve_refs(compile);
    }

    if (rc == TG_OK) {
        rc = tg_schema_find_cycles(compile);
    }

    if (rc != TG_OK) {
        return rc;
    }

    validator = tg_schema_validator_new(compile->alloc, 0);

    if (validator == NULL) {
        return TG_NOMEM;
    }

    /* No limit per frame: the authors are trusted or have a quota of steps. */
    spent = 0;
    tg_schema_validator_set_frame(validator,
                                  SIZE_MAX / TG_SCHEMA_STEPS_PER_BYTE / 2,
                                  &spent);
    schema = *compile->schema;
    schema.root = doc->root;
    schema.max_steps += TG_SCHEMA_STEPS_PER_BYTE
                        * (uint64_t) meta_check->raw.len;

    if (schema.max_steps > compile->steps) {
        schema.max_steps = compile->steps;
    }

    tg_buf_init(&text, compile->alloc);
    rc = tg_schema_validate(&schema, validator, meta_check->raw, &text);
    tg_schema_validator_free(validator);
    compile->steps -= spent < compile->steps ? spent : compile->steps;

    if (rc == TG_INVALID || rc == TG_LIMIT) {
        (void) tg_schema_error_begin(compile, meta_check->at);
        tg_buf_append_cstr(compile->error, "not valid in this dialect: ");
        tg_buf_append_str(compile->error, tg_buf_view(&text));
        rc = TG_INVALID;
    }

    tg_buf_deinit(&text);

    return rc;
}

static int
tg_schema_compile_all(tg_schema_compiler_t *compile, tg_str_t raw)
{
    tg_schema_doc_t *doc;
    int rc;

    rc = tg_schema_load_document(compile, NULL, compile->options.base_uri, raw,
                                 TG_SCHEMA_DRAFT_2020, &doc);

    if (rc == TG_OK) {
        compile->schema->root = doc->root;
        rc = tg_schema_resolve_refs(compile);
    }

    if (rc == TG_OK) {
        rc = tg_schema_find_cycles(compile);
    }

    while (rc == TG_OK && compile->meta_check != NULL) {
        rc = tg_schema_meta_check_run(compile);
    }

    return rc;
}

static void
tg_schema_quota_apply(tg_schema_compiler_t *compile)
{
    const tg_schema_quota_t *quota = compile->options.quota;
    tg_schema_t *schema = compile->schema;

    compile->steps = UINT64_MAX;

    if (quota == NULL) {
        return;
    }

    compile->steps = quota->steps_max;
    compile->memory.left = quota->memory < quota->memory_max
                               ? quota->memory_max - quota->memory
                               : 0;

    if (compile->memory.left > quota->schema_max) {
        compile->memory.left = quota->schema_max;
    }

    schema->arena.memory = &compile->memory;
    compile->temp.memory = &compile->memory;
}

/* Charges the quota. An exceeded limit becomes the error, TG_LIMIT. */
static int
tg_schema_quota_charge(tg_schema_compiler_t *compile, int rc)
{
    tg_schema_quota_t *quota = compile->options.quota;
    tg_schema_t *schema = compile->schema;

    schema->arena.memory = NULL;

    if (quota == NULL) {
        return rc;
    }

    quota->steps = quota->steps_max - compile->steps;

    if (rc == TG_OK) {
        schema->size += schema->arena.size;
        schema->quota = quota;
        quota->memory += schema->size;
    }

    if (rc == TG_LIMIT || (rc == TG_NOMEM && compile->memory.is_exceeded)) {
        tg_buf_truncate(compile->error, compile->error_start);
        tg_buf_append_cstr(compile->error,
                           rc == TG_LIMIT
                               ? "compiling it takes too many steps"
                               : "the compiled schema takes too much memory");
        rc = TG_LIMIT;
    }

    return rc;
}

tg_schema_t *
tg_schema_compile(const tg_alloc_t *alloc, tg_str_t raw,
                  const tg_schema_options_t *options, tg_buf_t *error)
{
    tg_schema_compiler_t compile;
    tg_schema_t *schema;
    int rc;

    schema = tg_calloc(alloc, sizeof(*schema));

    if (schema == NULL) {
        return NULL;
    }

    memset(&compile, 0, sizeof(compile));
    tg_schema_options_set_defaults(&compile.options, options);
    compile.alloc = alloc;
    compile.schema = schema;
    compile.error = error;
    compile.error_start = error->len;
    compile.pending_tail = &compile.pending;
    compile.temp.alloc = alloc;
    schema->nrefs = 1;
    schema->arena.alloc = alloc;
    schema->regex = compile.options.regex;
    schema->max_depth = compile.options.max_depth;
    schema->max_steps = compile.options.max_steps;
    tg_schema_quota_apply(&compile);

    rc = tg_schema_quota_charge(&compile, tg_schema_compile_all(&compile, raw));

    if (rc == TG_OK) {
        tg_schema_prepare_fast_path(schema, compile.nodes, compile.n_nodes);

    } else {
        tg_schema_free(schema);
        schema = NULL;
    }

    if (rc == TG_NOMEM) {
        tg_buf_truncate(error, compile.error_start);
    }

    tg_free(alloc, compile.nodes);
    tg_free(alloc, compile.values);
    tg_schema_arena_deinit(&compile.temp);

    return schema;
}

tg_schema_t *
tg_schema_retain(tg_schema_t *schema)
{
    schema->nrefs++;

    return schema;
}

void
tg_schema_free(tg_schema_t *schema)
{
    const tg_alloc_t *alloc;
    tg_schema_regex_entry_t *entry;

    if (schema == NULL || --schema->nrefs != 0) {
        return;
    }

    for (entry = schema->regexes; entry != NULL; entry = entry->next) {
        schema->regex->free(schema->regex->ctx, entry->regex);
    }

    if (schema->quota != NULL) {
        schema->quota->memory -= schema->size;
    }

    alloc = schema->arena.alloc;
    tg_schema_arena_deinit(&schema->arena);
    tg_free(alloc, schema);
}
