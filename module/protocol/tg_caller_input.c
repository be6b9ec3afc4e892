/* Input of a caller: responses, requests and notifications of the server. */
#include "protocol/tg_caller_impl.h"
#include "protocol/tg_rpc.h"

static void
tg_caller_on_response(tg_caller_t *caller, tg_pending_request_t *pending,
                      const tg_message_t *message)
{
    tg_json_type_t type;
    tg_response_t answer;

    memset(&answer, 0, sizeof(answer));
    type = tg_json_type(message->error);

    /* Some servers send "error": null, false or "" beside a result. */
    if (message->result.data != NULL
        && (type == TG_JSON_NONE || type == TG_JSON_NULL
            || type == TG_JSON_FALSE
            || (type == TG_JSON_STRING && message->error.len == 2)))
    {
        answer.kind = TG_RESPONSE_RESULT;
        answer.result = message->result;

    } else if (type == TG_JSON_OBJECT) {
        answer.kind = TG_RESPONSE_ERROR;
        answer.message = tg_raw_string_body(message->e.message);
        answer.type = tg_raw_string_body(message->e.type);
        answer.data = message->e.data;

        if (answer.message.len == 0 && answer.type.len == 0) {
            answer.message = tg_raw_string_body(message->e.data);
        }

        if (answer.message.len == 0 && answer.type.len == 0) {
            answer.message = TG_CALLER_NO_REASON;
        }

        /* JavaScript servers may send a string as code, such as "ENOENT". */
        answer.has_code = tg_json_parse_int64(message->e.code, &answer.code)
                          == TG_OK;

        if (!answer.has_code && !caller->dialect->is_sequential) {
            answer.has_code = 1;
            answer.code = TG_RPC_INTERNAL_ERROR;
        }

        if (answer.code == TG_RPC_NOT_STARTED && caller->resends
            && tg_str_eq(answer.data, TG_STR(TG_RPC_NOT_STARTED_DATA)))
        {
            caller->is_leaving = 1;
            memset(&answer, 0, sizeof(answer));
            answer.kind = TG_RESPONSE_NOT_STARTED;
        }

    } else {
        tg_caller_fail_request(caller, pending,
                               type == TG_JSON_STRING
                                   ? tg_json_string_body(message->error)
                                   : TG_STR(
                                       "The answer has neither a result nor an "
                                       "error; check the log of the server "
                                       "that sent it."),
                               0);
        return;
    }

    tg_caller_complete_request(caller, pending, &answer);
}

/*
 * A message with an id but neither a result nor an error is a response too:
 * JavaScript omits an undefined result, and the request would wait forever.
 * Without ids (sequential dialects) such a message is not recognized.
 */
static int
tg_caller_is_response(const tg_caller_t *caller, const tg_message_t *message)
{
    if (message->method.data != NULL) {
        return 0;
    }

    if (message->result.data != NULL) {
        return 1;
    }

    /* A line of a server's JSON log may have a member "error", too. */
    if (tg_json_type(message->error) == TG_JSON_OBJECT
        && (caller->dialect->is_sequential || message->id.data != NULL
            || message->jsonrpc.data != NULL))
    {
        return 1;
    }

    return !caller->dialect->is_sequential && message->id.data != NULL
           && (message->jsonrpc.data != NULL
               || tg_json_string_eq(message->kind, TG_STR("mcp_response")));
}

/*
 * Finds the request of an error without an id, or NULL. A server that could not
 * read a request, for instance because of its size, does not know its id. If
 * only one request is pending, it would otherwise wait forever. But some
 * servers answer notifications too, mostly with "method not found": while such
 * an answer may arrive, only a parse error is assigned to the request.
 */
static tg_pending_request_t *
tg_caller_match_without_id(tg_caller_t *caller, const tg_message_t *message)
{
    int64_t code;

    if (tg_json_parse_int64(message->e.code, &code) != TG_OK) {
        code = 0;
    }

    if (caller->nnotifications != 0 && code != TG_RPC_PARSE_ERROR) {
        caller->nnotifications--;
        return NULL;
    }

    return caller->npending == 1 ? caller->first : NULL;
}

