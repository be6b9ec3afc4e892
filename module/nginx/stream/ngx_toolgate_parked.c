/*
 * Requests that wait for what a server starts: the first list, and calls of
 * tools whose server has not listed them yet.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* Puts a request aside, where it is to wait: NGX_OK; NGX_DECLINED. */
static ngx_int_t
ngx_toolgate_park(ngx_toolgate_session_t *session, const tg_request_t *request,
                  tg_str_t name)
{
    ngx_toolgate_srv_conf_t *scf;
    ngx_msec_t most, since, age;
    tg_peer_t *peer;

    scf = session->front.conf;
    peer = &session->front.peer;

    if (scf->waits == NULL || session->state != NGX_TOOLGATE_SERVING) {
        return NGX_DECLINED;
    }

    since = peer->parked_since != 0 ? (ngx_msec_t) peer->parked_since
                                    : ngx_current_msec;
    age = ngx_current_msec - since;
    most = scf->waits(scf, name);

    if (most <= age || tg_peer_park(peer, request, since) != TG_OK) {
        return NGX_DECLINED;
    }

    if (peer->nparked == 1
        || (ngx_msec_int_t) (since + most - session->parked_until) < 0)
    {
        session->parked_until = since + most;
    }

    ngx_toolgate_session_wait(session,
                              session->parked_until - ngx_current_msec);

    return NGX_OK;
}

int
ngx_toolgate_parked_list(void *host, tg_peer_t *peer, tg_request_t *request)
{
    (void) peer;

    return ngx_toolgate_park(host, request, TG_STR_NONE) == NGX_OK ? TG_OK
                                                                   : TG_END;
}

void
ngx_toolgate_parked_meta(void *host, tg_buf_t *json)
{
    ngx_toolgate_front_t *front = host;

    size_t start;

    if (front->conf->put_absent == NULL) {
        return;
    }

    tg_buf_text(json, "{\"toolgate/servers\":[");
    start = json->len;
    front->conf->put_absent(front, json);

    if (json->len != start) {
        tg_buf_text(json, "]}");
    } else {
        tg_buf_truncate(json, 0);
    }
}

/* Answers with what is known of the server that would have the tool. */
static ngx_uint_t
ngx_toolgate_parked_explain(ngx_toolgate_front_t *front, tg_peer_t *peer,
                            const tg_request_t *request)
{
    tg_outcome_t outcome;
    ngx_uint_t is_known;
    size_t start;
    tg_buf_t text;

    if (front->conf->why_unknown == NULL || request->name.len > TG_NAME_MAX) {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, "Unknown tool: ");
    tg_json_put_decoded(&text, request->name);
    tg_buf_char(&text, '.');
    start = text.len;
    front->conf->why_unknown(front->conf, request->name, &text);
    is_known = text.len != start && !tg_buf_failed(&text);

    if (is_known) {
        outcome = tg_outcome_failed(TG_FAILURE_UNKNOWN, tg_buf_view(&text));
        tg_peer_answer(peer, &request->reply, &outcome);
    }

    tg_buf_deinit(&text);

    return is_known;
}

void
ngx_toolgate_parked_unknown(void *host, tg_peer_t *peer, tg_request_t *request)
{
    if (request->reply.kind != TG_ENTRY_TOOL
        || (ngx_toolgate_park(host, request, request->name) != NGX_OK
            && !ngx_toolgate_parked_explain(host, peer, request)))
    {
        ngx_toolgate_call_unknown(host, peer, request);
    }
}

void
ngx_toolgate_parked_serve(ngx_toolgate_session_t *session, ngx_uint_t is_now)
{
    tg_peer_t *peer;

    peer = &session->front.peer;

    if (peer->nparked == 0 || session->is_broken) {
        return;
    }

    if (is_now || session->is_parked_over
        || (ngx_msec_int_t) (ngx_current_msec - session->parked_until) >= 0)
    {
        session->parked_until = ngx_current_msec + NGX_MAX_INT32_VALUE;

        switch (tg_peer_unpark(peer)) {
        case TG_NOMEM:
            session->is_broken = 1;
            return;
        case TG_CLOSED:
            session->state = NGX_TOOLGATE_ENDING;
            return;
        case TG_LIMIT:
            session->is_parked_over = 1;
            return;
        default:
            session->is_parked_over = 0;
        }
    }

    if (peer->nparked != 0) {
        ngx_toolgate_session_wait(session,
                                  session->parked_until - ngx_current_msec);
    }
}
