/*
 * Checks the schema compiler: any text is a schema or has an error with a
 * location.
 *
 * Input: options, which allocation fails; a document that can be referred to
 * as fuzz:/other, a newline, the schema.
 */
#include "help.h"

#include "schema/tg_schema.h"
#include "schema/pcre2/tg_pcre2.h"

static int
schema_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    const tg_str_t *other = ctx;

    FUZZ_LINE(uri);

    if (tg_str_eq(uri, TG_STR("fuzz:/other"))) {
        *raw = *other;
        return TG_OK;
    }

    return tg_str_eq(uri, TG_STR("fuzz:/bad")) ? TG_INVALID : TG_MISSING;
}

static void
schema_check(const tg_schema_t *schema, tg_str_t instance)
{
    tg_schema_validator_t *validator;
    HELP_BUFFER(error);
    int rc;

    validator = tg_schema_validator_new(tg_alloc_libc(), 3);
    rc = tg_schema_validate(schema, validator, instance, &error);
    FUZZ(rc == TG_OK || rc == TG_INVALID || rc == TG_LIMIT);
    FUZZ((rc == TG_OK) == (error.len == 0));
    FUZZ_LINE(tg_buf_view(&error));
    tg_schema_validator_free(validator);
}

FUZZ_TARGET(in)
{
    tg_schema_options_t options;
    tg_str_t other, text;
    tg_schema_t *schema;
    help_alloc_t alloc;
    unsigned byte, fail_at;
    HELP_BUFFER(error);
    char *copy;

    byte = fuzz_byte(&in);
    fail_at = fuzz_byte(&in);
    other = fuzz_until_newline(&in);
    text = fuzz_rest(&in);

    memset(&options, 0, sizeof(options));
    options.regex = byte & 1 ? NULL : tg_pcre2_get_engine();
    options.is_format_asserted = byte & 2;
    options.base_uri = byte & 4 ? TG_STR("fuzz:/base") : TG_STR_NONE;
    options.resolve = byte & 8 ? NULL : schema_resolve;
    options.resolve_ctx = &other;
    options.max_subschemas = byte & 16 ? 10 : 0;
    options.max_depth = byte & 32 ? 10 : 0;
    options.max_steps = 20000;

    fuzz_alloc_init(&alloc, 0);
    copy = help_copy(text);
    schema = tg_schema_compile(&alloc.alloc, tg_str(copy, text.len), &options,
                               &error);
    free(copy);
    FUZZ((schema == NULL) == (error.len != 0));
    FUZZ_LINE(tg_buf_view(&error));

    if (schema != NULL) {
        schema_check(schema, TG_STR("{\"a\":[1,\"x\",null,{\"b\":2.50}]}"));
        schema_check(schema, TG_STR("\"text\""));
        schema_check(schema, TG_STR("12"));

        /* The text of a schema may also be an instance of it. */
        schema_check(schema, text);
    }

    tg_schema_free(schema);
    FUZZ(alloc.live == 0);
    tg_buf_truncate(&error, 0);

    if (fail_at != 0) {
        fuzz_alloc_init(&alloc, fail_at);
        schema = tg_schema_compile(&alloc.alloc, text, &options, &error);
        tg_schema_free(schema);
        FUZZ(alloc.live == 0);
    }
}
