#include "base/tg_utf8.h"
#include "core/tg_peer_state_impl.h"

/* What is left of the bytes; sticky, like tg_buf_t. */
typedef struct {
    tg_str_t left;
    tg_peer_give_pt give; /* of replies; NULL: they are among the bytes */
    void *data;
    int is_bad;
} tg_state_t;

/* A call that came over, with what it can no longer borrow. */
typedef struct {
    tg_call_t call;
    const tg_entry_t *now;
    tg_str_t token; /* within the state */
} tg_moved_t;

/* --- reading --- */

static tg_str_t
tg_state_bytes(tg_state_t *state, uint64_t size)
{
    tg_str_t bytes;

    if (size > state->left.len) {
        state->is_bad = 1;
        state->left.len = 0;
        return TG_STR("");
    }

    bytes = tg_str(state->left.data, (size_t) size);
    state->left = tg_str(bytes.data + size, state->left.len - bytes.len);

    return bytes;
}

static uint64_t
tg_state_number(tg_state_t *state, unsigned size)
{
    uint64_t value;
    tg_str_t bytes;
    size_t i;

    bytes = tg_state_bytes(state, size);
    value = 0;

    for (i = 0; i < bytes.len; i++) {
        value = value << 8 | (unsigned char) bytes.data[i];
    }

    return value;
}

static tg_str_t
tg_state_str(tg_state_t *state)
{
    uint64_t len;

    len = tg_state_number(state, 4);

    return len == TG_STATE_ABSENT ? TG_STR_NONE : tg_state_bytes(state, len);
}

/* One of 0 … last. */
static unsigned
tg_state_choice(tg_state_t *state, unsigned last)
{
    uint64_t value;

    value = tg_state_number(state, 1);

    if (value > last) {
        state->is_bad = 1;
        return 0;
    }

    return (unsigned) value;
}

/*
 * How many elements follow, of which each has at least so many bytes: what
 * is allocated for them is in proportion to the state.
 */
static unsigned
tg_state_count(tg_state_t *state, size_t least)
{
    uint64_t n;

    n = tg_state_number(state, 4);

    if (n > state->left.len / least) {
        state->is_bad = 1;
        return 0;
    }

    return (unsigned) n;
}

/* A raw JSON value as it came from a client, or absent. */
static tg_str_t
tg_state_raw(tg_state_t *state, int is_scalar)
{
    tg_json_type_t type;
    tg_str_t raw;

    raw = tg_state_str(state);

    if (raw.data == NULL) {
        return raw;
    }

    type = tg_json_type(raw);

    /* A raw value has no white space around it, so its first byte tells. */
    if (type == TG_JSON_NONE || tg_json_check(raw, NULL) != TG_OK
        || (is_scalar && type != TG_JSON_STRING && type != TG_JSON_NUMBER
            && type != TG_JSON_NULL))
    {
        state->is_bad = 1;
    }

    return raw;
}

static tg_str_t
tg_state_id(tg_state_t *state)
{
    tg_str_t id;

    id = tg_state_raw(state, 1);
    state->is_bad |= id.len > TG_ID_MAX;

    return id;
}

/* A text of so many bytes at most. */
static tg_str_t
tg_state_text(tg_state_t *state, size_t most)
{
    tg_str_t text;

    text = tg_state_str(state);
    state->is_bad |= text.len > most || !tg_utf8_is_valid(text);

    return text;
}

/* --- the peer --- */

static void
tg_load_head(tg_peer_t *peer, tg_state_t *state, uint64_t *view)
{
    tg_frame_kind_t kind;
    tg_dialect_t dialect;
    tg_str_t version, client, client_version, via;
    unsigned flags;

    dialect = (tg_dialect_t) tg_state_choice(state, TG_DIALECT_END - 1);
    kind = (tg_frame_kind_t) tg_state_choice(state, TG_FRAME_PREFIX);
    flags = (unsigned) tg_state_number(state, 2);
    version = tg_state_str(state);
    client = tg_state_text(state, TG_CLIENT_MAX);
    client_version = tg_state_text(state, TG_CLIENT_VERSION_MAX);
    via = tg_state_text(state, TG_CLIENT_VIA_MAX);
    *view = tg_state_number(state, 8);

    if (state->is_bad || version.len >= sizeof(peer->version)
        || (dialect == TG_DIALECT_AUTO ? kind == TG_FRAME_PREFIX
                                       : kind != tg_dialect(dialect)->framing))
    {
        state->is_bad = 1;
        return;
    }

    /* It is what it has been; one that said nothing is what the peer says. */
    if (kind != TG_FRAME_AUTO) {
        peer->frame.limit = peer->max_frame;
        tg_peer_frame_as(peer, dialect);
        peer->frame.kind = kind;
    }

    if (version.len != 0) {
        memcpy(peer->version, version.data, version.len);
    }

    tg_peer_meet(peer, client, client_version, via);

    peer->frame.is_discarding = (flags & TG_STATE_IS_DISCARDING) != 0;
    peer->is_refusing = (flags & TG_STATE_IS_REFUSING) != 0;
    peer->is_told = (flags & TG_STATE_IS_TOLD) != 0;
    peer->is_notification = (flags & TG_STATE_IS_NOTIFICATION) != 0;
    peer->is_mcp = (flags & TG_STATE_IS_MCP) != 0;
    peer->is_legacy = (flags & TG_STATE_IS_LEGACY) != 0;
    peer->is_modern = (flags & TG_STATE_IS_CLAIMING) != 0;

    if (flags & TG_STATE_IS_TOOLGATE) {
        tg_peer_is_ours(peer);
    }

    peer->resends = (flags & TG_STATE_RESENDS) != 0;
    peer->is_closing = (flags & TG_STATE_IS_CLOSING) != 0;
}

