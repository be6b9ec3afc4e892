/*
 * Notifications to clients about tasks. A worker relays them, because it knows
 * the clients and which client may see which tasks.
 */
#include "tasks/automation/tg_automation.h"

#include "base/tg_json.h"
#include "tasks/engine/tg_engine_impl.h"
#include "protocol/tg_peer.h"

void
tg_task_begin_params(tg_buf_t *params, int64_t id, tg_str_t agent)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_append_cstr(params, "{\"taskId\":\"");
    tg_task_append_id(params, id);
    tg_buf_append_char(params, '"');

    if (agent.len != 0) {
        tg_json_add_string(params, "agent", agent);
    }
}

/* Returns the first worker that can take a notification, or NULL. */
static tg_peer_t *
tg_engine_find_subscriber(const tg_engine_t *engine)
{
    const tg_jobs_t *jobs;
    tg_task_subscriber_t *subscriber;

    jobs = engine->tasks->jobs;

    TAILQ_FOREACH(subscriber, &engine->priv->subscribers, link)
    {
        if (jobs->ops->can_notify(jobs->host, subscriber->peer)) {
            return subscriber->peer;
        }
    }

    return NULL;
}

/* Begins a JSON object; its first member is the owner, if there is one. */
static void
tg_task_append_owner(tg_buf_t *json, tg_str_t owner)
{
    tg_buf_append_cstr(json, "{");

    if (owner.len != 0) {
        tg_json_add_string(json, "owner", owner);
        tg_buf_append_char(json, ',');
    }
}

void
tg_engine_notify_subscriber(tg_engine_t *engine, tg_str_t owner,
                            tg_str_t method, tg_str_t params)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;
    tg_buf_t json;

    jobs = engine->tasks->jobs;
    peer = tg_engine_find_subscriber(engine);

    if (peer == NULL) {
        return;
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_task_append_owner(&json, owner);
    tg_json_add_string(&json, "store", tg_str_from_cstr(engine->location));
    tg_json_add_string(&json, "method", method);
    tg_json_add_compact(&json, "params", params);
    tg_buf_append_char(&json, '}');

    if (!tg_buf_has_failed(&json)) {
        tg_peer_notify(peer, TG_STR("task_event"), tg_buf_view(&json));
        jobs->ops->notified(jobs->host, peer);
    }

    tg_buf_deinit(&json);
}

/* Counts what clients are notified of: states of tasks, firings of rules. */
static void
tg_engine_count_notification(tg_engine_t *engine, tg_str_t method,
                             tg_str_t params)
{
    static const struct {
        const char *method;
        const char *state;
    } changes[] = {
        { "task.queued", "queued" },       { "task.started", "started" },
        { "task.completed", "completed" }, { "task.failed", "failed" },
        { "task.cancelled", "cancelled" },
    };
    const tg_agent_t *agent;
    tg_str_t raw;
    unsigned i;

    if (tg_json_get_member(params, TG_STR("agent"), &raw) != TG_OK) {
        return;
    }

    agent = tg_task_config_find_agent(&engine->config,
                                      tg_json_string_body(raw));

    for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        if (tg_str_eq(method, tg_str_from_cstr(changes[i].method))) {
            tg_engine_stats_add(&engine->stats, "task",
                                agent != NULL ? agent->name : TG_STR("other"),
                                changes[i].state);
        }
    }
}

void
tg_engine_notify(tg_engine_t *engine, tg_str_t owner, const char *method,
                 tg_buf_t *params)
{
    tg_str_t notified;
    tg_buf_t json;

    tg_buf_append_char(params, '}');
    notified = tg_buf_view(params);

    if (!tg_buf_has_failed(params)) {
        tg_engine_count_notification(engine, tg_str_from_cstr(method),
                                     notified);
        tg_automation_on_notification(engine, method, notified);
        tg_engine_notify_subscriber(engine, owner, tg_str_from_cstr(method),
                                    notified);
    }

    if (!tg_buf_has_failed(params) && tg_engine_is_shared(engine)) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_task_append_owner(&json, owner);
        tg_buf_printf(&json, "\"method\":\"%s\",\"params\":", method);
        tg_buf_append_str(&json, notified);
        tg_buf_append_char(&json, '}');
        tg_engine_broadcast(engine, tg_buf_view(&json));
        tg_buf_deinit(&json);
    }

    tg_buf_deinit(params);
}

/*
 * Sends AIWG's event for the end of a task: its id and its error, a raw JSON
 * string or absent.
 */
static void
tg_engine_notify_aiwg_event(tg_engine_t *engine, tg_str_t owner,
                            const char *method, int64_t id, tg_str_t error)
{
    tg_buf_t params;

    tg_task_begin_params(&params, id, TG_STR(""));

    if (error.data != NULL) {
        tg_json_add_compact(&params, "error", error);
    }

    tg_engine_notify(engine, owner, method, &params);
}

