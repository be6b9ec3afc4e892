/*
 * What clients are told about tasks: through a worker, which knows them.
 */
#include "runner/task/tg_task.h"

#include "base/tg_json.h"

void
tg_task_tell_begin(tg_buf_t *params, int64_t id, tg_str_t agent)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_text(params, "{\"taskId\":\"");
    tg_task_put_id(params, id);
    tg_buf_char(params, '"');

    if (agent.len != 0) {
        tg_buf_text(params, ",\"agent\":");
        tg_json_put_string(params, agent);
    }
}

/* One that takes it; whoever reads too slowly is passed over. */
static tg_peer_t *
tg_task_listener(const tg_engine_t *engine)
{
    const tg_jobs_t *jobs;
    tg_task_watch_t *watch;

    jobs = engine->tasks->jobs;

    for (watch = TAILQ_FIRST(&engine->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        if (jobs->ops->may_tell(jobs->host, watch->peer)) {
            return watch->peer;
        }
    }

    return NULL;
}

void
tg_task_tell(tg_engine_t *engine, const char *method, tg_buf_t *params)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;
    tg_buf_t json;

    jobs = engine->tasks->jobs;
    peer = tg_task_listener(engine);
    tg_buf_char(params, '}');

    if (peer != NULL && !tg_buf_failed(params)) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_buf_text(&json, "{\"store\":");
        tg_json_put_string(&json, tg_str_c(engine->where));
        tg_buf_printf(&json, ",\"method\":\"%s\",\"params\":", method);
        tg_buf_str(&json, tg_buf_view(params));
        tg_buf_char(&json, '}');

        if (!tg_buf_failed(&json)) {
            tg_peer_notify(peer, TG_STR("task_event"), tg_buf_view(&json));
            jobs->ops->told(jobs->host, peer);
        }

        tg_buf_deinit(&json);
    }

    tg_buf_deinit(params);
}

void
tg_task_tell_end(tg_task_t *task)
{
    tg_buf_t params;

    if (task->is_late) {
        tg_task_tell_begin(&params, task->id, tg_buf_view(&task->agent));
        tg_task_tell(task->engine, "task.timeout", &params);
    }

    tg_task_tell_begin(&params, task->id, tg_buf_view(&task->agent));

    switch (task->state) {
    case TG_TASK_COMPLETED:
        tg_buf_text(&params, ",\"duration_ms\":");
        tg_buf_int(&params, tg_engine_now() - (int64_t) task->started_at);
        tg_task_tell(task->engine, "task.completed", &params);
        tg_task_tell_begin(&params, task->id, TG_STR(""));
        tg_task_tell(task->engine, "event.taskCompleted", &params);
        break;

    case TG_TASK_CANCELLED:
        tg_task_tell(task->engine, "task.cancelled", &params);
        break;

    case TG_TASK_QUEUED:
        tg_buf_text(&params, ",\"priority\":");
        tg_buf_int(&params, task->priority);
        tg_task_tell(task->engine, "task.queued", &params);
        break;

    default:
        tg_buf_text(&params, ",\"error\":");
        tg_json_put_string(&params, tg_buf_view(&task->error));
        tg_task_tell(task->engine, "task.failed", &params);
    }
}

void
tg_task_tell_each(tg_engine_t *engine, tg_str_t ids, const char *error)
{
    tg_json_t each;
    tg_str_t raw;
    int64_t id;
    tg_buf_t params;

    for (tg_json_each(&each, ids); tg_json_item(&each, &raw);) {
        id = tg_task_id(tg_json_body(raw));
        tg_task_tell_begin(&params, id, TG_STR(""));

        if (error == NULL) {
            tg_task_tell(engine, "task.queued", &params);
            continue;
        }

        tg_buf_text(&params, ",\"error\":");
        tg_json_put_string(&params, tg_str_c(error));
        tg_task_tell(engine, "task.failed", &params);
        engine->nended++;
        engine->tasks->ops->changed(engine, id);
    }
}
