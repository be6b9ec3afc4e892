/*
 * Methods about tasks: calls of the methods, and of the tools for agents, are
 * jobs of the runner.
 */
#include "nginx/handlers/ngx_tg_task.h"
#include "nginx/shm/ngx_tg_shm.h"
#include "nginx/call/ngx_tg_call_checks.h"

/*
 * A method and the schema of its params; null for an optional param counts as
 * absent.
 */
typedef struct {
    ngx_str_t name;
    const char *schema;
} ngx_tg_task_method_t;

#define NGX_TG_TASK_NO_PARAMS_SCHEMA "{\"type\":\"object\"}"

static ngx_tg_task_method_t ngx_tg_task_methods[] = {
    { ngx_string("daemon.status"), NGX_TG_TASK_NO_PARAMS_SCHEMA },
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
    { ngx_string("task.stats"), NGX_TG_TASK_NO_PARAMS_SCHEMA },
    { ngx_string("chat.send"),
      "{\"type\":\"object\",\"required\":[\"message\"],"
      "\"properties\":{\"message\":{\"type\":\"string\","
      "\"minLength\":1},\"priority\":{\"type\":[\"integer\",\"null\"],"
      "\"minimum\":-2147483648,\"maximum\":2147483647}}}" },
    { ngx_string("automation.status"), NGX_TG_TASK_NO_PARAMS_SCHEMA },
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

#define NGX_TG_TASK_METHOD_COUNT                                               \
    (sizeof(ngx_tg_task_methods) / sizeof(ngx_tg_task_methods[0]))

/* --- config --- */

static ngx_int_t
ngx_tg_task_offer_all_methods(ngx_conf_t *cf, ngx_tg_tasks_t *tasks)
{
    ngx_tg_task_method_t *method;
    ngx_tg_tool_t *tool;
    ngx_uint_t i;

    /*
     * Task notifications also go to clients that have not sent any message yet.
     */
    tasks->scf->info.notifies_pre_request = 1;

    for (i = 0; i < NGX_TG_TASK_METHOD_COUNT; i++) {
        method = &ngx_tg_task_methods[i];
        tool = ngx_tg_task_add_catalog_entry(cf, tasks, &ngx_tg_task_handler,
                                             TG_ENTRY_METHOD, &method->name,
                                             &method->name,
                                             tg_str_from_cstr(method->schema));

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
ngx_tg_task_offer(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    ngx_tg_tasks_t *tasks;

    tasks = ngx_stream_conf_get_module_srv_conf(cf, ngx_tg_task_module);

    if (ngx_tg_task_tools_find(cf, scf, tasks) != NGX_OK) {
        return NGX_ERROR;
    }

    if (tasks->methods == 1
        && ngx_tg_task_offer_all_methods(cf, tasks) != NGX_OK) {
        return NGX_ERROR;
    }

    return tasks->tools == 1
               ? ngx_tg_task_offer_tools(cf, tasks, &ngx_tg_task_handler)
               : NGX_OK;
}

/* --- execution of a call --- */

static void
ngx_tg_task_count_client(void *data, const ngx_tg_client_info_t *about)
{
    ngx_uint_t *n = data;

    (*n)++;
}

/*
 * Checks whether a request may be sent again if the runner ended before it
 * answered. Methods that read or switch do no harm twice; a submission gets a
 * token, for which the store creates one task only.
 */
static ngx_uint_t
ngx_tg_task_can_repeat(const ngx_str_t *method, tg_buf_t *params)
{
    static const char *const names[] = {
        "automation.disable", "automation.enable",
        "automation.status",  "daemon.status",
        "task.get",           "task.list",
        "task.output",        "task.stats",
        "task.wait",          NULL
    };

    if (tg_str_find(ngx_tg_str_from_ngx(method), names) >= 0) {
        return 1;
    }

    return (tg_str_eq(ngx_tg_str_from_ngx(method), TG_STR("task.submit"))
            || tg_str_eq(ngx_tg_str_from_ngx(method), TG_STR("chat.send")))
           && ngx_tg_append_submission_token(params);
}

static void
ngx_tg_task_start(ngx_tg_call_t *call, tg_request_t *request)
{
    const ngx_str_t *method = call->tool->conf;

    ngx_tg_tasks_t *tasks;
    tg_buf_t params;
    ngx_uint_t n, may_repeat;

    n = 0;
    ngx_tg_client_table_visit(&call->base->conf->addresses,
                              ngx_tg_task_count_client, &n);
    tasks = ngx_stream_get_module_srv_conf(call->base->stream,
                                           ngx_tg_task_module);
    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_json_add_string(&params, "store", ngx_tg_str_from_ngx(&tasks->store));
    tg_json_add_string(&params, "method", ngx_tg_str_from_ngx(method));
    tg_json_add_uint(&params, "clients", n);
    ngx_tg_call_append_owner(call, &params);

    if (ngx_tg_session_base_can_see_all(call->base)) {
        tg_json_add_bool(&params, "sees_all", 1);
    }

    if (call->tool->entry.kind == TG_ENTRY_TOOL) {
        tg_json_add_bool(&params, "is_tool", 1);
    }

    may_repeat = ngx_tg_task_can_repeat(method, &params);
    tg_json_add_compact(&params, "params", request->arguments);
    ngx_tg_call_start_task_job(call, &params, may_repeat);
}

/* --- handler --- */

const ngx_tg_handler_t ngx_tg_task_handler = {
    .name = ngx_string("task_methods"),
    .module = &ngx_tg_task_module,
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_HAS_OWN_BLOCK,
    .add_entries = ngx_tg_task_offer,
    .start = ngx_tg_task_start,
    .finalize_config = ngx_tg_tasks_finalize_config,
};
