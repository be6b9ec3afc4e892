/*
 * Broadcasts to the other runners that share the store.
 */
#include "base/tg_json.h"
#include "tasks/engine/tg_engine_impl.h"

#include <stdlib.h>

int
tg_engine_is_shared(const tg_engine_t *engine)
{
    return engine->priv->db != NULL && engine->priv->db->backend->is_shared;
}

typedef struct {
    tg_store_query_t query;
    tg_buf_t text;
} tg_engine_broadcast_t;

static void
tg_engine_on_broadcast_sent(tg_store_query_t *query)
{
    tg_engine_broadcast_t *broadcast;

    broadcast = query->data;
    tg_store_query_deinit(query);
    tg_buf_deinit(&broadcast->text);
    free(broadcast);
}

/* Appends a broadcast; if it is too long, only method, owner and task id. */
static void
tg_engine_append_broadcast(tg_buf_t *json, tg_str_t text)
{
    static const char *const names[] = { "owner", "method", "params", NULL };
    tg_str_t values[3], id;

    if (text.len <= TG_ENGINE_BROADCAST_MAX
        || tg_json_get_members(text, names, values) != TG_OK
        || tg_json_get_member(values[2], TG_STR("taskId"), &id) != TG_OK)
    {
        tg_buf_append_str(json, text);
        return;
    }

    tg_buf_append_char(json, '{');
    tg_json_add_compact(json, "method", values[1]);
    tg_json_add_compact(json, "owner", values[0]);
    tg_json_begin_member(json, "params");
    tg_buf_append_char(json, '{');
    tg_json_add_compact(json, "taskId", id);
    tg_buf_append_cstr(json, "}}");
}

void
tg_engine_broadcast(tg_engine_t *engine, tg_str_t text)
{
    tg_engine_broadcast_t *broadcast;

    broadcast = engine->is_shutting_down ? NULL : calloc(1, sizeof(*broadcast));

    if (broadcast == NULL) {
        return;
    }

    tg_buf_init(&broadcast->text, tg_alloc_libc());
    tg_engine_append_broadcast(&broadcast->text, text);
    tg_store_query_init(&broadcast->query, TG_STORE_NOTIFY,
                        tg_engine_on_broadcast_sent, broadcast);
    broadcast->query.metadata = tg_buf_view(&broadcast->text);
    tg_engine_query_store(engine, &broadcast->query);
}
