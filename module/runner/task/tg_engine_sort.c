/*
 * Agents, and tasks whose agents are no more.
 */
#include "runner/task/tg_task.h"

const char tg_engine_orphaned[] =
    "its agent is not configured any more (task_agent, or task of a tool)";

void
tg_engine_name(tg_store_agents_t *agents, const tg_agent_t *agent)
{
    memcpy(agents->names[agents->n], agent->name.data, agent->name.len);
    agents->names[agents->n][agent->name.len] = '\0';
    agents->is_full[agents->n] = 0;
    agents->retries[agents->n++] = agent->retry;
}

static void
tg_engine_on_orphan(tg_store_ask_t *ask)
{
    tg_engine_t *engine;
    int is_done;

    engine = ask->data;
    tg_engine_answered(engine);
    engine->is_sorting = 0;

    tg_engine_refused(engine, ask);

    if (ask->rc == TG_OK) {
        tg_task_tell_each(engine, tg_buf_view(&ask->json), tg_engine_orphaned);
    } else {
        engine->must_sort = 1; /* with the next tick */
    }

    is_done = ask->rc == TG_OK;
    tg_store_ask_deinit(ask);

    /* The same, for a config that has come meanwhile. */
    if (is_done) {
        tg_engine_sort(engine);
    }

    engine->wants = 1;
    engine->go_on(engine);
}

const tg_store_agents_t *
tg_engine_agents(tg_engine_t *engine)
{
    unsigned i;

    engine->known.n = 0;

    for (i = 0; i < engine->config.nagents; i++) {
        tg_engine_name(&engine->known, &engine->config.agents[i]);
    }

    return &engine->known;
}

void
tg_engine_sort(tg_engine_t *engine)
{
    tg_store_ask_t *ask;

    if (!engine->must_sort || engine->is_sorting
        || engine->state != TG_ENGINE_OPEN || engine->is_dropped)
    {
        return;
    }

    ask = &engine->orphan;
    engine->must_sort = 0;
    engine->is_sorting = 1;
    tg_store_ask_init(ask, TG_STORE_ORPHAN, tg_engine_on_orphan, engine);
    ask->error = tg_str_c(tg_engine_orphaned);
    ask->agents = tg_engine_agents(engine);
    tg_engine_ask(engine, ask);
}
