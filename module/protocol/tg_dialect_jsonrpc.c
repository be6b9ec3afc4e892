/* The `jsonrpc` dialect (docs/protocols.md "jsonrpc"). */
#include "base/tg_number.h"
#include "protocol/tg_peer_impl.h"
#include "protocol/tg_caller_impl.h"

static int
tg_jsonrpc_reject(tg_peer_t *peer, tg_reply_t *reply, int code,
                  const char *text)
{
    /* JSON-RPC requires "id": null for an unknown id; MCP rejects it. */
    if (reply->id.data == NULL && !peer->is_mcp) {
        reply->id = TG_STR("null");
    }

    reply->is_silent = 0;
    tg_reply_reject_request(peer, reply, code, text);

    return TG_OK;
}

/* Drops a notification, which JSON-RPC never answers. */
static int
tg_jsonrpc_drop_notification(tg_peer_t *peer, const char *why)
{
    tg_peer_notify_refused(peer, why);
    tg_peer_log(peer, "invalid notification dropped");

    return TG_OK;
}

/* Compares by value: some languages write 1 as 1.0 or 1e0. */
static int
tg_is_whole_number(tg_str_t raw)
{
    tg_number_t number;

    return tg_number_parse(raw, &number) == TG_OK
           && tg_number_is_integer(&number);
}

/* Returns NULL if the id is acceptable. MCP is stricter than JSON-RPC. */
static const char *
tg_request_id_check(tg_str_t id, int is_mcp)
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

    return id.len > TG_REQUEST_ID_MAX ? "\"id\" is longer than 1024 bytes."
                                      : NULL;
}

static int
tg_jsonrpc_has_object_params(tg_peer_t *peer, tg_str_t name)
{
    const tg_catalog_entry_t *entry;
    tg_str_t type;

    entry = tg_peer_find_entry(peer, TG_ENTRY_METHOD, name);

    return entry != NULL
           && tg_json_has_member(entry->input_schema, TG_STR("type"),
                                 TG_JSON_STRING, &type)
           && tg_json_string_eq(type, TG_STR("object"));
}

static int
tg_jsonrpc_call_method(tg_peer_t *peer, const tg_message_t *message,
                       const tg_reply_t *reply)
{
    tg_request_t request;

    memset(&request, 0, sizeof(request));
    request.name = tg_json_string_body(message->method);
    request.size = message->text.len;
    request.arguments = message->params;
    request.progress_token = message->meta.progress_token;
    request.traceparent = message->meta.traceparent;
    request.tracestate = message->meta.tracestate;
    request.reply = *reply;
    request.reply.kind = TG_ENTRY_METHOD;

    /* PHP writes an empty object as `[]`. */
    if (tg_message_is_empty_array(request.arguments)
        && tg_jsonrpc_has_object_params(peer, request.name))
    {
        request.arguments = TG_STR_NONE;
    }

    tg_peer_dispatch_request(peer, &request);

    return TG_OK;
}

static int
tg_jsonrpc_on_notification(tg_peer_t *peer, const tg_mcp_method_t *known,
                           tg_message_t *message, tg_reply_t *reply)
{
    tg_str_t method, resends;

    method = message->method;

    if (known != NULL) {
        tg_peer_log(peer, "MCP request without an id dropped");

    } else if (tg_json_string_eq(method, TG_STR("notifications/cancelled"))) {
        tg_peer_cancel_request(peer, message->p.request_id);

    } else if (tg_json_string_eq(method, TG_STR("$/cancelRequest"))) {
        tg_peer_cancel_request(peer, message->p.id);

    } else if (tg_json_string_eq(method, TG_STR("notifications/initialized"))) {
        peer->is_mcp = 1;

    } else if (tg_json_string_eq(method, TG_STR(TG_METHOD_TOOLGATE_HELLO))) {
        tg_peer_set_toolgate(peer);
        peer->resends |= tg_json_has_member(message->params, TG_STR("resends"),
                                            TG_JSON_TRUE, &resends);
        tg_peer_read_client_caps(peer, message->params);
        tg_peer_read_hello(peer, message);

    } else {
        message->meta.progress_token = TG_STR_NONE;
        reply->is_silent = 1;
        return tg_jsonrpc_call_method(peer, message, reply);
    }

    return TG_OK;
}

