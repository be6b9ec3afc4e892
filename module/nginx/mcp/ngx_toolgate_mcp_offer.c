/*
 * The catalogue of a server with MCP servers: a snapshot of what its config
 * has and what they list, made anew with each list.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

/* What a catalogue borrows; its entries stand behind it. */
typedef struct {
    tg_catalogue_t *base; /* held */
    ngx_uint_t nlists;
    ngx_toolgate_mcp_list_t **lists; /* of each server, held; or NULL */
    tg_entry_t *entries;
} ngx_toolgate_mcp_snapshot_t;

/* A catalogue that is being made: what is next in the order of the config. */
struct ngx_toolgate_mcp_composition_s {
    const ngx_toolgate_mcp_offer_t *offer;
    ngx_toolgate_mcp_clashes_t clashes;
    ngx_toolgate_mcp_snapshot_t *snapshot; /* the catalogue's */
    tg_catalogue_t *catalogue;
    tg_entry_t *entry; /* the next free one */
    size_t at;         /* of the config's entries */
    ngx_uint_t server;
    ngx_uint_t tool; /* of its list */
};

/* Bytes of listings that are rendered in a step; usually there are none. */
#define NGX_TOOLGATE_MCP_SEAL 65536

static void
ngx_toolgate_mcp_free_snapshot(void *memory)
{
    ngx_toolgate_mcp_snapshot_t *snapshot = memory;

    while (snapshot->nlists != 0) {
        ngx_toolgate_mcp_list_release(snapshot->lists[--snapshot->nlists]);
    }

    tg_catalogue_release(snapshot->base);
    ngx_free(snapshot);
}

/* With room for all entries, and all lists held. */
static ngx_toolgate_mcp_snapshot_t *
ngx_toolgate_mcp_new_snapshot(const ngx_toolgate_mcp_offer_t *offer,
                              ngx_log_t *log)
{
    ngx_toolgate_mcp_snapshot_t *snapshot;
    ngx_toolgate_mcp_list_t *list;
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t i, n;

    mcp = offer->servers.elts;
    n = tg_catalogue_size(offer->base);

    for (i = 0; i < offer->servers.nelts; i++) {
        list = mcp[i]->coming != NULL ? mcp[i]->coming : mcp[i]->list;
        n += list != NULL ? list->tools.nelts : 0;
    }

    snapshot = ngx_calloc(sizeof(ngx_toolgate_mcp_snapshot_t)
                              + n * sizeof(tg_entry_t)
                              + offer->servers.nelts * sizeof(void *),
                          log);

    if (snapshot == NULL) {
        return NULL;
    }

    snapshot->base = tg_catalogue_hold(offer->base);
    snapshot->entries = (tg_entry_t *) (snapshot + 1);
    snapshot->lists = (ngx_toolgate_mcp_list_t **) (void *) (snapshot->entries
                                                             + n);
    snapshot->nlists = offer->servers.nelts;

    for (i = 0; i < offer->servers.nelts; i++) {
        list = mcp[i]->coming != NULL ? mcp[i]->coming : mcp[i]->list;
        snapshot->lists[i] = list;

        if (list != NULL) {
            list->nholders++;
        }
    }

    return snapshot;
}

/* Whose tool has the name of this one; NULL: the config's. */
static const ngx_toolgate_mcp_t *
ngx_toolgate_mcp_owner(const tg_entry_t *entry,
                       const ngx_toolgate_mcp_tool_t *listed)
{
    const ngx_toolgate_tool_t *tool;

    tool = entry->host;

    return tool->handler == listed->tool.handler
               ? ((ngx_toolgate_mcp_tool_t *) tool->conf)->server
               : NULL;
}

