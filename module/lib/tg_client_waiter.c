/* A thread's wait for an answer or a connection of a client. */
#include "lib/tg_client.h"

#include <poll.h>
#include <stdlib.h>

void
tg_waiter_init(tg_waiter_t *waiter)
{
    memset(waiter, 0, sizeof(*waiter));
    (void) pthread_cond_init(&waiter->cond, NULL);
}

void
tg_waiter_deinit(tg_waiter_t *waiter)
{
    (void) pthread_cond_destroy(&waiter->cond);
    free(waiter->why);
    free(waiter->result);
}

void
tg_waiter_complete(tg_waiter_t *waiter, int code, char *result)
{
    waiter->is_done = 1;
    waiter->code = code;
    waiter->result = result;

    if (code != 0) {
        waiter->why = tg_str_dup(tg_str_from_cstr(toolgate_error()));
    }

    (void) pthread_cond_signal(&waiter->cond);
}

/*
 * Runs a loop of TG_LOOP_FD in the waiting thread. Requires tg_lib_lock(),
 * which is released meanwhile.
 */
static void
tg_client_conn_run_until_done(tg_client_conn_t *conn, const tg_waiter_t *waiter)
{
    struct pollfd fd;

    fd.fd = uv_backend_fd(conn->runtime.loop);
    fd.events = POLLIN;
    tg_lib_unlock();

    for (;;) {
        tg_runtime_process(&conn->runtime);

        if (waiter->is_done) {
            break;
        }

        (void) poll(&fd, 1, -1);
    }

    tg_lib_lock();
}

int
tg_client_conn_wait(tg_client_conn_t *conn, tg_waiter_t *waiter)
{
    if (conn->runtime.type == TG_LOOP_FD) {
        tg_client_conn_run_until_done(conn, waiter);
    }

    while (!waiter->is_done) {
        tg_lib_cond_wait_on(&waiter->cond);
    }

    return waiter->code == 0
               ? 0
               : tg_lib_set_error(waiter->code, "%s",
                                  waiter->why != NULL ? waiter->why
                                                      : "out of memory");
}