const char *
tg_jsonrpc_check_envelope(tg_peer_t *peer, const tg_mcp_method_t *method,
                          tg_message_t *message, tg_reply_t *reply)
{
    tg_json_type_t params;
    const char *why;

    if (message->has_duplicate) {
        return "A key is duplicated.";
    }

    if (message->id.data != NULL) {
        why = tg_request_id_check(message->id, reply->is_mcp);

        if (why != NULL) {
            return why;
        }

        reply->id = message->id;
    }

    if (!tg_json_string_eq(message->jsonrpc, TG_STR("2.0"))) {
        return "\"jsonrpc\" must be \"2.0\".";
    }

    if (tg_json_type(message->method) != TG_JSON_STRING) {
        return "\"method\" must be a string.";
    }

    if (tg_json_string_body(message->method).len == 0) {
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

    if (reply->is_mcp && tg_peer_has_request_id(peer, reply->id)) {
        return "A request with this \"id\" is still running; give each request "
               "its own.";
    }

    return reply->batch != NULL && method != NULL
                   && (method->flags & TG_METHOD_IS_INITIALIZE)
               ? "initialize must not be part of a batch."
               : NULL;
}

/* Rejects a request. The error's data shows that the code is Toolgate's. */
static int
tg_jsonrpc_reject_leaving(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_outcome_t why;

    why = tg_outcome_make_text(
        TG_STR("This server is about to exit; the request was not started. "
               "Reconnect, and send it again."));
    tg_reply_write_error(peer, reply, TG_RPC_NOT_STARTED, &why,
                         TG_STR(TG_RPC_NOT_STARTED_DATA));

    return TG_OK;
}

static int
tg_jsonrpc_reject_refused_client(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_outcome_t why;

    tg_peer_notify_refused(peer, "all its requests are rejected");
    why = tg_outcome_make_text(peer->refusal);
    tg_reply_write_error(peer, reply, TG_RPC_INTERNAL_ERROR, &why, TG_STR_NONE);

    return TG_OK;
}

static int
tg_jsonrpc_on_request(tg_peer_t *peer, const tg_mcp_method_t *method,
                      tg_message_t *message, tg_reply_t *reply)
{
    if (peer->refusal.len != 0) {
        return tg_jsonrpc_reject_refused_client(peer, reply);
    }

    if (peer->is_leaving) {
        return tg_jsonrpc_reject_leaving(peer, reply);
    }

    if ((method != NULL || message->meta.protocol_version.data != NULL)
        && tg_peer_on_mcp_request(peer, method, message, reply) == TG_OK)
    {
        return TG_OK;
    }

    if (message->meta.progress_token.len > TG_PROGRESS_TOKEN_MAX) {
        return tg_jsonrpc_reject(peer, reply, TG_RPC_INVALID_PARAMS,
                                 "params._meta.progressToken is longer than "
                                 "1024 bytes.");
    }

    return tg_jsonrpc_call_method(peer, message, reply);
}

int
tg_jsonrpc_is_notification(const tg_message_t *message)
{
    return (message->id.data == NULL
            && tg_json_type(message->method) == TG_JSON_STRING)
           || (tg_json_type(message->id) == TG_JSON_NULL
               && tg_message_is_mcp_notification(message->method));
}

static int
tg_jsonrpc_on_message(tg_peer_t *peer, tg_message_t *message, tg_batch_t *batch)
{
    int is_notification;
    const tg_mcp_method_t *method;
    tg_reply_t reply;
    const char *why;

    memset(&reply, 0, sizeof(reply));
    reply.batch = batch;

    if (message->type != TG_JSON_OBJECT) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_INVALID_REQUEST,
                                 "A request must be a JSON object.");
    }

    if (message->method.data == NULL
        && (message->result.data != NULL || message->error.data != NULL))
    {
        tg_peer_on_response(peer, message);
        return TG_OK;
    }

    is_notification = tg_jsonrpc_is_notification(message);

    if (is_notification) {
        message->id = TG_STR_NONE;
    }

    method = tg_mcp_method_find(message->method);
    peer->is_mcp |= message->meta.protocol_version.data != NULL
                    || (method != NULL && !(method->flags & TG_METHOD_IS_PING));
    reply.is_mcp = peer->is_mcp;
    why = tg_jsonrpc_check_envelope(peer, method, message, &reply);

    if (why != NULL && is_notification) {
        return tg_jsonrpc_drop_notification(peer, why);
    }

    if (why != NULL) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_INVALID_REQUEST, why);
    }

    return is_notification
               ? tg_jsonrpc_on_notification(peer, method, message, &reply)
               : tg_jsonrpc_on_request(peer, method, message, &reply);
}

