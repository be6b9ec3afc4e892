/* Steps: all work uses the step budget of its frame. */
#include "schema_help.h"

#define TEST_PATTERN_LIMIT                                                     \
    "a pattern takes too many steps on this text; shorten the text"
#define TEST_STEPS_LIMIT "checking this takes too many steps; send less at once"

/* Patterns that take very long, at one or at each start of a match. */
HELP_TEST(explosion, "patterns that explode")
{
    static const char *const schemas[] = {
        "{\"pattern\":\"^(a|a)*$\"}",
        "{\"pattern\":\"(a*)*c\"}",
        "{\"pattern\":\"^(a+)+$\"}",
        "{\"pattern\":\"(?:a|b|ab)*(?:a|ba)*c\"}",
        "{\"pattern\":\"(.*)*\\\\1x\"}",
    };
    tg_schema_options_t options;
    test_t test;

    options = test_options();

    HELP_EACH(schema, schemas) {
        test_init(&test, *schema, &options);
        tg_buf_append_char(&test.instance, '"');
        test_repeat(&test.instance, "ab", 5);
        test_repeat(&test.instance, "a", 60);
        test_repeat(&test.instance, "ab", 20);
        tg_buf_append_cstr(&test.instance, "!\"");

        if (tg_schema_validate(test.schema, test.validator,
                               tg_buf_view(&test.instance), &test.error)
            == TG_LIMIT)
        {
            HELP_EQ(tg_buf_view(&test.error), TEST_PATTERN_LIMIT);
        }

        test_fill(&test, "\"", "a", 4000, "!c!\"");
        (void) tg_schema_validate(test.schema, test.validator,
                                  tg_buf_view(&test.instance), NULL);
        test_deinit(&test);
    }

    test_init(&test, "{\"pattern\":\"^(a|a)*$\"}", &options);
    test_fill(&test, "\"", "a", 40, "b\"");
    test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
    test_deinit(&test);
}

/* The limit is for the whole search, not for each start. */
HELP_TEST(search_limit, "the limit of a search")
{
    tg_schema_options_t options;
    test_t test;

    options = test_options();
    options.max_steps = 100000;
    test_init(&test, "{\"pattern\":\"(?:a|[b-z]){1000}[!]\"}", &options);
    test_fill(&test, "\"", "a", 10000, "?!\"");
    test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
    test_deinit(&test);
}

/*
 * Searches that read the rest of the text from each start, without
 * backtracking: in a repetition, plain characters, a count, a backreference.
 */
HELP_TEST(quadratic, "quadratic searches")
{
    static const char *const schemas[] = {
        "{\"pattern\":\"x*[yz]\"}",         "{\"pattern\":\"x+?[yz]\"}",
        "{\"pattern\":\"[x]{30000}[yz]\"}", "{\"pattern\":\"(x*)\\\\1[yz]\"}",
        "{\"pattern\":\"(?=x*[yz])x\"}",
    };
    tg_schema_options_t options;
    test_t test;

    options = test_options();

    HELP_EACH(schema, schemas) {
        test_init(&test, *schema, &options);
        test_fill(&test, "\"", "xxxxxxxxxx", 30000, "\"");
        test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
        test_deinit(&test);
    }

    /* A long text alone is not an error. */
    test_init(&test, "{\"pattern\":\"x*!$\"}", &options);
    test_fill(&test, "\"", "abcdefghij", 100000, "xx!\"");
    test_expect(&test, TG_OK, "");
    test_deinit(&test);
}

HELP_TEST(many_matches, "patterns use the one budget of the whole check")
{
    tg_schema_options_t options;
    test_t test;

    options = test_options();
    options.max_steps = 300000;
    test_init(&test, "{\"items\":{\"pattern\":\"^(?:a|a){14}$\"}}", &options);
    test_fill(&test, "[", "\"aaaaaaaaaaaaaaa\",", 1000, "\"a\"]");
    CU_ASSERT_EQUAL(tg_schema_validate(test.schema, test.validator,
                                       tg_buf_view(&test.instance), NULL),
                    TG_INVALID);
    tg_schema_free(test.schema);
    test.schema = test_compile(
        tg_alloc_libc(),
        "{\"items\":{\"not\":{\"pattern\":\"^(?:a|a){14}$\"}}}", &options,
        &test.error);
    test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
    test_deinit(&test);
}

