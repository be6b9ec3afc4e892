/*
 * Lists of agents, and queued tasks whose agent was removed from the config.
 */
#include "tasks/engine/tg_engine_impl.h"

const char tg_engine_orphan_error[] =
    "its agent is no longer configured (task_agent, or task of a tool)";

void
tg_store_agents_add(tg_store_agents_t *agents, const tg_agent_t *agent)
{
    memcpy(agents->names[agents->n], agent->name.data, agent->name.len);
    agents->names[agents->n][agent->name.len] = '\0';
    agents->is_full[agents->n] = 0;
    agents->retries[agents->n++] = agent->retry;
}

static void
tg_engine_on_orphans_failed(tg_store_query_t *query)
{
    tg_engine_t *engine;
    int is_done;

    engine = query->data;
    engine->priv->is_checking_orphans = 0;

    tg_engine_log_store_error(engine, query);

    if (query->rc == TG_OK) {
        tg_engine_notify_each_task(engine, tg_buf_view(&query->json),
                                   tg_engine_orphan_error);
    } else {
        engine->priv->must_check_orphans = 1; /* retried with the next tick */
    }

    is_done = query->rc == TG_OK;
    tg_store_query_deinit(query);

    /* Checks again if the config has changed meanwhile. */
    if (is_done) {
        tg_engine_check_orphans(engine);
    }

    engine->can_claim = 1;
}

const tg_store_agents_t *
tg_engine_list_agents(tg_engine_t *engine)
{
    unsigned i;

    engine->priv->known_agents.n = 0;

    for (i = 0; i < engine->config.nagents; i++) {
        tg_store_agents_add(&engine->priv->known_agents,
                            &engine->config.agents[i]);
    }

    return &engine->priv->known_agents;
}

void
tg_engine_check_orphans(tg_engine_t *engine)
{
    tg_store_query_t *query;

    if (!engine->priv->must_check_orphans || engine->priv->is_checking_orphans
        || engine->state != TG_ENGINE_OPEN || engine->is_shutting_down)
    {
        return;
    }

    query = &engine->priv->orphan;
    engine->priv->must_check_orphans = 0;
    engine->priv->is_checking_orphans = 1;
    tg_store_query_init(query, TG_STORE_FAIL_ORPHANS,
                        tg_engine_on_orphans_failed, engine);
    query->error = tg_str_from_cstr(tg_engine_orphan_error);
    query->agents = tg_engine_list_agents(engine);
    tg_engine_query_store(engine, query);
}
