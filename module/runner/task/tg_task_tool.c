/*
 * tool.call, of a tool with `task`: what a worker would have had run becomes a
 * task,
 *
 *   {"arguments":{…},"job":{…},"has_tools":true}
 *
 * job has the params of `exec`; arguments are what is told of it; has_tools:
 * the caller has the tools of task_tools.
 */
#include "runner/task/tg_task_call.h"

/* Bytes of a call's arguments, and of what is made of them for its program. */
#define TG_TASK_ARGUMENTS_MAX 1048576
#define TG_TASK_JOB_MAX 4194304

/* The job, but for the call that it was: nobody waits for that any more. */
static void
tg_task_tool_put_job(tg_buf_t *run, tg_str_t job)
{
    const char *before;
    tg_str_t key, value;
    tg_json_t json;

    before = "{\"";
    tg_json_init(&json, job);
    (void) tg_json_object(&json);

    while (tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);

        if (!tg_json_body_is(key, TG_STR("call"))) {
            tg_buf_text(run, before);
            tg_buf_str(run, key);
            tg_buf_text(run, "\":");
            tg_buf_str(run, value);
            before = ",\"";
        }
    }

    tg_buf_char(run, '}');
}

/* Who does it, and where it is from: both stand in text. */
static void
tg_task_tool_put_agent(tg_task_call_t *call)
{
    tg_buf_t *text;
    size_t len;

    text = &call->text;
    tg_buf_reset(text, 0);
    tg_buf_text(text, TG_TASK_TOOL);
    tg_buf_text(text, call->job->params.tool);
    len = text->len;
    tg_buf_text(text, "{\"source\":\"tool\",\"tool\":");
    tg_json_put_string(text, tg_str_c(call->job->params.tool));
    tg_buf_char(text, '}');

    if (!tg_buf_failed(text)) {
        call->ask.agent = tg_str(text->data, len);
        call->ask.metadata = tg_str(text->data + len, text->len - len);
    }
}

void
tg_task_tool(tg_task_call_t *call)
{
    tg_str_t arguments, job;

    if (tg_task_is_stopping(call)) {
        return;
    }

    arguments = tg_task_param(call, "arguments", TG_JSON_OBJECT);
    job = tg_task_param(call, "job", TG_JSON_OBJECT);

    if (arguments.len > TG_TASK_ARGUMENTS_MAX || job.len > TG_TASK_JOB_MAX) {
        tg_task_call_error(call, TG_TASK_PARAMS,
                           "The arguments are too long: those of a call that "
                           "becomes a task may have 1 MiB. Put what is long "
                           "into a file, and name that.");
        return;
    }

    tg_task_call_init(call, TG_STORE_SUBMIT);
    tg_task_tool_put_agent(call);
    tg_json_put_compact(&call->prompt, arguments);
    tg_task_tool_put_job(&call->run, job);

    if (tg_buf_failed(&call->text) || tg_buf_failed(&call->prompt)
        || tg_buf_failed(&call->run))
    {
        call->text.failed = 1;
        tg_task_call_text(call);
        return;
    }

    if (tg_task_agent(&call->engine->config, call->ask.agent) == NULL) {
        tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                           "The config has changed, and this tool makes no "
                           "tasks any more; call it again.");
        return;
    }

    call->ask.prompt = tg_buf_view(&call->prompt);
    call->ask.job = tg_buf_view(&call->run);
    call->ask.owner = call->owner;
    call->ask.token = call->token;
    call->ask.limit = call->engine->config.queue;
    tg_task_call_ask(call);
}

void
tg_task_tool_told(tg_task_call_t *call)
{
    tg_outcome_t outcome;
    tg_buf_t *text;
    int has_tools;

    if (!tg_task_is_taken(call)) {
        return;
    }

    has_tools = tg_task_flag(call, "has_tools");
    text = &call->text;
    tg_buf_reset(text, 0);
    tg_buf_text(text, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    tg_buf_text(text, "This call has become a task, which goes on whatever "
                      "becomes of this conversation. Its taskId is ");
    tg_task_put_id(text, call->ask.id);
    tg_buf_printf(text,
                  ". %s waits for its result, %s tells how it stands, %s ends "
                  "it.\"}],\"structuredContent\":{\"taskId\":\"",
                  has_tools ? "task_wait" : "task.wait",
                  has_tools ? "task_get" : "task.get",
                  has_tools ? "task_cancel" : "task.cancel");
    tg_task_put_id(text, call->ask.id);
    tg_buf_text(text, "\",\"state\":\"queued\"},\"isError\":false}");
    outcome = tg_buf_failed(text)
                  ? tg_outcome_no_memory()
                  : tg_outcome_of(TG_OUTCOME_RESULT, tg_buf_view(text));
    tg_task_call_answer(call, &outcome);
}
