/*
 * A client's frames on their way into a trace (tool_trace).  Those that come
 * are looked at when they were served: then it is known who speaks, and how.
 */
#include "nginx/log/ngx_toolgate_tracer.h"
#include "nginx/stream/ngx_toolgate_session.h"

/* What variables of a connection need once. */
#define NGX_TOOLGATE_TRACED_POOL 1024

/* Of what the peer is given right now. */
static uint64_t ngx_toolgate_traced_time;
static ngx_uint_t ngx_toolgate_traced_is_rest;

/*
 * Asks the filter.  What that evaluates is kept nowhere: it may be something
 * else when the client has said more of itself.
 */
static ngx_uint_t
ngx_toolgate_traced_ask(ngx_stream_session_t *s,
                        ngx_stream_complex_value_t *filter)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_stream_variable_value_t *before;
    ngx_uint_t is_yes;
    ngx_pool_t *pool, *own;
    size_t size;

    cmcf = ngx_stream_get_module_main_conf(s, ngx_stream_core_module);
    size = cmcf->variables.nelts * sizeof(ngx_stream_variable_value_t);
    pool = ngx_create_pool(NGX_TOOLGATE_TRACED_POOL, s->connection->log);

    if (pool == NULL) {
        return 0;
    }

    before = s->variables;
    own = s->connection->pool;
    s->variables = ngx_palloc(pool, size);
    is_yes = 0;

    if (s->variables != NULL) {
        ngx_memcpy(s->variables, before, size);
        s->connection->pool = pool;
        is_yes = ngx_toolgate_is_yes(s, filter);
        s->connection->pool = own;
    }

    s->variables = before;
    ngx_destroy_pool(pool);

    return is_yes;
}

/* Once, and again when it is known what it speaks, and what it is called. */
static ngx_uint_t
ngx_toolgate_is_traced(ngx_toolgate_session_t *session)
{
    const ngx_toolgate_trace_conf_t *trace;
    const tg_peer_t *peer;

    trace = session->front.conf->trace;
    peer = &session->front.peer;

    if (trace->filter == NULL) {
        return 1;
    }

    if (session->trace_dialect != (unsigned) peer->dialect + 1
        || session->trace_nmet != peer->nmet)
    {
        session->trace_dialect = (unsigned) peer->dialect + 1;
        session->trace_nmet = peer->nmet;
        session->is_traced = ngx_toolgate_traced_ask(session->front.stream,
                                                     trace->filter)
                                 ? 1
                                 : 0;
    }

    return session->is_traced;
}

static void
ngx_toolgate_traced_frames(ngx_toolgate_session_t *session, tg_str_t bytes,
                           uint64_t time, ngx_uint_t is_out)
{
    const ngx_toolgate_client_t *client;
    ngx_toolgate_frame_t frame;
    tg_peer_t *peer;
    int rc;

    if (bytes.len == 0 || !ngx_toolgate_is_traced(session)) {
        return;
    }

    peer = &session->front.peer;
    client = ngx_toolgate_client(&session->front);
    frame.time = time;
    frame.connection = session->front.connection->number;
    frame.pid = client != NULL ? (uint32_t) client->pid : 0;
    frame.dialect = tg_dialect_name(peer->dialect);
    frame.is_out = is_out;

    for (;;) {
        rc = tg_frame_split(peer->frame.kind, &bytes, &frame.text);

        if (rc == TG_END) {
            return;
        }

        /* A line that is blank may keep a connection alive. */
        if (frame.text.len != 0) {
            frame.is_cut = rc == TG_AGAIN;
            ngx_toolgate_trace_frame(session->front.conf->trace, &frame);
        }
    }
}

void
ngx_toolgate_traced_begin(const ngx_toolgate_session_t *session)
{
    ngx_toolgate_traced_time = ngx_toolgate_trace_now();
    ngx_toolgate_traced_is_rest = session->front.peer.frame.is_discarding != 0;
}

void
ngx_toolgate_traced_in(ngx_toolgate_session_t *session, tg_str_t bytes)
{
    tg_str_t rest;

    if (ngx_toolgate_traced_is_rest) {
        (void) tg_frame_split(TG_FRAME_LINE, &bytes, &rest);
    }

    ngx_toolgate_traced_frames(session, bytes, ngx_toolgate_traced_time, 0);
}

void
ngx_toolgate_traced_text(ngx_toolgate_session_t *session)
{
    const ngx_toolgate_unsent_t *unsent;
    tg_buf_t whole;

    unsent = session->texts.first;
    tg_buf_init(&whole, tg_alloc_libc());
    tg_buf_put(&whole, unsent->data, unsent->head);
    tg_buf_str(&whole, tg_buf_view(&unsent->text->bytes));

    if (!tg_buf_failed(&whole)) {
        ngx_toolgate_traced_frames(session, tg_buf_view(&whole),
                                   ngx_toolgate_trace_now(), 1);
    }

    tg_buf_deinit(&whole);
}

void
ngx_toolgate_traced_out(ngx_toolgate_session_t *session)
{
    tg_str_t news;

    news = tg_buf_view(&session->front.peer.out);

    /* What comes after a text is traced after it. */
    if (session->texts.first != NULL) {
        news.len = session->texts.first_at;
    }

    if (news.len <= session->traced) {
        return;
    }

    if (session->front.conf->trace != NULL) {
        ngx_toolgate_traced_frames(session,
                                   tg_str(news.data + session->traced,
                                          news.len - session->traced),
                                   ngx_toolgate_trace_now(), 1);
    }

    session->traced = news.len;
}
