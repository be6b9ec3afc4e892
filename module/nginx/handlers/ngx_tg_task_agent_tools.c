/* `task_tools`: tools with which agents submit and follow tasks. */
#include "nginx/handlers/ngx_tg_task.h"

#define NGX_TG_TASK_ID_PROPERTY                                                \
    "\"taskId\":{\"type\":\"string\",\"description\":"                         \
    "\"id of the task, such as task-0012, from task_submit or task_list\"}"
#define NGX_TG_TASK_READ_ONLY_HINTS                                            \
    "{\"readOnlyHint\":true,\"openWorldHint\":false}"

typedef struct {
    ngx_str_t name;
    ngx_str_t method;
    const char *description;
    const char *properties; /* properties of the input schema */
    const char *required;   /* the required property, or "" */
    const char *annotations;
} ngx_tg_task_agent_tool_t;

static ngx_tg_task_agent_tool_t ngx_tg_task_agent_tools[] = {
    { ngx_string("task_submit"), ngx_string("task.submit"),
      "Starts a background task run by another agent and returns its id at "
      "once. The task continues after this conversation ends. Get its state "
      "and result with task_wait or task_get.",
      "\"prompt\":{\"type\":\"string\",\"minLength\":1,\"description\":\"what "
      "the agent is to do; include all it needs to know, as it does not see "
      "this conversation\"},"
      "\"priority\":{\"type\":\"integer\",\"minimum\":-2147483648,"
      "\"maximum\":2147483647,\"description\":\"tasks with a higher priority "
      "start first; default 0\"},"
      "\"cwd\":{\"type\":\"string\",\"description\":\"absolute path of the "
      "working directory\"},"
      "\"metadata\":{\"type\":\"object\",\"description\":\"any data to store "
      "with the task\"}",
      "prompt", "{\"destructiveHint\":true,\"openWorldHint\":true}" },

    { ngx_string("task_get"), ngx_string("task.get"),
      "Returns a task's state, start and end times, the last part of its "
      "output, and its result or the reason why it failed.",
      NGX_TG_TASK_ID_PROPERTY, "taskId", NGX_TG_TASK_READ_ONLY_HINTS },

    { ngx_string("task_wait"), ngx_string("task.wait"),
      "Waits until a task ends, then returns the same as task_get. If the task "
      "is still queued or running after the timeout, its state says so: wait "
      "again, or do something else first.",
      NGX_TG_TASK_ID_PROPERTY
      ",\"timeout\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":3600,"
      "\"description\":\"maximum wait in seconds; default 25\"}",
      "taskId", NGX_TG_TASK_READ_ONLY_HINTS },

    { ngx_string("task_cancel"), ngx_string("task.cancel"),
      "Cancels a task. A queued task does not start; a running task is "
      "stopped.",
      NGX_TG_TASK_ID_PROPERTY, "taskId",
      "{\"destructiveHint\":true,\"idempotentHint\":true,"
      "\"openWorldHint\":false}" },

    { ngx_string("task_list"), ngx_string("task.list"),
      "Lists tasks, newest first.",
      "\"state\":{\"enum\":[\"queued\",\"running\",\"completed\",\"failed\","
      "\"cancelled\"]},"
      "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,"
      "\"description\":\"maximum number of tasks; default 20\"}",
      "", NGX_TG_TASK_READ_ONLY_HINTS },
};

#define NGX_TG_TASK_TOOL_COUNT                                                 \
    (sizeof(ngx_tg_task_agent_tools) / sizeof(ngx_tg_task_agent_tools[0]))

/*
 * Writes a schema for names of agents: the defined names, or any name if an
 * agent is `*`.
 */
static void
ngx_tg_task_write_agent_names(const ngx_tg_tasks_t *tasks, tg_buf_t *json)
{
    ngx_tg_task_agent_t **agent;
    ngx_uint_t i;

    agent = tasks->agents->elts;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (ngx_tg_task_agent_is_wildcard(agent[i])) {
            tg_buf_append_cstr(json, "\"type\":\"string\","
                                     "\"pattern\":\"^[A-Za-z0-9_-]{1,64}$\"");
            return;
        }
    }

    tg_buf_append_cstr(json, "\"enum\":[");

    for (i = 0; i < tasks->agents->nelts; i++) {
        tg_buf_append_cstr(json, i == 0 ? "" : ",");
        tg_json_write_string(json, ngx_tg_str_from_ngx(&agent[i]->name));
    }

    tg_buf_append_cstr(json, "]");
}

