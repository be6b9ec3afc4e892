/* Programs that one connection detaches and another attaches. */
#include "runner_host.h"

#include "protocol_help.h"

#define KEY "abcdefghijklmnop"

static tg_peer_t test_new;    /* of the other worker */
static char test_go_file[96]; /* programs wait for this file */

/* One runs at a time, the others wait. */
static const char test_one_slot[] = ",\"limits\":[{\"name\":\"concurrency\","
                                    "\"key\":\"k\",\"concurrency\":1,"
                                    "\"queue\":9}]";

/* --- help --- */

static void
test_start_programs(void)
{
    close(open(test_go_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Starts two workers, and talks to the old one. */
static void
test_begin(void)
{
    snprintf(test_go_file, sizeof(test_go_file), "%s/go", help_dir);
    host_peer_init(&test_new);
    host.at = &host.peer;
}

static void
test_end(void)
{
    (void) unlink(test_go_file);
    tg_peer_deinit(&test_new);
    host.at = &host.peer;
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.jobs.ndetached == 0);
    CU_ASSERT(host.jobs.detached_bytes == 0);
    CU_ASSERT(host.peer.ncalls == 0);
    CU_ASSERT(host.peer.out.len == 0);
}

/* Returns params of a script that runs when the go file exists. */
static const char *
test_sh(const char *before, const char *after, const char *more)
{
    char script[1024];

    snprintf(script, sizeof(script),
             "%s until [ -e %s ]; do sleep 0.01; done; %s", before,
             test_go_file, after);

    return host_sh(script, more);
}

static const char *
test_key(unsigned id, unsigned key)
{
    static char text[128];

    snprintf(text, sizeof(text), "{\"id\":%u,\"key\":\"" KEY "%u\"}", id, key);

    return text;
}

static int
test_is_error(const char *why)
{
    tg_str_t error, value;

    return tg_json_get_member(tg_buf_view(&host.line), TG_STR("error"), &error)
               == TG_OK
           && tg_json_get_member(error, TG_STR("code"), &value) == TG_OK
           && tg_str_eq(value, TG_STR("-32602"))
           && tg_json_get_member(error, TG_STR("message"), &value) == TG_OK
           && strstr(help_text(value), why) != NULL;
}

static void
test_release(unsigned id, unsigned key)
{
    tg_str_t result;

    (void) host_request("release", test_key(id, key));
    CU_ASSERT_FATAL(host_recv());
    CU_ASSERT(
        tg_json_get_member(tg_buf_view(&host.line), TG_STR("result"), &result)
            == TG_OK
        && tg_str_eq(result, TG_STR("true")));
}

/* Attaches a job to the new worker, which gets all further requests. */
static unsigned
test_attach(unsigned key)
{
    host.at = &test_new;

    return host_request("adopt", test_key(0, key));
}

static int
test_line_has(unsigned id, const char *member, const char *raw)
{
    tg_str_t params, value, got;
    char text[32];

    snprintf(text, sizeof(text), "%u", id);

    return tg_json_get_member(tg_buf_view(&host.line), TG_STR("params"),
                              &params)
               == TG_OK
           && tg_json_get_member(params, TG_STR("id"), &got) == TG_OK
           && tg_str_eq(got, tg_str_from_cstr(text))
           && tg_json_get_member(params, tg_str_from_cstr(member), &value)
                  == TG_OK
           && tg_str_eq(value, tg_str_from_cstr(raw));
}

/* --- in each state --- */

HELP_TEST(running, "running")
{
    unsigned id;

    test_begin();
    id = host_send(test_sh("", "echo done >&2; exit 3", ""));
    test_release(id, 1);
    CU_ASSERT(host.jobs.ndetached == 1);
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(host.peer.ncalls == 0);

    id = test_attach(1);
    CU_ASSERT(host.jobs.ndetached == 0);
    CU_ASSERT(test_new.ncalls == 1);
    test_start_programs();
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(host_is_text("message", "tool exited with status 3: done"));
    test_end();
}

static int
test_all_ended(void *ctx)
{
    return host_no_exec(NULL);
}

/* It starts unasked; a finished job responds at once. */
HELP_TEST(ended, "ended meanwhile")
{
    int nidle;
    unsigned id;

    test_begin();
    id = host_send(test_sh("", "echo done", ""));
    test_release(id, 1);
    nidle = host.nidle;
    test_start_programs();
    CU_ASSERT(host_until(test_all_ended, NULL));
    CU_ASSERT(host.peer.out.len == 0);
    CU_ASSERT(host.jobs.ndetached == 1);
    CU_ASSERT(host.jobs.detached_bytes > 0);

    /* There is still something to do. */
    CU_ASSERT(host.nidle == nidle);
    (void) test_attach(1);
    CU_ASSERT(host.nidle == nidle + 1);
    CU_ASSERT(memchr(test_new.out.data, '\n', test_new.out.len) != NULL);
    HOST_RECV_TEXT("done\n");
    test_end();
}

HELP_TEST(queued, "a detached job in the queue keeps its position")
{
    unsigned first, second;

    test_begin();
    first = host_send(test_sh("", "echo first", test_one_slot));
    second = host_send(host_sh("echo second", test_one_slot));
    CU_ASSERT(host.jobs.nqueued == 1);
    test_release(second, 2);
    test_release(first, 1);
    CU_ASSERT(host.jobs.nqueued == 1);
    CU_ASSERT(host.jobs.nrunning == 1);

    first = test_attach(1);
    second = test_attach(2);
    test_start_programs();
    HOST_RECV_TEXT("first\n");
    HOST_RECV_TEXT("second\n");
    test_end();
}

HELP_TEST(started, "a job is started while it is detached")
{
    unsigned id;

    test_begin();
    (void) host_send(test_sh("", "echo first", test_one_slot));
    id = host_send(host_sh("echo second", test_one_slot));
    test_release(id, 2);
    test_start_programs();
    HOST_RECV_TEXT("first\n");
    CU_ASSERT(host_until(test_all_ended, NULL));
    (void) test_attach(2);
    HOST_RECV_TEXT("second\n");
    test_end();
}

/* A late loop sees the start and the end of the drain at once. */
static int
test_has_drained(void *ctx)
{
    return host_is_draining(NULL) || host.peer.out.len != 0;
}

/* The program has ended, and a leftover process holds its output open. */
HELP_TEST(draining, "draining")
{
    unsigned id;

    test_begin();
    id = host_send(host_sh("echo done; sleep 100 & exit 0", ""));
    CU_ASSERT(host_until(test_has_drained, NULL));

    if (host_is_draining(NULL)) {
        test_release(id, 1);
        (void) test_attach(1);
    }

    HOST_RECV_TEXT("done\n");
    test_end();
}

HELP_TEST(answered, "answered before")
{
    unsigned id;

    test_begin();
    id = host_send(host_sh("echo done", ""));
    CU_ASSERT(host_until(test_all_ended, NULL));
    (void) host_request("release", test_key(id, 1));

    /* In this order. */
    HOST_RECV_TEXT("done\n");
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call with this"));
    test_end();
}

HELP_TEST(again, "detached again")
{
    test_begin();
    test_release(host_send(test_sh("", "echo done", "")), 1);
    test_release(test_attach(1), 1);
    CU_ASSERT(test_new.ncalls == 0);
    test_start_programs();
    (void) test_attach(1);
    HOST_RECV_TEXT("done\n");
    test_end();
}

/* --- progress in the meantime --- */

static int
test_is_two(void *ctx)
{
    const tg_progress_t *progress;

    progress = &TAILQ_FIRST(&host.jobs.slots)->progress;

    return progress->last_len == 1 && progress->last[0] == '2';
}

HELP_TEST(progress, "progress")
{
    unsigned id;

    test_begin();
    id = host_send(test_sh("echo '{\"progress\":1}' >&3; sleep 0.1; "
                           "echo '{\"progress\":2}' >&3;",
                           "echo '{\"progress\":3}' >&3;", ""));
    test_release(id, 1);
    CU_ASSERT(host_until(test_is_two, NULL));
    CU_ASSERT(host.peer.out.len == 0);
    id = test_attach(1);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_line_has(id, "progress", "2"));
    test_start_programs();
    CU_ASSERT(host_recv());
    CU_ASSERT(test_line_has(id, "progress", "3"));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_result("text").data != NULL);
    test_end();
}

