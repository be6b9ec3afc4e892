/*
 * `grow NAME`: a handler of the tests' own, whose call gives the server's
 * clients another catalogue at run time: what is in the config, and a tool
 * NAME_N that does what this one does, where N counts the catalogues of a
 * worker.  `grow NAME now` does it within the call's very start, twice.
 */
#include "nginx/stream/ngx_toolgate_session.h"

typedef struct {
    ngx_str_t name; /* empty: no `grow` */
    ngx_uint_t is_now;
} ngx_toolgate_grow_t;

typedef struct {
    ngx_event_t event;
    ngx_toolgate_grow_t *grow;
    ngx_toolgate_tool_t *tool;
    ngx_toolgate_srv_conf_t *scf;
} ngx_toolgate_grow_ctx_t;

static char *ngx_toolgate_grow_value(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
static void ngx_toolgate_grow_run(ngx_toolgate_call_t *call);
static void ngx_toolgate_grow_start(ngx_toolgate_call_t *call,
                                    tg_request_t *request);

static ngx_command_t ngx_toolgate_grow_commands[] = {

    { ngx_string("grow"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_grow_value, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_toolgate_grow_module = NGX_TOOLGATE_HANDLER_MODULE(
    ngx_toolgate_grow_commands);

const ngx_toolgate_handler_t ngx_toolgate_grow_handler = {
    .name = ngx_string("grow"),
    .module = &ngx_toolgate_grow_module,
    .conf_size = sizeof(ngx_toolgate_grow_t),
    .flags = NGX_TOOLGATE_TAKES_TIME,
    .start = ngx_toolgate_grow_start,
    .run = ngx_toolgate_grow_run,
};

/* Of this worker: what its config has. */
static tg_catalogue_t *ngx_toolgate_grow_base;
static ngx_uint_t ngx_toolgate_grow_n;

static char *
ngx_toolgate_grow_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_grow_t *grow = conf;

    ngx_str_t *value;

    (void) cmd;
    value = cf->args->elts;
    grow->name = value[1];
    grow->is_now = cf->args->nelts == 3;

    return ngx_toolgate_set_handler(cf, &ngx_toolgate_grow_handler);
}

/* The entries and the name of the last one are one piece of memory. */
static tg_entry_t *
ngx_toolgate_grow_list(ngx_toolgate_grow_ctx_t *ctx)
{
    tg_entry_t *entries;
    size_t i, n;
    u_char *name;

    n = tg_catalogue_size(ngx_toolgate_grow_base);
    entries = ngx_alloc((n + 1) * sizeof(tg_entry_t) + TG_NAME_MAX,
                        ngx_cycle->log);

    for (i = 0; i < n; i++) {
        entries[i] = *tg_catalogue_at(ngx_toolgate_grow_base, i);
    }

    name = (u_char *) &entries[n + 1];
    entries[n] = ctx->tool->entry;
    entries[n].listing = TG_STR_NONE;
    entries[n].name.data = (char *) name;
    entries[n].name.len = ngx_sprintf(name, "%V_%ui", &ctx->grow->name,
                                      ++ngx_toolgate_grow_n)
                          - name;

    return entries;
}

/* The sessions hold it, and nobody else. */
static void
ngx_toolgate_grow_swap(ngx_toolgate_grow_ctx_t *ctx)
{
    tg_catalogue_t *catalogue;
    tg_entry_t *entries;
    size_t i;

    if (ngx_toolgate_grow_base == NULL) {
        ngx_toolgate_grow_base = tg_catalogue_hold(ctx->scf->catalogue);
    }

    catalogue = tg_catalogue_new(tg_alloc_libc());
    entries = ngx_toolgate_grow_list(ctx);
    tg_catalogue_own(catalogue, entries, NULL);

    for (i = 0; i <= tg_catalogue_size(ngx_toolgate_grow_base); i++) {
        (void) tg_catalogue_add(catalogue, &entries[i]);
    }

    (void) tg_catalogue_seal(catalogue);
    ngx_toolgate_session_offer(ctx->scf, catalogue);
    tg_catalogue_release(catalogue);
}

static void
ngx_toolgate_grow_handle(ngx_event_t *ev)
{
    ngx_toolgate_call_t *call;
    tg_outcome_t outcome;

    call = ev->data;
    ngx_toolgate_grow_swap(call->ctx);

    outcome = tg_outcome_text(TG_STR("grown"));
    ngx_toolgate_call_end(call, &outcome);
}

static void
ngx_toolgate_grow_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_grow_ctx_t *ctx;

    (void) request;
    ctx = ngx_pcalloc(call->pool, sizeof(ngx_toolgate_grow_ctx_t));

    if (ctx == NULL) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, "no memory");
        return;
    }

    ctx->tool = call->tool;
    ctx->grow = call->tool->conf;
    ctx->scf = call->front->conf;
    ctx->event.handler = ngx_toolgate_grow_handle;
    ctx->event.data = call;
    ctx->event.log = ngx_cycle->log;
    call->ctx = ctx;

    if (ctx->grow->is_now) {
        ngx_toolgate_grow_swap(ctx);
        ngx_toolgate_grow_handle(&ctx->event);
        return;
    }

    (void) ngx_toolgate_call_defer(call);
}

static void
ngx_toolgate_grow_run(ngx_toolgate_call_t *call)
{
    ngx_toolgate_grow_ctx_t *ctx;

    ctx = call->ctx;
    ngx_post_event(&ctx->event, &ngx_posted_next_events);
}
