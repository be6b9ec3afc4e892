/*
 * The methods task.submit, chat.send, task.cancel, task.get, task.list and
 * task.stats.
 */
#include "tasks/engine/tg_task_call.h"

#include "base/tg_json.h"
#include "tasks/engine/tg_engine_impl.h"

/* Default and maximum number of tasks in a list. */
#define TG_TASK_LIST_DEFAULT 20
#define TG_TASK_LIST_MAX 1000
/* Maximum size of a prompt with its metadata, in bytes, as a list has many. */
#define TG_TASK_PROMPT_MAX 1048576

/* Submits the task that call->query describes, or responds with an error. */
static void
tg_task_call_query_submit(tg_task_call_t *call)
{
    tg_store_query_t *query;

    query = &call->query;
    query->owner = call->owner;
    query->token = call->token;
    query->limit = call->engine->config.spec.queue_max;

    if (query->prompt.len + query->metadata.len > TG_TASK_PROMPT_MAX) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_INVALID_PARAMS,
            query->metadata.len > query->prompt.len
                ? "metadata: is too long; prompt and metadata together may "
                  "have 1 MiB."
                : "prompt: is too long; prompt and metadata together may "
                  "have 1 MiB. Put the text into a file and refer to the "
                  "file.");
        return;
    }

    if (tg_buf_has_failed(&call->prompt) || tg_buf_has_failed(&call->text)
        || tg_buf_has_failed(&call->cwd))
    {
        tg_task_call_respond_text(call);
        return;
    }

    tg_task_call_query_store(call);
}

/* --- task.submit --- */

int
tg_task_call_reject_if_stopping(tg_task_call_t *call)
{
    if (call->engine->state == TG_ENGINE_OPEN) {
        return 0;
    }

    tg_task_call_respond_error(
        call, TG_TASK_ERROR_UNAVAILABLE,
        "Subsystem unavailable: the tasks were stopped; reload or start "
        "NGINX to continue.");

    return 1;
}

static void
tg_task_call_respond_no_agent(tg_task_call_t *call, tg_str_t name)
{
    tg_task_call_respond_error(
        call, TG_TASK_ERROR_INVALID_PARAMS,
        name.data != NULL ? "agent: no agent has this name; see the "
                            "task_agent blocks of the config."
                          : "agent: is required, because no task_agent of "
                            "the config is the default.");
}

void
tg_task_call_begin_submit(tg_task_call_t *call)
{
    const tg_agent_t *agent;
    tg_engine_t *engine;
    tg_str_t name, cwd;

    engine = call->engine;

    if (tg_task_call_reject_if_stopping(call)) {
        return;
    }

    name = tg_task_call_get_text(call, "agent", &call->text);
    agent = tg_task_config_find_agent(&engine->config,
                                      name.data != NULL
                                          ? name
                                          : engine->config.spec.default_agent);

    /* Tasks of a tool are created by a call of the tool only. */
    if (name.data != NULL && name.len >= strlen(TG_TASK_TOOL_PREFIX)
        && memcmp(name.data, TG_TASK_TOOL_PREFIX, strlen(TG_TASK_TOOL_PREFIX))
               == 0)
    {
        tg_task_call_respond_no_agent(call, name);
        return;
    }

    /* Another runner may have the agent, which the store knows. */
    if (agent == NULL
        && (!tg_engine_is_shared(engine) || !tg_store_is_agent_name(name)))
    {
        tg_task_call_respond_no_agent(call, name);
        return;
    }

    if (agent != NULL && !tg_agent_is_catch_all(agent)) {
        tg_buf_reset(&call->text, 0);
        tg_buf_append_str(&call->text, agent->name);
    }

    cwd = tg_task_call_get_text(call, "cwd", &call->cwd);

    if (cwd.data != NULL && (cwd.len == 0 || cwd.data[0] != '/')) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_INVALID_PARAMS,
            "cwd: must be an absolute path, which starts with /.");
        return;
    }

    call->query.prompt = tg_task_call_get_text(call, "prompt", &call->prompt);
    call->query.agent = tg_buf_view(&call->text);
    call->query.cwd = cwd;
    call->query.priority = tg_task_call_get_int(call, "priority", INT32_MIN,
                                                INT32_MAX, 0);
    call->query.metadata = tg_task_call_get_param(call, "metadata",
                                                  TG_JSON_OBJECT);
    tg_task_call_query_submit(call);
}