/* Each level tries two branches of two: 2 to the power of 60 in all. */
HELP_TEST(branches, "branches of branches")
{
    test_t test;

    test_init(&test,
              "{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"maxItems\":0},"
              "{\"items\":{\"$ref\":\"#\"},\"maxItems\":0},"
              "{\"type\":\"null\"}]}",
              NULL);
    test_repeat(&test.instance, "[", 60);
    test_repeat(&test.instance, "]", 60);
    test_expect(&test, TG_LIMIT, TEST_STEPS_LIMIT);
    test_deinit(&test);
}

/* An allOf with a hundred times this rule. */
static tg_buf_t
test_hundred(const char *rule)
{
    tg_buf_t schema = HELP_BUF;

    tg_buf_append_cstr(&schema, "{\"allOf\":[true");

    while (schema.len < 100 * (strlen(rule) + 1)) {
        tg_buf_printf(&schema, ",%s", rule);
    }

    tg_buf_append(&schema, "]}", 3);

    return schema;
}

#define TEST_MANY_BYTES 16000

HELP_TEST(bytes, "reading bytes costs, each time: at least a step per 16 bytes")
{
    static const struct {
        const char *rule, *start, *part, *end;
    } rows[] = {
        { "{\"type\":\"integer\"}", "1", "7", "" },
        { "{\"minimum\":1}", "1", "7", "" },
        { "{\"multipleOf\":1}", "1", "7", "" },
        { "{\"not\":{\"const\":8}}", "1", "7", "" },
        { "{\"minLength\":15000}", "\"", "x", "\"" },
        { "{\"not\":{\"enum\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"]}}",
          "\"", "x", "\"" },
        { "{\"not\":{\"pattern\":\"y\"}}", "\"", "x", "\"" },
        { "{\"format\":\"json-pointer\"}", "\"/", "x", "\"" },
        { "{\"properties\":{\"b\":{\"type\":\"null\"}}}", "{\"a\":\"", "\\\"",
          "\",\"b\":null}" },
        { "{\"properties\":{\"b\":{\"type\":\"null\"}}}", "{\"a\":[1", ",1",
          "],\"b\":null}" },
        { "{\"required\":[\"b\"]}", "{\"", "x", "\":1,\"b\":1}" },
        { "{\"required\":[\"b\"]}", "{\"", "\\n", "\":1,\"b\":1}" },
        { "{\"propertyNames\":{\"minLength\":1}}", "{\"", "x", "\":1}" },
    };
    tg_schema_options_t options;
    uint64_t spent;
    tg_buf_t schema;
    test_t test;

    options = test_options();
    options.is_format_asserted = 1;
    options.max_steps = UINT64_C(1) << 40;

    HELP_EACH(row, rows) {
        schema = test_hundred(row->rule);
        test_init(&test, schema.data, &options);
        tg_buf_deinit(&schema);
        test_fill(&test, row->start, row->part,
                  TEST_MANY_BYTES / strlen(row->part), row->end);
        spent = 0;
        tg_schema_validator_set_frame(test.validator, 1 << 20, &spent);
        test_expect(&test, TG_OK, "");
        CU_ASSERT(spent >= (uint64_t) 100 * TEST_MANY_BYTES / 16);
        test_deinit(&test);
    }
}

/* Comparing objects in another order costs the length of their values. */
HELP_TEST(reversed, "objects in another order")
{
    uint64_t spent;
    test_t test;
    size_t i;

    test_init(&test, "{\"uniqueItems\":true}", NULL);
    test_fill(&test, "[{\"x\":\"", "x", TEST_MANY_BYTES, "\"");

    for (i = 0; i < 100; i++) {
        tg_buf_printf(&test.instance, ",\"%lu\":1", (unsigned long) i);
    }

    tg_buf_append_cstr(&test.instance, "},{");

    for (i = 100; i-- > 0; /* void */) {
        tg_buf_printf(&test.instance, "\"%lu\":1,", (unsigned long) i);
    }

    tg_buf_append_cstr(&test.instance, "\"x\":\"");
    test_repeat(&test.instance, "x", TEST_MANY_BYTES);
    tg_buf_append_cstr(&test.instance, "\"}]");
    spent = 0;
    tg_schema_validator_set_frame(test.validator, 1 << 20, &spent);
    test_expect(&test, TG_INVALID, NULL);
    CU_ASSERT(spent >= (uint64_t) 99 * TEST_MANY_BYTES / 16);
    test_deinit(&test);
}

