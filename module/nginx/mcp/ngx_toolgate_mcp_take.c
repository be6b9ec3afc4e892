/*
 * A list that comes.  It is read, composed with what else its server offers,
 * and offered, in time slices: the lists before serve until then, and clients
 * never see a part of one.  What comes meanwhile has its turn afterwards, so
 * that a list that changes all the time does not keep itself from clients.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "nginx/stream/ngx_toolgate_session.h"

/* Bytes of tools in one step, and the scheduler's steps in a byte of them. */
#define NGX_TOOLGATE_MCP_PART 4096
#define NGX_TOOLGATE_MCP_BYTE 4
/* Entries of a catalogue in one step, and the scheduler's steps in an entry. */
#define NGX_TOOLGATE_MCP_ENTRIES 16
#define NGX_TOOLGATE_MCP_ENTRY 512

static void ngx_toolgate_mcp_read_some(tg_source_t *source);

static void
ngx_toolgate_mcp_take_failed(const ngx_toolgate_srv_conf_t *scf)
{
    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "no memory for the list of an mcp_server of the server in "
                  "%s:%ui",
                  scf->file, scf->line);
}

/* --- composing --- */

/* The lists that are coming are not offered. */
static void
ngx_toolgate_mcp_drop_coming(const ngx_toolgate_mcp_offer_t *offer)
{
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t i;

    mcp = offer->servers.elts;

    for (i = 0; i < offer->servers.nelts; i++) {
        ngx_toolgate_mcp_list_release(mcp[i]->coming);
        mcp[i]->coming = NULL;
    }
}

/* A list that is offered from now on is the server's. */
static void
ngx_toolgate_mcp_settle_list(ngx_toolgate_mcp_t *mcp,
                             ngx_toolgate_mcp_list_t *list)
{
    if (list == NULL || list == mcp->list) {
        return;
    }

    list->nholders++;
    ngx_toolgate_mcp_list_release(mcp->list);
    mcp->list = list;

    if (mcp->coming == list) {
        ngx_toolgate_mcp_list_release(list);
        mcp->coming = NULL;
    }

    ngx_toolgate_mcp_compile_list(mcp);
}

/* Offers the catalogue that is complete to clients. */
static void
ngx_toolgate_mcp_offer_composed(ngx_toolgate_mcp_offer_t *offer)
{
    ngx_toolgate_mcp_composition_t *composition;
    tg_catalogue_t *before;
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t i;

    composition = offer->composition;
    offer->composition = NULL;
    mcp = offer->servers.elts;

    for (i = 0; i < offer->servers.nelts; i++) {
        ngx_toolgate_mcp_settle_list(
            mcp[i], ngx_toolgate_mcp_composed_list(composition, i));
    }

    before = tg_catalogue_hold(offer->scf->catalogue);
    ngx_toolgate_session_offer(offer->scf,
                               ngx_toolgate_mcp_composed(composition));
    ngx_toolgate_session_unpark(offer->scf);

    if (ngx_worker == 0) {
        ngx_toolgate_check_list(offer->scf, before, ngx_cycle->log);
    }

    tg_catalogue_release(before);
    ngx_toolgate_mcp_compose_end(composition);
}

/* All workers compose; one logs it. */
static ngx_int_t
ngx_toolgate_mcp_compose(ngx_toolgate_mcp_offer_t *offer)
{
    ngx_toolgate_mcp_clashes_t clashes;

    ngx_memzero(&clashes, sizeof(clashes));
    clashes.log = ngx_cycle->log;
    clashes.level = NGX_LOG_WARN;
    clashes.is_quiet = ngx_worker != 0;
    offer->is_due = 0;
    offer->composition = ngx_toolgate_mcp_compose_begin(offer, &clashes);

    return offer->composition != NULL ? NGX_OK : NGX_ERROR;
}

