/* Loading of a saved peer. */
#include "catalog/tg_mime_type.h"
#include "protocol/tg_peer_snapshot_impl.h"

/* A restored call and its data for tg_peer_restore_call_pt. */
typedef struct {
    tg_call_t call;
    const tg_catalog_entry_t *now;
    tg_str_t token; /* within the state */
} tg_restored_call_t;

static void
tg_snapshot_load_head(tg_peer_t *peer, tg_snapshot_reader_t *state,
                      tg_catalog_view_t *view)
{
    tg_frame_type_t kind;
    tg_dialect_t dialect;
    tg_str_t version, client, client_version, via;
    unsigned flags, log_level, i;

    dialect = (tg_dialect_t) tg_snapshot_read_enum(state, TG_DIALECT_COUNT - 1);
    kind = (tg_frame_type_t) tg_snapshot_read_enum(state, TG_FRAME_PREFIX);
    flags = (unsigned) tg_snapshot_read_number(state, 2);
    version = tg_snapshot_read_str(state);
    client = tg_snapshot_read_text(state, TG_CLIENT_NAME_MAX);
    client_version = tg_snapshot_read_text(state, TG_CLIENT_VERSION_MAX);
    via = tg_snapshot_read_text(state, TG_CLIENT_VIA_MAX);
    log_level = tg_snapshot_read_enum(state, TG_MCP_LOG_EMERGENCY);

    for (i = 0; i < TG_ENTRY_KINDS; i++) {
        view->kinds[i] = tg_snapshot_read_number(state, 8);
    }

    if (state->is_bad || version.len >= sizeof(peer->priv->version)
        || (dialect == TG_DIALECT_AUTO
                ? kind == TG_FRAME_PREFIX
                : kind != tg_dialect_get(dialect)->framing))
    {
        state->is_bad = 1;
        return;
    }

    /* A connection that received nothing keeps the peer's dialect. */
    if (kind != TG_FRAME_AUTO) {
        peer->frame.limit = peer->max_frame;
        tg_peer_set_dialect(peer, dialect);
        peer->frame.kind = kind;
    }

    if (version.len != 0) {
        memcpy(peer->priv->version, version.data, version.len);
    }

    tg_peer_set_client_info(peer, client, client_version, via);

    peer->frame.is_discarding = (flags & TG_SNAPSHOT_IS_DISCARDING) != 0;
    peer->priv->is_awaiting_id = (flags & TG_SNAPSHOT_IS_REFUSING) != 0;
    peer->priv->is_response = (flags & TG_SNAPSHOT_IS_RESPONSE) != 0;
    peer->priv->is_notification = (flags & TG_SNAPSHOT_IS_NOTIFICATION) != 0;
    peer->is_mcp = (flags & TG_SNAPSHOT_IS_MCP) != 0;
    peer->is_legacy = (flags & TG_SNAPSHOT_IS_LEGACY) != 0;
    peer->is_modern = (flags & TG_SNAPSHOT_IS_MODERN_PEER) != 0;

    if (flags & TG_SNAPSHOT_IS_TOOLGATE) {
        tg_peer_set_toolgate(peer);
    }

    peer->resends = (flags & TG_SNAPSHOT_RESENDS) != 0;
    peer->is_closing = (flags & TG_SNAPSHOT_IS_CLOSING) != 0;
    peer->priv->declared = flags / TG_SNAPSHOT_DECLARED & TG_CAPABILITIES_ALL;
    peer->priv->log_level = log_level & 15;
}

static int
tg_snapshot_load_subscriptions(tg_peer_t *peer, tg_snapshot_reader_t *state)
{
    tg_subscription_t **at;
    unsigned n, asked;
    tg_str_t id;

    n = tg_snapshot_read_count(state, 5);

    if (n > TG_SUBSCRIPTIONS_MAX) {
        return TG_INVALID;
    }

    for (at = &peer->priv->subscriptions; n != 0; at = &(*at)->next, n--) {
        id = tg_snapshot_read_id(state);
        asked = tg_snapshot_read_enum(state, TG_FILTER_ALL);

        if (state->is_bad || id.data == NULL) {
            return TG_INVALID;
        }

        if (tg_subscription_add(peer, at, id) != TG_OK) {
            return TG_NOMEM;
        }

        (*at)->filter = asked;
    }

    return TG_OK;
}

