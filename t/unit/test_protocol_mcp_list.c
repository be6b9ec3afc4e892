/* Kinds and bounds of a list; see also t/transcripts/caller. */
#include "protocol_help.h"

#include "protocol/tg_mcp_client.h"

static int
test_page(tg_mcp_list_t *list, tg_str_t result, tg_response_t *whole)
{
    tg_response_t answer;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_RESPONSE_RESULT;
    answer.result = result;

    return tg_mcp_list_add_page(list, &answer, whole);
}

HELP_TEST(absent_servers, "_meta names absent servers, on any of the pages")
{
    tg_mcp_list_t list;
    tg_response_t whole;
    HELP_BUFFER(text);
    size_t i;

    tg_mcp_list_init(&list, tg_alloc_libc(), 10);
    CU_ASSERT(test_page(&list,
                        TG_STR("{\"tools\":[],\"nextCursor\":\"a\",\"_meta\":"
                               "{\"toolgate/servers\":[{\"name\":\"x\"}]}}"),
                        &whole)
              == TG_AGAIN);
    CU_ASSERT(test_page(&list, TG_STR("{\"tools\":[],\"_meta\":{}}"), &whole)
              == TG_OK);
    HELP_EQ(whole.result, "{\"tools\":[]}");
    HELP_EQ(tg_buf_view(&list.absent_servers), "[{\"name\":\"x\"}]");

    /* The next list has none of it, and too much leaves none. */
    tg_mcp_list_reset(&list);
    CU_ASSERT(list.absent_servers.len == 0);
    tg_buf_append_cstr(&text,
                       "{\"tools\":[],\"_meta\":{\"toolgate/servers\":[0");

    for (i = 0; i < TG_MCP_ABSENT_SERVERS_MAX / 2; i++) {
        tg_buf_append_cstr(&text, ",0");
    }

    tg_buf_append_cstr(&text, "]}}");
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_OK);
    CU_ASSERT(list.absent_servers.len == 0);
    tg_mcp_list_deinit(&list);
}

HELP_TEST(kinds, "pages of prompts and resources are combined like tools")
{
    static const struct {
        const char *first;
        const char *last;
        const char *whole;
        const char *invalid;
    } cases[TG_MCP_KINDS] = {
        [TG_MCP_PROMPTS] = {
            "{\"prompts\":[{\"a\":1}],\"nextCursor\":\"a\"}",
            "{\"prompts\":[{}]}",
            "{\"prompts\":[{\"a\":1},{}]}",
            "The server's list of prompts is invalid.",
        },
        [TG_MCP_TEMPLATES] = {
            "{\"resourceTemplates\":[{\"a\":1}],\"nextCursor\":\"a\"}",
            "{\"resourceTemplates\":[{}]}",
            "{\"resourceTemplates\":[{\"a\":1},{}]}",
            "The server's list of resource templates is invalid.",
        },
    };
    tg_mcp_list_t list;
    tg_response_t whole;
    size_t i;

    for (i = 0; i < TG_MCP_KINDS; i++) {
        if (cases[i].whole == NULL) {
            continue;
        }

        tg_mcp_list_init(&list, tg_alloc_libc(), 10);
        list.kind = (tg_mcp_kind_t) i;
        CU_ASSERT(test_page(&list, tg_str_from_cstr(cases[i].first), &whole)
                  == TG_AGAIN);
        HELP_EQ(tg_buf_view(&list.params), "{\"cursor\":\"a\"}");
        CU_ASSERT(test_page(&list, tg_str_from_cstr(cases[i].last), &whole)
                  == TG_OK);
        HELP_EQ(whole.result, cases[i].whole);
        HELP_EQ(tg_mcp_list_get_array(&list), "[{\"a\":1},{}]");
        tg_mcp_list_reset(&list);
        CU_ASSERT(test_page(&list, TG_STR("{\"tools\":[]}"), &whole)
                  == TG_INVALID);
        HELP_EQ(whole.message, cases[i].invalid);
        tg_mcp_list_deinit(&list);
    }
}

