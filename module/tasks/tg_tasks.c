/*
 * The list of task engines, and the methods task_open and task_stop.
 */
#include "tasks/automation/tg_automation.h"

#include "base/tg_json.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>

void
tg_tasks_init(tg_tasks_t *tasks, tg_jobs_t *jobs, tg_programs_t *programs,
              tg_http_pool_t *http, const char *state_dir)
{
    tasks->jobs = jobs;
    tasks->programs = programs;
    tasks->http = http;
    tasks->state_dir = state_dir;
    LIST_INIT(&tasks->engines);
}

static tg_engine_t *
tg_tasks_find_engine(const tg_tasks_t *tasks, tg_str_t location)
{
    tg_engine_t *engine;

    LIST_FOREACH(engine, &tasks->engines, link)
    {
        if (tg_str_eq(tg_str_from_cstr(engine->location), location)) {
            break;
        }
    }

    return engine;
}

tg_engine_t *
tg_tasks_get_engine(tg_tasks_t *tasks, tg_str_t location)
{
    tg_engine_t *engine;

    engine = tg_tasks_find_engine(tasks, location);

    if (engine != NULL) {
        return engine;
    }

    engine = tg_engine_new(tasks, location);

    if (engine != NULL) {
        LIST_INSERT_HEAD(&tasks->engines, engine, link);
    }

    return engine;
}

void
tg_tasks_configure(tg_tasks_t *tasks, tg_peer_t *peer, tg_request_t *request)
{
    tg_task_config_t config;
    tg_engine_t *engine;
    const char *why;

    why = TG_RUNNER_NO_MEMORY;

    if (tg_task_config_parse(&config, request->arguments, &why) != TG_OK) {
        tg_peer_respond_invalid_params(peer, request, why);
        return;
    }

    engine = tg_tasks_get_engine(tasks, config.spec.store);

    if (engine == NULL || engine->is_shutting_down
        || tg_engine_add_subscriber(engine, peer) != TG_OK)
    {
        tg_task_config_free(&config);
        tg_peer_respond_invalid_params(peer, request, why);
        return;
    }

    tg_engine_configure(engine, &config);
    tg_peer_respond_true(peer, request);
}

void
tg_tasks_on_nginx_exit(tg_tasks_t *tasks, tg_peer_t *peer,
                       tg_request_t *request)
{
    tg_engine_t *engine;
    tg_str_t store, force;

    if (!tg_json_has_member(request->arguments, TG_STR("store"), TG_JSON_STRING,
                            &store))
    {
        tg_peer_respond_invalid_params(peer, request, "store must be a string");
        return;
    }

    engine = tg_tasks_find_engine(tasks, tg_json_string_body(store));

    if (engine != NULL) {
        tg_engine_on_nginx_exit(
            engine, tg_json_has_member(request->arguments, TG_STR("force"),
                                       TG_JSON_TRUE, &force));
    }

    tg_peer_respond_true(peer, request);
}

void
tg_tasks_on_peer_closed(tg_tasks_t *tasks, const tg_peer_t *peer)
{
    tg_engine_t *engine;

    LIST_FOREACH(engine, &tasks->engines, link)
    {
        tg_engine_remove_subscriber(engine, peer);
    }
}

void
tg_tasks_shutdown(tg_tasks_t *tasks)
{
    tg_engine_t *engine;

    LIST_FOREACH(engine, &tasks->engines, link)
    {
        tg_engine_remove_subscriber(engine, NULL);
        tg_engine_shutdown(engine);
    }
}

int
tg_tasks_is_empty(const tg_tasks_t *tasks)
{
    return LIST_EMPTY(&tasks->engines);
}

unsigned
tg_tasks_count_running(const tg_tasks_t *tasks)
{
    const tg_engine_t *engine;
    unsigned n;

    n = 0;

    LIST_FOREACH(engine, &tasks->engines, link)
    {
        n += engine->nrunning;
    }

    return n;
}

void
tg_tasks_write_json(tg_buf_t *json, const tg_tasks_t *tasks)
{
    const tg_automation_t *automation;
    const tg_engine_t *engine;

    LIST_FOREACH(engine, &tasks->engines, link)
    {
        automation = engine->automation;
        tg_json_begin_object(json);
        tg_json_add_string(json, "store", tg_str_from_cstr(engine->location));
        tg_json_add_uint(json, "rules",
                         automation != NULL ? automation->nrules : 0);
        tg_buf_append_cstr(json, ",\"stats\":[");
        tg_engine_stats_write_json(json, &engine->stats);
        tg_buf_append_cstr(json, "]}");
    }
}
