/*
 * The `jsonrpc` dialect: envelopes, notifications, batches
 * (docs/protocols.md "jsonrpc").
 */
#include "base/tg_number.h"
#include "core/tg_peer_impl.h"
#include "core/tg_pending.h"

static int
tg_jsonrpc_reject(tg_peer_t *peer, tg_reply_t *reply, int code,
                  const char *text)
{
    /* JSON-RPC 2.0 "id": null where it is not known; MCP's parsers refuse. */
    if (reply->id.data == NULL && !peer->is_mcp) {
        reply->id = TG_STR("null");
    }

    reply->is_silent = 0;
    tg_reply_reject(peer, reply, code, text);

    return TG_OK;
}

/* Drops a notification: JSON-RPC never answers one, whatever is wrong. */
static int
tg_jsonrpc_drop(tg_peer_t *peer, const char *why)
{
    tg_peer_refuses(peer, why);
    tg_peer_log(peer, "wrong notification dropped");

    return TG_OK;
}

/* By its value: some languages write 1 as 1.0 or 1e0. */
static int
tg_is_whole_number(tg_str_t raw)
{
    tg_number_t number;

    return tg_number_parse(raw, &number) == TG_OK
           && tg_number_is_integer(&number);
}

/* Why the id will not do, or NULL; MCP is stricter than JSON-RPC. */
static const char *
tg_id_check(tg_str_t id, int is_mcp)
{
    switch (tg_json_type(id)) {
    case TG_JSON_STRING:
        break;

    case TG_JSON_NUMBER:
        if (is_mcp && !tg_is_whole_number(id)) {
            return "\"id\" must be a string or a whole number.";
        }

        break;

    case TG_JSON_NULL:
        if (is_mcp) {
            return "\"id\" must not be null.";
        }

        break;

    default:
        return "\"id\" must be a string or a number.";
    }

    return id.len > TG_ID_MAX ? "\"id\" is longer than 1024 bytes." : NULL;
}

static int
tg_jsonrpc_wants_object(tg_peer_t *peer, tg_str_t name)
{
    const tg_entry_t *entry;
    tg_str_t type;

    entry = tg_peer_entry(peer, TG_ENTRY_METHOD, name);

    return entry != NULL
           && tg_json_has(entry->input_schema, TG_STR("type"), TG_JSON_STRING,
                          &type)
           && tg_json_is_text(type, TG_STR("object"));
}

static int
tg_jsonrpc_method(tg_peer_t *peer, const tg_message_t *message,
                  const tg_reply_t *reply)
{
    tg_request_t request;

    memset(&request, 0, sizeof(request));
    request.name = tg_json_body(message->method);
    request.size = message->text.len;
    request.arguments = message->params;
    request.progress_token = message->meta.progress_token;
    request.traceparent = message->meta.traceparent;
    request.tracestate = message->meta.tracestate;
    request.reply = *reply;
    request.reply.kind = TG_ENTRY_METHOD;

    /* PHP writes an empty object like this. */
    if (tg_message_is_empty_array(request.arguments)
        && tg_jsonrpc_wants_object(peer, request.name))
    {
        request.arguments = TG_STR_NONE;
    }

    tg_peer_dispatch(peer, &request);

    return TG_OK;
}

static int
tg_jsonrpc_notification(tg_peer_t *peer, tg_method_t known,
                        tg_message_t *message, tg_reply_t *reply)
{
    tg_str_t method, resends;

    method = message->method;

    if (known != TG_METHOD_OTHER) {
        tg_peer_log(peer, "request of MCP without an id dropped");

    } else if (tg_json_is_text(method, TG_STR("notifications/cancelled"))) {
        tg_peer_cancel(peer, message->p.request_id);

    } else if (tg_json_is_text(method, TG_STR("$/cancelRequest"))) {
        tg_peer_cancel(peer, message->p.id);

    } else if (tg_json_is_text(method, TG_STR("notifications/initialized"))) {
        peer->is_mcp = 1;

    } else if (tg_json_is_text(method, TG_STR(TG_HELLO))) {
        tg_peer_is_ours(peer);
        peer->resends |= tg_json_has(message->params, TG_STR("resends"),
                                     TG_JSON_TRUE, &resends);
        tg_peer_learn(peer, message->params);
        tg_peer_introduced(peer, message);

    } else {
        message->meta.progress_token = TG_STR_NONE;
        reply->is_silent = 1;
        return tg_jsonrpc_method(peer, message, reply);
    }

    return TG_OK;
}

