/*
 * Every keyword with memory that ends at each allocation in turn: a failed
 * compilation leaves no schema and no text, a check returns the right verdict
 * or is out of memory, and nothing leaks.
 */
#include "schema_help.h"

/* A valid schema, and the error of an instance. */
typedef struct {
    const char *schema, *instance;
    int verdict;
} test_case_t;

static const test_case_t test_cases[] = {
    { "{\"prefixItems\":[{\"type\":\"string\"},{\"minLength\":2}],"
      "\"items\":{\"enum\":[{\"a\":[1]},null]},\"unevaluatedItems\":false}",
      "[\"x\",\"yy\",{\"a\":[1.0]},null]", TG_OK },
    { "{\"prefixItems\":[true],\"unevaluatedItems\":false}", "[1,2]",
      TG_INVALID },
    { "{\"contains\":{\"const\":{\"k\":\"v\"}},\"minContains\":1,"
      "\"maxContains\":2,\"uniqueItems\":true}",
      "[{\"k\":\"v\"},{\"k\":\"\\u0077\"},[],{},\"a\",1,2,3,4]", TG_OK },
    { "{\"uniqueItems\":true}",
      "[{\"a\":1,\"b\":[2]},1,2,3,4,5,6,7,8,{\"b\":[2.0],\"a\":1e0}]",
      TG_INVALID },
    { "{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},"
      "\"else\":{\"maxProperties\":0},\"propertyNames\":{\"maxLength\":3}}",
      "{\"a\":1,\"\\u0062\":2}", TG_OK },
    { "{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":{\"type\":"
      "\"null\"}}}},\"additionalProperties\":{\"type\":\"integer\"}}",
      "{\"a\":1,\"b\":null}", TG_INVALID },
    { "{\"oneOf\":[{\"multipleOf\":0.1},{\"exclusiveMinimum\":5}],"
      "\"not\":{\"const\":3}}",
      "0.3", TG_OK },
    { "{\"oneOf\":[{\"type\":\"number\"},{\"maximum\":5}]}", "4", TG_INVALID },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"properties\":"
      "{\"l\":{\"items\":[{\"$ref\":\"#/definitions/a\"}],\"additionalItems\":"
      "{\"$ref\":\"#n\"}},\"p\":{\"$ref\":\"b#c\"}},\"dependencies\":{\"p\":"
      "[\"q\"],\"q\":{\"required\":[\"l\"]}},\"definitions\":{\"a\":{\"const\":"
      "1},\"n\":{\"$id\":\"#n\",\"type\":\"null\"},\"c\":{\"$id\":\"b#c\"}}}",
      "{\"l\":[1,null],\"p\":\"x\",\"q\":1}", TG_OK },
    { "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
      "\"http://a.example/s\",\"$recursiveAnchor\":true,\"$ref\":\"t\","
      "\"unevaluatedProperties\":false,\"$defs\":{\"t\":{\"$id\":\"t\","
      "\"$recursiveAnchor\":true,\"properties\":{\"kids\":{\"items\":"
      "{\"$recursiveRef\":\"#\"}}}}}}",
      "{\"kids\":[{\"kids\":[{\"x\":1}]}]}", TG_INVALID },
    { "{\"$schema\":\"http:\\/\\/json-schema.org\\/draft-04\\/schema#\",\"id\":"
      "\"http://a.example/4\",\"minimum\":0,\"exclusiveMinimum\":true}",
      "1", TG_OK },
    { "{\"anyOf\":[{\"type\":\"object\",\"required\":[\"x\"]},"
      "{\"type\":\"string\",\"format\":\"date-time\"}]}",
      "\"2024-02-30T00:00:00Z\"", TG_INVALID },
    { "{\"$id\":\"http://a.example/list\",\"$dynamicAnchor\":\"node\","
      "\"type\":\"object\",\"properties\":{\"next\":{\"$dynamicRef\":"
      "\"#node\"}},\"unevaluatedProperties\":false,\"allOf\":[{\"$ref\":"
      "\"#/$defs/v\"}],\"$defs\":{\"v\":{\"$anchor\":\"v\",\"properties\":{"
      "\"value\":{\"format\":\"uri\"}}}}}",
      "{\"next\":{\"next\":{\"value\":\"http://x/\"}},\"value\":\"urn:a:b\"}",
      TG_OK },
    { "{\"patternProperties\":{\"^\\\\p{L}+$\":{\"pattern\":\"(?<y>\\\\d{4})"
      "-\\\\k<y>\"}}}",
      "{\"\\u00e9t\\u00e9\":\"2024-2024\"}", TG_OK },
    { "{\"properties\":{\"a\\u0020b\":{\"properties\":{\"~/\":{\"type\":"
      "\"boolean\"}}}}}",
      "{\"a b\":{\"~/\":\"a text that is told of\"}}", TG_INVALID },
    { "{\"uniqueItems\":true}",
      "[1e99999999999999999,2,3,4,5,6,7,8,9,1e99999999999999999]", TG_INVALID },
    { "{\"uniqueItems\":true}",
      "[1e99999999999999999,true,false,null,5,6,7,8,9,1e99999999999999998]",
      TG_OK },
    { "{\"additionalProperties\":false,\"properties\":{"
      "\"a_rather_long_name_of_a_member_00\":true,\"a_rather_long_n"
      "ame_of_a_member_01\":true,\"a_rather_long_name_of_a_member_0"
      "2\":true,\"a_rather_long_name_of_a_member_03\":true,\"a_rath"
      "er_long_name_of_a_member_04\":true,\"a_rather_long_name_of_a"
      "_member_05\":true,\"a_rather_long_name_of_a_member_06\":true"
      ",\"a_rather_long_name_of_a_member_07\":true,\"a_rather_long_"
      "name_of_a_member_08\":true,\"a_rather_long_name_of_a_member_"
      "09\":true,\"a_rather_long_name_of_a_member_10\":true,\"a_rat"
      "her_long_name_of_a_member_11\":true,\"a_rather_long_name_of_"
      "a_member_12\":true,\"a_rather_long_name_of_a_member_13\":tru"
      "e,\"a_rather_long_name_of_a_member_14\":true,\"a_rather_long"
      "_name_of_a_member_15\":true,\"a_rather_long_name_of_a_member"
      "_16\":true,\"a_rather_long_name_of_a_member_17\":true,\"a_ra"
      "ther_long_name_of_a_member_18\":true,\"a_rather_long_name_of"
      "_a_member_19\":true"
      "}}",
      "{\"another\":1}", TG_INVALID },
    { "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}",
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":7}}}", TG_INVALID },
};

