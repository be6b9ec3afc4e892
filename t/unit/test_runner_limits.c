/* How many calls of a bucket run and wait, and for how long. */
#include "runner_host.h"

/* --- one limit --- */

static int
test_put_is(const tg_limit_t *limit, const char *expected)
{
    HELP_BUFFER(text);
    int rc;

    tg_limit_append_text(&text, limit, "concurrency");
    rc = tg_str_eq(tg_buf_view(&text), tg_str_from_cstr(expected));

    if (!rc) {
        fprintf(stderr, "%.*s\n", (int) text.len, text.data);
    }

    return rc;
}

HELP_TEST(text, "text")
{
    tg_limit_spec_t wanted = { NULL, (char *) (uintptr_t) "k", 2, 10 };
    tg_limit_t *list, *limit;

    list = NULL;
    limit = tg_limits_acquire(&list, &wanted, 0);
    CU_ASSERT_FATAL(limit != NULL);
    limit->nrunning = 2;
    limit->nwaiting = 10;
    CU_ASSERT(test_put_is(limit, "2 calls run (concurrency 2) and 10 wait "
                                 "(queue=10)"));
    limit->nrunning = 1;
    limit->nwaiting = 1;
    CU_ASSERT(test_put_is(limit, "1 call runs (concurrency 2) and 1 waits "
                                 "(queue=10)"));
    limit->queue = 0;
    limit->nwaiting = 0;
    CU_ASSERT(test_put_is(limit, "1 call runs (concurrency 2) and none may "
                                 "wait (queue=0)"));
    tg_limits_release(&list, limit);
    CU_ASSERT_PTR_NULL(list);
}

HELP_TEST(places, "places")
{
    tg_limit_spec_t wanted = { NULL, (char *) (uintptr_t) "k", 2, 1 };
    static const struct {
        unsigned concurrency, queue, running, waiting;
        int is_busy, is_full;
    } cases[] = {
        { 1, 0, 0, 0, 0, 0 }, { 1, 0, 1, 0, 1, 1 }, { 1, 1, 1, 0, 1, 0 },
        { 1, 1, 1, 1, 1, 1 }, { 3, 2, 2, 1, 0, 0 }, { 3, 2, 2, 2, 0, 0 },
        { 3, 2, 2, 3, 0, 1 }, { 1, 2, 5, 1, 1, 0 }, { 1, 2, 5, 2, 1, 1 },
        { 1, 2, 5, 9, 1, 1 }, { 2, 0, 0, 2, 0, 1 },
    };
    tg_limit_t *list, *limit;

    list = NULL;
    limit = tg_limits_acquire(&list, &wanted, 0);
    CU_ASSERT_FATAL(limit != NULL);

    HELP_EACH(item, cases) {
        limit->concurrency = item->concurrency;
        limit->queue = item->queue;
        limit->nrunning = item->running;
        limit->nwaiting = item->waiting;
        CU_ASSERT(tg_limit_is_busy(limit) == item->is_busy);
        CU_ASSERT(tg_limit_is_queue_full(limit) == item->is_full);
    }

    tg_limits_release(&list, limit);
}

HELP_TEST(keys, "keys")
{
    char keys[3][2] = { "a", "b", "c" };
    tg_limit_spec_t wanted[3];
    tg_limit_t *list, *limits[3];
    int i;

    list = NULL;

    for (i = 0; i < 3; i++) {
        wanted[i].name = NULL;
        wanted[i].key = keys[i];
        wanted[i].concurrency = 1;
        wanted[i].queue = 1;
        CU_ASSERT_PTR_NULL(tg_limits_update(list, &wanted[i]));
        limits[i] = tg_limits_acquire(&list, &wanted[i], 0);
        CU_ASSERT_FATAL(limits[i] != NULL);
    }

    /* The newest call's limits count. */
    wanted[1].concurrency = 7;
    wanted[1].queue = 9;
    CU_ASSERT(tg_limits_acquire(&list, &wanted[1], 0) == limits[1]);
    CU_ASSERT(limits[1]->concurrency == 7 && limits[1]->queue == 9);
    CU_ASSERT(limits[0]->concurrency == 1);

    /* But not those of an outdated call. */
    wanted[1].concurrency = 3;
    CU_ASSERT(tg_limits_acquire(&list, &wanted[1], 1) == limits[1]);
    CU_ASSERT(limits[1]->concurrency == 7);
    wanted[1].concurrency = 7;
    tg_limits_release(&list, limits[1]);

    tg_limits_release(&list, limits[1]);
    CU_ASSERT(tg_limits_update(list, &wanted[1]) == limits[1]);
    tg_limits_release(&list, limits[1]);
    CU_ASSERT_PTR_NULL(tg_limits_update(list, &wanted[1]));
    CU_ASSERT(tg_limits_update(list, &wanted[0]) == limits[0]);
    CU_ASSERT(tg_limits_update(list, &wanted[2]) == limits[2]);
    tg_limits_release(&list, limits[2]);
    tg_limits_release(&list, limits[0]);
    CU_ASSERT_PTR_NULL(list);
}

