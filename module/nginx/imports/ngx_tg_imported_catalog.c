/* The catalog of the config's entries and the lists; rebuilt for a new list. */
#include "nginx/imports/ngx_tg_imports.h"

/* Memory that a catalog borrows; the entries follow this struct. */
typedef struct {
    tg_catalog_t *config_catalog; /* with a reference */
    ngx_uint_t nlists;
    /* list of each server with a reference, or NULL */
    ngx_tg_imported_list_t **lists;
    tg_catalog_entry_t *entries;
} ngx_tg_catalog_snapshot_t;

/* A catalog that is being built, with its next entry. */
struct ngx_tg_catalog_builder_s {
    const ngx_tg_imported_catalog_t *imports;
    ngx_tg_name_conflict_log_t clashes;
    ngx_tg_catalog_snapshot_t *snapshot; /* memory of the catalog */
    tg_catalog_t *catalog;
    tg_catalog_entry_t *entry; /* next free entry */
    size_t at;                 /* index among the config's entries */
    ngx_uint_t server;
    ngx_uint_t tool;          /* index in its list */
    ngx_uint_t has_catch_all; /* the templates for unlisted URIs were added */
};

/* Bytes of tool listings that are rendered per step. */
#define NGX_TG_CATALOG_SEAL_BYTES 65536

static void
ngx_tg_catalog_snapshot_free(void *memory)
{
    ngx_tg_catalog_snapshot_t *snapshot = memory;

    while (snapshot->nlists != 0) {
        ngx_tg_imported_list_release(snapshot->lists[--snapshot->nlists]);
    }

    tg_catalog_unref(snapshot->config_catalog);
    ngx_free(snapshot);
}

/* Allocates a snapshot for all entries, with references to all lists. */
static ngx_tg_catalog_snapshot_t *
ngx_tg_catalog_snapshot_create(const ngx_tg_imported_catalog_t *imports,
                               ngx_log_t *log)
{
    ngx_tg_catalog_snapshot_t *snapshot;
    ngx_tg_imported_list_t *list;
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i, n;

    mcp = imports->servers.elts;
    n = tg_catalog_size(imports->config_catalog);

    for (i = 0; i < imports->servers.nelts; i++) {
        list = mcp[i]->pending_list != NULL ? mcp[i]->pending_list
                                            : mcp[i]->list;
        n += list != NULL ? list->tools.nelts + 2 : 0;
    }

    snapshot = ngx_calloc(sizeof(ngx_tg_catalog_snapshot_t)
                              + n * sizeof(tg_catalog_entry_t)
                              + imports->servers.nelts * sizeof(void *),
                          log);

    if (snapshot == NULL) {
        return NULL;
    }

    snapshot->config_catalog = tg_catalog_ref(imports->config_catalog);
    snapshot->entries = (tg_catalog_entry_t *) (snapshot + 1);
    snapshot->lists = (ngx_tg_imported_list_t **) (void *) (snapshot->entries
                                                            + n);
    snapshot->nlists = imports->servers.nelts;

    for (i = 0; i < imports->servers.nelts; i++) {
        list = mcp[i]->pending_list != NULL ? mcp[i]->pending_list
                                            : mcp[i]->list;
        snapshot->lists[i] = list;

        if (list != NULL) {
            list->nrefs++;
        }
    }

    return snapshot;
}

/* Checks whether a list is from another server, before a config change. */
static ngx_uint_t
ngx_tg_catalog_builder_is_list_guess(const ngx_tg_catalog_builder_t *to,
                                     const ngx_tg_mcp_server_t *mcp)
{
    ngx_tg_mcp_server_t **servers;
    ngx_uint_t i;

    servers = to->imports->servers.elts;

    for (i = 0; i < to->imports->servers.nelts; i++) {
        if (servers[i] == mcp) {
            return to->snapshot->lists[i] != NULL
                   && to->snapshot->lists[i]->is_guessed;
        }
    }

    return 0;
}

