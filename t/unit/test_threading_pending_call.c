/* Pending calls: one reply and the newest progress, from any thread. */
#include "protocol_help.h"

#include "threading/tg_threading.h"

#include <pthread.h>

#define TEST_THREADS 8
#define TEST_CALLS 500

typedef struct {
    tg_pending_call_t pending; /* first */
    char inline_text[TG_PENDING_CALL_INLINE_MAX];
    uint64_t number;
    unsigned nreplies;
    unsigned ntold;
    uint64_t progress;
    char text[512];
    char type[32];
    int64_t code;
} test_call_t;

typedef struct {
    tg_mailbox_t mailbox;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    unsigned nwoken;
} test_loop_t;

static void
test_wake(void *host)
{
    test_loop_t *loop = host;

    pthread_mutex_lock(&loop->mutex);
    loop->nwoken++;
    pthread_cond_signal(&loop->cond);
    pthread_mutex_unlock(&loop->mutex);
}

static void
test_loop_init(test_loop_t *loop)
{
    memset(loop, 0, sizeof(*loop));
    pthread_mutex_init(&loop->mutex, NULL);
    pthread_cond_init(&loop->cond, NULL);
    tg_mailbox_init(&loop->mailbox, test_wake, loop);
}

static void
test_copy(char *to, size_t size, tg_str_t text)
{
    size = text.len < size ? text.len : size - 1;
    memcpy(to, text.data != NULL ? text.data : "", size);
    to[size] = '\0';
}

static void
test_arrived(tg_pending_call_t *pending, const tg_pending_call_reply_t *reply,
             const tg_pending_call_progress_t *progress)
{
    test_call_t *call = (test_call_t *) pending;

    if (reply == NULL) {
        call->ntold++;
        call->progress = progress->progress;
        return;
    }

    call->nreplies++;
    test_copy(call->text, sizeof(call->text), reply->text);
    test_copy(call->type, sizeof(call->type), reply->type);
    call->code = reply->code;
}

static void
test_open(test_call_t *call, test_loop_t *loop)
{
    memset(call, 0, sizeof(*call));
    call->pending.on_arrival = test_arrived;
    call->pending.inline_text = call->inline_text;
    call->number = tg_pending_call_open(&call->pending, &loop->mailbox);
}

static int
test_reply(uint64_t number, const char *text)
{
    tg_pending_call_reply_t reply;
    const char *why;

    memset(&reply, 0, sizeof(reply));
    reply.text = tg_str_from_cstr(text);

    return tg_pending_call_reply(number, &reply, &why);
}

HELP_TEST(one_reply, "one reply; late replies are harmless")
{
    test_call_t call, other;
    test_loop_t loop;

    test_loop_init(&loop);
    test_open(&call, &loop);
    test_open(&other, &loop);
    CU_ASSERT(call.number != other.number);
    tg_pending_call_enable_delivery(&call.pending);
    tg_pending_call_enable_delivery(&other.pending);
    CU_ASSERT(tg_pending_call_is_open(call.number));
    CU_ASSERT(test_reply(call.number, "one") == TG_OK);
    CU_ASSERT(loop.nwoken == 1);
    CU_ASSERT(!tg_pending_call_is_open(call.number));
    CU_ASSERT(test_reply(call.number, "two") == TG_CLOSED);
    CU_ASSERT(tg_pending_call_progress(call.number, 1, 0, NULL) == TG_CLOSED);
    CU_ASSERT(call.nreplies == 0);
    CU_ASSERT(tg_mailbox_deliver(&loop.mailbox) == 0);
    CU_ASSERT(call.nreplies == 1 && other.nreplies == 0);
    CU_ASSERT_STRING_EQUAL(call.text, "one");
    CU_ASSERT(test_reply(call.number, "three") == TG_CLOSED);
    CU_ASSERT(tg_pending_call_close(&call.pending) == 0);

    CU_ASSERT(tg_pending_call_close(&other.pending) == 1);
    CU_ASSERT(test_reply(other.number, "x") == TG_CLOSED);
    CU_ASSERT(tg_pending_call_close(&other.pending) == 0);
    CU_ASSERT(test_reply(UINT64_MAX, "x") == TG_CLOSED);
}