static void
ngx_toolgate_mcp_compose_run(tg_source_t *source)
{
    ngx_toolgate_mcp_offer_t *offer;
    ngx_int_t rc;

    offer = ngx_queue_data(source, ngx_toolgate_mcp_offer_t, source);

    if (ngx_toolgate_exits() || ngx_terminate) {
        return;
    }

    rc = offer->composition != NULL ? NGX_OK : ngx_toolgate_mcp_compose(offer);

    while (rc != NGX_ERROR) {
        rc = ngx_toolgate_mcp_compose_some(offer->composition,
                                           NGX_TOOLGATE_MCP_ENTRIES);

        if (rc == NGX_OK) {
            ngx_toolgate_mcp_offer_composed(offer);
            break;
        }

        if (rc == NGX_AGAIN
            && tg_slice_is_over(&ngx_toolgate_sched, source,
                                NGX_TOOLGATE_MCP_ENTRIES
                                    * NGX_TOOLGATE_MCP_ENTRY))
        {
            return;
        }
    }

    if (rc == NGX_ERROR) {
        ngx_toolgate_mcp_take_failed(offer->scf);
        ngx_toolgate_mcp_compose_end(offer->composition);
        offer->composition = NULL;
        ngx_toolgate_mcp_drop_coming(offer);
        ngx_toolgate_session_unpark(offer->scf);
        return;
    }

    if (offer->is_due) {
        tg_source_wait(&ngx_toolgate_sched, source);
    }
}

/* --- reading --- */

/* A list that is read: composes what is offered with it. */
static void
ngx_toolgate_mcp_accept(ngx_toolgate_mcp_t *mcp, ngx_toolgate_mcp_list_t *list)
{
    const ngx_toolgate_mcp_list_t *before;

    before = mcp->coming != NULL ? mcp->coming : mcp->list;

    if (before != NULL && ngx_toolgate_mcp_list_is_same(list, before)) {
        ngx_toolgate_mcp_list_release(list);
        return;
    }

    ngx_toolgate_mcp_list_release(mcp->coming);
    mcp->coming = list;
    mcp->offer->is_due = 1;
    mcp->offer->source.run = ngx_toolgate_mcp_compose_run;
    tg_source_wait(&ngx_toolgate_sched, &mcp->offer->source);
}

static void
ngx_toolgate_mcp_read_some(tg_source_t *source)
{
    ngx_toolgate_mcp_list_t *list;
    ngx_toolgate_mcp_t *mcp;
    ngx_int_t rc;

    mcp = ngx_queue_data(source, ngx_toolgate_mcp_t, reader);
    list = mcp->reading;

    if (list == NULL || ngx_toolgate_exits() || ngx_terminate) {
        return;
    }

    do {
        rc = ngx_toolgate_mcp_list_read(mcp, list, NGX_TOOLGATE_MCP_PART,
                                        ngx_cycle->log);
    } while (
        rc == NGX_AGAIN
        && !tg_slice_is_over(&ngx_toolgate_sched, source,
                             NGX_TOOLGATE_MCP_PART * NGX_TOOLGATE_MCP_BYTE));

    if (rc == NGX_AGAIN) {
        return;
    }

    mcp->reading = mcp->unread;
    mcp->unread = NULL;

    if (rc == NGX_ERROR) {
        ngx_toolgate_mcp_take_failed(mcp->offer->scf);
        ngx_toolgate_mcp_list_release(list);
    } else {
        ngx_toolgate_mcp_accept(mcp, list);
    }

    if (mcp->reading != NULL) {
        tg_source_wait(&ngx_toolgate_sched, source);
    }
}

ngx_int_t
ngx_toolgate_mcp_take(ngx_toolgate_mcp_t *mcp, tg_str_t array)
{
    ngx_toolgate_mcp_list_t *list;

    list = ngx_toolgate_mcp_list_begin(mcp, array, ngx_worker != 0,
                                       ngx_cycle->log);

    if (list == NULL) {
        return NGX_ERROR;
    }

    if (mcp->reading != NULL) {
        ngx_toolgate_mcp_list_release(mcp->unread);
        mcp->unread = list;
        return NGX_OK;
    }

    mcp->reading = list;
    mcp->reader.run = ngx_toolgate_mcp_read_some;
    tg_source_wait(&ngx_toolgate_sched, &mcp->reader);

    return NGX_OK;
}
