/*
 * A peer and a caller that talk in memory, in every dialect, in pieces of odd
 * sizes, and with memory that runs out: every call gets exactly one response,
 * its own.
 */
#include "protocol_host_talk.h"

#include "protocol/tg_caller.h"

#define TEST_CALLS 60
#define TEST_MAX (1u << 20)
#define TEST_LARGE 70000

typedef enum {
    TEST_ECHO,
    TEST_LARGE_ECHO,
    TEST_FAIL,
    TEST_SLOW,
    TEST_JSON,
    TEST_UNKNOWN,
    TEST_HANG, /* cancelled, so without a response */
    TEST_TYPES
} test_type_t;

typedef struct {
    test_type_t kind;
    char text[32];
    uint64_t id;
    unsigned responses;
    int is_sent;
} test_job_t;

typedef struct {
    host_t host;
    tg_caller_t caller;
    tg_buf_t to_caller; /* not consumed by the caller yet */
    test_job_t jobs[TEST_CALLS];
    unsigned notifications;
    unsigned shutdown_notices;
    unsigned lost;
    int rc;       /* result of the last tg_caller_input() */
    size_t there; /* bytes per write to the peer */
    size_t back;  /* bytes per write to the caller */
    size_t njobs;
    int may_fail; /* memory runs out: responses may be errors */
} test_talk_t;

static tg_dialect_t test_dialect;
static char test_large[TEST_LARGE];

/* --- responses --- */

/* Returns the first text of a result or the message of an error. */
static tg_str_t
test_text(const tg_response_t *answer)
{
    tg_str_t content, block, text;
    tg_json_cursor_t json;

    if (answer->kind == TG_RESPONSE_ERROR) {
        return answer->message;
    }

    if (tg_json_get_member(answer->result, TG_STR("content"), &content)
        != TG_OK) {
        return TG_STR_NONE;
    }

    tg_json_init(&json, content);

    if (tg_json_enter_array(&json) != TG_OK
        || tg_json_next_element(&json) != TG_OK
        || tg_json_read_value(&json, &block) != TG_OK
        || tg_json_get_member(block, TG_STR("text"), &text) != TG_OK)
    {
        return TG_STR_NONE;
    }

    return tg_json_string_body(text);
}

static int
test_is_right(const test_job_t *job, const tg_response_t *answer)
{
    tg_str_t text;
    const char *word;

    text = test_text(answer);

    switch (job->kind) {
    case TEST_ECHO:
        return tg_str_eq(text, tg_str_from_cstr(job->text));
    case TEST_LARGE_ECHO:
        return text.len == TEST_LARGE
               && memcmp(text.data, test_large, TEST_LARGE) == 0;
    case TEST_JSON:
        return tg_json_body_eq_text(text, TG_STR("{\"a\":1}"));
    case TEST_FAIL:
        word = "no luck";
        break;
    case TEST_SLOW:
        word = "in time";
        break;
    case TEST_UNKNOWN:
        word = "Unknown tool: nothing";
        break;
    default:
        return 0;
    }

    return strstr(help_text(text), word) != NULL;
}

static void
test_on_response(void *ctx, void *tag, const tg_response_t *answer)
{
    test_talk_t *talk;
    test_job_t *job;

    talk = ctx;
    job = tag;
    job->responses++;

    if (answer->kind == TG_RESPONSE_LOST
        || answer->kind == TG_RESPONSE_NOT_STARTED) {
        talk->lost++;
        return;
    }

    CU_ASSERT(test_is_right(job, answer)
              || (talk->may_fail && answer->kind == TG_RESPONSE_ERROR));
}

static void
test_on_notification(void *ctx, tg_str_t method, const tg_message_t *message)
{
    test_talk_t *talk = ctx;

    talk->notifications++;
    HELP_EQ(method, "notifications/tools/list_changed");
}

static void
test_on_shutdown_notice(void *ctx, tg_str_t reason, int is_drained)
{
    test_talk_t *talk = ctx;

    talk->shutdown_notices++;
    HELP_EQ(reason, "bye");
    CU_ASSERT(is_drained == (test_dialect == TG_DIALECT_JSONRPC));
}

static const tg_caller_ops_t test_ops = {
    .answer = test_on_response,
    .notification = test_on_notification,
    .on_shutdown_notice = test_on_shutdown_notice,
};

/* --- the wire --- */

