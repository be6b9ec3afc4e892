/* Results of calls, as MCP defines them for each kind of entry. */
#include "protocol/tg_peer_impl.h"

/* Ends the result with its own _meta and the added members. */
static void
tg_reply_write_meta(tg_peer_t *peer, const tg_reply_t *reply, tg_buf_t *out,
                    const tg_outcome_t *outcome)
{
    static const char *const none[] = { NULL };
    tg_str_t meta, value;
    size_t n;

    tg_buf_append_cstr(out, "\"_meta\":{");
    n = 0;

    if (!tg_json_has_member(outcome->value, TG_STR("_meta"), TG_JSON_OBJECT,
                            &meta)) {
        meta = TG_STR("{}");
    }

    if (reply->is_modern
        && tg_json_get_member(
               meta, TG_STR("io.modelcontextprotocol/serverInfo"), &value)
               != TG_OK)
    {
        tg_buf_append_cstr(out, "\"io.modelcontextprotocol/serverInfo\":");
        tg_reply_write_server_info(peer, out, 0);
        n++;
    }

    if (outcome->meta.data != NULL) {
        n = tg_json_write_members_except(out, outcome->meta, none, n);
    }

    (void) tg_json_write_members_except(out, meta, none, n);
    tg_buf_append_cstr(out, "}}");
}

/* Checks for a value that the legacy era, which has only objects, lacks. */
static int
tg_reply_is_structured_modern_only(const tg_reply_t *reply,
                                   const tg_tool_result_view_t *view)
{
    return !reply->is_modern && view->structured != TG_JSON_NONE
           && view->structured != TG_JSON_OBJECT;
}

/* Appends the cache hint of a result, unless the result has its own. */
static void
tg_reply_add_cache_hint(const tg_reply_t *reply, tg_buf_t *out, tg_str_t raw)
{
    tg_str_t value;

    if (tg_json_get_member(raw, TG_STR("ttlMs"), &value) != TG_OK) {
        tg_json_add_int(out, "ttlMs", reply->ttl_ms);
    }

    if (tg_json_get_member(raw, TG_STR("cacheScope"), &value) != TG_OK) {
        tg_json_add_string(out, "cacheScope",
                           reply->is_public ? TG_STR("public")
                                            : TG_STR("private"));
    }
}

/* Sends a whole result to a legacy client, without modern members. */
static void
tg_reply_write_legacy_result(tg_buf_t *out, const tg_outcome_t *outcome)
{
    static const char *const modern[] = { "resultType", "ttlMs", "cacheScope",
                                          NULL };

    tg_buf_append_char(out, '{');
    (void) tg_json_write_members_except(out, outcome->value, modern, 0);
    tg_buf_append_char(out, '}');
}

/*
 * Appends the modern member resultType. Only the server behind a proxy may
 * have types of an extension.
 */
static void
tg_reply_write_type(const tg_peer_t *peer, tg_buf_t *out, tg_str_t raw,
                    const tg_tool_result_view_t *view)
{
    tg_str_t type;

    if (!peer->priv->ops->is_proxy
        || !tg_json_has_member(raw, TG_STR("resultType"), TG_JSON_STRING,
                               &type))
    {
        type = view->is_input_required ? TG_STR("\"input_required\"")
                                       : TG_STR("\"complete\"");
    }

    tg_buf_append_cstr(out, "\"resultType\":");
    tg_buf_append_str(out, type);
}

/* Adds the modern members to a handler's whole result. */
static void
tg_reply_write_result(tg_peer_t *peer, const tg_reply_t *reply, tg_buf_t *out,
                      const tg_outcome_t *outcome,
                      const tg_tool_result_view_t *view)
{
    static const char *const ours[] = { "structuredContent", "resultType",
                                        "_meta", NULL };
    int is_modern_only;
    tg_str_t raw;
    size_t n;

    raw = outcome->value;
    is_modern_only = reply->kind == TG_ENTRY_TOOL
                     && tg_reply_is_structured_modern_only(reply, view);

    if (!reply->is_modern && reply->kind != TG_ENTRY_TOOL) {
        tg_reply_write_legacy_result(out, outcome);
        return;
    }

    if (!reply->is_modern && outcome->meta.data == NULL && !is_modern_only) {
        tg_json_write_compact(out, raw);
        return;
    }

    tg_buf_append_char(out, '{');

    if (reply->is_modern) {
        tg_reply_write_type(peer, out, raw, view);
    }

    n = tg_json_write_members_except(out, raw, &ours[is_modern_only ? 0 : 1],
                                     reply->is_modern);

    if (tg_reply_is_resource(reply) && !view->is_input_required) {
        tg_reply_add_cache_hint(reply, out, raw);
    }

    tg_buf_append_cstr(out, n != 0 ? "," : "");
    tg_reply_write_meta(peer, reply, out, outcome);
}

