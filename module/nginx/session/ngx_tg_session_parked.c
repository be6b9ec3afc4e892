/*
 * Parked requests, which wait for MCP servers that are starting: for the first
 * lists, or for a tool, prompt or resource that no server has listed yet. And
 * requests that wait for their client's input.
 */
#include "nginx/session/ngx_tg_session_impl.h"

/* Longest timer for input, in ms, as the clock may be set meanwhile. */
#define NGX_TG_INPUT_WAIT_MAX 60000

/* Parks a request if it must wait, else returns NGX_DECLINED. */
static ngx_int_t
ngx_tg_session_park_request(ngx_tg_session_t *session,
                            const tg_request_t *request, tg_str_t name)
{
    ngx_tg_srv_conf_t *scf;
    ngx_msec_t most, since, age;
    tg_peer_t *peer;

    scf = session->base.conf;
    peer = &session->base.peer;

    if (scf->get_wait_time == NULL || session->state != NGX_TG_SESSION_SERVING)
    {
        return NGX_DECLINED;
    }

    since = peer->parked_since != 0 ? (ngx_msec_t) peer->parked_since
                                    : ngx_current_msec;
    age = ngx_current_msec - since;
    most = scf->get_wait_time(scf, name);

    if (most <= age || tg_peer_park_request(peer, request, since) != TG_OK) {
        return NGX_DECLINED;
    }

    if (peer->nparked == 1
        || (ngx_msec_int_t) (since + most - session->priv->parked_until) < 0)
    {
        session->priv->parked_until = since + most;
    }

    ngx_tg_session_set_timer(session,
                             session->priv->parked_until - ngx_current_msec);

    return NGX_OK;
}

int
ngx_tg_parked_on_list(void *host, tg_peer_t *peer, tg_request_t *request)
{
    const ngx_tg_session_base_t *base = host;

    if (ngx_tg_session_park_request(host, request, TG_STR_NONE) == NGX_OK) {
        return TG_OK;
    }

    return request->list_kind == TG_ENTRY_RESOURCE
                   && base->conf->list_resources != NULL
                   && base->conf->list_resources(host, peer, request) == NGX_OK
               ? TG_OK
               : TG_END;
}

void
ngx_tg_parked_append_list_meta(void *host, tg_buf_t *json)
{
    ngx_tg_session_base_t *base = host;

    size_t start;

    if (base->conf->write_absent_servers == NULL) {
        return;
    }

    tg_buf_append_cstr(json, "{\"toolgate/servers\":[");
    start = json->len;
    base->conf->write_absent_servers(base, json);

    if (json->len != start) {
        tg_buf_append_cstr(json, "]}");
    } else {
        tg_buf_truncate(json, 0);
    }
}

/*
 * Explains an unknown tool or prompt if its server is known. Returns 0 if it is
 * not.
 */
static ngx_uint_t
ngx_tg_parked_send_unknown_reason(ngx_tg_session_base_t *base, tg_peer_t *peer,
                                  const tg_request_t *request)
{
    tg_outcome_t outcome;
    ngx_uint_t is_known;
    size_t start;
    tg_buf_t text;

    if (base->conf->explain_unknown == NULL || request->name.len > TG_NAME_MAX)
    {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_cstr(&text, request->reply.kind == TG_ENTRY_TOOL
                                  ? "Unknown tool: "
                                  : "Unknown prompt: ");
    tg_json_append_unescaped(&text, request->name);
    tg_buf_append_char(&text, '.');
    start = text.len;
    base->conf->explain_unknown(base->conf, request->name, &text);
    is_known = text.len != start && !tg_buf_has_failed(&text);

    if (is_known) {
        outcome = tg_outcome_make_failure_str(TG_FAILURE_UNKNOWN,
                                              tg_buf_view(&text));
        tg_peer_respond(peer, &request->reply, &outcome);
    }

    tg_buf_deinit(&text);

    return is_known;
}

void
ngx_tg_parked_on_unknown_tool(void *host, tg_peer_t *peer,
                              tg_request_t *request)
{
    tg_catalog_entry_type_t kind;
    ngx_uint_t has_name;

    kind = request->reply.kind;
    has_name = kind == TG_ENTRY_TOOL || kind == TG_ENTRY_PROMPT;

    /* A URI does not tell which server it may belong to. */
    if ((has_name || kind == TG_ENTRY_RESOURCE)
        && ngx_tg_session_park_request(host, request,
                                       has_name ? request->name : TG_STR_NONE)
               == NGX_OK)
    {
        return;
    }

    if (!has_name || !ngx_tg_parked_send_unknown_reason(host, peer, request)) {
        ngx_tg_call_reject_unknown(host, peer, request);
    }
}

void
ngx_tg_session_serve_parked(ngx_tg_session_t *session, ngx_uint_t is_now)
{
    tg_peer_t *peer;

    peer = &session->base.peer;

    if (peer->nparked == 0 || session->base.is_broken) {
        return;
    }

    if (is_now || session->priv->must_serve_parked
        || (ngx_msec_int_t) (ngx_current_msec - session->priv->parked_until)
               >= 0)
    {
        session->priv->parked_until = ngx_current_msec + NGX_MAX_INT32_VALUE;

        switch (tg_peer_serve_parked(peer)) {
        case TG_NOMEM:
            session->base.is_broken = 1;
            return;
        case TG_CLOSED:
            session->state = NGX_TG_SESSION_CLOSING;
            return;
        case TG_LIMIT:
            session->priv->must_serve_parked = 1;
            return;
        default:
            session->priv->must_serve_parked = 0;
        }
    }

    if (peer->nparked != 0) {
        ngx_tg_session_set_timer(session, session->priv->parked_until
                                              - ngx_current_msec);
    }
}

void
ngx_tg_session_expire_inputs(ngx_tg_session_t *session)
{
    uint64_t deadline_ms, now_ms;
    const ngx_time_t *tp;
    tg_peer_t *peer;

    peer = &session->base.peer;

    if (peer->nrounds == 0 || session->base.is_broken) {
        return;
    }

    tp = ngx_timeofday();
    now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    /* A client that has closed its side cannot answer. */
    if (tg_peer_expire_inputs(peer, session->priv->is_eof ? UINT64_MAX : now_ms)
        != TG_OK)
    {
        session->base.is_broken = 1;
        return;
    }

    deadline_ms = tg_peer_get_input_deadline(peer);

    if (deadline_ms != 0) {
        ngx_tg_session_set_timer(session,
                                 (ngx_msec_t) ngx_min(deadline_ms - now_ms,
                                                      NGX_TG_INPUT_WAIT_MAX));
    }
}
