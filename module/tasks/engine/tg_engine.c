/*
 * The task engine: its states, its timer, and the claim of the next task.
 */
#include "tasks/automation/tg_automation.h"

#include "base/tg_json.h"
#include "runner/logging/tg_log.h"
#include "tasks/engine/tg_engine_impl.h"

#include <stdlib.h>

/* --- shutdown --- */

static void
tg_engine_on_closed(uv_handle_t *handle)
{
    tg_engine_t *engine;
    tg_tasks_t *tasks;

    engine = handle->data;
    tasks = engine->tasks;
    tg_task_calls_dequeue_all(&engine->priv->waiting);
    tg_task_calls_dequeue_all(&engine->priv->following);
    tg_automation_on_engine_freed(engine);
    LIST_REMOVE(engine, link);
    tg_task_config_free(&engine->config);
    tg_task_outputs_deinit(&engine->priv->outputs);
    tg_buf_deinit(&engine->priv->why);
    tg_engine_stats_free(&engine->stats);
    free(engine->location);
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
    uv_close((uv_handle_t *) &engine->priv->tick, tg_engine_on_closed);
}

static void
tg_engine_close_if_idle(tg_engine_t *engine)
{
    if (!engine->is_shutting_down || engine->priv->is_closing
        || engine->nwork_pending != 0 || engine->nrunning != 0)
    {
        return;
    }

    engine->priv->is_closing = 1;

    if (engine->priv->db != NULL) {
        engine->priv->db->backend->close(engine->priv->db,
                                         tg_engine_on_store_closed, engine);
    } else {
        tg_engine_on_store_closed(engine);
    }
}

/* --- claim of the next task --- */

/* Lists the agents for a claim. Returns how many can take another task. */
static unsigned
tg_engine_fill_claimers(tg_engine_t *engine)
{
    int64_t running[TG_STORE_AGENTS_MAX];
    const tg_task_config_t *config;
    const tg_agent_t *agent;
    const tg_task_t *task;
    unsigned i, n;

    config = &engine->config;
    memset(running, 0, sizeof(running));

    TAILQ_FOREACH(task, &engine->priv->running, link)
    {
        agent = tg_task_config_find_agent(config, tg_buf_view(&task->agent));

        if (agent != NULL) {
            running[agent - config->agents]++;
        }
    }

    engine->priv->claim_agents.n = 0;

    for (i = 0, n = 0; i < config->nagents; i++) {
        tg_store_agents_add(&engine->priv->claim_agents, &config->agents[i]);
        engine->priv->claim_agents.is_full[i] =
            running[i] >= config->agents[i].concurrency;
        n += !engine->priv->claim_agents.is_full[i];
    }

    return n;
}

static void
tg_engine_on_requeued(tg_store_query_t *query)
{
    tg_engine_t *engine;

    engine = query->data;
    tg_engine_log_store_error(engine, query);
    engine->priv->is_returning = query->rc == TG_INVALID;
    engine->priv->is_claiming = engine->priv->is_returning;
    tg_store_query_deinit(query);
    engine->can_claim = 1;
}

/* Queues a task again that was claimed just before the engine stopped. */
static void
tg_engine_requeue_claimed(tg_engine_t *engine)
{
    tg_store_query_t *query;
    int64_t id;

    query = &engine->priv->claim;
    id = query->id;
    tg_store_query_deinit(query);
    tg_store_query_init(query, TG_STORE_REQUEUE, tg_engine_on_requeued, engine);
    query->id = id;
    engine->priv->is_claiming = 1;
    engine->priv->is_returning = 0;
    tg_engine_query_store(engine, query);
}

static void
tg_engine_on_claimed(tg_store_query_t *query)
{
    tg_engine_t *engine;

    engine = query->data;
    engine->priv->is_claiming = 0;
    tg_engine_log_store_error(engine, query);

    if (query->rc == TG_OK
        && (engine->is_shutting_down || engine->priv->is_fenced
            || engine->state != TG_ENGINE_OPEN))
    {
        tg_engine_requeue_claimed(engine);
        return;
    }

    if (query->rc == TG_OK) {
        engine->can_claim = 1;
        tg_engine_run_task(engine, query->id, tg_buf_view(&query->json));

    } else if (query->rc == TG_INVALID) {
        engine->can_claim = 0; /* the next tick claims again */

    } else if (query->rc == TG_AGAIN) {
        engine->can_claim = 1;
    }

    tg_store_query_deinit(query);
}