/* Logs an item whose name another entry has, with a remedy. */
static void
ngx_tg_catalog_builder_log_conflict(ngx_tg_catalog_builder_t *to,
                                    const ngx_tg_imported_tool_t *listed,
                                    const tg_catalog_entry_t *first)
{
    const ngx_tg_mcp_server_t *other;
    ngx_uint_t level, is_repeated;

    other = ngx_tg_entry_get_mcp_server(first, listed);
    is_repeated = other == listed->server
                  && listed->tool.entry.kind != TG_ENTRY_TOOL;
    level = to->clashes.level;

    /*
     * Only warn: the server's real list may not contain the tool; and no prefix
     * changes that a server repeats itself.
     */
    if (is_repeated || ngx_tg_catalog_builder_is_list_guess(to, listed->server)
        || (other != NULL && ngx_tg_catalog_builder_is_list_guess(to, other)))
    {
        level = NGX_LOG_WARN;
    } else {
        to->clashes.nclashes++;
    }

    if (to->clashes.is_quiet) {
        return;
    }

    ngx_log_error(level, to->clashes.log, 0,
                  "%s %*s of mcp_server \"%V\" would be named \"%*s\", which "
                  "%s%V%s already uses%s%s",
                  ngx_tg_entry_get_noun(&listed->tool.entry), listed->name.len,
                  listed->name.data, &listed->server->name,
                  listed->tool.entry.name.len, listed->tool.entry.name.data,
                  other != NULL ? "mcp_server \"" : "the config",
                  other != NULL ? &other->name : &(ngx_str_t) ngx_null_string,
                  other != NULL ? "\"" : "",
                  level == NGX_LOG_EMERG ? "" : ": it is omitted",
                  is_repeated ? ""
                              : "; choose another \"prefix\" for it, or "
                                "\"hide\" one of them");
}

/*
 * Adds an entry, unless its name is taken. Returns TG_OK, TG_EXISTS with the
 * entry of that name, or TG_NOMEM.
 */
static int
ngx_tg_catalog_builder_add_entry(ngx_tg_catalog_builder_t *to,
                                 const tg_catalog_entry_t *from,
                                 const tg_catalog_entry_t **first)
{
    tg_catalog_entry_t *entry;
    int rc;

    entry = to->entry;
    *entry = *from;

    /* Entries of the config keep their names, even if they follow the block. */
    *first = tg_catalog_find(to->imports->config_catalog, entry->kind,
                             entry->name);
    rc = *first != NULL ? TG_EXISTS : tg_catalog_add(to->catalog, entry);

    if (rc == TG_OK) {
        to->entry++;
    } else if (rc != TG_NOMEM && *first == NULL) {
        *first = tg_catalog_find(to->catalog, entry->kind, entry->name);
    }

    return rc == TG_OK || rc == TG_NOMEM ? rc : TG_EXISTS;
}

/* Makes the entry of a resource or template that is named NAME+URI. */
static tg_catalog_entry_t
ngx_tg_imported_item_make_renamed_entry(const ngx_tg_imported_tool_t *listed)
{
    tg_catalog_entry_t entry;

    entry = listed->tool.entry;
    entry.name = listed->renamed;
    entry.listing = listed->renamed_listing;
    entry.uri_template = listed->renamed_template;
    entry.digest = 0;
    tg_catalog_entry_set_digest(&entry);

    return entry;
}

/* Adds an item; of two URIs, the later one gets the name of its server. */
static int
ngx_tg_catalog_builder_add_tool(ngx_tg_catalog_builder_t *to,
                                ngx_tg_imported_tool_t *listed)
{
    const tg_catalog_entry_t *first;
    tg_catalog_entry_t entry;
    ngx_uint_t is_new;
    int rc;

    rc = ngx_tg_catalog_builder_add_entry(to, &listed->tool.entry, &first);

    if (rc == TG_EXISTS
        && (listed->tool.entry.kind == TG_ENTRY_RESOURCE
            || listed->tool.entry.kind == TG_ENTRY_TEMPLATE)
        && ngx_tg_entry_get_mcp_server(first, listed) != listed->server)
    {
        is_new = listed->renamed.data == NULL;

        if (ngx_tg_imported_item_rename(listed) != NGX_OK) {
            return TG_NOMEM;
        }

        if (is_new) {
            ngx_tg_imported_item_log_renamed(&to->clashes, listed, first);
        }

        entry = ngx_tg_imported_item_make_renamed_entry(listed);
        rc = ngx_tg_catalog_builder_add_entry(to, &entry, &first);
    }

    if (rc == TG_EXISTS) {
        ngx_tg_catalog_builder_log_conflict(to, listed, first);
        return TG_OK;
    }

    return rc;
}

/*
 * Adds the templates for URIs that no list contains: NAME+URI for each server,
 * and any URI if only one server has resources.
 */
