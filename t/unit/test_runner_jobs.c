/* Jobs without a program (runner_host.h: `wait`), in all states. */
#include "runner_host.h"

#include "runner/jobs/tg_job_status.h"

#define KEY "abcdefghijklmnop"

static tg_peer_t test_new; /* of the other worker */

static const char test_one[] = ",\"limits\":[{\"name\":\"concurrency\",\"key\":"
                               "\"k\",\"concurrency\":1,\"queue\":1}]";

static void
test_begin(void)
{
    host_peer_init(&test_new);
    host.at = &host.peer;
    host_nwaiting = 0;
    host_nstopped = 0;
}

static void
test_end(void)
{
    tg_peer_deinit(&test_new);
    host.at = &host.peer;
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.jobs.njobs == 0);
    CU_ASSERT(host.jobs.bytes == 0);
    CU_ASSERT_PTR_NULL(host.jobs.limits);
    CU_ASSERT(host.peer.out.len == 0);
}

static unsigned
test_send(const char *more)
{
    char params[512];

    snprintf(params, sizeof(params), "{\"tool\":\"w\"%s}", more);

    return host_request("wait", params);
}

static void
test_done(unsigned id)
{
    char text[64];

    snprintf(text, sizeof(text), "\"id\":%u,", id);
    CU_ASSERT(host_recv());
    CU_ASSERT(strstr(host.line.data, text) != NULL);
    CU_ASSERT(host_is_text("text", "done"));
}

static int
test_has_stopped(void *ctx)
{
    return host_nstopped != 0;
}

static int
test_has_started(void *ctx)
{
    return host_nwaiting == *(unsigned *) ctx;
}

/* As many as there are slots; the next one starts when one has ended. */
HELP_TEST(queue, "slots and queue")
{
    unsigned ids[TG_JOBS_RUNNING_MAX + 1], i, all;

    test_begin();

    for (i = 0; i <= TG_JOBS_RUNNING_MAX; i++) {
        ids[i] = test_send("");
    }

    CU_ASSERT(host_nwaiting == TG_JOBS_RUNNING_MAX);
    CU_ASSERT(host.jobs.nqueued == 1);
    host_wait_end(3);
    test_done(ids[3]);
    all = TG_JOBS_RUNNING_MAX + 1;
    CU_ASSERT(host_until(test_has_started, &all));
    CU_ASSERT(host.jobs.nqueued == 0);

    for (i = 0; i < all; i++) {
        if (i != 3) {
            host_wait_end(i);
            test_done(ids[i]);
        }
    }

    test_end();
}

HELP_TEST(limit, "concurrency")
{
    unsigned first, second, two;

    test_begin();
    first = test_send(test_one);
    second = test_send(test_one);
    CU_ASSERT(host.jobs.nrunning == 1 && host.jobs.nqueued == 1);
    (void) test_send(test_one);
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is_text("failure", "busy"));
    CU_ASSERT(strstr(host_text("message"), "w: 1 call runs (concurrency 1)")
              != NULL);
    host_wait_end(0);
    test_done(first);
    two = 2;
    CU_ASSERT(host_until(test_has_started, &two));
    host_wait_end(1);
    test_done(second);
    test_end();
}

/* The slot stays taken until the job type says that nothing is left. */
HELP_TEST(timeout, "timeout")
{
    test_begin();
    (void) test_send(",\"timeout_ms\":50");
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is_text("failure", "timeout"));
    CU_ASSERT(strstr(host_text("message"), "w did not finish within 50 ms")
              != NULL);
    CU_ASSERT(host_nstopped == 1);
    CU_ASSERT(host.jobs.nrunning == 1);
    host_wait_end(0);
    CU_ASSERT(host.jobs.nrunning == 0);
    test_end();
}

HELP_TEST(queued_timeout, "timeout in the queue")
{
    unsigned first;

    test_begin();
    first = test_send(test_one);
    (void) test_send(",\"timeout_ms\":50,\"limits\":[{\"name\":\"n\","
                     "\"key\":\"k\",\"concurrency\":1,\"queue\":1}]");
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is_text("failure", "timeout"));
    CU_ASSERT(strstr(host_text("message"), "could not start within") != NULL);
    CU_ASSERT(host_nstopped == 0);
    host_wait_end(0);
    test_done(first);
    test_end();
}

HELP_TEST(cancel, "cancelled")
{
    unsigned first, second;

    test_begin();
    first = test_send(test_one);
    second = test_send(test_one);
    host_cancel(second);
    CU_ASSERT(host.jobs.nqueued == 0 && host_nstopped == 0);
    host_cancel(first);
    CU_ASSERT(host_nstopped == 1);
    host_wait_end(0);
    test_end();
}

static const char *
test_key(unsigned id)
{
    static char text[96];

    snprintf(text, sizeof(text), "{\"id\":%u,\"key\":\"" KEY "\"}", id);

    return text;
}

static unsigned
test_pass_on(void)
{
    unsigned id;

    id = test_send("");
    (void) host_request("release", test_key(id));
    CU_ASSERT(host_recv());
    CU_ASSERT(host.jobs.ndetached == 1 && host.peer.ncalls == 0);

    return id;
}

