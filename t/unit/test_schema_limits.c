/*
 * Budgets: no schema and no instance can take much time, stack or memory,
 * and what is said stays short.
 */
#include "schema_help.h"

#include "base/tg_utf8.h"

typedef struct {
    tg_schema_t *schema;
    tg_schema_checker_t *checker;
    tg_buf_t instance;
    tg_buf_t error;
} test_t;

static void
test_init(test_t *test, const char *schema, const tg_schema_options_t *options)
{
    tg_buf_init(&test->instance, tg_alloc_libc());
    tg_buf_init(&test->error, tg_alloc_libc());
    test->schema = test_compile(tg_alloc_libc(), schema, options, &test->error);
    test->checker = tg_schema_checker_new(tg_alloc_libc(), 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(test->schema);
}

static void
test_deinit(test_t *test)
{
    tg_schema_free(test->schema);
    tg_schema_checker_free(test->checker);
    tg_buf_deinit(&test->instance);
    tg_buf_deinit(&test->error);
}

static void
test_repeat(tg_buf_t *out, const char *text, size_t n)
{
    while (n-- > 0) {
        tg_buf_text(out, text);
    }
}

static void
test_expect(test_t *test, int rc, const char *text)
{
    tg_buf_truncate(&test->error, 0);
    CU_ASSERT_EQUAL(tg_schema_check(test->schema, test->checker,
                                    tg_buf_view(&test->instance), &test->error),
                    rc);

    if (text != NULL) {
        HELP_EQ(tg_buf_view(&test->error), text);
    }
}

#define TEST_PATTERN_LIMIT                                                     \
    "a pattern takes too many steps on this text; shorten the text"
#define TEST_DEPTH_LIMIT                                                       \
    "schemas nest too deep here: one refers to itself without end, or the "    \
    "value nests too deep"
#define TEST_STEPS_LIMIT "checking this takes too many steps; send less at once"

/* Patterns that take ages, at one start of a match and at each of many. */
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
    size_t i;

    options = test_options();

    for (i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        test_init(&test, schemas[i], &options);
        tg_buf_char(&test.instance, '"');
        test_repeat(&test.instance, "ab", 5);
        test_repeat(&test.instance, "a", 60);
        test_repeat(&test.instance, "ab", 20);
        tg_buf_text(&test.instance, "!\"");

        if (tg_schema_check(test.schema, test.checker,
                            tg_buf_view(&test.instance), &test.error)
            == TG_LIMIT)
        {
            HELP_EQ(tg_buf_view(&test.error), TEST_PATTERN_LIMIT);
        }

        tg_buf_truncate(&test.instance, 0);
        tg_buf_char(&test.instance, '"');
        test_repeat(&test.instance, "a", 4000);
        tg_buf_text(&test.instance, "!c!\"");
        (void) tg_schema_check(test.schema, test.checker,
                               tg_buf_view(&test.instance), NULL);
        test_deinit(&test);
    }

    test_init(&test, "{\"pattern\":\"^(a|a)*$\"}", &options);
    tg_buf_char(&test.instance, '"');
    test_repeat(&test.instance, "a", 40);
    tg_buf_text(&test.instance, "b\"");
    test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
    test_deinit(&test);
}

/*
 * The limit of a match counts the whole search, not each of its starts: ten
 * thousand starts of a thousand steps are beyond it.
 */
HELP_TEST(search_limit, "the limit of a search")
{
    tg_schema_options_t options;
    test_t test;

    options = test_options();
    options.max_steps = 100000;
    test_init(&test, "{\"pattern\":\"(?:a|[b-z]){1000}[!]\"}", &options);
    tg_buf_char(&test.instance, '"');
    test_repeat(&test.instance, "a", 10000);
    tg_buf_text(&test.instance, "?!\"");
    test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
    test_deinit(&test);
}

