/* Arguments and outcomes that violate their schemas. */
#include "protocol_help.h"

#include "protocol/tg_tool_validate.h"

static tg_schema_validator_t *test_checker;
static tg_buf_t test_text;
static tg_outcome_t test_outcome;

static const tg_catalog_entry_t test_tool = { .kind = TG_ENTRY_TOOL,
                                              .name = TG_STR_INIT("count") };
static const tg_catalog_entry_t test_method = { .kind = TG_ENTRY_METHOD,
                                                .name = TG_STR_INIT("count") };

int
help_begin(void)
{
    test_checker = tg_schema_validator_new(tg_alloc_libc(), 1);
    tg_buf_init(&test_text, tg_alloc_libc());

    return test_checker != NULL ? 0 : -1;
}

unsigned
help_end(void)
{
    tg_schema_validator_free(test_checker);
    tg_buf_deinit(&test_text);

    return 0;
}

static tg_schema_t *
test_schema(const char *text)
{
    tg_schema_t *schema;

    tg_buf_truncate(&test_text, 0);
    schema = tg_schema_compile(tg_alloc_libc(), tg_str_from_cstr(text), NULL,
                               &test_text);
    CU_ASSERT_FATAL(schema != NULL);

    return schema;
}

static int
test_arguments(const char *schema_text, const char *arguments)
{
    tg_schema_t *schema;
    int rc;

    schema = test_schema(schema_text);
    tg_buf_truncate(&test_text, 0);
    rc = tg_tool_validate_args(schema, test_checker,
                               tg_str_from_cstr(arguments), &test_outcome,
                               &test_text);
    tg_schema_free(schema);

    return rc;
}

static int
test_validate(const tg_catalog_entry_t *entry, tg_outcome_type_t kind,
              const char *value)
{
    tg_schema_t *schema;
    int rc;

    schema = test_schema("{\"type\":\"object\",\"required\":[\"n\"]}");
    tg_buf_truncate(&test_text, 0);
    test_outcome = tg_outcome_make(kind, tg_str_from_cstr(value));
    test_outcome.meta = TG_STR("{}");
    rc = tg_tool_validate_outcome(schema, test_checker, entry, &test_outcome,
                                  &test_text);
    tg_schema_free(schema);

    return rc;
}

HELP_TEST(validate_arguments, "arguments")
{
    static const char schema[] =
        "{\"properties\":{\"n\":{\"type\":\"integer\"}}}";

    CU_ASSERT(test_arguments(schema, "{\"n\":1}") == TG_OK);
    CU_ASSERT(test_arguments(schema, "{\"n\":\"x\"}") == TG_INVALID);
    CU_ASSERT(test_outcome.kind == TG_OUTCOME_FAILURE);
    CU_ASSERT(test_outcome.failure == TG_FAILURE_ARGUMENTS);
    CU_ASSERT(strstr(help_text(test_outcome.value), "/n: ") != NULL);
    CU_ASSERT(tg_tool_validate_args(NULL, NULL, TG_STR("{}"), &test_outcome,
                                    &test_text)
              == TG_OK);
}

/* Checks a request's arguments; expected NULL: they are refused. */
static void
test_request(const char *arguments, const char *expected)
{
    static const char schema_text[] =
        "{\"type\":\"object\",\"required\":[\"r\"],\"properties\":{\"r\":"
        "{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"o\":{\"type\":"
        "[\"string\",\"null\"]}},\"additionalProperties\":false}";

    tg_json_index_t notes;
    tg_request_t request;
    tg_schema_t *schema;
    HELP_BUFFER(written);
    int rc;

    memset(&notes, 0, sizeof(notes));
    memset(&request, 0, sizeof(request));
    request.entry = &test_tool;
    request.arguments = tg_str_from_cstr(arguments);
    request.notes = &notes;
    schema = test_schema(schema_text);
    tg_buf_truncate(&test_text, 0);
    rc = tg_tool_validate_request(schema, test_checker, &request, &written,
                                  &test_outcome, &test_text);

    if (expected == NULL) {
        CU_ASSERT(rc == TG_INVALID);
        CU_ASSERT(test_outcome.failure == TG_FAILURE_ARGUMENTS);
        HELP_EQ(request.arguments, arguments);
    } else {
        CU_ASSERT(rc == TG_OK);
        HELP_EQ(request.arguments, expected);
        CU_ASSERT((request.notes == NULL)
                  == (request.arguments.data == written.data));
    }

    tg_schema_free(schema);
}

