/* Tools of MCP: repairs that let every client read the list, or no change. */
#include "protocol_help.h"

#include "catalog/tg_tool_repair.h"
#include "catalog/tg_tool_list.h"

/* A simple stand-in: only "(" is invalid. */
static int
test_is_pattern(tg_str_t text)
{
    return memchr(text.data, '(', text.len) == NULL;
}

typedef struct {
    const char *raw;
    const char *repaired; /* NULL: unchanged */
    unsigned repairs;
} test_case_t;

#define TEST_BIT(name) (1u << TG_REPAIR_##name)

static void
test_repair(const test_case_t *test)
{
    tg_tool_repair_t repair;
    const char *why;
    HELP_BUFFER(out);
    HELP_BUFFER(again);

    memset(&repair, 0, sizeof(repair));
    repair.is_pattern = test_is_pattern;
    why = tg_tool_repair(&repair, tg_str_from_cstr(test->raw), &out);
    CU_ASSERT(why == NULL);
    CU_ASSERT(repair.repairs == test->repairs);

    if (repair.repairs != test->repairs) {
        printf("%s\n  repairs 0x%x\n", test->raw, repair.repairs);
    }

    HELP_EQ(tg_buf_view(&out), test->repaired != NULL ? test->repaired : "");

    /* A repaired tool needs no further repair, except by era. */
    if (out.len != 0) {
        CU_ASSERT(tg_json_validate(tg_buf_view(&out), NULL) == TG_OK);
        why = tg_tool_repair(&repair, tg_buf_view(&out), &again);
        CU_ASSERT(why == NULL && again.len == 0);
        CU_ASSERT((repair.repairs & ~TEST_BIT(MODERN)) == 0);
    }
}

static void
test_repair_all(const test_case_t *tests, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        test_repair(&tests[i]);
    }
}

/* A tool with an input schema, and with more members. */
#define TEST_IN(schema) "{\"name\":\"a\",\"inputSchema\":" schema "}"
#define TEST_MORE(more)                                                        \
    "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}" more "}"
#define TEST_OUT(schema) TEST_MORE(",\"outputSchema\":" schema)

