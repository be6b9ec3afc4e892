/*
 * Results of tools whose calls become tasks. The task stores a whole MCP
 * CallToolResult, equal to the result of a call that is not a task.
 */
#include "tasks/engine/tg_engine_impl.h"

#include "base/tg_json.h"

/* Appends a JSON value as a JSON string. */
static void
tg_task_append_quoted(tg_buf_t *json, tg_str_t value)
{
    tg_buf_t text;

    tg_buf_init(&text, json->alloc);
    tg_json_write_compact(&text, value);
    tg_json_write_string(json, tg_buf_view(&text));
    json->failed |= text.failed;
    tg_buf_deinit(&text);
}

void
tg_task_append_tool_result(tg_buf_t *json, const tg_outcome_t *outcome)
{
    if (outcome->kind == TG_OUTCOME_RESULT) {
        tg_json_write_compact(json, outcome->value);
        return;
    }

    tg_buf_append_cstr(json, "{\"content\":[{\"type\":\"text\",\"text\":");

    switch (outcome->kind) {
    case TG_OUTCOME_BODY:
        tg_buf_append_char(json, '"');
        tg_buf_append_str(json, outcome->value);
        tg_buf_append_char(json, '"');
        break;
    case TG_OUTCOME_JSON:
        tg_task_append_quoted(json, outcome->value);
        break;
    default:
        tg_json_write_string(json, outcome->value);
    }

    tg_buf_append_cstr(json, "}]");

    if (outcome->kind == TG_OUTCOME_JSON
        && tg_json_type(outcome->value) == TG_JSON_OBJECT)
    {
        tg_json_add_compact(json, "structuredContent", outcome->value);
    }

    tg_json_add_compact(json, "_meta", outcome->meta);
    tg_buf_append_cstr(json, outcome->kind == TG_OUTCOME_FAILURE
                                 ? ",\"isError\":true}"
                                 : ",\"isError\":false}");
}

void
tg_task_append_json(tg_buf_t *json, const tg_store_query_t *query)
{
    tg_str_t task, result;
    size_t before;

    task = tg_buf_view(&query->json);

    if (query->result_format != TG_TASK_RESULT_TOOL
        || !tg_json_has_member(task, TG_STR("result"), TG_JSON_STRING, &result))
    {
        tg_buf_append_str(json, task);
        return;
    }

    before = (size_t) (result.data - task.data);
    tg_buf_append(json, task.data, before);
    tg_json_append_unescaped(json, tg_json_string_body(result));
    tg_buf_append(json, result.data + result.len,
                  task.len - before - result.len);
}
