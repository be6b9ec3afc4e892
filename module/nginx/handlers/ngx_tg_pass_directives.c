/* Directives of `pass`, and notifications of backends (`notify`). */
#include "nginx/handlers/ngx_tg_pass.h"
#include "nginx/config/ngx_tg_listing.h"
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/shm/ngx_tg_shm.h"

#include "base/tg_utf8.h"

extern const ngx_tg_handler_t ngx_tg_pass_handler;

/* --- directives --- */

/*
 * Returns the default of `output`: the backend's whole result for a tool call
 * and for MCP's methods, JSON for a method, else text.
 */
static tg_output_type_t
ngx_tg_pass_get_output_type(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_pass_conf_t *pass = conf;

    if (NGX_TG_KINDS_WITH_RESULT >> tool->entry.kind & 1) {
        return pass->mcp_method.len != 0 ? TG_OUTPUT_RESULT : TG_OUTPUT_TEXT;
    }

    return tool->entry.kind == TG_ENTRY_TOOL && !pass->is_method
               ? TG_OUTPUT_RESULT
               : TG_OUTPUT_JSON;
}

/* Parses `protocol=NAME`. */
static char *
ngx_tg_pass_parse_protocol(ngx_conf_t *cf, ngx_tg_pass_conf_t *pass,
                           ngx_str_t *name)
{
    ngx_uint_t dialect;

    if (tg_str_eq(ngx_tg_str_from_ngx(name), TG_STR("mcp"))) {
        pass->protocol.dialect = TG_DIALECT_JSONRPC;
        pass->protocol.is_mcp = 1;
        return NGX_CONF_OK;
    }

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_COUNT; dialect++) {
        if (tg_str_eq(ngx_tg_str_from_ngx(name),
                      tg_str_from_cstr(
                          tg_dialect_name((tg_dialect_t) dialect))))
        {
            pass->protocol.dialect = (tg_dialect_t) dialect;
            return NGX_CONF_OK;
        }
    }

    return ngx_tg_conf_error(cf,
                             "unknown protocol \"%V\" in \"pass\"; write "
                             "one of ipc, jsonrpc, relay, mcp",
                             name);
}

