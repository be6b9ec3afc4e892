/*
 * What other runners that share the store are told.
 */
#include "base/tg_json.h"
#include "runner/task/tg_task.h"

#include <stdlib.h>

int
tg_engine_is_shared(const tg_engine_t *engine)
{
    return engine->db != NULL && engine->db->kind->is_shared;
}

typedef struct {
    tg_store_ask_t ask;
    tg_engine_t *engine;
    tg_buf_t text;
} tg_spread_t;

static void
tg_engine_on_spread(tg_store_ask_t *ask)
{
    tg_spread_t *spread;
    tg_engine_t *engine;

    spread = ask->data;
    engine = spread->engine;
    tg_engine_answered(engine);
    tg_store_ask_deinit(ask);
    tg_buf_deinit(&spread->text);
    free(spread);
    engine->go_on(engine);
}

/* What is too long for all is told without its details. */
static void
tg_engine_put_spread(tg_buf_t *json, tg_str_t text)
{
    static const char *const names[] = { "owner", "method", "params", NULL };
    tg_str_t said[3], id;

    if (text.len <= TG_TASK_SPREAD_MAX
        || tg_json_members(text, names, said) != TG_OK
        || tg_json_get(said[2], TG_STR("taskId"), &id) != TG_OK)
    {
        tg_buf_str(json, text);
        return;
    }

    tg_json_put_member(json, "{\"method\":", said[1]);
    tg_json_put_member(json, ",\"owner\":", said[0]);
    tg_json_put_member(json, ",\"params\":{\"taskId\":", id);
    tg_buf_text(json, "}}");
}

void
tg_engine_spread(tg_engine_t *engine, tg_str_t text)
{
    tg_spread_t *spread;

    spread = engine->is_dropped ? NULL : calloc(1, sizeof(*spread));

    if (spread == NULL) {
        return;
    }

    spread->engine = engine;
    tg_buf_init(&spread->text, tg_alloc_libc());
    tg_engine_put_spread(&spread->text, text);
    tg_store_ask_init(&spread->ask, TG_STORE_TELL, tg_engine_on_spread, spread);
    spread->ask.metadata = tg_buf_view(&spread->text);
    tg_engine_ask(engine, &spread->ask);
}
