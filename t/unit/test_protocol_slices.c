/* A batch in several time slices, and memory that is kept for a client. */
#include "protocol_host_talk.h"

#define TEST_REQUEST(id, method)                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define TEST_RESULT(id)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":\"hello\"}"

static void
test_init(host_t *host)
{
    host_init(host, tg_alloc_libc(), TG_DIALECT_JSONRPC, 65536, 4);
    host->is_yielding = 1;
}

HELP_TEST(slices, "the host is asked after each request but the last")
{
    host_t host;

    test_init(&host);
    HOST_LINE(&host, TEST_REQUEST("1", "hello"), TEST_RESULT("1"));
    CU_ASSERT(host.nslices == 0);
    HOST_LINE(&host,
              " [" TEST_REQUEST("1", "hello") " , " TEST_REQUEST(
                  "2", "hello") "," TEST_REQUEST("3", "hello") " ] ",
              "[" TEST_RESULT("1") "," TEST_RESULT("2") "," TEST_RESULT(
                  "3") "]");
    CU_ASSERT(host.nslices == 2);

    /* The host counts per frame, in however many slices. */
    CU_ASSERT(host.peer.work == 3);
    CU_ASSERT(host.peer.frame_size
              == strlen(" [ , , ] ") + 3 * strlen(TEST_REQUEST("1", "hello")));
    host_feed(&host, TG_STR(TEST_REQUEST("4", "hello") "\n[" TEST_REQUEST(
                         "5", "hello") "]\n" TEST_REQUEST("6", "hello") "\n"));
    HELP_EQ(host_take(&host), TEST_RESULT("4") "\n[" TEST_RESULT(
                                  "5") "]\n" TEST_RESULT("6") "\n");
    CU_ASSERT(host.nslices == 4);
    CU_ASSERT(host.peer.work == 1);
    host_deinit(&host);
}

#define TEST_BATCH                                                             \
    "[" TEST_REQUEST("1", "hello") "," TEST_REQUEST(                           \
        "2", "hang.status") "," TEST_REQUEST("3", "hello") "]\n"

/* The reply to the first request. */
#define TEST_FIRST "[" TEST_RESULT("1") "]\n"

/* Runs up to the first request, which ended the slice. */
static void
test_begin(host_t *host)
{
    size_t consumed;

    test_init(host);
    CU_ASSERT(tg_peer_handle_input(&host->peer, TEST_BATCH,
                                   sizeof(TEST_BATCH) - 1, &consumed)
              == TG_AGAIN);
    CU_ASSERT(consumed == 0);
    HELP_EQ(host_take(host), "");
}

/* Finished replies are sent before the connection closes. */
HELP_TEST(shutdown_notice, "shutdown notice in a batch")
{
    size_t consumed;
    host_t host;

    test_begin(&host);
    tg_peer_send_shutdown_notice(&host.peer, TG_STR("bye"));
    HELP_EQ(host_take(&host), TEST_FIRST);
    CU_ASSERT(tg_peer_handle_input(&host.peer, TEST_BATCH,
                                   sizeof(TEST_BATCH) - 1, &consumed)
              == TG_CLOSED);
    host_deinit(&host);
    CU_ASSERT(host.ncalls == 1);
}

HELP_TEST(moved, "a host whose bytes differ from the old host's is refused")
{
    size_t consumed;
    host_t host;
    tg_str_t got;

    test_begin(&host);
    CU_ASSERT(host.peer.work == 1);
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.peer.work == 1);
    CU_ASSERT(tg_peer_handle_input(&host.peer, "[oops]\n", 7, &consumed)
              == TG_OK);
    CU_ASSERT(consumed == 7);
    got = host_take(&host);
    CU_ASSERT_FATAL(got.len > sizeof(TEST_FIRST));
    HELP_EQ(tg_str(got.data, sizeof(TEST_FIRST) - 1), TEST_FIRST);
    HELP_JSON(tg_str(got.data + sizeof(TEST_FIRST) - 1,
                     got.len - sizeof(TEST_FIRST)),
              "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
              "\"message\":\"$string\"}}");
    host_deinit(&host);

    test_begin(&host);
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(tg_peer_handle_input(&host.peer, "[ ]\n", 4, &consumed) == TG_OK);
    HELP_EQ(host_take(&host), TEST_FIRST);
    host_deinit(&host);
}

HELP_TEST(kept, "kept memory")
{
    tg_call_t *call;
    size_t before;
    host_t host;

    test_init(&host);
    CU_ASSERT(tg_peer_memory_size(&host.peer) == 0);
    host_feed(&host, TG_STR(TEST_BATCH));
    call = host_call(&host, "2");
    CU_ASSERT_PTR_NOT_NULL_FATAL(call);

    /* The call, and two replies that wait for its own. */
    before = tg_peer_memory_size(&host.peer);
    CU_ASSERT(before >= sizeof(*call) + 2 * strlen(TEST_RESULT("1")));
    tg_call_set_host_bytes(call, 1000);
    CU_ASSERT(tg_peer_memory_size(&host.peer) == before + 1000);
    tg_call_set_host_bytes(call, 10);
    CU_ASSERT(tg_peer_memory_size(&host.peer) == before + 10);

    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(tg_peer_memory_size(&host.peer) >= before - 512);
    CU_ASSERT(tg_peer_memory_size(&host.peer) <= before);
    host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"method\":"
                            "\"$/cancelRequest\",\"params\":{\"id\":2}}\n"));
    HELP_EQ(host_take(&host), "[" TEST_RESULT("1") "," TEST_RESULT("3") "]\n");
    CU_ASSERT(tg_peer_memory_size(&host.peer) == host.peer.out.cap);
    host_deinit(&host);
}

#define TEST_LISTEN(id)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"subscriptions/listen\","  \
    "\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{"    \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","              \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n"
#define TEST_UNLISTEN(id)                                                      \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","             \
    "\"params\":{\"requestId\":" id "}}\n"
#define TEST_ID "\"a subscription, with an id\""

/* Kept until the client unsubscribes, also in another process. */
HELP_TEST(subscriptions_kept, "kept subscriptions")
{
    size_t before, each;
    host_t host;
    int i;

    host_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC, 65536, 4);
    host_feed(&host, TG_STR(TEST_LISTEN("0")));
    (void) host_take(&host);
    each = tg_peer_memory_size(&host.peer) - host.peer.out.cap;
    CU_ASSERT(each > sizeof(tg_str_t));
    host_feed(&host, TG_STR(TEST_LISTEN(TEST_ID)));
    (void) host_take(&host);
    before = tg_peer_memory_size(&host.peer) - host.peer.out.cap;
    CU_ASSERT(before == 2 * each + strlen(TEST_ID) - 1);

    for (i = 0; i < 2; i++) {
        CU_ASSERT(host_move(&host) == TG_OK);
        CU_ASSERT(tg_peer_memory_size(&host.peer) - host.peer.out.cap
                  == before);
    }

    host_feed(&host, TG_STR(TEST_UNLISTEN(TEST_ID)));
    CU_ASSERT(tg_peer_memory_size(&host.peer) - host.peer.out.cap == each);
    host_feed(&host, TG_STR(TEST_UNLISTEN("0")));
    CU_ASSERT(tg_peer_memory_size(&host.peer) == host.peer.out.cap);
    host_deinit(&host);
}