static int
ngx_tg_catalog_builder_add_catch_alls(ngx_tg_catalog_builder_t *to)
{
    ngx_tg_imported_tool_t *listed, *last;
    const tg_catalog_entry_t *first;
    tg_catalog_entry_t entry;
    ngx_uint_t i, n;
    int rc;

    to->has_catch_all = 1;
    last = NULL;
    rc = TG_OK;

    for (i = 0, n = 0; rc != TG_NOMEM && i < to->imports->servers.nelts; i++) {
        listed = to->snapshot->lists[i] != NULL
                     ? to->snapshot->lists[i]->catch_all
                     : NULL;

        if (listed != NULL) {
            last = listed;
            n++;
            entry = ngx_tg_imported_item_make_renamed_entry(listed);
            rc = ngx_tg_catalog_builder_add_entry(to, &entry, &first);
        }
    }

    if (n == 1 && rc != TG_NOMEM) {
        rc = ngx_tg_catalog_builder_add_entry(to, &last->tool.entry, &first);
    }

    return rc == TG_NOMEM ? TG_NOMEM : TG_OK;
}

/* Adds the next entry. Returns TG_OK, TG_END after the last, or TG_NOMEM. */
static int
ngx_tg_catalog_builder_add_next(ngx_tg_catalog_builder_t *to)
{
    const ngx_tg_imported_list_t *list;
    ngx_tg_mcp_server_t **mcp;
    int rc;

    mcp = to->imports->servers.elts;

    if (to->server < to->imports->servers.nelts
        && mcp[to->server]->at == to->at) {
        list = to->snapshot->lists[to->server];

        if (list != NULL && to->tool < list->tools.nelts) {
            return ngx_tg_catalog_builder_add_tool(
                to, ngx_tg_imported_list_get_tool(list, to->tool++));
        }

        to->server++;
        to->tool = 0;
        return TG_OK;
    }

    if (to->at == tg_catalog_size(to->imports->config_catalog)) {
        return to->has_catch_all ? TG_END
                                 : ngx_tg_catalog_builder_add_catch_alls(to);
    }

    *to->entry = *tg_catalog_get_entry(to->imports->config_catalog, to->at++);
    rc = tg_catalog_add(to->catalog, to->entry);
    to->entry++;

    return rc;
}

ngx_tg_catalog_builder_t *
ngx_tg_catalog_builder_create(const ngx_tg_imported_catalog_t *imports,
                              const ngx_tg_name_conflict_log_t *clashes)
{
    ngx_tg_catalog_builder_t *to;

    to = ngx_calloc(sizeof(ngx_tg_catalog_builder_t), clashes->log);

    if (to == NULL) {
        return NULL;
    }

    to->imports = imports;
    to->clashes = *clashes;
    to->snapshot = ngx_tg_catalog_snapshot_create(imports, clashes->log);
    to->catalog = to->snapshot != NULL ? tg_catalog_new(tg_alloc_libc()) : NULL;

    if (to->catalog == NULL) {
        if (to->snapshot != NULL) {
            ngx_tg_catalog_snapshot_free(to->snapshot);
        }

        ngx_free(to);
        return NULL;
    }

    to->entry = to->snapshot->entries;
    tg_catalog_set_memory(to->catalog, to->snapshot,
                          ngx_tg_catalog_snapshot_free);
    tg_catalog_set_seed(to->catalog, ((uint64_t) ngx_random() << 32)
                                         ^ (uint64_t) ngx_random());

    return to;
}