static void
tg_reply_write_tool_result(tg_peer_t *peer, const tg_reply_t *reply,
                           tg_buf_t *out, const tg_outcome_t *outcome,
                           const tg_tool_result_view_t *view)
{
    int is_text_only;

    is_text_only = peer->row->is_text_only;

    if (outcome->kind == TG_OUTCOME_RESULT && !is_text_only) {
        tg_reply_write_result(peer, reply, out, outcome, view);
        return;
    }

    if (reply->is_modern) {
        tg_buf_append_char(out, '{');
        tg_reply_write_modern_meta(peer, out, outcome->meta);
    }

    tg_buf_append_cstr(out, &TG_REPLY_TEXT[reply->is_modern ? 1 : 0]);
    tg_reply_write_text(out, outcome);
    tg_buf_append_cstr(out, TG_REPLY_TEXT_END);

    if (tg_reply_is_structured(peer, reply, outcome)) {
        tg_json_add_compact(out, "structuredContent", outcome->value);
    }

    if (!reply->is_modern && !is_text_only) {
        tg_json_add_compact(out, "_meta", outcome->meta);
    }

    tg_buf_append_cstr(out, outcome->kind == TG_OUTCOME_FAILURE
                                ? ",\"isError\":true}"
                                : TG_REPLY_IS_OK);
}

/* Appends the contents of a resource: its text, or its bytes in base64. */
static void
tg_reply_write_contents(const tg_reply_t *reply, tg_buf_t *out,
                        const tg_outcome_t *outcome)
{
    tg_buf_append_cstr(out, "\"contents\":[{\"uri\":\"");
    tg_buf_append_str(out, reply->subject);
    tg_buf_append_char(out, '"');
    tg_json_add_optional(out, "mimeType", reply->mime);
    tg_buf_append_cstr(out, outcome->kind == TG_OUTCOME_BLOB ? ",\"blob\":\""
                                                             : ",\"text\":\"");

    if (outcome->kind == TG_OUTCOME_BLOB) {
        tg_buf_append_str(out, outcome->value);
    } else {
        tg_reply_write_text(out, outcome);
    }

    tg_buf_append_cstr(out, "\"}]");
}

/* Appends the text of a handler as the one message of a prompt. */
static void
tg_reply_write_messages(tg_buf_t *out, const tg_outcome_t *outcome)
{
    tg_buf_append_cstr(out, "\"messages\":[{\"role\":\"user\",\"content\":{"
                            "\"type\":\"text\",\"text\":\"");
    tg_reply_write_text(out, outcome);
    tg_buf_append_cstr(out, "\"}}]");
}

/* Writes a whole result of another server. */
static void
tg_reply_write_passed_result(tg_peer_t *peer, const tg_reply_t *reply,
                             tg_buf_t *out, const tg_outcome_t *outcome,
                             const tg_tool_result_view_t *view)
{
    tg_outcome_t shorter;
    tg_buf_t text;

    shorter = *outcome;
    tg_buf_init(&text, out->alloc);

    if (reply->kind == TG_ENTRY_COMPLETION
        && tg_completion_shorten_result(&text, outcome->value))
    {
        shorter.value = tg_buf_view(&text);
    }

    if (tg_buf_has_failed(&text)) {
        out->failed = 1;
    } else {
        tg_reply_write_result(peer, reply, out, &shorter, view);
    }

    tg_buf_deinit(&text);
}

void
tg_reply_write_outcome(tg_peer_t *peer, const tg_reply_t *reply, tg_buf_t *out,
                       const tg_outcome_t *outcome,
                       const tg_tool_result_view_t *view)
{
    if (reply->kind == TG_ENTRY_TOOL) {
        tg_reply_write_tool_result(peer, reply, out, outcome, view);
        return;
    }

    if (outcome->kind == TG_OUTCOME_RESULT) {
        tg_reply_write_passed_result(peer, reply, out, outcome, view);
        return;
    }

    tg_buf_append_char(out, '{');

    if (reply->is_modern) {
        tg_reply_write_modern_meta(peer, out, outcome->meta);
    }

    if (tg_reply_is_resource(reply)) {
        tg_reply_write_contents(reply, out, outcome);

        if (reply->is_modern) {
            tg_buf_append_char(out, ',');
            tg_reply_write_cache_hint(out, reply->ttl_ms, reply->is_public);
        }

    } else if (reply->kind == TG_ENTRY_PROMPT) {
        tg_reply_write_messages(out, outcome);

    } else {
        tg_completion_write_values(out, outcome, reply->subject);
    }

    if (!reply->is_modern) {
        tg_json_add_compact(out, "_meta", outcome->meta);
    }

    tg_buf_append_char(out, '}');
}
