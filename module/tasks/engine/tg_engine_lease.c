/*
 * Lease and broadcasts of a store that several runners share. Each runner has a
 * lease for its running tasks. The database interrupts the tasks of a runner
 * that has not renewed its lease in time. A runner that cannot renew its lease
 * interrupts its tasks some time earlier, so that no task runs twice.
 */
#include "base/tg_json.h"
#include "tasks/engine/tg_task_call.h"
#include "runner/logging/tg_log.h"
#include "tasks/engine/tg_engine_impl.h"

#include <time.h>

uint64_t
tg_engine_get_boot_time_ms(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_BOOTTIME, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* --- lease --- */

void
tg_engine_on_lease(tg_engine_t *engine, const tg_store_query_t *query)
{
    engine->priv->lease_at = engine->priv->renewal_sent_at;
    engine->priv->lease_ms = (uint64_t) query->limit;
    engine->priv->is_fenced = 0;
}

/* Interrupts all tasks with `error` and starts none until there is a lease. */
static void
tg_engine_fence(tg_engine_t *engine, const char *why, const char *error)
{
    tg_task_t *task, *next;

    tg_log(TG_LOG_WARN, "%s: all running tasks are interrupted", why);
    engine->priv->is_fenced = 1;

    TG_TAILQ_FOREACH_SAFE(task, &engine->priv->running, link, next)
    {
        tg_task_end(task, TG_TASK_QUEUED, error);
    }
}

/* Cancels running tasks, by their ids, for task.cancel of other runners. */
static void
tg_engine_cancel_tasks(tg_engine_t *engine, tg_str_t ids)
{
    tg_json_cursor_t each;
    tg_task_t *task;
    tg_str_t id;

    for (tg_json_iter_init(&each, ids); tg_json_iter_next(&each, &id);) {
        task = tg_engine_find_task(engine,
                                   tg_task_parse_id(tg_json_string_body(id)));

        if (task != NULL) {
            tg_task_end(task, TG_TASK_CANCELLED, "");
        }
    }
}

static void
tg_engine_on_lease_renewed(tg_store_query_t *query)
{
    tg_engine_t *engine;
    tg_str_t ids;

    engine = query->data;
    engine->priv->is_renewing_lease = 0;

    if (query->rc == TG_OK && !engine->priv->is_fenced) {
        tg_engine_on_lease(engine, query);
        tg_engine_notify_interrupted(engine, tg_buf_view(&query->json));
    }

    if (query->rc == TG_OK
        && tg_json_get_member(tg_buf_view(&query->json), TG_STR("cancel"), &ids)
               == TG_OK)
    {
        tg_engine_cancel_tasks(engine, ids);
    }

    if (query->rc == TG_END && !engine->priv->is_fenced) {
        tg_engine_fence(engine,
                        "the lease of the task store has expired, and "
                        "another toolgate-runner has the tasks",
                        TG_STORE_LEASE_LOST);
    }

    tg_store_query_deinit(query);
}

void
tg_engine_query_lease(tg_engine_t *engine, tg_store_query_t *query)
{
    engine->priv->renewal_sent_at = engine->priv->renewal_requested_at;
    query->error = tg_str_from_cstr(tg_task_interrupted_error);
    query->limit = engine->config.spec.lease_ms;
    query->agents = tg_engine_list_agents(engine);
    tg_engine_query_store(engine, query);
}

static void
tg_engine_renew_lease(tg_engine_t *engine)
{
    engine->priv->is_renewing_lease = 1;
    tg_store_query_init(&engine->priv->renew_lease, TG_STORE_RENEW_LEASE,
                        tg_engine_on_lease_renewed, engine);
    tg_engine_query_lease(engine, &engine->priv->renew_lease);
}

int
tg_engine_tick_lease(tg_engine_t *engine)
{
    uint64_t now;

    if (!tg_engine_is_shared(engine)) {
        return 0;
    }

    now = tg_engine_get_boot_time_ms();

    if (!engine->priv->is_fenced
        && now - engine->priv->lease_at
               >= TG_TASK_LEASE_FENCE_MS(engine->priv->lease_ms))
    {
        tg_engine_fence(engine,
                        "the lease of the task store cannot be renewed, as "
                        "the database cannot be reached",
                        "interrupted: the lease of the task store could not be "
                        "renewed, as the database could not be reached");
    }

    if (engine->priv->is_opening || engine->priv->is_renewing_lease) {
        return 0;
    }

    if (!engine->priv->is_fenced
        && now - engine->priv->renewal_requested_at
               >= TG_TASK_LEASE_RENEW_MS(engine->priv->lease_ms))
    {
        engine->priv->renewal_requested_at = now;
        tg_engine_renew_lease(engine);
    }

    return engine->priv->is_fenced && engine->nrunning == 0;
}

/* --- broadcasts --- */

static void
tg_engine_on_task_broadcast(tg_engine_t *engine, tg_str_t owner,
                            tg_str_t method, tg_str_t params)
{
    static const char *const ends[] = { "task.completed", "task.failed",
                                        "task.cancelled", NULL };
    tg_buf_t name;
    tg_str_t id;

    tg_buf_init(&name, tg_alloc_libc());

    if (tg_json_type(owner) == TG_JSON_STRING) {
        tg_json_append_unescaped(&name, tg_json_string_body(owner));
    }

    tg_engine_notify_subscriber(engine, tg_buf_view(&name),
                                tg_json_string_body(method), params);
    tg_buf_deinit(&name);

    if (tg_json_string_eq(method, TG_STR("task.queued"))) {
        engine->can_claim = 1;
    }

    if (tg_json_string_find(method, ends) >= 0
        && tg_json_has_member(params, TG_STR("taskId"), TG_JSON_STRING, &id))
    {
        engine->priv->nended++;
        tg_engine_resume_following_calls(engine, tg_task_parse_id(
                                                     tg_json_string_body(id)));
    }
}

void
tg_engine_on_broadcast(void *host, tg_str_t text)
{
    static const char *const names[] = { "owner", "method", "params", "cancel",
                                         NULL };
    const char *why;
    tg_str_t values[4];
    tg_engine_t *engine;

    engine = host;

    if (engine->is_shutting_down || tg_json_validate(text, &why) != TG_OK
        || tg_json_get_members(text, names, values) != TG_OK)
    {
        return;
    }

    if (values[3].data != NULL) {
        tg_engine_cancel_tasks(engine, values[3]);
    } else if (tg_json_type(values[1]) == TG_JSON_STRING
               && tg_json_type(values[2]) == TG_JSON_OBJECT)
    {
        tg_engine_on_task_broadcast(engine, values[0], values[1], values[2]);
    }

    tg_engine_advance(engine);
}
