/*
 * Broadcasts to the other runners that share the store.
 */
#include "base/tg_json.h"
#include "tasks/engine/tg_engine.h"

#include <stdlib.h>

int
tg_engine_is_shared(const tg_engine_t *engine)
{
    return engine->db != NULL && engine->db->backend->is_shared;
}

typedef struct {
    tg_store_query_t query;
    tg_buf_t text;
} tg_engine_broadcast_t;

static void
tg_engine_on_broadcast_sent(tg_store_query_t *query)
{
    tg_engine_broadcast_t *spread;

    spread = query->data;
    tg_store_query_deinit(query);
    tg_buf_deinit(&spread->text);
    free(spread);
}

/*
 * Appends the text of a broadcast. A text that is too long is reduced to
 * method, owner and task id.
 */
static void
tg_engine_append_broadcast(tg_buf_t *json, tg_str_t text)
{
    static const char *const names[] = { "owner", "method", "params", NULL };
    tg_str_t said[3], id;

    if (text.len <= TG_ENGINE_BROADCAST_MAX
        || tg_json_get_members(text, names, said) != TG_OK
        || tg_json_get_member(said[2], TG_STR("taskId"), &id) != TG_OK)
    {
        tg_buf_append_str(json, text);
        return;
    }

    tg_buf_append_char(json, '{');
    tg_json_add_compact(json, "method", said[1]);
    tg_json_add_compact(json, "owner", said[0]);
    tg_json_begin_member(json, "params");
    tg_buf_append_char(json, '{');
    tg_json_add_compact(json, "taskId", id);
    tg_buf_append_cstr(json, "}}");
}

void
tg_engine_broadcast(tg_engine_t *engine, tg_str_t text)
{
    tg_engine_broadcast_t *spread;

    spread = engine->is_shutting_down ? NULL : calloc(1, sizeof(*spread));

    if (spread == NULL) {
        return;
    }

    tg_buf_init(&spread->text, tg_alloc_libc());
    tg_engine_append_broadcast(&spread->text, text);
    tg_store_query_init(&spread->query, TG_STORE_NOTIFY,
                        tg_engine_on_broadcast_sent, spread);
    spread->query.metadata = tg_buf_view(&spread->text);
    tg_engine_query_store(engine, &spread->query);
}
