/*
 * The kind `output`: a page of a large output, for whoever it belongs to.
 *
 *     output {"tool":NAME,"owner":"1000","arguments":{"output":KEY,
 *             "line":1,"lines":200,"offset":0,"bytes":32768,"pattern":"…"}}
 *
 * Threads read it (runner/tg_threads.h), as it may be large, the disk slow and
 * the pattern costly.
 */
#ifndef TG_SPILL_JOB_H
#define TG_SPILL_JOB_H

#include "runner/tg_job.h"

/* Its jobs' host is a tg_spills_t. */
extern const tg_kind_t tg_spill_kind;

#endif
