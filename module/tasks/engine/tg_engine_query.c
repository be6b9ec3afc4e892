/*
 * Store queries, store errors and clocks of the task engine.
 */
#include "tasks/engine/tg_engine_impl.h"

#include "base/tg_utf8.h"
#include "runner/logging/tg_log.h"

#include <time.h>

int64_t
tg_engine_get_unix_time_ms(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t
tg_engine_get_loop_time_ms(const tg_engine_t *engine)
{
    return uv_now(engine->tasks->jobs->loop);
}

void
tg_engine_end_work(tg_engine_t *engine)
{
    engine->nwork_pending--;
}

static void
tg_engine_on_query_done(tg_store_query_t *query)
{
    tg_engine_t *engine;

    engine = query->engine;
    tg_engine_end_work(engine);
    query->on_result(query);
    tg_engine_advance(engine);
}

void
tg_engine_query_store(tg_engine_t *engine, tg_store_query_t *query)
{
    engine->nwork_pending++;
    query->now = tg_engine_get_unix_time_ms();
    query->engine = engine;
    query->on_result = query->done;
    query->done = tg_engine_on_query_done;
    engine->priv->db->backend->query(engine->priv->db, query);
}

void
tg_engine_log_store_error(tg_engine_t *engine, const tg_store_query_t *query)
{
    if (query->rc != TG_INVALID) {
        engine->priv->has_store_error = 0;

    } else if (!engine->priv->has_store_error) {
        engine->priv->has_store_error = 1;
        tg_log(TG_LOG_ERROR,
               "changes of tasks cannot be stored, trying again: %.*s",
               (int) query->json.len, query->json.data);
    }
}

void
tg_task_append_tail(tg_buf_t *text, const tg_output_tail_t *tail)
{
    int is_cut;

    tg_utf8_append_lossy(text, tg_output_tail_get(tail, &is_cut));
}

tg_task_t *
tg_engine_find_task(const tg_engine_t *engine, int64_t id)
{
    tg_task_t *task;

    TAILQ_FOREACH(task, &engine->priv->running, link)
    {
        if (task->id == id) {
            break;
        }
    }

    return task;
}
