#include "runner/tg_execs.h"

#include "runner/tg_exec.h"
#include "runner/tg_held.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- what runs --- */

void
tg_execs_put_load(tg_buf_t *text, const tg_execs_t *execs)
{
    tg_buf_uint(text, execs->nrunning);
    tg_buf_text(text, " programs are running and ");
    tg_buf_uint(text, execs->nqueued);
    tg_buf_text(text, " wait");
}

static void tg_execs_schedule(tg_execs_t *execs);

static void
tg_execs_on_retry(uv_timer_t *timer)
{
    tg_execs_schedule(timer->data);
}

void
tg_execs_wake(tg_execs_t *execs)
{
    if (execs->queue != NULL) {
        uv_timer_start(&execs->retry, tg_execs_on_retry, 0, 0);
    }
}
/*
 * First come, first served, but whoever waits for a place of its kind keeps
 * nobody else waiting.
 */
static void
tg_execs_schedule(tg_execs_t *execs)
{
    tg_exec_t *exec, *next;
    const char *name;
    int is_waiting;

    is_waiting = 0;

    for (exec = execs->queue; exec != NULL; exec = next) {
        next = exec->next;

        if (execs->nrunning >= TG_EXEC_RUNNING_MAX) {
            return;
        }

        if (tg_exec_blocker(exec, &name) != NULL) {
            continue;
        }

        if (exec->held != NULL
                ? tg_held_may_start(execs)
                : execs->ops->may_start(execs->host, exec->call->peer))
        {
            tg_exec_start(exec);
        } else {
            is_waiting = 1;
        }
    }

    if (is_waiting) {
        uv_timer_start(&execs->retry, tg_execs_on_retry, TG_EXEC_RETRY_MS, 0);
    }
}

void
tg_execs_gone(tg_execs_t *execs, size_t bytes)
{
    execs->nexecs--;
    execs->bytes -= bytes;
    tg_execs_schedule(execs);

    if (execs->nexecs == 0 && execs->nheld == 0) {
        execs->ops->idle(execs->host);
    }
}

static void
tg_execs_reap(tg_execs_t *execs)
{
    tg_exec_t *exec;
    int status;
    pid_t pid;

    for (;;) {
        pid = waitpid(-1, &status, WNOHANG);

        if (pid == -1 && errno == EINTR) {
            continue;
        }

        if (pid <= 0) {
            return;
        }

        /* Anything else is an orphan of a program. */
        for (exec = execs->slots; exec != NULL; exec = exec->next) {
            if (exec->pid == pid && !exec->is_reaped) {
                tg_exec_exited(exec, status);
                break;
            }
        }
    }
}

static void
tg_execs_on_sigchld(uv_signal_t *handle, int signum)
{
    tg_exec_t *exec, *next;
    tg_execs_t *execs;

    execs = handle->data;
    tg_execs_reap(execs);
    execs->has_tree = 0;

    for (exec = execs->slots; exec != NULL; exec = next) {
        next = exec->next;
        tg_exec_look(exec);
    }
}

/* --- calls --- */

static void
tg_execs_reject(tg_peer_t *peer, const tg_request_t *request,
                const char *failure, const tg_buf_t *text)
{
    static const tg_exec_times_t none;
    tg_outcome_t outcome;
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_exec_answer_failed(&json, failure, tg_buf_view(text), &none);
    outcome.kind = TG_OUTCOME_JSON;
    outcome.failure = TG_FAILURE_NONE;
    outcome.value = tg_buf_view(&json);

    if (tg_buf_failed(text) || tg_buf_failed(&json)) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "toolgate-runner has no memory left; try "
                                     "again.");
    }

    tg_peer_answer(peer, &request->reply, &outcome);
    tg_buf_deinit(&json);
}

