/*
 * `task_tools`: what agents may do with tasks, as tools.
 */
#include "nginx/handlers/ngx_toolgate_task.h"

#define NGX_TOOLGATE_TASK_ID                                                   \
    "\"taskId\":{\"type\":\"string\",\"description\":"                         \
    "\"such as task-0012, as task_submit and task_list have it\"}"
#define NGX_TOOLGATE_TASK_LOOKS                                                \
    "{\"readOnlyHint\":true,\"openWorldHint\":false}"

typedef struct {
    ngx_str_t name;
    ngx_str_t method;
    const char *description;
    const char *properties; /* of its arguments */
    const char *required;   /* of these, the first one; or "" */
    const char *annotations;
} ngx_toolgate_task_tool_t;

static ngx_toolgate_task_tool_t ngx_toolgate_task_tools[] = {
    { ngx_string("task_submit"), ngx_string("task.submit"),
      "Has an agent do something in the background: a task, which goes on "
      "whatever becomes of this conversation. It is answered at once with the "
      "task's id; task_wait and task_get tell what became of it.",
      "\"prompt\":{\"type\":\"string\",\"minLength\":1,\"description\":\"what "
      "is to be done; "
      "the agent sees nothing of this conversation\"},"
      "\"priority\":{\"type\":\"integer\",\"minimum\":-2147483648,"
      "\"maximum\":2147483647,\"description\":\"tasks with a higher one are "
      "started first; 0 by default\"},"
      "\"cwd\":{\"type\":\"string\",\"description\":\"the full path of the "
      "folder to work in\"},"
      "\"metadata\":{\"type\":\"object\",\"description\":\"anything that is to "
      "be kept with the task\"}",
      "prompt", "{\"destructiveHint\":true,\"openWorldHint\":true}" },

    { ngx_string("task_get"), ngx_string("task.get"),
      "What is known of a task: its state, when it began and ended, the end "
      "of its output, its result, or why it failed.",
      NGX_TOOLGATE_TASK_ID, "taskId", NGX_TOOLGATE_TASK_LOOKS },

    { ngx_string("task_wait"), ngx_string("task.wait"),
      "Waits for a task to end, then tells what task_get tells. When it has "
      "not ended in time, its state says so: wait again, or do something else "
      "meanwhile.",
      NGX_TOOLGATE_TASK_ID
      ",\"timeout\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":3600,"
      "\"description\":\"how many seconds to wait; 25 by default\"}",
      "taskId", NGX_TOOLGATE_TASK_LOOKS },

    { ngx_string("task_cancel"), ngx_string("task.cancel"),
      "Cancels a task: one that waits does not start, one that runs is ended.",
      NGX_TOOLGATE_TASK_ID, "taskId",
      "{\"destructiveHint\":true,\"idempotentHint\":true,"
      "\"openWorldHint\":false}" },

    { ngx_string("task_list"), ngx_string("task.list"),
      "Lists tasks, the newest first.",
      "\"state\":{\"enum\":[\"queued\",\"running\",\"completed\",\"failed\","
      "\"cancelled\"]},"
      "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,"
      "\"description\":\"how many at most; 20 by default\"}",
      "", NGX_TOOLGATE_TASK_LOOKS },
};

#define NGX_TOOLGATE_TASK_TOOLS                                                \
    (sizeof(ngx_toolgate_task_tools) / sizeof(ngx_toolgate_task_tools[0]))

/* The names that there are, or may be. */
static void
ngx_toolgate_task_put_names(const ngx_toolgate_tasks_t *tasks, tg_buf_t *json)
{
    ngx_toolgate_agent_t **agent;
    ngx_uint_t i;

    agent = tasks->agents->elts;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (ngx_toolgate_agent_is_any(agent[i])) {
            tg_buf_text(json, "\"type\":\"string\","
                              "\"pattern\":\"^[A-Za-z0-9_-]{1,64}$\"");
            return;
        }
    }

    tg_buf_text(json, "\"enum\":[");

    for (i = 0; i < tasks->agents->nelts; i++) {
        tg_buf_text(json, i == 0 ? "" : ",");
        tg_json_put_string(json, ngx_toolgate_str(&agent[i]->name));
    }

    tg_buf_text(json, "]");
}