void
tg_engine_advance(tg_engine_t *engine)
{
    const tg_task_config_t *config;
    tg_store_query_t *query;

    tg_engine_close_if_idle(engine);
    config = &engine->config;

    if (engine->is_shutting_down || engine->state != TG_ENGINE_OPEN
        || !engine->can_claim || engine->priv->is_claiming
        || engine->priv->is_checking_orphans || engine->priv->is_fenced
        || engine->nrunning >= config->spec.concurrency)
    {
        return;
    }

    query = &engine->priv->claim;
    tg_store_query_init(query, TG_STORE_CLAIM, tg_engine_on_claimed, engine);
    query->agents = &engine->priv->claim_agents;

    if (tg_engine_fill_claimers(engine) == 0) {
        return;
    }

    engine->can_claim = 0;
    engine->priv->is_claiming = 1;
    tg_engine_query_store(engine, query);
}

/* --- states --- */

void
tg_engine_stop(tg_engine_t *engine, int is_forced)
{
    tg_task_t *task, *next;

    if (engine->state == TG_ENGINE_OPEN) {
        engine->state = TG_ENGINE_STOPPING;
        engine->priv->deadline_at = tg_engine_get_loop_time_ms(engine)
                                    + TG_TASK_STOP_TIMEOUT_MS;
    }

    if (!is_forced) {
        return;
    }

    TG_TAILQ_FOREACH_SAFE(task, &engine->priv->running, link, next)
    {
        tg_task_end(task, TG_TASK_QUEUED,
                    "interrupted: the tasks were stopped");
    }
}

/* Resumes a stopped engine, if it was stopped under an older config. */
static void
tg_engine_resume(tg_engine_t *engine)
{
    if (engine->state == TG_ENGINE_STOPPING
        && !tg_str_eq(tg_str_from_cstr(engine->priv->stopped_generation),
                      engine->config.spec.generation))
    {
        engine->priv->stopped_generation[0] = '\0';
        tg_engine_set_open(engine);
    }
}

/* --- timer --- */