/* --- calls --- */

static const char *
test_limit(const char *key, unsigned concurrency, unsigned queue)
{
    static char text[256];

    snprintf(text, sizeof(text),
             ",\"limits\":[{\"name\":\"concurrency\",\"key\":\"%s\","
             "\"concurrency\":%u,\"queue\":%u}]",
             key, concurrency, queue);

    return text;
}

/* Waits for the file go-NAME, then prints its name. */
static unsigned
test_send(const char *name, const char *more)
{
    char script[256];

    snprintf(script, sizeof(script),
             "until [ -e %s/go-%s ]; do sleep 0.01; done; echo %s", help_dir,
             name, name);

    return host_send(host_sh(script, more));
}

static void
test_let(const char *name, int may_start)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/go-%s", help_dir, name);

    if (may_start) {
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    } else {
        unlink(path);
    }
}

/* The next result is that of the call with this name. */
static int
test_next_result_is(const char *name)
{
    char text[64];

    snprintf(text, sizeof(text), "%s\n", name);

    return host_recv() && host_is_text("text", text);
}

static int64_t
test_number(const char *key)
{
    int64_t value;

    if (tg_json_parse_int64(host_result(key), &value) != TG_OK) {
        CU_FAIL("no such number");
        return -1;
    }

    return value;
}

static void
test_idle(void)
{
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT_PTR_NULL(host.jobs.limits);
    CU_ASSERT(host.peer.out.len == 0);
    CU_ASSERT(host.jobs.bytes == 0);
}

HELP_TEST(one_bucket, "one bucket")
{
    (void) test_send("a", test_limit("k", 2, 1));
    (void) test_send("b", test_limit("k", 2, 1));
    CU_ASSERT(host.jobs.nrunning == 2);
    (void) test_send("c", test_limit("k", 2, 1));
    CU_ASSERT(host.jobs.nrunning == 2 && host.jobs.nqueued == 1);

    CU_ASSERT(host_exec(host_sh("echo no", test_limit("k", 2, 1))));
    CU_ASSERT(host_is("failure", "\"busy\""));
    CU_ASSERT(host_is_text("message",
                           "tool: 2 calls run (concurrency 2) and 1 waits "
                           "(queue=1); call again when one has ended"));
    CU_ASSERT(test_number("queued_ms") == 0 && test_number("ran_ms") == 0);
    CU_ASSERT(host.jobs.nqueued == 1);

    /* Other buckets, and calls without one, are served meanwhile. */
    CU_ASSERT(host_exec(host_sh("echo x", test_limit("other", 1, 0))));
    CU_ASSERT(host_is_text("text", "x\n"));
    CU_ASSERT(host_exec(host_sh("echo y", "")));
    CU_ASSERT(host_is_text("text", "y\n"));

    test_let("b", 1);
    CU_ASSERT(test_next_result_is("b"));
    CU_ASSERT(test_number("queued_ms") < test_number("ran_ms"));

    /* Its slot is free with its result, and the next call gets it. */
    (void) test_send("d", test_limit("k", 2, 1));
    CU_ASSERT(host.jobs.nqueued == 1);
    test_let("c", 1);
    CU_ASSERT(test_next_result_is("c"));
    test_let("d", 1);
    CU_ASSERT(test_next_result_is("d"));
    CU_ASSERT(host.jobs.nrunning >= 1);
    test_let("a", 1);
    CU_ASSERT(test_next_result_is("a"));
    test_idle();
    test_let("a", 0);
    test_let("b", 0);
    test_let("c", 0);
    test_let("d", 0);
}

