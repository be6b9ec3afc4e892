/*
 * Fuzzes the runner's protocol and the output of programs. No program is
 * started: a start writes the output from the input to the program's pipes and
 * then reports that the program has ended.
 *
 * Input: how starts behave, the programs' outputs (a line each: stdout,
 * stderr, progress; \r stands for their newlines); then bytes that the worker
 * sends.
 */
#include "help.h"

#include "runner/exec/tg_exec.h"
#include "runner/output/tg_relayed_call.h"
#include "runner/jobs/tg_slot_job.h"
#include "runner/output/tg_output_store.h"
#include "runner/jobs/tg_job_detach.h"
#include "runner/jobs/tg_job_call.h"
#include "protocol/tg_peer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Process ids that no process has. */
#define RUNNER_PID 0x40000000
#define RUNNER_METHODS 7
/* Loop iterations after which all jobs must have ended. */
#define RUNNER_ITERATIONS 10000

typedef struct {
    uv_loop_t loop;
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_output_store_t output_store;
    char dir[32]; /* folder of large outputs */
    tg_catalog_t *catalog;
    tg_catalog_entry_t entries[RUNNER_METHODS];
    tg_server_info_t info;
    tg_peer_t peer;
    unsigned how; /* first byte of the input */
    tg_str_t texts[TG_SPAWN_FDS];
    pid_t last;
    int has_started; /* the loop is initialized */
} runner_t;

static runner_t runner;

/* --- functions that are replaced --- */

int __wrap_tg_spawn(const tg_spawn_params_t *spawn, pid_t *pid,
                    tg_spawn_step_t *step);
int __wrap_tg_pid_list_for_each(int fd, tg_pid_visit_pt take, void *ctx);
int __wrap_tg_proc_signal(const tg_proc_t *proc, int sig);
int __wrap_kill(pid_t pid, int sig);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
int __wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);

static void
runner_write(int fd, tg_str_t text, int is_line)
{
    char data[4096];
    size_t i, len;

    len = text.len < sizeof(data) ? text.len : sizeof(data);

    for (i = 0; i < len; i++) {
        data[i] = text.data[i] == '\r' && !is_line ? '\n' : text.data[i];
    }

    FUZZ(write(fd, data, len) == (ssize_t) len);
}

int
__wrap_tg_spawn(const tg_spawn_params_t *spawn, pid_t *pid,
                tg_spawn_step_t *step)
{
    static const int errors[] = { EAGAIN, EPERM, ENOENT, E2BIG, ENOEXEC };
    char *const *text;
    int i;

    FUZZ(spawn->argv[0] != NULL);

    for (text = spawn->argv; *text != NULL; text++) {
        FUZZ(strlen(*text) < 1 << 20);
    }

    for (text = spawn->envp; *text != NULL; text++) {
        FUZZ(strchr(*text, '=') != NULL);
    }

    if (runner.how % 8 >= 3) {
        *step = (tg_spawn_step_t) (runner.how % 4);
        return errors[runner.how % 5];
    }

    for (i = TG_EXEC_OUT; i <= TG_EXEC_PROGRESS; i++) {
        runner_write(spawn->fds[i], runner.texts[i], i == TG_EXEC_PROGRESS);
    }

    *pid = ++runner.last;

    return 0;
}

int
__wrap_tg_pid_list_for_each(int fd, tg_pid_visit_pt take, void *ctx)
{
    return 1;
}

int
__wrap_tg_proc_signal(const tg_proc_t *proc, int sig)
{
    return -1;
}

int
__wrap_kill(pid_t pid, int sig)
{
    errno = ESRCH;

    return -1;
}

pid_t
__wrap_waitpid(pid_t pid, int *status, int options)
{
    errno = ECHILD;

    return -1;
}

/* The result does not wait for the last progress. */
int
__wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                      uint64_t repeat)
{
    return __real_uv_timer_start(
        timer, cb, timeout <= TG_JOB_PROGRESS_GAP_MS ? 0 : timeout, repeat);
}

/* --- the host --- */

static void
runner_exec(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_jobs_handle_call(jobs, &tg_exec_job_type, &runner.programs, peer,
                        request);
}

static void
runner_slot(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_jobs_handle_call(jobs, &tg_slot_job_type, NULL, peer, request);
}

static const struct {
    const char *name;
    void (*handle)(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request);
} runner_methods[RUNNER_METHODS] = {
    { "exec", runner_exec },
    { "release", tg_jobs_detach_call },
    { "adopt", tg_jobs_attach_call },
    { "leave", tg_relayed_call_register },
    { "tell", tg_relayed_call_update_progress },
    { "finish", tg_relayed_call_finish },
    { "place", runner_slot },
};

static void
runner_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    runner_methods[request->entry - runner.entries].handle(&runner.jobs, peer,
                                                           request);
}

static void
runner_on_cancel(void *ctx, tg_call_t *call)
{
    tg_jobs_cancel_call(call);
}

static int
runner_may(void *ctx, tg_peer_t *peer)
{
    return 1;
}

static void
runner_notified(void *ctx, tg_peer_t *peer)
{
}

static void
runner_idle(void *ctx)
{
}

/* Removes all large outputs and checks that none is half written. */
static void
runner_forget(void)
{
    struct dirent *entry;
    DIR *dir;

    FUZZ(runner.output_store.writing == 0);

    if (runner.output_store.dir == -1) {
        return;
    }

    dir = fdopendir(dup(runner.output_store.dir));
    FUZZ(dir != NULL);
    rewinddir(dir);

    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        {
            continue;
        }

        /* Half-written files have been removed. */
        FUZZ(entry->d_name[0] != '.');
        FUZZ(unlinkat(runner.output_store.dir, entry->d_name, 0) == 0);
    }

    (void) closedir(dir);
}

