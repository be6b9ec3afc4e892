/*
 * Checks the schema checker: the verdict does not depend on white space,
 * earlier checks, noted offsets, or an enclosing schema.
 *
 * Input: options, which allocation fails; schema, newline, instance.
 */
#include "help.h"

#include "schema/tg_schema.h"
#include "schema/pcre2/tg_pcre2.h"

static int
check_with(const tg_schema_t *schema, tg_schema_validator_t *validator,
           tg_str_t instance, tg_buf_t *error)
{
    char *copy;
    int rc;

    copy = help_copy(instance);
    rc = tg_schema_validate(schema, validator, tg_str(copy, instance.len),
                            error);
    free(copy);

    return rc;
}

/* Nests the schema in another one with the same rules. */
static void
check_wrapped(tg_str_t raw, const tg_schema_options_t *options,
              tg_str_t instance, int expected)
{
    tg_schema_validator_t *validator;
    tg_schema_t *schema;
    HELP_BUFFER(text);
    HELP_BUFFER(error);
    int rc;

    tg_buf_append_cstr(&text, "{\"allOf\":[true,");
    tg_buf_append_str(&text, raw);
    tg_buf_append_cstr(&text, "]}");
    schema = tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), options,
                               &error);

    if (schema != NULL) {
        validator = tg_schema_validator_new(tg_alloc_libc(), 99);
        rc = check_with(schema, validator, instance, NULL);
        FUZZ(rc == expected || rc == TG_LIMIT || expected == TG_LIMIT);
        tg_schema_validator_free(validator);
    }

    tg_schema_free(schema);
}

static void
check_poor(const tg_schema_t *schema, tg_str_t instance, unsigned fail_at,
           int expected)
{
    tg_schema_validator_t *validator;
    help_alloc_t alloc;
    int rc;

    fuzz_alloc_init(&alloc, fail_at);
    validator = tg_schema_validator_new(&alloc.alloc, 1);

    if (validator != NULL) {
        rc = check_with(schema, validator, instance, NULL);
        FUZZ(rc == expected || rc == TG_NOMEM);

        /* The checker may be used again. */
        alloc.fail_at = 0;
        FUZZ(check_with(schema, validator, instance, NULL) == expected);
    }

    tg_schema_validator_free(validator);
    FUZZ(alloc.live == 0);
}

/* Noted offsets of an object's members do not change the verdict. */
static void
check_noted(const tg_schema_t *schema, tg_str_t instance, int expected)
{
    tg_json_index_t notes;
    tg_json_cursor_t json;
    tg_str_t raw;

    tg_json_init(&json, instance);

    if (tg_json_index_object(&json, &notes, &raw) == TG_OK
        && tg_schema_is_valid_fast(schema, &notes))
    {
        FUZZ(expected == TG_OK || expected == TG_LIMIT);
    }
}

static void
check_instance(const tg_schema_t *schema, tg_str_t instance, unsigned fail_at,
               int *expected)
{
    tg_schema_validator_t *validator;
    HELP_BUFFER(error);
    HELP_BUFFER(again);
    HELP_BUFFER(compact);
    int rc;

    validator = tg_schema_validator_new(tg_alloc_libc(), 7);

    *expected = check_with(schema, validator, instance, &error);
    FUZZ(*expected == TG_OK || *expected == TG_INVALID
         || *expected == TG_LIMIT);
    FUZZ((*expected == TG_OK) == (error.len == 0));
    FUZZ_LINE(tg_buf_view(&error));

    FUZZ(check_with(schema, validator, instance, &again) == *expected);
    FUZZ_EQ(tg_buf_view(&error), tg_buf_view(&again));
    check_noted(schema, instance, *expected);
    tg_json_write_compact(&compact, instance);
    rc = check_with(schema, validator, tg_buf_view(&compact), NULL);
    FUZZ(rc == *expected || rc == TG_LIMIT || *expected == TG_LIMIT);

    if (fail_at != 0) {
        check_poor(schema, instance, fail_at, *expected);
    }

    tg_schema_validator_free(validator);
}

FUZZ_TARGET(in)
{
    tg_schema_options_t options;
    tg_str_t raw, instance;
    tg_schema_t *schema;
    HELP_BUFFER(error);
    unsigned byte, fail_at;
    int expected;

    byte = fuzz_byte(&in);
    fail_at = fuzz_byte(&in);
    raw = fuzz_until_newline(&in);
    instance = fuzz_rest(&in);

    if (tg_json_validate(instance, NULL) != TG_OK) {
        return;
    }

    memset(&options, 0, sizeof(options));
    options.regex = tg_pcre2_get_engine();
    options.is_format_asserted = byte & 1;
    options.max_steps = 20000;
    schema = tg_schema_compile(tg_alloc_libc(), raw, &options, &error);

    if (schema != NULL) {
        check_instance(schema, instance, fail_at, &expected);

        /* A keyword with $ may refer to the whole document. */
        if (memchr(raw.data, '$', raw.len) == NULL
            && memchr(raw.data, '\\', raw.len) == NULL)
        {
            check_wrapped(raw, &options, instance, expected);
        }
    }

    tg_schema_free(schema);
}
