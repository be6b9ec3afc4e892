/* Replies in the form of each dialect. */
#include "protocol/tg_peer_impl.h"

void
tg_peer_set_toolgate(tg_peer_t *peer)
{
    peer->is_toolgate = 1;

    if (peer->row->max_frame == 0) {
        peer->frame.limit = peer->max_frame + TG_PEER_ENVELOPE_SIZE;
    }
}

void
tg_batch_account_memory(tg_peer_t *peer, tg_batch_t *batch)
{
    peer->priv->memory_bytes += batch->replies.cap - batch->memory_bytes;
    batch->memory_bytes = batch->replies.cap;
}

static tg_buf_t *
tg_reply_get_buf(tg_peer_t *peer, const tg_reply_t *reply)
{
    return reply->batch != NULL ? &reply->batch->replies : &peer->out;
}

tg_buf_t *
tg_reply_open(tg_peer_t *peer, const tg_reply_t *reply, tg_str_t member,
              size_t *start)
{
    tg_buf_t *out;

    out = tg_reply_get_buf(peer, reply);

    if (reply->batch != NULL && out->len != 0) {
        tg_buf_append_char(out, ',');
    }

    *start = reply->batch != NULL ? out->len
                                  : tg_frame_open(peer->frame.kind, out);
    tg_buf_append_str(out, peer->row->answer);

    if (reply->id.data != NULL) {
        tg_buf_append_cstr(out, "\"id\":");
        tg_buf_append_str(out, reply->id);
        tg_buf_append_char(out, ',');
    }

    tg_buf_append_str(out, member);

    return out;
}

void
tg_reply_discard(tg_peer_t *peer, const tg_reply_t *reply, size_t start)
{
    /* In a batch, also remove the comma before the reply. */
    tg_buf_truncate(tg_reply_get_buf(peer, reply),
                    reply->batch != NULL && start != 0 ? start - 1 : start);
}

static void
tg_reply_write_too_large(tg_peer_t *peer, const tg_reply_t *reply, size_t size)
{
    char room[256];
    tg_buf_t text;

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_outcome_write_too_large(&text, size, tg_peer_max_message_size(peer));
    tg_reply_write_failure(peer, reply, TG_FAILURE_SIZE, tg_buf_view(&text));
}

void
tg_reply_close(tg_peer_t *peer, const tg_reply_t *reply, size_t start)
{
    size_t limit, size;
    tg_buf_t *out;
    int rc;

    out = tg_reply_get_buf(peer, reply);
    tg_buf_append_char(out, '}');
    limit = tg_peer_max_message_size(peer);

    if (reply->batch == NULL) {
        size = out->len - start;
        rc = tg_frame_close(peer->frame.kind, out, start,
                            tg_peer_max_reply_size(peer));

    } else {
        /* All replies of a batch must fit in one message. */
        size = out->len + 2;
        rc = size > limit && out->len - start > TG_REPLY_SMALL_MAX ? TG_LIMIT
                                                                   : TG_OK;
    }

    if (tg_buf_has_failed(out)) {
        /* The host sees this failure and closes the connection. */
        peer->out.failed = 1;

    } else if (rc == TG_LIMIT) {
        tg_reply_discard(peer, reply, start);
        tg_reply_write_too_large(peer, reply, size);

    } else {
        peer->last_reply_size = out->len - start;

        if (reply->batch != NULL) {
            tg_batch_account_memory(peer, reply->batch);
        }
    }
}

void
tg_reply_write_server_info(tg_peer_t *peer, tg_buf_t *out, int is_whole)
{
    const tg_server_info_t *info;

    info = peer->priv->info;

    tg_buf_append_cstr(out, "{\"name\":");
    tg_json_write_string(out, info->name);
    tg_buf_append_cstr(out, ",\"version\":");
    tg_json_write_string(out, info->version);

    if (is_whole) {
        tg_json_add_optional(out, "title", info->title);
        tg_json_add_optional(out, "description", info->description);
        tg_json_add_optional(out, "websiteUrl", info->website);
        tg_json_add_compact(out, "icons", info->icons);
    }

    tg_buf_append_char(out, '}');
}

void
tg_reply_write_cache_hint(tg_buf_t *out, int64_t ttl_ms, int is_public)
{
    tg_buf_append_cstr(out, "\"ttlMs\":");
    tg_buf_append_int(out, ttl_ms);
    tg_buf_append_cstr(out, is_public ? ",\"cacheScope\":\"public\""
                                      : ",\"cacheScope\":\"private\"");
}

void
tg_reply_write_modern_meta(tg_peer_t *peer, tg_buf_t *out, tg_str_t meta)
{
    static const char *const none[] = { NULL };

    tg_buf_append_cstr(out, "\"resultType\":\"complete\",\"_meta\":{"
                            "\"io.modelcontextprotocol/serverInfo\":");
    tg_reply_write_server_info(peer, out, 0);

    if (meta.data != NULL) {
        (void) tg_json_write_members_except(out, meta, none, 1);
    }

    tg_buf_append_cstr(out, "},");
}

