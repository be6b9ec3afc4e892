/* The `ipc` dialect (docs/protocols.md "ipc"): one call_tool at a time. */
#include "protocol/tg_peer_impl.h"

/* Error text for an outcome without text, such as only images. */
#define TG_IPC_NO_REASON                                                       \
    "The tool says that it failed, but not why: its result has no text. Look " \
    "into its log, or tell its author to say what went wrong."

/* Writes `{"error":{"message":…,"type":…}}`; type is an escaped body. */
static void
tg_ipc_write_exception(tg_peer_t *peer, const tg_reply_t *reply, tg_str_t type,
                       const tg_outcome_t *outcome)
{
    size_t start, text;
    tg_buf_t *out;

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_ERROR, &start);
    tg_buf_append_cstr(out, "{\"message\":\"");
    text = out->len;
    tg_reply_write_text(out, outcome);

    if (out->len == text) {
        tg_buf_append_cstr(out, TG_IPC_NO_REASON);
    }

    tg_buf_append_cstr(out, "\",\"type\":\"");
    tg_buf_append_str(out, type);
    tg_buf_append_cstr(out, "\"}");
    tg_reply_close(peer, reply, start);
}

static int
tg_ipc_reject(tg_peer_t *peer, const char *type, const char *text)
{
    tg_outcome_t outcome;
    tg_reply_t reply;

    tg_peer_notify_refused(peer, text);
    memset(&reply, 0, sizeof(reply));
    outcome = tg_outcome_make_text(tg_str_from_cstr(text));
    tg_ipc_write_exception(peer, &reply, tg_str_from_cstr(type), &outcome);

    return TG_OK;
}

/* Exception classes of the failures, named as in Python. */
static const char *const tg_ipc_types[] = {
    [TG_FAILURE_NONE] = "RuntimeError",
    [TG_FAILURE_UNKNOWN] = "ToolNotFoundError",
    [TG_FAILURE_ARGUMENTS] = "ValidationError",
    [TG_FAILURE_PROGRAM] = "CalledProcessError",
    [TG_FAILURE_TIMEOUT] = "TimeoutError",
    [TG_FAILURE_LOST] = "ConnectionError",
    [TG_FAILURE_BUSY] = "BlockingIOError",
    [TG_FAILURE_ENDED] = "CancelledError",
    [TG_FAILURE_OUTPUT] = "ValueError",
    [TG_FAILURE_INTERNAL] = "RuntimeError",
    [TG_FAILURE_SIZE] = "IPCMessageSizeError",
};

/*
 * ipc has no member for isError, so such a result becomes an exception, with
 * the class *type: the error type in _meta, or a default.
 */
static int
tg_ipc_is_error_result(tg_str_t result, tg_str_t *type)
{
    tg_str_t value, meta;

    if (!tg_tool_result_is_error(result)) {
        return 0;
    }

    *type = TG_STR("IPCToolExecutionError");

    if (tg_json_has_member(result, TG_STR("_meta"), TG_JSON_OBJECT, &meta)
        && tg_json_has_member(meta, TG_STR(TG_META_ERROR_TYPE), TG_JSON_STRING,
                              &value)
        && tg_json_string_body(value).len != 0)
    {
        *type = tg_json_string_body(value);
    }

    return 1;
}

static int
tg_ipc_write_failure(tg_peer_t *peer, const tg_reply_t *reply,
                     const tg_outcome_t *outcome)
{
    tg_str_t type;

    if (outcome->kind == TG_OUTCOME_FAILURE) {
        type = tg_str_from_cstr(tg_ipc_types[outcome->failure]);

    } else if (outcome->kind != TG_OUTCOME_RESULT
               || !tg_ipc_is_error_result(outcome->value, &type))
    {
        return TG_MISSING;
    }

    tg_ipc_write_exception(peer, reply, type, outcome);

    return TG_OK;
}

static void
tg_ipc_write_error(tg_peer_t *peer, const tg_reply_t *reply, int64_t code,
                   const tg_outcome_t *why, tg_str_t data)
{
    tg_ipc_write_exception(peer, reply,
                           code == TG_RPC_INVALID_PARAMS
                               ? TG_STR("ValueError")
                               : TG_STR("RuntimeError"),
                           why);
}

static int
tg_ipc_on_oversized(tg_peer_t *peer, tg_str_t id)
{
    (void) tg_ipc_reject(peer, "IPCMessageSizeError",
                         "The message is larger than 10485760 bytes; send "
                         "less.");

    return TG_CLOSED;
}

static int
tg_ipc_serve(tg_peer_t *peer, tg_message_t *message, int rc)
{
    tg_reply_t reply;
    const char *why;

    if (rc != TG_OK) {
        (void) tg_ipc_reject(peer, "IPCError",
                             rc == TG_LIMIT
                                 ? "The message nests deeper than 128 levels."
                                 : "The message is not valid JSON.");
        return TG_CLOSED;
    }

    if (message->type != TG_JSON_OBJECT || message->has_duplicate) {
        return tg_ipc_reject(peer, "ValueError",
                             "A request must be a JSON object without "
                             "duplicate keys: "
                             "{\"method\":\"call_tool\",\"params\":{…}}.");
    }

    if (!tg_json_string_eq(message->method, TG_STR("call_tool"))) {
        return tg_ipc_reject(peer, "ValueError",
                             "Unknown method; the only one is \"call_tool\".");
    }

    if (tg_json_type(message->p.name) != TG_JSON_STRING) {
        return tg_ipc_reject(peer, "ValueError",
                             "params.name must be the name of a tool.");
    }

    tg_peer_read_meta_client_info(peer, message);
    memset(&reply, 0, sizeof(reply));
    message->meta.progress_token = TG_STR_NONE;
    why = tg_peer_on_call(peer, message, &reply, TG_ENTRY_TOOL);

    if (why != NULL) {
        return tg_ipc_reject(peer, "ValidationError", why);
    }

    return TG_OK;
}

const tg_dialect_row_t tg_dialect_ipc = {
    .name = "ipc",
    .framing = TG_FRAME_PREFIX,
    .max_frame = TG_FRAME_IPC_MAX,
    .is_sequential = 1,
    .is_text_only = 1,
    .request = "{",
    .answer = TG_STR_INIT("{"),
    .call = "\"call_tool\"",
    .serve = tg_ipc_serve,
    .on_oversized = tg_ipc_on_oversized,
    .fail = tg_ipc_write_failure,
    .error = tg_ipc_write_error,
};
