/* The servers whose status a client may see. */
#include "nginx/handlers/ngx_tg_status.h"
#include "nginx/call/ngx_tg_call_checks.h"

ngx_int_t
ngx_tg_status_list_servers(ngx_tg_call_t *call, ngx_array_t *servers)
{
    const ngx_tg_peer_cred_t *client;
    ngx_tg_srv_conf_t **scf, **slot;
    ngx_tg_main_conf_t *mcf;
    const tg_catalog_entry_t *entry;
    ngx_uint_t i;

    mcf = ngx_stream_get_module_main_conf(call->base->stream,
                                          ngx_stream_toolgate_module);
    client = ngx_tg_session_base_get_peer_cred(call->base);
    scf = mcf->servers.elts;

    if (ngx_array_init(servers, call->pool, 4, sizeof(*slot)) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < mcf->servers.nelts; i++) {
        entry = tg_catalog_find(scf[i]->catalog, TG_ENTRY_METHOD,
                                call->entry->name);

        /* Several servers may share one address, and then its label. */
        if (!ngx_tg_entry_is_allowed(scf[i], entry, client)
            || ngx_tg_status_has_server(servers,
                                        ngx_tg_server_get_label(scf[i])))
        {
            continue;
        }

        slot = ngx_array_push(servers);

        if (slot == NULL) {
            return NGX_ERROR;
        }

        *slot = scf[i];
    }

    return NGX_OK;
}

ngx_uint_t
ngx_tg_status_has_server(const ngx_array_t *servers, tg_str_t server)
{
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i;

    scf = servers->elts;

    for (i = 0; i < servers->nelts; i++) {
        if (tg_str_eq(ngx_tg_server_get_label(scf[i]), server)) {
            return 1;
        }
    }

    return 0;
}