/* Counts the elements, at most up to TG_BATCH_MAX + 1. */
static size_t
tg_batch_count_items(tg_str_t text)
{
    tg_json_cursor_t json;
    size_t n;

    n = 0;
    tg_json_iter_init(&json, text);

    while (n <= TG_BATCH_MAX && tg_json_iter_next(&json, NULL)) {
        n++;
    }

    return n;
}

/* Serves a batch until its end (TG_OK) or that of the slice (TG_AGAIN). */
static int
tg_batch_serve(tg_peer_t *peer, tg_str_t text)
{
    tg_batch_t *batch = peer->priv->batch;

    tg_message_t message;
    tg_str_t element;
    const char *start;
    tg_json_cursor_t json;
    unsigned i;

    tg_json_iter_init(&json, text);
    start = json.pos;

    if (batch->at != 0) {
        json.pos += batch->at;
        json.is_first_entry = 0;

    } else {
        for (i = 0; i < batch->served; i++) {
            (void) tg_json_iter_next(&json, NULL);
        }
    }

    while (tg_json_iter_next(&json, &element)) {
        (void) tg_message_parse(&message, element);
        (void) tg_jsonrpc_on_message(peer, &message, batch);
        batch->served++;
        batch->at = (size_t) (json.pos - start);

        (void) tg_json_peek_type(&json);

        if (*json.pos != ']' && tg_peer_is_slice_over(peer)) {
            return TG_AGAIN;
        }
    }

    tg_peer_end_batch(peer);

    return TG_OK;
}

/* Serves a batch whose whole text is validated. */
static int
tg_jsonrpc_on_batch(tg_peer_t *peer, tg_str_t text)
{
    tg_reply_t reply;
    size_t n;

    memset(&reply, 0, sizeof(reply));

    if (peer->is_mcp
        && strcmp(peer->priv->version, TG_MCP_VERSION_BATCHES) != 0) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_INVALID_REQUEST,
                                 "This protocol version has no batches; send "
                                 "one message per line.");
    }

    n = tg_batch_count_items(text);

    if (n == 0 || n > TG_BATCH_MAX) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_INVALID_REQUEST,
                                 "A batch must have 1 to 1000 requests.");
    }

    peer->priv->batch = tg_batch_new(peer);

    if (peer->priv->batch == NULL) {
        peer->out.failed = 1;
        return TG_OK;
    }

    return tg_batch_serve(peer, text);
}

/* Rejects invalid JSON. why is a short, static text of the parser. */
static int
tg_jsonrpc_reject_malformed(tg_peer_t *peer, tg_reply_t *reply, const char *why)
{
    char text[128] = "Parse error: the line is not valid JSON: ";

    strncat(text, why, sizeof(text) - strlen(text) - 1);

    return tg_jsonrpc_reject(peer, reply, TG_RPC_PARSE_ERROR, text);
}

static int
tg_jsonrpc_serve(tg_peer_t *peer, tg_message_t *message, int rc)
{
    tg_reply_t reply;

    memset(&reply, 0, sizeof(reply));

    if (rc == TG_LIMIT && tg_message_is_mcp_notification(message->method)) {
        return tg_jsonrpc_drop_notification(peer,
                                            "It nests deeper than 128 levels.");
    }

    if (rc == TG_LIMIT) {
        return tg_jsonrpc_reject(peer, &reply, TG_RPC_INVALID_REQUEST,
                                 "The message nests deeper than 128 levels.");
    }

    if (rc != TG_OK) {
        return tg_jsonrpc_reject_malformed(peer, &reply, message->why);
    }

    if (message->type == TG_JSON_ARRAY) {
        return tg_jsonrpc_on_batch(peer, message->text);
    }

    return tg_jsonrpc_on_message(peer, message, NULL);
}

static int
tg_jsonrpc_resume_batch(tg_peer_t *peer, tg_str_t frame)
{
    tg_message_t message;
    int rc;

    /* After a handoff (batch->at is 0) this process must validate again. */
    if (peer->priv->batch->at == 0) {
        rc = tg_message_parse(&message, frame);

        if (rc != TG_OK || message.type != TG_JSON_ARRAY) {
            tg_peer_end_batch(peer);
            return tg_jsonrpc_serve(peer, &message, rc);
        }
    }

    return tg_batch_serve(peer, frame);
}

