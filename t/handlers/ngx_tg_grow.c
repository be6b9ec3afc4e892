/*
 * `grow NAME`: a handler for tests whose call replaces the catalog of the
 * server's clients at run time. The new catalog has the tools of the config
 * and a tool NAME_N that does the same, where N counts the catalogs of a
 * worker. `grow NAME now` replaces it twice, within the start of the call.
 */
#include "nginx/session/ngx_tg_session.h"
#include "nginx/call/ngx_tg_call.h"

typedef struct {
    ngx_str_t name; /* empty: not set */
    ngx_uint_t is_now;
} ngx_tg_grow_t;

typedef struct {
    ngx_event_t event;
    ngx_tg_grow_t *grow;
    ngx_tg_tool_t *tool;
    ngx_tg_srv_conf_t *scf;
} ngx_tg_grow_ctx_t;

static char *ngx_tg_grow_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static void ngx_tg_grow_run(ngx_tg_call_t *call);
static void ngx_tg_grow_start(ngx_tg_call_t *call, tg_request_t *request);

static ngx_command_t ngx_tg_grow_commands[] = {

    { ngx_string("grow"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_grow_value, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_grow_module = NGX_TG_HANDLER_MODULE(ngx_tg_grow_commands);

const ngx_tg_handler_t ngx_tg_grow_handler = {
    .name = ngx_string("grow"),
    .module = &ngx_tg_grow_module,
    .conf_size = sizeof(ngx_tg_grow_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC,
    .start = ngx_tg_grow_start,
    .run = ngx_tg_grow_run,
};

/* This worker's catalog from the config. */
static tg_catalog_t *ngx_tg_grow_base;
static ngx_uint_t ngx_tg_grow_n;

static char *
ngx_tg_grow_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_grow_t *grow = conf;

    ngx_str_t *value;

    (void) cmd;
    value = cf->args->elts;
    grow->name = value[1];
    grow->is_now = cf->args->nelts == 3;

    return ngx_tg_conf_set_handler(cf, &ngx_tg_grow_handler);
}

/* Entries and the name of the last one share one allocation. */
static tg_catalog_entry_t *
ngx_tg_grow_list(ngx_tg_grow_ctx_t *ctx)
{
    tg_catalog_entry_t *entries;
    size_t i, n;
    u_char *name;

    n = tg_catalog_size(ngx_tg_grow_base);
    entries = ngx_alloc((n + 1) * sizeof(tg_catalog_entry_t) + TG_NAME_MAX,
                        ngx_cycle->log);

    for (i = 0; i < n; i++) {
        entries[i] = *tg_catalog_get_entry(ngx_tg_grow_base, i);
    }

    name = (u_char *) &entries[n + 1];
    entries[n] = ctx->tool->entry;
    entries[n].listing = TG_STR_NONE;
    entries[n].name.data = (char *) name;
    entries[n].name.len = ngx_sprintf(name, "%V_%ui", &ctx->grow->name,
                                      ++ngx_tg_grow_n)
                          - name;

    return entries;
}

/* The sessions hold the only references. */
static void
ngx_tg_grow_swap(ngx_tg_grow_ctx_t *ctx)
{
    tg_catalog_t *catalog;
    tg_catalog_entry_t *entries;
    size_t i;

    if (ngx_tg_grow_base == NULL) {
        ngx_tg_grow_base = tg_catalog_ref(ctx->scf->catalog);
    }

    catalog = tg_catalog_new(tg_alloc_libc());
    entries = ngx_tg_grow_list(ctx);
    tg_catalog_set_memory(catalog, entries, NULL);

    for (i = 0; i <= tg_catalog_size(ngx_tg_grow_base); i++) {
        (void) tg_catalog_add(catalog, &entries[i]);
    }

    (void) tg_catalog_seal(catalog);
    ngx_tg_server_set_catalog(ctx->scf, catalog);
    tg_catalog_unref(catalog);
}

static void
ngx_tg_grow_handle(ngx_event_t *ev)
{
    ngx_tg_call_t *call;
    tg_outcome_t outcome;

    call = ev->data;
    ngx_tg_grow_swap(call->ctx);

    outcome = tg_outcome_make_text(TG_STR("grown"));
    ngx_tg_call_end(call, &outcome);
}

static void
ngx_tg_grow_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_grow_ctx_t *ctx;

    (void) request;
    ctx = ngx_pcalloc(call->pool, sizeof(ngx_tg_grow_ctx_t));

    if (ctx == NULL) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, "no memory");
        return;
    }

    ctx->tool = call->tool;
    ctx->grow = call->tool->conf;
    ctx->scf = call->base->conf;
    ctx->event.handler = ngx_tg_grow_handle;
    ctx->event.data = call;
    ctx->event.log = ngx_cycle->log;
    call->ctx = ctx;

    if (ctx->grow->is_now) {
        ngx_tg_grow_swap(ctx);
        ngx_tg_grow_handle(&ctx->event);
        return;
    }

    (void) ngx_tg_call_defer(call);
}

static void
ngx_tg_grow_run(ngx_tg_call_t *call)
{
    ngx_tg_grow_ctx_t *ctx;

    ctx = call->ctx;
    ngx_post_event(&ctx->event, &ngx_posted_next_events);
}
