/*
 * The worker's scheduler (base/tg_sched.h): slices and memory of all sources.
 */
#ifndef _NGX_TG_SCHED_H_INCLUDED_
#define _NGX_TG_SCHED_H_INCLUDED_

#include "nginx/ngx_tg.h"

#include "base/tg_sched.h"

/* Memory that all sources of a worker may hold together, in bytes. */
#define NGX_TG_SCHED_MEMORY_MAX 268435456
/* Memory reserved for clients, in bytes; the rest is for other sources. */
#define NGX_TG_SCHED_CLIENT_MEMORY 134217728

extern tg_sched_t ngx_tg_sched;

/* Memory that clients hold, in bytes. */
extern size_t ngx_tg_sched_client_memory;

static ngx_inline void
ngx_tg_sched_hold_client(tg_sched_source_t *source, size_t bytes)
{
    ngx_tg_sched_client_memory += bytes - source->memory;
    (void) tg_sched_set_memory(&ngx_tg_sched, source, bytes);
}

/* Checks whether all sources exceed their limit, and clients their half. */
static ngx_inline ngx_uint_t
ngx_tg_sched_is_over_client_memory(void)
{
    return ngx_tg_sched.memory > NGX_TG_SCHED_MEMORY_MAX
           && ngx_tg_sched_client_memory > NGX_TG_SCHED_CLIENT_MEMORY;
}

/* 1: the worker was told to exit, but serves until another one is ready. */
extern ngx_uint_t ngx_tg_worker_is_lingering;

/* Checks whether this worker exits and no longer has to serve. */
static ngx_inline ngx_uint_t
ngx_tg_worker_is_exiting(void)
{
    return ngx_exiting && !ngx_tg_worker_is_lingering;
}

/* Checks the flags that NGINX sets at worker_shutdown_timeout. */
static ngx_inline ngx_uint_t
ngx_tg_is_past_shutdown_timeout(const ngx_connection_t *c)
{
    return ngx_exiting && c->close && c->error;
}

/* Sets the memory of a source. NGX_DECLINED: it must free memory, or fail. */
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
