/* Sending of requests in each dialect, and the end of a connection. */
#include "protocol/tg_caller.h"

#include "protocol/tg_client_caps.h"
#include "protocol/tg_caller_impl.h"
#include "protocol/tg_rpc.h"

#include <inttypes.h>

static void
tg_caller_reset(tg_caller_t *caller)
{
    tg_frame_init(&caller->frame, caller->dialect->framing, caller->max_answer);
    tg_buf_reset(&caller->out, 0);
    caller->sent = 0;
    caller->written = 0;
    caller->nnotifications = 0;
    caller->refused_bytes = 0;
    caller->resends = 0;
    caller->is_leaving = 0;
    caller->is_drained = 0;
    caller->is_closed = 0;
    caller->is_awaiting_id = 0;
}

void
tg_caller_init(tg_caller_t *caller, const tg_alloc_t *alloc,
               const tg_caller_ops_t *ops, void *host, tg_dialect_t dialect,
               size_t max_frame)
{
    memset(caller, 0, sizeof(*caller));
    caller->alloc = alloc;
    caller->ops = ops;
    caller->host = host;
    caller->dialect = tg_dialect_get(dialect);
    caller->max_frame = max_frame;
    caller->next_id = 1;

    if (caller->dialect->max_frame != 0
        && max_frame > caller->dialect->max_frame) {
        caller->max_frame = caller->dialect->max_frame;
    }

    caller->max_answer = caller->max_frame;
    tg_buf_init(&caller->out, alloc);
    tg_caller_reset(caller);
}

void
tg_caller_set_max_response(tg_caller_t *caller, size_t max_answer)
{
    if (max_answer < caller->max_answer) {
        caller->max_answer = max_answer;
        caller->frame.limit = max_answer;
    }
}

void
tg_caller_deinit(tg_caller_t *caller)
{
    while (caller->first != NULL) {
        tg_pending_remove(caller, caller->first);
    }

    tg_free(caller->alloc, caller->slots);
    caller->slots = NULL;
    caller->nslots = 0;
    tg_buf_deinit(&caller->out);
}

/* Begins a frame, for a notification if pending is NULL. Returns its offset. */
static size_t
tg_caller_begin_message(tg_caller_t *caller,
                        const tg_pending_request_t *pending)
{
    tg_buf_t *out;
    size_t start;

    out = &caller->out;
    start = tg_frame_open(caller->frame.kind, out);
    tg_buf_append_cstr(out, caller->dialect->request);

    if (pending != NULL && !caller->dialect->is_sequential) {
        tg_buf_append_cstr(out, "\"id\":");
        tg_buf_append_uint(out, pending->id);
        tg_buf_append_char(out, ',');
    }

    tg_buf_append_cstr(out, "\"method\":");

    return start;
}

/* Ends the frame begun at start; on an error removes it from out. */
static int
tg_caller_end_message(tg_caller_t *caller, size_t start)
{
    int rc;

    rc = tg_frame_close(caller->frame.kind, &caller->out, start,
                        caller->max_frame);

    if (rc != TG_OK) {
        tg_buf_truncate(&caller->out, start);
        return rc;
    }

    caller->sent += caller->out.len - start;

    return TG_OK;
}

/*
 * Moves the frame of a sequential call from out to pending->queued, unless it
 * is the first one: the next call is sent only after a response.
 */
static int
tg_caller_enqueue(tg_caller_t *caller, tg_pending_request_t *pending,
                  size_t start)
{
    size_t len;
    char *copy;

    if (!caller->dialect->is_sequential || pending == caller->first) {
        return TG_OK;
    }

    len = caller->out.len - start;
    copy = tg_alloc(caller->alloc, len);

    if (copy == NULL) {
        tg_buf_truncate(&caller->out, start);
        caller->sent -= len;
        return TG_NOMEM;
    }

    memcpy(copy, caller->out.data + start, len);
    pending->queued = tg_str(copy, len);
    tg_buf_truncate(&caller->out, start);
    caller->sent -= len;

    return TG_OK;
}

/* Sends a complete request. An error removes the frame and the request. */
static int
tg_caller_commit(tg_caller_t *caller, tg_pending_request_t *pending,
                 size_t start, uint64_t *id)
{
    int rc;

    pending->start = caller->sent;
    rc = tg_caller_end_message(caller, start);

    if (rc == TG_OK) {
        rc = tg_caller_enqueue(caller, pending, start);
    }

    if (rc != TG_OK) {
        tg_pending_remove(caller, pending);
        return rc;
    }

    if (id != NULL) {
        *id = pending->id;
    }

    return TG_OK;
}

