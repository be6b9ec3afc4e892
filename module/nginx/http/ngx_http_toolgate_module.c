/* The HTTP module: table of the directives. */
#include "nginx/http/ngx_http_tg_mcp.h"

#include "nginx/config/ngx_tg_config.h"

/* Default of mcp_heartbeat, in ms: proxies often close after 60 s. */
#define NGX_HTTP_TG_HEARTBEAT 15000

static char *
ngx_http_tg_conf_set_heartbeat(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_tg_loc_conf_t *lcf = conf;

    const char *rv;

    rv = ngx_conf_set_msec_slot(cf, cmd, conf);

    return rv == NGX_CONF_OK && lcf->heartbeat < 1000
               ? ngx_tg_conf_error(cf, "\"mcp_heartbeat\" must be at least 1s")
               : (char *) rv;
}

static ngx_command_t ngx_http_tg_commands[] = {

    { ngx_string("toolgate_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS,
      ngx_http_tg_conf_set_status, 0, 0, NULL },

    { ngx_string("toolgate_metrics"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS,
      ngx_http_tg_conf_set_metrics, 0, 0, NULL },

    { ngx_string("mcp_pass"), NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1,
      ngx_http_tg_conf_set_pass, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },

    { ngx_string("mcp_legacy"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_FLAG,
      ngx_conf_set_flag_slot, NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_tg_loc_conf_t, legacy), NULL },

    { ngx_string("mcp_origins"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_1MORE,
      ngx_http_tg_conf_set_origins, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },

    { ngx_string("mcp_heartbeat"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_TAKE1,
      ngx_http_tg_conf_set_heartbeat, NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_tg_loc_conf_t, heartbeat), NULL },

    { ngx_string("mcp_user"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_TAKE1,
      ngx_http_tg_conf_set_identity, NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_tg_loc_conf_t, user), NULL },

    { ngx_string("mcp_scopes"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_TAKE1,
      ngx_http_tg_conf_set_identity, NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_tg_loc_conf_t, scopes), NULL },

    { ngx_string("mcp_authorization_server"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_1MORE,
      ngx_http_tg_conf_add_words, NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_tg_loc_conf_t, authorization_servers), NULL },

    { ngx_string("mcp_scopes_supported"),
      NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF
          | NGX_CONF_1MORE,
      ngx_http_tg_conf_add_words, NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_tg_loc_conf_t, scopes_supported), NULL },

    { ngx_string("mcp_resource"), NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1,
      ngx_http_tg_conf_set_resource, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },

    { ngx_string("mcp_metadata"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS,
      ngx_http_tg_conf_set_metadata, 0, 0, NULL },

    ngx_null_command
};

static void *
ngx_http_tg_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_tg_main_conf_t *mcf;

    mcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_tg_main_conf_t));

    return mcf != NULL
                   && ngx_array_init(&mcf->passes, cf->pool, 4,
                                     sizeof(ngx_http_tg_pass_t *))
                          == NGX_OK
                   && ngx_array_init(&mcf->resources, cf->pool, 4,
                                     sizeof(ngx_http_tg_resource_t))
                          == NGX_OK
               ? mcf
               : NULL;
}

static void *
ngx_http_tg_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_tg_loc_conf_t *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_tg_loc_conf_t));

    if (conf != NULL) {
        conf->legacy = NGX_CONF_UNSET;
        conf->is_any_origin = NGX_CONF_UNSET;
        conf->heartbeat = NGX_CONF_UNSET_MSEC;
    }

    return conf;
}

static char *
ngx_http_tg_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_tg_loc_conf_t *prev = parent;
    ngx_http_tg_loc_conf_t *conf = child;

    ngx_http_core_loc_conf_t *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    ngx_conf_merge_value(conf->legacy, prev->legacy, 1);
    ngx_conf_merge_msec_value(conf->heartbeat, prev->heartbeat,
                              NGX_HTTP_TG_HEARTBEAT);

    if (conf->is_any_origin == NGX_CONF_UNSET) {
        conf->origins = prev->origins;
    }

    ngx_conf_merge_value(conf->is_any_origin, prev->is_any_origin, 0);

    conf->user = conf->user != NULL ? conf->user : prev->user;
    conf->scopes = conf->scopes != NULL ? conf->scopes : prev->scopes;

    if (conf->authorization_servers == NULL) {
        conf->authorization_servers = prev->authorization_servers;
    }

    if (conf->scopes_supported == NULL) {
        conf->scopes_supported = prev->scopes_supported;
    }

    if (conf->resource != NULL
        && (conf->pass == NULL || conf->authorization_servers == NULL))
    {
        return ngx_tg_conf_error(cf, "\"mcp_resource\" needs \"mcp_pass\" "
                                     "and \"mcp_authorization_server\"");
    }

    /* Blocks `if` and `limit_except` keep the handler of their location. */
    if (clcf->noname && conf->pass == NULL) {
        conf->pass = prev->pass;
        conf->metadata = prev->metadata;
    }

    return NGX_CONF_OK;
}

/* Adds the phase handler and the filters, if any location needs them. */
static ngx_int_t
ngx_http_tg_postconfiguration(ngx_conf_t *cf)
{
    ngx_http_core_main_conf_t *cmcf;
    ngx_http_tg_main_conf_t *mcf;
    ngx_http_handler_pt *handler;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_toolgate_module);

    if (mcf->passes.nelts == 0) {
        return NGX_OK;
    }

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    handler = ngx_array_push(
        &cmcf->phases[NGX_HTTP_PREACCESS_PHASE].handlers);

    if (handler == NULL) {
        return NGX_ERROR;
    }

    *handler = ngx_http_tg_origin_handler;
    ngx_http_tg_add_filters();

    return NGX_OK;
}

static ngx_http_module_t ngx_http_tg_module_ctx = {
    .postconfiguration = ngx_http_tg_postconfiguration,
    .create_main_conf = ngx_http_tg_create_main_conf,
    .create_loc_conf = ngx_http_tg_create_loc_conf,
    .merge_loc_conf = ngx_http_tg_merge_loc_conf,
};

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
