/* Requests that wait for input: their deadlines and limits. */
#include "protocol_host_talk.h"

#include "protocol/tg_peer_impl.h"

#define TEST_INITIALIZE                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"roots\":{}},"      \
    "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
#define TEST_ASK(id)                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":" \
    "{\"name\":\"echo\",\"arguments\":{\"inputs\":{\"a\":{\"method\":"         \
    "\"roots/list\"},\"b\":{\"method\":\"roots/list\"}}}}}\n"

static void
test_init(host_t *host)
{
    host_init(host, tg_alloc_libc(), TG_DIALECT_JSONRPC, 65536, 64);
    host_feed(host, TG_STR(TEST_INITIALIZE));
    (void) host_take(host);
}

HELP_TEST(deadline, "inputs that nobody gave in time")
{
    host_t host;

    test_init(&host);
    CU_ASSERT(tg_peer_get_input_deadline(&host.peer) == 0);
    host_feed(&host, TG_STR(TEST_ASK("7")));
    (void) host_take(&host);
    CU_ASSERT(tg_peer_get_input_deadline(&host.peer) == 1000);
    CU_ASSERT(tg_peer_get_wait(&host.peer, 0, 0) == TG_WAIT_NOTHING);
    host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n"));
    CU_ASSERT(tg_peer_expire_inputs(&host.peer, 999) == TG_OK);
    HELP_EQ(host_take(&host), "");
    CU_ASSERT(tg_peer_expire_inputs(&host.peer, 1000) == TG_OK);
    HELP_EQ(host_take(&host),
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
            "\"params\":{\"requestId\":1}}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":"
            "\"text\",\"text\":\"{\\\"a\\\":{},\\\"b\\\":{\\\"error\\\":{"
            "\\\"code\\\":-1,\\\"message\\\":\\\"no answer in time\\\"}}}\"}],"
            "\"isError\":false}}\n");
    CU_ASSERT(host.peer.nrounds == 0);
    CU_ASSERT(tg_peer_get_wait(&host.peer, 0, 0) == TG_WAIT_IDLE);
    host_deinit(&host);
}

HELP_TEST(limit, "a client has at most 32 requests to answer")
{
    char line[256];
    host_t host;
    int i;

    test_init(&host);

    for (i = 1; i <= 16; i++) {
        (void) snprintf(line, sizeof(line), TEST_ASK("%d"), i);
        host_feed(&host, tg_str_from_cstr(line));
    }

    CU_ASSERT(host.peer.nrounds == 16);
    CU_ASSERT(tg_peer_send_server_request(&host.peer, TG_STR("roots/list"),
                                          TG_STR_NONE, 1)
              == TG_LIMIT);
    (void) host_take(&host);
    host_feed(&host, TG_STR(TEST_ASK("17")));
    HELP_EQ(host_take(&host),
            "{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"content\":[{\"type\":"
            "\"text\",\"text\":\"not asked: 3\"}],\"isError\":false}}\n");
    CU_ASSERT(tg_peer_expire_inputs(&host.peer, UINT64_MAX) == TG_OK);
    CU_ASSERT(host.peer.nrounds == 0);
    host_deinit(&host);
}
