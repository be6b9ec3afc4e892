/*
 * A store that several runners share.  Each has a lease of what it runs.  The
 * database ends one that was not renewed in time; so that nothing runs twice,
 * who could not renew its own ends what it runs some time before that.
 */
#include "base/tg_json.h"
#include "runner/task/tg_task.h"
#include "runner/tg_log.h"

#include <time.h>

uint64_t
tg_engine_uptime(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_BOOTTIME, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* --- the lease --- */

void
tg_engine_leased(tg_engine_t *engine, const tg_store_ask_t *ask)
{
    engine->lease_at = engine->beat_at;
    engine->lease_ms = (uint64_t) ask->limit;
    engine->is_fenced = 0;
}

/* Ends what runs; error is what is told of it. */
static void
tg_engine_fence(tg_engine_t *engine, const char *why, const char *error)
{
    tg_task_t *task, *next;

    tg_log(TG_LOG_WARN, "%s: what runs is ended, and interrupted", why);
    engine->is_fenced = 1;

    for (task = TAILQ_FIRST(&engine->running); task != NULL; task = next) {
        next = TAILQ_NEXT(task, place);
        tg_task_end(task, TG_TASK_QUEUED, error);
    }
}

/* Somebody else was asked to cancel some of what runs here. */
static void
tg_engine_cancel(tg_engine_t *engine, tg_str_t ids)
{
    tg_json_t each;
    tg_task_t *task;
    tg_str_t id;

    for (tg_json_each(&each, ids); tg_json_item(&each, &id);) {
        task = tg_task_find(engine, tg_task_id(tg_json_body(id)));

        if (task != NULL) {
            tg_task_end(task, TG_TASK_CANCELLED, "");
        }
    }
}

static void
tg_engine_on_beat(tg_store_ask_t *ask)
{
    tg_engine_t *engine;
    tg_str_t ids;

    engine = ask->data;
    tg_engine_answered(engine);
    engine->is_beating = 0;

    if (ask->rc == TG_OK && !engine->is_fenced) {
        tg_engine_leased(engine, ask);
        tg_task_tell_interrupted(engine, tg_buf_view(&ask->json));
    }

    if (ask->rc == TG_OK
        && tg_json_get(tg_buf_view(&ask->json), TG_STR("cancel"), &ids)
               == TG_OK)
    {
        tg_engine_cancel(engine, ids);
    }

    if (ask->rc == TG_END && !engine->is_fenced) {
        tg_engine_fence(engine,
                        "the lease of the tasks' store was over, and what ran "
                        "is another toolgate-runner's",
                        TG_STORE_LEASE_LOST);
    }

    tg_store_ask_deinit(ask);
    engine->go_on(engine);
}

static void
tg_engine_beat(tg_engine_t *engine)
{
    tg_store_ask_t *ask;

    ask = &engine->beat;
    engine->is_beating = 1;
    engine->beat_at = engine->asked_at;
    tg_store_ask_init(ask, TG_STORE_BEAT, tg_engine_on_beat, engine);
    ask->error = tg_str_c(tg_task_interrupted);
    ask->limit = engine->config.lease_ms;
    ask->agents = tg_engine_agents(engine);
    tg_engine_ask(engine, ask);
}

int
tg_engine_tick_lease(tg_engine_t *engine)
{
    uint64_t now;

    if (!tg_engine_is_shared(engine)) {
        return 0;
    }

    now = tg_engine_uptime();

    if (!engine->is_fenced
        && now - engine->lease_at >= TG_TASK_FENCE(engine->lease_ms))
    {
        tg_engine_fence(engine,
                        "the lease of the tasks' store cannot be renewed, as "
                        "the database is away",
                        "interrupted: the lease of the task store could not be "
                        "renewed, as the database could not be reached");
    }

    if (engine->is_opening || engine->is_beating) {
        return 0;
    }

    if (!engine->is_fenced
        && now - engine->asked_at >= TG_TASK_BEAT(engine->lease_ms))
    {
        engine->asked_at = now;
        tg_engine_beat(engine);
    }

    return engine->is_fenced && engine->nrunning == 0;
}

/* --- what others tell --- */

static void
tg_engine_heard_of(tg_engine_t *engine, tg_str_t owner, tg_str_t method,
                   tg_str_t params)
{
    static const char *const ends[] = { "task.completed", "task.failed",
                                        "task.cancelled" };
    tg_buf_t name;
    tg_str_t id;
    size_t i;

    tg_buf_init(&name, tg_alloc_libc());

    if (tg_json_type(owner) == TG_JSON_STRING) {
        tg_json_put_decoded(&name, tg_json_body(owner));
    }

    tg_task_pass(engine, tg_buf_view(&name), tg_json_body(method), params);
    tg_buf_deinit(&name);

    if (tg_json_is_text(method, TG_STR("task.queued"))) {
        engine->wants = 1;
    }

    for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (tg_json_is_text(method, tg_str_c(ends[i]))
            && tg_json_has(params, TG_STR("taskId"), TG_JSON_STRING, &id))
        {
            engine->nended++;
            engine->tasks->ops->changed(engine, tg_task_id(tg_json_body(id)));
        }
    }
}

void
tg_engine_heard(void *host, tg_str_t text)
{
    static const char *const names[] = { "owner", "method", "params", "cancel",
                                         NULL };
    const char *why;
    tg_str_t said[4];
    tg_engine_t *engine;

    engine = host;

    if (engine->is_dropped || tg_json_check(text, &why) != TG_OK
        || tg_json_members(text, names, said) != TG_OK)
    {
        return;
    }

    if (said[3].data != NULL) {
        tg_engine_cancel(engine, said[3]);
    } else if (tg_json_type(said[1]) == TG_JSON_STRING
               && tg_json_type(said[2]) == TG_JSON_OBJECT)
    {
        tg_engine_heard_of(engine, said[0], said[1], said[2]);
    }

    engine->go_on(engine);
}