/* Answers when there is no room for the call. */
static int
tg_execs_is_busy(tg_execs_t *execs, tg_peer_t *peer,
                 const tg_request_t *request)
{
    tg_buf_t text;
    int is_full;

    is_full = execs->nqueued >= TG_EXEC_QUEUE_MAX;

    if (!is_full && execs->bytes + request->arguments.len <= TG_EXEC_BYTES_MAX)
    {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_execs_put_load(&text, execs);
    tg_buf_text(&text, is_full ? "; no more may wait"
                               : ", with as much input as toolgate-runner "
                                 "holds");
    tg_buf_text(&text, ". Try again when some of them have ended.");
    tg_execs_reject(peer, request, "busy", &text);
    tg_buf_deinit(&text);

    return 1;
}

/* Answers when no more of its kind may wait. */
static int
tg_execs_is_full(tg_execs_t *execs, tg_peer_t *peer,
                 const tg_request_t *request, const tg_exec_params_t *params)
{
    const tg_limit_t *limit;
    tg_buf_t text;
    unsigned i;

    limit = NULL;

    for (i = 0; i < params->nlimits; i++) {
        limit = tg_limit_find(execs->limits, &params->limits[i]);

        if (limit != NULL && tg_limit_is_full(limit)) {
            break;
        }
    }

    if (i == params->nlimits) {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, params->tool);
    tg_buf_text(&text, ": ");
    tg_limit_put(&text, limit, params->limits[i].name);
    tg_buf_text(&text, "; call again when one has ended");
    tg_execs_reject(peer, request, "busy", &text);
    tg_buf_deinit(&text);

    return 1;
}

static void
tg_execs_refuse(tg_peer_t *peer, const tg_request_t *request, int rc,
                const char *why)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    switch (rc) {
    case TG_LIMIT:
        tg_buf_text(&text, "The call ");
        tg_buf_text(&text, why);
        tg_buf_char(&text, '.');
        tg_execs_reject(peer, request, "arguments", &text);
        break;
    case TG_BAD:
        outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS, why);
        tg_peer_answer(peer, &request->reply, &outcome);
        break;
    default:
        tg_buf_text(&text, "toolgate-runner has no memory left; try again.");
        tg_execs_reject(peer, request, "internal", &text);
    }

    tg_buf_deinit(&text);
}

void
tg_execs_call(tg_execs_t *execs, tg_peer_t *peer, tg_request_t *request)
{
    tg_exec_params_t params;
    const char *why;
    tg_exec_t *exec;
    int rc;

    if (tg_execs_is_busy(execs, peer, request)) {
        return;
    }

    rc = tg_exec_params_read(&params, request->arguments, &execs->env, &why);

    if (rc != TG_OK) {
        tg_execs_refuse(peer, request, rc, why);
        return;
    }

    if (tg_execs_is_full(execs, peer, request, &params)) {
        tg_exec_params_free(&params);
        return;
    }

    exec = tg_exec_new(execs, &params);

    if (exec == NULL) {
        tg_execs_refuse(peer, request, TG_NOMEM, NULL);
        return;
    }

    exec->call = tg_peer_defer(peer, request);

    if (exec->call == NULL) {
        tg_exec_cancel(exec);
        return;
    }

    exec->call->host = exec;
    tg_execs_schedule(execs);
}

void
tg_execs_cancel(tg_call_t *call)
{
    tg_exec_cancel(call->host);
}

/* --- the whole --- */

static char *
tg_execs_home(void)
{
    struct passwd *user;
    const char *home;
    size_t size;
    char *text;

    user = getpwuid(geteuid());
    home = user != NULL && user->pw_dir != NULL && user->pw_dir[0] == '/'
               ? user->pw_dir
               : "/";
    size = sizeof("HOME=") + strlen(home);
    text = malloc(size);

    if (text != NULL) {
        snprintf(text, size, "HOME=%s", home);
    }

    return text;
}

int
tg_execs_init(tg_execs_t *execs, uv_loop_t *loop, const tg_execs_ops_t *ops,
              void *host)
{
    memset(execs, 0, sizeof(*execs));
    execs->loop = loop;
    execs->ops = ops;
    execs->host = host;
    execs->held_ms = TG_HELD_MS;
    tg_tree_init(&execs->tree);

    execs->env.path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                      "/sbin:/bin";
    execs->env.lang = "LANG=C.UTF-8";
    execs->env.progress = "TOOL_PROGRESS_FD=3";
    execs->env.home = tg_execs_home();

    if (execs->env.home == NULL) {
        return UV_ENOMEM;
    }

    execs->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (execs->null_fd == -1) {
        free((void *) (uintptr_t) execs->env.home);
        return uv_translate_sys_error(errno);
    }

    uv_timer_init(loop, &execs->retry);
    execs->retry.data = execs;
    uv_timer_init(loop, &execs->expiry);
    execs->expiry.data = execs;
    uv_signal_init(loop, &execs->sigchld);
    execs->sigchld.data = execs;
    uv_signal_start(&execs->sigchld, tg_execs_on_sigchld, SIGCHLD);

    return 0;
}

void
tg_execs_close(tg_execs_t *execs)
{
    uv_close((uv_handle_t *) &execs->retry, NULL);
    uv_close((uv_handle_t *) &execs->expiry, NULL);
    uv_close((uv_handle_t *) &execs->sigchld, NULL);
}

void
tg_execs_deinit(tg_execs_t *execs)
{
    tg_tree_deinit(&execs->tree);
    free((void *) (uintptr_t) execs->env.home);
    (void) close(execs->null_fd);
}
