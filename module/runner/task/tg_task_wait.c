/*
 * task.wait, which answers as task.get does, when the task has ended.
 */
#include "runner/task/tg_task_call.h"

/* As long as clients usually wait themselves; and the longest. */
#define TG_TASK_WAIT 25
#define TG_TASK_WAIT_MAX 3600

void
tg_task_wait(tg_task_call_t *call)
{
    if (call->follows_until == 0) {
        call->follows_until = uv_now(call->job->jobs->loop)
                              + 1000
                                    * (uint64_t) tg_task_number(
                                        call, "timeout", 0, TG_TASK_WAIT_MAX,
                                        TG_TASK_WAIT);
    }

    call->seen = call->engine->nended;
    tg_task_get(call);
}

void
tg_task_waited(tg_task_call_t *call)
{
    const tg_store_ask_t *ask;

    ask = &call->ask;

    if (ask->rc != TG_OK
        || (ask->state != TG_TASK_RUNNING && ask->state != TG_TASK_QUEUED)
        || uv_now(call->job->jobs->loop) >= call->follows_until)
    {
        tg_task_call_told(call);

    } else if (call->seen != call->engine->nended) {
        /* It may have ended since the store was asked. */
        tg_task_wait(call);

    } else {
        tg_task_call_wait(call, &call->engine->following);
    }
}

int
tg_task_wait_is_due(const tg_task_call_t *call)
{
    const tg_engine_t *engine;

    engine = call->engine;

    /* Of one that runs or waits here it is told when it ends. */
    return call->seen != engine->nended
           || uv_now(call->job->jobs->loop) >= call->follows_until
           || (tg_engine_is_shared(engine)
               && tg_task_find(engine, call->ask.id) == NULL);
}

void
tg_task_wait_tell(tg_task_call_t *call)
{
    const tg_task_t *task;
    char room[192];
    tg_buf_t json;
    tg_job_t *job;

    job = call->job;
    task = tg_task_find(call->engine, call->ask.id);
    json = tg_buf_fixed(room, sizeof(room));
    tg_buf_text(&json, "{\"progress\":");
    tg_buf_uint(&json, (uv_now(job->jobs->loop) - job->started_at) / 1000);
    tg_buf_text(&json, ",\"message\":\"");
    tg_task_put_id(&json, call->ask.id);

    if (task != NULL) {
        tg_buf_text(&json, " runs, it has put out ");
        tg_buf_uint(&json, task->size);
        tg_buf_text(&json, tg_plural(task->size, " byte\"}", " bytes\"}"));
    } else {
        tg_buf_text(&json, call->ask.state == TG_TASK_QUEUED
                               ? " waits for its turn\"}"
                               : " runs\"}");
    }

    if (!tg_buf_failed(&json)) {
        tg_job_rose(job, tg_progress_put(&job->progress, tg_buf_view(&json)));
    }
}
