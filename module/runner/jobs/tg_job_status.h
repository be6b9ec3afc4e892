/* Jobs in the response of `status`. */
#ifndef TG_JOB_STATUS_H
#define TG_JOB_STATUS_H

#include "runner/jobs/tg_job.h"

/*
 * Appends members to an object that is not empty: numbers of jobs of each type,
 * and the jobs. `call` and `pid` are omitted if there is none.
 *
 *   ,"kinds":{"exec":1},"jobs":[{"call":17,"kind":"exec","tool":"date",
 *   "state":"running","pid":4711,"queued_ms":0,"ran_ms":12}]
 */
void tg_jobs_write_json(tg_buf_t *json, const tg_jobs_t *jobs);

#endif