static void
tg_caller_write_method(tg_buf_t *out, tg_str_t method, tg_str_t params)
{
    tg_json_write_string(out, method);

    tg_json_add_compact(out, "params", params);
    tg_buf_append_char(out, '}');
}

int
tg_caller_send_request(tg_caller_t *caller, tg_str_t method, tg_str_t params,
                       void *tag, uint64_t *id)
{
    tg_pending_request_t *pending;
    size_t start;

    if (caller->dialect->is_sequential) {
        return TG_MISSING;
    }

    if (caller->is_drained || caller->is_closed) {
        return TG_CLOSED;
    }

    pending = tg_pending_add(caller, tag);

    if (pending == NULL) {
        return TG_NOMEM;
    }

    start = tg_caller_begin_message(caller, pending);
    tg_caller_write_method(&caller->out, method, params);

    return tg_caller_commit(caller, pending, start, id);
}

int
tg_caller_call_tool(tg_caller_t *caller, tg_str_t name, tg_str_t arguments,
                    tg_str_t more, void *tag, uint64_t *id)
{
    tg_pending_request_t *pending;
    tg_buf_t *out;
    size_t start;

    if (caller->is_drained || caller->is_closed) {
        return TG_CLOSED;
    }

    pending = tg_pending_add(caller, tag);

    if (pending == NULL) {
        return TG_NOMEM;
    }

    out = &caller->out;
    start = tg_caller_begin_message(caller, pending);
    tg_buf_append_cstr(out, caller->dialect->call);
    tg_buf_append_cstr(out, ",\"params\":{\"name\":\"");
    tg_buf_append_str(out, name);
    tg_buf_append_char(out, '"');
    tg_json_add_compact(out, "arguments", arguments);

    if (!caller->dialect->is_sequential) {
        tg_buf_append_str(out, more);
    }

    tg_buf_append_cstr(out, "}}");

    return tg_caller_commit(caller, pending, start, id);
}

int
tg_caller_send_notification(tg_caller_t *caller, tg_str_t method,
                            tg_str_t params)
{
    size_t start;
    int rc;

    if (!caller->dialect->has_notifications) {
        return TG_OK;
    }

    start = tg_caller_begin_message(caller, NULL);
    tg_caller_write_method(&caller->out, method, params);
    rc = tg_caller_end_message(caller, start);
    caller->nnotifications += rc == TG_OK;
    caller->nsent_notifications += rc == TG_OK;

    return rc;
}

int
tg_caller_send_hello_resends(tg_caller_t *caller)
{
    caller->resends = 1;

    return tg_caller_send_notification(caller, TG_STR(TG_METHOD_TOOLGATE_HELLO),
                                       TG_STR("{\"resends\":true}"));
}

int
tg_caller_send_hello(tg_caller_t *caller, unsigned client_caps)
{
    char room[256];
    tg_buf_t params;

    if (client_caps == 0) {
        return tg_caller_send_notification(caller,
                                           TG_STR(TG_METHOD_TOOLGATE_HELLO),
                                           TG_STR_NONE);
    }

    params = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_append_cstr(&params, "{\"capabilities\":");
    tg_client_caps_write_json(&params, client_caps);
    tg_buf_append_char(&params, '}');

    return tg_caller_send_notification(caller, TG_STR(TG_METHOD_TOOLGATE_HELLO),
                                       tg_buf_view(&params));
}

int
tg_caller_send_client_info(tg_caller_t *caller, unsigned client_caps,
                           tg_str_t info, tg_str_t via)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, caller->alloc);
    tg_buf_append_cstr(&params, "{\"capabilities\":");
    tg_client_caps_write_json(&params, client_caps);
    tg_json_add_compact(&params, "clientInfo", info);

    if (via.data != NULL) {
        tg_buf_append_cstr(&params, ",\"via\":");
        tg_json_write_string(&params, via);
    }

    tg_buf_append_char(&params, '}');
    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : tg_caller_send_notification(caller,
                                           TG_STR(TG_METHOD_TOOLGATE_HELLO),
                                           tg_buf_view(&params));
    tg_buf_deinit(&params);

    return rc;
}