/* Texts that differ only at their end have different hash slots. */
HELP_TEST(similar, "similar texts")
{
    static const char *const starts[] = { "",     "a",       "abc",
                                          "abcd", "abcdefg", "abcdefghijkl" };
    uint64_t spent;
    test_t test;
    size_t k;

    HELP_EACH(start, starts) {
        test_init(&test, "{\"uniqueItems\":true}", NULL);
        tg_buf_append_char(&test.instance, '[');

        for (k = 1000; k < 10000; k++) {
            tg_buf_append_cstr(&test.instance, k != 1000 ? ",\"" : "\"");
            tg_buf_append_cstr(&test.instance, *start);
            tg_buf_append_uint(&test.instance, k);
            tg_buf_append_char(&test.instance, '"');
        }

        tg_buf_append_char(&test.instance, ']');
        spent = 0;
        tg_schema_validator_set_frame(test.validator, 1 << 20, &spent);
        test_expect(&test, TG_OK, "");
        CU_ASSERT(spent < 9000 * 12);
        test_deinit(&test);
    }
}

/* Returns an array of n times part, with a number in place of each #. */
static void
test_array(test_t *test, const char *part, size_t n)
{
    const char *p;
    size_t i;

    tg_buf_truncate(&test->instance, 0);

    for (i = 0; i < n; i++) {
        tg_buf_append_char(&test->instance, i != 0 ? ',' : '[');

        for (p = part; *p != '\0'; p++) {
            if (*p == '#') {
                tg_buf_append_uint(&test->instance, i);

            } else {
                tg_buf_append_char(&test->instance, *p);
            }
        }
    }

    tg_buf_append_char(&test->instance, ']');
}

#define TEST_LETTERS                                                           \
    "{\"items\":{\"enum\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]}}"

HELP_TEST(prices, "values that take more than being skipped cost more steps")
{
    static const struct {
        const char *schema, *part;
        size_t steps;
    } rows[] = {
        { "{\"items\":{\"type\":\"string\"}}", "\"h\"", 2 },
        { "{\"items\":{\"type\":\"string\"}}", "\"\\n\"", 5 },
        { "{\"items\":{\"maxProperties\":1}}", "{\"\\n\":1}", 6 },
        { TEST_LETTERS, "\"h\"", 5 },
        { TEST_LETTERS, "\"\\u0068\"", 14 },
        { "{\"items\":{\"enum\":[\"a\",\"b\"]}}", "\"b\"", 4 },
        { "{\"items\":{\"type\":\"integer\"}}", "8.0", 3 },
        { "{\"items\":{\"const\":{\"a\":1}}}", "{\"a\":1}", 10 },
        { "{\"items\":{\"const\":[1,[2]]}}", "[1,[2]]", 14 },
        { "{\"uniqueItems\":true}", "#", 7 },
        { "{\"uniqueItems\":true}", "\"#\"", 7 },
        { "{\"uniqueItems\":true}", "{\"a\":[#],\"b\":1}", 19 },
        { "{\"uniqueItems\":true}", "[[[[{\"a\":#}]]]]", 22 },
        { "{\"uniqueItems\":true}", "\"\\u00e9#\"", 16 },
    };
    uint64_t spent;
    test_t test;

    HELP_EACH(row, rows) {
        test_init(&test, row->schema, NULL);
        test_array(&test, row->part, 1000);
        spent = 0;
        tg_schema_validator_set_frame(test.validator, 1 << 20, &spent);
        test_expect(&test, TG_OK, "");
        CU_ASSERT(spent >= 1000 * row->steps);
        CU_ASSERT(spent < 1000 * (row->steps + 6));
        test_deinit(&test);
    }
}

#define TEST_RECORD                                                            \
    "{\"id\":#,\"kind\":\"abc\",\"name\":\"some name #\",\"n\":12.5}"

