/* Budgets of time, stack and memory for any schema and instance. */
#include "schema_help.h"

#include "base/tg_utf8.h"

#define TEST_DEPTH_LIMIT                                                       \
    "schemas nest too deep here: one refers to itself without end, or the "    \
    "value nests too deep"

HELP_TEST(long_text, "a message about nested lists is bounded too")
{
    test_t test;
    size_t i;

    test_init(&test,
              "{\"anyOf\":[{\"properties\":{\"long name of a property\":"
              "{\"$ref\":\"#\"}},\"required\":[\"x\"]},{\"const\":5}]}",
              NULL);

    for (i = 0; i < 100; i++) {
        tg_buf_append_cstr(&test.instance, "{\"long name of a property\":");
    }

    tg_buf_append_cstr(&test.instance, "6");
    test_repeat(&test.instance, "}", 100);
    test_expect(&test, TG_INVALID, NULL);
    CU_ASSERT(test.error.len < 4096);
    CU_ASSERT(test.error.len > 100);
    test_deinit(&test);
}

HELP_TEST(cut, "long names and values are cut between characters")
{
    static const char *const pieces[] = { "é", "😀", "x😀", "\\u0001", "\\n" };
    tg_str_t error;
    test_t test;
    size_t k;

    HELP_EACH(piece, pieces) {
        test_init(&test,
                  "{\"additionalProperties\":{\"additionalProperties\":"
                  "{\"enum\":[\"y\",7]}},\"propertyNames\":true}",
                  NULL);
        tg_buf_append_cstr(&test.instance, "{\"");
        test_repeat(&test.instance, *piece, 500);
        tg_buf_append_cstr(&test.instance, "\":{\"/~");
        test_repeat(&test.instance, *piece, 500);
        tg_buf_append_cstr(&test.instance, "\":\"a");
        test_repeat(&test.instance, *piece, 500);
        tg_buf_append_cstr(&test.instance, "\"}}");
        test_expect(&test, TG_INVALID, NULL);
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
    tg_buf_append_char(out, '[');

    for (i = 0; i < 262144; i++) {
        tg_buf_append_cstr(out, i != 0 ? "," : "");
        tg_buf_append_uint(out, i);
    }

    tg_buf_append_char(out, ']');
    test_expect(&test, TG_OK, "");
    tg_buf_truncate(out, out->len - 1);
    tg_buf_append_cstr(out, ",5.0]");
    test_expect(&test, TG_LIMIT,
                "more values than can be compared with each other (262144); "
                "send fewer");
    test_deinit(&test);
}

HELP_TEST(depth, "nesting of schemas, counted while checking")
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

HELP_TEST(dynamic_loop, "a loop that only the dynamic scope closes")
{
    test_t test;

    test_init(&test,
              "{\"$id\":\"http://a.example/outer\",\"$dynamicAnchor\":\"N\","
              "\"$ref\":\"inner\",\"$defs\":{\"inner\":{\"$id\":\"inner\","
              "\"$dynamicRef\":\"#N\",\"$defs\":{\"n\":{\"$dynamicAnchor\":"
              "\"N\"}}}}}",
              NULL);
    tg_buf_append_cstr(&test.instance, "1");
    test_expect(&test, TG_LIMIT, TEST_DEPTH_LIMIT);
    test_deinit(&test);
}

HELP_TEST(deep_value, "the deepest value with rules at each level")
{
    test_t test;

    test_init(&test,
              "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"allOf\":[{\"anyOf\":"
              "[{\"items\":{\"$ref\":\"#\"},\"unevaluatedItems\":false}]}]}}}",
              NULL);
    test_repeat(&test.instance, "[", TG_JSON_MAX_DEPTH);
    test_repeat(&test.instance, "]", TG_JSON_MAX_DEPTH);
    test_expect(&test, TG_OK, "");
    test_deinit(&test);
}

static void
test_refuse_schema(const char *text, const tg_schema_options_t *options,
                   const char *expected)
{
    tg_schema_t *schema;
    HELP_BUFFER(error);

    schema = test_compile(tg_alloc_libc(), text, options, &error);
    CU_ASSERT_PTR_NULL(schema);
    HELP_EQ(tg_buf_view(&error), expected);
    tg_schema_free(schema);
}

HELP_TEST(schema_budgets, "budgets of a schema")
{
    static const char four[] = "{\"allOf\":[{\"minimum\":1},true,false]}";
    tg_schema_options_t options;
    HELP_BUFFER(text);
    HELP_BUFFER(error);
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

    tg_buf_append_cstr(&text, "{\"$defs\":{\"d0\":true");

    for (i = 1; i <= 1100; i++) {
        tg_buf_printf(&text, ",\"d%lu\":{\"$ref\":\"#/$defs/d%lu\"}",
                      (unsigned long) i, (unsigned long) (i - 1));
    }

    tg_buf_append_cstr(&text, "}}");
    CU_ASSERT_PTR_NULL(
        tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), NULL, &error));
    tg_buf_truncate(&text, 0);
    test_repeat(&text, "[", TG_JSON_MAX_DEPTH + 1);
    CU_ASSERT_PTR_NULL(
        tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), NULL, &error));
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
    static const char valid[] =
        "{\"\\u0061\":\"\\u0079\",\"b\":[1,2.5,1e1],\"c\":\"a\\u0062\","
        "\"x-\\u0041\":null,\"m\":{\"type\":\"string\"}}";
    static const char invalid[] =
        "{\"a\":\"x\",\"b\":[1,1.0],\"c\":\"\\u0061\"}";
    tg_schema_validator_t *validator;
    tg_schema_options_t options;
    tg_schema_t *schema;
    tg_buf_t error;
    int rc;

    options = test_options();
    tg_buf_init(&error, alloc);
    schema = tg_schema_compile(alloc, TG_STR(test_rich), &options, &error);
    validator = tg_schema_validator_new(alloc, 3);
    CU_ASSERT(may_fail || (schema != NULL && validator != NULL));
    CU_ASSERT(schema != NULL || error.len == 0);

    if (schema != NULL && validator != NULL) {
        rc = tg_schema_validate(schema, validator, TG_STR(valid), &error);
        CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));
        rc = tg_schema_validate(schema, validator, TG_STR(invalid), &error);
        CU_ASSERT(rc == TG_INVALID || (may_fail && rc == TG_NOMEM));

        /* The validator still works after any failure. */
        rc = tg_schema_validate(schema, validator, TG_STR(valid), NULL);
        CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));
    }

    tg_schema_free(schema);
    tg_schema_validator_free(validator);
    tg_buf_deinit(&error);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_once);
}

/* One schema with two validators, and one validator with two schemas. */
HELP_TEST(sharing, "sharing")
{
    tg_schema_validator_t *second;
    tg_schema_options_t options;
    tg_schema_t *other;
    test_t test;
    size_t i;

    options = test_options();
    test_init(&test, test_rich, &options);
    other = test_compile(tg_alloc_libc(), "{\"uniqueItems\":true}", NULL,
                         &test.error);
    second = tg_schema_validator_new(tg_alloc_libc(), 9);

    for (i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(
            tg_schema_validate(test.schema, second,
                               TG_STR("{\"a\":\"\\u0078\",\"z\":1}"), NULL),
            TG_INVALID);
        CU_ASSERT_EQUAL(tg_schema_validate(other, second, TG_STR("[1,2,[3]]"),
                                           NULL),
                        TG_OK);
        CU_ASSERT_EQUAL(tg_schema_validate(test.schema, test.validator,
                                           TG_STR("{\"a\":\"x\",\"b\":[1],"
                                                  "\"c\":\"d\"}"),
                                           NULL),
                        TG_OK);
    }

    tg_schema_free(other);
    tg_schema_validator_free(second);
    test_deinit(&test);
}