int
tg_caller_cancel_request(tg_caller_t *caller, uint64_t id, int method_is_mcp)
{
    tg_pending_request_t *pending;
    tg_buf_t params;
    char room[64];

    pending = tg_pending_find(caller, id);

    if (pending == NULL) {
        return TG_MISSING;
    }

    if (caller->dialect->is_sequential && pending == caller->first) {
        /* The response will still arrive and must be ignored: clear the tag. */
        pending->tag = NULL;
        return TG_OK;
    }

    tg_pending_remove(caller, pending);
    params = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&params, "{\"%s\":%" PRIu64 "}",
                  method_is_mcp ? "requestId" : "id", id);

    return tg_caller_send_notification(caller,
                                       method_is_mcp
                                           ? TG_STR("notifications/cancelled")
                                           : TG_STR("$/cancelRequest"),
                                       tg_buf_view(&params));
}

int
tg_caller_forget_request(tg_caller_t *caller, uint64_t id)
{
    tg_pending_request_t *pending;

    pending = tg_pending_find(caller, id);

    if (pending == NULL) {
        return TG_MISSING;
    }

    tg_pending_remove(caller, pending);

    return TG_OK;
}

void *
tg_caller_find_tag(const tg_caller_t *caller, uint64_t id)
{
    const tg_pending_request_t *pending;

    pending = tg_pending_find(caller, id);

    return pending != NULL ? pending->tag : NULL;
}

int
tg_caller_send_shutdown(tg_caller_t *caller, tg_str_t reason)
{
    size_t start;

    if (caller->dialect->shutdown == NULL) {
        return TG_OK;
    }

    start = tg_frame_open(caller->frame.kind, &caller->out);
    caller->dialect->shutdown(&caller->out, reason);

    return tg_caller_end_message(caller, start);
}

void
tg_caller_count_written(tg_caller_t *caller, size_t len)
{
    caller->written += len;

    if (caller->written >= caller->sent) {
        caller->refused_bytes = 0;
    }
}

/* Finds an unsent message in out, which begins at offset base of all bytes. */
static tg_str_t
tg_caller_find_unsent(const tg_caller_t *caller,
                      const tg_pending_request_t *pending, const tg_buf_t *out,
                      uint64_t base)
{
    tg_str_t bytes, message;
    size_t at;

    if (caller->dialect->is_sequential || pending->start < base) {
        return TG_STR_NONE;
    }

    at = (size_t) (pending->start - base);

    if (at >= out->len) {
        return TG_STR_NONE;
    }

    bytes = tg_str(out->data + at, out->len - at);

    return tg_frame_split(caller->frame.kind, &bytes, &message) == TG_OK
               ? message
               : TG_STR_NONE;
}

void
tg_caller_report_unread(tg_caller_t *caller, size_t len)
{
    caller->written -= len < caller->written ? len : caller->written;
}

int
tg_caller_is_all_unread(const tg_caller_t *caller)
{
    /* The oldest request was sent first. */
    return caller->first == NULL || caller->first->start >= caller->written;
}

void
tg_caller_on_disconnect(tg_caller_t *caller)
{
    tg_pending_request_t *pending;
    tg_response_t answer;
    uint64_t base, written, end;
    int is_drained;
    tg_buf_t out;
    void *tag;

    written = caller->written;
    is_drained = caller->is_drained;
    end = caller->next_id;
    base = caller->sent - caller->out.len;
    out = caller->out;
    tg_buf_init(&caller->out, caller->alloc);
    tg_caller_reset(caller);

    /* Callbacks may add requests with higher ids: do not fail those. */
    while ((pending = caller->first) != NULL && pending->id < end) {
        memset(&answer, 0, sizeof(answer));
        answer.kind = is_drained || pending->queued.data != NULL
                              || pending->start >= written
                          ? TG_RESPONSE_NOT_STARTED
                          : TG_RESPONSE_LOST;

        if (answer.kind == TG_RESPONSE_NOT_STARTED) {
            answer.unsent_message = tg_caller_find_unsent(caller, pending, &out,
                                                          base);
        }

        tag = pending->tag;
        tg_pending_remove(caller, pending);

        if (tag != NULL || !caller->dialect->is_sequential) {
            caller->ops->answer(caller->host, tag, &answer);
        }
    }

    tg_buf_deinit(&out);

    /* Callbacks may have queued requests after the lost ones. */
    tg_caller_send_next(caller);
}
