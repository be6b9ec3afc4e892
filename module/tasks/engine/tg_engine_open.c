/*
 * Opening of the engine's store.
 */
#include "base/tg_json.h"
#include "tasks/engine/tg_task_call.h"
#include "runner/logging/tg_log.h"
#include "tasks/engine/tg_engine_impl.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* Maximum size of the host name in bytes. */
#define TG_ENGINE_HOST_NAME_MAX 256

void
tg_engine_set_open(tg_engine_t *engine)
{
    engine->state = TG_ENGINE_OPEN;
    engine->can_claim = 1;
    engine->priv->purge_at = tg_engine_get_loop_time_ms(engine);
}

static void
tg_engine_set_failed(tg_engine_t *engine, tg_str_t why)
{
    if (!tg_str_eq(tg_buf_view(&engine->priv->why), why)) {
        tg_log(TG_LOG_ERROR,
               "the task store cannot be opened, trying again: %.*s",
               (int) why.len, why.data);
        tg_buf_reset(&engine->priv->why, 0);
        tg_buf_append_str(&engine->priv->why, why);
    }

    engine->state = TG_ENGINE_FAILED;
    engine->priv->deadline_at = tg_engine_get_loop_time_ms(engine)
                                + TG_TASK_OPEN_RETRY_MS;
}

/*
 * Sets the state STOPPING if daemon.stop was called before the store was open.
 */
static void
tg_engine_restore_stopped(tg_engine_t *engine)
{
    if (engine->priv->stopped_generation[0] != '\0'
        && tg_str_eq(tg_str_from_cstr(engine->priv->stopped_generation),
                     engine->config.spec.generation))
    {
        engine->state = TG_ENGINE_STOPPING;
        engine->priv->deadline_at = tg_engine_get_loop_time_ms(engine)
                                    + TG_TASK_STOP_TIMEOUT_MS;
    }
}

static void
tg_engine_set_tick_interval(tg_engine_t *engine, uint64_t ms)
{
    uv_timer_set_repeat(&engine->priv->tick, ms);
    (void) uv_timer_again(&engine->priv->tick);
}

/*
 * Returns whether a store was locked first less than TG_TASK_LOCKED_TIMEOUT_MS
 * ago, and should be opened again soon.
 */
static int
tg_engine_can_retry_locked(tg_engine_t *engine, const tg_store_query_t *query)
{
    uint64_t now;

    now = tg_engine_get_loop_time_ms(engine);

    if (!query->is_locked) {
        return 0;
    }

    if (engine->priv->locked_at == 0) {
        engine->priv->locked_at = now;
    }

    return now - engine->priv->locked_at < TG_TASK_LOCKED_TIMEOUT_MS;
}

/* Closes a store that cannot be opened. Retries soon if it is locked. */
static void
tg_engine_on_open_failed(tg_engine_t *engine, const tg_store_query_t *query)
{
    if (tg_engine_can_retry_locked(engine, query)) {
        tg_engine_set_tick_interval(engine, TG_TASK_LOCKED_RETRY_MS);
    } else {
        tg_engine_set_tick_interval(engine, TG_TASK_TICK_MS);
        tg_engine_set_failed(engine, tg_buf_view(&query->json));
    }

    engine->priv->outputs.store = NULL;
    engine->priv->db->backend->close(engine->priv->db, NULL, NULL);
    engine->priv->db = NULL;
}

static void
tg_engine_on_store_opened(tg_store_query_t *query)
{
    tg_engine_t *engine;
    int is_first;

    engine = query->data;
    engine->priv->is_opening = 0;
    is_first = engine->state == TG_ENGINE_OPENING;

    if (query->rc == TG_OK) {
        tg_buf_reset(&engine->priv->why, 0);
        engine->priv->locked_at = 0;
        tg_engine_set_tick_interval(engine, TG_TASK_TICK_MS);
        tg_engine_on_lease(engine, query);

        if (is_first) {
            tg_engine_set_open(engine);
            tg_engine_restore_stopped(engine);
        }

        tg_engine_notify_interrupted(engine, tg_buf_view(&query->json));
        engine->priv->must_check_orphans = 1;
        tg_engine_check_orphans(engine);

    } else if (is_first) {
        tg_engine_on_open_failed(engine, query);

    } else {
        tg_engine_log_store_error(engine, query);
    }

    tg_store_query_deinit(query);

    if (is_first && engine->state != TG_ENGINE_OPENING) {
        tg_task_calls_on_engine_opened(engine);
    }
}

void
tg_engine_query_open(tg_engine_t *engine)
{
    engine->priv->is_opening = 1;
    engine->priv->renewal_requested_at = tg_engine_get_boot_time_ms();
    tg_store_query_init(&engine->priv->open, TG_STORE_OPEN,
                        tg_engine_on_store_opened, engine);
    tg_engine_query_lease(engine, &engine->priv->open);
}

void
tg_engine_set_password(const tg_engine_t *engine)
{
    tg_str_t password;
    tg_buf_t text;

    password = engine->config.spec.password;

    if (engine->priv->db == NULL
        || engine->priv->db->backend->set_password == NULL) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (password.data != NULL) {
        tg_json_append_unescaped(&text, tg_json_string_body(password));
    }

    engine->priv->db->backend->set_password(engine->priv->db,
                                            tg_buf_view(&text));
    tg_buf_deinit(&text);
}

void
tg_engine_open_store(tg_engine_t *engine)
{
    char name[TG_ENGINE_HOST_NAME_MAX + PATH_MAX];
    size_t len;

    (void) gethostname(name, TG_ENGINE_HOST_NAME_MAX);
    name[TG_ENGINE_HOST_NAME_MAX - 1] = '\0';
    len = strlen(name);
    (void) snprintf(name + len, sizeof(name) - len, ":%s",
                    engine->tasks->state_dir);
    engine->state = TG_ENGINE_OPENING;
    engine->priv->db = tg_store_new(engine->tasks->jobs->loop,
                                    tg_str_from_cstr(engine->location), name);

    if (engine->priv->db == NULL) {
        tg_engine_set_failed(engine, TG_STR("no memory to open it"));
        tg_task_calls_on_engine_opened(engine);
        return;
    }

    engine->priv->db->on_broadcast = tg_engine_on_broadcast;
    engine->priv->db->host = engine;
    engine->priv->outputs.store = tg_engine_is_shared(engine) ? engine->priv->db
                                                              : NULL;
    tg_engine_set_password(engine);
    tg_engine_query_open(engine);
}
