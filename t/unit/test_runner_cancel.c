/*
 * Cancellation under load: it reaches exactly the named call in whatever
 * state, and ends its whole process group and no other.
 *
 * Slots and queues are always full. Every program is a shell that waits for a
 * child, so that a program that lost either would respond; in these tests none
 * may.
 *
 * TOOLGATE_TEST_CANCELS: number of running programs to cancel, 1000.
 */
#include "runner_host.h"

#ifdef TG_HAS_ASAN
#define CANCELS 250
#else
#define CANCELS 1000
#endif

/* Number of calls: the slots, 16 queued calls, and 16 more. */
#define CALLS (TG_JOBS_RUNNING_MAX + 32)
/* Number of calls that are cancelled at once. */
#define BURST 12

typedef struct {
    pid_t pid; /* 0: not started */
    unsigned id;
} victim_t;

typedef struct {
    victim_t victims[BURST];
    int n;
} burst_t;

static unsigned test_seed = 1;
static int test_sent;
static int test_dropped; /* before their start */

/* A repeatable sequence of numbers. */
static unsigned
test_random(unsigned below)
{
    test_seed = test_seed * 1103515245u + 12345u;

    return (test_seed >> 16) % below;
}

/* Every fourth call has a bucket in which three may run. */
static void
test_fill(void)
{
    static const char *const limit =
        ",\"timeout_ms\":600000,\"limits\":[{\"name\":\"concurrency\","
        "\"key\":\"k\",\"concurrency\":3,\"queue\":1000}]";
    char script[256];

    /* Opening a pipe without a writer waits, and needs no other program. */
    snprintf(script, sizeof(script), "(: <%s) & wait", help_path("pipe"));

    while (host.peer.ncalls < CALLS) {
        (void) host_send(host_sh(
            script, test_sent % 4 == 0 ? limit : ",\"timeout_ms\":600000"));
        test_sent++;
    }
}

static unsigned
test_id(const tg_call_t *call)
{
    int64_t id;

    CU_ASSERT_FATAL(tg_json_parse_int64(call->reply.id, &id) == TG_OK);

    return (unsigned) id;
}

static int
test_has_exited(void *ctx)
{
    const burst_t *burst;
    int i;

    burst = ctx;

    for (i = 0; i < burst->n; i++) {
        if (burst->victims[i].pid != 0
            && !(kill(-burst->victims[i].pid, 0) == -1 && errno == ESRCH))
        {
            return 0;
        }
    }

    return 1;
}

/* Chooses some of all calls, and returns how many of them run. */
static int
test_choose(burst_t *burst)
{
    const tg_job_t *job;
    const tg_call_t *call;
    unsigned skip, i;
    int running;

    running = 0;
    burst->n = 0;

    /* One call from each part of the list, so that all differ. */
    for (call = host.peer.calls; burst->n < BURST; burst->n++) {
        skip = test_random(CALLS / BURST);

        for (i = 0; i < CALLS / BURST; i++, call = call->next) {
            if (i != skip) {
                continue;
            }

            job = call->host;
            burst->victims[burst->n].id = test_id(call);
            burst->victims[burst->n].pid = host_program(job)->pid;
            running += burst->victims[burst->n].pid != 0;
        }
    }

    return running;
}

/* The other programs all run, each with both processes. */
static int
test_others_are_well(void)
{
    const tg_job_t *job;
    const tg_call_t *call;
    int n;

    for (n = 0, call = host.peer.calls; call != NULL; call = call->next, n++) {
        job = call->host;

        if (job->call != call
            || (job->state != TG_JOB_QUEUED && job->state != TG_JOB_RUNNING)
            || host_program(job)->has_ended
            || (job->state == TG_JOB_RUNNING
                && host_has_exited(host_program(job)->pid)))
        {
            return 0;
        }
    }

    return n == CALLS - BURST && host.peer.out.len == 0;
}

static int
test_wanted(void)
{
    const char *text;

    text = getenv("TOOLGATE_TEST_CANCELS");

    return text != NULL && atoi(text) > 0 ? atoi(text) : CANCELS;
}

HELP_TEST(cancel, "running and waiting")
{
    int done, wanted, i;
    uint64_t started;
    burst_t burst;

    CU_ASSERT_FATAL(mkfifo(help_path("pipe"), 0600) == 0);
    wanted = test_wanted();
    started = host.jobs.nstarted;

    for (done = 0; done < wanted;) {
        test_fill();
        i = test_choose(&burst);
        done += i;
        test_dropped += BURST - i;

        for (i = 0; i < burst.n; i++) {
            host_cancel(burst.victims[i].id);
        }

        CU_ASSERT_FATAL(host_until(test_has_exited, &burst));
        CU_ASSERT_FATAL(test_others_are_well());

        /* Their process ids are unused now. */
        for (i = 0; i < burst.n; i++) {
            host_cancel(burst.victims[i].id);
        }
    }

    /* No call that was dropped from the queue was started. */
    CU_ASSERT(host.jobs.nstarted - started + (unsigned) test_dropped
                  + host.jobs.nqueued
              == (unsigned) test_sent);
    printf("%d running programs cancelled, %d waiting ...", done, test_dropped);
}

HELP_TEST(disconnect, "the end of the connection cancels all its calls")
{
    const tg_call_t *call;
    pid_t pids[CALLS];
    int i, n;

    test_fill();

    for (n = 0, call = host.peer.calls; call != NULL; call = call->next) {
        pids[n] = host_program(call->host)->pid;
        n += pids[n] != 0;
    }

    CU_ASSERT(n == TG_JOBS_RUNNING_MAX);
    tg_peer_deinit(&host.peer);
    host_peer_init(&host.peer);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(unlink(help_path("pipe")) == 0);

    for (i = 0; i < n; i++) {
        CU_ASSERT(kill(-pids[i], 0) == -1 && errno == ESRCH);
    }

    CU_ASSERT_PTR_NULL(host.jobs.limits);
}

HELP_TEST(draining, "the program has ended, but its outputs are still open")
{
    unsigned id;
    pid_t pid;
    int i;

    for (i = 0; i < 20; i++) {
        id = host_send(host_sh("sleep 1000 & exit", ""));
        CU_ASSERT_FATAL(host_until(host_is_draining, NULL));
        pid = host_program(TAILQ_FIRST(&host.jobs.slots))->pid;
        host_cancel(id);
        CU_ASSERT_FATAL(host_until(host_no_exec, NULL));
        CU_ASSERT(kill(-pid, 0) == -1 && errno == ESRCH);
        CU_ASSERT(host.peer.out.len == 0);
    }
}

HELP_TEST(ending, "a call with a result whose program is still being ended")
{
    char script[256], path[96];
    unsigned id, other;
    pid_t pid;

    snprintf(path, sizeof(path), "%s/deaf", help_dir);
    snprintf(script, sizeof(script),
             "trap '' TERM; : >%s; while :; do sleep 0.05; done", path);
    id = host_send(host_sh(script, ",\"timeout_ms\":200"));

    /* The loop does not run, so the timeout cannot pass before. */
    while (!host_is_file(path)) {
        usleep(1000);
    }

    CU_ASSERT(unlink(path) == 0);
    other = host_send(host_sh("sleep 1000 & wait", ""));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(host.jobs.nrunning == 2);
    host_cancel(id);
    CU_ASSERT(host.peer.ncalls == 1);
    pid = host_program(host.peer.calls->host)->pid;
    CU_ASSERT(!host_has_exited(pid));
    host_cancel(other);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.peer.out.len == 0);
}
