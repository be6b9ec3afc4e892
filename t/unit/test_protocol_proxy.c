/* A peer whose host is a proxy: it forwards what the peer does not answer. */
#include "protocol_host_talk.h"

/* --- tools --- */

typedef struct {
    tg_peer_t peer;
    tg_call_t *list;
    tg_call_t *call;
    char cursor[64];
    int rc; /* result of ops->list */
} test_proxy_t;

static void
test_proxy_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    test_proxy_t *proxy = ctx;

    CU_ASSERT(request->entry == NULL);
    HELP_EQ(request->name, "any");
    proxy->call = tg_peer_defer_request(peer, request);
}

static void
test_proxy_cancel(void *ctx, tg_call_t *call)
{
    test_proxy_t *proxy = ctx;

    CU_ASSERT(call == proxy->list || call == proxy->call);
}

static int
test_proxy_list(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    test_proxy_t *proxy = ctx;

    if (proxy->rc == TG_OK) {
        memcpy(proxy->cursor, request->cursor.data, request->cursor.len);
        proxy->list = tg_peer_defer_request(peer, request);
    }

    return proxy->rc;
}

/* Feeds a line, compares the output and takes it. */
static void
test_proxy_line(test_proxy_t *proxy, const char *line, const char *reply)
{
    size_t consumed;

    CU_ASSERT(tg_peer_handle_input(&proxy->peer, line, strlen(line), &consumed)
              == TG_OK);
    CU_ASSERT(consumed == strlen(line));

    if (reply == NULL) {
        CU_ASSERT(proxy->peer.out.len == 0);
        return;
    }

    HELP_JSON(tg_buf_view(&proxy->peer.out), reply);
    tg_buf_truncate(&proxy->peer.out, 0);
}

#define TEST_LIST(id)                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/list\","            \
    "\"params\":{\"cursor\":\"1.x\"}}\n"
#define TEST_BAD_CURSOR                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"                \
    "\"message\":\"$contains:cursor\"}}"

HELP_TEST(proxy, "proxy")
{
    static const tg_peer_ops_t ops = { .call = test_proxy_call,
                                       .cancel = test_proxy_cancel,
                                       .list = test_proxy_list,
                                       .is_proxy = 1 };
    test_proxy_t proxy;
    tg_server_info_t info;
    tg_catalog_t *catalog;
    tg_call_t *list;

    memset(&proxy, 0, sizeof(proxy));
    memset(&info, 0, sizeof(info));
    catalog = tg_catalog_new(tg_alloc_libc());
    CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);
    HELP_HOLDS(tg_peer_init(&proxy.peer, tg_alloc_libc(), &ops, &proxy,
                            TG_DIALECT_JSONRPC, catalog, &info, 65536, 1)
               == TG_OK);

    /* Deferred; the host's catalog at that time will be used. */
    test_proxy_line(&proxy, TEST_LIST("1"), NULL);
    CU_ASSERT_FATAL(proxy.list != NULL);
    CU_ASSERT_STRING_EQUAL(proxy.cursor, "\"1.x\"");
    list = proxy.list;

    /* A second request exceeds the limit: an error, not a tool's result. */
    test_proxy_line(&proxy, TEST_LIST("2"),
                    "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,"
                    "\"message\":\"$contains:tool_max_inflight\"}}");
    tg_call_respond_list(list, &(tg_list_page_t){ .cursor = TG_STR_NONE });
    HELP_JSON(tg_buf_view(&proxy.peer.out),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}");
    tg_buf_truncate(&proxy.peer.out, 0);

    test_proxy_line(&proxy, TEST_LIST("1"), NULL);
    tg_call_respond_list(proxy.list,
                         &(tg_list_page_t){ .cursor = TG_STR("\"1.x\"") });
    HELP_JSON(tg_buf_view(&proxy.peer.out), TEST_BAD_CURSOR);
    tg_buf_truncate(&proxy.peer.out, 0);
    proxy.rc = TG_END;
    test_proxy_line(&proxy, TEST_LIST("1"), TEST_BAD_CURSOR);

    /* The host decides about tools that are not in the catalog. */
    test_proxy_line(&proxy,
                    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
                    "\"params\":{\"name\":\"any\"}}\n",
                    NULL);
    CU_ASSERT(proxy.call != NULL);
    tg_peer_deinit(&proxy.peer);
    tg_catalog_unref(catalog);
}