/*
 * Searches that look at everything from each start, without backtracking:
 * in a repetition, in plain characters, in a count, in a backreference.
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
    size_t i;

    options = test_options();

    for (i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        test_init(&test, schemas[i], &options);
        tg_buf_char(&test.instance, '"');
        test_repeat(&test.instance, "xxxxxxxxxx", 30000);
        tg_buf_char(&test.instance, '"');
        test_expect(&test, TG_LIMIT, TEST_PATTERN_LIMIT);
        test_deinit(&test);
    }

    /* A long text is no reason by itself. */
    test_init(&test, "{\"pattern\":\"x*!$\"}", &options);
    tg_buf_char(&test.instance, '"');
    test_repeat(&test.instance, "abcdefghij", 100000);
    tg_buf_text(&test.instance, "xx!\"");
    test_expect(&test, TG_OK, "");
    test_deinit(&test);
}

/* What a pattern takes is taken from the one budget of the whole check. */
HELP_TEST(many_matches, "many matches")
{
    tg_schema_options_t options;
    test_t test;

    options = test_options();
    options.max_steps = 300000;
    test_init(&test, "{\"items\":{\"pattern\":\"^(?:a|a){14}$\"}}", &options);
    tg_buf_char(&test.instance, '[');
    test_repeat(&test.instance, "\"aaaaaaaaaaaaaaa\",", 1000);
    tg_buf_text(&test.instance, "\"a\"]");
    CU_ASSERT_EQUAL(tg_schema_check(test.schema, test.checker,
                                    tg_buf_view(&test.instance), NULL),
                    TG_BAD);
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

/* A text about lists in lists ends, too. */
HELP_TEST(long_text, "long texts")
{
    test_t test;
    size_t i;

    test_init(&test,
              "{\"anyOf\":[{\"properties\":{\"long name of a property\":"
              "{\"$ref\":\"#\"}},\"required\":[\"x\"]},{\"const\":5}]}",
              NULL);

    for (i = 0; i < 100; i++) {
        tg_buf_text(&test.instance, "{\"long name of a property\":");
    }

    tg_buf_text(&test.instance, "6");
    test_repeat(&test.instance, "}", 100);
    test_expect(&test, TG_BAD, NULL);
    CU_ASSERT(test.error.len < 4096);
    CU_ASSERT(test.error.len > 100);
    test_deinit(&test);
}

/* Long names and values are cut between characters. */
HELP_TEST(cut, "cut texts")
{
    static const char *const pieces[] = { "é", "😀", "x😀", "\\u0001", "\\n" };
    tg_str_t error;
    test_t test;
    size_t i, k;

    for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        test_init(&test,
                  "{\"additionalProperties\":{\"additionalProperties\":"
                  "{\"enum\":[\"y\",7]}},\"propertyNames\":true}",
                  NULL);
        tg_buf_text(&test.instance, "{\"");
        test_repeat(&test.instance, pieces[i], 500);
        tg_buf_text(&test.instance, "\":{\"/~");
        test_repeat(&test.instance, pieces[i], 500);
        tg_buf_text(&test.instance, "\":\"a");
        test_repeat(&test.instance, pieces[i], 500);
        tg_buf_text(&test.instance, "\"}}");
        test_expect(&test, TG_BAD, NULL);
        error = tg_buf_view(&test.error);
        CU_ASSERT(error.len > 100 && error.len < 1200);
        CU_ASSERT(tg_utf8_is_valid(error));

        for (k = 0; k < error.len; k++) {
            CU_ASSERT((unsigned char) error.data[k] >= ' ');
        }

        test_deinit(&test);
    }
}

HELP_TEST(unique, "uniqueItems")
{
    tg_buf_t *out;
    test_t test;
    size_t i;

    test_init(&test, "{\"uniqueItems\":true}", NULL);
    out = &test.instance;
    tg_buf_char(out, '[');

    for (i = 0; i < 262144; i++) {
        tg_buf_text(out, i != 0 ? "," : "");
        tg_buf_uint(out, i);
    }

    tg_buf_char(out, ']');
    test_expect(&test, TG_OK, "");
    tg_buf_truncate(out, out->len - 1);
    tg_buf_text(out, ",5.0]");
    test_expect(&test, TG_LIMIT,
                "more values than can be compared with each other (262144); "
                "send fewer");
    test_deinit(&test);
}

