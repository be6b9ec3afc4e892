/* The servers whose status a client may see. */
#include "nginx/handlers/ngx_tg_status.h"
#include "nginx/call/ngx_tg_call_checks.h"

static ngx_uint_t
ngx_tg_status_can_see(ngx_tg_call_t *call, const ngx_tg_srv_conf_t *scf)
{
    ngx_tg_client_t client;

    if (call == NULL) {
        return 1;
    }

    client = ngx_tg_session_base_get_client(call->base);

    return ngx_tg_entry_is_allowed(scf,
                                   tg_catalog_find(scf->catalog,
                                                   TG_ENTRY_METHOD,
                                                   call->entry->name),
                                   &client);
}

ngx_int_t
ngx_tg_status_list_servers(ngx_tg_status_t *status, ngx_tg_call_t *call)
{
    ngx_tg_srv_conf_t **scf, **slot;
    ngx_tg_main_conf_t *mcf;
    ngx_uint_t i;

    mcf = ngx_tg_cycle_get_main_conf(ngx_cycle);

    if (ngx_array_init(&status->servers, status->pool, 4, sizeof(*slot))
        != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; mcf != NULL && i < mcf->servers.nelts; i++) {
        scf = mcf->servers.elts;

        /* Several servers may share one address, and then its label. */
        if (!ngx_tg_status_can_see(call, scf[i])
            || ngx_tg_status_has_server(&status->servers,
                                        ngx_tg_server_get_label(scf[i])))
        {
            continue;
        }

        slot = ngx_array_push(&status->servers);

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