/* Is the list of a server that of another one? */
static ngx_uint_t
ngx_toolgate_mcp_is_guess(const ngx_toolgate_mcp_composition_t *to,
                          const ngx_toolgate_mcp_t *mcp)
{
    ngx_toolgate_mcp_t **servers;
    ngx_uint_t i;

    servers = to->offer->servers.elts;

    for (i = 0; i < to->offer->servers.nelts; i++) {
        if (servers[i] == mcp) {
            return to->snapshot->lists[i] != NULL
                   && to->snapshot->lists[i]->is_guess;
        }
    }

    return 0;
}

/* Somebody else has the name: what is to be done about that. */
static void
ngx_toolgate_mcp_clash(ngx_toolgate_mcp_composition_t *to,
                       const ngx_toolgate_mcp_tool_t *listed,
                       const tg_entry_t *first)
{
    const ngx_toolgate_mcp_t *other;
    ngx_uint_t level;

    other = ngx_toolgate_mcp_owner(first, listed);
    level = to->clashes.level;

    /* The right list may have no such tool. */
    if (ngx_toolgate_mcp_is_guess(to, listed->server)
        || (other != NULL && ngx_toolgate_mcp_is_guess(to, other)))
    {
        level = NGX_LOG_WARN;
    } else {
        to->clashes.nclashes++;
    }

    if (to->clashes.is_quiet) {
        return;
    }

    ngx_log_error(level, to->clashes.log, 0,
                  "tool %*s of mcp_server \"%V\" would be \"%*s\", which "
                  "%s%V%s has already%s; choose another \"prefix\" for it, or "
                  "\"hide\" one of them",
                  listed->name.len, listed->name.data, &listed->server->name,
                  listed->tool.entry.name.len, listed->tool.entry.name.data,
                  other != NULL ? "mcp_server \"" : "the config",
                  other != NULL ? &other->name : &(ngx_str_t) ngx_null_string,
                  other != NULL ? "\"" : "",
                  level == NGX_LOG_EMERG ? "" : ": it is left out");
}

/* Adds a tool; what has a name already keeps it. */
static int
ngx_toolgate_mcp_add_tool(ngx_toolgate_mcp_composition_t *to,
                          const ngx_toolgate_mcp_tool_t *listed)
{
    const tg_entry_t *first;
    tg_entry_t *entry;

    entry = to->entry;
    *entry = listed->tool.entry;

    /* What the config names is named so, wherever it stands. */
    first = tg_catalogue_get(to->offer->base, TG_ENTRY_TOOL, entry->name);

    if (first == NULL) {
        switch (tg_catalogue_add(to->catalogue, entry)) {
        case TG_OK:
            to->entry++;
            return TG_OK;
        case TG_NOMEM:
            return TG_NOMEM;
        default:
            first = tg_catalogue_get(to->catalogue, TG_ENTRY_TOOL, entry->name);
        }
    }

    if (first != NULL) {
        ngx_toolgate_mcp_clash(to, listed, first);
    }

    return TG_OK;
}

/* Adds what is next in the order of the config; TG_END: nothing is. */
static int
ngx_toolgate_mcp_add_next(ngx_toolgate_mcp_composition_t *to)
{
    const ngx_toolgate_mcp_list_t *list;
    ngx_toolgate_mcp_t **mcp;
    int rc;

    mcp = to->offer->servers.elts;

    if (to->server < to->offer->servers.nelts && mcp[to->server]->at == to->at)
    {
        list = to->snapshot->lists[to->server];

        if (list != NULL && to->tool < list->tools.nelts) {
            return ngx_toolgate_mcp_add_tool(
                to, ngx_toolgate_mcp_list_tool(list, to->tool++));
        }

        to->server++;
        to->tool = 0;
        return TG_OK;
    }

    if (to->at == tg_catalogue_size(to->offer->base)) {
        return TG_END;
    }

    *to->entry = *tg_catalogue_at(to->offer->base, to->at++);
    rc = tg_catalogue_add(to->catalogue, to->entry);
    to->entry++;

    return rc;
}

