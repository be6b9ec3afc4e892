/*
 * The catalogue of a server with MCP servers: a snapshot of what its config
 * has and what they list, made anew with each list.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "nginx/stream/ngx_toolgate_session.h"

/* What a catalogue borrows; its entries stand behind it. */
typedef struct {
    ngx_uint_t nlists;
    ngx_toolgate_mcp_list_t **lists; /* held */
    tg_entry_t *entries;
} ngx_toolgate_mcp_snapshot_t;

/* Where it is told what is left out, and how loud. */
typedef struct {
    ngx_log_t *log;
    ngx_uint_t level;
    ngx_uint_t is_quiet;
    ngx_uint_t nclashes;
} ngx_toolgate_mcp_clashes_t;

static void
ngx_toolgate_mcp_free_snapshot(void *memory)
{
    ngx_toolgate_mcp_snapshot_t *snapshot = memory;

    while (snapshot->nlists != 0) {
        ngx_toolgate_mcp_list_release(snapshot->lists[--snapshot->nlists]);
    }

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
        n += mcp[i]->list != NULL ? mcp[i]->list->ntools : 0;
    }

    snapshot = ngx_calloc(sizeof(ngx_toolgate_mcp_snapshot_t)
                              + n * sizeof(tg_entry_t)
                              + offer->servers.nelts * sizeof(void *),
                          log);

    if (snapshot == NULL) {
        return NULL;
    }

    snapshot->entries = (tg_entry_t *) (snapshot + 1);
    snapshot->lists = (ngx_toolgate_mcp_list_t **) (void *) (snapshot->entries
                                                             + n);

    for (i = 0; i < offer->servers.nelts; i++) {
        list = mcp[i]->list;

        if (list != NULL) {
            list->nholders++;
            snapshot->lists[snapshot->nlists++] = list;
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

/* Somebody else has the name: what is to be done about that. */
static void
ngx_toolgate_mcp_clash(ngx_toolgate_mcp_clashes_t *clashes,
                       const ngx_toolgate_mcp_tool_t *listed,
                       const tg_entry_t *first)
{
    const ngx_toolgate_mcp_t *other;
    ngx_uint_t level;

    other = ngx_toolgate_mcp_owner(first, listed);
    level = clashes->level;

    /* The right list may have no such tool. */
    if (listed->server->list->is_guess
        || (other != NULL && other->list->is_guess)) {
        level = NGX_LOG_WARN;
    } else {
        clashes->nclashes++;
    }

    if (clashes->is_quiet) {
        return;
    }

    ngx_log_error(level, clashes->log, 0,
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

/* Adds a server's tools, from *at on; what has a name already keeps it. */
static int
ngx_toolgate_mcp_add_list(tg_catalogue_t *catalogue, const tg_catalogue_t *base,
                          const ngx_toolgate_mcp_list_t *list, tg_entry_t **at,
                          ngx_toolgate_mcp_clashes_t *clashes)
{
    ngx_toolgate_mcp_tool_t *listed;
    const tg_entry_t *first;
    ngx_uint_t i;

    for (i = 0; i < list->ntools; i++) {
        listed = &list->tools[i];
        **at = listed->tool.entry;

        /* What the config names is named so, wherever it stands. */
        first = tg_catalogue_get(base, TG_ENTRY_TOOL, (*at)->name);

        if (first == NULL) {
            switch (tg_catalogue_add(catalogue, *at)) {
            case TG_OK:
                ++*at;
                continue;
            case TG_NOMEM:
                return TG_NOMEM;
            default:
                first = tg_catalogue_get(catalogue, TG_ENTRY_TOOL, (*at)->name);
            }
        }

        if (first != NULL) {
            ngx_toolgate_mcp_clash(clashes, listed, first);
        }
    }

    return TG_OK;
}

/* All entries, in the order of the config. */
static int
ngx_toolgate_mcp_fill(tg_catalogue_t *catalogue,
                      const ngx_toolgate_mcp_offer_t *offer, tg_entry_t *at,
                      ngx_toolgate_mcp_clashes_t *clashes)
{
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t k;
    size_t i, n;
    int rc;

    mcp = offer->servers.elts;
    n = tg_catalogue_size(offer->base);
    rc = TG_OK;

    for (i = 0, k = 0; i <= n && rc == TG_OK; i++) {
        for (/* void */;
             rc == TG_OK && k < offer->servers.nelts && mcp[k]->at == i; k++)
        {
            rc = mcp[k]->list != NULL
                     ? ngx_toolgate_mcp_add_list(catalogue, offer->base,
                                                 mcp[k]->list, &at, clashes)
                     : TG_OK;
        }

        if (i < n && rc == TG_OK) {
            *at = *tg_catalogue_at(offer->base, i);
            rc = tg_catalogue_add(catalogue, at++);
        }
    }

    return rc;
}

/* A new catalogue, held once; NULL: no memory. */
static tg_catalogue_t *
ngx_toolgate_mcp_compose(const ngx_toolgate_mcp_offer_t *offer,
                         ngx_toolgate_mcp_clashes_t *clashes)
{
    ngx_toolgate_mcp_snapshot_t *snapshot;
    tg_catalogue_t *catalogue;

    snapshot = ngx_toolgate_mcp_new_snapshot(offer, clashes->log);
    catalogue = snapshot != NULL ? tg_catalogue_new(tg_alloc_libc()) : NULL;

    if (catalogue == NULL) {
        if (snapshot != NULL) {
            ngx_toolgate_mcp_free_snapshot(snapshot);
        }

        return NULL;
    }

    tg_catalogue_own(catalogue, snapshot, ngx_toolgate_mcp_free_snapshot);
    tg_catalogue_seed(catalogue, ((uint64_t) ngx_random() << 32)
                                     ^ (uint64_t) ngx_random());

    if (ngx_toolgate_mcp_fill(catalogue, offer, snapshot->entries, clashes)
            != TG_OK
        || tg_catalogue_seal(catalogue) != TG_OK)
    {
        tg_catalogue_release(catalogue);
        return NULL;
    }

    return catalogue;
}

void
ngx_toolgate_mcp_put_clashes(const ngx_toolgate_mcp_t *mcp, tg_buf_t *json)
{
    const ngx_toolgate_mcp_tool_t *listed;
    const ngx_toolgate_mcp_t *other;
    const tg_entry_t *first;
    ngx_uint_t i, n;

    for (i = 0, n = 0; mcp->list != NULL && i < mcp->list->ntools; i++) {
        listed = &mcp->list->tools[i];
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

/* --- a list that came --- */

/* A list of fewer bytes is read at once. */
#define NGX_TOOLGATE_MCP_LONG 65536
/* Bytes of tools in one step, and the scheduler's steps in a byte of them. */
#define NGX_TOOLGATE_MCP_PART 4096
#define NGX_TOOLGATE_MCP_BYTE 32

/* Offers a list that was read to clients; it is the server's then. */
static ngx_int_t
ngx_toolgate_mcp_accept(ngx_toolgate_mcp_t *mcp, ngx_toolgate_mcp_list_t *list)
{
    ngx_toolgate_mcp_clashes_t clashes;
    tg_catalogue_t *catalogue, *before;
    ngx_toolgate_mcp_list_t *old;

    /* All workers hear the same; one tells it. */
    ngx_memzero(&clashes, sizeof(clashes));
    clashes.log = ngx_cycle->log;
    clashes.level = NGX_LOG_WARN;
    clashes.is_quiet = ngx_worker != 0;
    old = mcp->list;
    mcp->list = list;
    catalogue = ngx_toolgate_mcp_compose(mcp->offer, &clashes);

    if (catalogue == NULL) {
        mcp->list = old;
        ngx_toolgate_mcp_list_release(list);
        return NGX_ERROR;
    }

    before = tg_catalogue_hold(mcp->offer->scf->catalogue);
    ngx_toolgate_session_offer(mcp->offer->scf, catalogue);
    ngx_toolgate_session_unpark(mcp->offer->scf);
    tg_catalogue_release(catalogue);

    if (!clashes.is_quiet) {
        ngx_toolgate_check_list(mcp->offer->scf, before, clashes.log);
    }

    tg_catalogue_release(before);
    ngx_toolgate_mcp_compile_list(mcp);
    ngx_toolgate_mcp_list_release(old);

    return NGX_OK;
}

static void
ngx_toolgate_mcp_read_some(tg_source_t *source)
{
    ngx_toolgate_mcp_list_t *list;
    ngx_toolgate_mcp_t *mcp;
    ngx_int_t rc;

    mcp = ngx_queue_data(source, ngx_toolgate_mcp_t, reader);
    list = mcp->reading;

    if (list == NULL || ngx_exiting || ngx_terminate) {
        return;
    }

    do {
        rc = ngx_toolgate_mcp_list_read(mcp, list, NGX_TOOLGATE_MCP_PART,
                                        ngx_worker != 0, ngx_cycle->log);
    } while (
        rc == NGX_AGAIN
        && !tg_slice_is_over(&ngx_toolgate_sched, source,
                             NGX_TOOLGATE_MCP_PART * NGX_TOOLGATE_MCP_BYTE));

    if (rc == NGX_AGAIN) {
        return;
    }

    mcp->reading = NULL;

    if (rc == NGX_ERROR) {
        ngx_toolgate_mcp_list_release(list);
    } else {
        rc = ngx_toolgate_mcp_accept(mcp, list);
    }

    if (rc == NGX_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "no memory for the list of mcp_server \"%V\"",
                      &mcp->name);
    }
}

ngx_int_t
ngx_toolgate_mcp_take(ngx_toolgate_mcp_t *mcp, tg_str_t array)
{
    ngx_toolgate_mcp_list_t *list;

    if (mcp->reading != NULL && tg_str_eq(mcp->reading->raw, array)) {
        return NGX_DECLINED;
    }

    /* Another one has come before it was read. */
    tg_source_leave(&ngx_toolgate_sched, &mcp->reader);
    ngx_toolgate_mcp_list_release(mcp->reading);
    mcp->reading = NULL;

    if (mcp->list != NULL && tg_str_eq(mcp->list->raw, array)) {
        return NGX_DECLINED;
    }

    if (array.len < NGX_TOOLGATE_MCP_LONG) {
        list = ngx_toolgate_mcp_list_new(mcp, array, ngx_worker != 0,
                                         ngx_cycle->log);

        return list != NULL ? ngx_toolgate_mcp_accept(mcp, list) : NGX_ERROR;
    }

    mcp->reading = ngx_toolgate_mcp_list_begin(array, ngx_cycle->log);

    if (mcp->reading == NULL) {
        return NGX_ERROR;
    }

    mcp->reader.run = ngx_toolgate_mcp_read_some;
    tg_source_wait(&ngx_toolgate_sched, &mcp->reader);

    return NGX_OK;
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
    ngx_toolgate_mcp_t **mcp;
    tg_catalogue_t *catalogue;
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

    catalogue = rc == NGX_OK ? ngx_toolgate_mcp_compose(offer, clashes) : NULL;

    if (catalogue == NULL) {
        return NGX_ERROR;
    }

    tg_catalogue_release(offer->scf->catalogue);
    offer->scf->catalogue = catalogue;
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
