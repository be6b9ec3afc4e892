/*
 * About which servers somebody may ask.
 */
#include "nginx/handlers/ngx_toolgate_status.h"

ngx_int_t
ngx_toolgate_status_servers(ngx_toolgate_call_t *call, ngx_array_t *servers)
{
    const ngx_toolgate_client_t *client;
    ngx_toolgate_srv_conf_t **scf, **slot;
    ngx_toolgate_main_conf_t *mcf;
    const tg_entry_t *entry;
    ngx_uint_t i;

    mcf = ngx_stream_get_module_main_conf(call->front->stream,
                                          ngx_stream_toolgate_module);
    client = ngx_toolgate_client(call->front);
    scf = mcf->servers.elts;

    if (ngx_array_init(servers, call->pool, 4, sizeof(*slot)) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < mcf->servers.nelts; i++) {
        entry = tg_catalogue_get(scf[i]->catalogue, TG_ENTRY_METHOD,
                                 call->entry->name);

        /* Some servers are one address, and have its name. */
        if (!ngx_toolgate_may(scf[i], entry, client)
            || ngx_toolgate_status_is_known(servers,
                                            ngx_toolgate_server_name(scf[i])))
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
ngx_toolgate_status_is_known(const ngx_array_t *servers, tg_str_t server)
{
    ngx_toolgate_srv_conf_t **scf;
    ngx_uint_t i;

    scf = servers->elts;

    for (i = 0; i < servers->nelts; i++) {
        if (tg_str_eq(ngx_toolgate_server_name(scf[i]), server)) {
            return 1;
        }
    }

    return 0;
}