HELP_TEST(held, "a reply before the call was deferred")
{
    tg_pending_call_reply_t reply, again;
    const char *why;
    test_call_t call;
    test_loop_t loop;

    test_loop_init(&loop);
    test_open(&call, &loop);
    CU_ASSERT(tg_pending_call_take_reply(&call.pending, &reply) == 0);
    CU_ASSERT(test_reply(call.number, "") == TG_OK);
    CU_ASSERT(loop.nwoken == 0);

    /* A reply from its own thread is final at once, and marked as such. */
    memset(&again, 0, sizeof(again));
    CU_ASSERT(tg_pending_call_reply(call.number, &again, &why) == TG_CLOSED);
    CU_ASSERT_STRING_EQUAL(why, "which has already been answered");
    CU_ASSERT(tg_pending_call_take_reply(&call.pending, &reply) == 1);
    CU_ASSERT(reply.text.len == 0 && reply.thread_message == NULL);
    CU_ASSERT(tg_pending_call_close(&call.pending) == 0);

    /* It arrives unnoticed and is found when the call is released. */
    test_open(&call, &loop);
    CU_ASSERT(tg_pending_call_take_reply(&call.pending, &reply) == 0);
    CU_ASSERT(test_reply(call.number, "late") == TG_OK);
    tg_pending_call_enable_delivery(&call.pending);
    CU_ASSERT(loop.nwoken == 1);
    (void) tg_mailbox_deliver(&loop.mailbox);
    CU_ASSERT_STRING_EQUAL(call.text, "late");
}

HELP_TEST(letters, "large replies, and replies with more members")
{
    char large[TG_PENDING_CALL_INLINE_MAX + 2];
    tg_pending_call_reply_t reply;
    const char *why;
    test_call_t call;
    test_loop_t loop;

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    test_loop_init(&loop);
    test_open(&call, &loop);
    tg_pending_call_enable_delivery(&call.pending);
    CU_ASSERT(test_reply(call.number, large) == TG_OK);
    (void) tg_mailbox_deliver(&loop.mailbox);
    CU_ASSERT_STRING_EQUAL(call.text, large);

    /* Without a text, it is still a reply. */
    test_open(&call, &loop);
    tg_pending_call_enable_delivery(&call.pending);
    memset(&reply, 0, sizeof(reply));
    reply.type = TG_STR("KeyError");
    reply.code = -32000;
    CU_ASSERT(tg_pending_call_reply(call.number, &reply, &why) == TG_OK);
    (void) tg_mailbox_deliver(&loop.mailbox);
    CU_ASSERT(call.nreplies == 1);
    CU_ASSERT_STRING_EQUAL(call.type, "KeyError");
    CU_ASSERT(call.code == -32000);

    /* Unnoticed, it is freed with the call. */
    test_open(&call, &loop);
    tg_pending_call_enable_delivery(&call.pending);
    CU_ASSERT(test_reply(call.number, large) == TG_OK);
    CU_ASSERT(tg_pending_call_close(&call.pending) == 0);
    (void) tg_mailbox_deliver(&loop.mailbox);
    CU_ASSERT(call.nreplies == 0);
}

HELP_TEST(progress, "the newest progress, a few times per second")
{
    test_call_t call, other;
    test_loop_t loop;

    test_loop_init(&loop);
    test_open(&call, &loop);
    test_open(&other, &loop);
    tg_pending_call_enable_delivery(&call.pending);
    tg_pending_call_enable_delivery(&other.pending);
    CU_ASSERT(tg_pending_call_progress(call.number, 1, 9, "one") == TG_OK);
    CU_ASSERT(tg_pending_call_progress(call.number, 2, 9, "two") == TG_OK);
    CU_ASSERT(tg_mailbox_deliver(&loop.mailbox) == 1);
    CU_ASSERT(call.ntold == 1 && call.progress == 2);

    /* Progress waits from now on; a reply does not. */
    CU_ASSERT(tg_pending_call_progress(call.number, 3, 0, NULL) == TG_OK);
    CU_ASSERT(tg_pending_call_progress(other.number, 4, 0, NULL) == TG_OK);
    CU_ASSERT(tg_mailbox_deliver(&loop.mailbox) == 0);
    CU_ASSERT(call.ntold == 1 && other.ntold == 0);
    CU_ASSERT(test_reply(other.number, "done") == TG_OK);
    CU_ASSERT(tg_mailbox_deliver(&loop.mailbox) == 0);
    CU_ASSERT(other.nreplies == 1 && other.ntold == 0);
    CU_ASSERT(tg_mailbox_deliver_paced(&loop.mailbox) == 1);
    CU_ASSERT(call.ntold == 2 && call.progress == 3);
    CU_ASSERT(tg_mailbox_deliver_paced(&loop.mailbox) == 0);
    CU_ASSERT(tg_pending_call_progress(call.number, 5, 0, "left behind")
              == TG_OK);
    CU_ASSERT(tg_pending_call_close(&call.pending) == 1);
}

