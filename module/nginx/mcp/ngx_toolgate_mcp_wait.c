/*
 * The first list of a server of which none is known: clients that ask before
 * it came wait for it, as many of them never ask again.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

/* For lists; agents give a server 10 s at their start, or more. */
#define NGX_TOOLGATE_MCP_FIRST_LIST 8000

/* Is it about to be known what it lists? */
static ngx_uint_t
ngx_toolgate_mcp_is_awaited(const ngx_toolgate_mcp_t *mcp)
{
    return mcp->list == NULL && !mcp->has_failed;
}

static ngx_uint_t
ngx_toolgate_mcp_has_prefix(const ngx_toolgate_mcp_t *mcp, tg_str_t name)
{
    return name.len > mcp->prefix.len
           && ngx_memcmp(name.data, mcp->prefix.data, mcp->prefix.len) == 0;
}

static ngx_toolgate_mcp_offer_t *
ngx_toolgate_mcp_offer_of(const ngx_toolgate_srv_conf_t *scf)
{
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_toolgate_mcp_offer_t **offer;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(ngx_cycle,
                                                 ngx_toolgate_mcp_module);
    offer = mmcf->offers.elts;

    for (i = 0; i < mmcf->offers.nelts; i++) {
        if (offer[i]->scf == scf) {
            return offer[i];
        }
    }

    return NULL;
}

static ngx_msec_t
ngx_toolgate_mcp_waits(const ngx_toolgate_srv_conf_t *scf, tg_str_t name)
{
    const ngx_toolgate_mcp_offer_t *offer;
    ngx_toolgate_mcp_t **mcp;
    ngx_msec_t most;
    ngx_uint_t i;

    offer = ngx_toolgate_mcp_offer_of(scf);
    most = 0;

    for (i = 0; offer != NULL && i < offer->servers.nelts; i++) {
        mcp = offer->servers.elts;

        if (!ngx_toolgate_mcp_is_awaited(mcp[i])) {
            continue;
        }

        if (name.data == NULL) {
            return NGX_TOOLGATE_MCP_FIRST_LIST;
        }

        /* As calls of a server that starts do. */
        if (ngx_toolgate_mcp_has_prefix(mcp[i], name)) {
            most = ngx_max(most, ngx_min(mcp[i]->start_timeout,
                                         mcp[i]->block->timeout));
        }
    }

    return most;
}

/* Of a name that begins as the tools of a server whose list is not known. */
static void
ngx_toolgate_mcp_why_unknown(const ngx_toolgate_srv_conf_t *scf, tg_str_t name,
                             tg_buf_t *text)
{
    const ngx_toolgate_mcp_offer_t *offer;
    ngx_toolgate_mcp_t **mcp;
    tg_str_t state, error;
    tg_buf_t members;
    ngx_uint_t i;

    offer = ngx_toolgate_mcp_offer_of(scf);

    for (i = 0; offer != NULL && i < offer->servers.nelts; i++) {
        mcp = offer->servers.elts;

        if (mcp[i]->list != NULL || !ngx_toolgate_mcp_has_prefix(mcp[i], name))
        {
            continue;
        }

        tg_buf_init(&members, tg_alloc_libc());
        tg_buf_text(&members, "{\"x\":0");
        tg_buf_str(&members, tg_buf_view(&mcp[i]->state));
        tg_buf_char(&members, '}');
        state = tg_buf_view(&members);

        if (!mcp[i]->has_failed) {
            tg_buf_printf(text,
                          " The mcp_server \"%.*s\", whose tools begin so, is "
                          "still starting; call again.",
                          (int) mcp[i]->name.len, mcp[i]->name.data);

        } else if (tg_json_has(state, TG_STR("error"), TG_JSON_STRING, &error))
        {
            tg_buf_printf(text, " The mcp_server \"%.*s\" has failed: ",
                          (int) mcp[i]->name.len, mcp[i]->name.data);
            tg_json_put_decoded(text, tg_json_body(error));
        }

        text->failed |= tg_buf_failed(&members);
        tg_buf_deinit(&members);
    }
}

void
ngx_toolgate_mcp_wait_init(ngx_toolgate_mcp_offer_t *offer)
{
    offer->scf->waits = ngx_toolgate_mcp_waits;
    offer->scf->why_unknown = ngx_toolgate_mcp_why_unknown;
}
