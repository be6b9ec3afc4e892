/*
 * From a start to a stop.
 */
#include "library/tg_server.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Rounds of a loop in toolgate_process(): then others have their turn. */
#define TG_PROCESS_ROUNDS 16

/* --- loops --- */

/* Signals are the program's. */
static void
tg_life_no_signals(sigset_t *before)
{
    sigset_t all;

    (void) sigfillset(&all);
    (void) sigdelset(&all, SIGSEGV);
    (void) sigdelset(&all, SIGBUS);
    (void) sigdelset(&all, SIGFPE);
    (void) sigdelset(&all, SIGILL);
    (void) sigdelset(&all, SIGABRT);
    (void) pthread_sigmask(SIG_SETMASK, &all, before);
}

static void *
tg_life_thread(void *arg)
{
    tg_run_t *run;

    run = arg;
    (void) pthread_setname_np(pthread_self(), "toolgate");
    (void) uv_run(run->loop, UV_RUN_DEFAULT);

    return NULL;
}

static void
tg_life_is_over(tg_run_t *run)
{
    if (run->kind == TG_LOOP_UV) {
        tg_run_free(run);
    }
}

/* A loop of our own runs to its end. */
static void
tg_life_finish(tg_run_t *run)
{
    while (run->loop != NULL && !run->is_over) {
        (void) uv_run(run->loop, UV_RUN_ONCE);
    }

    tg_run_free(run);
}

/*
 * libuv writes as anybody does: a client that has gone would be the end of a
 * program that does not ignore SIGPIPE, unless that waits until it is taken.
 */
static int
tg_life_hold_pipe(sigset_t *before)
{
    sigset_t pipe, pending;

    (void) sigemptyset(&pipe);
    (void) sigaddset(&pipe, SIGPIPE);
    (void) sigpending(&pending);
    (void) pthread_sigmask(SIG_BLOCK, &pipe, before);

    return sigismember(&pending, SIGPIPE);
}

