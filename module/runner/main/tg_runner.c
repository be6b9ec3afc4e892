/* The life of the runner: start, listening, checks of files, end. */
#include "runner/main/tg_runner.h"

#include "runner/process/tg_process_tag.h"
#include "runner/process/tg_spawn.h"
#include "runner/process/tg_process_tree.h"
#include "runner/main/tg_runner_socket.h"
#include "runner/logging/tg_log.h"
#include "runner/main/tg_worker_conn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct {
    const tg_runner_conf_t *conf;
    uv_loop_t loop;
    tg_runner_socket_t socket;
    uv_pipe_t listener;
    uv_signal_t sigterm;
    uv_signal_t sigint;
    uv_timer_t linger;
    uv_timer_t check_files;
    tg_workers_t workers;
    int is_listening;
    int has_reported_error; /* a listen error was reported */
    int is_ready;           /* the starter knows that the runner listens */
    int has_served;         /* a worker has been connected */
    int is_stopping;        /* the runner is ending its jobs */
    int is_closed;          /* the runner's own handles are closed, too */
} tg_runner_t;

/* --- end --- */

static void tg_runner_on_linger(uv_timer_t *timer);

static void
tg_runner_close(tg_runner_t *runner)
{
    sigset_t set;

    if (runner->is_closed) {
        return;
    }

    /* From here on, a signal would only interrupt the end. */
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    (void) sigprocmask(SIG_BLOCK, &set, NULL);

    runner->is_closed = 1;
    uv_close((uv_handle_t *) &runner->sigterm, NULL);
    uv_close((uv_handle_t *) &runner->sigint, NULL);
    uv_close((uv_handle_t *) &runner->linger, NULL);
    uv_close((uv_handle_t *) &runner->check_files, NULL);
    tg_workers_close(&runner->workers);
}

/*
 * Starts the linger timer without workers and jobs. When stopping, closes the
 * handles after everything has ended.
 */
static void
tg_runner_check_idle(void *host)
{
    tg_runner_t *runner;
    uint64_t wait;

    runner = host;

    if (runner->is_stopping) {
        if (tg_workers_is_empty(&runner->workers)) {
            tg_runner_close(runner);
        }

        return;
    }

    if (!tg_workers_is_idle(&runner->workers)) {
        return;
    }

    wait = runner->conf->linger_ms;

    if (!runner->has_served && wait < TG_RUNNER_FIRST_WORKER_MS) {
        wait = TG_RUNNER_FIRST_WORKER_MS;
    }

    uv_timer_start(&runner->linger, tg_runner_on_linger, wait, 0);
}

static void
tg_runner_close_listener(tg_runner_t *runner, uv_close_cb then)
{
    if (runner->is_listening) {
        runner->is_listening = 0;
        uv_close((uv_handle_t *) &runner->listener, then);
    }
}

/* Ends every job. The runner exits after the last one. */
static void
tg_runner_stop(tg_runner_t *runner)
{
    if (runner->is_stopping) {
        return;
    }

    runner->is_stopping = 1;
    tg_runner_socket_close(&runner->socket);

    tg_runner_close_listener(runner, NULL);
    tg_workers_close_all(&runner->workers);
    tg_runner_check_idle(runner);
}

/*
 * Stops the runner, unless a worker is connecting: no new one can connect to
 * the hidden socket, and poll() shows those that did before.
 */
static void
tg_runner_on_linger(uv_timer_t *timer)
{
    tg_runner_t *runner;
    struct pollfd waiting;
    uv_os_fd_t fd;

    runner = timer->data;

    /* A task began meanwhile; its end restarts the timer. */
    if (!tg_workers_is_idle(&runner->workers)) {
        return;
    }

    (void) tg_runner_socket_hide(&runner->socket);

    if (runner->is_listening
        && uv_fileno((uv_handle_t *) &runner->listener, &fd) == 0)
    {
        waiting.fd = fd;
        waiting.events = POLLIN;

        if (poll(&waiting, 1, 0) == 1) {
            (void) tg_runner_socket_show(&runner->socket);
            return;
        }
    }

    tg_log(TG_LOG_NOTICE, "no worker needs it any more, exiting");
    tg_runner_stop(runner);
}

static void
tg_runner_on_signal(uv_signal_t *handle, int signum)
{
    tg_runner_t *runner;

    runner = handle->data;

    if (!runner->is_stopping) {
        tg_log(TG_LOG_NOTICE, "stopping on signal %d", signum);
        tg_runner_stop(runner);
    }
}

/* --- start --- */

