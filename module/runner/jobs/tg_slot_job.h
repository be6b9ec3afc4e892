/*
 * The job type `place`: a slot for a call that the worker runs itself, so that
 * a limit counts the calls of all workers and types together.
 *
 * place {"tool":NAME,"timeout_ms":5000,"limits":[…]}
 *
 * The job waits for its limits, but needs no slot of the runner. The runner
 * sends `progress` when the call may run. Then the job holds its limits until
 * it is cancelled or the worker disconnects; the only response is a failure.
 */
#ifndef TG_SLOT_JOB_H
#define TG_SLOT_JOB_H

#include "runner/jobs/tg_job.h"

extern const tg_job_type_t tg_slot_job_type;

#endif