static int
tg_jsonrpc_is_first_message(const tg_message_t *message)
{
    return message->type != TG_JSON_OBJECT || message->kind.data == NULL;
}

static int
tg_jsonrpc_on_oversized(tg_peer_t *peer, tg_str_t id)
{
    tg_reply_t reply;

    memset(&reply, 0, sizeof(reply));

    if (id.data != NULL && tg_request_id_check(id, peer->is_mcp) == NULL) {
        reply.id = id;
    } else if (!peer->is_mcp) {
        reply.id = TG_STR("null");
    }

    tg_reply_reject_oversized(peer, &reply);

    return TG_OK;
}

static int
tg_jsonrpc_write_failure(tg_peer_t *peer, const tg_reply_t *reply,
                         const tg_outcome_t *outcome)
{
    if (outcome->kind != TG_OUTCOME_FAILURE) {
        return TG_MISSING;
    }

    /* Most failures of a tool are ordinary results. */
    if (reply->kind == TG_ENTRY_TOOL && !outcome->has_code
        && outcome->failure != TG_FAILURE_UNKNOWN
        && outcome->failure != TG_FAILURE_INTERNAL
        && outcome->failure != TG_FAILURE_SIZE)
    {
        return TG_MISSING;
    }

    /* MCP requires data, which a backend may have left out. */
    if (tg_reply_is_resource(reply) && outcome->data.data == NULL
        && (outcome->has_code ? outcome->code == TG_RPC_RESOURCE_NOT_FOUND
                              : outcome->failure == TG_FAILURE_UNKNOWN))
    {
        tg_reply_write_no_resource(peer, reply, outcome);
    } else {
        tg_reply_write_error(peer, reply,
                             tg_reply_get_error_code(reply, outcome), outcome,
                             outcome->data);
    }

    return TG_OK;
}

/* Clients that sent no hello do not know the method. */
static void
tg_jsonrpc_send_shutdown_notice(tg_peer_t *peer, tg_str_t reason)
{
    if (peer->is_toolgate) {
        tg_buf_append_cstr(
            &peer->out,
            "{\"jsonrpc\":\"2.0\",\"method\":\"" TG_METHOD_TOOLGATE_CLOSING
            "\",\"params\":{\"reason\":");
        tg_json_write_string(&peer->out, reason);
        tg_buf_append(&peer->out, "}}\n", 3);
    }
}

/* Answers ping; passes other requests to the host, if it accepts any. */
static int
tg_jsonrpc_on_server_request(tg_caller_t *caller, const tg_message_t *message)
{
    if (message->id.len > TG_REQUEST_ID_MAX) {
        tg_caller_log(caller, "request from the server dropped");
    } else if (tg_json_string_eq(message->method, TG_STR("ping"))) {
        (void) tg_caller_respond_ping(caller, message->id);
    } else if (caller->ops->on_request != NULL) {
        caller->ops->on_request(caller->host, message);
    } else {
        (void) tg_caller_respond_error(caller, message->id,
                                       TG_RPC_METHOD_NOT_FOUND,
                                       "Method not found");
    }

    return TG_OK;
}

static int
tg_jsonrpc_on_server_message(tg_caller_t *caller, const tg_message_t *message)
{
    if (tg_json_type(message->method) != TG_JSON_STRING) {
        return TG_MISSING;
    }

    return message->id.data == NULL
               ? tg_caller_on_notification(caller, message)
               : tg_jsonrpc_on_server_request(caller, message);
}

const tg_dialect_row_t tg_dialect_jsonrpc = {
    .name = "jsonrpc",
    .framing = TG_FRAME_LINE,
    .has_notifications = 1,
    .has_handshake = 1,
    .request = "{\"jsonrpc\":\"2.0\",",
    .answer = TG_STR_INIT("{\"jsonrpc\":\"2.0\","),
    .notification = "{\"jsonrpc\":\"2.0\",",
    .call = "\"tools/call\"",
    .is_first_message = tg_jsonrpc_is_first_message,
    .serve = tg_jsonrpc_serve,
    .resume_batch = tg_jsonrpc_resume_batch,
    .on_oversized = tg_jsonrpc_on_oversized,
    .fail = tg_jsonrpc_write_failure,
    .error = tg_reply_write_error,
    .send_shutdown_notice = tg_jsonrpc_send_shutdown_notice,
    .on_message = tg_jsonrpc_on_server_message,
};
