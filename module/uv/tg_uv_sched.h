/*
 * The scheduler of a libuv loop: while sources wait, each iteration of the
 * loop runs one of them for one time slice, and polling does not block.
 */
#ifndef TG_UV_SCHED_H
#define TG_UV_SCHED_H

#include "base/tg_sched.h"

#include <uv.h>

/* Bytes that all sources of a loop may hold together. */
#define TG_UV_MEMORY 536870912

typedef struct {
    tg_sched_t sched;
    uv_loop_t *loop;
    uv_idle_t idle; /* active while sources wait */
} tg_uv_sched_t;

void tg_uv_sched_init(tg_uv_sched_t *sched, uv_loop_t *loop);

/* Closes the idle handle once no source is left; closed may be NULL. */
void tg_uv_sched_close(tg_uv_sched_t *sched, uv_close_cb closed);

#endif
