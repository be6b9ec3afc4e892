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
    return mcp->list == NULL
           && (!mcp->has_failed || ngx_toolgate_mcp_is_coming(mcp));
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

/* What the runner said last of a server, as an object, which is in text. */
static tg_str_t
ngx_toolgate_mcp_state_of(const ngx_toolgate_mcp_t *mcp, tg_buf_t *text)
{
    tg_buf_truncate(text, 0);
    tg_buf_text(text, "{\"x\":0");
    tg_buf_str(text, tg_buf_view(&mcp->state));
    tg_buf_char(text, '}');

    return tg_buf_view(text);
}

/* Of a name that begins as the tools of a server whose list is not known. */
static void
ngx_toolgate_mcp_why_unknown(const ngx_toolgate_srv_conf_t *scf, tg_str_t name,
                             tg_buf_t *text)
{
    const ngx_toolgate_mcp_offer_t *offer;
    ngx_toolgate_mcp_t **mcp;
    tg_buf_t members;
    tg_str_t error;
    ngx_uint_t i;

    offer = ngx_toolgate_mcp_offer_of(scf);
    tg_buf_init(&members, tg_alloc_libc());

    for (i = 0; offer != NULL && i < offer->servers.nelts; i++) {
        mcp = offer->servers.elts;

        if (mcp[i]->list != NULL || !ngx_toolgate_mcp_has_prefix(mcp[i], name))
        {
            continue;
        }

        if (!mcp[i]->has_failed) {
            tg_buf_printf(text,
                          " The mcp_server \"%.*s\", whose tools begin so, is "
                          "still starting; call again.",
                          (int) mcp[i]->name.len, mcp[i]->name.data);

        } else if (tg_json_has(ngx_toolgate_mcp_state_of(mcp[i], &members),
                               TG_STR("error"), TG_JSON_STRING, &error))
        {
            tg_buf_printf(text, " The mcp_server \"%.*s\" has failed: ",
                          (int) mcp[i]->name.len, mcp[i]->name.data);
            tg_json_put_decoded(text, tg_json_body(error));
        }
    }

    text->failed |= tg_buf_failed(&members);
    tg_buf_deinit(&members);
}

/* "starting" or "failed"; NULL: it is there, or would be with a call. */
static const char *
ngx_toolgate_mcp_absence(const ngx_toolgate_mcp_t *mcp, tg_str_t members)
{
    tg_str_t state;

    if (tg_json_has(members, TG_STR("state"), TG_JSON_STRING, &state)) {
        if (tg_json_is_text(state, TG_STR("starting"))) {
            return "starting";
        }

        if (tg_json_is_text(state, TG_STR("failed"))) {
            return "failed";
        }
    }

    if (mcp->list != NULL) {
        return NULL;
    }

    return mcp->has_failed ? "failed" : "starting";
}

static void
ngx_toolgate_mcp_put_absent(void *front, tg_buf_t *json)
{
    const ngx_toolgate_mcp_offer_t *offer;
    tg_str_t members, error;
    ngx_toolgate_mcp_t **mcp;
    const char *state;
    ngx_uint_t i, n;
    tg_buf_t text;

    offer = ngx_toolgate_mcp_offer_of(((ngx_toolgate_front_t *) front)->conf);
    tg_buf_init(&text, tg_alloc_libc());

    for (i = 0, n = 0; offer != NULL && i < offer->servers.nelts; i++) {
        mcp = offer->servers.elts;
        members = ngx_toolgate_mcp_state_of(mcp[i], &text);
        state = ngx_toolgate_mcp_absence(mcp[i], members);

        /* Who may not see its tools does not get to know of it. */
        if (state == NULL
            || !ngx_toolgate_is_visible(front, &mcp[i]->block->entry)) {
            continue;
        }

        tg_buf_text(json, n++ == 0 ? "{\"name\":" : ",{\"name\":");
        tg_json_put_string(json, ngx_toolgate_str(&mcp[i]->name));
        tg_buf_printf(json, ",\"state\":\"%s\"", state);

        if (tg_json_has(members, TG_STR("error"), TG_JSON_STRING, &error)) {
            tg_json_put_member(json, ",\"error\":", error);
        }

        tg_buf_char(json, '}');
    }

    json->failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
}

void
ngx_toolgate_mcp_wait_init(ngx_toolgate_mcp_offer_t *offer)
{
    offer->scf->waits = ngx_toolgate_mcp_waits;
    offer->scf->why_unknown = ngx_toolgate_mcp_why_unknown;
    offer->scf->put_absent = ngx_toolgate_mcp_put_absent;
}