static int
tg_snapshot_load_resources(tg_peer_t *peer, tg_snapshot_reader_t *state)
{
    tg_subscription_t *sub;
    unsigned n, position;
    tg_str_t uri;
    int rc;

    rc = TG_OK;

    for (n = tg_snapshot_read_count(state, 16); rc == TG_OK && n != 0; n--) {
        position = (unsigned) tg_snapshot_read_number(state, 4);
        uri = tg_snapshot_read_text(state, TG_URI_MAX);
        sub = position != 0 ? peer->priv->subscriptions : NULL;

        for (/* void */; position > 1 && sub != NULL; position--) {
            sub = sub->next;
        }

        if (state->is_bad || uri.len == 0 || (position != 0 && sub == NULL)) {
            return TG_INVALID;
        }

        rc = tg_resource_subscription_add(peer, sub, uri);
        tg_peer_set_resource_version(peer, uri,
                                     tg_snapshot_read_number(state, 8));
    }

    return rc == TG_OK && state->is_bad ? TG_INVALID : rc;
}

static int
tg_snapshot_load_server_requests(tg_peer_t *peer, tg_snapshot_reader_t *state)
{
    uint64_t id, tag;
    unsigned n;

    peer->client_caps = tg_snapshot_read_enum(state, TG_CLIENT_CAPS_ALL)
                        & TG_CLIENT_CAPS_ALL;
    peer->priv->asked = (unsigned) tg_snapshot_read_number(state, 4);
    n = tg_snapshot_read_count(state, 12);

    if (n > TG_SERVER_REQUESTS_MAX) {
        return TG_INVALID;
    }

    for (/* void */; n != 0; n--) {
        id = tg_snapshot_read_number(state, 4);
        tag = tg_snapshot_read_number(state, 8);

        if (tg_server_request_add(peer, id, tag) == NULL) {
            return TG_NOMEM;
        }
    }

    return state->is_bad ? TG_INVALID : TG_OK;
}

static int
tg_snapshot_load_round(tg_peer_t *peer, tg_snapshot_reader_t *state)
{
    tg_input_round_t from, *round;
    tg_str_t responses;

    memset(&from, 0, sizeof(from));
    from.deadline_ms = tg_snapshot_read_number(state, 8);
    from.first = (unsigned) tg_snapshot_read_number(state, 4);
    from.answered = (unsigned) tg_snapshot_read_number(state, 4);
    from.id = tg_snapshot_read_id(state);
    from.text = tg_snapshot_read_json(state, 0);
    from.inputs = tg_snapshot_read_json(state, 0);
    from.state = tg_snapshot_read_json(state, 1);
    responses = tg_snapshot_read_str(state);
    from.n = tg_json_type(from.inputs) == TG_JSON_OBJECT
                 ? tg_input_count_members(from.inputs)
                 : 0;

    if (state->is_bad || from.id.data == NULL || from.n == 0
        || from.n > TG_INPUTS_MAX || from.answered >= (1u << from.n) - 1
        || tg_json_type(from.text) != TG_JSON_OBJECT
        || tg_json_type(from.state) != TG_JSON_STRING || responses.data == NULL)
    {
        return TG_INVALID;
    }

    round = tg_input_round_add(peer, &from);

    return round != NULL
                   && tg_input_round_set_responses(peer, round, responses)
                          == TG_OK
               ? TG_OK
               : TG_NOMEM;
}

static int
tg_snapshot_load_rounds(tg_peer_t *peer, tg_snapshot_reader_t *state)
{
    unsigned n;
    int rc;

    n = tg_snapshot_read_count(state, 36);
    rc = n <= TG_SERVER_REQUESTS_MAX && !state->is_bad ? TG_OK : TG_INVALID;

    for (/* void */; rc == TG_OK && n != 0; n--) {
        rc = tg_snapshot_load_round(peer, state);
    }

    return rc;
}

static int
tg_snapshot_load_replies(tg_snapshot_reader_t *state, tg_buf_t *replies)
{
    if (state->read_replies != NULL) {
        return state->read_replies(state->data, replies,
                                   (size_t) tg_snapshot_read_number(state, 4));
    }

    tg_buf_append_str(replies, tg_snapshot_read_str(state));

    if (state->is_bad) {
        return TG_INVALID;
    }

    return tg_buf_has_failed(replies) ? TG_NOMEM : TG_OK;
}

