/*
 * The method task.wait: responds like task.get when the task has ended.
 */
#include "tasks/engine/tg_task_call.h"
#include "tasks/engine/tg_engine_impl.h"

/* Default timeout in seconds, about as long as clients usually wait. */
#define TG_TASK_WAIT_DEFAULT_S 25
/* Maximum timeout in seconds. */
#define TG_TASK_WAIT_MAX_S 3600

void
tg_task_call_begin_wait(tg_task_call_t *call)
{
    if (call->wait_until == 0) {
        call->wait_until = uv_now(call->job->jobs->loop)
                           + 1000
                                 * (uint64_t) tg_task_call_get_int(
                                     call, "timeout", 0, TG_TASK_WAIT_MAX_S,
                                     TG_TASK_WAIT_DEFAULT_S);
    }

    call->seen_count = call->engine->priv->nended;
    tg_task_call_begin_get(call);
}

void
tg_task_call_on_wait(tg_task_call_t *call)
{
    const tg_store_query_t *query;

    query = &call->query;

    if (query->rc != TG_OK
        || (query->state != TG_TASK_RUNNING && query->state != TG_TASK_QUEUED)
        || uv_now(call->job->jobs->loop) >= call->wait_until)
    {
        tg_task_call_respond_task(call);

    } else if (call->seen_count != call->engine->priv->nended) {
        /* The task may have ended after the query was sent. */
        tg_task_call_begin(call);

    } else {
        tg_task_call_enqueue(call, &call->engine->priv->following);
    }
}

int
tg_task_call_is_wait_over(const tg_task_call_t *call)
{
    const tg_engine_t *engine;

    engine = call->engine;

    /*
     * Only ends of this runner's tasks and of queued tasks are reported; a task
     * of another runner is queried with each tick.
     */
    return call->seen_count != engine->priv->nended
           || uv_now(call->job->jobs->loop) >= call->wait_until
           || (tg_engine_is_shared(engine)
               && tg_engine_find_task(engine, call->query.id) == NULL);
}

void
tg_task_call_send_wait_progress(tg_task_call_t *call)
{
    const tg_task_t *task;
    char room[192];
    tg_buf_t json;
    tg_job_t *job;

    job = call->job;
    task = tg_engine_find_task(call->engine, call->query.id);
    json = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_append_char(&json, '{');
    tg_json_add_uint(&json, "progress",
                     (uv_now(job->jobs->loop) - job->started_at) / 1000);
    tg_buf_append_cstr(&json, ",\"message\":\"");
    tg_task_append_id(&json, call->query.id);

    if (task != NULL) {
        tg_buf_append_cstr(&json, " is running, output so far: ");
        tg_buf_append_uint(&json, task->size);
        tg_buf_append_cstr(&json,
                           tg_pick_plural(task->size, " byte\"}", " bytes\"}"));
    } else {
        tg_buf_append_cstr(&json, call->query.state == TG_TASK_QUEUED
                                      ? " is queued\"}"
                                      : " is running\"}");
    }

    if (!tg_buf_has_failed(&json)) {
        tg_job_on_progress(job, tg_progress_update(&job->progress,
                                                   tg_buf_view(&json)));
    }
}
