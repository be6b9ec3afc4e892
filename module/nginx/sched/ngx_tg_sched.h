/*
 * The scheduler of this worker (base/tg_sched.h): every source of work takes
 * its time slices from it and reports its memory to it.
 */
#ifndef _NGX_TG_SCHED_H_INCLUDED_
#define _NGX_TG_SCHED_H_INCLUDED_

#include "nginx/ngx_tg.h"

#include "base/tg_sched.h"

/* Bytes that all sources of a worker may hold together. */
#define NGX_TG_SCHED_MEMORY_MAX 268435456
/* Clients may use half of it whatever other sources hold, and vice versa. */
#define NGX_TG_SCHED_CLIENT_MEMORY 134217728

extern tg_sched_t ngx_tg_sched;

/* Bytes that clients hold, of those of all sources. */
extern size_t ngx_tg_sched_client_memory;

/* As tg_sched_set_memory() of a client. */
static ngx_inline void
ngx_tg_sched_hold_client(tg_sched_source_t *source, size_t bytes)
{
    ngx_tg_sched_client_memory += bytes - source->memory;
    (void) tg_sched_set_memory(&ngx_tg_sched, source, bytes);
}

/* Is more held than is allowed, and more than their half by clients? */
static ngx_inline ngx_uint_t
ngx_tg_sched_is_over_client_memory(void)
{
    return ngx_tg_sched.memory > NGX_TG_SCHED_MEMORY_MAX
           && ngx_tg_sched_client_memory > NGX_TG_SCHED_CLIENT_MEMORY;
}

/* This worker was told to exit, and serves until another one is ready. */
extern ngx_uint_t ngx_tg_worker_is_lingering;

/* Does this worker exit, and has another one, or none, to serve instead? */
static ngx_inline ngx_uint_t
ngx_tg_worker_is_exiting(void)
{
    return ngx_exiting && !ngx_tg_worker_is_lingering;
}

/*
 * As tg_sched_set_memory() of any other source.  NGX_OK; NGX_DECLINED: the
 * source holds too much, and has to give something back or to fail.
 */
static ngx_inline ngx_int_t
ngx_tg_sched_hold(tg_sched_source_t *source, size_t bytes)
{
    int rc;

    rc = tg_sched_set_memory(&ngx_tg_sched, source, bytes);

    return rc == TG_OK
                   || ((source->memory_max == 0 || bytes <= source->memory_max)
                       && ngx_tg_sched.memory - ngx_tg_sched_client_memory
                              <= NGX_TG_SCHED_CLIENT_MEMORY)
               ? NGX_OK
               : NGX_DECLINED;
}

#endif