static int
tg_snapshot_load_batches(tg_peer_t *peer, tg_snapshot_reader_t *state,
                         tg_batch_t **batches, unsigned n)
{
    unsigned i;
    int rc;

    for (i = 0; i < n; i++) {
        /* A reference keeps the batch while its calls are loaded. */
        batches[i] = tg_batch_new(peer);

        if (batches[i] == NULL) {
            return TG_NOMEM;
        }

        rc = tg_snapshot_load_replies(state, &batches[i]->replies);

        if (rc != TG_OK) {
            return rc;
        }

        tg_batch_account_memory(peer, batches[i]);
    }

    return TG_OK;
}

static void
tg_restored_call_find_entry(const tg_peer_t *peer, tg_restored_call_t *restored)
{
    const tg_catalog_entry_t *now;

    now = tg_catalog_find(peer->catalog, restored->call.own_entry.kind,
                          restored->call.own_entry.name);

    if (now == NULL
        || (peer->priv->ops->is_visible != NULL
            && !peer->priv->ops->is_visible(peer->host, now)))
    {
        return;
    }

    restored->now = now;

    if (restored->call.own_entry.output_digest == now->output_digest) {
        restored->call.own_entry.output_schema = now->output_schema;
    }
}

static void
tg_restored_call_read(tg_peer_t *peer, tg_snapshot_reader_t *state,
                      tg_restored_call_t *restored, unsigned *batch)
{
    tg_str_t progress;
    tg_reply_t *reply;
    unsigned flags;

    memset(restored, 0, sizeof(*restored));
    restored->call.peer = peer;
    reply = &restored->call.reply;
    reply->kind = (tg_catalog_entry_type_t) tg_snapshot_read_enum(
        state, TG_ENTRY_KINDS - 1);
    flags = (unsigned) tg_snapshot_read_number(state, 1);
    reply->log_level = tg_snapshot_read_enum(state, TG_MCP_LOG_EMERGENCY) & 15;
    *batch = (unsigned) tg_snapshot_read_number(state, 4);
    reply->id = tg_snapshot_read_id(state);
    reply->subject = tg_snapshot_read_body(state);
    reply->mime = tg_snapshot_read_text(state, TG_MIME_TYPE_MAX);
    reply->ttl_ms = (int64_t) tg_snapshot_read_number(state, 8);
    restored->call.progress_token = tg_snapshot_read_json(state, 0);
    progress = tg_snapshot_read_str(state);
    restored->call.own_entry.kind = (tg_catalog_entry_type_t)
        tg_snapshot_read_enum(state, TG_ENTRY_KINDS - 1);
    restored->call.own_entry.name = tg_snapshot_read_str(state);
    restored->call.own_entry.output = (tg_output_type_t) tg_snapshot_read_enum(
        state, TG_OUTPUT_RESULT);
    restored->call.own_entry.output_digest = tg_snapshot_read_number(state, 8);
    restored->token = tg_snapshot_read_str(state);
    reply->is_modern = (flags & TG_SNAPSHOT_IS_MODERN) != 0;
    reply->is_mcp = (flags & TG_SNAPSHOT_IS_MCP) != 0;
    reply->is_silent = (flags & TG_SNAPSHOT_IS_SILENT) != 0;
    reply->is_public = (flags & TG_SNAPSHOT_IS_PUBLIC) != 0;
    reply->is_list = (flags & TG_SNAPSHOT_IS_LIST) != 0;

    if (restored->token.len > TG_PEER_TOKEN_MAX
        || restored->call.progress_token.len > TG_PROGRESS_TOKEN_MAX
        || progress.len > sizeof(restored->call.progress)
        || (progress.len != 0 && tg_json_type(progress) != TG_JSON_NUMBER)
        || (restored->call.own_entry.name.data == NULL
            && !peer->priv->ops->is_proxy))
    {
        state->is_bad = 1;
    }

    if (state->is_bad) {
        return;
    }

    if (progress.len != 0) {
        memcpy(restored->call.progress, progress.data, progress.len);
        restored->call.progress_len = progress.len;
    }

    if (restored->call.own_entry.name.data != NULL) {
        tg_restored_call_find_entry(peer, restored);
    }
}

static int
tg_snapshot_load_calls(tg_peer_t *peer, tg_snapshot_reader_t *state,
                       tg_batch_t **batches, unsigned nbatches)
{
    tg_restored_call_t restored;
    unsigned n, batch;

    for (n = tg_snapshot_read_count(state, 53); n != 0; n--) {
        tg_restored_call_read(peer, state, &restored, &batch);

        if (state->is_bad || batch > nbatches) {
            return TG_INVALID;
        }

        restored.call.reply.batch = batch != 0 ? batches[batch - 1] : NULL;

        if (tg_call_new(&restored.call, sizeof(restored)) == NULL) {
            return TG_NOMEM;
        }
    }

    return state->is_bad || state->left.len != 0 ? TG_INVALID : TG_OK;
}

