/*
 * The `ipc` dialect (docs/protocols.md "ipc"): one call_tool at a time.
 */
#include "core/tg_peer_impl.h"

static int
tg_ipc_reject(tg_peer_t *peer, const tg_reply_t *reply, const char *type,
              const char *text)
{
    tg_reply_exception(peer, reply, type, tg_str_c(text));

    return TG_OK;
}

int
tg_peer_ipc(tg_peer_t *peer, tg_str_t frame)
{
    tg_message_t message;
    tg_request_t request;
    tg_reply_t *reply;
    int rc;

    memset(&request, 0, sizeof(request));
    reply = &request.reply;
    reply->kind = TG_ENTRY_TOOL;
    rc = tg_message_parse(&message, frame);

    if (rc != TG_OK) {
        (void) tg_ipc_reject(peer, reply, "IPCError",
                             rc == TG_LIMIT
                                 ? "The message nests deeper than 128 levels."
                                 : "The message is no valid JSON.");
        return TG_CLOSED;
    }

    if (message.type != TG_JSON_OBJECT || message.has_duplicate) {
        return tg_ipc_reject(peer, reply, "ValueError",
                             "A request is a JSON object, each key in it once: "
                             "{\"method\":\"call_tool\",\"params\":{…}}.");
    }

    if (!tg_json_is_text(message.method, TG_STR("call_tool"))) {
        return tg_ipc_reject(peer, reply, "ValueError",
                             "Unknown method; the only one is \"call_tool\".");
    }

    if (tg_json_type(message.p.name) != TG_JSON_STRING) {
        return tg_ipc_reject(peer, reply, "ValueError",
                             "params.name must be the name of a tool.");
    }

    if (message.p.arguments.data != NULL
        && tg_json_type(message.p.arguments) != TG_JSON_OBJECT)
    {
        return tg_ipc_reject(peer, reply, "ValidationError",
                             "params.arguments must be an object.");
    }

    request.name = tg_json_body(message.p.name);
    request.arguments = message.p.arguments.data != NULL ? message.p.arguments
                                                         : TG_STR("{}");
    request.notes = &message.notes;
    request.entry = tg_catalogue_find(peer->catalogue, TG_ENTRY_TOOL,
                                      request.name);
    tg_peer_dispatch(peer, &request);

    return TG_OK;
}

const tg_dialect_row_t tg_dialect_ipc = {
    .name = "ipc",
    .framing = TG_FRAME_PREFIX,
    .max_frame = TG_FRAME_IPC_MAX,
    .is_sequential = 1,
    .opening = "{",
    .call = "\"call_tool\"",
};
