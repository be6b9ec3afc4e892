/*
 * `toolgate.cancel`: an operator ends a call in any worker. The response is
 * sent when the call has ended; a call that moves to another worker is
 * cancelled again there.
 */
#include "nginx/handlers/ngx_tg_status.h"

/*
 * Time between two checks in ms, and time that the call must be gone, in ms, to
 * count as ended: a move to another worker is shorter.
 */
#define NGX_TG_CANCEL_POLL_MS 20
#define NGX_TG_CANCEL_SETTLE_MS 200

typedef struct {
    uint64_t number;
    ngx_msec_t seen; /* time when the call was seen last, in ms */
    ngx_event_t timer;
} ngx_tg_cancel_ctx_t;

/* Search for a call of one of the servers that the client may see. */
typedef struct {
    ngx_tg_status_t status; /* servers only */
    uint64_t number;
    ngx_uint_t is_found;
} ngx_tg_cancel_search_t;

static void
ngx_tg_cancel_stop(ngx_tg_call_t *call)
{
    ngx_tg_cancel_ctx_t *cancel = call->ctx;

    if (cancel->timer.timer_set) {
        ngx_del_timer(&cancel->timer);
    }
}

static void
ngx_tg_cancel_on_poll_timer(ngx_event_t *ev)
{
    ngx_tg_call_t *call = ev->data;

    ngx_tg_cancel_ctx_t *cancel;
    u_char text[NGX_INT64_LEN + 32];
    tg_outcome_t outcome;
    size_t len;

    cancel = call->ctx;

    if (ngx_tg_running_call_order_end(cancel->number)) {
        cancel->seen = ngx_current_msec;
    }

    if (ngx_current_msec - cancel->seen < NGX_TG_CANCEL_SETTLE_MS) {
        ngx_add_timer(ev, NGX_TG_CANCEL_POLL_MS);
        return;
    }

    len = ngx_sprintf(text, "{\"id\":%uL,\"ended\":true}", cancel->number)
          - text;
    outcome = tg_outcome_parse_output(call->entry, tg_str((char *) text, len));
    ngx_tg_call_end(call, &outcome);
}

static void
ngx_tg_cancel_run(ngx_tg_call_t *call)
{
    ngx_tg_cancel_ctx_t *cancel = call->ctx;

    cancel->timer.handler = ngx_tg_cancel_on_poll_timer;
    cancel->timer.data = call;
    cancel->timer.log = ngx_cycle->log;
    cancel->seen = ngx_current_msec;
    ngx_add_timer(&cancel->timer, NGX_TG_CANCEL_POLL_MS);
}

static ngx_uint_t
ngx_tg_cancel_match_call(void *data, const ngx_tg_running_call_info_t *about)
{
    ngx_tg_cancel_search_t *search = data;

    search->is_found = about->number == search->number
                       && ngx_tg_status_has_server(&search->status.servers,
                                                   about->server);

    return search->is_found;
}

static void
ngx_tg_cancel_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_cancel_search_t search;
    ngx_tg_cancel_ctx_t *cancel;
    int64_t number;
    tg_str_t raw;

    if (tg_json_type(request->arguments) != TG_JSON_OBJECT
        || tg_json_get_member(request->arguments, TG_STR("id"), &raw) != TG_OK
        || tg_json_parse_int64(raw, &number) != TG_OK || number < 1)
    {
        ngx_tg_call_fail(call, TG_FAILURE_ARGUMENTS,
                         "\"id\" must be the number of a call, as "
                         "toolgate.status lists it.");
        return;
    }

    cancel = ngx_pcalloc(call->pool, sizeof(*cancel));
    search.status.pool = call->pool;

    if (cancel == NULL
        || ngx_tg_status_list_servers(&search.status, call) != NGX_OK)
    {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return;
    }

    call->ctx = cancel;
    cancel->number = (uint64_t) number;
    search.number = cancel->number;
    search.is_found = 0;
    ngx_tg_running_calls_visit(ngx_tg_cancel_match_call, &search);

    if (!search.is_found) {
        ngx_tg_call_fail(call, TG_FAILURE_ARGUMENTS,
                         "No call with this \"id\" is running; toolgate.status "
                         "lists the running calls.");
        return;
    }

    (void) ngx_tg_running_call_order_end(cancel->number);
    (void) ngx_tg_call_defer(call);
}

const ngx_tg_handler_t ngx_tg_cancel_handler = {
    .name = ngx_string("toolgate.cancel"),
    .flags = NGX_TG_HANDLER_IS_BUILTIN,
    .start = ngx_tg_cancel_start,
    .run = ngx_tg_cancel_run,
    .cancel = ngx_tg_cancel_stop,
};
