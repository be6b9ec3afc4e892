/*
 * The `relay` dialect (docs/protocols.md "relay"). Unknown and malformed frames
 * are ignored.
 */
#include "protocol/tg_peer_impl.h"
#include "protocol/tg_caller_impl.h"

/* Checks for an id that a client can match: a short string or number. */
static int
tg_relay_is_usable_id(tg_str_t id)
{
    tg_json_type_t type;

    type = tg_json_type(id);

    return (type == TG_JSON_NUMBER || type == TG_JSON_STRING)
           && id.len <= TG_REQUEST_ID_MAX;
}

static void
tg_relay_on_request(tg_peer_t *peer, const tg_message_t *message)
{
    tg_reply_t reply;
    const char *why;

    if (!tg_relay_is_usable_id(message->id) || message->has_duplicate) {
        tg_peer_log(peer, "relay request without a usable id dropped");
        return;
    }

    tg_peer_read_meta_client_info(peer, message);
    memset(&reply, 0, sizeof(reply));
    reply.id = message->id;
    reply.kind = TG_ENTRY_TOOL;
    reply.is_mcp = 1;

    if (tg_json_string_eq(message->method, TG_STR("tools/list"))) {
        tg_peer_on_list(peer, message, &reply, TG_ENTRY_TOOL);

    } else if (tg_json_string_eq(message->method, TG_STR("tools/call"))) {
        why = tg_peer_on_call(peer, message, &reply, TG_ENTRY_TOOL);

        if (why != NULL) {
            tg_reply_write_failure(peer, &reply, TG_FAILURE_ARGUMENTS,
                                   tg_str_from_cstr(why));
        }

    } else {
        tg_reply_reject_request(peer, &reply, TG_RPC_METHOD_NOT_FOUND,
                                "Method not found; the methods are tools/list "
                                "and tools/call.");
    }
}

static int
tg_relay_serve(tg_peer_t *peer, tg_message_t *message, int rc)
{
    if (rc != TG_OK || message->type != TG_JSON_OBJECT) {
        tg_peer_log(peer, "malformed relay frame dropped");
        return TG_OK;
    }

    if (tg_json_string_eq(message->kind, TG_STR("mcp_request"))) {
        tg_relay_on_request(peer, message);
        return TG_OK;
    }

    /* Both sides close the connection after "shutdown" and after "error". */
    if (tg_json_string_eq(message->kind, TG_STR("shutdown"))) {
        return TG_CLOSED;
    }

    if (tg_json_string_eq(message->kind, TG_STR("error"))) {
        tg_peer_log(peer, "relay client reported an error");
        return TG_CLOSED;
    }

    tg_peer_log(peer, "relay frame of an unexpected type dropped");

    return TG_OK;
}

static int
tg_relay_is_first_message(const tg_message_t *message)
{
    return message->type == TG_JSON_OBJECT && message->kind.data != NULL;
}

static int
tg_relay_on_oversized(tg_peer_t *peer, tg_str_t id)
{
    tg_reply_t reply;

    tg_peer_log(peer, "relay frame larger than 1 MiB dropped");

    if (tg_relay_is_usable_id(id)) {
        memset(&reply, 0, sizeof(reply));
        reply.id = id;
        tg_reply_reject_oversized(peer, &reply);
    }

    return TG_OK;
}

/* Writes an error, or returns TG_MISSING for a failure of the tool itself. */
static int
tg_relay_write_failure(tg_peer_t *peer, const tg_reply_t *reply,
                       const tg_outcome_t *outcome)
{
    if (outcome->kind != TG_OUTCOME_FAILURE
        || (!outcome->has_code && outcome->failure != TG_FAILURE_LOST
            && outcome->failure != TG_FAILURE_INTERNAL
            && outcome->failure != TG_FAILURE_SIZE))
    {
        return TG_MISSING;
    }

    tg_reply_write_error(peer, reply,
                         outcome->has_code
                             ? outcome->code
                             : tg_reply_get_error_code(reply, outcome),
                         outcome, outcome->data);

    return TG_OK;
}

/* Writes "shutdown", which is identical for client and server. */
static void
tg_relay_write_shutdown(tg_buf_t *out, tg_str_t reason)
{
    tg_buf_append_cstr(out, "{\"kind\":\"shutdown\",\"reason\":");
    tg_json_write_string(out, reason);
    tg_buf_append_char(out, '}');
}

static void
tg_relay_send_shutdown_notice(tg_peer_t *peer, tg_str_t reason)
{
    tg_relay_write_shutdown(&peer->out, reason);
    tg_buf_append_char(&peer->out, '\n');
}

static void
tg_relay_send_refusal(tg_peer_t *peer, tg_str_t why)
{
    tg_buf_append_cstr(&peer->out, "{\"kind\":\"error\",\"message\":");
    tg_json_write_string(&peer->out, why);
    tg_buf_append(&peer->out, "}\n", 2);
}

static int
tg_relay_on_server_message(tg_caller_t *caller, const tg_message_t *message)
{
    if (tg_json_string_eq(message->kind, TG_STR("shutdown"))) {
        return tg_caller_on_shutdown_notice(caller, message->reason);
    }

    if (tg_json_string_eq(message->kind, TG_STR("error"))) {
        return tg_caller_on_error_notice(caller, message);
    }

    if (!tg_json_string_eq(message->kind, TG_STR("mcp_notification"))) {
        tg_caller_log(caller, "frame of an unexpected type dropped");
        return TG_OK;
    }

    if (tg_json_type(message->method) != TG_JSON_STRING) {
        return TG_MISSING;
    }

    if (message->id.data != NULL) {
        tg_caller_log(caller, "request from the server dropped");
        return TG_OK;
    }

    return tg_caller_on_notification(caller, message);
}

const tg_dialect_row_t tg_dialect_relay = {
    .name = "relay",
    .framing = TG_FRAME_LINE,
    .max_frame = TG_FRAME_RELAY_MAX - 1,
    .has_implicit_list_changed = 1,
    .has_unpaged_list = 1,
    .is_bridge = 1,
    .experimental = "{\"claude/channel\":{}}",
    .request = "{\"kind\":\"mcp_request\",",
    .answer = TG_STR_INIT("{\"kind\":\"mcp_response\","),
    .notification = "{\"kind\":\"mcp_notification\",",
    .call = "\"tools/call\"",
    .is_first_message = tg_relay_is_first_message,
    .serve = tg_relay_serve,
    .on_oversized = tg_relay_on_oversized,
    .fail = tg_relay_write_failure,
    .error = tg_reply_write_error,
    .send_shutdown_notice = tg_relay_send_shutdown_notice,
    .send_refusal = tg_relay_send_refusal,
    .shutdown = tg_relay_write_shutdown,
    .on_message = tg_relay_on_server_message,
};
