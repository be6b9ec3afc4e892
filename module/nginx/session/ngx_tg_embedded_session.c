/* Sessions whose messages another module transports. */
#include "nginx/session/ngx_tg_embedded_session.h"

#include "nginx/session/ngx_tg_session_impl.h"
#include "nginx/shm/ngx_tg_counters.h"
#include "nginx/subscription/ngx_tg_subscription.h"

/* Sessions that the worker keeps for the next requests. */
#define NGX_TG_EMBEDDED_SESSIONS_CACHED 64

typedef struct {
    ngx_tg_session_block_t block;
    ngx_stream_session_t stream;
    ngx_connection_t connection;
    ngx_event_t wake; /* stands for the events of the connection */
    ngx_event_t timer;
    void (*run)(void *data);
    void *data;
} ngx_tg_embedded_session_t;

/* Free sessions: a queue of session.block.priv.all. */
static ngx_queue_t ngx_tg_embedded_cache = { &ngx_tg_embedded_cache,
                                             &ngx_tg_embedded_cache };
static ngx_uint_t ngx_tg_embedded_ncached;

/* Returns the session of its link in the cache. */
#define ngx_tg_embedded_of(q)                                                  \
    TG_CONTAINER_OF(q, ngx_tg_embedded_session_t, block.priv.all)

static const tg_peer_ops_t ngx_tg_embedded_peer_ops = {
    .call = ngx_tg_call_start,
    .on_unknown = ngx_tg_parked_on_unknown_tool,
    .list = ngx_tg_parked_on_list,
    .write_list_meta = ngx_tg_parked_append_list_meta,
    .cancel = ngx_tg_call_cancel,
    .log = ngx_tg_session_base_on_log,
    .on_refused = ngx_tg_session_on_rejected_message,
    .on_subscribe = ngx_tg_subscription_on_change,
    .can_report = ngx_tg_subscription_can_report,
    .is_visible = ngx_tg_session_base_can_see,
};

static void
ngx_tg_embedded_session_on_wake(ngx_event_t *ev)
{
    ngx_tg_embedded_session_t *embedded = ev->data;

    embedded->run(embedded->data);
}

/* Returns a session that is not initialized, with room for the arrays. */
static ngx_tg_embedded_session_t *
ngx_tg_embedded_session_alloc(size_t arrays)
{
    ngx_tg_embedded_session_t *embedded;
    ngx_queue_t *q;

    if (ngx_queue_empty(&ngx_tg_embedded_cache)) {
        embedded = ngx_alloc(sizeof(*embedded) + arrays, ngx_cycle->log);

    } else {
        q = ngx_queue_head(&ngx_tg_embedded_cache);
        ngx_queue_remove(q);
        ngx_tg_embedded_ncached--;
        embedded = ngx_tg_embedded_of(q);
    }

    if (embedded != NULL) {
        ngx_memzero(embedded, sizeof(*embedded) + arrays);
    }

    return embedded;
}

static void
ngx_tg_embedded_session_recycle(ngx_tg_embedded_session_t *embedded)
{
    if (ngx_tg_embedded_ncached == NGX_TG_EMBEDDED_SESSIONS_CACHED) {
        ngx_free(embedded);
        return;
    }

    ngx_queue_insert_head(&ngx_tg_embedded_cache, &embedded->block.priv.all);
    ngx_tg_embedded_ncached++;
}

/* Makes the stand-ins for the stream module's session and connection. */
static void
ngx_tg_embedded_session_init_stream(ngx_tg_embedded_session_t *embedded,
                                    ngx_stream_conf_ctx_t *ctx,
                                    ngx_connection_t *c, ngx_pool_t *pool)
{
    ngx_stream_session_t *s;
    ngx_time_t *time;

    embedded->connection = *c;
    embedded->connection.data = &embedded->stream;
    embedded->connection.pool = pool;
    /* The client of a proxy in front is not the process that connected. */
    embedded->connection.fd = (ngx_socket_t) -1;
    embedded->connection.read = &embedded->wake;
    embedded->connection.write = &embedded->wake;
    embedded->wake.handler = ngx_tg_embedded_session_on_wake;
    embedded->wake.data = embedded;
    embedded->wake.log = c->log;
    embedded->timer.handler = ngx_tg_embedded_session_on_wake;
    embedded->timer.data = embedded;
    embedded->timer.log = c->log;

    s = &embedded->stream;
    time = ngx_timeofday();
    s->signature = NGX_STREAM_MODULE;
    s->connection = &embedded->connection;
    s->main_conf = ctx->main_conf;
    s->srv_conf = ctx->srv_conf;
    s->start_sec = time->sec;
    s->start_msec = time->msec;
    s->ctx = (void **) (embedded + 1);
    s->variables = (void *) (s->ctx + ngx_stream_max_module);
}