/* `"agent":{"enum":[…]}`, and whether it must be given. */
static ngx_uint_t
ngx_toolgate_task_put_agents(const ngx_toolgate_tasks_t *tasks,
                             ngx_uint_t is_submit, tg_buf_t *json)
{
    ngx_toolgate_agent_t **agent;
    ngx_uint_t i, is_required;

    /* Who may not see one of those tools is not told its name. */
    if (!is_submit && tasks->doers != NULL) {
        tg_buf_text(json, ",\"agent\":{\"type\":\"string\","
                          "\"description\":\"who does it; of calls of a tool: "
                          "tool: and its name\"}");
        return 0;
    }

    agent = tasks->agents->elts;
    is_required = 1;
    tg_buf_text(json, ",\"agent\":{");
    ngx_toolgate_task_put_names(tasks, json);
    tg_buf_text(json, ",\"description\":\"who does it");

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (agent[i]->is_default) {
            is_required = 0;
            tg_buf_text(json, "; by default ");
            tg_buf_str(json, ngx_toolgate_str(&agent[i]->name));
        }
    }

    tg_buf_text(json, "\"}");

    return is_required;
}

static ngx_int_t
ngx_toolgate_task_offer_tool(ngx_conf_t *cf, const ngx_toolgate_tasks_t *tasks,
                             const ngx_toolgate_handler_t *handler,
                             ngx_toolgate_task_tool_t *row)
{
    ngx_uint_t is_submit, is_required;
    ngx_toolgate_tool_t *tool;
    ngx_str_t schema;
    tg_buf_t json;

    is_submit = ngx_strcmp(row->method.data, "task.submit") == 0;

    if (is_submit && tasks->agents->nelts == 0) {
        return NGX_OK;
    }

    is_required = 0;
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&json, "{\"type\":\"object\",\"properties\":{");
    tg_buf_text(&json, row->properties);

    /* There are no others, so that nobody has to ask. */
    if (is_submit || row->required[0] == '\0') {
        is_required = ngx_toolgate_task_put_agents(tasks, is_submit, &json);
    }

    tg_buf_text(&json, "},\"required\":[");

    if (row->required[0] != '\0') {
        tg_json_put_string(&json, tg_str_c(row->required));
    }

    tg_buf_text(&json, is_submit && is_required ? ",\"agent\"" : "");
    tg_buf_text(&json, "],\"additionalProperties\":false}");

    if (ngx_toolgate_copy(cf, &json, &schema) != NGX_OK) {
        tg_buf_deinit(&json);
        return NGX_ERROR;
    }

    tg_buf_deinit(&json);
    tool = ngx_toolgate_task_entry(cf, tasks, handler, TG_ENTRY_TOOL,
                                   &row->name, &row->method,
                                   ngx_toolgate_str(&schema));

    if (tool == NULL) {
        return NGX_ERROR;
    }

    tool->entry.description = tg_str_c(row->description);
    tool->entry.annotations = tg_str_c(row->annotations);

    return NGX_OK;
}

ngx_int_t
ngx_toolgate_task_offer_tools(ngx_conf_t *cf, const ngx_toolgate_tasks_t *tasks,
                              const ngx_toolgate_handler_t *handler)
{
    ngx_uint_t i;

    /* Who has no agent is told so soon. */
    if (tasks->agents == NULL) {
        return NGX_OK;
    }

    for (i = 0; i < NGX_TOOLGATE_TASK_TOOLS; i++) {
        if (ngx_toolgate_task_offer_tool(cf, tasks, handler,
                                         &ngx_toolgate_task_tools[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