static int
tg_load_subscriptions(tg_peer_t *peer, tg_state_t *state)
{
    tg_subscription_t **at;
    unsigned n, asked;
    tg_str_t id;

    n = tg_state_count(state, 5);

    if (n > TG_SUBSCRIPTIONS_MAX) {
        return TG_BAD;
    }

    for (at = &peer->subscriptions; n != 0; at = &(*at)->next, n--) {
        id = tg_state_id(state);
        asked = tg_state_choice(state, 3);

        if (state->is_bad || id.data == NULL) {
            return TG_BAD;
        }

        if (tg_subscription_add(peer, at, id) != TG_OK) {
            return TG_NOMEM;
        }

        (*at)->has_tools = (asked & 1) != 0;
        (*at)->has_broadcasts = (asked & 2) != 0;
    }

    return TG_OK;
}

static int
tg_load_asks(tg_peer_t *peer, tg_state_t *state)
{
    uint64_t id, tag;
    unsigned n;

    peer->can = tg_state_choice(state, TG_CAN_ALL) & TG_CAN_ALL;
    peer->asked = (unsigned) tg_state_number(state, 4);
    n = tg_state_count(state, 12);

    if (n > TG_ASKS_MAX) {
        return TG_BAD;
    }

    for (/* void */; n != 0; n--) {
        id = tg_state_number(state, 4);
        tag = tg_state_number(state, 8);

        if (tg_ask_new(peer, id, tag) == NULL) {
            return TG_NOMEM;
        }
    }

    return state->is_bad ? TG_BAD : TG_OK;
}

static int
tg_load_replies(tg_state_t *state, tg_buf_t *replies)
{
    if (state->give != NULL) {
        return state->give(state->data, replies,
                           (size_t) tg_state_number(state, 4));
    }

    tg_buf_str(replies, tg_state_str(state));

    if (state->is_bad) {
        return TG_BAD;
    }

    return tg_buf_failed(replies) ? TG_NOMEM : TG_OK;
}

static int
tg_load_batches(tg_peer_t *peer, tg_state_t *state, tg_batch_t **batches,
                unsigned n)
{
    unsigned i;
    int rc;

    for (i = 0; i < n; i++) {
        /* With a reference while it is loaded: none is gone too early. */
        batches[i] = tg_batch_new(peer);

        if (batches[i] == NULL) {
            return TG_NOMEM;
        }

        rc = tg_load_replies(state, &batches[i]->replies);

        if (rc != TG_OK) {
            return rc;
        }

        tg_batch_count(peer, batches[i]);
    }

    return TG_OK;
}

/* --- the calls --- */

/* What the catalogue has now under the name of a call. */
static void
tg_moved_find(const tg_peer_t *peer, tg_moved_t *moved)
{
    const tg_entry_t *now;

    now = tg_catalogue_get(peer->catalogue, moved->call.own.kind,
                           moved->call.own.name);

    if (now == NULL
        || (peer->ops->is_visible != NULL
            && !peer->ops->is_visible(peer->host, now)))
    {
        return;
    }

    moved->now = now;

    if (moved->call.own.output_digest == now->output_digest) {
        moved->call.own.output_schema = now->output_schema;
    }
}

static void
tg_moved_read(tg_peer_t *peer, tg_state_t *state, tg_moved_t *moved,
              unsigned *batch)
{
    tg_str_t progress;
    tg_reply_t *reply;
    unsigned flags;

    memset(moved, 0, sizeof(*moved));
    moved->call.peer = peer;
    reply = &moved->call.reply;
    reply->kind = (tg_entry_kind_t) tg_state_choice(state, TG_ENTRY_METHOD);
    flags = (unsigned) tg_state_number(state, 1);
    *batch = (unsigned) tg_state_number(state, 4);
    reply->id = tg_state_id(state);
    moved->call.progress_token = tg_state_raw(state, 0);
    progress = tg_state_str(state);
    moved->call.own.name = tg_state_str(state);
    moved->call.own.output = (tg_output_t) tg_state_choice(state,
                                                           TG_OUTPUT_RESULT);
    moved->call.own.output_digest = tg_state_number(state, 8);
    moved->token = tg_state_str(state);
    reply->is_modern = (flags & TG_STATE_IS_MODERN) != 0;
    reply->is_mcp = (flags & TG_STATE_IS_MCP) != 0;
    reply->is_silent = (flags & TG_STATE_IS_SILENT) != 0;
    moved->call.own.kind = reply->kind;

    if (moved->token.len > TG_PEER_TOKEN_MAX
        || moved->call.progress_token.len > TG_TOKEN_MAX
        || progress.len > sizeof(moved->call.progress)
        || (progress.len != 0 && tg_json_type(progress) != TG_JSON_NUMBER)
        || (moved->call.own.name.data == NULL && !peer->ops->is_proxy))
    {
        state->is_bad = 1;
    }

    if (state->is_bad) {
        return;
    }

    if (progress.len != 0) {
        memcpy(moved->call.progress, progress.data, progress.len);
        moved->call.progress_len = progress.len;
    }

    if (moved->call.own.name.data != NULL) {
        tg_moved_find(peer, moved);
    }
}