/* Where its schemas nest and how far, counted while checking. */
HELP_TEST(depth, "depth")
{
    tg_schema_options_t options;
    test_t test;

    memset(&options, 0, sizeof(options));
    options.max_depth = 20;
    test_init(&test, "{\"items\":{\"$ref\":\"#\"}}", &options);
    test_repeat(&test.instance, "[", 10);
    test_repeat(&test.instance, "]", 10);
    test_expect(&test, TG_OK, "");
    tg_buf_truncate(&test.instance, 0);
    test_repeat(&test.instance, "[", 11);
    test_repeat(&test.instance, "]", 11);
    test_expect(&test, TG_LIMIT, TEST_DEPTH_LIMIT);
    test_deinit(&test);
}

/* A loop that only the dynamic scope closes. */
HELP_TEST(dynamic_loop, "a dynamic loop")
{
    test_t test;

    test_init(&test,
              "{\"$id\":\"http://a.example/outer\",\"$dynamicAnchor\":\"N\","
              "\"$ref\":\"inner\",\"$defs\":{\"inner\":{\"$id\":\"inner\","
              "\"$dynamicRef\":\"#N\",\"$defs\":{\"n\":{\"$dynamicAnchor\":"
              "\"N\"}}}}}",
              NULL);
    tg_buf_text(&test.instance, "1");
    test_expect(&test, TG_LIMIT, TEST_DEPTH_LIMIT);
    test_deinit(&test);
}

/* The deepest value with rules at each level. */
HELP_TEST(deep_value, "a deep value")
{
    test_t test;

    test_init(&test,
              "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"allOf\":["
              "{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"unevaluatedItems\":"
              "false}]}]}}}",
              NULL);
    test_repeat(&test.instance, "[", TG_JSON_DEPTH);
    test_repeat(&test.instance, "]", TG_JSON_DEPTH);
    test_expect(&test, TG_OK, "");
    test_deinit(&test);
}

static void
test_refuse_schema(const char *text, const tg_schema_options_t *options,
                   const char *expected)
{
    tg_schema_t *schema;
    tg_buf_t error;

    tg_buf_init(&error, tg_alloc_libc());
    schema = test_compile(tg_alloc_libc(), text, options, &error);
    CU_ASSERT_PTR_NULL(schema);
    HELP_EQ(tg_buf_view(&error), expected);
    tg_schema_free(schema);
    tg_buf_deinit(&error);
}

HELP_TEST(schema_budgets, "budgets of a schema")
{
    static const char four[] = "{\"allOf\":[{\"minimum\":1},true,false]}";
    tg_schema_options_t options;
    tg_buf_t text, error;
    size_t i;

    memset(&options, 0, sizeof(options));
    options.max_subschemas = 3;
    test_refuse_schema(four, &options,
                       "/allOf/2: too many subschemas; split the schema or "
                       "raise the limit");
    options.max_subschemas = 0;
    options.max_bytes = sizeof(four) - 2;
    test_refuse_schema(four, &options, "is too large for a schema");
    test_refuse_schema("{\"pattern\":\"a\"}", NULL,
                       "/pattern: patterns are not supported here");

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_text(&text, "{\"$defs\":{\"d0\":true");

    for (i = 1; i <= 1100; i++) {
        tg_buf_text(&text, ",\"d");
        tg_buf_uint(&text, i);
        tg_buf_text(&text, "\":{\"$ref\":\"#/$defs/d");
        tg_buf_uint(&text, i - 1);
        tg_buf_text(&text, "\"}");
    }

    tg_buf_text(&text, "}}");
    CU_ASSERT_PTR_NULL(
        tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), NULL, &error));
    tg_buf_truncate(&text, 0);
    test_repeat(&text, "[", TG_JSON_DEPTH + 1);
    CU_ASSERT_PTR_NULL(
        tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), NULL, &error));
    tg_buf_deinit(&text);
    tg_buf_deinit(&error);
}

