/* Pending requests: by id, in order, in any number. */
#include "protocol_help.h"

#include "protocol/tg_caller_impl.h"

#define TEST_MANY 10000

static void
test_response(void *host, void *tag, const tg_response_t *answer)
{
    size_t *n;

    CU_ASSERT(answer->kind == TG_RESPONSE_NOT_STARTED);
    n = host;
    CU_ASSERT(tag == n + *n);
    ++*n;
}

static const tg_caller_ops_t test_ops = { .answer = test_response };

static void
test_init(tg_caller_t *caller, const tg_alloc_t *alloc, void *host)
{
    tg_caller_init(caller, alloc, &test_ops, host, TG_DIALECT_JSONRPC, 65536);
}

HELP_TEST(many, "many")
{
    tg_caller_t caller;
    tg_pending_request_t *pending;
    help_alloc_t help;
    uint64_t id;

    help_alloc_init(&help);
    test_init(&caller, &help.alloc, NULL);
    CU_ASSERT(tg_pending_find(&caller, 1) == NULL);

    for (id = 1; id <= TEST_MANY; id++) {
        pending = tg_pending_add(&caller, &help);
        CU_ASSERT_FATAL(pending != NULL && pending->id == id);
    }

    /* Removes every third, in reverse order. */
    for (id = TEST_MANY - TEST_MANY % 3; id >= 3; id -= 3) {
        tg_pending_remove(&caller, tg_pending_find(&caller, id));
    }

    for (id = 0; id <= TEST_MANY + 1; id++) {
        pending = tg_pending_find(&caller, id);

        if (id % 3 == 0 || id > TEST_MANY) {
            CU_ASSERT(pending == NULL);
        } else {
            CU_ASSERT(pending != NULL && pending->id == id);
        }
    }

    CU_ASSERT(tg_pending_find(&caller, UINT64_MAX) == NULL);

    /* The rest is in the order of addition. */
    for (pending = caller.first, id = 1; pending != NULL;
         pending = pending->next) {
        CU_ASSERT(pending->id == id);
        id += id % 3 == 1 ? 1 : 2;
    }

    CU_ASSERT(caller.npending == TEST_MANY - TEST_MANY / 3);
    tg_caller_deinit(&caller);
    CU_ASSERT(help.live == 0);
}

HELP_TEST(ends, "removes the first, the last, the only request")
{
    tg_caller_t caller;
    tg_pending_request_t *a, *b, *c;

    test_init(&caller, tg_alloc_libc(), NULL);
    a = tg_pending_add(&caller, NULL);
    b = tg_pending_add(&caller, NULL);
    c = tg_pending_add(&caller, NULL);
    CU_ASSERT_FATAL(a != NULL && b != NULL && c != NULL);
    tg_pending_remove(&caller, a);
    CU_ASSERT(caller.first == b && b->prev == NULL);
    tg_pending_remove(&caller, c);
    CU_ASSERT(caller.last == b && b->next == NULL);
    tg_pending_remove(&caller, b);
    CU_ASSERT(caller.first == NULL && caller.last == NULL);
    CU_ASSERT(caller.npending == 0);
    a = tg_pending_add(&caller, NULL);
    CU_ASSERT_FATAL(a != NULL);
    CU_ASSERT(a->id == 4 && caller.first == a && caller.last == a);
    tg_caller_deinit(&caller);
}

HELP_TEST(lost_in_order, "lost in order")
{
    tg_caller_t caller;
    size_t n[101], i;

    n[0] = 0;
    test_init(&caller, tg_alloc_libc(), n);

    for (i = 0; i < 100; i++) {
        CU_ASSERT(tg_caller_send_request(&caller, TG_STR("m"), TG_STR_NONE,
                                         n + i, NULL)
                  == TG_OK);
    }

    tg_caller_on_disconnect(&caller);
    CU_ASSERT(n[0] == 100 && caller.npending == 0 && caller.out.len == 0);
    tg_caller_deinit(&caller);
}

static void
test_run(const tg_alloc_t *alloc, int may_fail)
{
    tg_caller_t caller;
    size_t i;

    test_init(&caller, alloc, NULL);

    for (i = 0; i < 40; i++) {
        if (tg_pending_add(&caller, NULL) == NULL) {
            CU_ASSERT(may_fail);
        }
    }

    CU_ASSERT(may_fail || caller.npending == 40);
    tg_caller_deinit(&caller);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run);
}

/* Writes the unsent messages, one per line. */
static void
test_unsent_response(void *host, void *tag, const tg_response_t *answer)
{
    tg_buf_t *log = host;

    (void) tag;
    tg_buf_append_str(log, answer->kind == TG_RESPONSE_LOST
                               ? TG_STR("lost")
                               : answer->unsent_message);
    tg_buf_append_char(log, '\n');
}

HELP_TEST(unsent_message, "messages that a connection did not send")
{
    static const tg_caller_ops_t ops = { .answer = test_unsent_response };
    tg_caller_t caller;
    HELP_BUFFER(log);

    tg_caller_init(&caller, tg_alloc_libc(), &ops, &log, TG_DIALECT_JSONRPC,
                   65536);
    CU_ASSERT(
        tg_caller_send_request(&caller, TG_STR("a"), TG_STR("[1]"), &log, NULL)
        == TG_OK);
    CU_ASSERT(
        tg_caller_send_request(&caller, TG_STR("b"), TG_STR("{}"), &log, NULL)
        == TG_OK);
    CU_ASSERT(tg_caller_send_notification(&caller, TG_STR("n"), TG_STR_NONE)
              == TG_OK);
    CU_ASSERT(
        tg_caller_send_request(&caller, TG_STR("c"), TG_STR_NONE, &log, NULL)
        == TG_OK);

    /* All of a and a byte of b; the host has dropped some bytes of b. */
    tg_caller_count_written(&caller, 52);
    tg_buf_consume(&caller.out, 10);
    tg_caller_on_disconnect(&caller);
    HELP_EQ(tg_buf_view(&log),
            "lost\nlost\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"c\"}\n");
    tg_buf_reset(&log, 0);

    /* A host that takes all bytes at once keeps them itself. */
    CU_ASSERT(
        tg_caller_send_request(&caller, TG_STR("d"), TG_STR_NONE, &log, NULL)
        == TG_OK);
    tg_buf_truncate(&caller.out, 0);
    tg_caller_on_disconnect(&caller);
    HELP_EQ(tg_buf_view(&log), "\n");
    tg_caller_deinit(&caller);
}