int
tg_task_call_check_submitted(tg_task_call_t *call)
{
    if (call->query.rc == TG_LIMIT) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_QUEUE_FULL,
            "Queue full: no more tasks may wait (task_queue); submit the "
            "task again when some have started.");
        return 0;
    }

    if (call->query.rc == TG_MISSING) {
        tg_task_call_respond_no_agent(call, call->query.agent);
        return 0;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_append_cstr(&call->text, "{\"taskId\":\"");
    tg_task_append_id(&call->text, call->query.id);

    return 1;
}

void
tg_task_call_on_submit(tg_task_call_t *call)
{
    if (tg_task_call_check_submitted(call)) {
        tg_buf_append_cstr(&call->text, "\",\"state\":\"queued\"}");
        tg_task_call_respond_text(call);
    }
}

/* --- chat.send --- */

/* Default priority of chat messages, as a user waits for the response. */
#define TG_TASK_CHAT_PRIORITY 5

void
tg_task_call_begin_chat(tg_task_call_t *call)
{
    const tg_agent_t *agent;

    if (tg_task_call_reject_if_stopping(call)) {
        return;
    }

    agent = tg_task_config_find_agent(&call->engine->config,
                                      call->engine->config.spec.default_agent);

    if (agent == NULL) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_UNAVAILABLE,
            "Subsystem unavailable: no agent handles this, because no "
            "task_agent of the config is the default.");
        return;
    }

    call->query.prompt = tg_task_call_get_text(call, "message", &call->prompt);
    tg_buf_reset(&call->text, 0);
    tg_buf_append_str(&call->text, agent->name);
    call->query.agent = tg_buf_view(&call->text);
    call->query.priority = tg_task_call_get_int(call, "priority", INT32_MIN,
                                                INT32_MAX,
                                                TG_TASK_CHAT_PRIORITY);
    call->query.metadata = TG_STR("{\"source\":\"ipc-chat\"}");
    tg_task_call_query_submit(call);
}

void
tg_task_call_on_chat(tg_task_call_t *call)
{
    if (tg_task_call_check_submitted(call)) {
        tg_buf_append_cstr(&call->text, "\"}");
        tg_task_call_respond_text(call);
    }
}

/* --- task.cancel --- */

static void
tg_task_call_respond_cancelled(tg_task_call_t *call)
{
    tg_task_call_respond_json(call, TG_STR("{\"cancelled\":true}"));
}

/* Asks other runners to cancel the task, and later queries how it ended. */
static void
tg_task_call_forward_cancel(tg_task_call_t *call)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_cstr(&text, "{\"cancel\":[\"");
    tg_task_append_id(&text, call->query.id);
    tg_buf_append_cstr(&text, "\"]}");

    if (!call->is_forwarded && !tg_buf_has_failed(&text)) {
        tg_engine_broadcast(call->engine, tg_buf_view(&text));
    }

    tg_buf_deinit(&text);
    call->is_forwarded = 1;

    /* The store has recorded the cancellation. */
    if (call->is_abandoned) {
        tg_job_set_done(call->job);
        return;
    }

    call->wait_until = uv_now(call->job->jobs->loop) + TG_TASK_CANCEL_POLL_MS;
    tg_task_call_enqueue(call, &call->engine->priv->following);
}

void
tg_task_call_on_cancel(tg_task_call_t *call)
{
    tg_task_t *task;

    if (call->query.rc == TG_MISSING) {
        tg_task_call_respond_not_found(call);
        return;
    }

    if (call->query.rc == TG_OK
        || (call->is_forwarded && call->query.rc == TG_END
            && call->query.state == TG_TASK_CANCELLED))
    {
        tg_task_call_respond_cancelled(call);
        return;
    }

    task = call->query.rc == TG_AGAIN
               ? tg_engine_find_task(call->engine, call->query.id)
               : NULL;

    if (task == NULL && call->query.rc == TG_AGAIN
        && tg_engine_is_shared(call->engine))
    {
        tg_task_call_forward_cancel(call);
        return;
    }

    if (task == NULL
        || (task->has_ended && task->state != TG_TASK_CANCELLED
            && task->state != TG_TASK_QUEUED))
    {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_NOT_CANCELLABLE,
            "Task not cancellable: it has ended already.");
        return;
    }

    tg_task_call_enqueue(call, &task->cancel_calls);
    tg_task_end(task, TG_TASK_CANCELLED, "");
}