static tg_pending_request_t *
tg_caller_match_response(tg_caller_t *caller, const tg_message_t *message)
{
    uint64_t id;

    if (caller->dialect->is_sequential) {
        return caller->first;
    }

    if (tg_json_type(message->error) == TG_JSON_OBJECT
        && (message->id.data == NULL
            || tg_json_type(message->id) == TG_JSON_NULL))
    {
        return tg_caller_match_without_id(caller, message);
    }

    return tg_caller_parse_id(message->id, &id) == TG_OK
               ? tg_pending_find(caller, id)
               : NULL;
}

void
tg_caller_send_next(tg_caller_t *caller)
{
    tg_pending_request_t *pending;

    pending = caller->first;

    if (pending == NULL || pending->queued.data == NULL
        || tg_buf_reserve(&caller->out, pending->queued.len) != TG_OK)
    {
        return;
    }

    pending->start = caller->sent;
    caller->sent += pending->queued.len;
    tg_buf_append_str(&caller->out, pending->queued);
    tg_free(caller->alloc, (void *) (uintptr_t) pending->queued.data);
    pending->queued = TG_STR_NONE;
}

int
tg_caller_on_error_notice(tg_caller_t *caller, const tg_message_t *message)
{
    tg_pending_request_t *pending;

    pending = tg_caller_match_response(caller, message);

    if (pending != NULL) {
        tg_caller_fail_request(caller, pending,
                               tg_raw_string_body(message->message), 0);
    }

    return tg_caller_on_shutdown_notice(caller, message->message);
}

/* Drops a frame; a sequential dialect then misses a response and closes. */
static void
tg_caller_drop_frame(tg_caller_t *caller, const char *text)
{
    if (caller->dialect->is_sequential) {
        caller->is_closed = 1;
    } else {
        tg_caller_log(caller, text);
    }
}

/*
 * A response shows that the server has handled all notifications sent before
 * the request, so it answers none of them any more.
 */
static void
tg_caller_settle_notifications(tg_caller_t *caller,
                               const tg_pending_request_t *pending)
{
    uint64_t later;

    later = caller->nsent_notifications - pending->nnotifications;

    if (caller->nnotifications > later) {
        caller->nnotifications = (size_t) later;
    }
}

static void
tg_caller_on_message(tg_caller_t *caller, tg_str_t frame,
                     const tg_message_t *message)
{
    tg_pending_request_t *pending;

    if (tg_caller_is_response(caller, message)) {
        if (message->has_duplicate
            && tg_caller_fail_duplicate_id(caller, frame)) {
            return;
        }

        pending = tg_caller_match_response(caller, message);

        if (pending == NULL) {
            tg_caller_log(caller, "response without a matching request "
                                  "dropped");
            return;
        }

        tg_caller_settle_notifications(caller, pending);
        tg_caller_on_response(caller, pending, message);
        tg_caller_send_next(caller);
        return;
    }

    if (caller->dialect->on_message == NULL
        || caller->dialect->on_message(caller, message) == TG_MISSING)
    {
        tg_caller_drop_frame(caller, "frame that is not a message dropped");
    }
}

/* Servers of MCP 2025-03-26 may send an array of messages. */
static void
tg_caller_on_batch(tg_caller_t *caller, tg_str_t array)
{
    tg_message_t message;
    tg_str_t element;
    tg_json_cursor_t json;
    size_t n;

    n = 0;

    for (tg_json_iter_init(&json, array);
         !caller->is_closed && tg_json_iter_next(&json, &element); n++)
    {
        if (n == TG_CALLER_BATCH_MAX) {
            tg_caller_log(caller, "rest of a batch of more than 1,000 messages "
                                  "dropped");
            return;
        }

        if (tg_message_parse(&message, element) == TG_OK
            && message.type == TG_JSON_OBJECT)
        {
            tg_caller_on_message(caller, element, &message);
        } else {
            tg_caller_log(caller, "element of a batch that is not a message "
                                  "dropped");
        }
    }

    if (n == 0) {
        tg_caller_log(caller, "malformed frame dropped");
    }
}

