/*
 * The job type `output`: returns a page of a large output to its owner.
 *
 * output {"tool":NAME,"owner":"1000","arguments":{"output":KEY,
 *        "line":1,"lines":200,"offset":0,"bytes":32768,"pattern":"…"}}
 *
 * Threads read it (runner/jobs/tg_thread_pool.h): the output may be large, the
 * disk slow and the pattern expensive.
 */
#ifndef TG_OUTPUT_PAGER_JOB_H
#define TG_OUTPUT_PAGER_JOB_H

#include "runner/jobs/tg_job.h"

/* The job type. The host of its jobs is a tg_output_store_t. */
extern const tg_job_type_t tg_output_pager_job_type;

#endif
