/* Catalog entries of tools and methods that the runner implements. */
#include "nginx/handlers/ngx_tg_task.h"

/*
 * Timeout of a method in ms: most answer at once, those that follow an output
 * wait up to 25 s.
 */
#define NGX_TG_TASK_METHOD_TIMEOUT 60000
/*
 * Timeout of a method that waits for the end of a task, in ms: the runner waits
 * for an hour at most.
 */
#define NGX_TG_TASK_WAIT_TIMEOUT 3660000

ngx_tg_tool_t *
ngx_tg_task_add_catalog_entry(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                              const ngx_tg_handler_t *handler,
                              tg_catalog_entry_type_t kind, ngx_str_t *name,
                              ngx_str_t *method, tg_str_t schema)
{
    ngx_tg_tool_t *tool;

    tool = ngx_tg_tool_create(cf, kind, name);

    if (tool == NULL) {
        return NULL;
    }

    tool->handler = handler;
    tool->is_internal = kind == TG_ENTRY_METHOD;
    tool->conf = method;
    tool->output = TG_OUTPUT_JSON;
    tool->entry.output = TG_OUTPUT_JSON;
    tool->entry.input_schema = schema;
    tool->validate = NGX_TG_VALIDATE_ON;
    tool->job_spec.timeout_ms = ngx_strcmp(method->data, "task.wait") == 0
                                    ? NGX_TG_TASK_WAIT_TIMEOUT
                                    : NGX_TG_TASK_METHOD_TIMEOUT;
    tool->job_spec.max_timeout_ms = tool->job_spec.timeout_ms;
    tg_spec_set_defaults(tg_output_fields, &tool->output_spec);
    tool->input = ngx_tg_schema_compile(cf, name, schema, 0);

    if (tool->input == NULL) {
        return NULL;
    }

    switch (tg_catalog_add(tasks->scf->catalog, &tool->entry)) {
    case TG_OK:
        return tool;
    case TG_EXISTS:
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "the %s name \"%V\" is reserved by \"%s\"; give yours "
                      "another name, in %V",
                      tg_entry_type_name(kind), name,
                      kind == TG_ENTRY_TOOL ? "task_tools" : "task_methods",
                      &tasks->where);
        return NULL;
    default:
        return NULL;
    }
}