/* The envelope: NULL, or what is wrong with it.  The reply learns its id. */
static const char *
tg_jsonrpc_check(tg_peer_t *peer, tg_method_t method, tg_message_t *message,
                 tg_reply_t *reply)
{
    tg_json_type_t params;
    const char *why;

    if (message->has_duplicate) {
        return "A key comes twice.";
    }

    if (message->id.data != NULL) {
        why = tg_id_check(message->id, reply->is_mcp);

        if (why != NULL) {
            return why;
        }

        reply->id = message->id;
    }

    if (!tg_json_is_text(message->jsonrpc, TG_STR("2.0"))) {
        return "\"jsonrpc\" must be \"2.0\".";
    }

    if (tg_json_type(message->method) != TG_JSON_STRING) {
        return "\"method\" must be a string.";
    }

    if (tg_json_body(message->method).len == 0) {
        return "\"method\" must not be empty.";
    }

    if (reply->is_mcp && tg_message_is_empty_array(message->params)) {
        message->params = TG_STR_NONE;
    }

    params = tg_json_type(message->params);

    if (message->params.data != NULL && params != TG_JSON_OBJECT) {
        if (reply->is_mcp) {
            return "\"params\" must be an object.";
        }

        if (params != TG_JSON_ARRAY) {
            return "\"params\" must be an object or an array.";
        }
    }

    if (reply->id.data == NULL) {
        return NULL;
    }

    if (reply->is_mcp && tg_peer_has_id(peer, reply->id)) {
        return "A request with this \"id\" is running; give each its own.";
    }

    return reply->batch != NULL && method == TG_METHOD_INITIALIZE
               ? "initialize must not be part of a batch."
               : NULL;
}

/* Its number alone might be that of anybody's error. */
static int
tg_jsonrpc_leave(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_outcome_t why;

    why = tg_outcome_text(TG_STR("This server is about to leave; the request "
                                 "was not started. Connect anew, and send it "
                                 "again."));
    tg_reply_error(peer, reply, TG_RPC_LEAVING, &why, TG_STR(TG_LEAVING_DATA));

    return TG_OK;
}

static int
tg_jsonrpc_refuse(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_outcome_t why;

    tg_peer_refuses(peer, "every request is refused");
    why = tg_outcome_text(peer->refusal);
    tg_reply_error(peer, reply, TG_RPC_INTERNAL, &why, TG_STR_NONE);

    return TG_OK;
}

static int
tg_jsonrpc_request(tg_peer_t *peer, tg_method_t method, tg_message_t *message,
                   tg_reply_t *reply)
{
    if (peer->refusal.len != 0) {
        return tg_jsonrpc_refuse(peer, reply);
    }

    if (peer->is_leaving) {
        return tg_jsonrpc_leave(peer, reply);
    }

    if ((method != TG_METHOD_OTHER
         || message->meta.protocol_version.data != NULL)
        && tg_peer_mcp(peer, method, message, reply) == TG_OK)
    {
        return TG_OK;
    }

    if (message->meta.progress_token.len > TG_TOKEN_MAX) {
        return tg_jsonrpc_reject(peer, reply, TG_RPC_PARAMS,
                                 "params._meta.progressToken is longer than "
                                 "1024 bytes.");
    }

    return tg_jsonrpc_method(peer, message, reply);
}

/* An id of null is none where the name alone tells: MCP has no such ids. */
static int
tg_jsonrpc_is_notification(const tg_message_t *message)
{
    return (message->id.data == NULL
            && tg_json_type(message->method) == TG_JSON_STRING)
           || (tg_json_type(message->id) == TG_JSON_NULL
               && tg_message_is_notice(message->method));
}