/* In order of arrival, also if one arrives just as a slot becomes free. */
HELP_TEST(order, "order")
{
    static const char *const names[] = { "b", "c", "d" };
    int i;

    (void) test_send("a", test_limit("k", 1, 5));

    for (i = 0; i < 3; i++) {
        test_let(names[i], 1);
        (void) test_send(names[i], test_limit("k", 1, 5));
    }

    CU_ASSERT(host.jobs.nqueued == 3);
    test_let("a", 1);
    CU_ASSERT(test_next_result_is("a"));
    test_let("e", 1);
    (void) test_send("e", test_limit("k", 1, 5));

    for (i = 0; i < 3; i++) {
        CU_ASSERT(test_next_result_is(names[i]));
        test_let(names[i], 0);
    }

    CU_ASSERT(test_next_result_is("e"));
    CU_ASSERT(test_number("queued_ms") > 0);
    test_idle();
    test_let("a", 0);
    test_let("e", 0);
}

#define BOTH                                                                   \
    ",\"limits\":[{\"name\":\"concurrency\",\"key\":\"%s\","                   \
    "\"concurrency\":%u,\"queue\":%u},{\"name\":\"tool_concurrency\","         \
    "\"key\":\"all\",\"concurrency\":2,\"queue\":2}]"

/* A tool's limit and its server's: a call needs a slot of both. */
HELP_TEST(two_buckets, "two buckets")
{
    char one[256], two[256];

    snprintf(one, sizeof(one), BOTH, "one", 1, 5);
    snprintf(two, sizeof(two), BOTH, "two", 5, 5);
    (void) test_send("a", one);
    (void) test_send("b", one);
    CU_ASSERT(host.jobs.nrunning == 1 && host.jobs.nqueued == 1);
    (void) test_send("c", two);
    CU_ASSERT(host.jobs.nrunning == 2 && host.jobs.nqueued == 1);
    (void) test_send("d", two);
    CU_ASSERT(host.jobs.nrunning == 2 && host.jobs.nqueued == 2);

    CU_ASSERT(host_exec(host_sh("echo no", two)));
    CU_ASSERT(host_is_text("message",
                           "tool: 2 calls run (tool_concurrency 2) and 2 wait "
                           "(queue=2); call again when one has ended"));

    /* The slot of c goes to d, as b has none in its own bucket. */
    test_let("c", 1);
    CU_ASSERT(test_next_result_is("c"));
    test_let("d", 1);
    CU_ASSERT(test_next_result_is("d"));
    test_let("a", 1);
    CU_ASSERT(test_next_result_is("a"));
    test_let("b", 1);
    CU_ASSERT(test_next_result_is("b"));
    test_idle();
    test_let("a", 0);
    test_let("b", 0);
    test_let("c", 0);
    test_let("d", 0);
}

/* A reload changes the limits: those of the newest call count. */
HELP_TEST(changes, "changes")
{
    int i;

    for (i = 0; i < 3; i++) {
        (void) test_send("a", test_limit("k", 1, 5));
    }

    CU_ASSERT(host.jobs.nrunning == 1 && host.jobs.nqueued == 2);
    (void) test_send("a", test_limit("k", 3, 5));
    CU_ASSERT(host.jobs.nrunning == 3 && host.jobs.nqueued == 1);

    CU_ASSERT(host_exec(host_sh("echo no", test_limit("k", 1, 1))));
    CU_ASSERT(host_is_text("message",
                           "tool: 3 calls run (concurrency 1) and 1 waits "
                           "(queue=1); call again when one has ended"));

    test_let("a", 1);

    for (i = 0; i < 4; i++) {
        CU_ASSERT(test_next_result_is("a"));
    }

    test_idle();
    test_let("a", 0);
}