void
tg_reply_write_error(tg_peer_t *peer, const tg_reply_t *reply, int64_t code,
                     const tg_outcome_t *why, tg_str_t data)
{
    tg_buf_t *out;
    size_t start;

    peer->priv->last_error_code = code;

    if (reply->is_silent) {
        return;
    }

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_ERROR, &start);
    tg_buf_append_cstr(out, "{\"code\":");
    tg_buf_append_int(out, code);
    tg_buf_append_cstr(out, ",\"message\":\"");
    tg_reply_write_text(out, why);
    tg_buf_append_char(out, '"');

    tg_json_add_compact(out, "data", data);
    tg_buf_append_char(out, '}');
    tg_reply_close(peer, reply, start);
}

void
tg_reply_reject_request(tg_peer_t *peer, const tg_reply_t *reply, int64_t code,
                        const char *text)
{
    tg_outcome_t why;

    tg_peer_notify_refused(peer, text);
    why = tg_outcome_make_text(tg_str_from_cstr(text));
    tg_reply_write_error(peer, reply, code, &why, TG_STR_NONE);
}

void
tg_reply_write_empty_result(tg_peer_t *peer, const tg_reply_t *reply)
{
    size_t start;

    tg_buf_append_cstr(
        tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start), "{}");
    tg_reply_close(peer, reply, start);
}

void
tg_reply_reject_oversized(tg_peer_t *peer, const tg_reply_t *reply)
{
    char room[128];
    tg_outcome_t why;
    tg_buf_t text;

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&text,
                  TG_RPC_TOO_LARGE_TEXT "limit of %zu bytes; it was "
                                        "discarded. Send less.",
                  peer->frame.limit);
    tg_peer_notify_refused(peer, "it is too large");
    why = tg_outcome_make_text(tg_buf_view(&text));
    tg_reply_write_error(peer, reply, TG_RPC_INVALID_REQUEST, &why,
                         TG_STR_NONE);
}

int64_t
tg_reply_get_error_code(const tg_reply_t *reply, const tg_outcome_t *outcome)
{
    tg_failure_t failure;

    /* Only this server, no backend, may send NOT_STARTED. */
    if (outcome->has_code && outcome->code != TG_RPC_NOT_STARTED) {
        /* The code of a server of the legacy era, which modern ones lack. */
        return reply->is_modern && tg_reply_is_resource(reply)
                       && outcome->code == TG_RPC_RESOURCE_NOT_FOUND
                   ? TG_RPC_INVALID_PARAMS
                   : outcome->code;
    }

    failure = outcome->failure;

    if (failure == TG_FAILURE_UNKNOWN) {
        return reply->kind == TG_ENTRY_METHOD ? TG_RPC_METHOD_NOT_FOUND
               : !reply->is_modern
                       && (reply->kind == TG_ENTRY_RESOURCE
                           || reply->kind == TG_ENTRY_TEMPLATE)
                   ? TG_RPC_RESOURCE_NOT_FOUND
                   : TG_RPC_INVALID_PARAMS;
    }

    return failure == TG_FAILURE_ARGUMENTS ? TG_RPC_INVALID_PARAMS
                                           : TG_RPC_INTERNAL_ERROR;
}

/* Compact JSON in a string is the text form of structured content. */
static void
tg_reply_write_quoted_json(tg_buf_t *out, tg_str_t raw)
{
    tg_buf_t compact;

    tg_buf_init(&compact, out->alloc);
    tg_json_write_compact(&compact, raw);
    tg_json_write_escaped(out, tg_buf_view(&compact));

    if (tg_buf_has_failed(&compact)) {
        out->failed = 1;
    }

    tg_buf_deinit(&compact);
}

void
tg_reply_write_text(tg_buf_t *out, const tg_outcome_t *outcome)
{
    switch (outcome->kind) {
    case TG_OUTCOME_BODY:
        tg_buf_append_str(out, outcome->value);
        break;
    case TG_OUTCOME_JSON:
        tg_reply_write_quoted_json(out, outcome->value);
        break;
    case TG_OUTCOME_RESULT:
        tg_tool_result_write_texts(out, outcome->value);
        break;
    default:
        tg_json_write_escaped(out, outcome->value);
    }
}

/*
 * Returns 0 if the reply needs the general functions: it is large, modern, has
 * _meta or belongs to a batch.
 */
