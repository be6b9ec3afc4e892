/*
 * Parameters of the SQL of store operations.
 */
#include "tasks/store/tg_store_ops.h"

#include "base/tg_utf8.h"

#define TG_STORE_PARAM(name, type, member)                                     \
    {                                                                          \
        name, TG_STORE_PARAM_##type, offsetof(tg_store_query_t, member)        \
    }

const tg_store_param_t tg_store_params[TG_STORE_PARAMS] = {
    TG_STORE_PARAM("now", NUMBER, now),
    TG_STORE_PARAM("id", ID, id),
    TG_STORE_PARAM("priority", NUMBER, priority),
    TG_STORE_PARAM("limit", NUMBER, limit),
    TG_STORE_PARAM("offset", NUMBER, offset),
    TG_STORE_PARAM("pid", NUMBER, pid),
    TG_STORE_PARAM("state", STATE, state),
    TG_STORE_PARAM("form", NUMBER, result_format),
    TG_STORE_PARAM("prompt", STRING, prompt),
    TG_STORE_PARAM("brief", BRIEF, prompt),
    TG_STORE_PARAM("agent", TEXT, agent),
    TG_STORE_PARAM("cwd", STRING, cwd),
    TG_STORE_PARAM("metadata", TEXT, metadata),
    TG_STORE_PARAM("owner", TEXT, owner),
    TG_STORE_PARAM("job", TEXT, job),
    TG_STORE_PARAM("result", STRING, result),
    TG_STORE_PARAM("error", STRING, error),
    TG_STORE_PARAM("output", STRING, output),
    TG_STORE_PARAM("bytes", BYTES, bytes),
    TG_STORE_PARAM("agents", AGENTS, agents),
    TG_STORE_PARAM("retries", RETRIES, agents),
    TG_STORE_PARAM("all_agents", ALL_AGENTS, agents),
    TG_STORE_PARAM("takers", TAKERS, agents),
    TG_STORE_PARAM("token", TOKEN, token),
    TG_STORE_PARAM("runner", RUNNER, engine),
    TG_STORE_PARAM("place", PLACE, engine),
    TG_STORE_PARAM("records", RECORDS, records),
    TG_STORE_PARAM("key", KEY, records),
    TG_STORE_PARAM("value", VALUE, records),
    TG_STORE_PARAM("is_new", IS_NEW, records),
};

int
tg_store_find_param(const char *text, size_t *len)
{
    int i;

    *len = strspn(text, "abcdefghijklmnopqrstuvwxyz_");

    for (i = 0; i < TG_STORE_PARAMS; i++) {
        if (strlen(tg_store_params[i].name) == *len
            && memcmp(tg_store_params[i].name, text, *len) == 0)
        {
            return i;
        }
    }

    return -1;
}

/* Builds a text such as ,a=2,b=0, of the agents that take tasks. */
static tg_str_t
tg_store_write_takers(const tg_store_agents_t *agents, tg_buf_t *out)
{
    unsigned i;

    tg_buf_reset(out, 0);
    tg_buf_append_char(out, ',');

    for (i = 0; agents != NULL && i < agents->n; i++) {
        if (!agents->is_full[i]) {
            tg_buf_printf(out, "%s=%lld,", agents->names[i],
                          (long long) agents->retries[i]);
        }
    }

    return tg_buf_view(out);
}

/* Builds an array of names or numbers; names need no quotes. */
static tg_str_t
tg_store_write_agents(const tg_store_agents_t *agents,
                      tg_store_param_type_t type, tg_buf_t *out)
{
    unsigned i;

    if (agents == NULL) {
        return TG_STR_NONE;
    }

    tg_buf_reset(out, 0);

    for (i = 0; i < agents->n; i++) {
        if (agents->is_full[i] && type != TG_STORE_PARAM_ALL_AGENTS) {
            continue;
        }

        tg_buf_append_char(out, out->len == 0 ? '{' : ',');

        if (type == TG_STORE_PARAM_RETRIES) {
            tg_buf_append_int(out, agents->retries[i]);
        } else {
            tg_buf_append_cstr(out, agents->names[i]);
        }
    }

    tg_buf_append_cstr(out, out->len == 0 ? "{}" : "}");

    return tg_buf_view(out);
}

tg_store_value_t
tg_store_get_param(const tg_store_query_t *query, const tg_store_param_t *param,
                   const tg_store_record_t *record, tg_buf_t *room)
{
    const void *member = (const char *) query + param->offset;
    tg_store_value_t value;

    value.is_number = param->type < TG_STORE_PARAM_TEXT;
    value.number = 0;
    value.text = TG_STR_NONE;

    switch (param->type) {
    case TG_STORE_PARAM_NUMBER:
    case TG_STORE_PARAM_ID:
        value.number = *(const int64_t *) member;
        break;
    case TG_STORE_PARAM_STATE:
        value.number = (int64_t) query->state;
        break;
    case TG_STORE_PARAM_AGENTS:
    case TG_STORE_PARAM_RETRIES:
    case TG_STORE_PARAM_ALL_AGENTS:
        value.text = tg_store_write_agents(query->agents, param->type, room);
        break;
    case TG_STORE_PARAM_TAKERS:
        value.text = tg_store_write_takers(query->agents, room);
        break;
    case TG_STORE_PARAM_IS_NEW:
        value.number = record != NULL && record->is_new;
        break;
    case TG_STORE_PARAM_KEY:
        value.text = record != NULL ? record->key : TG_STR_NONE;
        break;
    case TG_STORE_PARAM_VALUE:
        value.text = record != NULL ? record->value : TG_STR_NONE;
        break;
    case TG_STORE_PARAM_RUNNER:
    case TG_STORE_PARAM_PLACE:
    case TG_STORE_PARAM_RECORDS:
        break;
    default:
        value.text = *(const tg_str_t *) member;
        break;
    }

    if (param->type == TG_STORE_PARAM_BRIEF) {
        value.text.len = tg_utf8_prefix_len(value.text,
                                            TG_STORE_PROMPT_PREVIEW_MAX);
    }

    return value;
}
