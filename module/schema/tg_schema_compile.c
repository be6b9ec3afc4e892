/* A compilation, from the options to the schema. */
#include "schema/tg_schema_compile.h"

#include "schema/tg_schema_run.h"

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
    rc = tg_schema_load(compile, judged->at, judged->uri, TG_STR_NONE,
                        TG_SCHEMA_DRAFT_2020, &doc);

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

    /* Who writes schemas is trusted, or has an account of steps. */
    spent = 0;
    tg_schema_checker_frame(checker, SIZE_MAX / TG_SCHEMA_BYTE_STEPS / 2,
                            &spent);
    schema = *compile->schema;
    schema.root = doc->root;
    schema.max_steps += TG_SCHEMA_BYTE_STEPS * (uint64_t) judged->raw.len;

    if (schema.max_steps > compile->steps) {
        schema.max_steps = compile->steps;
    }

    tg_buf_init(&text, compile->alloc);
    rc = tg_schema_check(&schema, checker, judged->raw, &text);
    tg_schema_checker_free(checker);
    compile->steps -= spent < compile->steps ? spent : compile->steps;

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

    rc = tg_schema_load(compile, NULL, compile->options.base_uri, raw,
                        TG_SCHEMA_DRAFT_2020, &doc);

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

int
tg_schema_work(tg_schema_compile_t *compile, uint64_t steps)
{
    if (steps > compile->steps) {
        compile->steps = 0;
        return TG_LIMIT;
    }

    compile->steps -= steps;

    return TG_OK;
}

/* Bounds as the account of the schema has them. */
static void
tg_schema_account_open(tg_schema_compile_t *compile)
{
    const tg_schema_account_t *account = compile->options.account;
    tg_schema_t *schema = compile->schema;

    compile->steps = UINT64_MAX;

    if (account == NULL) {
        return;
    }

    compile->steps = account->steps_max;
    compile->memory.left = account->memory < account->memory_max
                               ? account->memory_max - account->memory
                               : 0;

    if (compile->memory.left > account->schema_max) {
        compile->memory.left = account->schema_max;
    }

    schema->arena.memory = &compile->memory;
    compile->temp.memory = &compile->memory;
}

/* Counts a schema, or writes that it is too large: rc is how that ended. */
static int
tg_schema_account_close(tg_schema_compile_t *compile, int rc)
{
    tg_schema_account_t *account = compile->options.account;
    tg_schema_t *schema = compile->schema;

    schema->arena.memory = NULL;

    if (account == NULL) {
        return rc;
    }

    account->steps = account->steps_max - compile->steps;

    if (rc == TG_OK) {
        schema->size += schema->arena.size;
        schema->account = account;
        account->memory += schema->size;
    }

    if (rc == TG_LIMIT || (rc == TG_NOMEM && compile->memory.is_over)) {
        tg_buf_truncate(compile->error, compile->error_start);
        tg_buf_text(compile->error, rc == TG_LIMIT
                                        ? "compiling it takes too many steps"
                                        : "compiled it takes too much memory");
        rc = TG_LIMIT;
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
    schema->nholders = 1;
    schema->arena.alloc = alloc;
    schema->regex = compile.options.regex;
    schema->max_depth = compile.options.max_depth;
    schema->max_steps = compile.options.max_steps;
    tg_schema_account_open(&compile);

    rc = tg_schema_account_close(&compile,
                                 tg_schema_compile_all(&compile, raw));

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
    tg_free(alloc, compile.values);
    tg_schema_arena_deinit(&compile.temp);

    return schema;
}

tg_schema_t *
tg_schema_hold(tg_schema_t *schema)
{
    schema->nholders++;

    return schema;
}

void
tg_schema_free(tg_schema_t *schema)
{
    const tg_alloc_t *alloc;
    tg_schema_regexes_t *entry;

    if (schema == NULL || --schema->nholders != 0) {
        return;
    }

    for (entry = schema->regexes; entry != NULL; entry = entry->next) {
        schema->regex->free(schema->regex->ctx, entry->regex);
    }

    if (schema->account != NULL) {
        schema->account->memory -= schema->size;
    }

    alloc = schema->arena.alloc;
    tg_schema_arena_deinit(&schema->arena);
    tg_free(alloc, schema);
}
