/* A loop for tests of the transport, with waits that have a deadline. */
#ifndef TRANSPORT_HOST_H
#define TRANSPORT_HOST_H

#include "protocol_help.h"

#include "transport/tg_transport.h"

#include <signal.h>

#define HOST_DEADLINE_MS 120000

/* One end of a connection, with the events that it saw. */
typedef struct {
    tg_uv_conn_t conn;
    tg_buf_t out;
    size_t got;
    int is_connected;
    int connect_err;
    int is_eof;
    int is_closed;
    int err;
} host_end_t;

static uv_loop_t host_loop;
static tg_uv_sched_t host_sched;

int
help_begin(void)
{
    signal(SIGPIPE, SIG_IGN);

    if (uv_loop_init(&host_loop) != 0) {
        return -1;
    }

    tg_uv_sched_init(&host_sched, &host_loop);

    return 0;
}

unsigned
help_end(void)
{
    tg_uv_sched_close(&host_sched, NULL);
    uv_run(&host_loop, UV_RUN_NOWAIT);

    if (uv_loop_close(&host_loop) != 0) {
        fprintf(stderr, "handles are left in the loop\n");
        return 1;
    }

    return 0;
}

static void
host_on_deadline(uv_timer_t *timer)
{
    *(int *) timer->data = 1;
}

/* Runs the loop until *flag or the deadline, and returns *flag. */
static int
host_until(const int *flag)
{
    uv_timer_t timer;
    int is_late;

    is_late = 0;
    uv_timer_init(&host_loop, &timer);
    timer.data = &is_late;
    uv_timer_start(&timer, host_on_deadline, HOST_DEADLINE_MS, 0);

    while (!*flag && !is_late) {
        uv_run(&host_loop, UV_RUN_ONCE);
    }

    uv_close((uv_handle_t *) &timer, NULL);
    uv_run(&host_loop, UV_RUN_NOWAIT);

    return *flag;
}

static inline void
host_on_closed(void *host, int err)
{
    host_end_t *end = host;

    end->err = err;
    end->is_closed = 1;
}

static inline void
host_end_init(host_end_t *end, const tg_uv_conn_ops_t *ops)
{
    memset(end, 0, sizeof(*end));
    tg_buf_init(&end->out, tg_alloc_libc());
    tg_uv_conn_init(&end->conn, &host_sched, ops, end, &end->out);
}

#endif
