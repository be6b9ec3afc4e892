/* The event loop of a runtime: handles, commands of threads, timers, end. */
#include "lib/tg_runtime.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * Returns the first command, or NULL. *must_stop is set if it must not be
 * executed, because the runtime is being stopped.
 */
static tg_runtime_command_t *
tg_runtime_take_command(tg_runtime_t *runtime, int *must_stop)
{
    tg_runtime_command_t *command;

    tg_lib_lock();
    command = runtime->commands;

    if (command != NULL) {
        runtime->commands = command->next;
        runtime->command_bytes -= command->size;

        if (runtime->commands == NULL) {
            runtime->last_command = &runtime->commands;
            atomic_store(&runtime->has_commands, 0);
        }
    }

    *must_stop = runtime->must_stop;
    tg_lib_unlock();

    return command;
}

static void
tg_runtime_run_commands(tg_runtime_t *runtime)
{
    tg_runtime_command_t *command;
    int must_stop;

    while ((command = tg_runtime_take_command(runtime, &must_stop)) != NULL) {
        command->execute(must_stop || runtime->is_stopping ? NULL : runtime,
                         command);
    }
}

static void
tg_runtime_on_async(uv_async_t *async)
{
    tg_runtime_t *runtime;
    int must_stop;

    runtime = async->data;

    if (runtime->is_stopping) {
        return;
    }

    tg_runtime_deliver_mailbox(runtime);
    tg_runtime_run_commands(runtime);
    tg_lib_lock();
    must_stop = runtime->must_stop;
    tg_lib_unlock();

    if (must_stop) {
        tg_runtime_stop(runtime);
    }
}

static void
tg_runtime_run_timers(tg_runtime_t *runtime)
{
    tg_session_t *session, *next;
    uint64_t now, due, other;

    now = uv_now(runtime->loop);

    if (runtime->progress_at != 0 && runtime->progress_at <= now) {
        runtime->progress_at = tg_mailbox_deliver_paced(&runtime->mailbox)
                                   ? now + TG_PROGRESS_INTERVAL_MS
                                   : 0;
    }

    if (runtime->accept_retry_at != 0 && runtime->accept_retry_at <= now) {
        runtime->accept_retry_at = 0;
        tg_session_accept(runtime);
    }

    due = runtime->progress_at != 0 ? runtime->progress_at : UINT64_MAX;
    due = runtime->accept_retry_at != 0 && runtime->accept_retry_at < due
              ? runtime->accept_retry_at
              : due;

    for (session = runtime->first; session != NULL; session = next) {
        next = session->next;
        other = tg_session_expire_calls(session, now);
        due = other < due ? other : due;
        other = tg_session_check_deadline(session, now);
        due = other < due ? other : due;
    }

    tg_runtime_schedule(runtime, due);
}

static void
tg_runtime_on_prepare(uv_prepare_t *prepare)
{
    tg_session_t *session;
    tg_runtime_t *runtime;

    runtime = prepare->data;

    while ((session = runtime->dirty) != NULL) {
        runtime->dirty = session->next_dirty;
        tg_session_flush(session);
        /* Output that was added during the flush was flushed, too. */
        session->is_dirty = 0;
    }

    if (runtime->flush != NULL) {
        runtime->flush(runtime);
    }
}

/* Empties the timerfd, whose only purpose is to wake the program's poll(). */
static void
tg_runtime_on_timerfd(uv_poll_t *timerfd_poll, int status, int events)
{
    uint64_t n;
    tg_runtime_t *runtime;

    runtime = timerfd_poll->data;
    (void) !read(runtime->timerfd, &n, sizeof(n));
}

static void
tg_runtime_wake(void *host)
{
    tg_runtime_t *runtime;

    runtime = host;
    (void) uv_async_send(&runtime->async);
}

static void
tg_runtime_on_connection(uv_stream_t *listener, int status)
{
    tg_runtime_t *runtime;

    runtime = listener->data;

    if (status != 0) {
        tg_runtime_report(runtime, TOOLGATE_ERR_CONNECTION,
                          "cannot accept a client: %s", uv_strerror(status));
        return;
    }

    tg_session_accept(runtime);
}

static int
tg_runtime_add_handle(tg_runtime_t *runtime, int rc, void *handle)
{
    if (rc == 0) {
        ((uv_handle_t *) handle)->data = runtime;
        runtime->nopen++;
    }

    return rc;
}

/* Opens a timer: polling the loop's descriptor does not show libuv's. */
static int
tg_runtime_open_timerfd(tg_runtime_t *runtime)
{
    int rc;

    runtime->timerfd = timerfd_create(CLOCK_MONOTONIC,
                                      TFD_CLOEXEC | TFD_NONBLOCK);

    if (runtime->timerfd == -1) {
        return uv_translate_sys_error(errno);
    }

    rc = tg_runtime_add_handle(
        runtime,
        uv_poll_init(runtime->loop, &runtime->timerfd_poll, runtime->timerfd),
        &runtime->timerfd_poll);

    return rc == 0 ? uv_poll_start(&runtime->timerfd_poll, UV_READABLE,
                                   tg_runtime_on_timerfd)
                   : rc;
}

static int
tg_runtime_open_listener(tg_runtime_t *runtime, int fd)
{
    struct stat st;
    int rc;

    rc = tg_runtime_add_handle(
        runtime, uv_pipe_init(runtime->loop, &runtime->listener, 0),
        &runtime->listener);

    if (rc == 0 && fstat(fd, &st) != 0) {
        rc = uv_translate_sys_error(errno);
    }

    if (rc == 0) {
        rc = uv_pipe_open(&runtime->listener, fd);
    }

    if (rc != 0) {
        (void) close(fd);
        return rc;
    }

    runtime->listen_fd = fd;
    runtime->listen_id = tg_file_id_make(&st);

    return uv_listen((uv_stream_t *) &runtime->listener,
                     TG_SERVER_LISTEN_BACKLOG, tg_runtime_on_connection);
}