static void
tg_engine_tick_tasks(tg_engine_t *engine)
{
    tg_task_t *task, *next;
    tg_buf_t params;

    TG_TAILQ_FOREACH_SAFE(task, &engine->priv->running, link, next)
    {
        if (task->has_ended) {
            tg_task_store_end(task);
            continue;
        }

        tg_task_write_output(task);

        if (task->notified_size != task->size) {
            task->notified_size = task->size;
            tg_task_begin_params(&params, task->id, tg_buf_view(&task->agent));
            tg_json_add_uint(&params, "size", task->size);
            tg_engine_notify(engine, tg_buf_view(&task->owner), "task.output",
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
    now = tg_engine_get_loop_time_ms(engine);

    if (engine->is_shutting_down || engine->config.text == NULL) {
        return;
    }

    if (engine->state == TG_ENGINE_FAILED) {
        if (now >= engine->priv->deadline_at) {
            tg_engine_open_store(engine);
        }

        return;
    }

    if (engine->state == TG_ENGINE_OPENING) {
        if (engine->priv->locked_at != 0 && engine->priv->db == NULL) {
            tg_engine_open_store(engine);
        }

        return;
    }

    if (engine->priv->no_worker_at != 0
        && now - engine->priv->no_worker_at >= TG_TASK_NO_WORKER_MS)
    {
        tg_engine_stop(engine, 0);
    }

    /* Workers that are still connected belong to another NGINX. */
    if (now - engine->priv->nginx_exit_at >= TG_TASK_NO_WORKER_MS) {
        engine->priv->nginx_exit_at = 0;
    }

    if (engine->state == TG_ENGINE_STOPPING && now >= engine->priv->deadline_at)
    {
        tg_engine_stop(engine, 1);
    }

    if (engine->priv->is_returning) {
        tg_engine_requeue_claimed(engine);
    }

    if (tg_engine_tick_lease(engine)) {
        tg_engine_query_open(engine);
    }

    tg_engine_tick_tasks(engine);
    tg_engine_tick_following_calls(engine);
    tg_automation_on_tick(engine);
    tg_engine_check_orphans(engine);
    tg_engine_purge(engine);
    engine->can_claim = 1;
    tg_engine_advance(engine);
}

/* --- interface for the runner --- */

void
tg_engine_configure(tg_engine_t *engine, tg_task_config_t *config)
{
    int is_first;

    is_first = engine->config.text == NULL;
    tg_task_config_free(&engine->config);
    engine->config = *config;
    engine->priv->no_worker_at = 0;
    engine->priv->nginx_exit_at = 0;
    /* the duration of the lease may have changed */
    engine->priv->renewal_requested_at = 0;
    tg_automation_on_configured(engine);

    if (is_first) {
        tg_engine_open_store(engine);
        return;
    }

    tg_engine_set_password(engine);
    tg_engine_resume(engine);
    engine->priv->must_check_orphans = 1;
    tg_engine_check_orphans(engine);
    engine->can_claim = 1;
    tg_engine_advance(engine);
}

void
tg_engine_shutdown(tg_engine_t *engine)
{
    tg_task_t *task, *next;

    engine->is_shutting_down = 1;
    (void) uv_timer_stop(&engine->priv->tick);
    tg_automation_on_shutdown(engine);

    if (engine->priv->db != NULL && engine->priv->db->backend->abandon != NULL)
    {
        engine->priv->db->backend->abandon(engine->priv->db);
    }

    TG_TAILQ_FOREACH_SAFE(task, &engine->priv->running, link, next)
    {
        tg_task_abandon(task);
    }

    tg_engine_close_if_idle(engine);
}

static void
tg_engine_init(tg_engine_t *engine)
{
    engine->priv->created_at = (uint64_t) tg_engine_get_unix_time_ms();
    tg_buf_init(&engine->priv->why, tg_alloc_libc());
    TAILQ_INIT(&engine->priv->running);
    TAILQ_INIT(&engine->priv->waiting);
    TAILQ_INIT(&engine->priv->following);
    TAILQ_INIT(&engine->priv->subscribers);
    (void) uv_timer_init(engine->tasks->jobs->loop, &engine->priv->tick);
    engine->priv->tick.data = engine;
    (void) uv_timer_start(&engine->priv->tick, tg_engine_on_tick,
                          TG_TASK_TICK_MS, TG_TASK_TICK_MS);
}

tg_engine_t *
tg_engine_new(tg_tasks_t *tasks, tg_str_t location)
{
    tg_engine_block_t *block;
    tg_engine_t *engine;
    const char *path;

    block = calloc(1, sizeof(*block));

    if (block == NULL) {
        return NULL;
    }

    engine = &block->engine;
    engine->priv = &block->priv;
    engine->tasks = tasks;
    engine->location = malloc(location.len + 1);

    if (engine->location == NULL) {
        free(engine);
        return NULL;
    }

    memcpy(engine->location, location.data, location.len);
    engine->location[location.len] = '\0';
    path = strchr(engine->location, '/');

    if (tg_task_outputs_init(&engine->priv->outputs, tasks->jobs->loop,
                             tg_str_from_cstr(path != NULL ? path : "/"))
        != TG_OK)
    {
        free(engine->location);
        free(engine);
        return NULL;
    }

    tg_engine_init(engine);

    return engine;
}

int
tg_engine_add_subscriber(tg_engine_t *engine, tg_peer_t *peer)
{
    tg_task_subscriber_t *subscriber;

    TAILQ_FOREACH(subscriber, &engine->priv->subscribers, link)
    {
        if (subscriber->peer == peer) {
            return TG_OK;
        }
    }

    subscriber = calloc(1, sizeof(*subscriber));

    if (subscriber == NULL) {
        return TG_NOMEM;
    }

    subscriber->peer = peer;
    TAILQ_INSERT_HEAD(&engine->priv->subscribers, subscriber, link);

    return TG_OK;
}

/* Stops the engine if NGINX has exited and its last worker has disconnected. */
static void
tg_engine_stop_after_nginx(tg_engine_t *engine)
{
    if (engine->priv->nginx_exit_at != 0
        && TAILQ_EMPTY(&engine->priv->subscribers)) {
        engine->priv->nginx_exit_at = 0;
        tg_engine_stop(engine, engine->priv->is_forced);
    }
}

void
tg_engine_on_nginx_exit(tg_engine_t *engine, int is_forced)
{
    engine->priv->nginx_exit_at = tg_engine_get_loop_time_ms(engine);
    engine->priv->is_forced = is_forced != 0;
    tg_engine_stop_after_nginx(engine);
}

void
tg_engine_remove_subscriber(tg_engine_t *engine, const tg_peer_t *peer)
{
    tg_task_subscriber_t *subscriber, *next;

    TG_TAILQ_FOREACH_SAFE(subscriber, &engine->priv->subscribers, link, next)
    {
        if (peer == NULL || subscriber->peer == peer) {
            TAILQ_REMOVE(&engine->priv->subscribers, subscriber, link);
            free(subscriber);
        }
    }

    if (TAILQ_EMPTY(&engine->priv->subscribers)
        && engine->priv->no_worker_at == 0) {
        engine->priv->no_worker_at = tg_engine_get_loop_time_ms(engine);
    }

    tg_engine_stop_after_nginx(engine);
}