static int
tg_jsonrpc_message(tg_peer_t *peer, tg_message_t *message, tg_batch_t *batch)
{
    int is_notification;
    tg_method_t method;
    tg_reply_t reply;
    const char *why;

    memset(&reply, 0, sizeof(reply));
    reply.batch = batch;

    if (message->type != TG_JSON_OBJECT) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_REQUEST,
                                 "A request must be a JSON object.");
    }

    if (message->method.data == NULL
        && (message->result.data != NULL || message->error.data != NULL))
    {
        tg_peer_told(peer, message);
        return TG_OK;
    }

    is_notification = tg_jsonrpc_is_notification(message);

    if (is_notification) {
        message->id = TG_STR_NONE;
    }

    method = tg_method_of(message->method);
    peer->is_mcp |= message->meta.protocol_version.data != NULL
                    || (method != TG_METHOD_OTHER && method != TG_METHOD_PING);
    reply.is_mcp = peer->is_mcp;
    why = tg_jsonrpc_check(peer, method, message, &reply);

    if (why != NULL && is_notification) {
        return tg_jsonrpc_drop(peer, why);
    }

    if (why != NULL) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_REQUEST, why);
    }

    return is_notification
               ? tg_jsonrpc_notification(peer, method, message, &reply)
               : tg_jsonrpc_request(peer, method, message, &reply);
}

/* How many there are, or one more than there may be. */
static size_t
tg_batch_size(tg_str_t text)
{
    tg_json_t json;
    size_t n;

    n = 0;
    tg_json_each(&json, text);

    while (n <= TG_BATCH_MAX && tg_json_item(&json, NULL)) {
        n++;
    }

    return n;
}

/*
 * Its elements, to the end or to that of the turn.  What was served before
 * is known by its bytes, or after a move by its number.
 */
static int
tg_batch_serve(tg_peer_t *peer, tg_str_t text)
{
    tg_batch_t *batch = peer->batch;

    tg_message_t message;
    tg_str_t element;
    const char *start;
    tg_json_t json;
    unsigned i;

    tg_json_each(&json, text);
    start = json.pos;

    if (batch->at != 0) {
        json.pos += batch->at;
        json.is_fresh = 0;

    } else {
        for (i = 0; i < batch->served; i++) {
            (void) tg_json_item(&json, NULL);
        }
    }

    while (tg_json_item(&json, &element)) {
        (void) tg_message_parse(&message, element);
        (void) tg_jsonrpc_message(peer, &message, batch);
        batch->served++;
        batch->at = (size_t) (json.pos - start);

        (void) tg_json_peek(&json);

        if (*json.pos != ']' && tg_peer_must_stop(peer)) {
            return TG_AGAIN;
        }
    }

    tg_batch_end(peer);

    return TG_OK;
}

/* JSON-RPC 2.0 "Batch"; the text was validated as a whole. */
static int
tg_jsonrpc_batch(tg_peer_t *peer, tg_str_t text)
{
    tg_reply_t reply;
    size_t n;

    memset(&reply, 0, sizeof(reply));

    if (peer->is_mcp && strcmp(peer->version, TG_MCP_BATCHES) != 0) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_REQUEST,
                                 "This protocol version has no batches; send "
                                 "one message a line.");
    }

    n = tg_batch_size(text);

    if (n == 0 || n > TG_BATCH_MAX) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_REQUEST,
                                 "A batch holds 1 to 1000 requests.");
    }

    peer->batch = tg_batch_new(peer);

    if (peer->batch == NULL) {
        peer->out.failed = 1;
        return TG_OK;
    }

    return tg_batch_serve(peer, text);
}

/* why is one of the cursor's texts, all of which are short. */
static int
tg_jsonrpc_unreadable(tg_peer_t *peer, tg_reply_t *reply, const char *why)
{
    char text[128] = "Parse error: the line is not valid JSON: ";

    strncat(text, why, sizeof(text) - strlen(text) - 1);

    return tg_jsonrpc_reject(peer, reply, TG_RPC_PARSE, text);
}

static int
tg_jsonrpc_serve(tg_peer_t *peer, tg_message_t *message, int rc)
{
    tg_reply_t reply;

    memset(&reply, 0, sizeof(reply));

    if (rc == TG_LIMIT && tg_message_is_notice(message->method)) {
        return tg_jsonrpc_drop(peer, "It nests deeper than 128 levels.");
    }

    if (rc == TG_LIMIT) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_REQUEST,
                                 "The message nests deeper than 128 levels.");
    }

    if (rc != TG_OK) {
        return tg_jsonrpc_unreadable(peer, &reply, message->why);
    }

    if (message->type == TG_JSON_ARRAY) {
        return tg_jsonrpc_batch(peer, message->text);
    }

    return tg_jsonrpc_message(peer, message, NULL);
}

