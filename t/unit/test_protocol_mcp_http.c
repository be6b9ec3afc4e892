/* HTTP headers of MCP messages. */
#include "protocol_help.h"

#include "protocol/tg_mcp_http_headers.h"
#include "catalog/tg_tool_list.h"

/* Returns headers, a newline after each, or the reason for none. */
static void
test_headers(const char *text, const tg_catalog_t *tools, const char *expected)
{
    tg_message_t message;
    const char *why;
    HELP_BUFFER(out);
    size_t i;

    CU_ASSERT_FATAL(tg_message_parse(&message, tg_str_from_cstr(text))
                    == TG_OK);
    why = tg_mcp_http_write_headers(&out, &message, tools);

    if (why != NULL) {
        tg_buf_truncate(&out, 0);
        tg_buf_append_cstr(&out, why);
    }

    for (i = 0; i < out.len; i++) {
        out.data[i] = out.data[i] == '\0' ? '\n' : out.data[i];
    }

    HELP_EQ(tg_buf_view(&out), expected);
}

HELP_TEST(values, "values, as they are or in base64")
{
    static const struct {
        const char *text, *value;
    } rows[] = {
        { "", "" },
        { "abc", "abc" },
        { "a b", "a b" },
        { " a", "=?base64?IGE=?=" },
        { "a ", "=?base64?YSA=?=" },
        { "a\tb", "=?base64?YQli?=" },
        { "a\r\nb", "=?base64?YQ0KYg==?=" },
        { "\xc3\xa9", "=?base64?w6k=?=" },
        { "\x7f", "=?base64?fw==?=" },
        { "abcd\xc3\xa9", "=?base64?YWJjZMOp?=" },
        { "=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?=" },
        { "=?base64?\?=", "=?base64?PT9iYXNlNjQ/Pz0=?=" },
        { "=?base64?=", "=?base64?=" },
        { "=?base64?YQ==", "=?base64?YQ==" },
        { "SGVsbG8=", "SGVsbG8=" },
    };

    HELP_EACH(row, rows) {
        HELP_BUFFER(out);

        tg_mcp_http_write_value(&out, tg_str_from_cstr(row->text));
        HELP_EQ(tg_buf_view(&out), row->value);
    }
}

HELP_TEST(names, "the method and its subject")
{
    static const struct {
        const char *text, *headers;
    } rows[] = {
        { "{\"method\":\"tools/list\"}", "Mcp-Method: tools/list\n" },
        { "{\"method\":\"tools/call\",\"params\":{\"name\":\"a\\u00e9\"}}",
          "Mcp-Method: tools/call\nMcp-Name: =?base64?YcOp?=\n" },
        { "{\"method\":\"tools/call\",\"params\":{\"name\":\"\"}}",
          "Mcp-Method: tools/call\nMcp-Name:\n" },
        { "{\"method\":\"tools/call\",\"params\":{\"name\":7}}",
          "Mcp-Method: tools/call\n" },
        { "{\"method\":\"prompts/get\",\"params\":{\"name\":\"p\"}}",
          "Mcp-Method: prompts/get\nMcp-Name: p\n" },
        { "{\"method\":\"resources/read\",\"params\":{\"uri\":\"x:y\"}}",
          "Mcp-Method: resources/read\nMcp-Name: x:y\n" },
        { "{\"method\":\"tasks/get\",\"params\":{\"taskId\":\"t\"}}",
          "Mcp-Method: tasks/get\nMcp-Name: t\n" },
        { "{\"method\":\"tools/list\",\"params\":{\"name\":\"a\"}}",
          "Mcp-Method: tools/list\n" },
    };

    HELP_EACH(row, rows) {
        test_headers(row->text, NULL, row->headers);
    }
}

