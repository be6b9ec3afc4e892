/*
 * task.submit, chat.send, task.cancel, and looking at what there is.
 */
#include "runner/task/tg_task_call.h"

#include "base/tg_json.h"

#define TG_TASK_LIST 20
#define TG_TASK_LIST_MAX 1000
/* Bytes of a prompt and its metadata: of a list there are many. */
#define TG_TASK_PROMPT_MAX 1048576

/* Of a call that has prompt, agent and the like set. */
static void
tg_task_submit_it(tg_task_call_t *call)
{
    tg_store_ask_t *ask;

    ask = &call->ask;
    ask->owner = call->owner;
    ask->token = call->token;
    ask->limit = call->engine->config.queue;

    if (ask->prompt.len + ask->metadata.len > TG_TASK_PROMPT_MAX) {
        tg_task_call_error(call, TG_TASK_PARAMS,
                           ask->metadata.len > ask->prompt.len
                               ? "metadata: is too long; with the prompt it "
                                 "may have 1 MiB."
                               : "prompt: is too long; with the metadata it "
                                 "may have 1 MiB. Put it into a file, and "
                                 "name that.");
        return;
    }

    if (tg_buf_failed(&call->prompt) || tg_buf_failed(&call->text)
        || tg_buf_failed(&call->cwd))
    {
        tg_task_call_text(call);
        return;
    }

    tg_task_call_ask(call);
}

/* --- submit --- */

/* None are taken: that was answered. */
int
tg_task_is_stopping(tg_task_call_t *call)
{
    if (call->engine->state != TG_ENGINE_STOPPING) {
        return 0;
    }

    tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                       "Subsystem unavailable: the tasks were told to stop; "
                       "reload or start NGINX to go on.");

    return 1;
}

static void
tg_task_no_agent(tg_task_call_t *call, tg_str_t name)
{
    tg_task_call_error(call, TG_TASK_PARAMS,
                       name.data != NULL
                           ? "agent: there is none of this name; see the "
                             "task_agent blocks of the config."
                           : "agent: is needed, as no task_agent of the "
                             "config is the default.");
}

void
tg_task_submit(tg_task_call_t *call)
{
    const tg_agent_t *agent;
    tg_engine_t *engine;
    tg_str_t name, cwd;

    engine = call->engine;

    if (tg_task_is_stopping(call)) {
        return;
    }

    name = tg_task_text(call, "agent", &call->text);
    agent = tg_task_agent(&engine->config,
                          name.data != NULL ? name : engine->config.fallback);

    /* A tool is called. */
    if (name.data != NULL && name.len >= strlen(TG_TASK_TOOL)
        && memcmp(name.data, TG_TASK_TOOL, strlen(TG_TASK_TOOL)) == 0)
    {
        tg_task_no_agent(call, name);
        return;
    }

    /* Another runner may have it, which the store knows. */
    if (agent == NULL
        && (!tg_engine_is_shared(engine) || !tg_store_is_agent_name(name)))
    {
        tg_task_no_agent(call, name);
        return;
    }

    if (agent != NULL && !tg_agent_is_any(agent)) {
        tg_buf_reset(&call->text, 0);
        tg_buf_str(&call->text, agent->name);
    }

    cwd = tg_task_text(call, "cwd", &call->cwd);

    if (cwd.data != NULL && (cwd.len == 0 || cwd.data[0] != '/')) {
        tg_task_call_error(call, TG_TASK_PARAMS,
                           "cwd: must be a full path, which starts with /.");
        return;
    }

    tg_task_call_init(call, TG_STORE_SUBMIT);
    call->ask.prompt = tg_task_text(call, "prompt", &call->prompt);
    call->ask.agent = tg_buf_view(&call->text);
    call->ask.cwd = cwd;
    call->ask.priority = tg_task_number(call, "priority", INT32_MIN, INT32_MAX,
                                        0);
    call->ask.metadata = tg_task_param(call, "metadata", TG_JSON_OBJECT);
    tg_task_submit_it(call);
}

