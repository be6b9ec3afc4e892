/*
 * Who runs the loop of a run: a thread, or the program.
 */
#include "library/tg_run.h"

#include <signal.h>
#include <sys/timerfd.h>

/* Rounds of a loop in toolgate_process(): then others have their turn. */
#define TG_PROCESS_ROUNDS 16

/* Signals are the program's. */
static void
tg_drive_no_signals(sigset_t *before)
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
tg_drive_thread(void *arg)
{
    tg_run_t *run;

    run = arg;
    (void) pthread_setname_np(pthread_self(), "toolgate");
    (void) uv_run(run->loop, UV_RUN_DEFAULT);

    return NULL;
}

void
tg_run_is_over(tg_run_t *run)
{
    if (run->kind == TG_LOOP_UV) {
        tg_run_free(run);
    }
}

static void
tg_run_finish(tg_run_t *run)
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
tg_drive_hold_pipe(sigset_t *before)
{
    sigset_t pipe, pending;

    (void) sigemptyset(&pipe);
    (void) sigaddset(&pipe, SIGPIPE);
    (void) sigpending(&pending);
    (void) pthread_sigmask(SIG_BLOCK, &pipe, before);

    return sigismember(&pending, SIGPIPE);
}

static void
tg_drive_release_pipe(const sigset_t *before, int was_pending)
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
tg_drive_arm(tg_run_t *run)
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

void
tg_run_process(tg_run_t *run)
{
    sigset_t before;
    int i, was_pending;

    was_pending = tg_drive_hold_pipe(&before);
    run->is_running = 1;
    i = 0;

    do {
        (void) uv_run(run->loop, UV_RUN_NOWAIT);

        /* Before it waits, though the wait is not the loop's. */
        if (run->flush != NULL && !run->is_stopping) {
            run->flush(run);
        }
    } while (++i < TG_PROCESS_ROUNDS && !run->is_stopping
             && (run->dirty != NULL || uv_backend_timeout(run->loop) == 0));

    run->is_running = 0;

    if (run->must_stop) {
        tg_run_stop(run);
        tg_run_finish(run);
    } else {
        tg_drive_arm(run);
    }

    tg_drive_release_pipe(&before, was_pending);
}

/* --- its beginning and its end --- */

int
tg_run_start(tg_run_t *run)
{
    sigset_t before;
    int rc;

    if (run->kind != TG_LOOP_THREAD) {
        return 0;
    }

    tg_drive_no_signals(&before);
    rc = pthread_create(&run->thread, NULL, tg_drive_thread, run);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (rc == 0) {
        return 0;
    }

    errno = rc;

    return tg_error_system("the server's thread cannot be started");
}

void
tg_run_undo(tg_run_t *run)
{
    if (run->loop == NULL || run->nopen == 0) {
        tg_run_free(run);
        return;
    }

    /* The loop of the program's closes the last handle, and frees it then. */
    tg_library_unlock();
    tg_run_stop(run);

    if (run->kind != TG_LOOP_UV) {
        tg_run_finish(run);
    }

    tg_library_lock();
}

void
tg_run_stop_here(tg_run_t *run)
{
    sigset_t before;
    int was_pending;

    was_pending = tg_drive_hold_pipe(&before);
    tg_run_stop(run);

    if (run->kind == TG_LOOP_FD) {
        tg_run_finish(run);
    }

    tg_drive_release_pipe(&before, was_pending);
}

void
tg_run_join(tg_run_t **ended)
{
    tg_run_t *run;

    tg_library_lock();
    run = *ended;

    if (run != NULL && tg_run_is_calling(run)) {
        run = NULL;
    }

    if (run != NULL) {
        *ended = NULL;
    }

    tg_library_unlock();

    if (run != NULL) {
        (void) pthread_join(run->thread, NULL);
        tg_run_free(run);
    }
}

tg_run_t *
tg_run_leave(tg_run_t *run, tg_run_t **ended)
{
    if (run->kind != TG_LOOP_THREAD && !tg_run_is_calling(run)
        && !run->is_running) {
        return run;
    }

    run->must_stop = 1;
    (void) uv_async_send(&run->async);

    if (run->kind == TG_LOOP_THREAD) {
        *ended = run;
    }

    return NULL;
}
