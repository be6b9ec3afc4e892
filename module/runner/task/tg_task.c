#include "runner/task/tg_task.h"

#include "base/tg_utf8.h"
#include "runner/tg_log.h"

#include <time.h>

int64_t
tg_engine_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t
tg_engine_time(const tg_engine_t *engine)
{
    return uv_now(engine->tasks->jobs->loop);
}

void
tg_engine_ask(tg_engine_t *engine, tg_store_ask_t *ask)
{
    engine->nwork++;
    ask->now = tg_engine_now();
    engine->db->kind->ask(engine->db, ask);
}

void
tg_engine_answered(tg_engine_t *engine)
{
    engine->nwork--;
}

void
tg_engine_refused(tg_engine_t *engine, const tg_store_ask_t *ask)
{
    if (ask->rc != TG_BAD) {
        engine->is_refused = 0;

    } else if (!engine->is_refused) {
        engine->is_refused = 1;
        tg_log(TG_LOG_ERROR,
               "what becomes of tasks cannot be written down, it is tried "
               "again: %.*s",
               (int) ask->json.len, ask->json.data);
    }
}

void
tg_task_put_tail(tg_buf_t *text, const tg_tail_t *tail)
{
    int is_cut;

    tg_utf8_put_lossy(text, tg_tail_view(tail, &is_cut));
}

tg_task_t *
tg_task_find(const tg_engine_t *engine, int64_t id)
{
    tg_task_t *task;

    for (task = TAILQ_FIRST(&engine->running); task != NULL && task->id != id;
         task = TAILQ_NEXT(task, place))
    {
        /* void */
    }

    return task;
}