/* Was it taken?  If not, that was answered. */
int
tg_task_is_taken(tg_task_call_t *call)
{
    if (call->ask.rc == TG_LIMIT) {
        tg_task_call_error(call, TG_TASK_QUEUE_FULL,
                           "Queue full: as many tasks wait as may "
                           "(task_queue); submit it again when some of them "
                           "have started.");
        return 0;
    }

    if (call->ask.rc == TG_MISSING) {
        tg_task_no_agent(call, call->ask.agent);
        return 0;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_text(&call->text, "{\"taskId\":\"");
    tg_task_put_id(&call->text, call->ask.id);

    return 1;
}

void
tg_task_submitted(tg_task_call_t *call)
{
    if (tg_task_is_taken(call)) {
        tg_buf_text(&call->text, "\",\"state\":\"queued\"}");
        tg_task_call_text(call);
    }
}

/* --- chat --- */

/* Somebody waits for its answer. */
#define TG_TASK_CHAT_PRIORITY 5

void
tg_task_chat(tg_task_call_t *call)
{
    const tg_agent_t *agent;

    if (tg_task_is_stopping(call)) {
        return;
    }

    agent = tg_task_agent(&call->engine->config, call->engine->config.fallback);

    if (agent == NULL) {
        tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                           "Subsystem unavailable: nobody listens, as no "
                           "task_agent of the config is the default.");
        return;
    }

    tg_task_call_init(call, TG_STORE_SUBMIT);
    call->ask.prompt = tg_task_text(call, "message", &call->prompt);
    tg_buf_reset(&call->text, 0);
    tg_buf_str(&call->text, agent->name);
    call->ask.agent = tg_buf_view(&call->text);
    call->ask.priority = tg_task_number(call, "priority", INT32_MIN, INT32_MAX,
                                        TG_TASK_CHAT_PRIORITY);
    call->ask.metadata = TG_STR("{\"source\":\"ipc-chat\"}");
    tg_task_submit_it(call);
}

void
tg_task_chatted(tg_task_call_t *call)
{
    if (tg_task_is_taken(call)) {
        tg_buf_text(&call->text, "\"}");
        tg_task_call_text(call);
    }
}

/* --- cancel --- */

void
tg_task_cancel(tg_task_call_t *call)
{
    tg_task_call_init(call, TG_STORE_CANCEL);

    if (tg_task_which(call)) {
        tg_task_call_ask(call);
    }
}

static void
tg_task_call_true(tg_task_call_t *call)
{
    tg_task_call_json(call, TG_STR("{\"cancelled\":true}"));
}

/* It runs elsewhere: somebody there will say how it ended. */
static void
tg_task_pass_on(tg_task_call_t *call)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, "{\"cancel\":[\"");
    tg_task_put_id(&text, call->ask.id);
    tg_buf_text(&text, "\"]}");

    if (!call->is_passed_on && !tg_buf_failed(&text)) {
        tg_engine_spread(call->engine, tg_buf_view(&text));
    }

    tg_buf_deinit(&text);
    call->is_passed_on = 1;

    /* The store remembers the wish. */
    if (call->is_stopped) {
        tg_job_done(call->job);
        return;
    }

    call->follows_until = uv_now(call->job->jobs->loop) + TG_TASK_CANCEL_MS;
    tg_task_call_wait(call, &call->engine->following);
}

void
tg_task_was_cancelled(tg_task_call_t *call)
{
    tg_task_t *task;

    if (call->ask.rc == TG_MISSING) {
        tg_task_call_missing(call);
        return;
    }

    if (call->ask.rc == TG_OK
        || (call->is_passed_on && call->ask.rc == TG_END
            && call->ask.state == TG_TASK_CANCELLED))
    {
        tg_task_call_true(call);
        return;
    }

    task = call->ask.rc == TG_AGAIN ? tg_task_find(call->engine, call->ask.id)
                                    : NULL;

    if (task == NULL && call->ask.rc == TG_AGAIN
        && tg_engine_is_shared(call->engine))
    {
        tg_task_pass_on(call);
        return;
    }

    if (task == NULL
        || (task->has_ended && task->state != TG_TASK_CANCELLED
            && task->state != TG_TASK_QUEUED))
    {
        tg_task_call_error(call, TG_TASK_NOT_CANCELLABLE,
                           "Task not cancellable: it has ended already.");
        return;
    }

    tg_task_call_wait(call, &task->cancels);
    tg_task_end(task, TG_TASK_CANCELLED, "");
}

