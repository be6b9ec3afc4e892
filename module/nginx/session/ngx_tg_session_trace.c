/*
 * Frames of a client for tool_trace. Incoming frames are traced after they were
 * served, when the client and its dialect are known.
 */
#include "nginx/logging/ngx_tg_tracer.h"
#include "nginx/session/ngx_tg_session_impl.h"
#include "nginx/call/ngx_tg_call_checks.h"

/* Size of the pool for a filter's variables, in bytes. */
#define NGX_TG_TRACE_FILTER_POOL_SIZE 1024

/* Arrival time of the input, and whether it began in a discarded frame. */
static uint64_t ngx_tg_trace_input_time;
static ngx_uint_t ngx_tg_trace_is_discarding;

/* Evaluates the filter anew: the client may change its variables. */
static ngx_uint_t
ngx_tg_session_trace_filter_matches(ngx_stream_session_t *s,
                                    ngx_stream_complex_value_t *filter)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_stream_variable_value_t *before;
    ngx_uint_t is_yes;
    ngx_pool_t *pool, *own;
    size_t size;

    cmcf = ngx_stream_get_module_main_conf(s, ngx_stream_core_module);
    size = cmcf->variables.nelts * sizeof(ngx_stream_variable_value_t);
    pool = ngx_create_pool(NGX_TG_TRACE_FILTER_POOL_SIZE, s->connection->log);

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
        is_yes = ngx_tg_filter_matches(s, filter);
        s->connection->pool = own;
    }

    s->variables = before;
    ngx_destroy_pool(pool);

    return is_yes;
}

/* Evaluates the filter again when the dialect or identity has changed. */
static ngx_uint_t
ngx_tg_session_is_traced(ngx_tg_session_t *session)
{
    const ngx_tg_trace_conf_t *trace;
    const tg_peer_t *peer;

    trace = session->base.conf->trace;
    peer = &session->base.peer;

    if (trace->filter == NULL) {
        return 1;
    }

    if (session->priv->trace_dialect != (unsigned) peer->dialect + 1
        || session->priv->trace_nmet != peer->nclient_changes)
    {
        session->priv->trace_dialect = (unsigned) peer->dialect + 1;
        session->priv->trace_nmet = peer->nclient_changes;
        session->priv->is_traced = ngx_tg_session_trace_filter_matches(
                                       session->base.stream, trace->filter)
                                       ? 1
                                       : 0;
    }

    return session->priv->is_traced;
}

static void
ngx_tg_session_trace_frames(ngx_tg_session_t *session, tg_str_t bytes,
                            uint64_t time, ngx_uint_t is_out)
{
    const ngx_tg_peer_cred_t *client;
    ngx_tg_trace_frame_t frame;
    tg_peer_t *peer;
    int rc;

    if (bytes.len == 0 || !ngx_tg_session_is_traced(session)) {
        return;
    }

    peer = &session->base.peer;
    client = ngx_tg_session_base_get_peer_cred(&session->base);
    frame.time = time;
    frame.connection = session->base.connection->number;
    frame.pid = client != NULL ? (uint32_t) client->pid : 0;
    frame.dialect = tg_dialect_name(peer->dialect);
    frame.is_out = is_out;

    for (;;) {
        rc = tg_frame_split(peer->frame.kind, &bytes, &frame.text);

        if (rc == TG_END) {
            return;
        }

        /* Clients may send an empty line as a keepalive. */
        if (frame.text.len != 0) {
            frame.is_cut = rc == TG_AGAIN;
            ngx_tg_tracer_write_frame(session->base.conf->trace, &frame);
        }
    }
}

void
ngx_tg_session_trace_begin(const ngx_tg_session_t *session)
{
    ngx_tg_trace_input_time = ngx_tg_tracer_get_time();
    ngx_tg_trace_is_discarding = session->base.peer.frame.is_discarding != 0;
}

void
ngx_tg_session_trace_input(ngx_tg_session_t *session, tg_str_t bytes)
{
    tg_str_t rest;

    if (ngx_tg_trace_is_discarding) {
        (void) tg_frame_split(TG_FRAME_LINE, &bytes, &rest);
    }

    ngx_tg_session_trace_frames(session, bytes, ngx_tg_trace_input_time, 0);
}

void
ngx_tg_session_trace_broadcast_text(ngx_tg_session_t *session)
{
    const ngx_tg_unsent_text_t *unsent;
    tg_buf_t whole;

    unsent = session->priv->texts.first;
    tg_buf_init(&whole, tg_alloc_libc());
    tg_buf_append(&whole, unsent->data, unsent->head);
    tg_buf_append_str(&whole, tg_buf_view(&unsent->text->bytes));

    if (!tg_buf_has_failed(&whole)) {
        ngx_tg_session_trace_frames(session, tg_buf_view(&whole),
                                    ngx_tg_tracer_get_time(), 1);
    }

    tg_buf_deinit(&whole);
}

void
ngx_tg_session_trace_output(ngx_tg_session_t *session)
{
    tg_str_t new_output;

    new_output = tg_buf_view(&session->base.peer.out);

    /* Output after an unsent text is traced later. */
    if (session->priv->texts.first != NULL) {
        new_output.len = session->priv->texts.first_offset;
    }

    if (new_output.len <= session->traced) {
        return;
    }

    if (session->base.conf->trace != NULL) {
        ngx_tg_session_trace_frames(session,
                                    tg_str_skip(new_output, session->traced),
                                    ngx_tg_tracer_get_time(), 1);
    }

    session->traced = new_output.len;
}
