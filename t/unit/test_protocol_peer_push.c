/* Messages of a peer on its own, and a peer without memory. */
#include "protocol_host_talk.h"

#include "protocol/tg_peer_impl.h"

#define TEST_MODERN                                                            \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define TEST_LISTEN(id, filter)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"subscriptions/listen\","  \
    "\"params\":{\"notifications\":" filter "," TEST_MODERN "}}"
#define TEST_INITIALIZE                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"                  \
    "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define TEST_HANG(id, token)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","            \
    "\"params\":{\"name\":\"hang\",\"_meta\":{\"progressToken\":" token "}}}"
#define TEST_CHANGED                                                           \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"

static void
test_init(host_t *host, tg_dialect_t dialect)
{
    host_init(host, tg_alloc_libc(), dialect, 65536, 8);
}

/* Compares new output line by line; patterns end with NULL. */
static void
test_lines(host_t *host, const char *const *patterns)
{
    tg_str_t got;
    const char *newline;
    size_t len;

    got = host_take(host);

    for (/* void */; *patterns != NULL; patterns++) {
        newline = got.len != 0 ? memchr(got.data, '\n', got.len) : NULL;
        CU_ASSERT_FATAL(newline != NULL);
        len = (size_t) (newline - got.data);
        HELP_JSON(tg_str(got.data, len), *patterns);
        got = tg_str(newline + 1, got.len - len - 1);
    }

    HELP_EQ(got, "");
}

#define TEST_LINES(host, ...)                                                  \
    test_lines(host, (const char *const[]){ __VA_ARGS__, NULL })

/* --- identity --- */

/* Refused before anything is served, with a message where possible. */
HELP_TEST(refusal, "a refused client")
{
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    host.why = "not \"now\"";
    host_feed(&host,
              TG_STR("{\"kind\":\"mcp_request\",\"id\":1,\"method\":"
                     "\"tools/call\",\"params\":{\"name\":\"echo\"}}\n"));
    CU_ASSERT(host.peer.is_closing);
    TEST_LINES(&host, "{\"kind\":\"error\",\"message\":\"not \\\"now\\\"\"}");
    CU_ASSERT(host.ncalls == 0);
    host_deinit(&host);

    test_init(&host, TG_DIALECT_AUTO);
    host.why = "no";
    host_feed(&host, TG_STR(TEST_INITIALIZE "\n"));
    CU_ASSERT(host.peer.is_closing);
    HELP_EQ(host_take(&host), "");
    host_deinit(&host);
}

/* A server that shuts down refuses new calls; running calls continue. */
HELP_TEST(leaving, "a server that shuts down")
{
    static const char refused[] =
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32090,\"message\":"
        "\"This server is about to exit; the request was not started. "
        "Reconnect, and send it again.\",\"data\":\"toolgate\"}}";
    host_t host;

    test_init(&host, TG_DIALECT_JSONRPC);
    host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                            "toolgate/hello\"}\n"));
    CU_ASSERT(host.peer.is_toolgate && !host.peer.resends);
    host_feed(&host,
              TG_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                     "toolgate/hello\",\"params\":{\"resends\":true}}\n"));
    CU_ASSERT(host_move(&host) == TG_OK && host.peer.resends);
    host_feed(&host, TG_STR(TEST_HANG("1", "1") "\n"));
    CU_ASSERT(host.ncalls == 1);
    host.peer.is_leaving = 1;
    host_feed(&host, TG_STR(TEST_HANG("2", "2") "\n"));
    TEST_LINES(&host, refused);
    CU_ASSERT(host.ncalls == 1);
    host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                            "cancelled\",\"params\":{\"requestId\":1}}\n"));
    CU_ASSERT(host.peer.ncalls == 0);
    host_deinit(&host);
}

#define TEST_CLIENT(name)                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\",\"params\":{"     \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientCapabilities\":{},"                       \
    "\"io.modelcontextprotocol/clientInfo\":" name "}}}\n"