static void
tg_runner_on_connection(uv_stream_t *listener, int status)
{
    tg_runner_t *runner;

    runner = listener->data;

    if (status != 0) {
        tg_log(TG_LOG_ERROR, "cannot accept a connection: %s",
               uv_strerror(status));
        tg_runner_check_idle(runner);

    } else if (tg_workers_accept(&runner->workers, listener) == 0) {
        runner->has_served = 1;
        uv_timer_stop(&runner->linger);

    } else {
        tg_log(TG_LOG_CRIT, "no memory left, exiting");
        tg_runner_stop(runner);
    }
}

/* Reports an error to the process that started the runner, else to the log. */
static void
tg_runner_report_error(const tg_runner_t *runner, const char *why,
                       const char *error)
{
    const tg_runner_conf_t *conf;

    conf = runner->conf;

    if (conf->is_reporting && conf->ready_fd != -1 && !runner->is_ready) {
        (void) dprintf(conf->ready_fd, "%s: %s", why, error);
    } else {
        tg_log(TG_LOG_ERROR, "%s: %s: %s", conf->state_dir, why, error);
    }
}

/* Reports a listen error once, although listening is tried repeatedly. */
static int
tg_runner_on_listen_failed(tg_runner_t *runner, const char *why,
                           const char *error)
{
    if (!runner->has_reported_error) {
        tg_runner_report_error(runner, why, error);
    }

    runner->has_reported_error = 1;

    return -1;
}

static int
tg_runner_listen(tg_runner_t *runner)
{
    const char *why;
    int fd, rc;

    fd = tg_runner_socket_listen(&runner->socket, &why);

    if (fd == -1) {
        return tg_runner_on_listen_failed(runner, why, strerror(errno));
    }

    uv_pipe_init(&runner->loop, &runner->listener, 0);
    runner->listener.data = runner;
    runner->is_listening = 1;
    rc = uv_pipe_open(&runner->listener, fd);

    if (rc != 0) {
        (void) close(fd);
    } else {
        rc = uv_listen((uv_stream_t *) &runner->listener,
                       TG_RUNNER_SOCKET_BACKLOG, tg_runner_on_connection);
    }

    if (rc != 0) {
        tg_runner_close_listener(runner, NULL);
        return tg_runner_on_listen_failed(runner, "cannot listen",
                                          uv_strerror(rc));
    }

    runner->has_reported_error = 0;

    return 0;
}

/*
 * Tries to listen again, at each check of the files: without that, no worker
 * could connect, and no other runner could take the lock.
 */
static void
tg_runner_listen_again(tg_runner_t *runner)
{
    int had_reported_error;

    had_reported_error = runner->has_reported_error;

    if (tg_runner_listen(runner) != 0) {
        if (!had_reported_error) {
            tg_log(TG_LOG_ERROR, "new workers cannot connect; trying again "
                                 "every 2 s");
        }

    } else if (had_reported_error) {
        tg_log(TG_LOG_NOTICE, "listening again");
    }
}

static void
tg_runner_on_listener_closed(uv_handle_t *handle)
{
    tg_runner_t *runner;

    runner = handle->data;

    if (!runner->is_stopping) {
        tg_runner_listen_again(runner);
    }
}

static void
tg_runner_on_check_files(uv_timer_t *timer)
{
    tg_runner_t *runner;

    runner = timer->data;
    tg_log_flush_held();

    /* Also the supervisor must reopen it, or the old file would stay open. */
    if (tg_log_reopen() && getppid() == runner->conf->supervisor) {
        (void) kill(runner->conf->supervisor, SIGHUP);
    }

    if (runner->is_stopping) {
        return;
    }

    if (!runner->is_listening) {
        tg_runner_listen_again(runner);

    } else if (!tg_runner_socket_exists(&runner->socket)) {
        tg_log(TG_LOG_WARN, "the socket was removed, listening again");
        tg_runner_close_listener(runner, tg_runner_on_listener_closed);
    }
}

static void
tg_runner_init_handles(tg_runner_t *runner)
{
    uv_signal_init(&runner->loop, &runner->sigterm);
    uv_signal_init(&runner->loop, &runner->sigint);
    uv_timer_init(&runner->loop, &runner->linger);
    uv_timer_init(&runner->loop, &runner->check_files);
    runner->sigterm.data = runner;
    runner->sigint.data = runner;
    runner->linger.data = runner;
    runner->check_files.data = runner;
    uv_signal_start(&runner->sigterm, tg_runner_on_signal, SIGTERM);
    uv_signal_start(&runner->sigint, tg_runner_on_signal, SIGINT);
    uv_timer_start(&runner->check_files, tg_runner_on_check_files,
                   TG_RUNNER_CHECK_FILES_MS, TG_RUNNER_CHECK_FILES_MS);
}