static void
runner_cleanup(void)
{
    char path[64];

    (void) snprintf(path, sizeof(path), "%s/spill", runner.dir);
    (void) rmdir(path);
    (void) rmdir(runner.dir);
}

static void
runner_start(void)
{
    static const tg_jobs_ops_t ops = { runner_may, runner_may, runner_may,
                                       runner_notified, runner_idle };
    size_t i;

    if (runner.has_started) {
        return;
    }

    (void) signal(SIGPIPE, SIG_IGN);
    FUZZ(uv_loop_init(&runner.loop) == 0);
    FUZZ(tg_programs_init(&runner.programs, &runner.loop) == 0);
    strcpy(runner.dir, "/tmp/toolgate.XXXXXX");
    FUZZ(mkdtemp(runner.dir) != NULL);
    FUZZ(atexit(runner_cleanup) == 0);
    tg_output_store_init(&runner.output_store, &runner.loop, runner.dir);
    runner.programs.output_store = &runner.output_store;
    tg_jobs_init(&runner.jobs, &runner.loop, &ops, &runner);
    runner.catalog = tg_catalog_new(tg_alloc_libc());

    for (i = 0; i < RUNNER_METHODS; i++) {
        runner.entries[i].kind = TG_ENTRY_METHOD;
        runner.entries[i].output = TG_OUTPUT_JSON;
        runner.entries[i].name = tg_str_from_cstr(runner_methods[i].name);
        FUZZ(tg_catalog_add(runner.catalog, &runner.entries[i]) == TG_OK);
    }

    FUZZ(tg_catalog_seal(runner.catalog) == TG_OK);
    runner.has_started = 1;
}

/* Runs the loop until every job has ended, except detached ones. */
static void
runner_finish(void)
{
    static const int statuses[] = { 0, 0x100, 9, 0x7f00 };
    tg_job_t *job, *next;
    tg_exec_t *exec;
    unsigned iterations;

    tg_relayed_calls_on_peer_closed(&runner.jobs, &runner.peer);

    for (iterations = 0; runner.jobs.njobs != runner.jobs.ndetached
                         || !TAILQ_EMPTY(&runner.jobs.slots)
                         || !TAILQ_EMPTY(&runner.jobs.queue);
         iterations++)
    {
        FUZZ(iterations < RUNNER_ITERATIONS);
        (void) uv_run(&runner.loop, UV_RUN_NOWAIT);

        /* Ends the wait for detached jobs, as their timeout would. */
        if (iterations == RUNNER_ITERATIONS / 2) {
            tg_jobs_drop_detached(&runner.jobs);
        }

        /* Slots are kept until no job waits for them. */
        for (job = TAILQ_FIRST(&runner.jobs.without_slot); job != NULL;
             job = next) {
            next = TAILQ_NEXT(job, link);

            if (job->type == &tg_slot_job_type && job->state == TG_JOB_RUNNING
                && job->token_len == 0)
            {
                tg_job_fail(job, TG_FAILURE_LOST, "over");
                tg_job_stop(job);
            }
        }

        for (job = TAILQ_FIRST(&runner.jobs.slots); job != NULL; job = next) {
            next = TAILQ_NEXT(job, link);

            exec = job->work;

            if (!exec->program.has_ended) {
                exec->program.status = statuses[runner.how / 8 % 4];
                tg_program_on_exited(&exec->program);
            }
        }
    }

    FUZZ(runner.jobs.nrunning == 0 && runner.jobs.nqueued == 0
         && (runner.jobs.limits == NULL || runner.jobs.ndetached != 0));
}

/* Checks the worker's lines, results and progress, and counts the results. */
static unsigned
runner_count_results(tg_str_t out)
{
    tg_message_t message;
    fuzz_in_t in;
    unsigned n;

    in.pos = out.data;
    in.end = tg_str_end(out);

    for (n = 0; in.pos != in.end;) {
        FUZZ(tg_message_parse(&message, fuzz_until_newline(&in)) == TG_OK);
        n += message.type == TG_JSON_OBJECT && message.method.data == NULL;
    }

    return n;
}

FUZZ_TARGET(in)
{
    static const tg_peer_ops_t ops = { .call = runner_on_call,
                                       .cancel = runner_on_cancel };
    size_t consumed;
    tg_str_t text;
    char *copy;
    int i;

    runner_start();
    runner.how = fuzz_byte(&in);
    runner.last = RUNNER_PID;

    for (i = TG_EXEC_OUT; i <= TG_EXEC_PROGRESS; i++) {
        runner.texts[i] = fuzz_until_newline(&in);
    }

    text = fuzz_rest(&in);
    FUZZ(tg_peer_init(&runner.peer, tg_alloc_libc(), &ops, &runner,
                      TG_DIALECT_JSONRPC, runner.catalog, &runner.info, 65536,
                      16)
         == TG_OK);
    copy = help_copy(text);
    (void) tg_peer_handle_input(&runner.peer, copy, text.len, &consumed);
    free(copy);

    /*
     * Closes the worker's connection while jobs run, or after they have ended.
     */
    if (runner.how < 128) {
        runner_finish();
        FUZZ(runner.peer.ncalls == 0);
        (void) runner_count_results(tg_buf_view(&runner.peer.out));
    }

    tg_relayed_calls_on_peer_closed(&runner.jobs, &runner.peer);
    tg_peer_deinit(&runner.peer);
    tg_jobs_drop_detached(&runner.jobs);
    runner_finish();
    FUZZ(runner.jobs.njobs == 0 && runner.jobs.bytes == 0
         && runner.jobs.detached_bytes == 0
         && TAILQ_EMPTY(&runner.jobs.without_slot));
    runner_forget();
}
