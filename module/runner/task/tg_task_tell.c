/*
 * What clients are told about tasks: through a worker, which knows them, and
 * who of them sees whose tasks.
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

/* Who sees tasks of that owner, or {, and a text goes on. */
static void
tg_task_put_owner(tg_buf_t *json, tg_str_t owner)
{
    tg_buf_text(json, "{");

    if (owner.len != 0) {
        tg_buf_text(json, "\"owner\":");
        tg_json_put_string(json, owner);
        tg_buf_char(json, ',');
    }
}

void
tg_task_pass(tg_engine_t *engine, tg_str_t owner, tg_str_t method,
             tg_str_t params)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;
    tg_buf_t json;

    jobs = engine->tasks->jobs;
    peer = tg_task_listener(engine);

    if (peer == NULL) {
        return;
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_task_put_owner(&json, owner);
    tg_buf_text(&json, "\"store\":");
    tg_json_put_string(&json, tg_str_c(engine->where));
    tg_buf_text(&json, ",\"method\":");
    tg_json_put_string(&json, method);
    tg_json_put_member(&json, ",\"params\":", params);
    tg_buf_char(&json, '}');

    if (!tg_buf_failed(&json)) {
        tg_peer_notify(peer, TG_STR("task_event"), tg_buf_view(&json));
        jobs->ops->told(jobs->host, peer);
    }

    tg_buf_deinit(&json);
}

void
tg_task_tell(tg_engine_t *engine, tg_str_t owner, const char *method,
             tg_buf_t *params)
{
    tg_str_t told;
    tg_buf_t json;

    tg_buf_char(params, '}');
    told = tg_buf_view(params);

    if (!tg_buf_failed(params)) {
        engine->tasks->ops->happened(engine, method, told);
        tg_task_pass(engine, owner, tg_str_c(method), told);
    }

    if (!tg_buf_failed(params) && tg_engine_is_shared(engine)) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_task_put_owner(&json, owner);
        tg_buf_printf(&json, "\"method\":\"%s\",\"params\":", method);
        tg_buf_str(&json, told);
        tg_buf_char(&json, '}');
        tg_engine_spread(engine, tg_buf_view(&json));
        tg_buf_deinit(&json);
    }

    tg_buf_deinit(params);
}

void
tg_task_tell_event(tg_engine_t *engine, tg_str_t owner, const char *method,
                   int64_t id, tg_str_t error)
{
    tg_buf_t params;

    tg_task_tell_begin(&params, id, TG_STR(""));

    if (error.data != NULL) {
        tg_json_put_member(&params, ",\"error\":", error);
    }

    tg_task_tell(engine, owner, method, &params);
}

/* Tells of a task that has failed; error is a raw JSON string. */
static void
tg_task_tell_failed(tg_engine_t *engine, tg_str_t owner, int64_t id,
                    tg_str_t agent, tg_str_t error)
{
    tg_buf_t params;

    tg_task_tell_begin(&params, id, agent);
    tg_json_put_member(&params, ",\"error\":", error);
    tg_task_tell(engine, owner, "task.failed", &params);
    tg_task_tell_event(engine, owner, "event.taskFailed", id, error);
}

void
tg_task_tell_cancelled(tg_engine_t *engine, tg_str_t owner, int64_t id,
                       tg_str_t agent)
{
    tg_buf_t params;

    tg_task_tell_begin(&params, id, agent);
    tg_task_tell(engine, owner, "task.cancelled", &params);
    tg_task_tell_event(engine, owner, "event.taskCancelled", id, TG_STR_NONE);
}

void
tg_task_tell_end(tg_task_t *task)
{
    tg_str_t owner, agent;
    tg_buf_t params, error;

    owner = tg_buf_view(&task->owner);
    agent = tg_buf_view(&task->agent);

    if (task->is_late) {
        tg_task_tell_begin(&params, task->id, agent);
        tg_task_tell(task->engine, owner, "task.timeout", &params);
    }

    switch (task->state) {
    case TG_TASK_COMPLETED:
        tg_task_tell_begin(&params, task->id, agent);
        tg_buf_text(&params, ",\"duration_ms\":");
        tg_buf_int(&params, tg_engine_now() - (int64_t) task->started_at);
        tg_task_tell(task->engine, owner, "task.completed", &params);
        tg_task_tell_event(task->engine, owner, "event.taskCompleted", task->id,
                           TG_STR_NONE);
        break;

    case TG_TASK_CANCELLED:
        tg_task_tell_cancelled(task->engine, owner, task->id, agent);
        break;

    case TG_TASK_QUEUED:
        tg_task_tell_begin(&params, task->id, agent);
        tg_buf_text(&params, ",\"priority\":");
        tg_buf_int(&params, task->priority);
        tg_task_tell(task->engine, owner, "task.queued", &params);
        break;

    default:
        tg_buf_init(&error, tg_alloc_libc());
        tg_json_put_string(&error, tg_buf_view(&task->error));
        tg_task_tell_failed(task->engine, owner, task->id, agent,
                            tg_buf_view(&error));
        tg_buf_deinit(&error);
    }
}

/*
 * One of an array, as the store has told it: it has failed, with the error that
 * the store tells or else this one; or it waits again, error is absent.
 */
static void
tg_task_tell_one(tg_engine_t *engine, const tg_str_t values[4], tg_str_t error)
{
    tg_buf_t agent, owner, params;
    int64_t id;

    tg_buf_init(&agent, tg_alloc_libc());
    tg_buf_init(&owner, tg_alloc_libc());
    id = tg_task_id(tg_json_body(values[0]));
    tg_json_put_decoded(&agent, tg_json_body(values[1]));

    if (tg_json_type(values[2]) == TG_JSON_STRING) {
        tg_json_put_decoded(&owner, tg_json_body(values[2]));
    }

    if (error.data == NULL) {
        tg_task_tell_begin(&params, id, tg_buf_view(&agent));
        tg_task_tell(engine, tg_buf_view(&owner), "task.queued", &params);
    } else {
        tg_task_tell_failed(
            engine, tg_buf_view(&owner), id, tg_buf_view(&agent),
            tg_json_type(values[3]) == TG_JSON_STRING ? values[3] : error);
        engine->nended++;
        engine->tasks->ops->changed(engine, id);
    }

    tg_buf_deinit(&agent);
    tg_buf_deinit(&owner);
}

void
tg_task_tell_each(tg_engine_t *engine, tg_str_t tasks, const char *error)
{
    static const char *const names[] = { "id", "agent", "owner", "error",
                                         NULL };
    tg_str_t task, values[4];
    tg_json_t each;
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());

    if (error != NULL) {
        tg_json_put_string(&json, tg_str_c(error));
    }

    for (tg_json_each(&each, tasks); tg_json_item(&each, &task);) {
        if (tg_json_members(task, names, values) == TG_OK) {
            tg_task_tell_one(engine, values,
                             error != NULL ? tg_buf_view(&json) : TG_STR_NONE);
        }
    }

    tg_buf_deinit(&json);
}

const char tg_task_interrupted[] =
    "interrupted: toolgate-runner ended while it ran";

void
tg_task_tell_interrupted(tg_engine_t *engine, tg_str_t told)
{
    static const char *const names[] = { "queued", "failed", NULL };
    tg_str_t ids[2];

    if (tg_json_members(told, names, ids) == TG_OK) {
        tg_task_tell_each(engine, ids[0], NULL);
        tg_task_tell_each(engine, ids[1], tg_task_interrupted);
    }
}