HELP_TEST(client, "a client keeps its name, also over a move")
{
    char line[512];
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, TG_STR(TEST_INITIALIZE "\n"));
    HELP_EQ(host.peer.client, "t");
    CU_ASSERT(host_move(&host) == TG_OK);
    HELP_EQ(host.peer.client, "t");
    host_feed(&host, TG_STR(TEST_CLIENT("{\"name\":\"u\"}")));
    HELP_EQ(host.peer.client, "t");
    host_deinit(&host);

    test_init(&host, TG_DIALECT_JSONRPC);
    host_feed(&host, TG_STR(TEST_CLIENT("{\"name\":1}")));
    host_feed(&host, TG_STR(TEST_CLIENT("{\"name\":\"\"}")));
    host_feed(&host, TG_STR(TEST_CLIENT("7")));
    HELP_EQ(host.peer.client, "");
    (void) snprintf(line, sizeof(line), TEST_CLIENT("{\"name\":\"%0129d\"}"),
                    0);
    host_feed(&host, tg_str_from_cstr(line));
    HELP_EQ(host.peer.client, "");
    (void) snprintf(line, sizeof(line), TEST_CLIENT("{\"name\":\"%0128d\"}"),
                    0);
    host_feed(&host, tg_str_from_cstr(line));
    CU_ASSERT(host.peer.client.len == TG_CLIENT_NAME_MAX);
    host_deinit(&host);

    test_init(&host, TG_DIALECT_JSONRPC);
    host_feed(&host, TG_STR(TEST_CLIENT("{\"name\":\"a\\\"\\u263a\"}")));
    HELP_EQ(host.peer.client, "a\"\xe2\x98\xba");
    host_deinit(&host);
}

#define TEST_AGENT(version)                                                    \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/toolgate/hello\","        \
    "\"params\":{\"capabilities\":{},\"clientInfo\":{\"name\":\"a\","          \
    "\"version\":\"" version "\"},\"via\":\"bridge/1\"}}\n"

HELP_TEST(agent, "behind a bridge the agent's name counts, not the bridge's")
{
    host_t host;
    unsigned nclient_changes;

    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, TG_STR(TEST_INITIALIZE "\n"));
    HELP_EQ(host.peer.client_version, "1");
    HELP_EQ(host.peer.client_via, "");
    host_feed(&host, TG_STR(TEST_AGENT("2")));
    HELP_EQ(host.peer.client, "a");
    HELP_EQ(host.peer.client_version, "2");
    HELP_EQ(host.peer.client_via, "bridge/1");
    nclient_changes = host.peer.nclient_changes;
    host_feed(&host, TG_STR(TEST_AGENT("2")));
    CU_ASSERT(host.peer.nclient_changes == nclient_changes);
    CU_ASSERT(host_move(&host) == TG_OK);
    HELP_EQ(host.peer.client, "a");
    HELP_EQ(host.peer.client_version, "2");
    HELP_EQ(host.peer.client_via, "bridge/1");
    host_deinit(&host);

    /* On another connection of the bridge the agent is named first. */
    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, TG_STR(TEST_AGENT("3") TEST_INITIALIZE "\n"));
    HELP_EQ(host.peer.client, "a");
    HELP_EQ(host.peer.client_version, "3");
    host_deinit(&host);

    /* Each request of the modern era names its client. */
    test_init(&host, TG_DIALECT_JSONRPC);
    host_feed(&host, TG_STR(TEST_CLIENT("{\"name\":\"a\",\"version\":\"1\"}")));
    HELP_EQ(host.peer.client_version, "1");
    host_feed(&host, TG_STR(TEST_CLIENT("{\"name\":\"b\",\"version\":2}")));
    HELP_EQ(host.peer.client, "b");
    HELP_EQ(host.peer.client_version, "");
    host_deinit(&host);
}

/* --- progress --- */

/* --- list_changed --- */

/* Not sent unless declared; other forbidden messages. */
HELP_TEST(list_changed, "list_changed")
{
    host_t host;

    test_init(&host, TG_DIALECT_JSONRPC);
    host.info.has_list_changed = 0;
    host.info.instructions = TG_STR_NONE;
    host.info.experimental = TG_STR("{ \"toolgate\" : {} }");
    HOST_LINE(&host, TEST_INITIALIZE,
              "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":"
              "\"2025-06-18\",\"capabilities\":{\"tools\":{},\"experimental\":"
              "{\"toolgate\":{}}},\"serverInfo\":\"$object\"}}");
    tg_peer_notify_list_changed(&host.peer, TG_ENTRY_TOOL);
    HELP_EQ(host_take(&host), "");
    HOST_LINE(&host, TEST_LISTEN("1", "{\"toolsListChanged\":true}"),
              "{\"jsonrpc\":\"2.0\",\"method\":"
              "\"notifications/subscriptions/acknowledged\",\"params\":{"
              "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1},"
              "\"notifications\":{}}}");
    tg_peer_notify_list_changed(&host.peer, TG_ENTRY_TOOL);
    HELP_EQ(host_take(&host), "");
    host_deinit(&host);
}

