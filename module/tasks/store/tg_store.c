/*
 * Task ids, names of task states and agents, and the life of a store query.
 */
#include "tasks/store/tg_store.h"

/* An id has at least four digits. */
#define TG_TASK_ID_FORMAT "task-%04lld"
#define TG_TASK_ID_PREFIX TG_STR("task-")

const char *
tg_task_state_name(tg_task_state_t state)
{
    static const char *const names[TG_TASK_STATES] = {
        [TG_TASK_QUEUED] = "queued",       [TG_TASK_RUNNING] = "running",
        [TG_TASK_COMPLETED] = "completed", [TG_TASK_FAILED] = "failed",
        [TG_TASK_CANCELLED] = "cancelled",
    };

    return names[state];
}

void
tg_task_append_id(tg_buf_t *buf, int64_t id)
{
    tg_buf_printf(buf, TG_TASK_ID_FORMAT, (long long) id);
}

int64_t
tg_task_parse_id(tg_str_t text)
{
    char room[32];
    tg_buf_t same;
    int64_t id;
    size_t i;

    id = 0;

    if (text.len <= TG_TASK_ID_PREFIX.len || text.len >= sizeof(room) - 8) {
        return -1;
    }

    for (i = TG_TASK_ID_PREFIX.len; i < text.len; i++) {
        if (!tg_is_digit(text.data[i]) || i > TG_TASK_ID_PREFIX.len + 17) {
            return -1;
        }

        id = id * 10 + (text.data[i] - '0');
    }

    /* Each id has exactly one text form: "task-00012" is not an id. */
    same = tg_buf_make_fixed(room, sizeof(room));
    tg_task_append_id(&same, id);

    return tg_str_eq(tg_buf_view(&same), text) ? id : -1;
}

int
tg_store_is_agent_name(tg_str_t name)
{
    return name.len != 0 && name.len <= TG_STORE_AGENT_NAME_MAX
           && tg_str_is_word(name, "_-");
}

void
tg_store_query_init(tg_store_query_t *query, tg_store_op_t op,
                    void (*done)(tg_store_query_t *query), void *data)
{
    memset(query, 0, sizeof(*query));
    query->op = op;
    query->done = done;
    query->data = data;
    tg_buf_init(&query->json, tg_alloc_libc());
}

void
tg_store_query_deinit(tg_store_query_t *query)
{
    tg_buf_deinit(&query->json);
}

void
tg_store_query_complete(tg_store_query_t *query)
{
    if (tg_buf_has_failed(&query->json)) {
        tg_buf_reset(&query->json, 0);
        tg_buf_append_cstr(&query->json, "toolgate-runner has no memory left");
        query->rc = TG_INVALID;
    }

    query->done(query);
}
