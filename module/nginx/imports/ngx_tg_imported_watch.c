/*
 * Subscriptions of this worker to resources of MCP servers: the runner
 * subscribes at the server, and notifies the worker of changes. They are sent
 * again to each new runner.
 */
#include "nginx/imports/ngx_tg_imports.h"

#include "nginx/subscription/ngx_tg_subscription.h"

struct ngx_tg_imported_watch_s {
    ngx_queue_t queue;
    tg_str_t uri; /* for clients, plain text */
    tg_str_t own; /* the server's, plain text, a part of uri */
};

static void
ngx_tg_imported_watch_send(ngx_tg_mcp_server_t *mcp,
                           const ngx_tg_imported_watch_t *watch,
                           ngx_uint_t is_on)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_cstr(&params, "{\"key\":\"");
    tg_buf_append(&params, mcp->key, sizeof(mcp->key));
    tg_buf_append_char(&params, '"');
    tg_json_add_string(&params, "uri", watch->own);
    tg_buf_append_char(&params, '}');

    if (!tg_buf_has_failed(&params)) {
        ngx_tg_runner_notify(mcp->imports->scf->runner,
                             is_on ? TG_STR("mcp_subscribe")
                                   : TG_STR("mcp_unsubscribe"),
                             tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}

void
ngx_tg_imported_watches_send(ngx_tg_mcp_server_t *mcp)
{
    ngx_queue_t *q;

    mcp->is_known = 1;

    for (q = ngx_queue_head(&mcp->watches);
         q != ngx_queue_sentinel(&mcp->watches); q = ngx_queue_next(q))
    {
        ngx_tg_imported_watch_send(
            mcp, ngx_queue_data(q, ngx_tg_imported_watch_t, queue), 1);
    }
}

void
ngx_tg_imported_watches_on_updated(ngx_tg_mcp_server_t *mcp, tg_str_t params)
{
    ngx_tg_imported_watch_t *watch;
    ngx_queue_t *q;
    tg_buf_t text;
    tg_str_t raw;

    if (!tg_json_has_member(params, TG_STR("uri"), TG_JSON_STRING, &raw)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, tg_json_string_body(raw));

    for (q = ngx_queue_head(&mcp->watches);
         q != ngx_queue_sentinel(&mcp->watches); q = ngx_queue_next(q))
    {
        watch = ngx_queue_data(q, ngx_tg_imported_watch_t, queue);

        if (tg_str_eq(watch->own, tg_buf_view(&text))) {
            ngx_tg_resource_notify_updated(mcp->imports->scf, watch->uri);
        }
    }

    tg_buf_deinit(&text);
}

void
ngx_tg_imported_watches_free(ngx_tg_mcp_server_t *mcp)
{
    ngx_queue_t *q;

    while (!ngx_queue_empty(&mcp->watches)) {
        q = ngx_queue_head(&mcp->watches);
        ngx_queue_remove(q);
        ngx_free(ngx_queue_data(q, ngx_tg_imported_watch_t, queue));
    }
}

/* --- handler --- */

/* Returns the item of an MCP server that a URI reads, or NULL. */
static const tg_catalog_entry_t *
ngx_tg_imported_watch_find_entry(const ngx_tg_srv_conf_t *scf, tg_str_t uri)
{
    const tg_catalog_entry_t *entry;
    const ngx_tg_tool_t *tool;
    tg_buf_t arguments;

    tg_buf_init(&arguments, tg_alloc_libc());
    entry = tg_catalog_find_uri(scf->catalog, uri, &arguments);
    tg_buf_deinit(&arguments);
    tool = entry != NULL ? entry->host : NULL;

    return tool != NULL && tool->handler == &ngx_tg_imported_tool_handler
               ? entry
               : NULL;
}

ngx_uint_t
ngx_tg_imported_resource_can_watch(const tg_catalog_entry_t *entry,
                                   tg_str_t uri)
{
    const ngx_tg_imported_tool_t *listed;
    const ngx_tg_tool_t *tool;
    const ngx_tg_mcp_server_t *mcp;

    tool = entry->host;
    listed = tool->conf;
    mcp = listed->server;

    /* A process of one client would be another one than that of its calls. */
    return mcp->options.share == TG_MCP_SHARE_ALL && mcp->has_subscribe
           && (entry->kind != TG_ENTRY_TEMPLATE
               || ngx_tg_imported_uri_is_selected(
                   mcp, ngx_tg_imported_item_strip_name(entry, uri)));
}

static void
ngx_tg_imported_watch_begin(const ngx_tg_srv_conf_t *scf, tg_str_t uri)
{
    const tg_catalog_entry_t *entry;
    const ngx_tg_imported_tool_t *listed;
    const ngx_tg_tool_t *tool;
    ngx_tg_imported_watch_t *watch;
    ngx_tg_mcp_server_t *mcp;
    tg_str_t own;
    char *copy;

    entry = ngx_tg_imported_watch_find_entry(scf, uri);

    if (entry == NULL) {
        return;
    }

    tool = entry->host;
    listed = tool->conf;
    mcp = listed->server;
    own = ngx_tg_imported_item_strip_name(entry, uri);
    watch = ngx_alloc(sizeof(ngx_tg_imported_watch_t) + uri.len,
                      ngx_cycle->log);

    if (watch == NULL) {
        return;
    }

    copy = (char *) (watch + 1);
    ngx_memcpy(copy, uri.data, uri.len);
    watch->uri = tg_str(copy, uri.len);
    watch->own = tg_str_skip(watch->uri, uri.len - own.len);
    ngx_queue_insert_tail(&mcp->watches, &watch->queue);

    if (mcp->is_known) {
        ngx_tg_imported_watch_send(mcp, watch, 1);
    }
}

static void
ngx_tg_imported_watch_end(ngx_tg_mcp_server_t *mcp, tg_str_t uri)
{
    ngx_tg_imported_watch_t *watch, *same, *other;
    ngx_queue_t *q;

    watch = NULL;
    same = NULL;

    for (q = ngx_queue_head(&mcp->watches);
         q != ngx_queue_sentinel(&mcp->watches); q = ngx_queue_next(q))
    {
        other = ngx_queue_data(q, ngx_tg_imported_watch_t, queue);

        if (tg_str_eq(other->uri, uri)) {
            watch = other;
        }
    }

    if (watch == NULL) {
        return;
    }

    ngx_queue_remove(&watch->queue);

    /* NAME+URI and URI may be one resource. */
    for (q = ngx_queue_head(&mcp->watches);
         q != ngx_queue_sentinel(&mcp->watches); q = ngx_queue_next(q))
    {
        other = ngx_queue_data(q, ngx_tg_imported_watch_t, queue);

        if (tg_str_eq(other->own, watch->own)) {
            same = other;
        }
    }

    if (same == NULL && mcp->is_known) {
        ngx_tg_imported_watch_send(mcp, watch, 0);
    }

    ngx_free(watch);
}

void
ngx_tg_imported_resource_watch(const ngx_tg_srv_conf_t *scf, tg_str_t uri,
                               ngx_uint_t is_on)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i;

    if (is_on) {
        ngx_tg_imported_watch_begin(scf, uri);
        return;
    }

    mmcf = ngx_stream_cycle_get_module_main_conf(ngx_cycle,
                                                 ngx_tg_imports_module);
    mcp = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        if (mcp[i]->imports->scf == scf) {
            ngx_tg_imported_watch_end(mcp[i], uri);
        }
    }
}