/* Tools, and the properties of their schemas. */
static const struct {
    const char *name, *properties;
} test_tools[] = {
    { "plain", "{\"a\":{\"type\":\"string\"}}" },
    { "marked", "{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
                "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"},"
                "\"b\":{\"x-mcp-header\":\"B\",\"type\":\"boolean\"},"
                "\"in\":{\"type\":\"object\",\"properties\":"
                "{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"Inner\"}}}}" },
    { "twice", "{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"X\"},"
               "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"x\"}}" },
    { "blank", "{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"a b\"}}" },
    { "empty", "{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}}" },
    { "number", "{\"a\":{\"type\":\"number\",\"x-mcp-header\":\"X\"}}" },
    { "said", "\"x-mcp-header\"" },
};

#define TEST_TOOLS (HELP_COUNT(test_tools))

static tg_catalog_t *
test_catalogue(void)
{
    tg_catalog_t *tools;
    size_t i, nleft_out;
    HELP_BUFFER(list);

    for (i = 0; i < TEST_TOOLS; i++) {
        tg_buf_printf(&list,
                      "%c{\"name\":\"%s\",\"inputSchema\":"
                      "{\"type\":\"object\",\"properties\":%s}}",
                      i == 0 ? '[' : ',', test_tools[i].name,
                      test_tools[i].properties);
    }

    tg_buf_append_char(&list, ']');
    CU_ASSERT_FATAL(tg_tool_list_parse(tg_alloc_libc(), 1, tg_buf_view(&list),
                                       &tools, &nleft_out)
                    == TG_OK);
    CU_ASSERT_EQUAL(nleft_out, 0);

    return tools;
}

#define TEST_WRONG                                                             \
    "the schema of its tool has an \"x-mcp-header\" that is not a unique "     \
    "token, or is not on a string, integer or boolean"

/* Compares a call's headers after those of its name; NULL: refused. */
static void
test_call(const tg_catalog_t *tools, const char *name, const char *arguments,
          const char *headers)
{
    HELP_BUFFER(text);
    HELP_BUFFER(expected);

    tg_buf_printf(&text,
                  "{\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                  "\"arguments\":%s}}%c",
                  name, arguments, '\0');

    if (headers != NULL) {
        tg_buf_printf(&expected, "Mcp-Method: tools/call\nMcp-Name: %s\n%s%c",
                      name, headers, '\0');
    }

    test_headers(text.data, tools,
                 headers != NULL ? expected.data : TEST_WRONG);
}

HELP_TEST(arguments, "arguments that the schema marks")
{
    static const struct {
        const char *name, *arguments, *headers;
    } rows[] = {
        { "plain", "{\"a\":\"x\"}", "" },
        { "marked", "{}", "" },
        { "marked", "{\"a\":\"x\",\"n\":-5,\"b\":true}",
          "Mcp-Param-Region: x\nMcp-Param-N: -5\nMcp-Param-B: true\n" },
        { "marked", "{\"a\":\"\",\"n\":1e2,\"b\":false}",
          "Mcp-Param-Region:\nMcp-Param-N: 100\nMcp-Param-B: false\n" },
        { "marked", "{\"a\":\" \\u00e9\",\"in\":{\"a\":\"y\"}}",
          "Mcp-Param-Region: =?base64?IMOp?=\nMcp-Param-Inner: y\n" },
        { "marked", "{\"a\":null,\"n\":1.5,\"b\":[],\"in\":7}", "" },
        { "marked", "{\"n\":9007199254740992}", "" },
        { "marked", "7", "" },
        { "other", "{\"a\":\"x\"}", "" },
        { "said", "{\"a\":\"x\"}", "" },
        { "twice", "{}", NULL },
        { "blank", "{}", NULL },
        { "empty", "{}", NULL },
        { "number", "{}", NULL },
    };
    tg_catalog_t *tools;

    tools = test_catalogue();

    HELP_EACH(row, rows) {
        test_call(tools, row->name, row->arguments, row->headers);
    }

    tg_catalog_unref(tools);
}
