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

extern tg_sched_t ngx_toolgate_sched;

#endif
