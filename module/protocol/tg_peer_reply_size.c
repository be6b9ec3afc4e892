/* Size limits of replies, and their minimum sizes before they are written. */
#include "protocol/tg_peer_impl.h"

size_t
tg_peer_max_message_size(const tg_peer_t *peer)
{
    return peer->row->max_frame != 0 ? peer->row->max_frame : peer->max_frame;
}

size_t
tg_peer_max_reply_size(const tg_peer_t *peer)
{
    size_t limit;

    limit = tg_peer_max_message_size(peer);

    return limit > TG_REPLY_SMALL_MAX ? limit : TG_REPLY_SMALL_MAX;
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

/* Returns a lower bound of the bytes, far cheaper than writing the reply. */
static size_t
tg_reply_min_size(const tg_peer_t *peer, const tg_reply_t *reply,
                  const tg_outcome_t *outcome)
{
    size_t least;

    if (outcome->kind == TG_OUTCOME_RESULT && reply->kind == TG_ENTRY_TOOL
        && peer->row->is_text_only)
    {
        return tg_tool_result_texts_size(outcome->value);
    }

    /* Longer than the limit even without escapes: no need to scan the text. */
    if (outcome->kind == TG_OUTCOME_TEXT
        && outcome->value.len > tg_peer_max_reply_size(peer))
    {
        return outcome->value.len;
    }

    least = tg_outcome_min_size(outcome->kind, outcome->value);

    return tg_reply_is_structured(peer, reply, outcome) ? 2 * least : least;
}

size_t
tg_peer_check_reply_size(const tg_peer_t *peer, const tg_reply_t *reply,
                         const tg_outcome_t *outcome)
{
    size_t limit, least, most;

    limit = tg_peer_max_reply_size(peer);

    /* Most bytes that tg_reply_min_size() counts per byte of value. */
    most = outcome->kind == TG_OUTCOME_TEXT               ? 6
           : tg_reply_is_structured(peer, reply, outcome) ? 2
                                                          : 1;
    least = outcome->value.len > limit / most
                ? tg_reply_min_size(peer, reply, outcome)
                : 0;

    return least > limit ? least : 0;
}
