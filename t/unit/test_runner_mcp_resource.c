/* Subscriptions to resources of MCP servers, and lists of their instances. */
#include "runner_mcp.h"

#include "runner/logging/tg_log.h"

static int
test_has_lists(void *ctx)
{
    const tg_mcp_server_t *server;

    server = test_server(ctx);

    return server != NULL && server->lists.tools != NULL;
}

static int
test_is_relisting(void *ctx)
{
    return test_server(ctx)->is_relisting;
}

static int
test_is_instance_ready(void *ctx)
{
    const tg_mcp_conn_t *mcp_conn;

    mcp_conn = test_conn(ctx, "u");

    return mcp_conn != NULL && mcp_conn->state == TG_MCP_CONN_READY;
}

static int
test_has_instance_failed(void *ctx)
{
    const tg_mcp_conn_t *mcp_conn;

    mcp_conn = test_conn(ctx, "u");

    return mcp_conn != NULL && mcp_conn->state == TG_MCP_CONN_STOPPED
           && mcp_conn->nfailures != 0;
}

static void
test_subscribe(const char *method, const char *key, const char *uri)
{
    char text[128];

    snprintf(text, sizeof(text),
             "{\"key\":\"%s\",\"instance\":\"u\",\"uri\":\"%s\"}", key, uri);
    (void) host_request(method, text);
    CU_ASSERT(test_response());
}

static void
test_write(const char *path, const char *text)
{
    FILE *file;

    file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fputs(text, file) >= 0);
    CU_ASSERT(fclose(file) == 0);
}

HELP_TEST(unsubscribed, "nothing starts for a subscription that has ended")
{
    static char key[] = KEY "a";

    /* Errors of the test server are expected. */
    CU_ASSERT(tg_log_set_level("crit") == 0);
    test_watch(key, ",\"exit=1\"", ",\"share\":\"user\"");
    CU_ASSERT(test_response());
    test_subscribe("mcp_subscribe", key, "x:a");
    CU_ASSERT(host_until(test_has_instance_failed, key));
    CU_ASSERT(uv_is_active((uv_handle_t *) &test_conn(key, "u")->timer));
    test_subscribe("mcp_unsubscribe", key, "x:a");
    CU_ASSERT(!uv_is_active((uv_handle_t *) &test_conn(key, "u")->timer));
    test_forget(key);
}

HELP_TEST(subscribed, "subscriptions of an instance: while it ends, too many")
{
    static char key[] = KEY "b";
    tg_mcp_conn_t *mcp_conn;
    char uri[32];
    unsigned i;

    test_watch(key, "", ",\"share\":\"user\"");
    CU_ASSERT(test_response());
    (void) test_call(key, "echo", ",\"instance\":\"u\"");
    CU_ASSERT(host_until(test_is_instance_ready, key));
    CU_ASSERT(test_response());
    mcp_conn = test_conn(key, "u");
    tg_mcp_conn_shutdown(mcp_conn, 0);
    CU_ASSERT(mcp_conn->state == TG_MCP_CONN_ENDING);

    for (i = 0; i <= TG_MCP_RESOURCE_WATCHES_MAX; i++) {
        snprintf(uri, sizeof(uri), "x:%u", i);
        test_subscribe("mcp_subscribe", key, uri);
    }

    CU_ASSERT(host_is("failure", "\"busy\""));
    CU_ASSERT(host_until(test_is_instance_ready, key));
    CU_ASSERT(test_conn(key, "u") == mcp_conn);
    CU_ASSERT(mcp_conn->nwatches == TG_MCP_RESOURCE_WATCHES_MAX);
    test_forget(key);
}

HELP_TEST(own_lists, "only tools of an instance make the server list again")
{
    static char key[] = KEY "c";
    char kinds[96], list[96], more[256];
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_server_t *server;
    tg_buf_t *text;

    snprintf(kinds, sizeof(kinds), "%s/kinds", help_dir);
    snprintf(list, sizeof(list), "%s/list", help_dir);
    snprintf(more, sizeof(more), ",\"kinds=%s\",\"list=%s\"", kinds, list);
    test_write(kinds, "{\"prompts\":[{\"name\":\"a\"}]}");
    test_write(list, "[{\"name\":\"echo\"}]");
    test_watch(key, more, ",\"share\":\"user\"");
    CU_ASSERT(host_until(test_has_lists, key));
    server = test_server(key);

    test_write(kinds, "{\"prompts\":[{\"name\":\"b\"}]}");
    (void) test_call(key, "echo", ",\"instance\":\"u\"");
    CU_ASSERT(host_until(test_is_instance_ready, key));
    CU_ASSERT(!server->is_relisting);

    test_write(list, "[{\"name\":\"other\"}]");
    (void) test_call(key, "echo", ",\"instance\":\"v\"");
    CU_ASSERT(host_until(test_is_relisting, key));

    /* Lists that are too large do not stay in memory. */
    mcp_conn = test_conn(key, "u");
    text = &mcp_conn->client.items[TG_MCP_PROMPTS].text;
    CU_ASSERT_FATAL(tg_buf_reserve(text, TG_MCP_SERVER_LIST_MAX) == TG_OK);
    text->len = TG_MCP_SERVER_LIST_MAX;
    CU_ASSERT(tg_mcp_server_on_conn_lists(server, mcp_conn) == TG_OK);
    CU_ASSERT(text->len == 0 && text->cap == 0);
    CU_ASSERT(unlink(kinds) == 0 && unlink(list) == 0);
    test_forget(key);
}
