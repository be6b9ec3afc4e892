/* Start of the runner by the worker that needs it, and the runner's report. */
#include "nginx/upstream/ngx_tg_runner.h"

#include <spawn.h>

/*
 * Minimum time between two starts in ms, doubled after failures: the old runner
 * may still be exiting.
 */
#define NGX_TG_RUNNER_RESTART_DELAY_MIN 100
#define NGX_TG_RUNNER_RESTART_DELAY_MAX 1000
/* Time in ms after which a runner that neither serves nor ends is ignored. */
#define NGX_TG_RUNNER_REPORT_TIMEOUT 5000
/* Minimum time in seconds between two log lines about failed starts. */
#define NGX_TG_RUNNER_LOG_INTERVAL 60

extern char **environ;

void
ngx_tg_runner_close_report(ngx_tg_runner_t *runner)
{
    if (runner->report_conn != NULL) {
        ngx_close_connection(runner->report_conn);
        runner->report_conn = NULL;
    }
}

void
ngx_tg_runner_set_serving(ngx_tg_runner_t *runner)
{
    runner->has_started = 0;
    runner->restart_delay = NGX_TG_RUNNER_RESTART_DELAY_MIN;
    runner->error[0] = '\0';
    runner->logged_at = 0;
    ngx_tg_runner_close_report(runner);
}

/* Fails the waiting requests; later ones wait for the next start. */
static void
ngx_tg_runner_on_start_failed(ngx_tg_runner_t *runner)
{
    ngx_tg_upstream_conn_t *conn = &runner->conn;

    if (runner->logged_at == 0
        || ngx_time() - runner->logged_at >= NGX_TG_RUNNER_LOG_INTERVAL)
    {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner cannot start in \"%V\": %s; the calls "
                      "that need it fail until this is fixed",
                      &runner->state_dir, runner->error);
        runner->logged_at = ngx_time();
    }

    if (conn->state == NGX_TG_UPSTREAM_CONN_BACKOFF) {
        conn->retry_at = runner->started_at + runner->restart_delay + 1;
        ngx_tg_upstream_conn_abort(conn);
    }
}

/* Reads the report until its end: empty if the runner serves, else why not. */
static void
ngx_tg_runner_on_report(ngx_event_t *rev)
{
    ngx_tg_runner_t *runner;
    ngx_connection_t *c;
    ssize_t n;

    c = rev->data;
    runner = c->data;

    do {
        n = read(c->fd, runner->error + runner->error_len,
                 NGX_TG_RUNNER_ERROR_MAX - runner->error_len);

        if (n > 0) {
            runner->error_len += (size_t) n;
        }
    } while (n > 0 || (n == -1 && ngx_errno == NGX_EINTR));

    if (n == -1 && ngx_errno == NGX_EAGAIN
        && ngx_handle_read_event(rev, 0) == NGX_OK)
    {
        return;
    }

    ngx_tg_runner_close_report(runner);
    runner->error[runner->error_len] = '\0';

    /* The runner of another worker may be serving by now. */
    if (runner->conn.state == NGX_TG_UPSTREAM_CONN_OPEN) {
        runner->error[0] = '\0';
    } else if (runner->error_len != 0) {
        ngx_tg_runner_on_start_failed(runner);
    }
}

/* Opens the report. Without it, the start counts as failed after a timeout. */
static void
ngx_tg_runner_open_report(ngx_tg_runner_t *runner, ngx_fd_t fd)
{
    ngx_connection_t *c;

    c = ngx_get_connection(fd, ngx_cycle->log);

    if (c == NULL) {
        (void) close(fd);
        return;
    }

    c->data = runner;
    c->log = ngx_cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_tg_runner_on_report;
    runner->report_conn = c;
    runner->error_len = 0;
    runner->error[0] = '\0';

    if (ngx_handle_read_event(c->read, 0) != NGX_OK) {
        ngx_tg_runner_close_report(runner);
    }
}

/*
 * Starts the process, which resets its signals and detaches at once, so that
 * NGINX's waitpid(-1) does no harm. Returns NGX_OK or an errno.
 */
static ngx_err_t
ngx_tg_runner_posix_spawn(ngx_tg_runner_t *runner, int out)
{
    static const char *const levels[] = { "emerg",  "emerg", "alert",
                                          "crit",   "error", "warn",
                                          "notice", "info",  "debug" };
    posix_spawn_file_actions_t actions;
    ngx_err_t err;
    char *argv[7];
    pid_t pid;

    argv[0] = (char *) runner->path.data;
    argv[1] = "--state-dir";
    argv[2] = (char *) runner->state_dir.data;
    argv[3] = "--log-level";
    argv[4] = (char *)
        levels[ngx_min(ngx_cycle->log->log_level, NGX_LOG_DEBUG)];
    argv[5] = "--report";
    argv[6] = NULL;

    err = posix_spawn_file_actions_init(&actions);

    if (err != 0) {
        return err;
    }

    err = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);

    if (err == 0) {
        err = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    }

    (void) posix_spawn_file_actions_destroy(&actions);

    return err;
}

/* Creates the report's pipe and starts the process. NGX_OK or an errno. */
static ngx_err_t
ngx_tg_runner_spawn_process(ngx_tg_runner_t *runner)
{
    ngx_err_t err;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == -1) {
        return ngx_errno;
    }

    err = ngx_tg_runner_posix_spawn(runner, fds[1]);
    (void) close(fds[1]);
    ngx_tg_runner_close_report(runner);

    if (err == 0) {
        ngx_tg_runner_open_report(runner, fds[0]);
    } else {
        (void) close(fds[0]);
    }

    return err;
}

ngx_int_t
ngx_tg_runner_start_if_due(ngx_tg_runner_t *runner)
{
    ngx_uint_t level;
    ngx_msec_t restart_delay;
    ngx_err_t err;

    if (runner->is_of_other_config) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "the toolgate-runner of another config, in \"%V\", is "
                      "gone or rejects this user; its calls are lost",
                      &runner->state_dir);
        return NGX_ERROR;
    }

    restart_delay = runner->report_conn != NULL ? NGX_TG_RUNNER_REPORT_TIMEOUT
                                                : runner->restart_delay;

    if (runner->has_started
        && ngx_current_msec - runner->started_at <= restart_delay)
    {
        return NGX_OK;
    }

    err = ngx_tg_runner_spawn_process(runner);

    if (err != 0) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, err,
                      "\"%V\" could not be started (tool_runner)",
                      &runner->path);
        return NGX_ERROR;
    }

    level = runner->logged_at == 0 ? NGX_LOG_NOTICE : NGX_LOG_INFO;
    ngx_log_error(level, ngx_cycle->log, 0,
                  "starting toolgate-runner in \"%V\"", &runner->state_dir);

    if (runner->has_started) {
        runner->restart_delay = ngx_min(runner->restart_delay * 2,
                                        NGX_TG_RUNNER_RESTART_DELAY_MAX);
    }

    runner->has_started = 1;
    runner->started_at = ngx_current_msec;

    return NGX_OK;
}