static char *
ngx_tg_pass_parse_params(ngx_conf_t *cf, ngx_tg_pass_conf_t *pass)
{
    ngx_str_t *value, param;
    ngx_uint_t i;
    char *rv;

    value = cf->args->elts;

    for (i = 2; i < cf->args->nelts; i++) {
        rv = NGX_CONF_OK;

        if (ngx_tg_arg_has_name(&value[i], "protocol=", &param)
            && pass->protocol.dialect == TG_DIALECT_AUTO)
        {
            rv = ngx_tg_pass_parse_protocol(cf, pass, &param);

        } else if (pass->name.len == 0
                   && (ngx_tg_arg_has_name(&value[i], "name=", &pass->name)
                       || ngx_tg_arg_has_name(&value[i],
                                              "method=", &pass->name))
                   && pass->name.len != 0)
        {
            pass->is_method = value[i].data[0] == 'm';

        } else if (tg_str_eq(ngx_tg_str_from_ngx(&value[i]), TG_STR("notify")))
        {
            pass->has_notify = 1;
            ngx_tg_conf_get_tool(cf)->needs_shm = 1;

        } else {
            rv = ngx_tg_conf_error(
                cf,
                "invalid parameter \"%V\" in \"pass\"; the parameters are, "
                "each at most once, \"protocol=ipc|jsonrpc|relay|mcp\", "
                "\"notify\", and \"name=NAME\" or \"method=NAME\"",
                &value[i]);
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}

/*
 * Sets the name that is sent to the backend, escaped if necessary; by default
 * the tool's name.
 */
static char *
ngx_tg_pass_set_name(ngx_conf_t *cf, ngx_tg_pass_conf_t *pass)
{
    ngx_tg_tool_t *tool;
    tg_buf_t escaped;
    u_char *copy;

    tool = ngx_tg_conf_get_tool(cf);

    if (pass->name.len == 0) {
        pass->name.data = (u_char *) tool->entry.name.data;
        pass->name.len = tool->entry.name.len;
    }

    pass->sent = ngx_tg_str_from_ngx(&pass->name);

    if (!tg_utf8_is_valid(pass->sent)) {
        return "has a name that is not valid UTF-8";
    }

    if (pass->is_method) {
        return NGX_CONF_OK;
    }

    tg_buf_init(&escaped, tg_alloc_libc());
    tg_json_write_escaped(&escaped, pass->sent);
    copy = ngx_pnalloc(cf->pool, escaped.len);

    if (copy != NULL && !tg_buf_has_failed(&escaped)) {
        ngx_memcpy(copy, escaped.data, escaped.len);
        pass->sent = tg_str((char *) copy, escaped.len);
    }

    tg_buf_deinit(&escaped);

    return copy != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_tg_pass_set_address(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_pass_conf_t *pass = conf;

    ngx_str_t *value;
    ngx_url_t url;
    char *rv;

    value = cf->args->elts;
    rv = ngx_tg_conf_set_handler(cf, &ngx_tg_pass_handler);

    if (rv == NGX_CONF_OK) {
        rv = ngx_tg_pass_parse_params(cf, pass);
    }

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (pass->protocol.dialect == TG_DIALECT_AUTO) {
        pass->protocol.dialect = TG_DIALECT_JSONRPC;
    }

    if (pass->is_method
        && (pass->protocol.dialect != TG_DIALECT_JSONRPC
            || pass->protocol.is_mcp))
    {
        return "has \"method=\", which is for \"protocol=jsonrpc\"; write "
               "\"name=\" for the tool's name at the backend";
    }

    if (pass->has_notify && pass->protocol.dialect == TG_DIALECT_IPC) {
        return "has \"notify\", but ipc backends send no notifications; remove "
               "it";
    }

    pass->is_method |= ngx_tg_conf_get_tool(cf)->entry.kind == TG_ENTRY_METHOD
                       && pass->protocol.dialect == TG_DIALECT_JSONRPC
                       && !pass->protocol.is_mcp;

    if ((NGX_TG_KINDS_WITH_RESULT >> ngx_tg_conf_get_tool(cf)->entry.kind & 1)
        && pass->protocol.dialect == TG_DIALECT_JSONRPC && !pass->is_method)
    {
        pass->mcp_method = ngx_tg_conf_get_tool(cf)->entry.kind
                                   == TG_ENTRY_PROMPT
                               ? TG_STR("prompts/get")
                               : TG_STR("resources/read");
    }

    if (ngx_strchr(value[1].data, '$') != NULL) {
        return "needs an address or an upstream without variables";
    }

    if (value[1].data[0] == '/') {
        return "needs an address; for a socket, write \"unix:/PATH\"";
    }

    if (ngx_strncmp(value[1].data, "http://", 7) == 0
        || ngx_strncmp(value[1].data, "https://", 8) == 0)
    {
        return "needs \"unix:/PATH\" or \"HOST:PORT\"; for an HTTP API write "
               "\"http METHOD URL\", and for an MCP server an \"mcp_server\" "
               "with \"url URL\"";
    }

    ngx_memzero(&url, sizeof(ngx_url_t));
    url.url = value[1];
    url.no_resolve = 1;
    pass->upstream = ngx_stream_upstream_add(cf, &url, 0);

    return pass->upstream != NULL ? ngx_tg_pass_set_name(cf, pass)
                                  : NGX_CONF_ERROR;
}

/* --- notifications of backends --- */

/*
 * Broadcasts a backend's notification to the clients of all workers. Only the
 * first worker does that, because the backend notifies the connection of each
 * worker.
 */
static void
ngx_tg_pass_on_notification(void *data, tg_str_t method,
                            const tg_message_t *message)
{
    static tg_throttle_t throttle; /* limit of log lines about all backends */

    ngx_tg_srv_conf_t *scf = data;

    tg_buf_t name;
    ngx_uint_t n;
    ngx_int_t rc;

    if (ngx_worker != 0 || ngx_tg_worker_is_exiting()) {
        return;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_append_unescaped(&name, method);
    rc = tg_buf_has_failed(&name)
             ? NGX_ERROR
             : ngx_tg_server_broadcast(scf, tg_buf_view(&name), message->params,
                                       &n);

    if (rc != NGX_OK
        && ngx_tg_log_throttle_take(&throttle, NGX_LOG_WARN, ngx_cycle->log))
    {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "a backend's notification \"%*s\" was not sent to "
                      "clients: %s",
                      method.len, method.data,
                      rc == NGX_DECLINED ? "its name is reserved"
                      : rc == NGX_ABORT  ? "it is too large"
                      : rc == NGX_BUSY   ? "too many notifications are pending"
                                         : "no memory");
    }

    tg_buf_deinit(&name);
}

/* Returns the only address of the backend; NULL: there is more than one. */
static ngx_stream_upstream_rr_peer_t *
ngx_tg_pass_get_only_address(const ngx_tg_pass_conf_t *pass)
{
    ngx_stream_upstream_rr_peers_t *peers;
    ngx_stream_upstream_server_t *server;

    if (pass->upstream->servers != NULL) {
        server = pass->upstream->servers->elts;

        if (pass->upstream->servers->nelts != 1 || server[0].naddrs != 1) {
            return NULL;
        }
    }

    peers = pass->upstream->peer.data;

    return peers->number == 1 ? peers->peer : NULL;
}

/* --- the whole server --- */

static void *
ngx_tg_pass_create_conf(ngx_conf_t *cf)
{
    ngx_tg_pass_conf_t *pass;

    pass = ngx_pcalloc(cf->pool, sizeof(ngx_tg_pass_conf_t));

    if (pass != NULL) {
        ngx_tg_tls_init_unset(&pass->tls);
    }

    return pass;
}

static const char *
ngx_tg_pass_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_pass_conf_t *pass = conf;

    if (pass->mcp_method.len != 0 && tool->output != NGX_CONF_UNSET_UINT
        && tool->output != TG_OUTPUT_RESULT)
    {
        return "has a \"pass\" whose backend answers with a whole result of "
               "MCP; write \"output result\", or remove \"output\"";
    }

    return pass->upstream == NULL && !ngx_tg_tls_is_unset(&pass->tls)
               ? "has no \"pass\", so \"tool_pass_ssl\" and related directives "
                 "have no effect; remove them"
               : NULL;
}

/* Prepares a tool after the server was read. NGX_OK, or NGX_ERROR: logged. */
static ngx_int_t
ngx_tg_pass_init_tool(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                      ngx_tg_tls_t *server)
{
    ngx_tg_pass_conf_t *pass = tool->conf;
    ngx_tg_tls_t *tls;
    const char *mistake;

    if (pass->has_notify) {
        pass->protocol.notify = ngx_tg_pass_on_notification;
        pass->protocol.data = ngx_stream_conf_get_module_srv_conf(
            cf, ngx_stream_toolgate_module);

        if (ngx_tg_pass_get_only_address(pass) == NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"%*s\" has \"notify\", which works with one "
                          "backend only; remove it, or name one address",
                          tool->entry.name.len, tool->entry.name.data);
            return NGX_ERROR;
        }
    }

    tls = server;

    if (!ngx_tg_tls_is_unset(&pass->tls)) {
        tls = &pass->tls;
        ngx_tg_tls_merge(tls, server);
    }

    if (!tls->enable) {
        return NGX_OK;
    }

    pass->protocol.tls = tls;
    pass->protocol.tls_name = tls->name.len != 0 ? tls->name
                                                 : pass->upstream->host;
    mistake = ngx_tg_tls_check_conf(tls, &pass->protocol.tls_name);

    if (mistake != NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"%*s\" %s",
                      tool->entry.name.len, tool->entry.name.data, mistake);
        return NGX_ERROR;
    }

    return ngx_tg_tls_create_context(cf, tls);
}