HELP_TEST(attach, "detached and attached")
{
    unsigned id;
    int i;

    for (i = 0; i < 2; i++) {
        test_begin();
        (void) test_pass_on();

        /* It ends before or after it is attached. */
        if (i == 0) {
            host_wait_end(0);
        }

        host.at = &test_new;
        id = host_request("adopt", test_key(0));

        if (i == 1) {
            host_wait_end(0);
        }

        test_done(id);
        CU_ASSERT(host.jobs.ndetached == 0 && host.jobs.detached_bytes == 0);
        test_end();
    }
}

HELP_TEST(expired, "not attached in time")
{
    test_begin();
    host.jobs.detached_ms = 50;
    (void) test_pass_on();
    CU_ASSERT(host_until(test_has_stopped, NULL));
    host_wait_end(0);
    host.jobs.detached_ms = TG_DETACHED_MS;
    test_end();
}

HELP_TEST(progress, "a job's progress is reported and extends its deadline")
{
    unsigned id;

    test_begin();
    id = test_send(",\"timeout_ms\":60000");
    CU_ASSERT(tg_progress_update(&host_waiting[0]->progress,
                                 TG_STR("{\"progress\":1}")));
    tg_job_on_progress(host_waiting[0], 1);
    CU_ASSERT(host_recv());
    CU_ASSERT(strstr(host.line.data, "\"progress\":1}") != NULL);

    /* Too soon after the last one; it is sent before the result. */
    CU_ASSERT(tg_progress_update(&host_waiting[0]->progress,
                                 TG_STR("{\"progress\":2}")));
    tg_job_on_progress(host_waiting[0], 1);
    CU_ASSERT(host.peer.out.len == 0);
    host_wait_end(0);
    CU_ASSERT(host_recv());
    CU_ASSERT(strstr(host.line.data, "\"progress\":2}") != NULL);
    test_done(id);
    test_end();
}

HELP_TEST(wrong, "wrong params")
{
    test_begin();
    (void) host_request("wait", "{}");
    CU_ASSERT(host_recv());
    CU_ASSERT(strstr(host.line.data, "-32602") != NULL);
    CU_ASSERT(host_nwaiting == 0);
    test_end();
}

/* The jobs in `status`: how many of each type, and each of them. */
HELP_TEST(status, "status")
{
    HELP_BUFFER(json);
    unsigned id;

    test_begin();
    tg_jobs_write_json(&json, &host.jobs);
    CU_ASSERT(
        tg_str_eq(tg_buf_view(&json), TG_STR(",\"kinds\":{},\"jobs\":[]")));
    tg_buf_truncate(&json, 0);

    id = test_send(test_one);
    (void) host_request("wait", "{\"tool\":\"a\\\"b\",\"call\":17,\"limits\":"
                                "[{\"name\":\"concurrency\",\"key\":\"k\","
                                "\"concurrency\":1,\"queue\":1}]}");
    tg_buf_append_cstr(&json, "{\"a\":0");
    tg_jobs_write_json(&json, &host.jobs);
    tg_buf_append_char(&json, '}');
    HELP_JSON(tg_buf_view(&json),
              "{\"a\":0,\"kinds\":{\"wait\":2},\"jobs\":[{\"kind\":\"wait\","
              "\"tool\":\"w\",\"state\":\"running\",\"queued_ms\":\"$number\","
              "\"ran_ms\":\"$number\"},{\"call\":17,\"kind\":\"wait\",\"tool\":"
              "\"a\\\"b\",\"state\":\"queued\",\"queued_ms\":\"$number\","
              "\"ran_ms\":0}]}");

    host_wait_end(0);
    test_done(id);
    host_until(test_has_started, &(unsigned){ 2 });
    host_wait_end(1);
    CU_ASSERT(host_recv());
    test_end();
}

HELP_TEST(number, "an invalid call number makes the job invalid")
{
    static const char *const wrong[] = { "0", "-1", "1.5", "\"1\"", "{}" };
    char more[64];

    test_begin();

    HELP_EACH(row, wrong) {
        snprintf(more, sizeof(more), ",\"call\":%s", *row);
        (void) test_send(more);
        CU_ASSERT(host_recv());
        CU_ASSERT_PTR_NOT_NULL(strstr(host.line.data, "call must be"));
    }

    test_end();
}

/* Like daemon.stop. */
static void
test_drop_next(tg_job_t *job)
{
    tg_call_t *call;

    call = TAILQ_NEXT(job, link)->call;
    tg_job_cancel(call->host);
    tg_call_forget(call);
}

HELP_TEST(cancel_next, "the next one is cancelled while one starts")
{
    static const char three[] = ",\"limits\":[{\"name\":\"concurrency\","
                                "\"key\":\"k\",\"concurrency\":1,\"queue\":3}]";
    unsigned ids[4], i, n;

    test_begin();

    for (i = 0; i < 4; i++) {
        ids[i] = test_send(three);
    }

    host_on_start = test_drop_next;
    host_wait_end(0);
    test_done(ids[0]);
    n = 2;
    CU_ASSERT(host_until(test_has_started, &n));
    CU_ASSERT(host.jobs.nqueued == 1 && host.jobs.nrunning == 1);
    host_wait_end(1);
    test_done(ids[1]);
    n = 3;
    CU_ASSERT(host_until(test_has_started, &n));
    host_wait_end(2);
    test_done(ids[3]);
    test_end();
}
