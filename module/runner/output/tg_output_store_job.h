/*
 * The job type `store_output`: stores a large result of a worker, such as one
 * of `pass` or `library`, and returns its preview.
 *
 * store_output {"tool":NAME,"max_output":BYTES,"spill":{…},
 *              "answer":{"text":"…"}}
 */
#ifndef TG_OUTPUT_STORE_JOB_H
#define TG_OUTPUT_STORE_JOB_H

#include "runner/jobs/tg_job.h"

extern const tg_job_type_t tg_output_store_job_type;

#endif
