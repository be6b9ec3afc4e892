/*
 * The bounds of one list of tools; what it is within them is told in
 * t/transcripts/caller.
 */
#include "core_help.h"

#include "core/tg_mcp_client.h"

static int
test_page(tg_mcp_list_t *list, tg_str_t result, tg_answer_t *whole)
{
    tg_answer_t answer;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_RESULT;
    answer.result = result;

    return tg_mcp_list_page(list, &answer, whole);
}

/* What _meta says of servers that are not there, of the pages that say it. */
HELP_TEST(absent, "servers that are not there")
{
    tg_mcp_list_t list;
    tg_answer_t whole;
    tg_buf_t text;
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
    HELP_EQ(tg_buf_view(&list.absent), "[{\"name\":\"x\"}]");

    /* Nothing of it is left in another list, and of too much there is none. */
    tg_mcp_list_reset(&list);
    CU_ASSERT(list.absent.len == 0);
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, "{\"tools\":[],\"_meta\":{\"toolgate/servers\":[0");

    for (i = 0; i < TG_MCP_ABSENT_MAX / 2; i++) {
        tg_buf_text(&text, ",0");
    }

    tg_buf_text(&text, "]}}");
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_OK);
    CU_ASSERT(list.absent.len == 0);
    tg_buf_deinit(&text);
    tg_mcp_list_deinit(&list);
}

/* The bounds of a list; each is an error and no short list. */
HELP_TEST(bounds, "bounds")
{
    tg_mcp_list_t list;
    tg_catalogue_t *tools;
    tg_answer_t whole;
    tg_buf_t text;
    size_t i, nleft_out;

    tg_buf_init(&text, tg_alloc_libc());
    tg_mcp_list_init(&list, tg_alloc_libc(), 10);
    tg_buf_text(&text, "{\"tools\":[{}");

    for (i = 1; i < TG_TOOLS_MAX; i++) {
        tg_buf_text(&text, ",{}");
    }

    tg_buf_text(&text, "]}");
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_OK);
    HELP_EQ(whole.result, text.data);
    CU_ASSERT(tg_tools_new(tg_alloc_libc(), 0,
                           tg_str(text.data + 9, text.len - 10), &tools,
                           &nleft_out)
              == TG_OK);
    CU_ASSERT(nleft_out == TG_TOOLS_MAX);
    tg_catalogue_release(tools);

    tg_buf_truncate(&text, text.len - 2);
    tg_buf_text(&text, ",{}]}");
    tg_mcp_list_reset(&list);
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_BAD);
    HELP_EQ(whole.message, "The server's list of tools does not end.");
    CU_ASSERT(tg_tools_new(tg_alloc_libc(), 0,
                           tg_str(text.data + 9, text.len - 10), &tools,
                           &nleft_out)
              == TG_LIMIT);
    CU_ASSERT(tg_tools_new(tg_alloc_libc(), 0, TG_STR("{}"), &tools, &nleft_out)
              == TG_BAD);

    tg_buf_truncate(&text, 0);
    tg_buf_text(&text, "{\"tools\":[],\"nextCursor\":\"");

    while (text.len < TG_MCP_CURSOR_MAX + 30) {
        tg_buf_text(&text, "cursor");
    }

    tg_buf_text(&text, "\"}");
    tg_mcp_list_reset(&list);
    CU_ASSERT(test_page(&list, tg_buf_view(&text), &whole) == TG_BAD);
    CU_ASSERT(whole.kind == TG_ANSWER_ERROR && whole.code == TG_RPC_INTERNAL);
    tg_mcp_list_deinit(&list);
    tg_buf_deinit(&text);
}

/* A list that is read in steps is the one that is read at once. */
HELP_TEST(steps, "steps")
{
    static const char array[] =
        "[{\"name\":\"a\",\"x\":1},{\"x\":2},{\"name\":\"b\"},{\"name\":\"a\"},"
        "{\"name\":\"\\u0063\", \"x\":3}]";
    tg_catalogue_t *tools, *whole;
    tg_tools_reader_t reader;
    size_t left, whole_left, n;
    tg_buf_t text;
    int rc;

    CU_ASSERT_FATAL(
        tg_tools_new(tg_alloc_libc(), 1, TG_STR(array), &whole, &whole_left)
        == TG_OK);
    CU_ASSERT(tg_tools_begin(&reader, tg_alloc_libc(), 1, TG_STR(array))
              == TG_OK);

    /* Each step takes an element: to count, to add and to render it. */
    for (n = 1; (rc = tg_tools_read(&reader, 1, &tools, &left)) == TG_AGAIN;
         n++) {
        CU_ASSERT_FATAL(n < 20);
    }

    CU_ASSERT_FATAL(rc == TG_OK);
    CU_ASSERT(n >= 13);
    CU_ASSERT(left == 2 && whole_left == 2);
    CU_ASSERT(tg_catalogue_size(tools) == 3);
    CU_ASSERT(tg_catalogue_digest(tools) == tg_catalogue_digest(whole));
    tg_buf_init(&text, tg_alloc_libc());
    tg_catalogue_list_whole(tools, NULL, NULL, &text);
    HELP_EQ(tg_buf_view(&text), "\"tools\":[{\"name\":\"a\",\"x\":1},"
                                "{\"name\":\"b\"},"
                                "{\"name\":\"\\u0063\",\"x\":3}]");
    tg_buf_deinit(&text);
    tg_catalogue_release(tools);
    tg_catalogue_release(whole);

    /* One that is stopped leaves nothing. */
    CU_ASSERT(tg_tools_begin(&reader, tg_alloc_libc(), 1, TG_STR(array))
              == TG_OK);
    CU_ASSERT(tg_tools_read(&reader, 1, &tools, &left) == TG_AGAIN);
    tg_tools_stop(&reader);
    tg_tools_stop(&reader);
}