static int
tg_load_calls(tg_peer_t *peer, tg_state_t *state, tg_batch_t **batches,
              unsigned nbatches)
{
    tg_moved_t moved;
    unsigned n, batch;

    for (n = tg_state_count(state, 35); n != 0; n--) {
        tg_moved_read(peer, state, &moved, &batch);

        if (state->is_bad || batch > nbatches) {
            return TG_BAD;
        }

        moved.call.reply.batch = batch != 0 ? batches[batch - 1] : NULL;

        if (tg_call_new(&moved.call, sizeof(moved)) == NULL) {
            return TG_NOMEM;
        }
    }

    return state->is_bad || state->left.len != 0 ? TG_BAD : TG_OK;
}

/* Each may be answered, and so be gone, within resume. */
static void
tg_load_resume(tg_peer_t *peer, tg_peer_resume_pt resume)
{
    tg_moved_t *moved;
    tg_call_t *call, *next;

    for (call = peer->oldest; call != NULL; call = next) {
        next = call->prev;
        moved = (tg_moved_t *) (void *) call;
        resume(peer->host, call, moved->now, moved->token);
    }
}

/* --- the whole --- */

static int
tg_load_parts(tg_peer_t *peer, tg_state_t *state, tg_batch_t **batches,
              unsigned n, unsigned served)
{
    unsigned i;
    int rc;

    rc = tg_load_batches(peer, state, batches, n);

    if (rc == TG_OK && served != 0) {
        peer->batch = batches[0];
        peer->batch->refs++;
        peer->batch->served = served;
    }

    if (rc == TG_OK) {
        rc = tg_load_calls(peer, state, batches, n);
    }

    /* A batch for which nothing is to come would never be sent. */
    for (i = 0; rc == TG_OK && i < n; i++) {
        rc = batches[i]->refs == 1 ? TG_BAD : TG_OK;
    }

    return rc;
}

/* Behind the subscriptions. */
static int
tg_load_rest(tg_peer_t *peer, tg_state_t *state, tg_peer_resume_pt resume)
{
    tg_batch_t **batches;
    unsigned n, i, served;
    int rc;

    served = (unsigned) tg_state_number(state, 4);
    peer->work = served != 0 ? tg_state_number(state, 8) : 0;
    n = tg_state_count(state, 4);

    if (served != 0
        && (n == 0 || served > TG_BATCH_MAX || peer->row->serve_on == NULL))
    {
        return TG_BAD;
    }

    batches = tg_calloc(peer->alloc, ((size_t) n + 1) * sizeof(batches[0]));

    if (batches == NULL) {
        return TG_NOMEM;
    }

    rc = tg_load_parts(peer, state, batches, n, served);

    if (rc == TG_OK) {
        tg_load_resume(peer, resume);
    } else {
        tg_peer_forget(peer);
    }

    for (i = 0; batches[i] != NULL; i++) {
        if (rc != TG_OK) {
            tg_buf_reset(&batches[i]->replies, 0);
        }

        tg_batch_release(peer, batches[i]);
    }

    tg_free(peer->alloc, batches);

    return rc;
}

int
tg_peer_load(tg_peer_t *peer, tg_str_t bytes, tg_peer_give_pt give, void *data,
             tg_peer_resume_pt resume, int *has_changed)
{
    tg_state_t state;
    uint64_t view;
    int rc;

    state = (tg_state_t){ bytes, give, data, 0 };
    *has_changed = 0;

    if (!tg_str_eq(tg_state_bytes(&state, TG_STATE_MAGIC.len), TG_STATE_MAGIC))
    {
        return TG_BAD;
    }

    tg_load_head(peer, &state, &view);
    rc = state.is_bad ? TG_BAD : tg_load_subscriptions(peer, &state);

    if (rc == TG_OK) {
        rc = tg_load_asks(peer, &state);
    }

    if (rc == TG_OK) {
        rc = tg_load_rest(peer, &state, resume);
    }

    if (rc == TG_OK && tg_buf_failed(&peer->out)) {
        return TG_NOMEM;
    }

    *has_changed = rc == TG_OK
                   && view
                          != tg_catalogue_view(peer->catalogue,
                                               peer->ops->is_visible,
                                               peer->host);

    return rc;
}