HELP_TEST(last_progress, "the last progress")
{
    unsigned id;

    test_begin();
    id = host_send(
        test_sh("", "echo '{\"progress\":7,\"message\":\"x\"}' >&3", ""));
    test_release(id, 1);
    test_start_programs();
    CU_ASSERT(host_until(test_all_ended, NULL));
    id = test_attach(1);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_line_has(id, "progress", "7"));
    CU_ASSERT(test_line_has(id, "message", "\"x\""));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_result("text").data != NULL);
    test_end();
}

/* Its limits still apply. */
static void
test_failure(const char *after, const char *more, const char *failure)
{
    test_begin();
    test_release(host_send(test_sh("", after, more)), 1);

    if (after[0] != '\0') {
        test_start_programs();
    }

    CU_ASSERT(host_until(test_all_ended, NULL));
    (void) test_attach(1);
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", failure));
    test_end();
}

HELP_TEST(limits, "too much and too late")
{
    test_failure("echo much", ",\"max_output\":2", "\"output\"");
    test_failure("", ",\"timeout_ms\":200", "\"timeout\"");
}

/* --- failures --- */

HELP_TEST(wrong, "wrong requests")
{
    static const char *const params[] = {
        "{}",
        "[]",
        "{\"id\":1,\"key\":1}",
        "{\"id\":1,\"key\":\"short\"}",
        "{\"id\":1,\"key\":\"abcdefghijklmno\\u0070\"}",
    };

    test_begin();

    HELP_EACH(param, params) {
        (void) host_request("release", *param);
        CU_ASSERT(host_recv());
        CU_ASSERT(test_is_error("must be 16 to 64"));
        (void) host_request("adopt", *param);
        CU_ASSERT(host_recv());
        CU_ASSERT(test_is_error("must be 16 to 64"));
    }

    (void) host_request("release", "{\"key\":\"" KEY "\"}");
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call"));
    (void) test_attach(1);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call is held"));
    test_end();
}

