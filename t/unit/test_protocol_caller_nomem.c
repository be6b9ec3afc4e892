/*
 * A caller whose memory ends at each allocation in turn: an accepted request
 * gets one response, a refused one an immediate error, nothing is left.
 */
#include "protocol_help.h"

#include "protocol/tg_caller.h"

#define TEST_REQUESTS 12
#define TEST_MAX 65536

typedef struct {
    tg_caller_t caller;
    unsigned responses[TEST_REQUESTS];
    int is_sent[TEST_REQUESTS];
    uint64_t ids[TEST_REQUESTS];
} test_end_t;

static tg_dialect_t test_dialect;

static void
test_on_response(void *host, void *tag, const tg_response_t *answer)
{
    unsigned *responses = tag;

    ++*responses;
}

static const tg_caller_ops_t test_ops = { .answer = test_on_response };

static void
test_send(test_end_t *end, unsigned i, int may_fail)
{
    int rc;

    if (test_dialect != TG_DIALECT_IPC && i % 3 == 2) {
        rc = tg_caller_send_request(&end->caller, TG_STR("tools/list"),
                                    TG_STR_NONE, &end->responses[i],
                                    &end->ids[i]);
    } else {
        rc = tg_caller_call_tool(&end->caller, TG_STR("echo"),
                                 TG_STR("{\"text\":\"hi\"}"), TG_STR_NONE,
                                 &end->responses[i], &end->ids[i]);
    }

    CU_ASSERT(rc == TG_OK || (rc == TG_NOMEM && may_fail));
    end->is_sent[i] = rc == TG_OK;
}

/* Responds to the oldest request, or to the one with this id. */
static int
test_response(test_end_t *end, uint64_t id)
{
    char prefix[TG_FRAME_PREFIX_SIZE];
    size_t consumed;
    HELP_BUFFER(text);
    int rc;

    if (test_dialect == TG_DIALECT_IPC) {
        tg_frame_write_prefix(prefix, strlen("{\"result\":{}}"));
        tg_buf_append(&text, prefix, sizeof(prefix));
        tg_buf_append_cstr(&text, "{\"result\":{}}");
    } else {
        tg_buf_append_cstr(&text, test_dialect == TG_DIALECT_RELAY
                                      ? "{\"kind\":\"mcp_response\",\"id\":"
                                      : "{\"jsonrpc\":\"2.0\",\"id\":");
        tg_buf_append_uint(&text, id);
        tg_buf_append_cstr(&text, ",\"result\":{}}\n");
    }

    rc = tg_caller_handle_input(&end->caller, text.data, text.len, &consumed);

    return rc;
}

static void
test_talk(test_end_t *end, int may_fail)
{
    unsigned i;
    int rc;

    for (i = 0; i < TEST_REQUESTS; i++) {
        test_send(end, i, may_fail);
    }

    /* One request is cancelled, two get responses, the others are lost. */
    if (end->is_sent[1]) {
        rc = tg_caller_cancel_request(&end->caller, end->ids[1], 1);
        CU_ASSERT(rc == TG_OK || (rc == TG_NOMEM && may_fail));
        end->is_sent[1] = 0;
    }

    if (end->is_sent[0]) {
        CU_ASSERT(test_response(end, end->ids[0]) == TG_OK);
    }

    if (end->is_sent[2]) {
        CU_ASSERT(test_response(end, end->ids[2]) == TG_OK);
    }

    tg_caller_on_disconnect(&end->caller);
    CU_ASSERT(end->caller.npending == 0);

    /* A new connection. */
    CU_ASSERT(end->caller.out.len == 0);
    end->responses[3] = 0;
    test_send(end, 3, may_fail);
}

static void
test_run(const tg_alloc_t *alloc, int may_fail)
{
    test_end_t end;
    unsigned i;

    memset(&end, 0, sizeof(end));
    tg_caller_init(&end.caller, alloc, &test_ops, &end, test_dialect, TEST_MAX);
    test_talk(&end, may_fail);
    tg_caller_on_disconnect(&end.caller);

    for (i = 0; i < TEST_REQUESTS; i++) {
        CU_ASSERT(end.responses[i] == (unsigned) end.is_sent[i]);
    }

    tg_caller_deinit(&end.caller);
}

HELP_TEST(jsonrpc, "jsonrpc")
{
    test_dialect = TG_DIALECT_JSONRPC;
    help_each_failure(test_run);
}

HELP_TEST(relay, "relay")
{
    test_dialect = TG_DIALECT_RELAY;
    help_each_failure(test_run);
}

HELP_TEST(ipc, "ipc")
{
    test_dialect = TG_DIALECT_IPC;
    help_each_failure(test_run);
}
