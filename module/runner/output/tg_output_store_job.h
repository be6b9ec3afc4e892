/*
 * The kind `store_output`: a large result that a worker has itself, as of
 * `pass` or `library`, is stored, and answered with its preview.
 *
 *     store_output {"tool":NAME,"max_output":BYTES,"spill":{…},
 *                   "answer":{"text":"…"}}
 */
#ifndef TG_OUTPUT_STORE_JOB_H
#define TG_OUTPUT_STORE_JOB_H

#include "runner/jobs/tg_job.h"

extern const tg_job_type_t tg_output_store_job_type;

#endif
