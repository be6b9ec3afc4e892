/*
 * What handlers' directives say of the tool whose block is read.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

ngx_toolgate_tool_t *
ngx_toolgate_conf_tool(ngx_conf_t *cf)
{
    return ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
}

char *
ngx_toolgate_set_handler(ngx_conf_t *cf, const ngx_toolgate_handler_t *handler)
{
    ngx_toolgate_tool_t *tool;
    ngx_str_t *value;

    tool = ngx_toolgate_conf_tool(cf);

    if (tool->handler == NULL) {
        tool->handler = handler;
        return NGX_CONF_OK;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" directive is a second handler; this tool has "
                       "\"%V\" already: remove one of them",
                       &value[0], &tool->handler->name);

    return NGX_CONF_ERROR;
}

ngx_int_t
ngx_toolgate_conf_program(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_program_t *program;
    ngx_str_t *value;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    program = ngx_array_push(&mcf->programs);
    if (program == NULL) {
        return NGX_ERROR;
    }

    value = cf->args->elts;
    program->path = *path;
    program->directive = value[0];

    return NGX_OK;
}