/* --- no memory --- */

static const char test_rich[] =
    "{\"$id\":\"http://a.example/r\",\"$schema\":"
    "\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"properties\":{\"a\":{\"enum\":[\"x\",\"\\u0079\",\"z\",\"1\",\"2\","
    "\"3\",\"4\"]},\"b\":{\"items\":{\"$ref\":\"#/$defs/n\"},\"uniqueItems\":"
    "true,\"contains\":{\"const\":1}},\"c\":{\"pattern\":\"^\\\\w+$\","
    "\"minLength\":1},\"m\":{\"$ref\":"
    "\"https://json-schema.org/draft/2020-12/schema\"}},"
    "\"patternProperties\":{\"^x-\":{\"type\":[\"string\",\"null\"]}},"
    "\"required\":[\"a\"],\"dependentRequired\":{\"b\":[\"c\"]},"
    "\"anyOf\":[{\"required\":[\"b\"]},{\"required\":[\"z\"]}],"
    "\"minProperties\":2,\"unevaluatedProperties\":false,"
    "\"$defs\":{\"n\":{\"$anchor\":\"n\",\"minimum\":0,\"multipleOf\":0.5}}}";

static void
test_once(const tg_alloc_t *alloc, int may_fail)
{
    static const char good[] =
        "{\"\\u0061\":\"\\u0079\",\"b\":[1,2.5,1e1],\"c\":\"a\\u0062\","
        "\"x-\\u0041\":null,\"m\":{\"type\":\"string\"}}";
    static const char bad[] = "{\"a\":\"x\",\"b\":[1,1.0],\"c\":\"\\u0061\"}";
    tg_schema_checker_t *checker;
    tg_schema_options_t options;
    tg_schema_t *schema;
    tg_buf_t error;
    int rc;

    options = test_options();
    tg_buf_init(&error, alloc);
    schema = tg_schema_compile(alloc, TG_STR(test_rich), &options, &error);
    checker = tg_schema_checker_new(alloc, 3);
    CU_ASSERT(may_fail || (schema != NULL && checker != NULL));
    CU_ASSERT(schema != NULL || error.len == 0);

    if (schema != NULL && checker != NULL) {
        rc = tg_schema_check(schema, checker, TG_STR(good), &error);
        CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));
        rc = tg_schema_check(schema, checker, TG_STR(bad), &error);
        CU_ASSERT(rc == TG_BAD || (may_fail && rc == TG_NOMEM));

        /* Whatever happened before, it still works. */
        rc = tg_schema_check(schema, checker, TG_STR(good), NULL);
        CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));
    }

    tg_schema_free(schema);
    tg_schema_checker_free(checker);
    tg_buf_deinit(&error);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_once);
}

/* One schema, two checkers, and one checker with two schemas. */
HELP_TEST(sharing, "sharing")
{
    tg_schema_checker_t *second;
    tg_schema_options_t options;
    tg_schema_t *other;
    test_t test;
    size_t i;

    options = test_options();
    test_init(&test, test_rich, &options);
    other = test_compile(tg_alloc_libc(), "{\"uniqueItems\":true}", NULL,
                         &test.error);
    second = tg_schema_checker_new(tg_alloc_libc(), 9);

    for (i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(tg_schema_check(test.schema, second,
                                        TG_STR("{\"a\":\"\\u0078\",\"z\":1}"),
                                        NULL),
                        TG_BAD);
        CU_ASSERT_EQUAL(
            tg_schema_check(other, second, TG_STR("[1,2,[3]]"), NULL), TG_OK);
        CU_ASSERT_EQUAL(tg_schema_check(test.schema, test.checker,
                                        TG_STR("{\"a\":\"x\",\"b\":[1],"
                                               "\"c\":\"d\"}"),
                                        NULL),
                        TG_OK);
    }

    tg_schema_free(other);
    tg_schema_checker_free(second);
    test_deinit(&test);
}
