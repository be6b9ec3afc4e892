/*
 * The scheduler of a libuv loop.
 */
#include "uv/tg_uv_sched.h"

static uint64_t
tg_uv_sched_now(void *host)
{
    (void) host;

    return uv_hrtime() / 1000;
}

/*
 * An idle handle runs once in each iteration, before polling; while one is
 * active, polling does not block.
 */
static void
tg_uv_sched_on_idle(uv_idle_t *idle)
{
    tg_uv_sched_t *sched;

    sched = TG_OWNER(idle, tg_uv_sched_t, idle);

    if (!tg_sched_run(&sched->sched)) {
        (void) uv_idle_stop(idle);
    }
}

static void
tg_uv_sched_wake(void *host)
{
    tg_uv_sched_t *sched;

    sched = host;

    if (!uv_is_closing((uv_handle_t *) &sched->idle)) {
        (void) uv_idle_start(&sched->idle, tg_uv_sched_on_idle);
    }
}

void
tg_uv_sched_init(tg_uv_sched_t *sched, uv_loop_t *loop)
{
    memset(sched, 0, sizeof(*sched));
    sched->loop = loop;
    sched->sched.now = tg_uv_sched_now;
    sched->sched.wake = tg_uv_sched_wake;
    sched->sched.host = sched;
    sched->sched.memory_max = TG_UV_MEMORY;
    (void) uv_idle_init(loop, &sched->idle);
}

void
tg_uv_sched_close(tg_uv_sched_t *sched, uv_close_cb closed)
{
    uv_close((uv_handle_t *) &sched->idle, closed);
}