HELP_TEST(bounds, "exceeding a bound of a list is an error, not a short list")
{
    tg_mcp_list_t list;
    tg_catalog_t *tools;
    tg_response_t whole;
    HELP_BUFFER(text);
    size_t i, nleft_out;

    tg_mcp_list_init(&list, tg_alloc_libc(), 10);
    tg_buf_append_cstr(&text, "{\"tools\":[{}");

    for (i = 1; i < TG_TOOL_LIST_TOOLS_MAX; i++) {
        tg_buf_append_cstr(&text, ",{}");
    }

    tg_buf_append_cstr(&text, "]}");
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_OK);
    HELP_EQ(whole.result, text.data);
    CU_ASSERT(tg_tool_list_parse(tg_alloc_libc(), 0,
                                 tg_str(text.data + 9, text.len - 10), &tools,
                                 &nleft_out)
              == TG_OK);
    CU_ASSERT(nleft_out == TG_TOOL_LIST_TOOLS_MAX);
    tg_catalog_unref(tools);

    tg_buf_truncate(&text, text.len - 2);
    tg_buf_append_cstr(&text, ",{}]}");
    tg_mcp_list_reset(&list);
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_INVALID);
    HELP_EQ(whole.message, "The server's list of tools does not end.");
    CU_ASSERT(tg_tool_list_parse(tg_alloc_libc(), 0,
                                 tg_str(text.data + 9, text.len - 10), &tools,
                                 &nleft_out)
              == TG_LIMIT);
    CU_ASSERT(
        tg_tool_list_parse(tg_alloc_libc(), 0, TG_STR("{}"), &tools, &nleft_out)
        == TG_INVALID);

    tg_buf_truncate(&text, 0);
    tg_buf_append_cstr(&text, "{\"tools\":[],\"nextCursor\":\"");

    while (text.len < TG_MCP_CURSOR_MAX + 30) {
        tg_buf_append_cstr(&text, "cursor");
    }

    tg_buf_append_cstr(&text, "\"}");
    tg_mcp_list_reset(&list);
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_INVALID);
    CU_ASSERT(whole.kind == TG_RESPONSE_ERROR
              && whole.code == TG_RPC_INTERNAL_ERROR);
    tg_mcp_list_deinit(&list);
}

HELP_TEST(steps, "a list read in steps is the same as one read at once")
{
    static const char array[] =
        "[{\"name\":\"a\",\"x\":1},{\"x\":2},{\"name\":\"b\"},{\"name\":\"a\"},"
        "{\"name\":\"\\u0063\", \"x\":3}]";
    tg_catalog_t *tools, *whole;
    tg_tool_list_reader_t reader;
    size_t left, total_left, n;
    HELP_BUFFER(text);
    int rc;

    CU_ASSERT_FATAL(tg_tool_list_parse(tg_alloc_libc(), 1, TG_STR(array),
                                       &whole, &total_left)
                    == TG_OK);
    CU_ASSERT(
        tg_tool_list_read_begin(&reader, tg_alloc_libc(), 1, TG_STR(array))
        == TG_OK);

    /* Each step takes an element: to count, to add and to render it. */
    for (n = 1;
         (rc = tg_tool_list_read_step(&reader, 1, &tools, &left)) == TG_AGAIN;
         n++)
    {
        CU_ASSERT_FATAL(n < 20);
    }

    CU_ASSERT_FATAL(rc == TG_OK);
    CU_ASSERT(n >= 13);
    CU_ASSERT(left == 2 && total_left == 2);
    CU_ASSERT(tg_catalog_size(tools) == 3);
    CU_ASSERT(tg_catalog_digest(tools, TG_ENTRY_TOOL)
              == tg_catalog_digest(whole, TG_ENTRY_TOOL));
    tg_catalog_write_whole_list(tools, NULL, NULL, &text);
    HELP_EQ(tg_buf_view(&text), "\"tools\":[{\"name\":\"a\",\"x\":1},{\"name\":"
                                "\"b\"},{\"name\":\"\\u0063\",\"x\":3}]");
    tg_catalog_unref(tools);
    tg_catalog_unref(whole);

    /* A stopped list leaves nothing. */
    CU_ASSERT(
        tg_tool_list_read_begin(&reader, tg_alloc_libc(), 1, TG_STR(array))
        == TG_OK);
    CU_ASSERT(tg_tool_list_read_step(&reader, 1, &tools, &left) == TG_AGAIN);
    tg_tool_list_read_stop(&reader);
    tg_tool_list_read_stop(&reader);
}