ngx_tg_session_t *
ngx_tg_embedded_session_create(ngx_stream_conf_ctx_t *ctx,
                               const tg_server_info_t *info,
                               ngx_connection_t *c, ngx_pool_t *pool,
                               void (*run)(void *data), void *data)
{
    ngx_tg_embedded_session_t *embedded;
    ngx_stream_core_main_conf_t *cmcf;
    ngx_tg_srv_conf_t *scf;
    ngx_tg_session_t *session;

    cmcf = ctx->main_conf[ngx_stream_core_module.ctx_index];
    scf = ctx->srv_conf[ngx_stream_toolgate_module.ctx_index];
    embedded = ngx_tg_embedded_session_alloc(
        ngx_stream_max_module * sizeof(void *)
        + cmcf->variables.nelts * sizeof(ngx_stream_variable_value_t));

    if (embedded == NULL) {
        return NULL;
    }

    session = &embedded->block.session;

    if (tg_peer_init(&session->base.peer, tg_alloc_libc(),
                     &ngx_tg_embedded_peer_ops, &session->base,
                     TG_DIALECT_JSONRPC, scf->catalog, info, scf->max_frame,
                     (unsigned) scf->max_inflight)
        != TG_OK)
    {
        ngx_tg_embedded_session_recycle(embedded);
        return NULL;
    }

    embedded->run = run;
    embedded->data = data;
    ngx_tg_embedded_session_init_stream(embedded, ctx, c, pool);
    session->priv = &embedded->block.priv;
    session->priv->is_embedded = 1;
    session->priv->timer = &embedded->timer;
    session->base.stream = &embedded->stream;
    session->base.connection = &embedded->connection;
    session->base.conf = scf;
    ngx_stream_set_ctx(session->base.stream, session,
                       ngx_stream_toolgate_module);
    ngx_tg_session_list_add(session);

    if (scf->counters == NULL) {
        scf->counters = ngx_tg_counters_find(scf, NULL);
    }

    return session;
}

void
ngx_tg_embedded_session_free(ngx_tg_session_t *session)
{
    ngx_tg_embedded_session_t *embedded;

    embedded = (ngx_tg_embedded_session_t *) (void *) session;
    session->base.is_gone = 1;
    ngx_tg_session_list_remove(session);
    tg_peer_deinit(&session->base.peer);
    ngx_tg_session_base_notify_gone(&session->base);

    if (embedded->wake.posted) {
        ngx_delete_posted_event(&embedded->wake);
    }

    if (embedded->timer.timer_set) {
        ngx_del_timer(&embedded->timer);
    }

    ngx_tg_embedded_session_recycle(embedded);
}

ngx_int_t
ngx_tg_embedded_session_update(ngx_tg_session_t *session)
{
    ngx_tg_session_base_t *base;

    base = &session->base;
    ngx_tg_session_update_catalog(session);
    ngx_tg_session_serve_parked(session, ngx_exiting);

    if (base->has_new_resources) {
        base->has_new_resources = 0;
        tg_peer_notify_list_changed(&base->peer, TG_ENTRY_RESOURCE);
    }

    return base->is_broken || tg_buf_has_failed(&base->peer.out) ? NGX_ERROR
                                                                 : NGX_OK;
}

void
ngx_tg_embedded_session_exit(void)
{
    ngx_queue_t *q;

    while (!ngx_queue_empty(&ngx_tg_embedded_cache)) {
        q = ngx_queue_head(&ngx_tg_embedded_cache);
        ngx_queue_remove(q);
        ngx_free(ngx_tg_embedded_of(q));
    }

    ngx_tg_embedded_ncached = 0;
}