HELP_TEST(validate_request, "invalid nulls are left out")
{
    test_request("{\"r\":\"a\",\"n\":null}", "{\"r\":\"a\"}");
    test_request("{ \"n\" : null , \"r\" : \"a\" , \"o\" : null }",
                 "{\"r\":\"a\",\"o\":null}");
    test_request("{\"x\":null,\"r\":\"\\u0061\",\"n\":null}",
                 "{\"r\":\"\\u0061\"}");
    test_request("{\"r\":\"a\",\"o\":null}", "{\"r\":\"a\",\"o\":null}");
    test_request("{\"r\":null}", NULL);
    CU_ASSERT(strstr(help_text(test_outcome.value), "null") != NULL);
    test_request("{\"r\":\"a\",\"n\":\"x\",\"o\":null}", NULL);
    test_request("null", NULL);
    test_request("[null]", NULL);
}

HELP_TEST(without_memory, "without memory for a checker")
{
    tg_schema_t *schema;

    schema = test_schema("{}");
    CU_ASSERT(tg_tool_validate_args(schema, NULL, TG_STR("{}"), &test_outcome,
                                    &test_text)
              == TG_NOMEM);
    CU_ASSERT(test_outcome.failure == TG_FAILURE_INTERNAL);
    HELP_EQ(test_outcome.value, TG_TEXT_NO_MEMORY);
    tg_schema_free(schema);
}

HELP_TEST(structured, "structured results")
{
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_JSON, "{\"n\":1}") == TG_OK);
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_JSON, "{}") == TG_INVALID);
    CU_ASSERT(test_outcome.failure == TG_FAILURE_OUTPUT);
    HELP_EQ(test_outcome.meta, "{}");
    CU_ASSERT(strstr(help_text(test_outcome.value), "count") != NULL);
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[],\"structuredContent\":{\"n\":1}}")
              == TG_OK);
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT, "{\"content\":[]}")
              == TG_INVALID);
    CU_ASSERT(strstr(help_text(test_outcome.value), "structuredContent")
              != NULL);
    CU_ASSERT(test_validate(&test_method, TG_OUTCOME_RESULT, "{\"content\":[]}")
              == TG_INVALID);
    CU_ASSERT(test_validate(&test_method, TG_OUTCOME_RESULT, "{\"n\":2}")
              == TG_OK);
}

HELP_TEST(unstructured, "results without a schema")
{
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_TEXT, "x") == TG_OK);
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_FAILURE, "x") == TG_OK);
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[],\"isError\":true}")
              == TG_OK);
    CU_ASSERT(tg_tool_validate_outcome(NULL, NULL, &test_tool, &test_outcome,
                                       &test_text)
              == TG_OK);
}

HELP_TEST(of_errors, "an error in another shape keeps its text")
{
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[],\"structuredContent\":{\"n\":1},"
                            "\"isError\":true}")
              == TG_OK);
    HELP_EQ(test_outcome.value,
            "{\"content\":[],\"structuredContent\":{\"n\":1},"
            "\"isError\":true}");
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[],\"structuredContent\":{\"why\":1},"
                            "\"isError\":true}")
              == TG_OK);
    HELP_EQ(test_outcome.value, "{\"content\":[{\"type\":\"text\",\"text\":"
                                "\"{\\\"why\\\":1}\"}],\"isError\":true}");
}

HELP_TEST(of_texts, "a text that contains the structured value")
{
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[{\"type\":\"text\",\"text\":"
                            "\" {\\\"n\\\": 1}\\n\"}]}")
              == TG_OK);
    HELP_EQ(test_outcome.value,
            "{\"structuredContent\":{\"n\": 1},\"content\":["
            "{\"type\":\"text\",\"text\":\" {\\\"n\\\": 1}\\n\"}]}");
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[{\"type\":\"text\",\"text\":"
                            "\"{\\\"x\\\":1}\"}]}")
              == TG_INVALID);
    CU_ASSERT(test_outcome.failure == TG_FAILURE_OUTPUT);
    CU_ASSERT(strstr(help_text(test_outcome.value), "structuredContent")
              != NULL);
    CU_ASSERT(test_validate(&test_tool, TG_OUTCOME_RESULT,
                            "{\"content\":[{\"type\":\"text\",\"text\":"
                            "\"text\"}]}")
              == TG_INVALID);
}