/* A slot is used while the main process lives, not for its leftovers. */
HELP_TEST(held, "held slots")
{
    char script[512], path[96];
    unsigned id;

    snprintf(path, sizeof(path), "%s/deaf", help_dir);
    snprintf(script, sizeof(script),
             "trap '' TERM; : >%s; while :; do sleep 0.05; done", path);
    (void) host_send(host_sh(script,
                             ",\"timeout_ms\":200,\"limits\":[{\"name\":"
                             "\"concurrency\",\"key\":\"k\","
                             "\"concurrency\":1}]"));

    /* The loop does not run, so the timeout cannot pass before. */
    while (!host_is_file(path)) {
        usleep(1000);
    }

    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(host_exec(host_sh("echo no", test_limit("k", 1, 0))));
    CU_ASSERT(host_is_text("message",
                           "tool: 1 call runs (concurrency 1) and none may "
                           "wait (queue=0); call again when one has ended"));
    id = host_send(host_sh("echo yes", test_limit("k", 1, 1)));
    HOST_RECV_TEXT("yes\n");
    CU_ASSERT(test_number("queued_ms") >= TG_PROGRAM_GRACE_MS / 2);

    /* A dropped call keeps its slot as well. */
    id = host_send(host_sh("exec sleep 1000", test_limit("k", 1, 0)));
    host_cancel(id);
    CU_ASSERT(host_exec(host_sh("echo no", test_limit("k", 1, 0))));
    CU_ASSERT(host_is("failure", "\"busy\""));
    CU_ASSERT(host_exec(host_sh("echo yes", test_limit("k", 1, 1))));
    CU_ASSERT(host_is_text("text", "yes\n"));
    CU_ASSERT(host_until(host_no_exec, NULL));

    CU_ASSERT(unlink(path) == 0);
    snprintf(script, sizeof(script),
             "(trap '' TERM; : >%s; while :; do sleep 0.05; done) "
             ">/dev/null 2>&1 3>&- & until [ -e %s ]; do sleep 0.01; done",
             path, path);
    CU_ASSERT(host_exec(host_sh(script, test_limit("k", 1, 0))));
    CU_ASSERT(unlink(path) == 0);
    CU_ASSERT(host_result("text").data != NULL);
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(host_exec(host_sh("echo yes", test_limit("k", 1, 0))));
    CU_ASSERT(host_is_text("text", "yes\n"));
    test_idle();
}

/* Waiting counts towards the deadline, and ends when no client waits. */
HELP_TEST(waiting, "waiting")
{
    char more[512];
    unsigned id;

    (void) test_send("a", test_limit("k", 1, 2));
    snprintf(more, sizeof(more), ",\"timeout_ms\":300%s",
             test_limit("k", 1, 2));
    CU_ASSERT(host_exec(host_sh("echo no", more)));
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"),
                     "tool could not start within 300 ms (it waited ")
              == host_text("message"));
    CU_ASSERT(strstr(host_text("message"),
                     " ms in the queue and did not run) and was dropped "
                     "(timeout): 1 call runs (concurrency 1) and 1 waits "
                     "(queue=2); try again later.")
              != NULL);
    CU_ASSERT(test_number("queued_ms") >= 300);
    CU_ASSERT(test_number("ran_ms") == 0);
    CU_ASSERT(host.jobs.nqueued == 0);

    /* A queue position is free again. */
    id = host_send(host_sh("echo no", test_limit("k", 1, 1)));
    CU_ASSERT(host.jobs.nqueued == 1);
    host_cancel(id);
    CU_ASSERT(host.jobs.nqueued == 0);

    /* A call that waited half a second has that much less time. */
    snprintf(more, sizeof(more), ",\"timeout_ms\":4000%s",
             test_limit("k", 1, 1));
    (void) host_send(host_sh("exec sleep 1000", more));
    id = host_send(host_sh("sleep 0.5", ""));
    CU_ASSERT(host_recv());
    test_let("a", 1);
    CU_ASSERT(test_next_result_is("a"));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"),
                     "tool did not finish within 4 s (it waited ")
              == host_text("message"));
    CU_ASSERT(test_number("queued_ms") >= 500);
    CU_ASSERT(test_number("ran_ms") < 4000);
    CU_ASSERT(test_number("queued_ms") + test_number("ran_ms") >= 4000);
    test_idle();
    test_let("a", 0);
}

