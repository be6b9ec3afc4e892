/*
 * The declared extensions, and the methods of one: skills/list, skills/get and
 * resources/directory/read. The entry whose URIs the skills have serves them,
 * with the form and the errors of resources/read.
 */
#include "protocol/tg_peer_impl.h"

void
tg_server_info_write_extensions(const tg_server_info_t *info, tg_buf_t *out)
{
    static const char *const none[] = { NULL };

    if (info->extensions.data == NULL && !info->has_apps && !info->has_skills) {
        return;
    }

    tg_buf_append_cstr(out, ",\"extensions\":{");

    if (info->extensions.data != NULL) {
        (void) tg_json_write_members_except(out, info->extensions, none, 0);
    }

    if (info->has_apps) {
        tg_json_begin_member(out, TG_MCP_EXTENSION_APPS);
        tg_buf_append_cstr(out, "{}");
    }

    if (info->has_skills) {
        tg_json_begin_member(out, "io.modelcontextprotocol/skills");
        tg_buf_append_cstr(out, "{\"directoryRead\":true}");
    }

    tg_buf_append_char(out, '}');
}

static int
tg_skill_is_visible(const tg_peer_t *peer, const tg_catalog_entry_t *entry)
{
    return entry->has_skills
           && (peer->priv->ops->is_visible == NULL
               || peer->priv->ops->is_visible(peer->host, entry));
}

/* Sets the cursor. Returns 0 after answering with an error. */
static int
tg_skill_read_cursor(tg_peer_t *peer, const tg_message_t *message,
                     const tg_reply_t *reply, tg_request_t *request)
{
    const char *why;

    why = tg_mcp_check_call(message, reply);

    if (why == NULL && message->p.cursor.data != NULL
        && tg_json_type(message->p.cursor) != TG_JSON_STRING)
    {
        why = "params.cursor must be a string.";
    }

    if (why != NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS, why);
        return 0;
    }

    /* Some clients send an empty cursor for the first page. */
    if (!tg_json_string_eq(message->p.cursor, TG_STR(""))) {
        request->cursor = message->p.cursor;
    }

    return 1;
}

void
tg_mcp_on_skills_list(tg_peer_t *peer, const tg_message_t *message,
                      tg_reply_t *reply)
{
    const tg_catalog_entry_t *entry;
    tg_request_t request;
    tg_outcome_t outcome;
    size_t i;

    tg_request_init(&request, message, reply, TG_ENTRY_TEMPLATE);
    request.skill_method = TG_SKILL_LIST;

    if (!tg_skill_read_cursor(peer, message, reply, &request)) {
        return;
    }

    for (i = 0; i < tg_catalog_size(peer->catalog); i++) {
        entry = tg_catalog_get_entry(peer->catalog, i);

        if (tg_skill_is_visible(peer, entry)) {
            request.name = entry->name;
            tg_peer_serve_entry(peer, &request, entry);
            return;
        }
    }

    outcome = tg_outcome_make(TG_OUTCOME_RESULT, TG_STR("{\"skills\":[]}"));
    tg_peer_respond(peer, &request.reply, &outcome);
}

/* Serves a method about one URI. */
static void
tg_skill_on_uri(tg_peer_t *peer, const tg_message_t *message, tg_reply_t *reply,
                tg_skill_method_t method)
{
    const tg_catalog_entry_t *entry;
    tg_request_t request;
    tg_buf_t arguments;
    char room[TG_URI_MAX];
    tg_str_t uri;

    uri = tg_mcp_read_uri(peer, message, reply, room);

    if (uri.data == NULL) {
        return;
    }

    tg_request_init(&request, message, reply, TG_ENTRY_TEMPLATE);
    request.skill_method = method;
    request.name = reply->subject;

    if (!tg_skill_read_cursor(peer, message, reply, &request)) {
        return;
    }

    tg_buf_init(&arguments, peer->priv->alloc);
    entry = tg_catalog_find_uri(peer->catalog, uri, &arguments);

    if (tg_buf_has_failed(&arguments)) {
        tg_reply_write_failure(peer, &request.reply, TG_FAILURE_INTERNAL,
                               TG_STR(TG_TEXT_NO_MEMORY));
    } else if (entry == NULL || !tg_skill_is_visible(peer, entry)) {
        tg_peer_respond_unknown(peer, &request);
    } else {
        request.arguments = tg_buf_view(&arguments);
        tg_peer_serve_entry(peer, &request, entry);
    }

    tg_buf_deinit(&arguments);
}

void
tg_mcp_on_skills_get(tg_peer_t *peer, const tg_message_t *message,
                     tg_reply_t *reply)
{
    tg_skill_on_uri(peer, message, reply, TG_SKILL_GET);
}

void
tg_mcp_on_directory_read(tg_peer_t *peer, const tg_message_t *message,
                         tg_reply_t *reply)
{
    tg_skill_on_uri(peer, message, reply, TG_SKILL_DIRECTORY);
}