static void
tg_runner_notify_ready(tg_runner_t *runner)
{
    int fd;

    fd = runner->conf->ready_fd;
    runner->is_ready = 1;

    if (fd != -1) {
        if (write(fd, "", 1) == -1) {
            tg_log(TG_LOG_INFO, "the process that started it has exited");
        }

        (void) close(fd);
    }
}

static int
tg_runner_serve(tg_runner_t *runner)
{
    int rc;

    tg_runner_init_handles(runner);
    rc = tg_runner_listen(runner);

    if (rc == 0) {
        tg_log(TG_LOG_NOTICE, "pid %d serves %s", getpid(),
               runner->socket.path);
        tg_runner_notify_ready(runner);
        tg_runner_check_idle(runner);
    } else {
        tg_runner_stop(runner);
    }

    uv_run(&runner->loop, UV_RUN_DEFAULT);

    return rc;
}

static int
tg_runner_fail_start(tg_runner_t *runner, int err)
{
    tg_runner_report_error(runner, "cannot start", strerror(err));
    tg_runner_socket_close(&runner->socket);

    return -1;
}

/* Kills what is left if an earlier runner and its supervisor were killed. */
static void
tg_runner_kill_leftovers(const tg_runner_t *runner)
{
    unsigned n;
    int is_left;

    n = tg_process_tag_kill_all(runner->socket.process_tag, &is_left);

    if (n != 0) {
        tg_log(is_left ? TG_LOG_ERROR : TG_LOG_WARN,
               "%u %s left by a runner that was killed together with its "
               "supervisor; %s",
               n,
               tg_pick_plural(n, "process of a program was",
                              "processes of programs were"),
               is_left ? "they keep forking, kill them by hand" : "killed");
    }
}

static void
tg_runner_find_cgroup(tg_runner_t *runner)
{
    tg_cgroups_t *cgroups;

    cgroups = &runner->workers.programs.cgroups;
    tg_cgroups_open(cgroups, NULL, runner->socket.process_tag,
                    runner->conf->supervisor);

    if (cgroups->dir[0] == '\0') {
        tg_log(TG_LOG_INFO, "programs have no cgroups of their own: %s",
               cgroups->why);
    } else if (cgroups->why != NULL) {
        tg_log(TG_LOG_INFO, "programs have cgroups in %s, without limits: %s",
               cgroups->dir, cgroups->why);
    } else {
        tg_log(TG_LOG_INFO, "programs have cgroups in %s", cgroups->dir);
    }
}

/* Starts and serves under the lock, which it releases in the end. */
static int
tg_runner_start(tg_runner_t *runner)
{
    int rc;

    if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1) {
        return tg_runner_fail_start(runner, errno);
    }

    tg_runner_kill_leftovers(runner);
    rc = uv_loop_init(&runner->loop);

    if (rc != 0) {
        return tg_runner_fail_start(runner, -rc);
    }

    rc = tg_workers_init(&runner->workers, &runner->loop,
                         runner->conf->state_dir, tg_runner_check_idle, runner);

    if (rc == 0) {
        tg_runner_find_cgroup(runner);
        runner->workers.programs.process_tag = runner->socket.process_tag;
        rc = tg_runner_serve(runner);
        tg_workers_deinit(&runner->workers);
    } else {
        rc = tg_runner_fail_start(runner, -rc);
    }

    (void) uv_loop_close(&runner->loop);

    return rc;
}

int
tg_runner_run(const tg_runner_conf_t *conf)
{
    tg_runner_t *runner;
    const char *why;
    int rc;

    tg_spawn_ignore_signals();
    runner = calloc(1, sizeof(*runner));

    if (runner == NULL) {
        tg_log(TG_LOG_CRIT, "no memory left");
        return 1;
    }

    runner->conf = conf;

    if (!conf->is_foreground) {
        tg_log_set_sink(tg_workers_log, &runner->workers);
    }

    rc = tg_runner_socket_lock(&runner->socket, conf->state_dir, &why);

    if (rc == TG_EXISTS) {
        /* Another runner was faster, and serves. */
        tg_runner_notify_ready(runner);
        rc = 0;

    } else if (rc != TG_OK) {
        tg_runner_report_error(runner, why, strerror(errno));
        rc = 1;

    } else {
        rc = tg_runner_start(runner) == 0 ? 0 : 1;
    }

    tg_process_tree_kill_all();
    tg_cgroups_close(&runner->workers.programs.cgroups);
    tg_log_set_sink(NULL, NULL);
    free(runner);

    return rc;
}