/* Writes the property `"agent":{"enum":[…]}`. Returns 1 if it is required. */
static ngx_uint_t
ngx_tg_task_write_agent_property(const ngx_tg_tasks_t *tasks,
                                 ngx_uint_t is_submit, tg_buf_t *json)
{
    ngx_tg_task_agent_t **agent;
    ngx_uint_t i, is_required;

    /*
     * The names of tools with `task` are not listed, because a client may not
     * be allowed to see each of them.
     */
    if (!is_submit && tasks->task_tools != NULL) {
        tg_buf_append_cstr(json,
                           ",\"agent\":{\"type\":\"string\","
                           "\"description\":\"the agent that runs the task, or "
                           "tool:NAME for tasks from calls of the tool "
                           "NAME\"}");
        return 0;
    }

    agent = tasks->agents->elts;
    is_required = 1;
    tg_buf_append_cstr(json, ",\"agent\":{");
    ngx_tg_task_write_agent_names(tasks, json);
    tg_buf_append_cstr(json, ",\"description\":\"the agent that runs the task");

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (agent[i]->is_default) {
            is_required = 0;
            tg_buf_append_cstr(json, "; default ");
            tg_buf_append_str(json, ngx_tg_str_from_ngx(&agent[i]->name));
        }
    }

    tg_buf_append_cstr(json, "\"}");

    return is_required;
}

static ngx_int_t
ngx_tg_task_offer_tool(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                       const ngx_tg_handler_t *handler,
                       ngx_tg_task_agent_tool_t *row)
{
    ngx_uint_t is_submit, is_required;
    ngx_tg_tool_t *tool;
    ngx_str_t schema;
    tg_buf_t json;

    is_submit = ngx_strcmp(row->method.data, "task.submit") == 0;

    if (is_submit && tasks->agents->nelts == 0) {
        return NGX_OK;
    }

    is_required = 0;
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_cstr(&json, "{\"type\":\"object\",\"properties\":{");
    tg_buf_append_cstr(&json, row->properties);

    /*
     * Only task_submit and the tools without a required property have an agent.
     * The schema lists the names, so that no client has to ask for them.
     */
    if (is_submit || row->required[0] == '\0') {
        is_required = ngx_tg_task_write_agent_property(tasks, is_submit, &json);
    }

    tg_buf_append_cstr(&json, "},\"required\":[");

    if (row->required[0] != '\0') {
        tg_json_write_string(&json, tg_str_from_cstr(row->required));
    }

    tg_buf_append_cstr(&json, is_submit && is_required ? ",\"agent\"" : "");
    tg_buf_append_cstr(&json, "],\"additionalProperties\":false}");

    if (ngx_tg_conf_copy_buf(cf, &json, &schema) != NGX_OK) {
        tg_buf_deinit(&json);
        return NGX_ERROR;
    }

    tg_buf_deinit(&json);
    tool = ngx_tg_task_add_catalog_entry(cf, tasks, handler, TG_ENTRY_TOOL,
                                         &row->name, &row->method,
                                         ngx_tg_str_from_ngx(&schema));

    if (tool == NULL) {
        return NGX_ERROR;
    }

    tool->entry.description = tg_str_from_cstr(row->description);
    tool->entry.annotations = tg_str_from_cstr(row->annotations);

    return NGX_OK;
}

ngx_int_t
ngx_tg_task_offer_tools(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                        const ngx_tg_handler_t *handler)
{
    ngx_uint_t i;

    /*
     * A server without agents gets an error later, when the config is checked.
     */
    if (tasks->agents == NULL) {
        return NGX_OK;
    }

    for (i = 0; i < NGX_TG_TASK_TOOL_COUNT; i++) {
        if (ngx_tg_task_offer_tool(cf, tasks, handler,
                                   &ngx_tg_task_agent_tools[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