static void
test_to_peer(test_talk_t *talk)
{
    tg_buf_t *out;
    size_t n;

    out = &talk->caller.out;
    n = out->len < talk->there ? out->len : talk->there;
    host_feed(&talk->host, tg_str(out->data, n));
    tg_caller_count_written(&talk->caller, n);
    tg_buf_consume(out, n);
}

static void
test_to_caller(test_talk_t *talk)
{
    tg_buf_t *out;
    size_t n, consumed;
    char *copy;

    out = &talk->host.peer.out;
    n = out->len < talk->back ? out->len : talk->back;
    tg_buf_append(&talk->to_caller, out->data, n);
    tg_buf_consume(out, n);
    copy = help_copy(tg_buf_view(&talk->to_caller));
    talk->rc = tg_caller_handle_input(&talk->caller, copy, talk->to_caller.len,
                                      &consumed);
    free(copy);
    tg_buf_consume(&talk->to_caller, consumed);
}

static int
test_is_broken(const test_talk_t *talk)
{
    return talk->host.rc == TG_NOMEM || talk->rc == TG_NOMEM
           || tg_buf_has_failed(&talk->host.peer.out)
           || tg_buf_has_failed(&talk->caller.out);
}

/* Moves bytes until none are left, or a side fails. */
static void
test_pump(test_talk_t *talk)
{
    while (!test_is_broken(talk)) {
        if (talk->caller.out.len != 0) {
            test_to_peer(talk);

        } else if (talk->host.peer.out.len != 0) {
            test_to_caller(talk);

            if (talk->host.rc == TG_LIMIT) {
                host_feed(&talk->host, TG_STR(""));
            }

        } else if (!host_fire(&talk->host)) {
            break;
        }
    }
}

/* --- the conversation --- */

static int
test_run_query(test_talk_t *talk, test_job_t *job)
{
    static const char *const names[] = { "echo", "echo",    "fail", "slow",
                                         "json", "nothing", "hang" };
    HELP_BUFFER(arguments);
    int rc;

    tg_buf_append_cstr(&arguments, "{\"text\":");
    tg_json_write_string(&arguments, job->kind == TEST_LARGE_ECHO
                                         ? tg_str(test_large, TEST_LARGE)
                                         : tg_str_from_cstr(job->text));
    tg_buf_append_char(&arguments, '}');
    rc = tg_caller_call_tool(&talk->caller, tg_str_from_cstr(names[job->kind]),
                             tg_buf_view(&arguments), TG_STR_NONE, job,
                             &job->id);
    job->is_sent = rc == TG_OK;

    return rc;
}

static void
test_talk_init(test_talk_t *talk, const tg_alloc_t *alloc, size_t there,
               size_t back)
{
    memset(talk, 0, sizeof(*talk));
    host_init(&talk->host, alloc, TG_DIALECT_AUTO, TEST_MAX, 32);
    tg_caller_init(&talk->caller, alloc, &test_ops, talk, test_dialect,
                   TEST_MAX);
    tg_buf_init(&talk->to_caller, tg_alloc_libc());
    talk->njobs = TEST_CALLS;
    talk->there = there;
    talk->back = back;
    talk->host.is_copying = there > 16;
}

static void
test_talk_deinit(test_talk_t *talk)
{
    tg_caller_deinit(&talk->caller);
    host_deinit(&talk->host);
    tg_buf_deinit(&talk->to_caller);
}

static void
test_talk(test_talk_t *talk, int has_large)
{
    test_job_t *job;
    size_t i;

    /* relay and jsonrpc differ in their first line; ipc begins with 0x00. */
    (void) tg_caller_send_hello(&talk->caller, 0);

    for (i = 0; i < talk->njobs; i++) {
        job = &talk->jobs[i];
        job->kind = (test_type_t) (i % TEST_TYPES);
        snprintf(job->text, sizeof(job->text), "text %zu", i);

        if ((job->kind == TEST_LARGE_ECHO && !has_large)
            || (job->kind == TEST_HANG && test_dialect != TG_DIALECT_JSONRPC))
        {
            job->kind = TEST_ECHO;
        }

        if (test_run_query(talk, job) != TG_OK) {
            CU_ASSERT(talk->may_fail);
        } else if (job->kind == TEST_HANG) {
            CU_ASSERT(tg_caller_cancel_request(&talk->caller, job->id, 1)
                          == TG_OK
                      || talk->may_fail);
            job->is_sent = 0;
        }

        /* Bytes move only sometimes; the rest is pipelined. */
        if (i % 10 == 9) {
            test_pump(talk);
        }

        if (test_is_broken(talk)) {
            break;
        }
    }

    test_pump(talk);
}

