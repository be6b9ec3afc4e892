/*
 * The job type `place`: a slot for a call that the worker runs itself. It lets
 * a limit count the calls of all workers and of all types together.
 *
 * place {"tool":NAME,"timeout_ms":5000,"limits":[…]}
 *
 * The job waits for its limits in the queue but needs no slot of the runner.
 * When the call may run, the runner sends the notification `progress`. The job
 * then holds its limits without a deadline, until it is cancelled or the worker
 * disconnects. The only response is therefore a failure, if the call may not
 * run.
 */
#ifndef TG_SLOT_JOB_H
#define TG_SLOT_JOB_H

#include "runner/jobs/tg_job.h"

extern const tg_job_type_t tg_slot_job_type;

#endif
