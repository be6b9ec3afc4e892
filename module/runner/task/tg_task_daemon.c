/*
 * daemon.status and daemon.stop.
 */
#include "runner/automation/tg_automation.h"

#include "base/tg_json.h"

#include <unistd.h>

/* Those that the caller sees. */
static void
tg_task_put_running(tg_buf_t *json, const tg_task_call_t *call)
{
    const tg_task_t *task;
    const char *before;

    before = "{\"id\":\"";

    for (task = TAILQ_FIRST(&call->engine->running); task != NULL;
         task = TAILQ_NEXT(task, place))
    {
        if (call->seen_of.data != NULL
            && !tg_str_eq(call->seen_of, tg_buf_view(&task->owner)))
        {
            continue;
        }

        tg_buf_text(json, before);
        tg_task_put_id(json, task->id);
        tg_buf_text(json, "\",\"prompt\":");
        tg_json_put_string(json, tg_buf_view(&task->prompt));
        tg_buf_text(json, ",\"agent\":");
        tg_json_put_string(json, tg_buf_view(&task->agent));
        tg_buf_text(json, ",\"startedAt\":\"");
        tg_buf_time(json, task->started_at);
        tg_buf_text(json, "\",\"pid\":");

        /* It may wait for a place among the calls of its tool. */
        if (task->pid != 0) {
            tg_buf_int(json, task->pid);
        } else {
            tg_buf_text(json, "null");
        }

        tg_buf_char(json, '}');
        before = ",{\"id\":\"";
    }
}

static void
tg_task_put_status(tg_task_call_t *call, const char *health, tg_str_t queued,
                   tg_str_t tasks)
{
    const tg_engine_t *engine;
    tg_buf_t *json;

    engine = call->engine;
    json = &call->text;
    tg_buf_reset(json, 0);
    tg_buf_text(json, "{\"pid\":");
    tg_buf_int(json, getpid());
    tg_buf_text(json, ",\"uptime_seconds\":");
    tg_buf_int(json, (tg_engine_now() - (int64_t) engine->began_at) / 1000);
    tg_buf_text(json, ",\"started_at\":\"");
    tg_buf_time(json, engine->began_at);
    tg_buf_printf(json,
                  "\",\"health\":\"%s\",\"subsystems\":{\"ipc\":{\"clients\":"
                  "%lld},\"supervisor\":{\"running\":%u,\"queued\":",
                  health, (long long) call->clients, engine->nrunning);
    tg_buf_str(json, queued);
    tg_buf_text(json, ",\"maxConcurrency\":");
    tg_buf_int(json, engine->config.concurrency);
    tg_buf_text(json, ",\"tasks\":{\"running\":[");
    tg_task_put_running(json, call);
    tg_buf_text(json, "],\"queued\":");
    tg_buf_str(json, tasks);
    tg_buf_text(json, "}},\"automation\":");
    tg_automation_put(json, engine->automation, call->seen_of);
    tg_buf_text(json, ",\"file_watcher\":");
    tg_automation_put_files(json, engine->automation);
    tg_buf_text(json, ",\"scheduler\":");
    tg_automation_put_scheduler(json, engine->automation);
    tg_buf_text(json, ",\"messaging\":{\"enabled\":false}}}");
    tg_task_call_text(call);
}

void
tg_task_status(tg_task_call_t *call)
{
    if (call->engine->state == TG_ENGINE_FAILED) {
        tg_task_put_status(call, "unhealthy", TG_STR("null"), TG_STR("[]"));
        return;
    }

    tg_task_call_init(call, TG_STORE_STATUS);
    tg_task_call_ask(call);
}

void
tg_task_status_told(tg_task_call_t *call)
{
    static const char *const names[] = { "queued", "tasks", NULL };
    tg_str_t values[2];

    if (tg_json_members(tg_buf_view(&call->ask.json), names, values) != TG_OK) {
        tg_task_call_refused(call);
        return;
    }

    tg_task_put_status(call,
                       call->engine->state == TG_ENGINE_STOPPING ? "stopping"
                                                                 : "healthy",
                       values[0], values[1]);
}

void
tg_task_stop(tg_task_call_t *call)
{
    tg_engine_t *engine;
    tg_str_t generation;

    engine = call->engine;
    generation = engine->config.generation;

    if (generation.len < sizeof(engine->stopped)) {
        memcpy(engine->stopped, generation.data, generation.len);
        engine->stopped[generation.len] = '\0';
    }

    tg_engine_stop(engine, tg_task_flag(call, "force"));

    tg_task_call_json(call, TG_STR("{\"stopping\":true}"));
}