static int
tg_runtime_open_handles(tg_runtime_t *runtime)
{
    int rc;

    tg_uv_sched_init(&runtime->sched, runtime->loop);
    (void) tg_runtime_add_handle(runtime, 0, &runtime->sched.idle);
    rc = tg_runtime_add_handle(runtime,
                               uv_async_init(runtime->loop, &runtime->async,
                                             tg_runtime_on_async),
                               &runtime->async);

    if (rc == 0) {
        rc = tg_runtime_add_handle(
            runtime, uv_timer_init(runtime->loop, &runtime->timer),
            &runtime->timer);
    }

    if (rc == 0) {
        rc = tg_runtime_add_handle(
            runtime, uv_prepare_init(runtime->loop, &runtime->prepare),
            &runtime->prepare);
    }

    if (rc == 0) {
        rc = uv_prepare_start(&runtime->prepare, tg_runtime_on_prepare);
    }

    return rc == 0 && runtime->type == TG_LOOP_FD
               ? tg_runtime_open_timerfd(runtime)
               : rc;
}

int
tg_runtime_open(tg_runtime_t *runtime, int fd)
{
    int rc;

    runtime->listen_fd = -1;
    runtime->timerfd = -1;
    runtime->last_command = &runtime->commands;
    runtime->run_timers = runtime->run_timers != NULL ? runtime->run_timers
                                                      : tg_runtime_run_timers;
    runtime->run_commands = tg_runtime_run_commands;
    tg_buf_init(&runtime->scratch, tg_alloc_libc());
    tg_uv_buffer_cache_init(&runtime->buffer_cache);
    tg_mailbox_init(&runtime->mailbox, tg_runtime_wake, runtime);
    rc = 0;

    if (runtime->type != TG_LOOP_UV) {
        runtime->own_loop.backend_fd = -1;
        rc = uv_loop_init(&runtime->own_loop);
        runtime->loop = &runtime->own_loop;
    }

    if (rc != 0) {
        runtime->loop = NULL;

        /* After some failures uv_loop_init() leaves this open. */
        if (runtime->own_loop.backend_fd != -1) {
            (void) close(runtime->own_loop.backend_fd);
        }
    } else {
        rc = tg_runtime_open_handles(runtime);
    }

    if (rc == 0 && fd != -1) {
        rc = tg_runtime_open_listener(runtime, fd);
    } else if (fd != -1) {
        (void) close(fd);
    }

    return rc == 0 ? 0
                   : tg_lib_set_error(rc == UV_ENOMEM ? TOOLGATE_ERR_MEMORY
                                                      : TOOLGATE_ERR_SYSTEM,
                                      "cannot create the event loop: %s",
                                      uv_strerror(rc));
}

/* Ends the calls of each session, sends a shutdown notice, and closes it. */
static void
tg_runtime_stop_sessions(tg_runtime_t *runtime)
{
    tg_session_t *session, *next;

    for (session = runtime->first; session != NULL; session = next) {
        next = session->next;

        if (session->is_closed) {
            continue;
        }

        tg_session_fail_calls(session);
        tg_peer_send_shutdown_notice(&session->peer,
                                     TG_STR("the server was stopped"));
        tg_session_flush(session);
        tg_session_close_after_flush(session);
    }
}

/* Closes the clients that have not read their last messages in time. */
static void
tg_runtime_on_linger_timeout(uv_timer_t *timer)
{
    tg_session_t *session;
    tg_runtime_t *runtime;

    runtime = timer->data;

    for (session = runtime->first; session != NULL; session = session->next) {
        if (session->is_lingering) {
            tg_uv_conn_close(&session->conn);
        }
    }
}

void
tg_runtime_stop(tg_runtime_t *runtime)
{
    if (runtime->is_stopping) {
        return;
    }

    runtime->is_stopping = 1;
    tg_mailbox_close(&runtime->mailbox);
    tg_runtime_run_commands(runtime);
    tg_runtime_stop_sessions(runtime);

    if (runtime->stop != NULL) {
        runtime->stop(runtime);
    }

    tg_lib_lock();
    runtime->listen_fd = -1;
    tg_lib_unlock();

    if (runtime->timerfd != -1) {
        /* If uv_poll_init() failed, there is no handle to stop. */
        if (runtime->timerfd_poll.data != NULL) {
            (void) uv_poll_stop(&runtime->timerfd_poll);
        }

        (void) close(runtime->timerfd);
        runtime->timerfd = -1;
    }

    tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->listener);
    tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->timerfd_poll);
    tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->prepare);
    tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->sched.idle);

    if (runtime->nlingering == 0) {
        tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->timer);
    } else {
        uv_update_time(runtime->loop);
        (void) uv_timer_start(&runtime->timer, tg_runtime_on_linger_timeout,
                              TG_SESSION_LINGER_MS, 0);
    }

    tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->async);
}

void
tg_runtime_free(tg_runtime_t *runtime)
{
    if (runtime->loop == &runtime->own_loop) {
        (void) uv_loop_close(&runtime->own_loop);
    }

    if (runtime->release != NULL) {
        runtime->release(runtime);
    }

    tg_catalog_unref(runtime->catalog);
    tg_schema_validator_free(runtime->validator);
    tg_buf_deinit(&runtime->scratch);
    tg_uv_buffer_cache_deinit(&runtime->buffer_cache);
    tg_buf_deinit(&runtime->texts);
    free(runtime->recycled_call);
    free(runtime);
}
