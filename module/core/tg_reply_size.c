/*
 * How large a reply may be, and is at least, before it is written.
 */
#include "core/tg_peer_impl.h"

size_t
tg_peer_limit(const tg_peer_t *peer)
{
    return peer->row->max_frame != 0 ? peer->row->max_frame : peer->max_frame;
}

size_t
tg_peer_reply_max(const tg_peer_t *peer)
{
    size_t limit;

    limit = tg_peer_limit(peer);

    return limit > TG_REPLY_SMALL ? limit : TG_REPLY_SMALL;
}

int
tg_reply_is_structured(const tg_peer_t *peer, const tg_reply_t *reply,
                       const tg_outcome_t *outcome)
{
    return outcome->kind == TG_OUTCOME_JSON && reply->kind == TG_ENTRY_TOOL
           && !peer->row->is_text_only
           && (reply->is_modern
               || tg_json_type(outcome->value) == TG_JSON_OBJECT);
}

/* The least bytes of a reply; to put it costs several times as much. */
static size_t
tg_reply_least(const tg_peer_t *peer, const tg_reply_t *reply,
               const tg_outcome_t *outcome)
{
    size_t least;

    if (outcome->kind == TG_OUTCOME_RESULT && reply->kind == TG_ENTRY_TOOL
        && peer->row->is_text_only)
    {
        return tg_result_texts_len(outcome->value);
    }

    /* Then nobody has to look at it. */
    if (outcome->kind == TG_OUTCOME_TEXT
        && outcome->value.len > tg_peer_reply_max(peer))
    {
        return outcome->value.len;
    }

    least = tg_outcome_least(outcome->kind, outcome->value);

    return tg_reply_is_structured(peer, reply, outcome) ? 2 * least : least;
}

size_t
tg_peer_oversize(const tg_peer_t *peer, const tg_reply_t *reply,
                 const tg_outcome_t *outcome)
{
    size_t limit, least, most;

    limit = tg_peer_reply_max(peer);

    /* The most that tg_reply_least() makes of a byte. */
    most = outcome->kind == TG_OUTCOME_TEXT               ? 6
           : tg_reply_is_structured(peer, reply, outcome) ? 2
                                                          : 1;
    least = outcome->value.len > limit / most
                ? tg_reply_least(peer, reply, outcome)
                : 0;

    return least > limit ? least : 0;
}
