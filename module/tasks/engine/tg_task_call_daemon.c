/*
 * The methods daemon.status and daemon.stop.
 */
#include "tasks/automation/tg_automation.h"

#include "base/tg_json.h"
#include "tasks/engine/tg_engine_impl.h"

#include <unistd.h>

/* Appends the running tasks that the caller may see. */
static void
tg_task_call_append_running(tg_buf_t *json, const tg_task_call_t *call)
{
    const tg_task_t *task;

    TAILQ_FOREACH(task, &call->engine->priv->running, link)
    {
        if (call->visible_owner.data != NULL
            && !tg_str_eq(call->visible_owner, tg_buf_view(&task->owner)))
        {
            continue;
        }

        tg_json_begin_object(json);
        tg_buf_append_cstr(json, "\"id\":\"");
        tg_task_append_id(json, task->id);
        tg_buf_append_char(json, '"');
        tg_json_add_string(json, "prompt", tg_buf_view(&task->prompt));
        tg_json_add_string(json, "agent", tg_buf_view(&task->agent));
        tg_buf_append_cstr(json, ",\"startedAt\":\"");
        tg_buf_append_time(json, task->started_at);
        tg_buf_append_cstr(json, "\",\"pid\":");

        /* A task has no pid while it waits for a slot of its tool. */
        if (task->pid != 0) {
            tg_buf_append_int(json, task->pid);
        } else {
            tg_buf_append_cstr(json, "null");
        }

        tg_buf_append_char(json, '}');
    }
}

static void
tg_task_call_respond_status(tg_task_call_t *call, const char *health,
                            tg_str_t queued, tg_str_t tasks)
{
    const tg_engine_t *engine;
    tg_buf_t *json;

    engine = call->engine;
    json = &call->text;
    tg_buf_reset(json, 0);
    tg_buf_append_char(json, '{');
    tg_json_add_int(json, "pid", getpid());
    tg_json_add_int(json, "uptime_seconds",
                    (tg_engine_get_unix_time_ms()
                     - (int64_t) engine->priv->created_at)
                        / 1000);
    tg_buf_append_cstr(json, ",\"started_at\":\"");
    tg_buf_append_time(json, engine->priv->created_at);
    tg_buf_printf(json,
                  "\",\"health\":\"%s\",\"subsystems\":{\"ipc\":{\"clients\":"
                  "%lld},\"supervisor\":{\"running\":%u,\"queued\":",
                  health, (long long) call->clients, engine->nrunning);
    tg_buf_append_str(json, queued);
    tg_json_add_int(json, "maxConcurrency", engine->config.spec.concurrency);
    tg_buf_append_cstr(json, ",\"tasks\":{\"running\":[");
    tg_task_call_append_running(json, call);
    tg_buf_append_char(json, ']');
    tg_json_add_raw(json, "queued", tasks);
    tg_buf_append_cstr(json, "}},\"automation\":");
    tg_automation_append_status(json, engine->automation, call->visible_owner);
    tg_json_begin_member(json, "file_watcher");
    tg_automation_append_watcher_status(json, engine->automation);
    tg_json_begin_member(json, "scheduler");
    tg_automation_append_schedule(json, engine->automation);
    tg_buf_append_cstr(json, ",\"messaging\":{\"enabled\":false}}}");
    tg_task_call_respond_text(call);
}

void
tg_task_call_begin_status(tg_task_call_t *call)
{
    if (call->engine->state == TG_ENGINE_FAILED) {
        tg_task_call_respond_status(call, "unhealthy", TG_STR("null"),
                                    TG_STR("[]"));
        return;
    }

    tg_task_call_query_store(call);
}

void
tg_task_call_on_status(tg_task_call_t *call)
{
    static const char *const names[] = { "queued", "tasks", NULL };
    tg_str_t values[2];

    if (tg_json_get_members(tg_buf_view(&call->query.json), names, values)
        != TG_OK) {
        tg_task_call_respond_store_error(call);
        return;
    }

    tg_task_call_respond_status(call,
                                call->engine->state == TG_ENGINE_STOPPING
                                    ? "stopping"
                                    : "healthy",
                                values[0], values[1]);
}

void
tg_task_call_begin_stop(tg_task_call_t *call)
{
    tg_engine_t *engine;
    tg_str_t generation;

    engine = call->engine;
    generation = engine->config.spec.generation;

    if (generation.len < sizeof(engine->priv->stopped_generation)) {
        memcpy(engine->priv->stopped_generation, generation.data,
               generation.len);
        engine->priv->stopped_generation[generation.len] = '\0';
    }

    tg_engine_stop(engine, tg_task_call_get_bool(call, "force"));

    tg_task_call_respond_json(call, TG_STR("{\"stopping\":true}"));
}