/* The largest message of a model is within the steps, a larger one not. */
HELP_TEST(largest, "the largest instances")
{
    static const struct {
        const char *schema, *part;
        size_t n;
        int rc;
    } rows[] = {
        { "{\"uniqueItems\":true}", TEST_RECORD, 100000, TG_OK },
        { "{\"uniqueItems\":true}", "{\"a\":[#],\"b\":1}", 150000, TG_OK },
        { "{\"uniqueItems\":true}", "{\"a\":[#],\"b\":1}", 250000, TG_LIMIT },
        { "{\"uniqueItems\":true}", "[[[[{\"a\":#}]]]]", 250000, TG_LIMIT },
        { "{\"items\":{\"properties\":{\"n\":{\"minimum\":0},"
          "\"name\":{\"maxLength\":40},\"kind\":{\"enum\":[\"x\",\"abc\"]},"
          "\"id\":{\"type\":\"integer\"}},\"required\":[\"id\",\"n\"]}}",
          TEST_RECORD, 160000, TG_OK },
        { TEST_LETTERS, "\"h\"", 500000, TG_OK },
        { TEST_LETTERS, "\"h\"", 2450000, TG_LIMIT },
    };
    test_t test;

    HELP_EACH(row, rows) {
        test_init(&test, row->schema, NULL);
        test_array(&test, row->part, row->n);
        test_expect(&test, row->rc, row->rc == TG_OK ? "" : TEST_STEPS_LIMIT);
        test_deinit(&test);
    }
}

/* Runs an endless check for a frame of this size. */
static uint64_t
test_spend(test_t *test, size_t bytes, uint64_t spent)
{
    tg_schema_validator_set_frame(test->validator, bytes, &spent);
    test_expect(test, TG_LIMIT, TEST_STEPS_LIMIT);

    return spent;
}

/* The checks of a frame share its steps, also those for messages. */
HELP_TEST(frame, "the steps of a frame")
{
    uint64_t spent, once;
    tg_schema_t *endless;
    test_t test;
    size_t i;

    test_init(&test, "{\"anyOf\":[{\"items\":{\"pattern\":\"y\"}}]}",
              &(tg_schema_options_t){ .regex = tg_pcre2_get_engine() });
    test_fill(&test, "[\"", "x", TEST_MANY_BYTES, "\"]");
    spent = 0;
    tg_schema_validator_set_frame(test.validator, 0, &spent);
    test_expect(&test, TG_INVALID,
                "(root): matches none of the 1 schemas of anyOf; closest is "
                "number 1: /0: must match the pattern \"y\", got "
                "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxx…");
    once = spent;

    /* Until they are used up; the last message may lack its reason. */
    for (i = 1; spent < TG_SCHEMA_BASE_STEPS && i < 1000; i++) {
        (void) tg_schema_validate(test.schema, test.validator,
                                  tg_buf_view(&test.instance), NULL);
    }

    CU_ASSERT(spent == TG_SCHEMA_BASE_STEPS);
    CU_ASSERT(once > TEST_MANY_BYTES / 16);
    CU_ASSERT(i <= TG_SCHEMA_BASE_STEPS / (TEST_MANY_BYTES / 16));
    test_expect(&test, TG_LIMIT, TEST_STEPS_LIMIT);

    /* Alone, each check is within its steps. */
    tg_schema_validator_set_frame(test.validator, 0, NULL);
    test_expect(&test, TG_INVALID, NULL);
    tg_schema_free(test.schema);

    endless = test_compile(
        tg_alloc_libc(),
        "{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"maxItems\":0},"
        "{\"items\":{\"$ref\":\"#\"},\"maxItems\":0}]}",
        NULL, &test.error);
    test.schema = endless;
    tg_buf_truncate(&test.instance, 0);
    test_repeat(&test.instance, "[", 60);
    test_repeat(&test.instance, "]", 60);
    CU_ASSERT(test_spend(&test, 0, 0) == TG_SCHEMA_BASE_STEPS);
    CU_ASSERT(test_spend(&test, 0, 1000) == TG_SCHEMA_BASE_STEPS);
    CU_ASSERT(test_spend(&test, 1000, 0)
              == TG_SCHEMA_BASE_STEPS + 1000 * TG_SCHEMA_STEPS_PER_BYTE);
    CU_ASSERT(test_spend(&test, SIZE_MAX / 8, 0) == TG_SCHEMA_MAX_STEPS);
    CU_ASSERT(test_spend(&test, 0, TG_SCHEMA_MAX_STEPS) == TG_SCHEMA_MAX_STEPS);
    test_deinit(&test);
}