static char *
ngx_tg_pass_merge_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_tg_pass_conf_t *prev = parent;
    ngx_tg_pass_conf_t *conf = child;

    const ngx_tg_tool_t *tool;
    ngx_tg_srv_conf_t *scf;
    size_t i;

    ngx_tg_tls_merge(&prev->tls, NULL);
    ngx_tg_tls_merge(&conf->tls, &prev->tls);
    scf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);

    for (i = 0; scf->catalog != NULL && i < tg_catalog_size(scf->catalog); i++)
    {
        tool = tg_catalog_get_entry(scf->catalog, i)->host;

        if (tool->handler == &ngx_tg_pass_handler
            && ngx_tg_pass_init_tool(cf, tool, &conf->tls) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

/* --- connections for notifications --- */

static void
ngx_tg_pass_keep_backend_open(const ngx_tg_pass_conf_t *pass)
{
    ngx_stream_upstream_rr_peer_t *peer;
    ngx_tg_backend_t *backend;

    peer = ngx_tg_pass_get_only_address(pass);
    backend = peer != NULL ? ngx_tg_backend_find_or_create(
                  &pass->protocol, peer->sockaddr, peer->socklen, &peer->name)
                           : NULL;

    if (backend != NULL) {
        ngx_tg_backend_keep_open(backend);
    }
}

static ngx_int_t
ngx_tg_pass_init_process(ngx_cycle_t *cycle)
{
    const ngx_tg_pass_conf_t *pass;
    const ngx_tg_tool_t *tool;
    ngx_tg_main_conf_t *mcf;
    ngx_tg_srv_conf_t **servers;
    ngx_uint_t i;
    size_t n;

    mcf = ngx_tg_cycle_get_main_conf(cycle);

    if (mcf == NULL || ngx_worker != 0 || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    servers = mcf->servers.elts;

    for (i = 0; i < mcf->servers.nelts; i++) {
        for (n = 0; n < tg_catalog_size(servers[i]->catalog); n++) {
            tool = tg_catalog_get_entry(servers[i]->catalog, n)->host;
            pass = tool->conf;

            if (tool->handler == &ngx_tg_pass_handler && pass->has_notify) {
                ngx_tg_pass_keep_backend_open(pass);
            }
        }
    }

    return NGX_OK;
}

/* --- module --- */

#define NGX_TG_TLS_OFFSET(field) offsetof(ngx_tg_pass_conf_t, tls.field)

static ngx_command_t ngx_tg_pass_commands[] = {

    { ngx_string("pass"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_pass_set_address, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    NGX_TG_TLS_COMMANDS(NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF
                        | NGX_STREAM_TOOL_CONF),

    ngx_null_command
};

static ngx_stream_module_t ngx_tg_pass_module_ctx = {
    .create_srv_conf = ngx_tg_pass_create_conf,
    .merge_srv_conf = ngx_tg_pass_merge_conf,
};

ngx_module_t ngx_tg_pass_module = NGX_TG_MODULE(
    ngx_tg_pass_module_ctx, ngx_tg_pass_commands,
    .init_process = ngx_tg_pass_init_process);

const ngx_tg_handler_t ngx_tg_pass_handler = {
    .name = ngx_string("pass"),
    .module = &ngx_tg_pass_module,
    .conf_size = sizeof(ngx_tg_pass_conf_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_ALLOWS_SPILL,
    .check = ngx_tg_pass_check,
    .output = ngx_tg_pass_get_output_type,
    .start = ngx_tg_pass_start,
    .run = ngx_tg_pass_run,
    .cancel = ngx_tg_pass_cancel,
};