/* Notifies clients that a task has failed; `error` is a raw JSON string. */
static void
tg_engine_notify_failed(tg_engine_t *engine, tg_str_t owner, int64_t id,
                        tg_str_t agent, tg_str_t error)
{
    tg_buf_t params;

    tg_task_begin_params(&params, id, agent);
    tg_json_add_compact(&params, "error", error);
    tg_engine_notify(engine, owner, "task.failed", &params);
    tg_engine_notify_aiwg_event(engine, owner, "event.taskFailed", id, error);
}

void
tg_engine_notify_cancelled(tg_engine_t *engine, tg_str_t owner, int64_t id,
                           tg_str_t agent)
{
    tg_buf_t params;

    tg_task_begin_params(&params, id, agent);
    tg_engine_notify(engine, owner, "task.cancelled", &params);
    tg_engine_notify_aiwg_event(engine, owner, "event.taskCancelled", id,
                                TG_STR_NONE);
}

void
tg_task_notify_end(tg_task_t *task)
{
    tg_str_t owner, agent;
    tg_buf_t params, error;

    owner = tg_buf_view(&task->owner);
    agent = tg_buf_view(&task->agent);

    if (task->is_timed_out) {
        tg_task_begin_params(&params, task->id, agent);
        tg_engine_notify(task->engine, owner, "task.timeout", &params);
    }

    switch (task->state) {
    case TG_TASK_COMPLETED:
        tg_task_begin_params(&params, task->id, agent);
        tg_json_add_int(&params, "duration_ms",
                        tg_engine_get_unix_time_ms()
                            - (int64_t) task->started_at);
        tg_engine_notify(task->engine, owner, "task.completed", &params);
        tg_engine_notify_aiwg_event(task->engine, owner, "event.taskCompleted",
                                    task->id, TG_STR_NONE);
        break;

    case TG_TASK_CANCELLED:
        tg_engine_notify_cancelled(task->engine, owner, task->id, agent);
        break;

    case TG_TASK_QUEUED:
        tg_task_begin_params(&params, task->id, agent);
        tg_json_add_int(&params, "priority", task->priority);
        tg_engine_notify(task->engine, owner, "task.queued", &params);
        break;

    default:
        tg_buf_init(&error, tg_alloc_libc());
        tg_json_write_string(&error, tg_buf_view(&task->error));
        tg_engine_notify_failed(task->engine, owner, task->id, agent,
                                tg_buf_view(&error));
        tg_buf_deinit(&error);
    }
}

/*
 * Notifies clients of one task, of which `values` are raw id, agent, owner and
 * error. It has failed with that error, else with `error`; without, it is
 * queued again.
 */
static void
tg_engine_notify_task(tg_engine_t *engine, const tg_str_t values[4],
                      tg_str_t error)
{
    tg_buf_t agent, owner, params;
    int64_t id;

    tg_buf_init(&agent, tg_alloc_libc());
    tg_buf_init(&owner, tg_alloc_libc());
    id = tg_task_parse_id(tg_json_string_body(values[0]));
    tg_json_append_unescaped(&agent, tg_json_string_body(values[1]));

    if (tg_json_type(values[2]) == TG_JSON_STRING) {
        tg_json_append_unescaped(&owner, tg_json_string_body(values[2]));
    }

    if (error.data == NULL) {
        tg_task_begin_params(&params, id, tg_buf_view(&agent));
        tg_engine_notify(engine, tg_buf_view(&owner), "task.queued", &params);
    } else {
        tg_engine_notify_failed(
            engine, tg_buf_view(&owner), id, tg_buf_view(&agent),
            tg_json_type(values[3]) == TG_JSON_STRING ? values[3] : error);
        engine->priv->nended++;
        tg_engine_resume_following_calls(engine, id);
    }

    tg_buf_deinit(&agent);
    tg_buf_deinit(&owner);
}

void
tg_engine_notify_each_task(tg_engine_t *engine, tg_str_t tasks,
                           const char *error)
{
    static const char *const names[] = { "id", "agent", "owner", "error",
                                         NULL };
    tg_str_t task, values[4];
    tg_json_cursor_t each;
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());

    if (error != NULL) {
        tg_json_write_string(&json, tg_str_from_cstr(error));
    }

    for (tg_json_iter_init(&each, tasks); tg_json_iter_next(&each, &task);) {
        if (tg_json_get_members(task, names, values) == TG_OK) {
            tg_engine_notify_task(engine, values,
                                  error != NULL ? tg_buf_view(&json)
                                                : TG_STR_NONE);
        }
    }

    tg_buf_deinit(&json);
}

const char tg_task_interrupted_error[] =
    "interrupted: toolgate-runner ended while it ran";

void
tg_engine_notify_interrupted(tg_engine_t *engine, tg_str_t result)
{
    static const char *const names[] = { "queued", "failed", NULL };
    tg_str_t ids[2];

    if (tg_json_get_members(result, names, ids) == TG_OK) {
        tg_engine_notify_each_task(engine, ids[0], NULL);
        tg_engine_notify_each_task(engine, ids[1], tg_task_interrupted_error);
    }
}