static int
tg_jsonrpc_serve_on(tg_peer_t *peer, tg_str_t frame)
{
    tg_message_t message;
    int rc;

    /* Only what this peer has validated itself is not looked at again. */
    if (peer->batch->at == 0) {
        rc = tg_message_parse(&message, frame);

        if (rc != TG_OK || message.type != TG_JSON_ARRAY) {
            tg_batch_end(peer);
            return tg_jsonrpc_serve(peer, &message, rc);
        }
    }

    return tg_batch_serve(peer, frame);
}

static int
tg_jsonrpc_is_mine(const tg_message_t *message)
{
    return message->type != TG_JSON_OBJECT || message->kind.data == NULL;
}

static int
tg_jsonrpc_too_large(tg_peer_t *peer, tg_str_t id)
{
    tg_reply_t reply;

    memset(&reply, 0, sizeof(reply));

    if (id.data != NULL && tg_id_check(id, peer->is_mcp) == NULL) {
        reply.id = id;
    } else if (!peer->is_mcp) {
        reply.id = TG_STR("null");
    }

    tg_reply_refused(peer, &reply);

    return TG_OK;
}

static int
tg_jsonrpc_fail(tg_peer_t *peer, const tg_reply_t *reply,
                const tg_outcome_t *outcome)
{
    int64_t code;

    if (outcome->kind != TG_OUTCOME_FAILURE) {
        return TG_MISSING;
    }

    code = tg_failure_code(outcome->failure);

    if (outcome->has_code) {
        /* Only the server itself may say that a request was not started. */
        code = outcome->code != TG_RPC_LEAVING ? outcome->code
                                               : TG_RPC_INTERNAL;

    } else if (reply->kind == TG_ENTRY_TOOL) {
        switch (outcome->failure) {
        case TG_FAILURE_UNKNOWN:
            code = TG_RPC_PARAMS;
            break;
        case TG_FAILURE_INTERNAL:
        case TG_FAILURE_SIZE:
            break;
        default:
            return TG_MISSING;
        }
    }

    tg_reply_error(peer, reply, code, outcome, outcome->data);

    return TG_OK;
}

/* Only who has said hello knows the word. */
static void
tg_jsonrpc_farewell(tg_peer_t *peer, tg_str_t reason)
{
    if (peer->is_toolgate) {
        tg_buf_text(&peer->out, "{\"jsonrpc\":\"2.0\",\"method\":\"" TG_CLOSING
                                "\",\"params\":{\"reason\":");
        tg_json_put_string(&peer->out, reason);
        tg_buf_put(&peer->out, "}}\n", 3);
    }
}

/* --- the end that asks --- */

/* MCP lets a server ask its client, too: we are there (ping). */
static int
tg_jsonrpc_asked(tg_caller_t *caller, const tg_message_t *message)
{
    if (message->id.len > TG_ID_MAX) {
        tg_caller_log(caller, "request from the server dropped");
    } else if (tg_json_is_text(message->method, TG_STR("ping"))) {
        (void) tg_caller_pong(caller, message->id);
    } else if (caller->ops->asked != NULL) {
        caller->ops->asked(caller->host, message);
    } else {
        (void) tg_caller_refuse(caller, message->id, TG_RPC_METHOD,
                                "Method not found");
    }

    return TG_OK;
}

static int
tg_jsonrpc_hear(tg_caller_t *caller, const tg_message_t *message)
{
    if (tg_json_type(message->method) != TG_JSON_STRING) {
        return TG_MISSING;
    }

    return message->id.data == NULL ? tg_caller_notification(caller, message)
                                    : tg_jsonrpc_asked(caller, message);
}

const tg_dialect_row_t tg_dialect_jsonrpc = {
    .name = "jsonrpc",
    .framing = TG_FRAME_LINE,
    .has_notifications = 1,
    .has_handshake = 1,
    .request = "{\"jsonrpc\":\"2.0\",",
    .answer = TG_STR_OF("{\"jsonrpc\":\"2.0\","),
    .notification = "{\"jsonrpc\":\"2.0\",",
    .call = "\"tools/call\"",
    .is_mine = tg_jsonrpc_is_mine,
    .serve = tg_jsonrpc_serve,
    .serve_on = tg_jsonrpc_serve_on,
    .too_large = tg_jsonrpc_too_large,
    .fail = tg_jsonrpc_fail,
    .error = tg_reply_error,
    .farewell = tg_jsonrpc_farewell,
    .hear = tg_jsonrpc_hear,
};
