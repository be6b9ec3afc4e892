/*
 * What `status` says of jobs.
 */
#ifndef TG_JOB_STATUS_H
#define TG_JOB_STATUS_H

#include "runner/jobs/tg_job.h"

/*
 * Appends, behind other members, how many there are of each kind, and each of
 * them:
 *
 *   ,"kinds":{"exec":1},"jobs":[{"call":17,"kind":"exec","tool":"date",
 *   "state":"running","pid":4711,"queued_ms":0,"ran_ms":12}]
 *
 * call and pid are there where there are any.
 */
void tg_jobs_write_json(tg_buf_t *json, const tg_jobs_t *jobs);

#endif
