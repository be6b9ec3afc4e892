/*
 * The loop of a run: its handles, what threads want of it, and time.
 */
#include "library/tg_run.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* --- orders --- */

/* NULL: there is none.  *must_stop: nobody wants it done. */
static tg_order_t *
tg_run_next_order(tg_run_t *run, int *must_stop)
{
    tg_order_t *order;

    tg_library_lock();
    order = run->orders;

    if (order != NULL) {
        run->orders = order->next;
        run->ordered -= order->size;

        if (run->orders == NULL) {
            run->last_order = &run->orders;
            atomic_store(&run->has_orders, 0);
        }
    }

    *must_stop = run->must_stop;
    tg_library_unlock();

    return order;
}

static void
tg_run_obey(tg_run_t *run)
{
    tg_order_t *order;
    int must_stop;

    while ((order = tg_run_next_order(run, &must_stop)) != NULL) {
        order->execute(must_stop || run->is_stopping ? NULL : run, order);
    }
}

static void
tg_run_on_async(uv_async_t *async)
{
    tg_run_t *run;
    int must_stop;

    run = async->data;

    if (run->is_stopping) {
        return;
    }

    tg_answer_deliver(run);
    tg_run_obey(run);
    tg_library_lock();
    must_stop = run->must_stop;
    tg_library_unlock();

    if (must_stop) {
        tg_run_stop(run);
    }
}

/* --- time --- */

static void
tg_run_tick(tg_run_t *run)
{
    tg_session_t *session, *next;
    uint64_t now, due, other;

    now = uv_now(run->loop);

    if (run->pace_at != 0 && run->pace_at <= now) {
        run->pace_at = tg_post_pace(&run->post) ? now + TG_MAIL_PACE : 0;
    }

    if (run->accept_at != 0 && run->accept_at <= now) {
        run->accept_at = 0;
        tg_session_accept(run);
    }

    due = run->pace_at != 0 ? run->pace_at : UINT64_MAX;
    due = run->accept_at != 0 && run->accept_at < due ? run->accept_at : due;

    for (session = run->first; session != NULL; session = next) {
        next = session->next;
        other = tg_answer_due(session, now);
        due = other < due ? other : due;
        other = tg_session_due(session, now);
        due = other < due ? other : due;
    }

    tg_run_due(run, due);
}

static void
tg_run_on_prepare(uv_prepare_t *prepare)
{
    tg_session_t *session;
    tg_run_t *run;

    run = prepare->data;

    while ((session = run->dirty) != NULL) {
        run->dirty = session->next_dirty;
        tg_session_flush(session);
        /* What it has served meanwhile was flushed with it. */
        session->is_dirty = 0;
    }

    if (run->flush != NULL) {
        run->flush(run);
    }
}

/* The ticker has done its work by waking who polls. */
static void
tg_run_on_ticker(uv_poll_t *ticker, int status, int events)
{
    uint64_t n;
    tg_run_t *run;

    (void) status;
    (void) events;
    run = ticker->data;
    (void) !read(run->tick_fd, &n, sizeof(n));
}

/* --- opening --- */

static void
tg_run_wake(void *host)
{
    tg_run_t *run;

    run = host;
    (void) uv_async_send(&run->async);
}

static void
tg_run_on_connection(uv_stream_t *listener, int status)
{
    tg_run_t *run;

    run = listener->data;

    if (status != 0) {
        tg_report(run, TOOLGATE_ERR_CONNECTION,
                  "a client cannot be accepted: %s", uv_strerror(status));
        return;
    }

    tg_session_accept(run);
}

/* A handle that is there from now on, and has to be closed. */
static int
tg_run_has(tg_run_t *run, int rc, void *handle)
{
    if (rc == 0) {
        ((uv_handle_t *) handle)->data = run;
        run->nopen++;
    }

    return rc;
}

/* What a loop of the program's would not hear of by its descriptor alone. */
static int
tg_run_open_ticker(tg_run_t *run)
{
    int rc;

    run->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    if (run->tick_fd == -1) {
        return uv_translate_sys_error(errno);
    }

    rc = tg_run_has(run, uv_poll_init(run->loop, &run->ticker, run->tick_fd),
                    &run->ticker);

    return rc == 0 ? uv_poll_start(&run->ticker, UV_READABLE, tg_run_on_ticker)
                   : rc;
}

static int
tg_run_open_listener(tg_run_t *run, int fd)
{
    struct stat st;
    int rc;

    rc = tg_run_has(run, uv_pipe_init(run->loop, &run->listener, 0),
                    &run->listener);

    if (rc == 0 && fstat(fd, &st) != 0) {
        rc = uv_translate_sys_error(errno);
    }

    if (rc == 0) {
        rc = uv_pipe_open(&run->listener, fd);
    }

    if (rc != 0) {
        (void) close(fd);
        return rc;
    }

    run->listen_fd = fd;
    run->listen_id = tg_file_id(&st);

    return uv_listen((uv_stream_t *) &run->listener, TG_FILES_BACKLOG,
                     tg_run_on_connection);
}

