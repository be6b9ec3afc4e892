/*
 * The methods about tasks: calls of them, and of the tools that do the same,
 * are jobs of the runner's.
 */
#include "nginx/handlers/ngx_toolgate_task.h"
#include "nginx/share/ngx_toolgate_share.h"

static ngx_int_t ngx_toolgate_task_offer(ngx_conf_t *cf,
                                         ngx_toolgate_srv_conf_t *scf);
static void ngx_toolgate_task_start(ngx_toolgate_call_t *call,
                                    tg_request_t *request);

const ngx_toolgate_handler_t ngx_toolgate_task_handler = {
    .name = ngx_string("task_methods"),
    .module = &ngx_toolgate_task_module,
    .flags = NGX_TOOLGATE_TAKES_TIME | NGX_TOOLGATE_HAS_BLOCK,
    .offer = ngx_toolgate_task_offer,
    .start = ngx_toolgate_task_start,
    .settle = ngx_toolgate_task_settle,
};

/* A method, and what its params are; null for an optional one is as absent. */
typedef struct {
    ngx_str_t name;
    const char *schema;
} ngx_toolgate_task_method_t;

#define NGX_TOOLGATE_TASK_NONE "{\"type\":\"object\"}"

static ngx_toolgate_task_method_t ngx_toolgate_task_methods[] = {
    { ngx_string("daemon.status"), NGX_TOOLGATE_TASK_NONE },
    { ngx_string("daemon.stop"),
      "{\"type\":\"object\","
      "\"properties\":{\"force\":{\"type\":[\"boolean\",\"null\"]}}}" },
    { ngx_string("task.submit"),
      "{\"type\":\"object\",\"required\":[\"prompt\"],"
      "\"properties\":{\"prompt\":{\"type\":\"string\",\"minLength\":1},"
      "\"agent\":{\"type\":[\"string\",\"null\"]},"
      "\"cwd\":{\"type\":[\"string\",\"null\"]},"
      "\"metadata\":{\"type\":[\"object\",\"null\"]},"
      "\"priority\":{\"type\":[\"integer\",\"null\"],"
      "\"minimum\":-2147483648,\"maximum\":2147483647}}}" },
    { ngx_string("task.cancel"),
      "{\"type\":\"object\",\"required\":[\"taskId\"],"
      "\"properties\":{\"taskId\":{\"type\":\"string\"}}}" },
    { ngx_string("task.get"),
      "{\"type\":\"object\",\"required\":[\"taskId\"],"
      "\"properties\":{\"taskId\":{\"type\":\"string\"}}}" },
    { ngx_string("task.output"),
      "{\"type\":\"object\",\"required\":[\"taskId\"],"
      "\"properties\":{\"taskId\":{\"type\":\"string\"},"
      "\"offset\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},"
      "\"follow\":{\"type\":[\"boolean\",\"null\"]}}}" },
    { ngx_string("task.wait"),
      "{\"type\":\"object\",\"required\":[\"taskId\"],"
      "\"properties\":{\"taskId\":{\"type\":\"string\"},"
      "\"timeout\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,"
      "\"maximum\":3600}}}" },
    { ngx_string("task.list"),
      "{\"type\":\"object\","
      "\"properties\":{\"state\":{\"enum\":[\"queued\",\"running\","
      "\"completed\",\"failed\",\"cancelled\",null]},"
      "\"agent\":{\"type\":[\"string\",\"null\"]},"
      "\"limit\":{\"type\":[\"integer\",\"null\"],\"minimum\":1,"
      "\"maximum\":1000}}}" },
    { ngx_string("task.stats"), NGX_TOOLGATE_TASK_NONE },
    { ngx_string("chat.send"),
      "{\"type\":\"object\",\"required\":[\"message\"],"
      "\"properties\":{\"message\":{\"type\":\"string\","
      "\"minLength\":1},\"priority\":{\"type\":[\"integer\",\"null\"],"
      "\"minimum\":-2147483648,\"maximum\":2147483647}}}" },
    { ngx_string("automation.status"), NGX_TOOLGATE_TASK_NONE },
    { ngx_string("automation.enable"),
      "{\"type\":\"object\","
      "\"properties\":{\"ruleId\":{\"type\":[\"string\",\"null\"]}}}" },
    { ngx_string("automation.disable"),
      "{\"type\":\"object\","
      "\"properties\":{\"ruleId\":{\"type\":[\"string\",\"null\"]}}}" },
    { ngx_string("automation.approve"),
      "{\"type\":\"object\",\"required\":[\"executionId\",\"approve\"],"
      "\"properties\":{\"executionId\":{\"type\":\"string\"},"
      "\"approve\":{\"type\":\"boolean\"}}}" },
};

