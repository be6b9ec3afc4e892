/*
 * The store is opened.
 */
#include "base/tg_json.h"
#include "runner/task/tg_task.h"
#include "runner/tg_log.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* Bytes of a machine's name. */
#define TG_ENGINE_HOST 256

void
tg_engine_begin(tg_engine_t *engine)
{
    engine->state = TG_ENGINE_OPEN;
    engine->wants = 1;
    engine->purge_at = tg_engine_time(engine);
}

static void
tg_engine_failed(tg_engine_t *engine, tg_str_t why)
{
    if (!tg_str_eq(tg_buf_view(&engine->why), why)) {
        tg_log(TG_LOG_ERROR,
               "the tasks' store cannot be opened, it is tried "
               "again: %.*s",
               (int) why.len, why.data);
        tg_buf_reset(&engine->why, 0);
        tg_buf_str(&engine->why, why);
    }

    engine->state = TG_ENGINE_FAILED;
    engine->due_at = tg_engine_time(engine) + TG_TASK_RETRY_MS;
}

/* It was told to stop when it was not open, and nothing runs yet. */
static void
tg_engine_stop_again(tg_engine_t *engine)
{
    if (engine->stopped[0] != '\0'
        && tg_str_eq(tg_str_c(engine->stopped), engine->config.generation))
    {
        engine->state = TG_ENGINE_STOPPING;
        engine->due_at = tg_engine_time(engine) + TG_TASK_STOP_MS;
    }
}

static void
tg_engine_tick_every(tg_engine_t *engine, uint64_t ms)
{
    uv_timer_set_repeat(&engine->tick, ms);
    (void) uv_timer_again(&engine->tick);
}

/* Should the store be tried again soon, as it was locked just now? */
static int
tg_engine_is_locked(tg_engine_t *engine, const tg_store_ask_t *ask)
{
    uint64_t now;

    now = tg_engine_time(engine);

    if (!ask->is_locked) {
        return 0;
    }

    if (engine->locked_at == 0) {
        engine->locked_at = now;
    }

    return now - engine->locked_at < TG_TASK_LOCKED_MAX_MS;
}

/* The store could not be opened. */
static void
tg_engine_on_not_open(tg_engine_t *engine, const tg_store_ask_t *ask)
{
    if (tg_engine_is_locked(engine, ask)) {
        tg_engine_tick_every(engine, TG_TASK_LOCKED_MS);
    } else {
        tg_engine_tick_every(engine, TG_TASK_TICK_MS);
        tg_engine_failed(engine, tg_buf_view(&ask->json));
    }

    engine->outputs.store = NULL;
    engine->db->kind->close(engine->db, NULL, NULL);
    engine->db = NULL;
}

static void
tg_engine_on_open(tg_store_ask_t *ask)
{
    tg_engine_t *engine;
    int is_first;

    engine = ask->data;
    tg_engine_answered(engine);
    engine->is_opening = 0;
    is_first = engine->state == TG_ENGINE_OPENING;

    if (ask->rc == TG_OK) {
        tg_buf_reset(&engine->why, 0);
        engine->locked_at = 0;
        tg_engine_tick_every(engine, TG_TASK_TICK_MS);
        tg_engine_leased(engine, ask);

        if (is_first) {
            tg_engine_begin(engine);
            tg_engine_stop_again(engine);
        }

        tg_task_tell_interrupted(engine, tg_buf_view(&ask->json));
        engine->must_sort = 1;
        tg_engine_sort(engine);

    } else if (is_first) {
        tg_engine_on_not_open(engine, ask);

    } else {
        tg_engine_refused(engine, ask);
    }

    tg_store_ask_deinit(ask);

    if (is_first && engine->state != TG_ENGINE_OPENING) {
        engine->tasks->ops->opened(engine);
    }

    engine->go_on(engine);
}

void
tg_engine_ask_open(tg_engine_t *engine)
{
    tg_store_ask_t *ask;

    ask = &engine->open;
    engine->is_opening = 1;
    engine->asked_at = tg_engine_uptime();
    engine->beat_at = engine->asked_at;
    tg_store_ask_init(ask, TG_STORE_OPEN, tg_engine_on_open, engine);
    ask->error = tg_str_c(tg_task_interrupted);
    ask->limit = engine->config.lease_ms;
    ask->agents = tg_engine_agents(engine);
    tg_engine_ask(engine, ask);
}

void
tg_engine_let(const tg_engine_t *engine)
{
    tg_str_t password;
    tg_buf_t text;

    password = engine->config.password;

    if (engine->db == NULL || engine->db->kind->let == NULL) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (password.data != NULL) {
        tg_json_put_decoded(&text, tg_json_body(password));
    }

    engine->db->kind->let(engine->db, tg_buf_view(&text));
    tg_buf_deinit(&text);
}

void
tg_engine_open(tg_engine_t *engine)
{
    char name[TG_ENGINE_HOST + PATH_MAX];
    size_t len;

    (void) gethostname(name, TG_ENGINE_HOST);
    name[TG_ENGINE_HOST - 1] = '\0';
    len = strlen(name);
    (void) snprintf(name + len, sizeof(name) - len, ":%s",
                    engine->tasks->state_dir);
    engine->state = TG_ENGINE_OPENING;
    engine->db = tg_store_new(engine->tasks->jobs->loop,
                              tg_str_c(engine->where), name);

    if (engine->db == NULL) {
        tg_engine_failed(engine, TG_STR("no memory for it"));
        engine->tasks->ops->opened(engine);
        return;
    }

    engine->db->heard = tg_engine_heard;
    engine->db->host = engine;
    engine->outputs.store = tg_engine_is_shared(engine) ? engine->db : NULL;
    tg_engine_let(engine);
    tg_engine_ask_open(engine);
}
