/*
 * Update of an imported list: it is read, built into the catalog, and offered,
 * in time slices. The previous lists are used until then. The newest list that
 * arrives meanwhile waits, so that constant changes still reach clients and a
 * worker holds few lists at once.
 */
#include "nginx/imports/ngx_tg_imports.h"

#include "nginx/session/ngx_tg_session.h"

/* Bytes of tools read per step, and steps charged per byte. */
#define NGX_TG_IMPORTED_LIST_READ_SIZE 4096
#define NGX_TG_IMPORTED_LIST_STEPS_PER_BYTE 4
/* Catalog entries added per step, and steps charged per entry. */
#define NGX_TG_CATALOG_ENTRIES_PER_STEP 16
#define NGX_TG_CATALOG_STEPS_PER_ENTRY 512

static void ngx_tg_imported_list_read_some(tg_sched_source_t *source);

static void
ngx_tg_imported_list_log_no_memory(const ngx_tg_srv_conf_t *scf)
{
    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "no memory for the list of an mcp_server of the server in "
                  "%s:%ui",
                  scf->file, scf->line);
}

/* Starts to read the list that waits, once no other is in progress. */
static void
ngx_tg_mcp_server_read_next(ngx_tg_mcp_server_t *mcp)
{
    if (mcp->queued_list == NULL || mcp->reading_list != NULL
        || mcp->pending_list != NULL)
    {
        return;
    }

    mcp->reading_list = mcp->queued_list;
    mcp->queued_list = NULL;
    mcp->reading_source.run = ngx_tg_imported_list_read_some;
    tg_sched_enqueue(&ngx_tg_sched, &mcp->reading_source);
}

/* --- catalog build --- */

static void
ngx_tg_imported_catalog_drop_pending(const ngx_tg_imported_catalog_t *imports)
{
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i;

    mcp = imports->servers.elts;

    for (i = 0; i < imports->servers.nelts; i++) {
        ngx_tg_imported_list_release(mcp[i]->pending_list);
        mcp[i]->pending_list = NULL;
        ngx_tg_mcp_server_read_next(mcp[i]);
    }
}

/* Replaces the server's current list by the one that is now in the catalog. */
static void
ngx_tg_mcp_server_set_list(ngx_tg_mcp_server_t *mcp,
                           ngx_tg_imported_list_t *list)
{
    if (list == NULL || list == mcp->list) {
        return;
    }

    list->nrefs++;
    ngx_tg_imported_list_release(mcp->list);
    mcp->list = list;

    if (mcp->pending_list == list) {
        ngx_tg_imported_list_release(list);
        mcp->pending_list = NULL;
    }

    ngx_tg_imported_list_compile_schemas(mcp);
}

static void
ngx_tg_imported_catalog_publish(ngx_tg_imported_catalog_t *imports)
{
    ngx_tg_catalog_builder_t *builder;
    tg_catalog_t *before;
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i;

    builder = imports->builder;
    imports->builder = NULL;
    mcp = imports->servers.elts;

    for (i = 0; i < imports->servers.nelts; i++) {
        ngx_tg_mcp_server_set_list(mcp[i],
                                   ngx_tg_catalog_builder_get_list(builder, i));
        ngx_tg_mcp_server_read_next(mcp[i]);
    }

    before = tg_catalog_ref(imports->scf->catalog);
    ngx_tg_server_set_catalog(imports->scf,
                              ngx_tg_catalog_builder_get_catalog(builder));
    ngx_tg_server_unpark_sessions(imports->scf);

    if (ngx_worker == 0) {
        ngx_tg_server_check_list_size(imports->scf, before, ngx_cycle->log);
    }

    tg_catalog_unref(before);
    ngx_tg_catalog_builder_free(builder);
}

/* Starts a build. Only one worker logs conflicts. */
static ngx_int_t
ngx_tg_imported_catalog_start_build(ngx_tg_imported_catalog_t *imports)
{
    ngx_tg_name_conflict_log_t clashes;

    ngx_memzero(&clashes, sizeof(clashes));
    clashes.log = ngx_cycle->log;
    clashes.level = NGX_LOG_WARN;
    clashes.is_quiet = ngx_worker != 0;
    imports->is_rebuild_due = 0;
    imports->builder = ngx_tg_catalog_builder_create(imports, &clashes);

    return imports->builder != NULL ? NGX_OK : NGX_ERROR;
}