#define NGX_TOOLGATE_TASK_METHODS                                              \
    (sizeof(ngx_toolgate_task_methods) / sizeof(ngx_toolgate_task_methods[0]))

/* --- at load --- */

static ngx_int_t
ngx_toolgate_task_offer_methods(ngx_conf_t *cf, ngx_toolgate_tasks_t *tasks)
{
    ngx_toolgate_task_method_t *method;
    ngx_toolgate_tool_t *tool;
    ngx_uint_t i;

    /* What is told of tasks reaches clients that only listen, too. */
    tasks->scf->info.notifies_silent = 1;

    for (i = 0; i < NGX_TOOLGATE_TASK_METHODS; i++) {
        method = &ngx_toolgate_task_methods[i];
        tool = ngx_toolgate_task_entry(cf, tasks, &ngx_toolgate_task_handler,
                                       TG_ENTRY_METHOD, &method->name,
                                       &method->name, tg_str_c(method->schema));

        if (tool == NULL) {
            return NGX_ERROR;
        }

        if (tg_str_eq(tool->entry.name, TG_STR("daemon.stop"))) {
            tasks->stop = tool;
        }
    }

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_task_offer(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf)
{
    ngx_toolgate_tasks_t *tasks;

    tasks = ngx_stream_conf_get_module_srv_conf(cf, ngx_toolgate_task_module);

    if (ngx_toolgate_task_find_doers(cf, scf, tasks) != NGX_OK) {
        return NGX_ERROR;
    }

    if (tasks->methods == 1
        && ngx_toolgate_task_offer_methods(cf, tasks) != NGX_OK) {
        return NGX_ERROR;
    }

    return tasks->tools == 1
               ? ngx_toolgate_task_offer_tools(cf, tasks,
                                               &ngx_toolgate_task_handler)
               : NGX_OK;
}

/* --- a call --- */

static void
ngx_toolgate_task_count(void *data, const ngx_toolgate_about_t *about)
{
    ngx_uint_t *n = data;

    (void) about;
    (*n)++;
}

/*
 * May the runner be asked again that ended before it answered?  Methods that
 * read and switch do no harm twice; a submission has a token, of which there
 * is one task.
 */
static ngx_uint_t
ngx_toolgate_task_may_repeat(const ngx_str_t *method, tg_buf_t *params)
{
    static const char *const names[] = {
        "automation.disable", "automation.enable", "automation.status",
        "daemon.status",      "task.get",          "task.list",
        "task.output",        "task.stats",        "task.wait"
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (tg_str_eq(ngx_toolgate_str(method), tg_str_c(names[i]))) {
            return 1;
        }
    }

    return (tg_str_eq(ngx_toolgate_str(method), TG_STR("task.submit"))
            || tg_str_eq(ngx_toolgate_str(method), TG_STR("chat.send")))
           && ngx_toolgate_put_token(params);
}

static void
ngx_toolgate_task_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    const ngx_str_t *method = call->tool->conf;

    ngx_toolgate_tasks_t *tasks;
    tg_buf_t params;
    ngx_uint_t n, may_repeat;

    n = 0;
    ngx_toolgate_clients_see_all(&call->front->conf->addresses,
                                 ngx_toolgate_task_count, &n);
    tasks = ngx_stream_get_module_srv_conf(call->front->stream,
                                           ngx_toolgate_task_module);
    tg_buf_init(&params, tg_alloc_libc());
    ngx_toolgate_job_params(call, &params);
    tg_buf_text(&params, ",\"store\":");
    tg_json_put_string(&params, ngx_toolgate_str(&tasks->store));
    tg_buf_text(&params, ",\"method\":");
    tg_json_put_string(&params, ngx_toolgate_str(method));
    tg_buf_text(&params, ",\"clients\":");
    tg_buf_uint(&params, n);
    ngx_toolgate_job_owner(call, &params);

    if (ngx_toolgate_sees_all(call->front)) {
        tg_buf_text(&params, ",\"sees_all\":true");
    }

    if (call->tool->entry.kind == TG_ENTRY_TOOL) {
        tg_buf_text(&params, ",\"is_tool\":true");
    }

    may_repeat = ngx_toolgate_task_may_repeat(method, &params);
    tg_json_put_member(&params, ",\"params\":", request->arguments);
    tg_buf_char(&params, '}');

    if (tg_buf_failed(&params)) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
    } else if (ngx_toolgate_call_defer(call) == NGX_OK) {
        call->job.is_task = 1;

        if (may_repeat) {
            ngx_toolgate_call_repeat_task(call, tg_buf_view(&params));
        }

        ngx_toolgate_call_job(call, TG_STR("task"), tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}