/* One that was interrupted meanwhile may wait again. */
void
tg_task_calls_ended(tg_task_t *task)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&task->cancels)) != NULL) {
        tg_task_call_leave(call);

        if (task->state == TG_TASK_CANCELLED) {
            tg_task_call_true(call);
        } else {
            tg_task_cancel(call);
        }
    }
}

/* --- get, list, stats --- */

void
tg_task_get(tg_task_call_t *call)
{
    const tg_task_t *task;

    tg_task_call_init(call, TG_STORE_GET);

    if (!tg_task_which(call)) {
        return;
    }

    /* Of one that runs, the store knows less. */
    task = tg_task_find(call->engine, call->ask.id);

    if (task != NULL) {
        call->ask.pid = task->pid;
        tg_buf_reset(&call->text, 0);
        tg_task_put_tail(&call->text, &task->both);
        call->ask.output = tg_buf_view(&call->text);
    }

    tg_task_call_ask(call);
}

void
tg_task_list(tg_task_call_t *call)
{
    tg_str_t state;
    int i;

    tg_task_call_init(call, TG_STORE_LIST);
    state = tg_task_param(call, "state", TG_JSON_STRING);
    call->ask.state = TG_TASK_STATES;

    for (i = 0; state.data != NULL && i < TG_TASK_STATES; i++) {
        if (tg_json_is_text(state,
                            tg_str_c(tg_task_state_name((tg_task_state_t) i))))
        {
            call->ask.state = (tg_task_state_t) i;
        }
    }

    call->ask.agent = tg_task_text(call, "agent", &call->text);
    call->ask.limit = tg_task_number(call, "limit", 1, TG_TASK_LIST_MAX,
                                     TG_TASK_LIST);
    tg_task_call_ask(call);
}

/* Appends a task as the store tells it, with its pid if it runs here. */
static void
tg_task_put_listed(tg_buf_t *json, const tg_engine_t *engine, tg_str_t raw)
{
    static const char *const names[] = { "id", "pid", NULL };
    tg_str_t values[2];
    const tg_task_t *task;
    const char *end;

    task = tg_json_members(raw, names, values) == TG_OK
                   && values[1].data != NULL
               ? tg_task_find(engine, tg_task_id(tg_json_body(values[0])))
               : NULL;

    if (task == NULL || task->pid == 0) {
        tg_buf_str(json, raw);
        return;
    }

    end = tg_str_end(values[1]);
    tg_buf_str(json, tg_str(raw.data, (size_t) (values[1].data - raw.data)));
    tg_buf_int(json, task->pid);
    tg_buf_str(json, tg_str(end, (size_t) (tg_str_end(raw) - end)));
}

void
tg_task_listed(tg_task_call_t *call)
{
    const char *before;
    tg_json_t each;
    tg_str_t task;

    if (call->ask.rc == TG_LIMIT) {
        tg_task_call_error(call, TG_TASK_PARAMS,
                           "limit: so many tasks, with their prompts and "
                           "metadata, are more than 4 MiB; ask for less.");
        return;
    }

    if (call->engine->nrunning == 0) {
        tg_task_call_tell(call);
        return;
    }

    before = "[";
    tg_buf_reset(&call->text, 0);

    for (tg_json_each(&each, tg_buf_view(&call->ask.json));
         tg_json_item(&each, &task);)
    {
        tg_buf_text(&call->text, before);
        tg_task_put_listed(&call->text, call->engine, task);
        before = ",";
    }

    tg_buf_text(&call->text, *before == '[' ? "[]" : "]");
    tg_task_call_text(call);
}

void
tg_task_stats(tg_task_call_t *call)
{
    tg_task_call_init(call, TG_STORE_STATS);
    tg_task_call_ask(call);
}