/* Resumes calls, each of which may be answered and freed meanwhile. */
static void
tg_snapshot_restore_calls(tg_peer_t *peer, tg_peer_restore_call_pt resume)
{
    tg_restored_call_t *restored;
    tg_call_t *call, *next;

    for (call = peer->oldest; call != NULL; call = next) {
        next = call->prev;
        restored = (tg_restored_call_t *) (void *) call;
        resume(peer->host, call, restored->now, restored->token);
    }
}

static int
tg_snapshot_load_batches_and_calls(tg_peer_t *peer, tg_snapshot_reader_t *state,
                                   tg_batch_t **batches, unsigned n,
                                   unsigned served)
{
    unsigned i;
    int rc;

    rc = tg_snapshot_load_batches(peer, state, batches, n);

    if (rc == TG_OK && served != 0) {
        peer->priv->batch = batches[0];
        peer->priv->batch->refs++;
        peer->priv->batch->served = served;
    }

    if (rc == TG_OK) {
        rc = tg_snapshot_load_calls(peer, state, batches, n);
    }

    /* A batch that expects no reply would never be sent. */
    for (i = 0; rc == TG_OK && i < n; i++) {
        rc = batches[i]->refs == 1 ? TG_INVALID : TG_OK;
    }

    return rc;
}

/* Loads the part after the server requests. */
static int
tg_snapshot_load_rest(tg_peer_t *peer, tg_snapshot_reader_t *state,
                      tg_peer_restore_call_pt resume)
{
    tg_batch_t **batches;
    unsigned n, i, served;
    int rc;

    served = (unsigned) tg_snapshot_read_number(state, 4);
    peer->work = served != 0 ? tg_snapshot_read_number(state, 8) : 0;
    n = tg_snapshot_read_count(state, 4);

    if (served != 0
        && (n == 0 || served > TG_BATCH_MAX || peer->row->resume_batch == NULL))
    {
        return TG_INVALID;
    }

    batches = tg_calloc(peer->priv->alloc,
                        ((size_t) n + 1) * sizeof(batches[0]));

    if (batches == NULL) {
        return TG_NOMEM;
    }

    rc = tg_snapshot_load_batches_and_calls(peer, state, batches, n, served);

    if (rc == TG_OK) {
        tg_snapshot_restore_calls(peer, resume);
    } else {
        tg_peer_forget_calls(peer);
    }

    for (i = 0; batches[i] != NULL; i++) {
        if (rc != TG_OK) {
            tg_buf_reset(&batches[i]->replies, 0);
        }

        tg_batch_unref(peer, batches[i]);
    }

    tg_free(peer->priv->alloc, batches);

    return rc;
}

int
tg_peer_load(tg_peer_t *peer, tg_str_t bytes,
             tg_peer_read_replies_pt read_replies, void *data,
             tg_peer_restore_call_pt resume, unsigned *changes)
{
    tg_snapshot_reader_t state;
    tg_catalog_view_t view, now;
    int rc;

    state = (tg_snapshot_reader_t){ bytes, read_replies, data, 0 };
    *changes = 0;

    if (!tg_str_eq(tg_snapshot_read_bytes(&state, TG_SNAPSHOT_MAGIC.len),
                   TG_SNAPSHOT_MAGIC))
    {
        return TG_INVALID;
    }

    tg_snapshot_load_head(peer, &state, &view);
    rc = state.is_bad ? TG_INVALID
                      : tg_snapshot_load_subscriptions(peer, &state);

    if (rc == TG_OK) {
        rc = tg_snapshot_load_resources(peer, &state);
    }

    if (rc == TG_OK) {
        rc = tg_snapshot_load_server_requests(peer, &state);
    }

    if (rc == TG_OK) {
        rc = tg_snapshot_load_rounds(peer, &state);
    }

    if (rc == TG_OK) {
        rc = tg_snapshot_load_rest(peer, &state, resume);
    }

    if (rc == TG_OK && tg_buf_has_failed(&peer->out)) {
        return TG_NOMEM;
    }

    if (rc == TG_OK) {
        now = tg_catalog_get_view(peer->catalog, peer->priv->ops->is_visible,
                                  peer->host);
        *changes = tg_catalog_view_compare(&view, &now);
    }

    return rc;
}
