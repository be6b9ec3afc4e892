#include "runner/task/tg_task.h"

#include "base/tg_json.h"

#include <stdlib.h>

void
tg_tasks_init(tg_tasks_t *tasks, tg_jobs_t *jobs, tg_programs_t *programs,
              const char *state_dir, const tg_task_ops_t *ops)
{
    tasks->ops = ops;
    tasks->state_dir = state_dir;
    tasks->jobs = jobs;
    tasks->programs = programs;
    LIST_INIT(&tasks->engines);
}

static tg_engine_t *
tg_engine_new(tg_tasks_t *tasks, tg_str_t where)
{
    tg_engine_t *engine;
    const char *path;

    engine = calloc(1, sizeof(*engine));

    if (engine == NULL) {
        return NULL;
    }

    engine->where = malloc(where.len + 1);

    if (engine->where == NULL) {
        free(engine);
        return NULL;
    }

    memcpy(engine->where, where.data, where.len);
    engine->where[where.len] = '\0';
    path = strchr(engine->where, '/');

    if (tg_outputs_init(&engine->outputs, tasks->jobs->loop,
                        tg_str_c(path != NULL ? path : "/"))
        != TG_OK)
    {
        free(engine->where);
        free(engine);
        return NULL;
    }

    return engine;
}

static tg_engine_t *
tg_engine_find(const tg_tasks_t *tasks, tg_str_t where)
{
    tg_engine_t *engine;

    for (engine = LIST_FIRST(&tasks->engines);
         engine != NULL && !tg_str_eq(tg_str_c(engine->where), where);
         engine = LIST_NEXT(engine, link))
    {
        /* void */
    }

    return engine;
}

tg_engine_t *
tg_engine_of(tg_tasks_t *tasks, tg_str_t where)
{
    tg_engine_t *engine;

    engine = tg_engine_find(tasks, where);

    if (engine != NULL) {
        return engine;
    }

    engine = tg_engine_new(tasks, where);

    if (engine == NULL) {
        return NULL;
    }

    engine->tasks = tasks;
    LIST_INSERT_HEAD(&tasks->engines, engine, link);
    tg_engine_init(engine);

    return engine;
}

static int
tg_engine_watch(tg_engine_t *engine, tg_peer_t *peer)
{
    tg_task_watch_t *watch;

    for (watch = TAILQ_FIRST(&engine->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        if (watch->peer == peer) {
            return TG_OK;
        }
    }

    watch = calloc(1, sizeof(*watch));

    if (watch == NULL) {
        return TG_NOMEM;
    }

    watch->peer = peer;
    TAILQ_INSERT_HEAD(&engine->watches, watch, place);

    return TG_OK;
}

void
tg_tasks_open(tg_tasks_t *tasks, tg_peer_t *peer, tg_request_t *request)
{
    tg_task_config_t config;
    tg_engine_t *engine;
    const char *why;

    why = TG_RUNNER_NO_MEMORY;

    if (tg_task_config_read(&config, request->arguments, &why) != TG_OK) {
        tg_answer_wrong(peer, request, why);
        return;
    }

    engine = tg_engine_of(tasks, config.store);

    if (engine == NULL || engine->is_dropped
        || tg_engine_watch(engine, peer) != TG_OK)
    {
        tg_task_config_free(&config);
        tg_answer_wrong(peer, request, why);
        return;
    }

    tg_engine_configure(engine, &config);
    tg_answer_true(peer, request);
}

void
tg_tasks_quit(tg_tasks_t *tasks, tg_peer_t *peer, tg_request_t *request)
{
    tg_engine_t *engine;
    tg_str_t store, force;

    if (!tg_json_has(request->arguments, TG_STR("store"), TG_JSON_STRING,
                     &store)) {
        tg_answer_wrong(peer, request, "store must be a string");
        return;
    }

    engine = tg_engine_find(tasks, tg_json_body(store));

    if (engine != NULL) {
        tg_engine_quit(engine, tg_json_has(request->arguments, TG_STR("force"),
                                           TG_JSON_TRUE, &force));
    }

    tg_answer_true(peer, request);
}

void
tg_tasks_gone(tg_tasks_t *tasks, const tg_peer_t *peer)
{
    tg_engine_t *engine;

    for (engine = LIST_FIRST(&tasks->engines); engine != NULL;
         engine = LIST_NEXT(engine, link))
    {
        tg_engine_leave(engine, peer);
    }
}

void
tg_tasks_drop(tg_tasks_t *tasks)
{
    tg_engine_t *engine;

    for (engine = LIST_FIRST(&tasks->engines); engine != NULL;
         engine = LIST_NEXT(engine, link))
    {
        tg_engine_leave(engine, NULL);
        tg_engine_drop(engine);
    }
}

int
tg_tasks_is_empty(const tg_tasks_t *tasks)
{
    return LIST_EMPTY(&tasks->engines);
}

unsigned
tg_tasks_running(const tg_tasks_t *tasks)
{
    const tg_engine_t *engine;
    unsigned n;

    n = 0;

    for (engine = LIST_FIRST(&tasks->engines); engine != NULL;
         engine = LIST_NEXT(engine, link))
    {
        n += engine->nrunning;
    }

    return n;
}