/* --- subscriptions --- */

HELP_TEST(subscriptions_limit, "subscriptions: limit")
{
    char line[512];
    host_t host;
    int i;

    test_init(&host, TG_DIALECT_JSONRPC);

    for (i = 0; i <= TG_SUBSCRIPTIONS_MAX; i++) {
        snprintf(line, sizeof(line), TEST_LISTEN("%d", "{}") "\n", i);
        host_feed(&host, tg_str_from_cstr(line));

        if (i < TG_SUBSCRIPTIONS_MAX) {
            CU_ASSERT(host_take(&host).len != 0);
        }
    }

    TEST_LINES(&host, "{\"jsonrpc\":\"2.0\",\"id\":64,\"error\":{"
                      "\"code\":-32603,\"message\":\"$contains:64\"}}");
    host_deinit(&host);
}

/* --- shutdown notice --- */

#define TEST_NOTIFICATION                                                      \
    "{\"kind\":\"mcp_notification\",\"method\":\"x\",\"params\":"

HELP_TEST(notify, "relay: a message beyond a frame is dropped as a whole")
{
    host_t host;
    HELP_BUFFER(text);
    size_t len;

    test_init(&host, TG_DIALECT_RELAY);
    len = TG_FRAME_RELAY_MAX - strlen(TEST_NOTIFICATION "}\n");
    CU_ASSERT_FATAL(tg_buf_reserve(&text, len + 1) == TG_OK);
    memset(text.data, '1', len + 1);
    tg_peer_notify(&host.peer, TG_STR("x"), tg_str(text.data, len + 1));
    HELP_EQ(host_take(&host), "");
    CU_ASSERT(host.log.len != 0);
    tg_peer_notify(&host.peer, TG_STR("x"), tg_str(text.data, len));
    CU_ASSERT(host_take(&host).len == TG_FRAME_RELAY_MAX);
    host_deinit(&host);
}

/* --- visibility --- */

HELP_TEST(visibility, "visibility")
{
    host_t host;
    tg_str_t list;

    test_init(&host, TG_DIALECT_JSONRPC);
    host.is_hiding = 1;
    HOST_LINE(&host,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"fail\"}}",
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
              "\"message\":\"$contains:Unknown tool: fail\"}}");
    CU_ASSERT(host.ncalls == 0);
    host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"id\":2,"
                            "\"method\":\"tools/list\"}\n"));
    list = host_take(&host);
    CU_ASSERT(strstr(help_text(list), "\"echo\"") != NULL);
    CU_ASSERT(strstr(help_text(list), "\"fail\"") == NULL);
    host_deinit(&host);
}

/* --- a new catalog --- */

/* Only the peer holds it: one method, in the catalog's memory. */
static tg_catalog_t *
test_swap_catalogue(const tg_alloc_t *alloc)
{
    tg_catalog_t *catalog;
    tg_catalog_entry_t *entry;

    catalog = tg_catalog_new(alloc);
    entry = tg_calloc(alloc, sizeof(*entry));
    entry->kind = TG_ENTRY_METHOD;
    entry->name = TG_STR("swap");
    tg_catalog_set_memory(catalog, entry, NULL);
    CU_ASSERT(tg_catalog_add(catalog, entry) == TG_OK);
    CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);

    return catalog;
}

/* Replaces it twice; the requested method stays valid until the return. */
static void
test_swap_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    tg_catalog_t *catalog;
    tg_outcome_t outcome;
    unsigned i;

    for (i = 0; i < 2; i++) {
        catalog = test_swap_catalogue(peer->priv->alloc);
        tg_peer_set_catalog(peer, catalog);
        tg_catalog_unref(catalog);
    }

    CU_ASSERT(((help_alloc_t *) ctx)->live >= 8);
    outcome = tg_outcome_make_text(request->entry->name);
    tg_peer_respond(peer, &request->reply, &outcome);
}

