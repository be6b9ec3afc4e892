/* Responses to tools/list and the lists of other kinds, in pages or whole. */
#include "protocol/tg_peer_impl.h"

/* Returns _meta in json; absent if it would take too much of a message. */
static tg_str_t
tg_peer_get_list_meta(tg_peer_t *peer, tg_str_t cursor, tg_buf_t *json)
{
    if (cursor.data == NULL && peer->priv->ops->write_list_meta != NULL) {
        peer->priv->ops->write_list_meta(peer->host, json);
    }

    return json->len != 0 && !tg_buf_has_failed(json)
                   && json->len <= tg_peer_max_message_size(peer)
                                       / TG_LIST_META_DIVISOR
               ? tg_buf_view(json)
               : TG_STR_NONE;
}

/* Writes a whole list; above the largest message an error. */
static void
tg_peer_respond_whole_list(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_buf_t *out, text, meta;
    size_t start, size;
    tg_outcome_t why;
    char room[256];

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start);
    tg_buf_append_char(out, '{');
    tg_catalog_write_whole_list(peer->catalog, peer->priv->ops->is_visible,
                                peer->host, out);
    size = out->len;
    tg_buf_init(&meta, tg_alloc_libc());
    tg_json_add_compact(out, "_meta",
                        tg_peer_get_list_meta(peer, TG_STR_NONE, &meta));
    tg_buf_deinit(&meta);

    /* Omit _meta if it makes the message too large. */
    if (out->len - start + 2 > tg_peer_max_message_size(peer)) {
        tg_buf_truncate(out, size);
    }

    tg_buf_append_char(out, '}');
    size = out->len - start + 1;

    if (size <= tg_peer_max_message_size(peer)) {
        tg_reply_close(peer, reply, start);
        return;
    }

    tg_reply_discard(peer, reply, start);
    text = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&text,
                  "The list of tools has %zu bytes, more than the %zu of a "
                  "message. Describe the tools in fewer words, or offer some "
                  "of them on another socket.",
                  size, tg_peer_max_message_size(peer));
    why = tg_outcome_make_text(tg_buf_view(&text));
    tg_reply_write_error(peer, reply, TG_RPC_INTERNAL_ERROR, &why, TG_STR_NONE);
}

size_t
tg_dialect_list_message_size(const tg_dialect_row_t *row,
                             const tg_catalog_t *catalog)
{
    static const char rest[] = "\"id\":-9223372036854775808,"
                               "\"result\":{\"tools\":[]}}";
    size_t size;

    size = tg_catalog_list_size(catalog);

    /* Each tool is counted with a comma; the last one has none. */
    return row->answer.len + sizeof(rest) - 1 + size - (size != 0);
}

static void
tg_peer_respond_list(tg_peer_t *peer, const tg_reply_t *reply,
                     tg_list_page_t page)
{
    tg_buf_t *out, json;
    tg_str_t meta;
    size_t start;
    int rc;

    if (page.kind == TG_ENTRY_TOOL && page.cursor.data == NULL
        && peer->row->has_unpaged_list)
    {
        tg_peer_respond_whole_list(peer, reply);
        return;
    }

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start);
    tg_buf_append_char(out, '{');
    tg_buf_init(&json, tg_alloc_libc());
    meta = page.kind == TG_ENTRY_TOOL
               ? tg_peer_get_list_meta(peer, page.cursor, &json)
               : TG_STR_NONE;

    if (reply->is_modern) {
        tg_reply_write_modern_meta(peer, out, meta);
        tg_reply_write_cache_hint(out, peer->priv->info->list_ttl_ms,
                                  peer->priv->info->is_list_public);
        tg_buf_append_char(out, ',');
    }

    page.is_legacy = !reply->is_modern;
    rc = tg_catalog_write_list(peer->catalog, &page,
                               peer->priv->ops->is_visible, peer->host, out);

    if (!reply->is_modern) {
        tg_json_add_compact(out, "_meta", meta);
    }

    tg_buf_deinit(&json);

    if (rc != TG_OK) {
        tg_reply_discard(peer, reply, start);
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "This cursor is not of this list (it may have changed); "
            "ask for the list without one.");
        return;
    }

    tg_buf_append_char(out, '}');
    tg_reply_close(peer, reply, start);
}

void
tg_peer_respond_list_more(tg_peer_t *peer, const tg_reply_t *reply,
                          tg_str_t json)
{
    static const char *const names[] = { "resources", "next", NULL };
    tg_list_page_t page = { .kind = TG_ENTRY_RESOURCE };
    tg_str_t values[2];
    tg_buf_t cursor;

    (void) tg_json_get_members(json, names, values);

    if (tg_json_type(values[0]) == TG_JSON_ARRAY) {
        page.more = tg_str(values[0].data + 1, values[0].len - 2);
    }

    if (tg_json_type(values[1]) == TG_JSON_STRING) {
        page.next_cursor = values[1];
    }

    tg_buf_init(&cursor, peer->priv->alloc);

    if (reply->subject.len != 0) {
        tg_buf_append_char(&cursor, '"');
        tg_buf_append_str(&cursor, reply->subject);
        tg_buf_append_char(&cursor, '"');
        page.cursor = tg_buf_view(&cursor);
        page.is_after_catalog = reply->subject.data[0] == TG_CURSOR_OF_MORE;
    }

    tg_peer_respond_list(peer, reply, page);
    peer->out.failed |= tg_buf_has_failed(&cursor);
    tg_buf_deinit(&cursor);
}

void
tg_call_respond_list(tg_call_t *call, const tg_list_page_t *page)
{
    tg_peer_respond_list(call->peer, &call->reply, *page);
    tg_call_forget(call);
}

void
tg_peer_on_list(tg_peer_t *peer, const tg_message_t *message,
                const tg_reply_t *reply, tg_catalog_entry_type_t kind)
{
    tg_list_page_t page = { .kind = kind };
    tg_request_t request;

    /* Some clients send an empty cursor for the first page. */
    page.cursor = tg_json_string_eq(message->p.cursor, TG_STR(""))
                      ? TG_STR_NONE
                      : message->p.cursor;

    if (peer->priv->ops->list != NULL) {
        memset(&request, 0, sizeof(request));
        request.reply = *reply;

        /* Makes failures JSON-RPC errors: a tool result would not be a list. */
        request.reply.kind = TG_ENTRY_METHOD;
        request.reply.is_list = kind == TG_ENTRY_RESOURCE;
        request.reply.subject = tg_json_type(page.cursor) == TG_JSON_STRING
                                    ? tg_json_string_body(page.cursor)
                                    : TG_STR_NONE;
        request.list_kind = kind;
        request.cursor = page.cursor;
        request.text = message->text;

        if (peer->priv->ops->list(peer->host, peer, &request) != TG_END) {
            return;
        }
    }

    tg_peer_respond_list(peer, reply, page);
}
