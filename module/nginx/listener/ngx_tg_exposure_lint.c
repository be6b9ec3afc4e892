/* Warnings about servers whose rules probably admit the wrong clients. */
#include "nginx/listener/ngx_tg_listener.h"

#include "nginx/call/ngx_tg_call.h"
#include "nginx/handoff/ngx_tg_handoff.h"
#include "nginx/shm/ngx_tg_shm.h"

/* Types of clients that can reach a server. */
enum {
    NGX_TG_REACHED_BY_UNIX = 1,
    NGX_TG_REACHED_BY_LOOPBACK = 2,
    NGX_TG_REACHED_BY_NETWORK = 4
};

typedef struct {
    ngx_cycle_t *cycle;
    ngx_tg_srv_conf_t *scf;
    ngx_stream_core_srv_conf_t *core;
} ngx_tg_exposure_t;

/* --- listening addresses --- */

static ngx_uint_t
ngx_tg_exposure_get_address_kind(const struct sockaddr *sockaddr)
{
    const struct sockaddr_in *sin;
#if (NGX_HAVE_INET6)
    const struct sockaddr_in6 *sin6;
#endif

    switch (sockaddr->sa_family) {
    case AF_UNIX:
        return NGX_TG_REACHED_BY_UNIX;

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (const struct sockaddr_in6 *) (const void *) sockaddr;
        return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr)
                   ? NGX_TG_REACHED_BY_LOOPBACK
                   : NGX_TG_REACHED_BY_NETWORK;
#endif

    default:
        sin = (const struct sockaddr_in *) (const void *) sockaddr;
        return ntohl(sin->sin_addr.s_addr) >> 24 == 127
                   ? NGX_TG_REACHED_BY_LOOPBACK
                   : NGX_TG_REACHED_BY_NETWORK;
    }
}

static ngx_uint_t
ngx_tg_exposure_get_listener_kinds(const ngx_tg_exposure_t *server)
{
    const ngx_listening_t *ls;
    const ngx_stream_port_t *port;
    ngx_uint_t i, k, ways;

    ls = server->cycle->listening.elts;
    ways = 0;

    for (i = 0; i < server->cycle->listening.nelts; i++) {
        if (ls[i].handler != ngx_tg_init_client_connection) {
            continue;
        }

        port = ls[i].servers;

        for (k = 0; k < port->naddrs; k++) {
            if (ngx_tg_addr_conf_get_server(
                    ngx_tg_listener_get_addr_conf(&ls[i], k))
                == server->scf)
            {
                ways |= ngx_tg_exposure_get_address_kind(ls[i].sockaddr);
            }
        }
    }

    return ways;
}

/* --- access control of NGINX --- */

/* Checks for `allow` and `deny`, the first member of NGINX's configuration. */
static ngx_uint_t
ngx_tg_exposure_has_access_rules(const ngx_tg_exposure_t *server)
{
    ngx_array_t **rules;
    ngx_module_t *module;
    ngx_uint_t i;

    for (i = 0; server->cycle->modules[i] != NULL; i++) {
        module = server->cycle->modules[i];

        if (module->type == NGX_STREAM_MODULE && module->name != NULL
            && ngx_strcmp(module->name, "ngx_stream_access_module") == 0)
        {
            rules = server->core->ctx->srv_conf[module->ctx_index];
            return *rules != NULL;
        }
    }

    return 0;
}

static ngx_uint_t
ngx_tg_exposure_has_client_certs(const ngx_tg_exposure_t *server)
{
#if (NGX_STREAM_SSL)
    const ngx_command_t *cmd;
    const char *conf;

    conf = server->core->ctx->srv_conf[ngx_stream_ssl_module.ctx_index];

    /* Use the directive's offset: the structure's name varies by version. */
    for (cmd = ngx_stream_ssl_module.commands; cmd->name.len != 0; cmd++) {
        if (ngx_strcmp(cmd->name.data, "ssl_verify_client") == 0) {
            return *(const ngx_uint_t *) (conf + cmd->offset) == 1;
        }
    }
#endif

    return 0;
}

/* --- warnings --- */

