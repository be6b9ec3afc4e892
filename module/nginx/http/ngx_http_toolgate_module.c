/* The HTTP module: table of the directives. */
#include "nginx/http/ngx_http_tg.h"
#include "nginx/config/ngx_tg_config.h"

static ngx_command_t ngx_http_tg_commands[] = {

    { ngx_string("toolgate_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS,
      ngx_http_tg_conf_set_status, 0, 0, NULL },

    { ngx_string("toolgate_metrics"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS,
      ngx_http_tg_conf_set_metrics, 0, 0, NULL },

    ngx_null_command
};

static ngx_http_module_t ngx_http_tg_module_ctx;

ngx_module_t ngx_http_toolgate_module = NGX_TG_MODULE_OF(NGX_HTTP_MODULE,
                                                         ngx_http_tg_module_ctx,
                                                         ngx_http_tg_commands);

char *
ngx_http_tg_conf_set_handler(ngx_conf_t *cf, ngx_http_handler_pt handler)
{
    ngx_http_core_loc_conf_t *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->handler != NULL) {
        return "is not allowed: this location already has a handler";
    }

    clcf->handler = handler;

    return NGX_CONF_OK;
}