ngx_int_t
ngx_tg_catalog_builder_add_some(ngx_tg_catalog_builder_t *to, ngx_uint_t n)
{
    ngx_uint_t i;
    int rc;

    for (i = 0; i < n; i++) {
        rc = ngx_tg_catalog_builder_add_next(to);

        if (rc == TG_END) {
            rc = tg_catalog_seal_step(to->catalog, NGX_TG_CATALOG_SEAL_BYTES);
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

tg_catalog_t *
ngx_tg_catalog_builder_get_catalog(const ngx_tg_catalog_builder_t *builder)
{
    return builder->catalog;
}

ngx_tg_imported_list_t *
ngx_tg_catalog_builder_get_list(const ngx_tg_catalog_builder_t *builder,
                                ngx_uint_t server)
{
    return builder->snapshot->lists[server];
}

void
ngx_tg_catalog_builder_free(ngx_tg_catalog_builder_t *builder)
{
    if (builder != NULL) {
        tg_catalog_unref(builder->catalog);
        ngx_free(builder);
    }
}

/* --- config load --- */

static void
ngx_tg_imported_catalog_release_base(void *data)
{
    ngx_tg_imported_catalog_t *imports = data;

    tg_catalog_unref(imports->config_catalog);
}

/* Checks that names of the block's tools do not conflict with the config. */
static ngx_int_t
ngx_tg_mcp_server_check_tool_blocks(const ngx_tg_mcp_server_t *mcp,
                                    ngx_log_t *log)
{
    char room[TG_NAME_AGENT_MAX];
    ngx_tg_tool_t **tool;
    tg_str_t name, client_name;
    ngx_uint_t i;

    for (i = 0; mcp->tools != NULL && i < mcp->tools->nelts; i++) {
        tool = mcp->tools->elts;
        name = tool[i]->entry.name;
        client_name = ngx_tg_imported_tool_get_names(mcp, &name, room);

        if (tg_catalog_find(mcp->imports->config_catalog, TG_ENTRY_TOOL,
                            client_name)
            != NULL)
        {
            ngx_log_error(NGX_LOG_EMERG, log, 0,
                          "tool \"%*s\" of mcp_server \"%V\" would be named "
                          "\"%*s\", which the config already uses; choose "
                          "another \"prefix\", or rename the other",
                          tool[i]->entry.name.len, tool[i]->entry.name.data,
                          &mcp->name, client_name.len, client_name.data);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Builds a catalog at config load, with the stored lists. */
static ngx_int_t
ngx_tg_imported_catalog_finalize(ngx_cycle_t *cycle,
                                 ngx_tg_imported_catalog_t *imports,
                                 ngx_tg_name_conflict_log_t *clashes)
{
    ngx_tg_catalog_builder_t *builder;
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i;
    ngx_int_t rc;

    mcp = imports->servers.elts;
    rc = NGX_OK;

    for (i = 0; rc == NGX_OK && i < imports->servers.nelts; i++) {
        rc = ngx_tg_mcp_server_check_tool_blocks(mcp[i], clashes->log);

        if (rc == NGX_OK) {
            rc = ngx_tg_imported_list_cache_read(cycle, mcp[i]);
        }
    }

    builder = rc == NGX_OK ? ngx_tg_catalog_builder_create(imports, clashes)
                           : NULL;

    do {
        rc = builder != NULL
                 ? ngx_tg_catalog_builder_add_some(builder,
                                                   NGX_MAX_SIZE_T_VALUE)
                 : NGX_ERROR;
    } while (rc == NGX_AGAIN);

    if (rc != NGX_OK) {
        ngx_tg_catalog_builder_free(builder);
        return NGX_ERROR;
    }

    tg_catalog_unref(imports->scf->catalog);
    imports->scf->catalog = tg_catalog_ref(builder->catalog);
    clashes->nclashes = builder->clashes.nclashes;
    ngx_tg_catalog_builder_free(builder);
    ngx_tg_server_check_list_size(imports->scf, imports->config_catalog,
                                  clashes->log);

    return clashes->nclashes == 0 || clashes->level != NGX_LOG_EMERG
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_tg_imports_finalize_config(ngx_cycle_t *cycle)
{
    ngx_tg_name_conflict_log_t clashes;
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_imported_catalog_t **imports;
    ngx_pool_cleanup_t *cln;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_imports_module);
    imports = mmcf->imported_catalogs.elts;

    /*
     * Conflicts are errors under `nginx -t` and at a reload. At a start they
     * are warnings, because a changed list must not prevent it.
     */
    ngx_memzero(&clashes, sizeof(clashes));
    clashes.log = cycle->log;
    clashes.level = ngx_test_config || !ngx_is_init_cycle(cycle->old_cycle)
                        ? NGX_LOG_EMERG
                        : NGX_LOG_WARN;

    for (i = 0; i < mmcf->imported_catalogs.nelts; i++) {
        cln = ngx_pool_cleanup_add(cycle->pool, 0);

        if (cln == NULL) {
            return NGX_ERROR;
        }

        imports[i]->config_catalog = tg_catalog_ref(imports[i]->scf->catalog);
        cln->handler = ngx_tg_imported_catalog_release_base;
        cln->data = imports[i];

        if (ngx_tg_imported_catalog_finalize(cycle, imports[i], &clashes)
            != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