HELP_TEST(fine, "valid input is unchanged")
{
    static const test_case_t tests[] = {
        { TEST_MORE(""), NULL, 0 },
        { "{ \"x\" : null , \"name\":\"a\", \"inputSchema\" : { \"type\" :\n"
          "\"object\", \"additionalProperties\": false , \"x\":null } }",
          NULL, 0 },
        { TEST_MORE(
              ",\"title\":\"A\",\"description\":\"\",\"_meta\":{\"a\":[]},"
              "\"icons\":[],\"annotations\":{\"x\":null},"
              "\"execution\":{\"taskSupport\":\"optional\"}"),
          NULL, 0 },
        { TEST_MORE(",\"icons\":[{\"src\":\"x\",\"sizes\":[\"any\"],"
                    "\"theme\":\"dark\",\"mimeType\":\"a/b\",\"x\":1}]"),
          NULL, 0 },
        { TEST_IN("{\"type\":\"object\",\"properties\":{\"properties\":{"
                  "\"default\":null,\"const\":null,\"enum\":[null],"
                  "\"items\":true,\"properties\":{\"x\":false}}},"
                  "\"required\":[],\"$defs\":{\"x\":true}}"),
          NULL, 0 },
        { TEST_IN("{\"type\":\"object\",\"required\":[\"nowhere\"],"
                  "\"properties\":{\"a\":{\"items\":[{},{}]},"
                  "\"b\":{\"type\":\"nothing\",\"minimum\":\"1\"}}}"),
          NULL, 0 },
        { TEST_OUT("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
                   "\"#/$defs/x~1y\"}},\"$defs\":{\"x/y\":{\"pattern\":\"^a\","
                   "\"nullable\":true,\"type\":[\"string\",\"null\"]}}}"),
          NULL, 0 },
        { TEST_OUT("{\"type\":\"object\",\"properties\":{\"a\":{"
                   "\"$ref\":\"other\"},\"b\":{\"$id\":\"other\"}}}"),
          NULL, 0 },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(inputs, "input schemas")
{
    static const test_case_t tests[] = {
        { "{\"name\":\"a\"}", TEST_IN(TG_TOOL_NO_ARGUMENTS), TEST_BIT(INPUT) },
        { TEST_IN("null"), TEST_IN(TG_TOOL_NO_ARGUMENTS), TEST_BIT(INPUT) },
        { TEST_IN("[ ]"), TEST_IN(TG_TOOL_NO_ARGUMENTS), TEST_BIT(EMPTY) },
        { TEST_IN("true"), TEST_IN(TG_TOOL_NO_ARGUMENTS), TEST_BIT(BOOLEAN) },
        { TEST_IN("{}"), TEST_IN(TG_TOOL_NO_ARGUMENTS), TEST_BIT(TYPE) },
        { TEST_IN("{\"properties\":{\"a\":{}},\"type\":[\"null\",\"object\"]}"),
          TEST_IN("{\"type\":\"object\",\"properties\":{\"a\":{}}}"),
          TEST_BIT(TYPE) },
        { TEST_IN("{\"type\":null,\"anyOf\":[{}]}"),
          TEST_IN("{\"type\":\"object\",\"properties\":{},\"anyOf\":[{}]}"),
          TEST_BIT(TYPE) },
        { TEST_IN("{\"type\":\"object\",\"properties\":[]}"),
          TEST_IN("{\"type\":\"object\",\"properties\":{}}"), TEST_BIT(EMPTY) },
        { TEST_IN("{\"properties\":null,\"type\":\"object\"}"),
          TEST_IN("{\"type\":\"object\"}"), TEST_BIT(NULL) },
        { TEST_IN("{\"type\":\"object\",\"properties\":[1]}"),
          TEST_IN("{\"type\":\"object\"}"), TEST_BIT(PROPERTIES) },
        { TEST_IN("{\"type\":\"object\",\"properties\":\"x\",\"x\":1}"),
          TEST_IN("{\"type\":\"object\",\"x\":1}"), TEST_BIT(PROPERTIES) },
        { TEST_IN("{\"type\":\"object\",\"properties\":{\"a\":true,"
                  "\"b\":false,\"c\":[],\"d\":null,\"e\":\"x\"}}"),
          TEST_IN("{\"type\":\"object\",\"properties\":{\"a\":{},"
                  "\"b\":{\"not\":{}},\"c\":{},\"d\":{},\"e\":{}}}"),
          TEST_BIT(BOOLEAN) | TEST_BIT(EMPTY) | TEST_BIT(NULL)
              | TEST_BIT(PROPERTY) },
        { TEST_IN("{\"type\":\"object\",\"required\":null}"),
          TEST_IN("{\"type\":\"object\"}"), TEST_BIT(NULL) },
        { TEST_IN("{\"required\":\"x\",\"type\":\"object\"}"),
          TEST_IN("{\"required\":[\"x\"],\"type\":\"object\"}"),
          TEST_BIT(REQUIRED) },
        { TEST_IN("{\"type\":\"object\",\"required\":[1,\"x\",null,\"y\"]}"),
          TEST_IN("{\"type\":\"object\",\"required\":[\"x\",\"y\"]}"),
          TEST_BIT(REQUIRED) },
        { TEST_IN("{\"type\":\"object\",\"required\":{}}"),
          TEST_IN("{\"type\":\"object\"}"), TEST_BIT(REQUIRED) },
        { TEST_IN("{\"type\":\"object\",\"$schema\":5}"),
          TEST_IN("{\"type\":\"object\"}"), TEST_BIT(SCHEMA_URI) },
        /* The clients' parsers use the last duplicate. */
        { TEST_IN("{\"type\":\"object\",\"properties\":{},"
                  "\"properties\":5,\"propert\\u0069es\":{\"a\":{}}}"),
          TEST_IN("{\"type\":\"object\",\"propert\\u0069es\":{\"a\":{}}}"),
          TEST_BIT(DUPLICATE) },
        { TEST_IN("{\"type\":\"object\",\"propert\\u0069es\":[]}"),
          TEST_IN("{\"type\":\"object\",\"propert\\u0069es\":{}}"),
          TEST_BIT(EMPTY) },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(deeper, "nested schemas")
{
    static const test_case_t tests[] = {
        { TEST_IN("{\"type\":\"object\",\"properties\":{\"a\":{"
                  "\"properties\":[],\"required\":null,\"items\":[],"
                  "\"description\":null,\"default\":null,\"enum\":null,"
                  "\"additionalProperties\":[],\"x\":[]}}}"),
          TEST_IN("{\"type\":\"object\",\"properties\":{\"a\":{"
                  "\"properties\":{},\"items\":{},\"default\":null,"
                  "\"additionalProperties\":{},\"x\":[]}}}"),
          TEST_BIT(EMPTY) | TEST_BIT(NULL) },
        { TEST_IN("{\"type\":\"object\",\"allOf\":[{\"if\":{\"not\":{\"items\":"
                  "[{\"properties\":[]}]}}},null],\"$defs\":[],"
                  "\"dependencies\":[],\"patternProperties\":{\"(\":[]}}"),
          TEST_IN("{\"type\":\"object\",\"allOf\":[{\"if\":{\"not\":{\"items\":"
                  "[{\"properties\":{}}]}}},{}],\"$defs\":{},"
                  "\"dependencies\":{},\"patternProperties\":{\"(\":{}}}"),
          TEST_BIT(EMPTY) | TEST_BIT(NULL) },
        /* Data is not a schema, whatever it looks like. */
        { TEST_IN("{\"type\":\"object\",\"default\":{\"properties\":[]},"
                  "\"examples\":[{\"required\":null}],\"required\":1}"),
          TEST_IN("{\"type\":\"object\",\"default\":{\"properties\":[]},"
                  "\"examples\":[{\"required\":null}]}"),
          TEST_BIT(REQUIRED) },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(members, "the other members of a tool")
{
    static const test_case_t tests[] = {
        { TEST_MORE(",\"title\":null,\"description\":null,\"icons\":null,"
                    "\"outputSchema\":null,\"annotations\":null,"
                    "\"execution\":null,\"_meta\":null,\"x\":null"),
          TEST_MORE(",\"x\":null"), TEST_BIT(NULL) },
        { TEST_MORE(",\"title\":1,\"description\":[\"x\"]"), TEST_MORE(""),
          TEST_BIT(TITLE) | TEST_BIT(DESCRIPTION) },
        { TEST_MORE(",\"icons\":{}"), TEST_MORE(""), TEST_BIT(ICONS) },
        { TEST_MORE(",\"icons\":[1,{},{\"src\":1},{\"src\":\"x\",\"sizes\":"
                    "\"48x48\",\"theme\":\"blue\",\"mimeType\":null}]"),
          TEST_MORE(",\"icons\":[{\"src\":\"x\"}]"),
          TEST_BIT(ICONS) | TEST_BIT(NULL) },
        { TEST_MORE(",\"annotations\":[]"), TEST_MORE(",\"annotations\":{}"),
          TEST_BIT(EMPTY) },
        { TEST_MORE(",\"annotations\":\"read\""), TEST_MORE(""),
          TEST_BIT(ANNOTATIONS) },
        { TEST_MORE(",\"annotations\":{\"readOnlyHint\":\"yes\",\"title\":7,"
                    "\"idempotentHint\":null,\"openWorldHint\":false,\"x\":1}"),
          TEST_MORE(",\"annotations\":{\"openWorldHint\":false,\"x\":1}"),
          TEST_BIT(ANNOTATIONS) | TEST_BIT(NULL) },
        { TEST_MORE(",\"execution\":{\"taskSupport\":\"maybe\"}"),
          TEST_MORE(",\"execution\":{}"), TEST_BIT(EXECUTION) },
        { TEST_MORE(",\"execution\":true"), TEST_MORE(""),
          TEST_BIT(EXECUTION) },
        { TEST_MORE(",\"_meta\":\"\""), TEST_MORE(""), TEST_BIT(META) },
        { TEST_MORE(",\"_meta\":[]"), TEST_MORE(",\"_meta\":{}"),
          TEST_BIT(EMPTY) },
        { "{\"title\":1,\"name\":\"b\",\"inputSchema\":5,\"title\":\"T\","
          "\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\"}",
          "{\"title\":\"T\",\"inputSchema\":{\"type\":\"object\"},"
          "\"name\":\"a\"}",
          TEST_BIT(DUPLICATE) },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(outputs, "output schemas")
{
    static const test_case_t modern[] = {
        { TEST_OUT("{}"), NULL, TEST_BIT(MODERN) },
        { TEST_OUT("{\"type\":\"array\"}"), NULL, TEST_BIT(MODERN) },
        { TEST_OUT("{\"type\":[\"object\",\"null\"]}"), NULL,
          TEST_BIT(MODERN) },
        { TEST_OUT("true"), TEST_OUT("{}"),
          TEST_BIT(BOOLEAN) | TEST_BIT(MODERN) },
        { TEST_OUT("[]"), TEST_OUT("{}"), TEST_BIT(EMPTY) | TEST_BIT(MODERN) },
        { TEST_OUT("{\"type\":\"object\",\"properties\":{\"a\":true}}"),
          TEST_OUT("{\"type\":\"object\",\"properties\":{\"a\":{}}}"),
          TEST_BIT(BOOLEAN) },
    };
    static const char *const invalid[] = {
        "\"x\"",
        "1",
        "false",
        "[1]",
        "{\"type\":\"object\",\"properties\":5}",
        "{\"type\":\"object\",\"properties\":{\"a\":5}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"strin\"}}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"minLength\":\"1\"}}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":\"(\"}}}",
        "{\"type\":\"object\",\"patternProperties\":{\"(\":{}}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[]}}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"nullable\":true}}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"id\":\"x\"}}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"}}}",
        "{\"type\":\"object\",\"items\":{\"$ref\":\"http://x/y\"}}",
        "{\"type\":\"object\",\"anyOf\":{}}",
    };
    char text[512];
    test_case_t test;

    test_repair_all(modern, HELP_COUNT(modern));

    HELP_EACH(row, invalid) {
        (void) snprintf(text, sizeof(text),
                        "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},"
                        "\"outputSchema\":%s}",
                        *row);
        test.raw = text;
        test.repaired = TEST_MORE("");
        test.repairs = TEST_BIT(OUTPUT);
        test_repair(&test);
    }
}

HELP_TEST(left_out, "tools beyond repair")
{
    static const char *const invalid[] = {
        "1",
        "[]",
        "{}",
        "{\"name\":\"\",\"inputSchema\":{\"type\":\"object\"}}",
        "{\"name\":1,\"inputSchema\":{\"type\":\"object\"}}",
        TEST_IN("5"),
        TEST_IN("false"),
        TEST_IN("[{}]"),
        TEST_IN("\"object\""),
        TEST_IN("{\"type\":\"array\"}"),
        TEST_IN("{\"type\":[\"string\"]}"),
        TEST_IN("{\"type\":\"object\",\"type\":\"array\"}"),
        TEST_MORE(",\"execution\":{\"taskSupport\":\"required\"}"),
    };
    tg_tool_repair_t repair;
    HELP_BUFFER(out);

    memset(&repair, 0, sizeof(repair));

    HELP_EACH(row, invalid) {
        CU_ASSERT(tg_tool_repair(&repair, tg_str_from_cstr(*row), &out)
                  != NULL);
        CU_ASSERT(repair.why != NULL && out.len == 0);
    }

    /* Another input schema is listed instead. */
    repair.has_input = 1;
    CU_ASSERT(tg_tool_repair(&repair, TG_STR(TEST_IN("5")), &out) == NULL);
    CU_ASSERT(out.len == 0);
}

HELP_TEST(unions, "unions at the root that some APIs refuse")
{
    tg_tool_repair_t repair;
    HELP_BUFFER(out);

    memset(&repair, 0, sizeof(repair));
    CU_ASSERT(tg_tool_repair(&repair,
                             TG_STR(TEST_IN("{\"type\":\"object\",\"oneOf\":"
                                            "[{}]}")),
                             &out)
              == NULL);
    HELP_EQ(repair.root_union, "oneOf");
    CU_ASSERT(tg_tool_repair(&repair,
                             TG_STR(TEST_IN("{\"type\":\"object\","
                                            "\"properties\":{\"allOf\":{}}}")),
                             &out)
              == NULL);
    CU_ASSERT(repair.root_union.len == 0);
    HELP_EQ(tg_tool_schema_find_union(TG_STR("{\"allOf\":[]}")), "allOf");
}

static size_t test_nrepairs;

static void
test_on_repair(void *ctx, tg_str_t name, tg_str_t why, int is_left_out)
{
    tg_buf_t *text = ctx;

    test_nrepairs++;
    tg_buf_append_str(text, name);
    tg_buf_append_cstr(text, is_left_out ? "-" : "+");
    CU_ASSERT(why.len != 0);
}

HELP_TEST(lists, "a whole list")
{
    static const char array[] = "[5," TEST_IN("false") "," TEST_MORE(
        "") ",{\"name\":\"b\"},{\"name\":\"c\",\"inputSchema\":{\"type\":"
            "\"object\"},\"outputSchema\":{\"type\":\"string\"}},6]";
    tg_tool_list_repair_t *steps;
    tg_tool_list_check_t check;
    tg_buf_t out = HELP_BUF, text = HELP_BUF, many;
    size_t i;

    check.is_pattern = NULL;
    check.on_repair = test_on_repair;
    check.ctx = &text;
    test_nrepairs = 0;
    CU_ASSERT(tg_tool_list_repair(TG_STR(array), &check, &out) == TG_OK);
    HELP_EQ(tg_buf_view(&out),
            "[" TEST_MORE(
                "") ",{\"name\":\"b\",\"inputSchema\":" TG_TOOL_NO_ARGUMENTS
                    "},{\"name\":\"c\",\"inputSchema\":"
                    "{\"type\":\"object\"}}]");
    HELP_EQ(tg_buf_view(&text), "-a-b+c+-");
    CU_ASSERT(test_nrepairs == 5);

    /* In steps of one tool. */
    tg_buf_init(&many, tg_alloc_libc());
    steps = tg_tool_list_repair_begin(tg_alloc_libc(), TG_STR(array), &check);
    CU_ASSERT_FATAL(steps != NULL);

    for (i = 0; tg_tool_list_repair_step(steps, 1, &many) == TG_AGAIN; i++) {
        /* void */
    }

    CU_ASSERT(i == 6);
    CU_ASSERT(tg_str_eq(tg_buf_view(&many), tg_buf_view(&out)));
    tg_tool_list_repair_end(steps);
    tg_buf_deinit(&many);

    tg_buf_init(&many, tg_alloc_libc());

    for (i = 0; i < 100; i++) {
        tg_buf_append_cstr(&many, i == 0 ? "[1" : ",1");
    }

    tg_buf_append_char(&many, ']');
    tg_buf_truncate(&out, 0);
    test_nrepairs = 0;
    CU_ASSERT(tg_tool_list_repair(tg_buf_view(&many), &check, &out) == TG_OK);
    HELP_EQ(tg_buf_view(&out), "[]");
    CU_ASSERT(test_nrepairs == TG_TOOL_LIST_REPORTS_MAX);
    tg_buf_deinit(&many);
    tg_buf_deinit(&text);
    tg_buf_deinit(&out);
}

HELP_TEST(references, "the search for targets is bounded")
{
    tg_tool_repair_t repair;
    HELP_BUFFER(raw);
    HELP_BUFFER(out);
    int i;

    memset(&repair, 0, sizeof(repair));
    tg_buf_append_cstr(&raw,
                       "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},"
                       "\"outputSchema\":{\"type\":\"object\",\"allOf\":[");

    for (i = 0; i < 100000; i++) {
        tg_buf_append_cstr(&raw, i == 0 ? "{\"$ref\":\"#/$defs/x\"}"
                                        : ",{\"$ref\":\"#/$defs/x\"}");
    }

    tg_buf_append_cstr(&raw, "],\"$defs\":{\"x\":{}}}}");
    CU_ASSERT(tg_tool_repair(&repair, tg_buf_view(&raw), &out) == NULL);
    CU_ASSERT(repair.repairs == TEST_BIT(OUTPUT));
    CU_ASSERT(repair.refs < 2 * TG_TOOL_REF_BYTES_MAX + raw.len);
}