static void
ngx_tg_imported_catalog_run_build(tg_sched_source_t *source)
{
    ngx_tg_imported_catalog_t *imports;
    ngx_int_t rc;

    imports = ngx_queue_data(source, ngx_tg_imported_catalog_t, source);

    if (ngx_tg_worker_is_exiting() || ngx_terminate) {
        return;
    }

    rc = imports->builder != NULL
             ? NGX_OK
             : ngx_tg_imported_catalog_start_build(imports);

    while (rc != NGX_ERROR) {
        rc = ngx_tg_catalog_builder_add_some(imports->builder,
                                             NGX_TG_CATALOG_ENTRIES_PER_STEP);

        if (rc == NGX_OK) {
            ngx_tg_imported_catalog_publish(imports);
            break;
        }

        if (rc == NGX_AGAIN
            && tg_sched_is_slice_over(&ngx_tg_sched, source,
                                      NGX_TG_CATALOG_ENTRIES_PER_STEP
                                          * NGX_TG_CATALOG_STEPS_PER_ENTRY))
        {
            return;
        }
    }

    if (rc == NGX_ERROR) {
        ngx_tg_imported_list_log_no_memory(imports->scf);
        ngx_tg_catalog_builder_free(imports->builder);
        imports->builder = NULL;
        ngx_tg_imported_catalog_drop_pending(imports);
        ngx_tg_server_unpark_sessions(imports->scf);
        return;
    }

    if (imports->is_rebuild_due) {
        tg_sched_enqueue(&ngx_tg_sched, source);
    }
}

/* --- reading of lists --- */

/* Replaces the pending list by one that was read, and starts a build. */
static void
ngx_tg_mcp_server_accept_list(ngx_tg_mcp_server_t *mcp,
                              ngx_tg_imported_list_t *list)
{
    if (mcp->list != NULL && ngx_tg_imported_list_is_equal(list, mcp->list)) {
        ngx_tg_imported_list_release(list);
        return;
    }

    mcp->pending_list = list;
    mcp->imports->is_rebuild_due = 1;
    mcp->imports->source.run = ngx_tg_imported_catalog_run_build;
    tg_sched_enqueue(&ngx_tg_sched, &mcp->imports->source);
}

static void
ngx_tg_imported_list_read_some(tg_sched_source_t *source)
{
    ngx_tg_imported_list_t *list;
    ngx_tg_mcp_server_t *mcp;
    ngx_int_t rc;

    mcp = ngx_queue_data(source, ngx_tg_mcp_server_t, reading_source);
    list = mcp->reading_list;

    if (list == NULL || ngx_tg_worker_is_exiting() || ngx_terminate) {
        return;
    }

    do {
        rc = ngx_tg_imported_list_read(mcp, list,
                                       NGX_TG_IMPORTED_LIST_READ_SIZE,
                                       ngx_cycle->log);
    } while (
        rc == NGX_AGAIN
        && !tg_sched_is_slice_over(&ngx_tg_sched, source,
                                   NGX_TG_IMPORTED_LIST_READ_SIZE
                                       * NGX_TG_IMPORTED_LIST_STEPS_PER_BYTE));

    if (rc == NGX_AGAIN) {
        return;
    }

    mcp->reading_list = NULL;

    if (rc == NGX_ERROR) {
        ngx_tg_imported_list_log_no_memory(mcp->imports->scf);
        ngx_tg_imported_list_release(list);
    } else {
        ngx_tg_mcp_server_accept_list(mcp, list);
    }

    ngx_tg_mcp_server_read_next(mcp);
}

ngx_int_t
ngx_tg_imported_list_update(ngx_tg_mcp_server_t *mcp, tg_str_t object)
{
    /* First, so that the memory never holds both. */
    ngx_tg_imported_list_release(mcp->queued_list);
    mcp->queued_list = ngx_tg_imported_list_create(mcp, object, ngx_worker != 0,
                                                   ngx_cycle->log);

    if (mcp->queued_list == NULL) {
        return NGX_ERROR;
    }

    ngx_tg_mcp_server_read_next(mcp);

    return NGX_OK;
}
