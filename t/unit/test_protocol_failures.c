/* Failed calls in each dialect, a backend's own error, and dropped calls. */
#include "protocol_host_talk.h"

typedef struct {
    tg_failure_t failure;
    const char *type; /* ipc: class of the exception */
    int code;         /* jsonrpc: error code of a method */
} test_failure_t;

static const test_failure_t test_failures[] = {
    { TG_FAILURE_UNKNOWN, "ToolNotFoundError", -32601 },
    { TG_FAILURE_ARGUMENTS, "ValidationError", -32602 },
    { TG_FAILURE_PROGRAM, "CalledProcessError", -32603 },
    { TG_FAILURE_TIMEOUT, "TimeoutError", -32603 },
    { TG_FAILURE_LOST, "ConnectionError", -32603 },
    { TG_FAILURE_BUSY, "BlockingIOError", -32603 },
    { TG_FAILURE_ENDED, "CancelledError", -32603 },
    { TG_FAILURE_OUTPUT, "ValueError", -32603 },
    { TG_FAILURE_INTERNAL, "RuntimeError", -32603 },
};

#define TEST_N (HELP_COUNT(test_failures))
#define TEST_METHOD                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hang.status\"}\n"

static void
test_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect)
{
    host_init(host, alloc, dialect, 1 << 20, 64);
}

/* Starts a call that hangs; NULL if out of memory. */
static tg_call_t *
test_call(host_t *host, tg_dialect_t dialect)
{
    tg_call_t *call;
    HELP_BUFFER(frame);

    if (dialect == TG_DIALECT_IPC) {
        host_put_ipc(&frame, TG_STR("{\"method\":\"call_tool\",\"params\":{"
                                    "\"name\":\"hang\",\"arguments\":{}}}"));
    } else {
        tg_buf_append_cstr(&frame, TEST_METHOD);
    }

    host_feed(host, tg_buf_view(&frame));
    call = host->ndeferred != 0 ? host->deferred[0] : NULL;

    if (call != NULL) {
        host_forget(host, call);
    }

    return call;
}

HELP_TEST(words, "words")
{
    tg_outcome_t outcome;
    char expected[256];
    tg_call_t *call;
    host_t host;
    tg_str_t got;
    size_t i;

    for (i = 0; i < TEST_N; i++) {
        outcome = tg_outcome_make_failure(test_failures[i].failure, "no");

        test_init(&host, tg_alloc_libc(), TG_DIALECT_IPC);
        call = test_call(&host, TG_DIALECT_IPC);
        CU_ASSERT_PTR_NOT_NULL_FATAL(call);
        tg_call_respond(call, &outcome);
        snprintf(expected, sizeof(expected),
                 "{\"error\":{\"type\":\"%s\",\"message\":\"no\"}}",
                 test_failures[i].type);
        got = host_take(&host);
        CU_ASSERT_FATAL(got.len > TG_FRAME_PREFIX_SIZE);
        HELP_JSON(tg_str(got.data + TG_FRAME_PREFIX_SIZE,
                         got.len - TG_FRAME_PREFIX_SIZE),
                  expected);
        host_deinit(&host);

        test_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC);
        call = test_call(&host, TG_DIALECT_JSONRPC);
        CU_ASSERT_PTR_NOT_NULL_FATAL(call);
        tg_call_respond(call, &outcome);
        snprintf(expected, sizeof(expected),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":%d,"
                 "\"message\":\"no\"}}",
                 test_failures[i].code);
        got = host_take(&host);
        HELP_JSON(tg_str(got.data, got.len - 1), expected);
        host_deinit(&host);
    }
}

/* --- a backend's own error --- */

static tg_dialect_t test_dialect;

static void
test_run_error(const tg_alloc_t *alloc, int may_fail)
{
    tg_call_t *call;
    host_t host;

    test_init(&host, alloc, test_dialect);
    call = test_call(&host, test_dialect);
    CU_ASSERT(call != NULL || may_fail);

    if (call != NULL) {
        tg_call_respond_error(call, -32602, TG_STR("\\u006eo"), TG_STR_NONE);
        CU_ASSERT(may_fail || !tg_buf_has_failed(&host.peer.out));
    }

    host_deinit(&host);
}

HELP_TEST(error, "a backend's error")
{
    test_dialect = TG_DIALECT_JSONRPC;
    help_each_failure(test_run_error);
    test_dialect = TG_DIALECT_IPC;
    help_each_failure(test_run_error);
}

HELP_TEST(forget, "the client gets no reply, and the id is free again")
{
    tg_call_t *call;
    host_t host;

    test_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC);
    call = test_call(&host, TG_DIALECT_JSONRPC);
    CU_ASSERT_PTR_NOT_NULL_FATAL(call);
    tg_call_forget(call);
    CU_ASSERT(HOST_IS_IDLE(&host));
    HELP_EQ(host_take(&host), "");
    host_deinit(&host);
    CU_ASSERT(host.ncancelled == 0);
}