/* The error is found, or memory is out. */
static const char *const test_mistakes[] = {
    "{\"type\":\"strin\"}",
    "{\"$ref\":\"#/$defs/none\"}",
    "{\"$ref\":\"http://nowhere.example/\"}",
    "{\"pattern\":\"(\"}",
    "{\"required\":[\"a\",\"a\"]}",
    "{\"properties\":{\"a\":{\"minimum\":\"1\"}}}",
    "{\"a\":1,\"\\u0061\":2}",
    "{\"$id\":\"%\"}",
    "{\"$schema\":\"http://json-schema.org/draft-03/schema#\"}",
    "{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}",
    "[]",
    "{",
};

#define TEST_N(table) (HELP_COUNT(table))

static const test_case_t *test_case;
static const char *test_invalid_schema;

static void
test_check(const tg_alloc_t *alloc, const tg_schema_t *schema, int may_fail)
{
    tg_schema_validator_t *validator;
    tg_buf_t error;
    int i, rc;

    tg_buf_init(&error, alloc);
    validator = tg_schema_validator_new(alloc, 11);
    CU_ASSERT(validator != NULL || may_fail);

    for (i = 0; validator != NULL && i < 3; i++) {
        rc = tg_schema_validate(schema, validator,
                                tg_str_from_cstr(test_case->instance),
                                i == 1 ? NULL : &error);
        CU_ASSERT(rc == test_case->verdict || (rc == TG_NOMEM && may_fail));
        CU_ASSERT(rc != TG_OK || error.len == 0);
        tg_buf_truncate(&error, 0);
    }

    tg_schema_validator_free(validator);
    tg_buf_deinit(&error);
}

static void
test_run_case(const tg_alloc_t *alloc, int may_fail)
{
    tg_schema_options_t options;
    tg_schema_t *schema;
    tg_buf_t error;

    options = test_options();
    options.is_format_asserted = 1;
    tg_buf_init(&error, alloc);
    schema = test_compile(alloc, test_case->schema, &options, &error);
    CU_ASSERT(schema != NULL || may_fail);
    CU_ASSERT(error.len == 0);
    tg_buf_deinit(&error);

    if (schema != NULL) {
        test_check(alloc, schema, may_fail);
    }

    tg_schema_free(schema);
}

static void
test_run_invalid_schema(const tg_alloc_t *alloc, int may_fail)
{
    tg_schema_options_t options;
    tg_schema_t *schema;
    tg_buf_t error;

    options = test_options();
    tg_buf_init(&error, alloc);
    schema = test_compile(alloc, test_invalid_schema, &options, &error);
    CU_ASSERT(schema == NULL);
    CU_ASSERT(error.len != 0 || may_fail);
    tg_schema_free(schema);
    tg_buf_deinit(&error);
}

HELP_TEST(keywords, "keywords")
{
    size_t i;

    for (i = 0; i < TEST_N(test_cases); i++) {
        test_case = &test_cases[i];
        help_each_failure(test_run_case);
    }
}

HELP_TEST(of_mistakes, "errors")
{
    size_t i;

    for (i = 0; i < TEST_N(test_mistakes); i++) {
        test_invalid_schema = test_mistakes[i];
        help_each_failure(test_run_invalid_schema);
    }
}

/* A compiled schema holds no more than necessary of a large document. */
HELP_TEST(size, "size")
{
    tg_schema_options_t options;
    tg_schema_t *schema;
    help_alloc_t help;
    HELP_BUFFER(text);
    HELP_BUFFER(error);
    unsigned i;

    options = test_options();
    tg_buf_append_cstr(&text, "{\"properties\":{");

    for (i = 0; i < 1000; i++) {
        tg_buf_append_cstr(&text, i == 0 ? "\"k" : ",\"k");
        tg_buf_append_uint(&text, i);
        tg_buf_append_cstr(&text,
                           "\":{\"type\":\"string\",\"description\":\"some "
                           "text that says what it is for\"}");
    }

    tg_buf_append_cstr(&text, "}}");
    help_alloc_init(&help);
    schema = tg_schema_compile(&help.alloc, tg_buf_view(&text), &options,
                               &error);
    CU_ASSERT_PTR_NOT_NULL(schema);

    /* An arena: a few blocks, however many subschemas. */
    CU_ASSERT(help.live < 100);
    tg_schema_free(schema);
    CU_ASSERT(help.live == 0);
}