static void
tg_life_release_pipe(const sigset_t *before, int was_pending)
{
    static const struct timespec now;
    sigset_t pipe;

    (void) sigemptyset(&pipe);
    (void) sigaddset(&pipe, SIGPIPE);

    if (!was_pending) {
        (void) sigtimedwait(&pipe, NULL, &now);
    }

    (void) pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The descriptor is readable when the loop has something to do. */
static void
tg_life_arm(tg_run_t *run)
{
    struct itimerspec when;
    int timeout;

    memset(&when, 0, sizeof(when));
    timeout = run->dirty != NULL ? 0 : uv_backend_timeout(run->loop);

    if (timeout >= 0) {
        when.it_value.tv_sec = timeout / 1000;
        when.it_value.tv_nsec = timeout == 0 ? 1 : timeout % 1000 * 1000000L;
    }

    (void) timerfd_settime(run->tick_fd, 0, &when, NULL);
}

static void
tg_life_process(tg_run_t *run)
{
    sigset_t before;
    int i, was_pending;

    was_pending = tg_life_hold_pipe(&before);
    run->is_running = 1;
    i = 0;

    do {
        (void) uv_run(run->loop, UV_RUN_NOWAIT);
    } while (++i < TG_PROCESS_ROUNDS && !run->is_stopping
             && (run->dirty != NULL || uv_backend_timeout(run->loop) == 0));

    run->is_running = 0;

    if (run->must_stop) {
        tg_run_stop(run);
        tg_life_finish(run);
    } else {
        tg_life_arm(run);
    }

    tg_life_release_pipe(&before, was_pending);
}

/* --- start --- */

static tg_run_t *
tg_run_new(toolgate_server_t *server, tg_catalogue_t *catalogue)
{
    tg_run_t *run;
    size_t name, version;

    run = calloc(1, sizeof(*run));

    if (run == NULL) {
        return NULL;
    }

    name = strlen(server->name);
    version = strlen(server->version);
    tg_buf_init(&run->texts, tg_alloc_libc());
    tg_buf_text(&run->texts, server->name);
    tg_buf_text(&run->texts, server->version);

    if (server->instructions != NULL) {
        tg_buf_text(&run->texts, server->instructions);
    }

    if (tg_buf_failed(&run->texts)) {
        tg_buf_deinit(&run->texts);
        free(run);
        return NULL;
    }

    run->kind = server->loop;
    run->loop = server->uv;
    run->conf = server->conf;
    run->catalogue = catalogue;
    run->ended = tg_life_is_over;
    run->info.name = tg_str(run->texts.data, name);
    run->info.version = tg_str(run->texts.data + name, version);
    run->info.has_list_changed = 1;
    run->info.has_broadcasts = 1;

    if (server->instructions != NULL) {
        run->info.instructions = tg_str(run->texts.data + name + version,
                                        run->texts.len - name - version);
    }

    return run;
}

/* The schema file and the socket: 0, and *fd, which may be -1. */
static int
tg_life_open_files(toolgate_server_t *server, const tg_catalogue_t *catalogue,
                   int *fd)
{
    int rc;

    *fd = -1;
    rc = tg_server_write(server, catalogue);

    return rc == 0 && server->transport != TG_TRANSPORT_SDK
               ? tg_files_listen(&server->files, fd)
               : rc;
}

static int
tg_life_run(tg_run_t *run)
{
    sigset_t before;
    int rc;

    if (run->kind != TG_LOOP_THREAD) {
        return 0;
    }

    tg_life_no_signals(&before);
    rc = pthread_create(&run->thread, NULL, tg_life_thread, run);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (rc == 0) {
        return 0;
    }

    errno = rc;

    return tg_error_system("the server's thread cannot be started");
}

/* It did not come to more: its handles are closed, where there are any. */
static void
tg_life_undo(tg_run_t *run)
{
    if (run->loop == NULL || run->nopen == 0) {
        tg_run_free(run);
        return;
    }

    /* The loop of the program's closes the last handle, and frees it then. */
    tg_library_unlock();
    tg_run_stop(run);

    if (run->kind != TG_LOOP_UV) {
        tg_life_finish(run);
    }

    tg_library_lock();
}

static int
tg_life_start(toolgate_server_t *server)
{
    tg_catalogue_t *catalogue;
    tg_run_t *run;
    int fd, rc;

    catalogue = tg_offers_catalogue(&server->offers);

    if (catalogue == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    run = tg_run_new(server, catalogue);

    if (run == NULL) {
        tg_catalogue_release(catalogue);
        return tg_error_memory();
    }

    server->pid = getpid();
    tg_server_know(server);
    rc = tg_life_open_files(server, catalogue, &fd);

    if (rc != 0) {
        tg_run_free(run);
        return rc;
    }

    rc = tg_run_open(run, fd);

    if (rc == 0) {
        rc = tg_life_run(run);
    }

    if (rc != 0) {
        tg_life_undo(run);
        return rc;
    }

    server->run = run;
    server->state = TOOLGATE_STARTED;

    return 0;
}

int
toolgate_start(toolgate_server_t *server)
{
    tg_run_t *run;
    int rc;

    tg_server_end(server);
    tg_library_lock();

    if (server->run != NULL) {
        rc = tg_error(TOOLGATE_ERR_STATE, "the server is started already");

    } else if (server->ended != NULL) {
        rc = tg_error(TOOLGATE_ERR_STATE,
                      "the server is being stopped in the callback that runs; "
                      "start it when that has returned");

    } else {
        rc = tg_life_start(server);

        if (rc != 0) {
            tg_files_remove(&server->files);
            tg_server_forget(server);
        }
    }

    run = rc == 0 && server->loop == TG_LOOP_FD ? server->run : NULL;
    tg_library_unlock();

    /* From now on its descriptor tells. */
    if (run != NULL) {
        tg_life_process(run);
    }

    return rc;
}

/* --- stop --- */

/* Ends a run that no thread has: unlocked. */
static void
tg_life_stop_here(tg_run_t *run)
{
    sigset_t before;
    int was_pending;

    was_pending = tg_life_hold_pipe(&before);
    tg_run_stop(run);

    if (run->kind == TG_LOOP_FD) {
        tg_life_finish(run);
    }

    tg_life_release_pipe(&before, was_pending);
}

void
tg_server_end(toolgate_server_t *server)
{
    tg_run_t *run;

    tg_library_lock();
    run = server->ended;

    if (run != NULL && tg_run_is_calling(run)) {
        run = NULL;
    }

    if (run != NULL) {
        server->ended = NULL;
    }

    tg_library_unlock();

    if (run != NULL) {
        (void) pthread_join(run->thread, NULL);
        tg_run_free(run);
    }
}

/* Locked; what is left to do with a run when it is not: or NULL. */
static tg_run_t *
tg_life_stop(toolgate_server_t *server)
{
    tg_run_t *run;

    run = server->run;
    server->run = NULL;
    server->state = TOOLGATE_STOPPED;
    tg_files_remove(&server->files);
    tg_server_forget(server);

    if (run->kind == TG_LOOP_THREAD || tg_run_is_calling(run)
        || run->is_running) {
        run->must_stop = 1;
        (void) uv_async_send(&run->async);

        if (run->kind == TG_LOOP_THREAD) {
            server->ended = run;
        }

        run = NULL;
    }

    return run;
}

int
toolgate_stop(toolgate_server_t *server)
{
    tg_run_t *run;
    int rc;

    run = NULL;
    tg_library_lock();
    rc = server->run != NULL ? tg_server_is_foreign(server) : 0;

    if (rc == 0 && server->run != NULL) {
        run = tg_life_stop(server);
    }

    tg_library_unlock();

    if (run != NULL) {
        tg_life_stop_here(run);
    }

    tg_server_end(server);

    return rc;
}

/*
 * In a child that was forked, the loop is what a thread that is not here was
 * in the midst of: its memory stays as it is.
 */
void
toolgate_server_free(toolgate_server_t *server)
{
    if (server != NULL && toolgate_stop(server) == 0) {
        tg_server_release(server);
    }
}

/* --- a loop of the caller's --- */

int
toolgate_fd(const toolgate_server_t *server)
{
    int fd;

    tg_library_lock();
    fd = server->run != NULL && server->run->kind == TG_LOOP_FD
             ? uv_backend_fd(server->run->loop)
             : -1;
    tg_library_unlock();

    return fd;
}

int
toolgate_process(toolgate_server_t *server)
{
    tg_run_t *run;
    int rc;

    tg_library_lock();
    run = server->run;
    rc = run == NULL ? tg_error(TOOLGATE_ERR_STATE, "the server is not started")
         : run->kind != TG_LOOP_FD
             ? tg_error(TOOLGATE_ERR_STATE, "the server has a loop of its own; "
                                            "set \"loop\" to \"fd\"")
         : run->is_running ? tg_error(
               TOOLGATE_ERR_STATE,
               "toolgate_process() was called by a callback of its own")
                           : tg_server_is_foreign(server);
    tg_library_unlock();

    if (rc == 0 && run != NULL) {
        tg_life_process(run);
    }

    return rc;
}