/* Only its worker can detach a call, once, and it is attached once. */
HELP_TEST(twice, "twice")
{
    unsigned first, second;

    test_begin();
    first = host_send(test_sh("", "echo first", ""));
    second = host_send(test_sh("", "echo second", ""));
    test_release(first, 1);
    (void) host_request("release", test_key(first, 2));
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call"));
    (void) host_request("release", test_key(second, 1));
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("in use"));

    host.at = &test_new;
    (void) host_request("release", test_key(second, 2));
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call"));

    (void) test_attach(1);
    (void) test_attach(1);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call is held"));
    test_start_programs();
    HOST_RECV_TEXT("first\n");
    host.at = &host.peer;
    HOST_RECV_TEXT("second\n");
    test_end();
}

/* The old worker disconnects: its detached jobs stay; then the new one. */
HELP_TEST(lost, "lost connections")
{
    test_begin();
    test_release(host_send(test_sh("", "echo kept", "")), 1);
    tg_peer_deinit(&host.peer);
    host_peer_init(&host.peer);
    CU_ASSERT(host.jobs.nrunning == 1);
    (void) test_attach(1);
    CU_ASSERT(test_new.ncalls == 1);
    tg_peer_deinit(&test_new);
    host_peer_init(&test_new);
    test_end();
}

HELP_TEST(cancelled, "cancelled")
{
    unsigned id;

    test_begin();
    id = host_send(test_sh("", "", ""));
    test_release(id, 1);

    /* The worker no longer has the call. */
    host_cancel(id);
    CU_ASSERT(host.jobs.nrunning == 1);
    id = test_attach(1);
    host_cancel(id);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_new.out.len == 0);
    test_end();
}

static int
test_none_left(void *ctx)
{
    return host.jobs.njobs == 0;
}

/* No worker attaches them: running jobs are ended, finished ones dropped. */
HELP_TEST(expired, "not attached in time")
{
    unsigned id;
    int nidle;

    test_begin();
    host.jobs.detached_ms = 300;
    id = host_send(host_sh("echo ended", ""));
    test_release(id, 1);
    id = host_send(test_sh("", "", ""));
    test_release(id, 2);
    nidle = host.nidle;
    CU_ASSERT(host_until(test_none_left, NULL));
    CU_ASSERT(host.nidle > nidle);
    (void) test_attach(2);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("No call is held"));
    host.jobs.detached_ms = TG_DETACHED_MS;
    test_end();
}

HELP_TEST(dropped, "the runner ends")
{
    test_begin();
    test_release(host_send(test_sh("", "", "")), 1);
    tg_jobs_drop_detached(&host.jobs);
    CU_ASSERT(host.jobs.ndetached == 0);
    CU_ASSERT(host_until(host_no_exec, NULL));
    test_end();
}

/* The largest number of detached jobs: the next stays with its worker. */
HELP_TEST(full, "the largest number")
{
    unsigned id;

    test_begin();
    test_start_programs();
    host.jobs.ndetached += TG_DETACHED_MAX;
    id = host_send(host_sh("exit 4", ""));
    (void) host_request("release", test_key(id, 1));
    CU_ASSERT(host_recv());
    CU_ASSERT(test_is_error("Too many calls are held"));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is_text("message", "tool exited with status 4 and wrote "
                                      "nothing to stderr"));
    host.jobs.ndetached -= TG_DETACHED_MAX;
    test_end();
}

/* With much stored output, a detached queued job is not started. */
HELP_TEST(backlog, "much stored output")
{
    unsigned id;

    test_begin();
    (void) host_send(test_sh("", "echo first", test_one_slot));
    id = host_send(host_sh("echo second", test_one_slot));
    test_release(id, 2);
    host.jobs.detached_bytes += TG_DETACHED_BACKLOG;
    test_start_programs();
    CU_ASSERT(host_recv());
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(host.jobs.nqueued == 1);
    host.jobs.detached_bytes -= TG_DETACHED_BACKLOG;
    (void) test_attach(2);
    HOST_RECV_TEXT("second\n");
    test_end();
}