/* A call that only waits for a slot is not refused by its own bucket. */
HELP_TEST(slots, "slots")
{
    int i;

    for (i = 0; i < TG_JOBS_RUNNING_MAX; i++) {
        (void) host_send("{\"tool\":\"t\",\"argv\":[\"/bin/sleep\",\"1000\"]}");
    }

    (void) host_send(host_sh("echo one", test_limit("k", 2, 0)));
    (void) host_send(host_sh("echo two", test_limit("k", 2, 0)));
    CU_ASSERT(host.jobs.nqueued == 2);
    CU_ASSERT(host_exec(host_sh("echo no", test_limit("k", 2, 0))));
    CU_ASSERT(host_is_text("message",
                           "tool: 0 calls run (concurrency 2) and 2 wait "
                           "(queue=0); call again when one has ended"));
    host_cancel(1 + host.next_id - TG_JOBS_RUNNING_MAX - 3);
    HOST_RECV_TEXT("one\n");
    HOST_RECV_TEXT("two\n");
    tg_peer_deinit(&host.peer);
    host_peer_init(&host.peer);
    test_idle();
}

HELP_TEST(not_started, "a program that fails to start returns its slot")
{
    char params[512];
    int i;

    snprintf(params, sizeof(params), "{\"tool\":\"t\",\"argv\":[\"/no\"]%s}",
             test_limit("k", 1, 0));

    for (i = 0; i < 3; i++) {
        CU_ASSERT(host_exec(params));
        CU_ASSERT(host_is("failure", "\"program\""));
    }

    test_idle();
}

/* Requests a slot for a call that its worker runs. */
static unsigned
test_request_slot(const char *more)
{
    char params[512];

    snprintf(params, sizeof(params), "{\"tool\":\"w\"%s%s}", more,
             test_limit("k", 1, 1));

    return host_request("place", params);
}

/* The next message says that it may run. */
static int
test_may_run(unsigned id)
{
    char text[128];

    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"method\":\"progress\","
             "\"params\":{\"id\":%u,\"progress\":0}}",
             id);

    return host_recv()
           && tg_str_eq(tg_buf_view(&host.line), tg_str_from_cstr(text));
}

HELP_TEST(elsewhere, "a call that its worker runs counts, but needs no slot")
{
    unsigned first, second;
    char more[256];
    int i;

    first = test_request_slot("");
    CU_ASSERT(test_may_run(first));
    second = test_request_slot(",\"timeout_ms\":60000");
    CU_ASSERT(host.peer.out.len == 0);
    (void) test_request_slot("");
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"busy\""));
    CU_ASSERT(host_is_text("message",
                           "w: 1 call runs (concurrency 1) and 1 waits "
                           "(queue=1); call again when one has ended"));

    for (i = 0; i < TG_JOBS_RUNNING_MAX; i++) {
        (void) host_send("{\"tool\":\"t\",\"argv\":[\"/bin/sleep\",\"1000\"]}");
    }

    CU_ASSERT(host.jobs.nrunning == TG_JOBS_RUNNING_MAX);
    host_cancel(first);
    CU_ASSERT(test_may_run(second));
    CU_ASSERT(host.peer.ncalls == TG_JOBS_RUNNING_MAX + 1);
    tg_peer_deinit(&host.peer);
    host_peer_init(&host.peer);
    test_idle();

    /* Its deadline covers its wait; once it runs, its worker has its own. */
    first = test_request_slot(",\"timeout_ms\":100");
    CU_ASSERT(test_may_run(first));
    (void) test_request_slot(",\"timeout_ms\":300");
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"),
                     "w could not start within 300 ms (it waited ")
              == host_text("message"));
    snprintf(more, sizeof(more), "%s", test_limit("k", 1, 0));
    CU_ASSERT(host_exec(host_sh("echo no", more)));
    CU_ASSERT(host_is("failure", "\"busy\""));

    /* Its worker disconnects. */
    tg_peer_deinit(&host.peer);
    host_peer_init(&host.peer);
    CU_ASSERT(host_exec(host_sh("echo yes", more)));
    CU_ASSERT(host_is_text("text", "yes\n"));
    test_idle();
}