HELP_TEST(swap, "catalogs swapped within a call")
{
    static const tg_peer_ops_t ops = { .call = test_swap_call };

    tg_catalog_t *catalog;
    help_alloc_t help;
    tg_peer_t peer;
    tg_server_info_t info;
    size_t n, live;

    memset(&info, 0, sizeof(info));
    help_alloc_init(&help);
    catalog = test_swap_catalogue(&help.alloc);
    HELP_HOLDS(tg_peer_init(&peer, &help.alloc, &ops, &help, TG_DIALECT_JSONRPC,
                            catalog, &info, 65536, 1)
               == TG_OK);
    tg_catalog_unref(catalog);
    live = help.live;

    for (n = 0; n < 2; n++) {
        CU_ASSERT(tg_peer_handle_message(&peer,
                                         TG_STR("{\"jsonrpc\":\"2.0\",\"id\":1,"
                                                "\"method\":\"swap\"}"))
                  == TG_OK);
        HELP_EQ(tg_buf_view(&peer.out),
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"swap\"}\n");
        tg_buf_reset(&peer.out, 0);
        /* One catalog is left, as before. */
        CU_ASSERT(help.live == live);
    }

    tg_peer_deinit(&peer);
    CU_ASSERT(help.live == 0);
}

/* --- broadcasts whose text is shared --- */

typedef struct {
    tg_buf_t all;
    tg_str_t method;
    tg_str_t params;
} test_shared_t;

static void
test_shared_message(void *data, tg_dialect_t form, tg_str_t head)
{
    test_shared_t *shared = data;

    tg_buf_append_str(&shared->all, head);
    CU_ASSERT(tg_broadcast_write_json(form, shared->method, shared->params,
                                      &shared->all)
              == TG_OK);
}

/* Compares a peer's output with the shared text of a broadcast. */
static void
test_shared(host_t *host, const char *params, unsigned nmessages)
{
    test_shared_t shared;
    unsigned n;
    size_t i;

    shared.method = TG_STR("a\"b");
    shared.params = params != NULL ? tg_str_from_cstr(params) : TG_STR_NONE;
    tg_buf_init(&shared.all, tg_alloc_libc());
    tg_peer_send_broadcast(&host->peer, shared.method, shared.params);
    tg_peer_foreach_broadcast(&host->peer, shared.method, test_shared_message,
                              &shared);
    CU_ASSERT(tg_str_eq(host_take(host), tg_buf_view(&shared.all)));

    for (i = 0, n = 0; i < shared.all.len; i++) {
        n += shared.all.data[i] == '\n';
    }

    CU_ASSERT(n == nmessages);
    tg_buf_deinit(&shared.all);
}

HELP_TEST(shared_text, "broadcasts whose text many peers share")
{
    static const char *const params[] = {
        NULL, "{}", "{\"t\":[1,{\"_meta\":2}]}",
        "{\"a\":1,\"_meta\":{\"x\":1,"
        "\"io.modelcontextprotocol/subscriptionId\":9},\"b\":2}"
    };
    host_t plain, modern, relay;

    test_init(&plain, TG_DIALECT_JSONRPC);
    test_init(&relay, TG_DIALECT_RELAY);
    test_init(&modern, TG_DIALECT_JSONRPC);
    host_feed(&modern,
              TG_STR(TEST_LISTEN("1", "{\"toolgate/broadcasts\":true}") "\n"));
    host_feed(&modern,
              TG_STR(TEST_LISTEN("\"two\"",
                                 "{\"toolgate/broadcasts\":true}") "\n"));
    (void) host_take(&modern);

    HELP_EACH(param, params) {
        test_shared(&plain, *param, 1);
        test_shared(&relay, *param, 1);
        test_shared(&modern, *param, 2);
    }

    tg_peer_send_shutdown_notice(&plain.peer, TG_STR("bye"));
    (void) host_take(&plain);
    test_shared(&plain, "{}", 0);
    host_deinit(&plain);
    host_deinit(&relay);
    host_deinit(&modern);
}