HELP_TEST(closed, "a closed queue wakes no loop")
{
    test_call_t call;
    test_loop_t loop;

    test_loop_init(&loop);
    test_open(&call, &loop);
    tg_mailbox_close(&loop.mailbox);
    CU_ASSERT(test_reply(call.number, "x") == TG_CLOSED);
    CU_ASSERT(!tg_pending_call_is_open(call.number));
    tg_pending_call_enable_delivery(&call.pending);
    CU_ASSERT(tg_pending_call_close(&call.pending) == 1);
    CU_ASSERT(loop.nwoken == 0);
}

HELP_TEST(values, "progress as JSON")
{
    tg_pending_call_progress_t progress = { 3, 0, NULL };
    tg_progress_values_t values;
    HELP_BUFFER(text);

    tg_progress_values_write_json(&progress, &text, &values);
    HELP_EQ(values.progress, "3");
    CU_ASSERT(values.total.data == NULL && values.message.data == NULL);
    progress.total = 10;
    progress.message = tg_thread_message_new(0, TG_STR("a \"b\""));
    tg_buf_truncate(&text, 0);
    tg_progress_values_write_json(&progress, &text, &values);
    HELP_EQ(values.progress, "3");
    HELP_EQ(values.total, "10");
    HELP_EQ(values.message, "\"a \\\"b\\\"\"");
    tg_thread_message_free(progress.message);
}

/* --- many threads --- */

static test_call_t test_calls[TEST_CALLS];
static unsigned test_accepted[TEST_THREADS];

/* All threads reply to all calls, and all but one are too late. */
static void *
test_thread(void *arg)
{
    unsigned *accepted = arg;
    char text[300];
    size_t i;

    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';

    for (i = 0; i < TEST_CALLS; i++) {
        (void) tg_pending_call_progress(test_calls[i].number, 1, 0, "on");
        *accepted += test_reply(test_calls[i].number, i % 2 ? text : "z")
                     == TG_OK;
    }

    return NULL;
}

static size_t
test_completed(void)
{
    size_t i, n;

    for (i = 0, n = 0; i < TEST_CALLS; i++) {
        n += test_calls[i].nreplies;
    }

    return n;
}

static int
test_slice_is_over(void *host, size_t bytes)
{
    return bytes == 3;
}

HELP_TEST(slices, "a time slice ends after one call, the others wait")
{
    test_call_t calls[3];
    test_loop_t loop;
    size_t i;

    test_loop_init(&loop);
    loop.mailbox.is_slice_over = test_slice_is_over;

    for (i = 0; i < 3; i++) {
        test_open(&calls[i], &loop);
        tg_pending_call_enable_delivery(&calls[i].pending);
    }

    CU_ASSERT(test_reply(calls[0].number, "a") == TG_OK);
    CU_ASSERT(test_reply(calls[1].number, "one") == TG_OK);
    CU_ASSERT(test_reply(calls[2].number, "two") == TG_OK);
    (void) tg_mailbox_deliver(&loop.mailbox);
    CU_ASSERT(calls[0].nreplies == 1 && calls[1].nreplies == 1);
    CU_ASSERT(calls[2].nreplies == 0);
    (void) tg_mailbox_deliver(&loop.mailbox);
    CU_ASSERT(calls[2].nreplies == 1);
}

HELP_TEST(threads, "threads that reply to the same calls")
{
    pthread_t threads[TEST_THREADS];
    test_loop_t loop;
    unsigned naccepted;
    size_t i;

    test_loop_init(&loop);

    for (i = 0; i < TEST_CALLS; i++) {
        test_open(&test_calls[i], &loop);
        tg_pending_call_enable_delivery(&test_calls[i].pending);
    }

    for (i = 0; i < TEST_THREADS; i++) {
        CU_ASSERT_FATAL(
            pthread_create(&threads[i], NULL, test_thread, &test_accepted[i])
            == 0);
    }

    while (test_completed() < TEST_CALLS) {
        pthread_mutex_lock(&loop.mutex);

        while (loop.nwoken == 0) {
            pthread_cond_wait(&loop.cond, &loop.mutex);
        }

        loop.nwoken = 0;
        pthread_mutex_unlock(&loop.mutex);
        (void) tg_mailbox_deliver(&loop.mailbox);
    }

    naccepted = 0;

    for (i = 0; i < TEST_THREADS; i++) {
        pthread_join(threads[i], NULL);
        naccepted += test_accepted[i];
    }

    (void) tg_mailbox_deliver_paced(&loop.mailbox);
    CU_ASSERT(naccepted == TEST_CALLS);
    CU_ASSERT(test_completed() == TEST_CALLS);
}