/* If the task was interrupted meanwhile, it may be queued again. */
void
tg_task_resume_cancel_calls(tg_task_t *task)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&task->cancel_calls)) != NULL) {
        tg_task_call_dequeue(call);

        if (task->state == TG_TASK_CANCELLED) {
            tg_task_call_respond_cancelled(call);
        } else {
            tg_task_call_begin(call);
        }
    }
}

/* --- task.get, task.list, task.stats --- */

void
tg_task_call_begin_get(tg_task_call_t *call)
{
    const tg_task_t *task;

    /* The store does not know the pid and the output of a running task. */
    task = tg_engine_find_task(call->engine, call->query.id);

    if (task != NULL) {
        call->query.pid = task->pid;
        tg_buf_reset(&call->text, 0);
        tg_task_append_tail(&call->text, &task->combined_tail);
        call->query.output = tg_buf_view(&call->text);
    }

    tg_task_call_query_store(call);
}

void
tg_task_call_begin_list(tg_task_call_t *call)
{
    tg_str_t state, agent;
    int i;

    state = tg_task_call_get_param(call, "state", TG_JSON_STRING);
    call->query.state = TG_TASK_STATES;

    for (i = 0; state.data != NULL && i < TG_TASK_STATES; i++) {
        if (tg_json_string_eq(state, tg_str_from_cstr(tg_task_state_name(
                                         (tg_task_state_t) i))))
        {
            call->query.state = (tg_task_state_t) i;
        }
    }

    agent = tg_task_call_get_text(call, "agent", &call->text);

    /* PostgreSQL refuses a NUL. As no name has one, this matches no task. */
    if (agent.len != 0 && memchr(agent.data, '\0', agent.len) != NULL) {
        agent = TG_STR("");
    }

    call->query.agent = agent;
    call->query.limit = tg_task_call_get_int(call, "limit", 1, TG_TASK_LIST_MAX,
                                             TG_TASK_LIST_DEFAULT);
    tg_task_call_query_store(call);
}

/* Appends a task of a list, with its pid if the task runs here. */
static void
tg_task_append_listed(tg_buf_t *json, const tg_engine_t *engine, tg_str_t raw)
{
    static const char *const names[] = { "id", "pid", NULL };
    tg_str_t values[2];
    const tg_task_t *task;
    const char *end;

    task = tg_json_get_members(raw, names, values) == TG_OK
                   && values[1].data != NULL
               ? tg_engine_find_task(
                   engine, tg_task_parse_id(tg_json_string_body(values[0])))
               : NULL;

    if (task == NULL || task->pid == 0) {
        tg_buf_append_str(json, raw);
        return;
    }

    end = tg_str_end(values[1]);
    tg_buf_append_str(json,
                      tg_str(raw.data, (size_t) (values[1].data - raw.data)));
    tg_buf_append_int(json, task->pid);
    tg_buf_append_str(json, tg_str(end, (size_t) (tg_str_end(raw) - end)));
}

void
tg_task_call_on_list(tg_task_call_t *call)
{
    tg_json_cursor_t each;
    tg_str_t task;

    if (call->query.rc == TG_LIMIT) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_INVALID_PARAMS,
            "limit: the tasks with their prompts and metadata are larger "
            "than 4 MiB; ask for fewer tasks.");
        return;
    }

    if (call->engine->nrunning == 0) {
        tg_task_call_respond_stored(call);
        return;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_append_char(&call->text, '[');

    for (tg_json_iter_init(&each, tg_buf_view(&call->query.json));
         tg_json_iter_next(&each, &task);)
    {
        tg_json_begin_element(&call->text);
        tg_task_append_listed(&call->text, call->engine, task);
    }

    tg_buf_append_char(&call->text, ']');
    tg_task_call_respond_text(call);
}
