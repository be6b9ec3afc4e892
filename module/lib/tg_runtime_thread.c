/* The thread that runs a runtime's loop: the library's or the program's. */
#include "lib/tg_runtime.h"

#include <signal.h>
#include <sys/timerfd.h>

/* Loop iterations per toolgate_process(), which must return soon. */
#define TG_PROCESS_ITERATIONS_MAX 16

/* Blocks all signals but those of faults: the program handles signals. */
static void
tg_thread_block_signals(sigset_t *before)
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
tg_runtime_run_thread(void *arg)
{
    tg_runtime_t *runtime;

    runtime = arg;
    (void) pthread_setname_np(pthread_self(), "toolgate");
    (void) uv_run(runtime->loop, UV_RUN_DEFAULT);

    return NULL;
}

void
tg_runtime_on_ended(tg_runtime_t *runtime)
{
    if (runtime->type == TG_LOOP_UV) {
        tg_runtime_free(runtime);
    }
}

static void
tg_runtime_run_until_closed(tg_runtime_t *runtime)
{
    while (runtime->loop != NULL && !runtime->is_finished) {
        (void) uv_run(runtime->loop, UV_RUN_ONCE);
    }

    tg_runtime_free(runtime);
}

/*
 * libuv's writes to a closed connection raise SIGPIPE, which would end a
 * program that does not ignore it; tg_thread_restore_sigpipe() consumes a
 * pending one. Returns 1 if SIGPIPE was pending already.
 */
static int
tg_thread_block_sigpipe(sigset_t *before)
{
    sigset_t pipe, pending;

    (void) sigemptyset(&pipe);
    (void) sigaddset(&pipe, SIGPIPE);
    (void) sigpending(&pending);
    (void) pthread_sigmask(SIG_BLOCK, &pipe, before);

    return sigismember(&pending, SIGPIPE);
}

static void
tg_thread_restore_sigpipe(const sigset_t *before, int was_pending)
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

/* Makes the loop's descriptor readable at the loop's next timeout. */
static void
tg_runtime_arm_timerfd(tg_runtime_t *runtime)
{
    struct itimerspec when;
    int timeout;

    memset(&when, 0, sizeof(when));
    timeout = runtime->dirty != NULL ? 0 : uv_backend_timeout(runtime->loop);

    if (timeout >= 0) {
        when.it_value.tv_sec = timeout / 1000;
        when.it_value.tv_nsec = timeout == 0 ? 1 : timeout % 1000 * 1000000L;
    }

    (void) timerfd_settime(runtime->timerfd, 0, &when, NULL);
}

void
tg_runtime_process(tg_runtime_t *runtime)
{
    sigset_t before;
    int i, was_pending;

    was_pending = tg_thread_block_sigpipe(&before);
    runtime->is_processing = 1;
    i = 0;

    do {
        (void) uv_run(runtime->loop, UV_RUN_NOWAIT);

        /* UV_RUN_NOWAIT polls after preparing: flush later output here. */
        if (runtime->flush != NULL && !runtime->is_stopping) {
            runtime->flush(runtime);
        }
    } while (
        ++i < TG_PROCESS_ITERATIONS_MAX && !runtime->is_stopping
        && (runtime->dirty != NULL || uv_backend_timeout(runtime->loop) == 0));

    runtime->is_processing = 0;

    if (runtime->must_stop) {
        tg_runtime_stop(runtime);
        tg_runtime_run_until_closed(runtime);
    } else {
        tg_runtime_arm_timerfd(runtime);
    }

    tg_thread_restore_sigpipe(&before, was_pending);
}

int
tg_runtime_start_thread(tg_runtime_t *runtime)
{
    sigset_t before;
    int rc;

    if (runtime->type != TG_LOOP_THREAD) {
        return 0;
    }

    tg_thread_block_signals(&before);
    rc = pthread_create(&runtime->thread, NULL, tg_runtime_run_thread, runtime);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (rc == 0) {
        return 0;
    }

    errno = rc;

    return tg_lib_set_errno_error("cannot start the server's thread");
}

void
tg_runtime_abort_start(tg_runtime_t *runtime)
{
    if (runtime->loop == NULL || runtime->nopen == 0) {
        tg_runtime_free(runtime);
        return;
    }

    /* A libuv loop of the program frees the runtime with the last handle. */
    tg_lib_unlock();
    tg_runtime_stop(runtime);

    if (runtime->type != TG_LOOP_UV) {
        tg_runtime_run_until_closed(runtime);
    }

    tg_lib_lock();
}

void
tg_runtime_stop_in_caller(tg_runtime_t *runtime)
{
    sigset_t before;
    int was_pending;

    was_pending = tg_thread_block_sigpipe(&before);
    tg_runtime_stop(runtime);

    if (runtime->type == TG_LOOP_FD) {
        tg_runtime_run_until_closed(runtime);
    }

    tg_thread_restore_sigpipe(&before, was_pending);
}

void
tg_runtime_join(tg_runtime_t **ended)
{
    tg_runtime_t *runtime;

    tg_lib_lock();
    runtime = *ended;

    if (runtime != NULL && tg_runtime_is_in_callback(runtime)) {
        runtime = NULL;
    }

    if (runtime != NULL) {
        *ended = NULL;
    }

    tg_lib_unlock();

    if (runtime != NULL) {
        (void) pthread_join(runtime->thread, NULL);
        tg_runtime_free(runtime);
    }
}

tg_runtime_t *
tg_runtime_request_stop(tg_runtime_t *runtime, tg_runtime_t **ended)
{
    if (runtime->type != TG_LOOP_THREAD && !tg_runtime_is_in_callback(runtime)
        && !runtime->is_processing)
    {
        return runtime;
    }

    runtime->must_stop = 1;
    (void) uv_async_send(&runtime->async);

    if (runtime->type == TG_LOOP_THREAD) {
        *ended = runtime;
    }

    return NULL;
}