static int
tg_reply_write_fast_path(tg_peer_t *peer, const tg_reply_t *reply,
                         const tg_outcome_t *outcome)
{
    static const char head[] = "\"result\":" TG_REPLY_TEXT;
    static const char tail[] = TG_REPLY_TEXT_END TG_REPLY_IS_OK "}\n";
    char *start, *p;
    size_t most;

    most = TG_FRAME_PREFIX_SIZE + peer->row->answer.len + reply->id.len
           + sizeof("\"id\":,") + sizeof(head) + outcome->value.len
           + sizeof(tail);

    if (outcome->kind != TG_OUTCOME_BODY || reply->kind != TG_ENTRY_TOOL
        || reply->is_modern || outcome->meta.data != NULL
        || reply->batch != NULL || most > tg_peer_max_message_size(peer))
    {
        return 0;
    }

    start = tg_buf_reserve_space(&peer->out, most);

    if (start == NULL) {
        return 1;
    }

    p = start
        + (peer->frame.kind == TG_FRAME_PREFIX ? TG_FRAME_PREFIX_SIZE : 0);
    p = tg_bytes_copy(p, peer->row->answer.data, peer->row->answer.len);

    if (reply->id.data != NULL) {
        p = tg_bytes_copy(p, "\"id\":", 5);
        p = tg_bytes_copy(p, reply->id.data, reply->id.len);
        *p++ = ',';
    }

    memcpy(p, head, sizeof(head) - 1);
    p += sizeof(head) - 1;
    memcpy(p, outcome->value.data, outcome->value.len);
    p += outcome->value.len;
    memcpy(p, tail, sizeof(tail) - 1);
    p += sizeof(tail) - 1;

    if (peer->frame.kind == TG_FRAME_PREFIX) {
        p--;
        tg_frame_write_prefix(start,
                              (size_t) (p - start) - TG_FRAME_PREFIX_SIZE);
    }

    peer->last_reply_size = (size_t) (p - start);
    peer->out.len += peer->last_reply_size;

    return 1;
}

static void
tg_reply_write_method_result(tg_buf_t *out, const tg_outcome_t *outcome)
{
    if (outcome->kind == TG_OUTCOME_JSON || outcome->kind == TG_OUTCOME_RESULT)
    {
        tg_json_write_compact(out, outcome->value);
        return;
    }

    tg_buf_append_char(out, '"');
    tg_reply_write_text(out, outcome);
    tg_buf_append_char(out, '"');
}

static int
tg_reply_is_too_large(tg_peer_t *peer, const tg_reply_t *reply,
                      const tg_outcome_t *outcome)
{
    size_t least;

    least = tg_peer_check_reply_size(peer, reply, outcome);

    if (least != 0) {
        tg_reply_write_too_large(peer, reply, least);
    }

    return least != 0;
}

void
tg_peer_respond(tg_peer_t *peer, const tg_reply_t *reply,
                const tg_outcome_t *outcome)
{
    tg_tool_result_view_t view = { .structured = TG_JSON_NONE };
    tg_outcome_t unasked;
    tg_buf_t *out;
    size_t start;

    /* An oversized outcome need not be examined further. */
    if (!reply->is_silent && tg_reply_is_too_large(peer, reply, outcome)) {
        return;
    }

    if (reply->is_list && outcome->kind == TG_OUTCOME_JSON) {
        peer->last_failure = TG_FAILURE_NONE;
        tg_peer_respond_list_more(peer, reply, outcome->value);
        return;
    }

    if (outcome->kind == TG_OUTCOME_RESULT && reply->kind != TG_ENTRY_METHOD) {
        tg_tool_result_read_view(outcome->value, &view);
    }

    if (view.is_input_required && !reply->is_modern) {
        unasked = tg_outcome_make_failure(
            TG_FAILURE_PROGRAM,
            reply->kind == TG_ENTRY_TOOL
                ? "The tool needs input from its user first (input_required), "
                  "which only clients of MCP 2026-07-28 support; this client "
                  "does not."
                : "The server needs input from its user first "
                  "(input_required), which only clients of MCP 2026-07-28 "
                  "support; this client does not.");
        outcome = &unasked;
    }

    peer->last_failure = outcome->kind == TG_OUTCOME_RESULT && view.is_error
                             ? TG_FAILURE_PROGRAM
                             : outcome->failure;
    peer->last_reply_size = 0;

    if (reply->is_silent || tg_reply_write_fast_path(peer, reply, outcome)
        || peer->row->fail(peer, reply, outcome) == TG_OK)
    {
        return;
    }

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start);

    if (reply->kind == TG_ENTRY_METHOD) {
        tg_reply_write_method_result(out, outcome);
    } else {
        tg_reply_write_outcome(peer, reply, out, outcome, &view);
    }

    tg_reply_close(peer, reply, start);
}

void
tg_reply_write_failure(tg_peer_t *peer, const tg_reply_t *reply,
                       tg_failure_t failure, tg_str_t text)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make_failure_str(failure, text);
    tg_peer_respond(peer, reply, &outcome);
}
