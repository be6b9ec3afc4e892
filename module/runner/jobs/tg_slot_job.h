/*
 * The kind `place`: a call that the asking worker runs itself, of which the
 * runner knows only that it counts.  So one limit holds for all workers and
 * for all kinds of calls.
 *
 *     place {"tool":NAME,"timeout_ms":5000,"limits":[…]}
 *
 * It waits as others do, but needs no slot.  When it may run, that is told by
 * the notification `progress`.  From then on it holds its places, without a
 * deadline, until it is cancelled or the worker's connection ends.  So it is
 * answered only when it may not run: with a failure.
 */
#ifndef TG_SLOT_JOB_H
#define TG_SLOT_JOB_H

#include "runner/jobs/tg_job.h"

extern const tg_job_type_t tg_slot_job_type;

#endif