static int
tg_run_open_handles(tg_run_t *run)
{
    int rc;

    tg_uv_sched_init(&run->sched, run->loop);
    (void) tg_run_has(run, 0, &run->sched.idle);
    rc = tg_run_has(run, uv_async_init(run->loop, &run->async, tg_run_on_async),
                    &run->async);

    if (rc == 0) {
        rc = tg_run_has(run, uv_timer_init(run->loop, &run->timer),
                        &run->timer);
    }

    if (rc == 0) {
        rc = tg_run_has(run, uv_prepare_init(run->loop, &run->prepare),
                        &run->prepare);
    }

    if (rc == 0) {
        rc = uv_prepare_start(&run->prepare, tg_run_on_prepare);
    }

    return rc == 0 && run->kind == TG_LOOP_FD ? tg_run_open_ticker(run) : rc;
}

int
tg_run_open(tg_run_t *run, int fd)
{
    int rc;

    run->listen_fd = -1;
    run->tick_fd = -1;
    run->last_order = &run->orders;
    run->tick = run->tick != NULL ? run->tick : tg_run_tick;
    run->obey = tg_run_obey;
    tg_buf_init(&run->scratch, tg_alloc_libc());
    tg_uv_spare_init(&run->spare);
    tg_post_init(&run->post, tg_run_wake, run);
    rc = 0;

    if (run->kind != TG_LOOP_UV) {
        run->own.backend_fd = -1;
        rc = uv_loop_init(&run->own);
        run->loop = &run->own;
    }

    if (rc != 0) {
        run->loop = NULL;

        /* Without descriptors for the rest of it, libuv leaves that one. */
        if (run->own.backend_fd != -1) {
            (void) close(run->own.backend_fd);
        }
    } else {
        rc = tg_run_open_handles(run);
    }

    if (rc == 0 && fd != -1) {
        rc = tg_run_open_listener(run, fd);
    } else if (fd != -1) {
        (void) close(fd);
    }

    return rc == 0 ? 0
                   : tg_error(rc == UV_ENOMEM ? TOOLGATE_ERR_MEMORY
                                              : TOOLGATE_ERR_SYSTEM,
                              "the loop cannot be opened: %s", uv_strerror(rc));
}

/* --- the end --- */

/* Each client has its answers, a word of farewell, and is closed. */
static void
tg_run_stop_sessions(tg_run_t *run)
{
    tg_session_t *session, *next;

    for (session = run->first; session != NULL; session = next) {
        next = session->next;

        if (session->is_closed) {
            continue;
        }

        tg_answer_stop(session);
        tg_peer_farewell(&session->peer, TG_STR("the server was stopped"));
        tg_session_flush(session);
        tg_session_finish(session);
    }
}

/* Who has not taken his last answers by now will not. */
static void
tg_run_on_linger(uv_timer_t *timer)
{
    tg_session_t *session;
    tg_run_t *run;

    run = timer->data;

    for (session = run->first; session != NULL; session = session->next) {
        if (session->is_lingering) {
            tg_uv_conn_close(&session->conn);
        }
    }
}

void
tg_run_stop(tg_run_t *run)
{
    if (run->is_stopping) {
        return;
    }

    run->is_stopping = 1;
    tg_post_close(&run->post);
    tg_run_obey(run);
    tg_run_stop_sessions(run);

    if (run->stop != NULL) {
        run->stop(run);
    }

    tg_library_lock();
    run->listen_fd = -1;
    tg_library_unlock();

    if (run->tick_fd != -1) {
        /* One that could not be polled has no handle. */
        if (run->ticker.data != NULL) {
            (void) uv_poll_stop(&run->ticker);
        }

        (void) close(run->tick_fd);
        run->tick_fd = -1;
    }

    tg_run_close(run, (uv_handle_t *) &run->listener);
    tg_run_close(run, (uv_handle_t *) &run->ticker);
    tg_run_close(run, (uv_handle_t *) &run->prepare);
    tg_run_close(run, (uv_handle_t *) &run->sched.idle);

    if (run->nlingering == 0) {
        tg_run_close(run, (uv_handle_t *) &run->timer);
    } else {
        uv_update_time(run->loop);
        (void) uv_timer_start(&run->timer, tg_run_on_linger, TG_SESSION_LINGER,
                              0);
    }

    tg_run_close(run, (uv_handle_t *) &run->async);
}

void
tg_run_free(tg_run_t *run)
{
    if (run->loop == &run->own) {
        (void) uv_loop_close(&run->own);
    }

    if (run->release != NULL) {
        run->release(run);
    }

    tg_catalogue_release(run->catalogue);
    tg_schema_checker_free(run->checker);
    tg_buf_deinit(&run->scratch);
    tg_uv_spare_deinit(&run->spare);
    tg_buf_deinit(&run->texts);
    free(run->spare_call);
    free(run);
}
