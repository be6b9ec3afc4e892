/* Helpers of the schema tests: tables of cases, and the regex engine. */
#ifndef SCHEMA_HELP_H
#define SCHEMA_HELP_H

#include "protocol_help.h"

#include "schema/tg_schema.h"
#include "schema/pcre2/tg_pcre2.h"

/*
 * A row of a table. schema NULL: that of the previous row. error NULL: the
 * instance is valid; "*": it is invalid with any message; else the message.
 */
typedef struct {
    const char *schema, *instance, *error;
} test_row_t;

static inline void
test_report(const char *schema, const char *instance, const char *expected,
            tg_str_t got)
{
    printf("\n    %s\n    with %s:\n    expected %s\n    got %s\n", schema,
           instance, expected != NULL ? expected : "that it fits",
           help_text(got));
    CU_FAIL("see above");
}

/* The schema does not refer to its text, so the text is freed at once. */
static inline tg_schema_t *
test_compile(const tg_alloc_t *alloc, const char *text,
             const tg_schema_options_t *options, tg_buf_t *error)
{
    tg_schema_t *schema;
    char *copy;

    copy = help_copy(tg_str_from_cstr(text));
    schema = tg_schema_compile(alloc, tg_str(copy, strlen(text)), options,
                               error);
    free(copy);

    return schema;
}

/* Checks the offsets that a parser noted. */
static inline void
test_noted(const tg_schema_t *schema, tg_str_t raw, int expected)
{
    tg_json_index_t notes;
    tg_json_cursor_t json;

    tg_json_init(&json, raw);

    if (tg_json_index_object(&json, &notes, &raw) != TG_OK) {
        return;
    }

    CU_ASSERT_TRUE(!tg_schema_is_valid_fast(schema, &notes)
                   || expected == TG_OK);
}

/* Checks an instance twice: the second check must not allocate. */
static inline void
test_instance(const char *text, const tg_schema_t *schema,
              tg_schema_validator_t *validator, const help_alloc_t *help,
              const test_row_t *row)
{
    HELP_BUFFER(error);
    size_t count;
    char *copy;
    int rc;

    copy = help_copy(tg_str_from_cstr(row->instance));
    rc = tg_schema_validate(schema, validator,
                            tg_str(copy, strlen(row->instance)), &error);

    if (rc != (row->error != NULL ? TG_INVALID : TG_OK)
        || (row->error != NULL && strcmp(row->error, "*") != 0
            && !tg_str_eq(tg_buf_view(&error), tg_str_from_cstr(row->error))))
    {
        test_report(text, row->instance, row->error, tg_buf_view(&error));
    }

    count = help->count;
    CU_ASSERT_EQUAL(tg_schema_validate(schema, validator,
                                       tg_str(copy, strlen(row->instance)),
                                       NULL),
                    rc);
    CU_ASSERT_EQUAL(help->count, count);
    test_noted(schema, tg_str(copy, strlen(row->instance)), rc);
    free(copy);
}

static inline void
test_rows_with(const test_row_t *rows, size_t n,
               const tg_schema_options_t *options)
{
    tg_schema_validator_t *validator;
    tg_schema_t *schema;
    help_alloc_t help;
    const char *text;
    tg_buf_t error;
    size_t i;

    help_alloc_init(&help);
    validator = tg_schema_validator_new(&help.alloc, 7);
    schema = NULL;
    text = NULL;

    for (i = 0; i < n; i++) {
        if (rows[i].schema != NULL) {
            tg_schema_free(schema);
            text = rows[i].schema;
            tg_buf_init(&error, tg_alloc_libc());
            schema = test_compile(&help.alloc, text, options, &error);

            if (schema == NULL) {
                test_report(text, "no instance", NULL, tg_buf_view(&error));
            }

            tg_buf_deinit(&error);
        }

        if (schema != NULL) {
            test_instance(text, schema, validator, &help, &rows[i]);
        }
    }

    tg_schema_free(schema);
    tg_schema_validator_free(validator);
    CU_ASSERT_EQUAL(help.live, 0);
}

static inline tg_schema_options_t
test_options(void)
{
    tg_schema_options_t options;

    memset(&options, 0, sizeof(options));
    options.regex = tg_pcre2_get_engine();

    return options;
}

/* A schema, a generated instance, and the expected message. */
typedef struct {
    tg_schema_t *schema;
    tg_schema_validator_t *validator;
    tg_buf_t instance;
    tg_buf_t error;
} test_t;

static inline void
test_init(test_t *test, const char *schema, const tg_schema_options_t *options)
{
    tg_buf_init(&test->instance, tg_alloc_libc());
    tg_buf_init(&test->error, tg_alloc_libc());
    test->schema = test_compile(tg_alloc_libc(), schema, options, &test->error);
    test->validator = tg_schema_validator_new(tg_alloc_libc(), 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(test->schema);
}

static inline void
test_deinit(test_t *test)
{
    tg_schema_free(test->schema);
    tg_schema_validator_free(test->validator);
    tg_buf_deinit(&test->instance);
    tg_buf_deinit(&test->error);
}

static inline void
test_repeat(tg_buf_t *out, const char *text, size_t n)
{
    while (n-- > 0) {
        tg_buf_append_cstr(out, text);
    }
}

/* Makes the instance: n times part, between start and end. */
static inline void
test_fill(test_t *test, const char *start, const char *part, size_t n,
          const char *end)
{
    tg_buf_truncate(&test->instance, 0);
    tg_buf_append_cstr(&test->instance, start);
    test_repeat(&test->instance, part, n);
    tg_buf_append_cstr(&test->instance, end);
}

static inline void
test_expect(test_t *test, int rc, const char *text)
{
    tg_buf_truncate(&test->error, 0);
    CU_ASSERT_EQUAL(tg_schema_validate(test->schema, test->validator,
                                       tg_buf_view(&test->instance),
                                       &test->error),
                    rc);

    if (text != NULL) {
        HELP_EQ(tg_buf_view(&test->error), text);
    }
}

#define TEST_ROWS(rows)                                                        \
    do {                                                                       \
        tg_schema_options_t options_ = test_options();                         \
        test_rows_with(rows, HELP_COUNT(rows), &options_);                     \
    } while (0)

/* An invalid schema and its error; a * at the end stands for PCRE2's words. */
typedef struct {
    const char *schema;
    const char *error;
} test_invalid_schema_t;

static inline int
test_is_text(tg_str_t got, const char *expected)
{
    size_t len;

    len = strlen(expected);

    if (len != 0 && expected[len - 1] == '*') {
        got.len = got.len < len - 1 ? got.len : len - 1;
        len--;
    }

    return tg_str_eq(got, tg_str(expected, len));
}

static inline void
test_mistakes_with(const test_invalid_schema_t *rows, size_t n,
                   const tg_schema_options_t *options)
{
    tg_schema_t *schema;
    help_alloc_t help;
    size_t i;

    help_alloc_init(&help);

    for (i = 0; i < n; i++) {
        HELP_BUFFER(error);

        schema = test_compile(&help.alloc, rows[i].schema, options, &error);

        if (schema != NULL || !test_is_text(tg_buf_view(&error), rows[i].error))
        {
            test_report(rows[i].schema, "no instance", rows[i].error,
                        tg_buf_view(&error));
        }

        tg_schema_free(schema);
    }

    CU_ASSERT_EQUAL(help.live, 0);
}

#endif
