/*
 * Removal of tasks that ended long ago, and of their output.
 */
#include "tasks/engine/tg_engine_impl.h"

#include "base/tg_json.h"

#include <stdlib.h>

static void
tg_engine_on_output_removed(tg_task_output_request_t *query)
{
    tg_engine_t *engine;

    engine = query->data;
    free(query);
    tg_engine_end_work(engine);
    tg_engine_advance(engine);
}

static void
tg_engine_on_purged(tg_store_query_t *query)
{
    tg_task_output_request_t *remove;
    tg_engine_t *engine;
    tg_json_cursor_t each;
    tg_str_t id;
    unsigned n;

    engine = query->data;
    engine->priv->is_purging = 0;
    n = 0;

    for (tg_json_iter_init(&each, tg_buf_view(&query->json));
         query->rc == TG_OK && tg_json_iter_next(&each, &id); n++)
    {
        remove = engine->priv->outputs.store == NULL
                     ? calloc(1, sizeof(*remove))
                     : NULL;

        if (remove != NULL) {
            remove->op = TG_TASK_OUTPUT_REMOVE;
            remove->done = tg_engine_on_output_removed;
            remove->data = engine;
            remove->id = tg_task_parse_id(tg_json_string_body(id));
            engine->nwork_pending++;
            tg_task_outputs_submit(&engine->priv->outputs, remove);
        }
    }

    engine->priv->purge_at = uv_now(engine->tasks->jobs->loop)
                             + (n == TG_STORE_PURGE_MAX
                                    ? 0
                                    : TG_TASK_PURGE_INTERVAL_MS);
    tg_store_query_deinit(query);
}

void
tg_engine_purge(tg_engine_t *engine)
{
    if (engine->priv->is_purging
        || uv_now(engine->tasks->jobs->loop) < engine->priv->purge_at
        || engine->is_shutting_down)
    {
        return;
    }

    engine->priv->is_purging = 1;
    tg_store_query_init(&engine->priv->purge, TG_STORE_PURGE,
                        tg_engine_on_purged, engine);
    engine->priv->purge.limit = engine->config.spec.keep_ms;
    tg_engine_query_store(engine, &engine->priv->purge);
}