static void
ngx_tg_exposure_warn(const ngx_tg_exposure_t *server, const char *what)
{
    ngx_log_error(NGX_LOG_WARN, server->cycle->log, 0, "%s in %s:%ui", what,
                  server->core->file_name, server->core->line);
}

/* Warns about allow rules that exclude nobody for lack of a deny rule. */
static void
ngx_tg_exposure_lint_tools(const ngx_tg_exposure_t *server)
{
    const ngx_tg_tool_t *tool;
    ngx_uint_t rules, all;
    size_t i;

    all = ngx_tg_access_rules_get_flags(server->scf->rules);

    for (i = 0; (tool = ngx_tg_server_get_block(server->scf, i)) != NULL; i++) {
        rules = ngx_tg_access_rules_get_flags(tool->rules);

        if (tool->group != NULL) {
            rules |= ngx_tg_access_rules_get_flags(tool->group->rules);
        }

        if ((rules & NGX_TG_RULES_ALLOW_SOME)
            && !((rules | all) & NGX_TG_RULES_DENY)) {
            ngx_log_error(NGX_LOG_WARN, server->cycle->log, 0,
                          "\"%*s\" has \"allow\" but no \"deny\", so all "
                          "clients are allowed; add \"deny all;\" after it "
                          "in %s:%ui",
                          tool->entry.name.len, tool->entry.name.data,
                          server->core->file_name, server->core->line);
        }
    }
}

static ngx_uint_t
ngx_tg_exposure_get_rule_flags(const ngx_tg_exposure_t *server)
{
    const ngx_tg_tool_t *tool;
    ngx_uint_t rules;
    size_t i;

    rules = ngx_tg_access_rules_get_flags(server->scf->rules);

    for (i = 0; (tool = ngx_tg_server_get_block(server->scf, i)) != NULL; i++) {
        rules |= ngx_tg_access_rules_get_flags(tool->rules);
    }

    return rules;
}

static void
ngx_tg_exposure_lint_server(const ngx_tg_exposure_t *server)
{
    ngx_uint_t own, rules, ways;

    own = ngx_tg_access_rules_get_flags(server->scf->rules);
    rules = ngx_tg_exposure_get_rule_flags(server);
    ways = ngx_tg_exposure_get_listener_kinds(server);

    if ((own & NGX_TG_RULES_ALLOW_SOME) && !(rules & NGX_TG_RULES_DENY)) {
        ngx_tg_exposure_warn(server,
                             "\"tool_allow\" without \"tool_deny\" allows all "
                             "clients; add \"tool_deny all;\"");
    } else {
        ngx_tg_exposure_lint_tools(server);
    }

    if (ways != 0 && !(ways & NGX_TG_REACHED_BY_UNIX)
        && (rules & NGX_TG_RULES_NAME_USERS))
    {
        ngx_tg_exposure_warn(server,
                             "rules for users or groups reject all clients "
                             "over TCP, which have neither; listen on "
                             "\"unix:\", "
                             "or use NGINX's own \"allow\" and \"deny\"");
    }

    if ((ways & NGX_TG_REACHED_BY_NETWORK) && rules == 0
        && !ngx_tg_exposure_has_access_rules(server)
        && !ngx_tg_exposure_has_client_certs(server))
    {
        ngx_tg_exposure_warn(server,
                             "anyone who can reach the network address can "
                             "call these tools; add NGINX's own "
                             "\"allow ADDRESS; deny all;\", or \"ssl\" "
                             "with \"ssl_verify_client on;\"");
    }
}

void
ngx_tg_lint_exposure(ngx_cycle_t *cycle)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_stream_core_srv_conf_t **servers;
    ngx_tg_exposure_t server;
    ngx_uint_t i;

    cmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_stream_core_module);
    servers = cmcf->servers.elts;

    for (i = 0; i < cmcf->servers.nelts; i++) {
        server.cycle = cycle;
        server.core = servers[i];
        server.scf =
            servers[i]->ctx->srv_conf[ngx_stream_toolgate_module.ctx_index];

        if (server.scf->catalog != NULL) {
            ngx_tg_exposure_lint_server(&server);
        }
    }
}