ngx_toolgate_mcp_composition_t *
ngx_toolgate_mcp_compose_begin(const ngx_toolgate_mcp_offer_t *offer,
                               const ngx_toolgate_mcp_clashes_t *clashes)
{
    ngx_toolgate_mcp_composition_t *to;

    to = ngx_calloc(sizeof(ngx_toolgate_mcp_composition_t), clashes->log);

    if (to == NULL) {
        return NULL;
    }

    to->offer = offer;
    to->clashes = *clashes;
    to->snapshot = ngx_toolgate_mcp_new_snapshot(offer, clashes->log);
    to->catalogue = to->snapshot != NULL ? tg_catalogue_new(tg_alloc_libc())
                                         : NULL;

    if (to->catalogue == NULL) {
        if (to->snapshot != NULL) {
            ngx_toolgate_mcp_free_snapshot(to->snapshot);
        }

        ngx_free(to);
        return NULL;
    }

    to->entry = to->snapshot->entries;
    tg_catalogue_own(to->catalogue, to->snapshot,
                     ngx_toolgate_mcp_free_snapshot);
    tg_catalogue_seed(to->catalogue, ((uint64_t) ngx_random() << 32)
                                         ^ (uint64_t) ngx_random());

    return to;
}

ngx_int_t
ngx_toolgate_mcp_compose_some(ngx_toolgate_mcp_composition_t *to, ngx_uint_t n)
{
    ngx_uint_t i;
    int rc;

    for (i = 0; i < n; i++) {
        rc = ngx_toolgate_mcp_add_next(to);

        if (rc == TG_END) {
            rc = tg_catalogue_seal_some(to->catalogue, NGX_TOOLGATE_MCP_SEAL);
            return rc == TG_OK      ? NGX_OK
                   : rc == TG_AGAIN ? NGX_AGAIN
                                    : NGX_ERROR;
        }

        if (rc != TG_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_AGAIN;
}

tg_catalogue_t *
ngx_toolgate_mcp_composed(const ngx_toolgate_mcp_composition_t *composition)
{
    return composition->catalogue;
}

ngx_toolgate_mcp_list_t *
ngx_toolgate_mcp_composed_list(
    const ngx_toolgate_mcp_composition_t *composition, ngx_uint_t server)
{
    return composition->snapshot->lists[server];
}

void
ngx_toolgate_mcp_compose_end(ngx_toolgate_mcp_composition_t *composition)
{
    if (composition != NULL) {
        tg_catalogue_release(composition->catalogue);
        ngx_free(composition);
    }
}

void
ngx_toolgate_mcp_put_clashes(const ngx_toolgate_mcp_t *mcp, tg_buf_t *json)
{
    const ngx_toolgate_mcp_tool_t *listed;
    const ngx_toolgate_mcp_t *other;
    const tg_entry_t *first;
    ngx_uint_t i, n;

    for (i = 0, n = 0; mcp->list != NULL && i < mcp->list->tools.nelts; i++) {
        listed = ngx_toolgate_mcp_list_tool(mcp->list, i);
        first = tg_catalogue_get(mcp->offer->scf->catalogue, TG_ENTRY_TOOL,
                                 listed->tool.entry.name);

        if (first == NULL || first->host == &listed->tool) {
            continue;
        }

        tg_buf_text(json, n++ == 0 ? ",\"clashes\":[{" : ",{");
        tg_json_put_member(json, "\"tool\":", listed->name);
        tg_buf_text(json, ",\"name\":");
        tg_json_put_string(json, listed->tool.entry.name);
        other = ngx_toolgate_mcp_owner(first, listed);

        if (other != NULL) {
            tg_buf_text(json, ",\"mcp_server\":");
            tg_json_put_string(json, ngx_toolgate_str(&other->name));
        }

        tg_buf_char(json, '}');
    }

    if (n != 0) {
        tg_buf_char(json, ']');
    }
}

/* --- at load --- */

static void
ngx_toolgate_mcp_release_base(void *data)
{
    ngx_toolgate_mcp_offer_t *offer = data;

    tg_catalogue_release(offer->base);
}

/* What blocks name is there, or will be, under a name that is known now. */
static ngx_int_t
ngx_toolgate_mcp_check_blocks(const ngx_toolgate_mcp_t *mcp, ngx_log_t *log)
{
    char room[TG_NAME_AGENT_MAX];
    ngx_toolgate_tool_t **tool;
    tg_str_t name, here;
    ngx_uint_t i;

    for (i = 0; mcp->tools != NULL && i < mcp->tools->nelts; i++) {
        tool = mcp->tools->elts;
        name = tool[i]->entry.name;
        here = ngx_toolgate_mcp_names(mcp, &name, room);

        if (tg_catalogue_get(mcp->offer->base, TG_ENTRY_TOOL, here) != NULL) {
            ngx_log_error(NGX_LOG_EMERG, log, 0,
                          "tool \"%*s\" of mcp_server \"%V\" would be \"%*s\", "
                          "which the config has already; choose another "
                          "\"prefix\", or rename the other",
                          tool[i]->entry.name.len, tool[i]->entry.name.data,
                          &mcp->name, here.len, here.data);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Of those lists that were kept. */
static ngx_int_t
ngx_toolgate_mcp_settle_offer(ngx_cycle_t *cycle,
                              ngx_toolgate_mcp_offer_t *offer,
                              ngx_toolgate_mcp_clashes_t *clashes)
{
    ngx_toolgate_mcp_composition_t *composition;
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t i;
    ngx_int_t rc;

    mcp = offer->servers.elts;
    rc = NGX_OK;

    for (i = 0; rc == NGX_OK && i < offer->servers.nelts; i++) {
        rc = ngx_toolgate_mcp_check_blocks(mcp[i], clashes->log);

        if (rc == NGX_OK) {
            rc = ngx_toolgate_mcp_read_kept(cycle, mcp[i]);
        }
    }

    composition = rc == NGX_OK ? ngx_toolgate_mcp_compose_begin(offer, clashes)
                               : NULL;

    do {
        rc = composition != NULL
                 ? ngx_toolgate_mcp_compose_some(composition,
                                                 NGX_MAX_SIZE_T_VALUE)
                 : NGX_ERROR;
    } while (rc == NGX_AGAIN);

    if (rc != NGX_OK) {
        ngx_toolgate_mcp_compose_end(composition);
        return NGX_ERROR;
    }

    tg_catalogue_release(offer->scf->catalogue);
    offer->scf->catalogue = tg_catalogue_hold(composition->catalogue);
    clashes->nclashes = composition->clashes.nclashes;
    ngx_toolgate_mcp_compose_end(composition);
    ngx_toolgate_check_list(offer->scf, offer->base, clashes->log);

    return clashes->nclashes == 0 || clashes->level != NGX_LOG_EMERG
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_toolgate_mcp_settle(ngx_cycle_t *cycle)
{
    ngx_toolgate_mcp_clashes_t clashes;
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_toolgate_mcp_offer_t **offer;
    ngx_pool_cleanup_t *cln;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                 ngx_toolgate_mcp_module);
    offer = mmcf->offers.elts;

    /*
     * Who writes a config is told; but a list that has changed since does not
     * keep NGINX from its start.
     */
    ngx_memzero(&clashes, sizeof(clashes));
    clashes.log = cycle->log;
    clashes.level = ngx_test_config || !ngx_is_init_cycle(cycle->old_cycle)
                        ? NGX_LOG_EMERG
                        : NGX_LOG_WARN;

    for (i = 0; i < mmcf->offers.nelts; i++) {
        cln = ngx_pool_cleanup_add(cycle->pool, 0);

        if (cln == NULL) {
            return NGX_ERROR;
        }

        offer[i]->base = tg_catalogue_hold(offer[i]->scf->catalogue);
        cln->handler = ngx_toolgate_mcp_release_base;
        cln->data = offer[i];

        if (ngx_toolgate_mcp_settle_offer(cycle, offer[i], &clashes) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
