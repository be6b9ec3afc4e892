/* The cost of compiling a schema: steps and memory, within a quota. */
#include "schema_help.h"

#define TEST_MANY_STEPS "compiling it takes too many steps"
#define TEST_MUCH_MEMORY "the compiled schema takes too much memory"

/* Bounds far above those of a usual schema. */
#define TEST_STEPS 1000000
#define TEST_MEMORY 8388608

static tg_schema_quota_t
test_account(void)
{
    return (tg_schema_quota_t){
        .memory_max = 2 * TEST_MEMORY,
        .schema_max = TEST_MEMORY,
        .steps_max = TEST_STEPS,
    };
}

/* Appends n times part, in which each % becomes a new number. */
static void
test_parts(tg_buf_t *out, const char *part, size_t n)
{
    const char *p;
    size_t i;

    for (i = 0; i < n; i++) {
        tg_buf_append_cstr(out, i != 0 ? "," : "");

        for (p = part; *p != '\0'; p++) {
            if (*p == '%') {
                tg_buf_append_uint(out, i);
            } else {
                tg_buf_append_char(out, *p);
            }
        }
    }
}

/* Compiles a schema of parts; NULL, with the message in `why`. */
static tg_schema_t *
test_of_parts(tg_schema_quota_t *quota, const char *start, const char *part,
              size_t n, const char *end, const char *why)
{
    tg_schema_options_t options;
    tg_schema_t *schema;
    HELP_BUFFER(text);
    HELP_BUFFER(error);

    options = test_options();
    options.quota = quota;
    tg_buf_append_cstr(&text, start);
    test_parts(&text, part, n);
    tg_buf_append_cstr(&text, end);
    schema = tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), &options,
                               &error);
    HELP_EQ(tg_buf_view(&error), why);
    CU_ASSERT((schema == NULL) == (why[0] != '\0'));

    return schema;
}

/* A part, and the number of them that takes too many steps. */
typedef struct {
    const char *start;
    const char *part;
    size_t n;
    const char *end;
} test_parts_t;

HELP_TEST(steps, "steps")
{
    static const char id[] = "{\"allOf\":[";
    static const test_parts_t rows[] = {
        { "{\"properties\":{", "\"p%\":{\"pattern\":\"^[a-z]{1,900}$\"}", 3000,
          "}}" },
        { id, "{\"pattern\":\"((a{1,30}){1,30}){1,30}%\"}", 400, "]}" },
        { id, "{\"$anchor\":\"i%\"}", 3000, "]}" },
        { id, "{\"$id\":\"i%\"}", 3000, "]}" },
        { "{\"properties\":{\"z\":{\"allOf\":[",
          "true,{\"items\":{\"$ref\":\"#/properties/z/allOf/0\"}}", 3000,
          "]}}}" },
        { "{\"dependentRequired\":{\"a\":[", "\"k%\"", 6000, "]}}" },
        { "{\"enum\":[", "\"v%\"", 60000, "]}" },
        { "{\"const\":{", "\"k%\":1", 60000, "}}" },
        { "{\"required\":[", "\"k%\"", 60000, "]}" },
        { id, "{}", 19900, "]}" },
    };
    tg_schema_quota_t quota;

    HELP_EACH(row, rows) {
        quota = test_account();
        quota.schema_max = SIZE_MAX;
        quota.memory_max = SIZE_MAX;
        CU_ASSERT_PTR_NULL(test_of_parts(&quota, row->start, row->part, row->n,
                                         row->end, TEST_MANY_STEPS));
        CU_ASSERT_EQUAL(quota.steps, TEST_STEPS);
        CU_ASSERT_EQUAL(quota.memory, 0);

        /* With some of them it is a usual schema. */
        tg_schema_free(
            test_of_parts(&quota, row->start, row->part, 20, row->end, ""));
        CU_ASSERT(quota.steps > 0 && quota.steps < TEST_STEPS / 2);
        CU_ASSERT_EQUAL(quota.memory, 0);
    }
}

HELP_TEST(dialect, "the check against a dialect uses the steps that are left")
{
    static const char start[] =
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/meta/core\","
        "\"$defs\":{";
    tg_schema_quota_t quota;

    quota = test_account();
    CU_ASSERT_PTR_NULL(test_of_parts(&quota, start,
                                     "\"k%\":{\"allOf\":[true,1]}", 9000, "}}",
                                     TEST_MANY_STEPS));
}

/* A pattern of few bytes that compiles to nearly 64 KiB. */
#define TEST_PATTERN "{\"pattern\":\"((a{1,30}){1,30}){1,9}%\"}"

HELP_TEST(memory, "memory")
{
    tg_schema_t *first, *second;
    tg_schema_quota_t quota;
    size_t size;

    quota = test_account();
    quota.steps_max = UINT64_MAX;
    CU_ASSERT_PTR_NULL(test_of_parts(&quota, "{\"allOf\":[", TEST_PATTERN, 1000,
                                     "]}", TEST_MUCH_MEMORY));
    CU_ASSERT_EQUAL(quota.memory, 0);
    CU_ASSERT_PTR_NULL(test_of_parts(&quota, "{\"x\":[", "\"y%\"", 1000000,
                                     "]}", TEST_MUCH_MEMORY));
    first = test_of_parts(&quota, "{\"allOf\":[", TEST_PATTERN, 20, "]}", "");
    size = quota.memory;
    CU_ASSERT(size > 20 * 5000 && size < TEST_MEMORY);

    /* All schemas together have a bound too. */
    quota.memory_max = size + size / 2;
    CU_ASSERT_PTR_NULL(test_of_parts(&quota, "{\"allOf\":[", TEST_PATTERN, 20,
                                     "]}", TEST_MUCH_MEMORY));
    CU_ASSERT_EQUAL(quota.memory, size);
    quota.memory_max = 2 * size + TEST_MEMORY;
    second = test_of_parts(&quota, "{\"allOf\":[", TEST_PATTERN, 20, "]}", "");
    CU_ASSERT_EQUAL(quota.memory, 2 * size);

    /* It counts as long as a reference exists. */
    (void) tg_schema_retain(second);
    tg_schema_free(second);
    tg_schema_free(first);
    CU_ASSERT_EQUAL(quota.memory, size);
    tg_schema_free(second);
    CU_ASSERT_EQUAL(quota.memory, 0);
}

HELP_TEST(others, "errors and lack of memory have their own results")
{
    tg_schema_quota_t quota;
    tg_schema_options_t options;
    HELP_BUFFER(error);

    quota = test_account();
    CU_ASSERT_PTR_NULL(test_of_parts(&quota, "{\"type\":[", "\"x%\"", 1, "]}",
                                     "/type/0: must be one of string, number, "
                                     "integer, boolean, object, array, null, "
                                     "got \"x0\""));
    CU_ASSERT_EQUAL(quota.memory, 0);
    options = test_options();
    options.quota = &quota;
    tg_schema_free(
        test_compile(tg_alloc_libc(), "{\"pattern\":\"a\"}", &options, &error));
    CU_ASSERT_EQUAL(error.len, 0);
    CU_ASSERT_EQUAL(quota.memory, 0);
}