/* --- requests of any method --- */

typedef struct {
    test_proxy_t proxy; /* first: test_proxy_line() */
    tg_request_t request;
    char arguments[256];
    unsigned ncalls;
    int nsubscribed;
} test_methods_t;

static void
test_methods_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    test_methods_t *methods = ctx;

    methods->ncalls++;
    methods->request = *request;
    CU_ASSERT(request->entry == NULL);
    CU_ASSERT(request->reply.kind == TG_ENTRY_METHOD);
    CU_ASSERT_FATAL(request->arguments.len < sizeof(methods->arguments));
    (void) snprintf(methods->arguments, sizeof(methods->arguments), "%.*s",
                    (int) request->arguments.len,
                    request->arguments.len != 0 ? request->arguments.data : "");

    if (!request->reply.is_silent) {
        methods->proxy.call = tg_peer_defer_request(peer, request);
    }
}

static void
test_methods_subscribe(void *ctx, tg_str_t uri, int is_on)
{
    test_methods_t *methods = ctx;

    HELP_EQ(uri, "a:1");
    methods->nsubscribed += is_on ? 1 : -1;
}

static int
test_methods_discover(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    test_methods_t *methods = ctx;

    if (methods->proxy.rc == TG_OK) {
        methods->proxy.call = tg_peer_defer_request(peer, request);
    }

    return methods->proxy.rc;
}

#define TEST_META                                                              \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"                  \
    "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define TEST_REQUEST(id, method, params)                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{" params "}}\n"
#define TEST_LISTEN                                                            \
    TEST_REQUEST("5", "subscriptions/listen",                                  \
                 "\"notifications\":{"                                         \
                 "\"resourceSubscriptions\":[\"a:\\u0031\"]}," TEST_META)
#define TEST_INFO "{\"name\":\"behind\",\"version\":\"1\"}"
#define TEST_DISCOVERED(id, more)                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{"                          \
    "\"resultType\":\"complete\",\"_meta\":{"                                  \
    "\"io.modelcontextprotocol/serverInfo\":" TEST_INFO "}," more "}}"

/* Sends a request whose method the proxy has to forward. */
static void
test_methods_forward(test_methods_t *methods, const char *line,
                     const char *name, const char *arguments, int is_modern)
{
    unsigned ncalls;

    ncalls = methods->ncalls;
    test_proxy_line(&methods->proxy, line, NULL);
    CU_ASSERT(methods->ncalls == ncalls + 1);
    CU_ASSERT_STRING_EQUAL(methods->arguments, arguments);
    CU_ASSERT((int) methods->request.reply.is_modern == is_modern);
    CU_ASSERT(tg_str_eq(methods->request.name, tg_str_from_cstr(name)));
}