static void
tg_caller_on_frame(tg_caller_t *caller, tg_str_t frame)
{
    tg_message_t message;
    tg_pending_request_t *pending;
    int rc;

    rc = tg_message_parse(&message, frame);

    if (rc == TG_OK && message.type == TG_JSON_OBJECT) {
        tg_caller_on_message(caller, frame, &message);
        return;
    }

    if (rc == TG_OK && message.type == TG_JSON_ARRAY
        && caller->dialect == &tg_dialect_jsonrpc)
    {
        tg_caller_on_batch(caller, message.text);
        return;
    }

    pending = tg_caller_find_malformed(caller, frame);

    if (pending != NULL) {
        tg_caller_fail_malformed(caller, pending, frame, NULL);
    }

    tg_caller_drop_frame(caller, "malformed frame dropped");
}

/* Rejects a request or fails the pending one, so that no side waits forever. */
static void
tg_caller_on_oversized(tg_caller_t *caller, tg_str_t raw)
{
    tg_pending_request_t *pending;
    uint64_t id;

    if (caller->is_request && raw.data != NULL) {
        (void) tg_caller_respond_error(
            caller, raw, TG_RPC_INVALID_REQUEST,
            "The request is larger than this connection "
            "carries.");
        return;
    }

    pending = tg_caller_parse_id(raw, &id) == TG_OK
                  ? tg_pending_find(caller, id)
                  : NULL;

    if (pending == NULL) {
        tg_caller_drop_frame(caller, "frame larger than the limit dropped");
        return;
    }

    tg_caller_fail_request(caller, pending,
                           TG_STR("The answer is larger than this connection "
                                  "carries; ask for less."),
                           1);
}

/* Handles a discarded frame by the id at its beginning or end, if any. */
static void
tg_caller_on_discarded(tg_caller_t *caller, int rc, tg_str_t part)
{
    tg_message_head_t known;

    memset(&known, 0, sizeof(known));

    if (rc == TG_END) {
        if (!caller->is_awaiting_id) {
            return;
        }

        caller->is_awaiting_id = 0;
        (void) tg_message_find_tail_id(part, &known.id);

    } else if (!caller->dialect->is_sequential) {
        rc = tg_message_parse_head(part, &known);
        caller->is_request = known.is_request && known.kind.data == NULL;
        caller->is_awaiting_id = rc == TG_OK && known.id.data == NULL;

        if (caller->is_awaiting_id) {
            return;
        }
    }

    tg_caller_on_oversized(caller, known.id);
}

int
tg_caller_handle_input(tg_caller_t *caller, const char *data, size_t len,
                       size_t *consumed)
{
    tg_str_t frame;
    size_t at, part;
    int rc;

    for (at = 0;;) {
        if (caller->is_closed) {
            *consumed = len;
            return TG_CLOSED;
        }

        rc = tg_frame_next(&caller->frame, data + at, len - at, &part, &frame);
        at += part;

        if (rc == TG_AGAIN) {
            *consumed = at;
            return TG_OK;
        }

        if (rc == TG_OK) {
            tg_caller_on_frame(caller, frame);
        } else {
            tg_caller_on_discarded(caller, rc, frame);
        }

        *consumed = at;

        if (tg_buf_has_failed(&caller->out)) {
            return TG_NOMEM;
        }

        caller->frame_size = frame.len;

        if (at != len && caller->ops->is_slice_over != NULL
            && caller->ops->is_slice_over(caller->host))
        {
            return TG_AGAIN;
        }
    }
}
