#include "runner/task/tg_task.h"

#include "base/tg_json.h"
#include "runner/tg_log.h"

#include <stdlib.h>

/* --- its end --- */

static void
tg_engine_on_closed(uv_handle_t *handle)
{
    tg_engine_t *engine;
    tg_tasks_t *tasks;

    engine = handle->data;
    tasks = engine->tasks;
    tasks->ops->leave(&engine->waiting);
    tasks->ops->leave(&engine->following);
    tasks->ops->freed(engine);
    LIST_REMOVE(engine, link);
    tg_task_config_free(&engine->config);
    tg_outputs_deinit(&engine->outputs);
    tg_buf_deinit(&engine->why);
    free(engine->where);
    free(engine);

    if (LIST_EMPTY(&tasks->engines)) {
        tasks->jobs->ops->idle(tasks->jobs->host);
    }
}

static void
tg_engine_on_store_closed(void *host)
{
    tg_engine_t *engine;

    engine = host;
    uv_close((uv_handle_t *) &engine->tick, tg_engine_on_closed);
}

static void
tg_engine_check(tg_engine_t *engine)
{
    if (!engine->is_dropped || engine->is_closing || engine->nwork != 0
        || engine->nrunning != 0)
    {
        return;
    }

    engine->is_closing = 1;

    if (engine->db != NULL) {
        engine->db->kind->close(engine->db, tg_engine_on_store_closed, engine);
    } else {
        tg_engine_on_store_closed(engine);
    }
}

/* --- which task is next --- */

/* Names all agents for a claim; how many of them take a task now. */
static unsigned
tg_engine_put_claimers(tg_engine_t *engine)
{
    int64_t running[TG_STORE_AGENTS_MAX];
    const tg_task_config_t *config;
    const tg_agent_t *agent;
    const tg_task_t *task;
    unsigned i, n;

    config = &engine->config;
    memset(running, 0, sizeof(running));

    for (task = TAILQ_FIRST(&engine->running); task != NULL;
         task = TAILQ_NEXT(task, place))
    {
        agent = tg_task_agent(config, tg_buf_view(&task->agent));

        if (agent != NULL) {
            running[agent - config->agents]++;
        }
    }

    engine->claimers.n = 0;

    for (i = 0, n = 0; i < config->nagents; i++) {
        tg_engine_name(&engine->claimers, &config->agents[i]);
        engine->claimers.is_full[i] = running[i]
                                      >= config->agents[i].concurrency;
        n += !engine->claimers.is_full[i];
    }

    return n;
}

static void
tg_engine_on_returned(tg_store_ask_t *ask)
{
    tg_engine_t *engine;

    engine = ask->data;
    tg_engine_answered(engine);
    tg_engine_refused(engine, ask);
    engine->is_returning = ask->rc == TG_BAD;
    engine->is_claiming = engine->is_returning;
    tg_store_ask_deinit(ask);
    engine->wants = 1;
    tg_engine_go_on(engine);
}

/* It was claimed just before nothing may start any more. */
static void
tg_engine_return(tg_engine_t *engine)
{
    tg_store_ask_t *ask;
    int64_t id;

    ask = &engine->claim;
    id = ask->id;
    tg_store_ask_deinit(ask);
    tg_store_ask_init(ask, TG_STORE_RETURN, tg_engine_on_returned, engine);
    ask->id = id;
    engine->is_claiming = 1;
    engine->is_returning = 0;
    tg_engine_ask(engine, ask);
}

static void
tg_engine_on_claim(tg_store_ask_t *ask)
{
    tg_engine_t *engine;

    engine = ask->data;
    tg_engine_answered(engine);
    engine->is_claiming = 0;
    tg_engine_refused(engine, ask);

    if (ask->rc == TG_OK
        && (engine->is_dropped || engine->is_fenced
            || engine->state != TG_ENGINE_OPEN))
    {
        tg_engine_return(engine);
        return;
    }

    if (ask->rc == TG_OK) {
        engine->wants = 1;
        tg_task_run(engine, ask->id, tg_buf_view(&ask->json));

    } else if (ask->rc == TG_BAD) {
        tg_store_ask_deinit(ask);
        tg_engine_check(engine);
        return; /* again with the next tick */

    } else if (ask->rc == TG_AGAIN) {
        engine->wants = 1;
    }

    tg_store_ask_deinit(ask);
    tg_engine_go_on(engine);
}

void
tg_engine_go_on(tg_engine_t *engine)
{
    const tg_task_config_t *config;
    tg_store_ask_t *ask;

    tg_engine_check(engine);
    config = &engine->config;

    if (engine->is_dropped || engine->state != TG_ENGINE_OPEN || !engine->wants
        || engine->is_claiming || engine->is_sorting || engine->is_fenced
        || engine->nrunning >= config->concurrency)
    {
        return;
    }

    ask = &engine->claim;
    tg_store_ask_init(ask, TG_STORE_CLAIM, tg_engine_on_claim, engine);
    ask->agents = &engine->claimers;

    if (tg_engine_put_claimers(engine) == 0) {
        return;
    }

    engine->wants = 0;
    engine->is_claiming = 1;
    tg_engine_ask(engine, ask);
}

/* --- its states --- */

void
tg_engine_stop(tg_engine_t *engine, int is_forced)
{
    tg_task_t *task, *next;

    if (engine->state == TG_ENGINE_OPEN) {
        engine->state = TG_ENGINE_STOPPING;
        engine->due_at = tg_engine_time(engine) + TG_TASK_STOP_MS;
    }

    for (task = is_forced ? TAILQ_FIRST(&engine->running) : NULL; task != NULL;
         task = next)
    {
        next = TAILQ_NEXT(task, place);
        tg_task_end(task, TG_TASK_QUEUED,
                    "interrupted: the tasks were told to stop");
    }
}

