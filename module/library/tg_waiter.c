/*
 * A thread that waits for what the loop of a client does.
 */
#include "library/tg_client.h"

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
tg_waiter_end(tg_waiter_t *waiter, int code, char *result)
{
    waiter->is_done = 1;
    waiter->code = code;
    waiter->result = result;

    if (code != 0) {
        waiter->why = tg_text_copy(tg_str_c(toolgate_error()));
    }

    (void) pthread_cond_signal(&waiter->cond);
}

/* The program's thread runs the loop meanwhile. */
static void
tg_client_wait_here(tg_line_t *line, const tg_waiter_t *waiter)
{
    struct pollfd fd;

    fd.fd = uv_backend_fd(line->run.loop);
    fd.events = POLLIN;
    tg_library_unlock();

    for (;;) {
        tg_run_process(&line->run);

        if (waiter->is_done) {
            break;
        }

        (void) poll(&fd, 1, -1);
    }

    tg_library_lock();
}

int
tg_client_wait(tg_line_t *line, tg_waiter_t *waiter)
{
    if (line->run.kind == TG_LOOP_FD) {
        tg_client_wait_here(line, waiter);
    }

    while (!waiter->is_done) {
        tg_library_wait_for(&waiter->cond);
    }

    return waiter->code == 0
               ? 0
               : tg_error(waiter->code, "%s",
                          waiter->why != NULL ? waiter->why
                                              : "there is no memory");
}
