/*
 * Tasks that ended long ago are removed, with what they put out.
 */
#include "runner/task/tg_task.h"

#include "base/tg_json.h"

#include <stdlib.h>

static void
tg_engine_on_removed(tg_output_ask_t *ask)
{
    tg_engine_t *engine;

    engine = ask->data;
    free(ask);
    tg_engine_answered(engine);
    engine->go_on(engine);
}

static void
tg_engine_on_purge(tg_store_ask_t *ask)
{
    tg_output_ask_t *remove;
    tg_engine_t *engine;
    tg_json_t each;
    tg_str_t id;
    unsigned n;

    engine = ask->data;
    tg_engine_answered(engine);
    engine->is_purging = 0;
    n = 0;

    for (tg_json_each(&each, tg_buf_view(&ask->json));
         ask->rc == TG_OK && tg_json_item(&each, &id); n++)
    {
        remove = engine->outputs.store == NULL ? calloc(1, sizeof(*remove))
                                               : NULL;

        if (remove != NULL) {
            remove->op = TG_OUTPUT_REMOVE;
            remove->done = tg_engine_on_removed;
            remove->data = engine;
            remove->id = tg_task_id(tg_json_body(id));
            engine->nwork++;
            tg_outputs_ask(&engine->outputs, remove);
        }
    }

    engine->purge_at = uv_now(engine->tasks->jobs->loop)
                       + (n == TG_STORE_PURGE_MAX ? 0 : TG_TASK_PURGE_MS);
    tg_store_ask_deinit(ask);
    engine->go_on(engine);
}

void
tg_engine_purge(tg_engine_t *engine)
{
    if (engine->is_purging
        || uv_now(engine->tasks->jobs->loop) < engine->purge_at
        || engine->is_dropped)
    {
        return;
    }

    engine->is_purging = 1;
    tg_store_ask_init(&engine->purge, TG_STORE_PURGE, tg_engine_on_purge,
                      engine);
    engine->purge.limit = engine->config.keep_ms;
    tg_engine_ask(engine, &engine->purge);
}
