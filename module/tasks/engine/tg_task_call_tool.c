/*
 * The method tool.call: a call of a tool with `task` becomes a task. Its params
 * are
 *
 *   {"arguments":{…},"job":{…},"has_tools":true}
 *
 * `job` has the params of `exec` that the worker would otherwise run.
 * `arguments` become the prompt of the task. has_tools means that the caller
 * has the tools of task_tools.
 */
#include "tasks/engine/tg_task_call.h"
#include "tasks/engine/tg_engine_impl.h"

/* Maximum size of the arguments of a call, in bytes. */
#define TG_TASK_ARGUMENTS_MAX 1048576
/* Maximum size of the job of a call, in bytes. */
#define TG_TASK_JOB_MAX 4194304

/* Appends the job without its member "call", as nobody waits for it. */
static void
tg_task_call_append_tool_job(tg_buf_t *job_params, tg_str_t job)
{
    const char *before;
    tg_str_t key, value;
    tg_json_cursor_t json;

    before = "{\"";
    tg_json_iter_init_members(&json, job);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (!tg_json_body_eq_text(key, TG_STR("call"))) {
            tg_buf_append_cstr(job_params, before);
            tg_buf_append_str(job_params, key);
            tg_buf_append_cstr(job_params, "\":");
            tg_buf_append_str(job_params, value);
            before = ",\"";
        }
    }

    tg_buf_append_char(job_params, '}');
}

/* Sets agent and metadata of call->query; call->text contains both. */
static void
tg_task_call_set_tool_agent(tg_task_call_t *call)
{
    tg_buf_t *text;
    size_t len;

    text = &call->text;
    tg_buf_reset(text, 0);
    tg_buf_append_cstr(text, TG_TASK_TOOL_PREFIX);
    tg_buf_append_cstr(text, call->job->params.tool);
    len = text->len;
    tg_buf_append_cstr(text, "{\"source\":\"tool\",\"tool\":");
    tg_json_write_string(text, tg_str_from_cstr(call->job->params.tool));
    tg_buf_append_char(text, '}');

    if (!tg_buf_has_failed(text)) {
        call->query.agent = tg_str(text->data, len);
        call->query.metadata = tg_str(text->data + len, text->len - len);
    }
}

void
tg_task_call_begin_tool(tg_task_call_t *call)
{
    tg_str_t arguments, job;

    if (tg_task_call_reject_if_stopping(call)) {
        return;
    }

    arguments = tg_task_call_get_param(call, "arguments", TG_JSON_OBJECT);
    job = tg_task_call_get_param(call, "job", TG_JSON_OBJECT);

    if (arguments.len > TG_TASK_ARGUMENTS_MAX || job.len > TG_TASK_JOB_MAX) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_INVALID_PARAMS,
            "The arguments are too long: a call that becomes a task may have "
            "at most 1 MiB. Put long text into a file and refer to the file.");
        return;
    }

    tg_task_call_set_tool_agent(call);
    tg_json_write_compact(&call->prompt, arguments);
    tg_task_call_append_tool_job(&call->job_params, job);

    if (tg_buf_has_failed(&call->text) || tg_buf_has_failed(&call->prompt)
        || tg_buf_has_failed(&call->job_params))
    {
        call->text.failed = 1;
        tg_task_call_respond_text(call);
        return;
    }

    if (tg_task_config_find_agent(&call->engine->config, call->query.agent)
        == NULL) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_UNAVAILABLE,
            "The config has changed, and calls of this tool no longer become "
            "tasks; call it again.");
        return;
    }

    call->query.prompt = tg_buf_view(&call->prompt);
    call->query.job = tg_buf_view(&call->job_params);
    call->query.owner = call->owner;
    call->query.token = call->token;
    call->query.limit = call->engine->config.spec.queue_max;
    tg_task_call_query_store(call);
}

void
tg_task_call_on_tool(tg_task_call_t *call)
{
    tg_outcome_t outcome;
    tg_buf_t *text;
    int has_tools;

    if (!tg_task_call_check_submitted(call)) {
        return;
    }

    has_tools = tg_task_call_get_bool(call, "has_tools");
    text = &call->text;
    tg_buf_reset(text, 0);
    tg_buf_append_cstr(text, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    tg_buf_append_cstr(text,
                       "This call has become a background task, which "
                       "continues after this conversation ends. Its taskId "
                       "is ");
    tg_task_append_id(text, call->query.id);
    tg_buf_printf(text,
                  ". %s waits for its result, %s returns its current state, %s "
                  "stops it.\"}],\"structuredContent\":{\"taskId\":\"",
                  has_tools ? "task_wait" : "task.wait",
                  has_tools ? "task_get" : "task.get",
                  has_tools ? "task_cancel" : "task.cancel");
    tg_task_append_id(text, call->query.id);
    tg_buf_append_cstr(text, "\",\"state\":\"queued\"},\"isError\":false}");
    outcome = tg_buf_has_failed(text)
                  ? tg_outcome_make_no_memory()
                  : tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(text));
    tg_task_call_respond(call, &outcome);
}
