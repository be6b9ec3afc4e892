/*
 * The scheduler of this worker (base/tg_sched.h): every source of work takes
 * its time slices from it and reports its memory to it.
 */
#ifndef _NGX_TOOLGATE_SCHED_H_INCLUDED_
#define _NGX_TOOLGATE_SCHED_H_INCLUDED_

#include "nginx/ngx_toolgate.h"

#include "base/tg_sched.h"

/* Bytes that all sources of a worker may hold together. */
#define NGX_TOOLGATE_MEMORY 268435456
/* Clients may use half of it whatever other sources hold, and vice versa. */
#define NGX_TOOLGATE_MEMORY_HALF 134217728

extern tg_sched_t ngx_toolgate_sched;

/* Bytes that clients hold, of those of all sources. */
extern size_t ngx_toolgate_sched_clients;

/* As tg_source_hold() of a client. */
static ngx_inline void
ngx_toolgate_hold_client(tg_source_t *source, size_t bytes)
{
    ngx_toolgate_sched_clients += bytes - source->memory;
    (void) tg_source_hold(&ngx_toolgate_sched, source, bytes);
}

/* Is more held than is allowed, and more than their half by clients? */
static ngx_inline ngx_uint_t
ngx_toolgate_clients_hold_too_much(void)
{
    return ngx_toolgate_sched.memory > NGX_TOOLGATE_MEMORY
           && ngx_toolgate_sched_clients > NGX_TOOLGATE_MEMORY_HALF;
}

/* This worker was told to exit, and serves until another one is ready. */
extern ngx_uint_t ngx_toolgate_stays;

/* Does this worker exit, and has another one, or none, to serve instead? */
static ngx_inline ngx_uint_t
ngx_toolgate_exits(void)
{
    return ngx_exiting && !ngx_toolgate_stays;
}

/*
 * As tg_source_hold() of any other source.  NGX_OK; NGX_DECLINED: the source
 * holds too much, and has to give something back or to fail.
 */
static ngx_inline ngx_int_t
ngx_toolgate_hold(tg_source_t *source, size_t bytes)
{
    int rc;

    rc = tg_source_hold(&ngx_toolgate_sched, source, bytes);

    return rc == TG_OK
                   || ((source->memory_max == 0 || bytes <= source->memory_max)
                       && ngx_toolgate_sched.memory - ngx_toolgate_sched_clients
                              <= NGX_TOOLGATE_MEMORY_HALF)
               ? NGX_OK
               : NGX_DECLINED;
}

#endif