static void
test_is_complete(const test_talk_t *talk)
{
    size_t i;

    for (i = 0; i < talk->njobs; i++) {
        CU_ASSERT(talk->jobs[i].responses == (unsigned) talk->jobs[i].is_sent);
    }

    CU_ASSERT(talk->caller.npending == 0);
}

static void
test_sizes(void)
{
    static const size_t sizes[] = { 1, 2, 3, 7, 64, 4093, 1 << 20 };
    test_talk_t talk;
    size_t i, k, n;

    n = HELP_COUNT(sizes);

    for (i = 0; i < n; i++) {
        for (k = 0; k < n; k++) {
            test_talk_init(&talk, tg_alloc_libc(), sizes[i], sizes[k]);
            test_talk(&talk, sizes[i] > 1000 && sizes[k] > 1000);
            test_is_complete(&talk);
            CU_ASSERT(talk.lost == 0);
            CU_ASSERT(talk.host.peer.dialect == test_dialect);
            CU_ASSERT(HOST_IS_IDLE(&talk.host));
            test_talk_deinit(&talk);
        }
    }
}

HELP_TEST(in_ipc, "ipc")
{
    test_dialect = TG_DIALECT_IPC;
    test_sizes();
}

HELP_TEST(in_jsonrpc, "jsonrpc")
{
    test_dialect = TG_DIALECT_JSONRPC;
    test_sizes();
}

HELP_TEST(in_relay, "relay")
{
    test_dialect = TG_DIALECT_RELAY;
    test_sizes();
}

/* Notifications, then a shutdown notice with unread calls. */
HELP_TEST(shutdown_notice, "shutdown notice")
{
    static const tg_dialect_t dialects[] = { TG_DIALECT_JSONRPC,
                                             TG_DIALECT_RELAY };
    test_talk_t talk;
    size_t i;

    for (i = 0; i < 2; i++) {
        test_dialect = dialects[i];
        test_talk_init(&talk, tg_alloc_libc(), 5, 5);
        CU_ASSERT(tg_caller_send_hello(&talk.caller, 0) == TG_OK);
        CU_ASSERT(test_run_query(&talk, &talk.jobs[0]) == TG_OK);
        test_pump(&talk);
        talk.host.peer.is_legacy = 1;
        tg_peer_notify_list_changed(&talk.host.peer, TG_ENTRY_TOOL);
        tg_peer_send_shutdown_notice(&talk.host.peer, TG_STR("bye"));
        CU_ASSERT(test_run_query(&talk, &talk.jobs[1]) == TG_OK);
        CU_ASSERT(test_run_query(&talk, &talk.jobs[2]) == TG_OK);
        test_pump(&talk);
        CU_ASSERT(talk.notifications == 1 && talk.shutdown_notices == 1);
        CU_ASSERT(talk.host.rc == TG_CLOSED && talk.rc == TG_CLOSED);
        CU_ASSERT(talk.jobs[1].responses == 0);
        CU_ASSERT(talk.host.ncalls == 1);
        tg_caller_on_disconnect(&talk.caller);
        CU_ASSERT(talk.lost == 2);
        test_is_complete(&talk);
        test_talk_deinit(&talk);
    }
}

/* --- no memory --- */

static void
test_run(const tg_alloc_t *alloc, int may_fail)
{
    test_talk_t talk;

    test_talk_init(&talk, alloc, 4099, 4093);
    talk.njobs = 2 * TEST_TYPES;
    talk.may_fail = may_fail;
    test_talk(&talk, 1);

    /* A failed side is closed, and every caller is notified. */
    if (test_is_broken(&talk)) {
        CU_ASSERT(may_fail);
        tg_caller_on_disconnect(&talk.caller);
    }

    test_is_complete(&talk);
    test_talk_deinit(&talk);
}

HELP_TEST(no_memory, "no memory")
{
    static const tg_dialect_t dialects[] = { TG_DIALECT_IPC, TG_DIALECT_JSONRPC,
                                             TG_DIALECT_RELAY };
    size_t i;

    for (i = 0; i < 3; i++) {
        test_dialect = dialects[i];
        help_each_failure(test_run);
    }
}

int
help_begin(void)
{
    memset(test_large, 'L', TEST_LARGE);

    return 0;
}
