/*
 * What a task of a tool's has come to: a whole result of MCP's, so that it says
 * the same as a call that is answered at once.
 */
#include "runner/task/tg_task.h"

#include "base/tg_json.h"

/* A JSON value, as a text. */
static void
tg_task_put_quoted(tg_buf_t *json, tg_str_t value)
{
    tg_buf_t text;

    tg_buf_init(&text, json->alloc);
    tg_json_put_compact(&text, value);
    tg_json_put_string(json, tg_buf_view(&text));
    json->failed |= text.failed;
    tg_buf_deinit(&text);
}

void
tg_task_put_result(tg_buf_t *json, const tg_outcome_t *outcome)
{
    if (outcome->kind == TG_OUTCOME_RESULT) {
        tg_json_put_compact(json, outcome->value);
        return;
    }

    tg_buf_text(json, "{\"content\":[{\"type\":\"text\",\"text\":");

    switch (outcome->kind) {
    case TG_OUTCOME_BODY:
        tg_buf_char(json, '"');
        tg_buf_str(json, outcome->value);
        tg_buf_char(json, '"');
        break;
    case TG_OUTCOME_JSON:
        tg_task_put_quoted(json, outcome->value);
        break;
    default:
        tg_json_put_string(json, outcome->value);
    }

    tg_buf_text(json, "}]");

    if (outcome->kind == TG_OUTCOME_JSON
        && tg_json_type(outcome->value) == TG_JSON_OBJECT)
    {
        tg_json_put_member(json, ",\"structuredContent\":", outcome->value);
    }

    tg_json_put_member(json, ",\"_meta\":", outcome->meta);
    tg_buf_text(json, outcome->kind == TG_OUTCOME_FAILURE
                          ? ",\"isError\":true}"
                          : ",\"isError\":false}");
}

void
tg_task_put_told(tg_buf_t *json, const tg_store_ask_t *ask)
{
    tg_str_t told, result;
    size_t before;

    told = tg_buf_view(&ask->json);

    if (ask->form != TG_TASK_FORM_TOOL
        || !tg_json_has(told, TG_STR("result"), TG_JSON_STRING, &result))
    {
        tg_buf_str(json, told);
        return;
    }

    before = (size_t) (result.data - told.data);
    tg_buf_put(json, told.data, before);
    tg_json_put_decoded(json, tg_json_body(result));
    tg_buf_put(json, result.data + result.len, told.len - before - result.len);
}