HELP_TEST(methods, "a proxy of every method")
{
    static const tg_peer_ops_t ops = { .call = test_methods_call,
                                       .cancel = test_proxy_cancel,
                                       .discover = test_methods_discover,
                                       .on_subscribe = test_methods_subscribe,
                                       .is_proxy = 1 };
    test_methods_t methods;
    tg_server_info_t info;
    tg_catalog_t *catalog;
    tg_outcome_t outcome;

    memset(&methods, 0, sizeof(methods));
    memset(&info, 0, sizeof(info));
    info.name = TG_STR("behind");
    info.version = TG_STR("1");
    info.proxied_capabilities = TG_STR("{\"x\":1}");
    catalog = tg_catalog_new(tg_alloc_libc());
    CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);
    HELP_HOLDS(tg_peer_init(&methods.proxy.peer, tg_alloc_libc(), &ops,
                            &methods, TG_DIALECT_JSONRPC, catalog, &info, 65536,
                            1)
               == TG_OK);
    methods.proxy.peer.is_mcp = 1;

    test_methods_forward(&methods, TEST_REQUEST("1", "any", "\"a\": 1 "), "any",
                         "{\"a\": 1 }", 0);
    outcome = tg_outcome_make(TG_OUTCOME_JSON, TG_STR("{\"b\":1.0}"));
    tg_call_respond(methods.proxy.call, &outcome);
    HELP_JSON(tg_buf_view(&methods.proxy.peer.out),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"b\":1.0}}");
    tg_buf_truncate(&methods.proxy.peer.out, 0);

    /* Methods that MCP has, in both eras, and an error. */
    test_methods_forward(&methods,
                         "{\"jsonrpc\":\"2.0\",\"id\":1,"
                         "\"method\":\"prompts/list\"}\n",
                         "prompts/list", "", 0);
    tg_call_respond_error(methods.proxy.call, -32601, TG_STR("no"),
                          TG_STR("[1]"));
    HELP_JSON(tg_buf_view(&methods.proxy.peer.out),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
              "\"message\":\"no\",\"data\":[1]}}");
    tg_buf_truncate(&methods.proxy.peer.out, 0);
    test_methods_forward(&methods,
                         TEST_REQUEST("1", "resources/subscribe", TEST_META),
                         "resources/subscribe", "{" TEST_META "}", 1);
    tg_call_forget(methods.proxy.call);

    /* A notification, and what the peer answers itself. */
    test_methods_forward(&methods,
                         "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n", "note",
                         "", 0);
    CU_ASSERT(methods.request.reply.is_silent);
    test_proxy_line(&methods.proxy, TEST_REQUEST("1", "ping", ""),
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    test_proxy_line(&methods.proxy,
                    TEST_REQUEST("1", "initialize",
                                 "\"protocolVersion\":\"2025-11-25\""),
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
                    "\"protocolVersion\":\"2025-11-25\","
                    "\"capabilities\":{\"x\":1},"
                    "\"serverInfo\":" TEST_INFO "}}");
    CU_ASSERT(methods.ncalls == 4);

    /* server/discover: the server behind, or the peer. */
    test_proxy_line(&methods.proxy,
                    TEST_REQUEST("2", "server/discover", TEST_META), NULL);
    tg_call_respond_discover(methods.proxy.call,
                             TG_STR("{\"resultType\":\"other\","
                                    "\"supportedVersions\":[],"
                                    "\"_meta\":{\"z\":3}}"));
    HELP_JSON(tg_buf_view(&methods.proxy.peer.out),
              TEST_DISCOVERED("2", "\"supportedVersions\":[]"));
    tg_buf_truncate(&methods.proxy.peer.out, 0);
    test_proxy_line(&methods.proxy,
                    TEST_REQUEST("3", "server/discover", TEST_META), NULL);
    tg_call_respond_discover(methods.proxy.call, TG_STR("{}"));
    HELP_JSON(tg_buf_view(&methods.proxy.peer.out),
              TEST_DISCOVERED("3", "\"supportedVersions\":[\"2026-07-28\"],"
                                   "\"capabilities\":{\"x\":1},\"ttlMs\":0,"
                                   "\"cacheScope\":\"private\""));
    tg_buf_truncate(&methods.proxy.peer.out, 0);
    methods.proxy.rc = TG_END;
    test_proxy_line(&methods.proxy,
                    TEST_REQUEST("4", "server/discover", TEST_META),
                    TEST_DISCOVERED("4",
                                    "\"supportedVersions\":[\"2026-07-28\"],"
                                    "\"capabilities\":{\"x\":1},\"ttlMs\":0,"
                                    "\"cacheScope\":\"private\""));

    /* subscriptions/listen: the server behind knows the resources. */
    info.has_subscribe = 1;
    test_proxy_line(&methods.proxy, TEST_LISTEN,
                    "{\"jsonrpc\":\"2.0\",\"method\":"
                    "\"notifications/subscriptions/acknowledged\","
                    "\"params\":{\"_meta\":\"$object\",\"notifications\":{"
                    "\"resourceSubscriptions\":[\"a:1\"]}}}");
    CU_ASSERT(methods.nsubscribed == 1);
    tg_peer_notify_resource_updated(&methods.proxy.peer, TG_STR("a:2"));
    CU_ASSERT(methods.proxy.peer.out.len == 0);
    tg_peer_notify_resource_updated(&methods.proxy.peer, TG_STR("a:1"));
    HELP_JSON(tg_buf_view(&methods.proxy.peer.out),
              "{\"jsonrpc\":\"2.0\",\"method\":"
              "\"notifications/resources/updated\",\"params\":{\"_meta\":{"
              "\"io.modelcontextprotocol/subscriptionId\":5},"
              "\"uri\":\"a:1\"}}");
    tg_peer_deinit(&methods.proxy.peer);
    CU_ASSERT(methods.nsubscribed == 0);
    tg_catalog_unref(catalog);
}