/* A new config: it may be that it was told to stop under an older one. */
static void
tg_engine_resume(tg_engine_t *engine)
{
    if (engine->state == TG_ENGINE_STOPPING
        && !tg_str_eq(tg_str_c(engine->stopped), engine->config.generation))
    {
        engine->stopped[0] = '\0';
        tg_engine_begin(engine);
    }
}

/* --- what is due --- */

static void
tg_engine_tick_tasks(tg_engine_t *engine)
{
    tg_task_t *task, *next;
    tg_buf_t params;

    for (task = TAILQ_FIRST(&engine->running); task != NULL; task = next) {
        next = TAILQ_NEXT(task, place);

        if (task->has_ended) {
            tg_task_finish(task);
            continue;
        }

        tg_task_write(task);

        if (task->told != task->size) {
            task->told = task->size;
            tg_task_tell_begin(&params, task->id, tg_buf_view(&task->agent));
            tg_buf_text(&params, ",\"size\":");
            tg_buf_uint(&params, task->size);
            tg_task_tell(engine, tg_buf_view(&task->owner), "task.output",
                         &params);
        }
    }
}

static void
tg_engine_on_tick(uv_timer_t *timer)
{
    tg_engine_t *engine;
    uint64_t now;

    engine = timer->data;
    now = tg_engine_time(engine);

    if (engine->is_dropped || engine->config.text == NULL) {
        return;
    }

    if (engine->state == TG_ENGINE_FAILED) {
        if (now >= engine->due_at) {
            tg_engine_open(engine);
        }

        return;
    }

    if (engine->state == TG_ENGINE_OPENING) {
        if (engine->locked_at != 0 && engine->db == NULL) {
            tg_engine_open(engine);
        }

        return;
    }

    if (engine->alone_at != 0 && now - engine->alone_at >= TG_TASK_ALONE_MS) {
        tg_engine_stop(engine, 0);
    }

    /* Those who are there still are not its workers. */
    if (now - engine->quit_at >= TG_TASK_ALONE_MS) {
        engine->quit_at = 0;
    }

    if (engine->state == TG_ENGINE_STOPPING && now >= engine->due_at) {
        tg_engine_stop(engine, 1);
    }

    if (engine->is_returning) {
        tg_engine_return(engine);
    }

    if (tg_engine_tick_lease(engine)) {
        tg_engine_ask_open(engine);
    }

    tg_engine_tick_tasks(engine);
    engine->tasks->ops->tick(engine);
    tg_engine_sort(engine);
    tg_engine_purge(engine);
    engine->wants = 1;
    tg_engine_go_on(engine);
}

/* --- from the runner --- */

void
tg_engine_configure(tg_engine_t *engine, tg_task_config_t *config)
{
    int is_first;

    is_first = engine->config.text == NULL;
    tg_task_config_free(&engine->config);
    engine->config = *config;
    engine->alone_at = 0;
    engine->quit_at = 0;
    engine->asked_at = 0; /* the lease may be another one */
    engine->tasks->ops->configured(engine);

    if (is_first) {
        tg_engine_open(engine);
        return;
    }

    tg_engine_let(engine);
    tg_engine_resume(engine);
    engine->must_sort = 1;
    tg_engine_sort(engine);
    engine->wants = 1;
    tg_engine_go_on(engine);
}

void
tg_engine_drop(tg_engine_t *engine)
{
    tg_task_t *task, *after;

    engine->is_dropped = 1;
    (void) uv_timer_stop(&engine->tick);
    engine->tasks->ops->dropped(engine);

    if (engine->db != NULL && engine->db->kind->leave != NULL) {
        engine->db->kind->leave(engine->db);
    }

    for (task = TAILQ_FIRST(&engine->running); task != NULL; task = after) {
        after = TAILQ_NEXT(task, place);
        tg_task_drop(task);
    }

    tg_engine_check(engine);
}

void
tg_engine_init(tg_engine_t *engine)
{
    engine->go_on = tg_engine_go_on;
    engine->began_at = (uint64_t) tg_engine_now();
    tg_buf_init(&engine->why, tg_alloc_libc());
    TAILQ_INIT(&engine->running);
    TAILQ_INIT(&engine->waiting);
    TAILQ_INIT(&engine->following);
    TAILQ_INIT(&engine->watches);
    (void) uv_timer_init(engine->tasks->jobs->loop, &engine->tick);
    engine->tick.data = engine;
    (void) uv_timer_start(&engine->tick, tg_engine_on_tick, TG_TASK_TICK_MS,
                          TG_TASK_TICK_MS);
}

/* It ends with its last worker, if it ended before. */
static void
tg_engine_check_quit(tg_engine_t *engine)
{
    if (engine->quit_at != 0 && TAILQ_EMPTY(&engine->watches)) {
        engine->quit_at = 0;
        tg_engine_stop(engine, engine->is_forced);
    }
}

void
tg_engine_quit(tg_engine_t *engine, int is_forced)
{
    engine->quit_at = tg_engine_time(engine);
    engine->is_forced = is_forced != 0;
    tg_engine_check_quit(engine);
}

void
tg_engine_leave(tg_engine_t *engine, const tg_peer_t *peer)
{
    tg_task_watch_t *watch, *next;

    for (watch = TAILQ_FIRST(&engine->watches); watch != NULL; watch = next) {
        next = TAILQ_NEXT(watch, place);

        if (peer == NULL || watch->peer == peer) {
            TAILQ_REMOVE(&engine->watches, watch, place);
            free(watch);
        }
    }

    if (TAILQ_EMPTY(&engine->watches) && engine->alone_at == 0) {
        engine->alone_at = tg_engine_time(engine);
    }

    tg_engine_check_quit(engine);
}
