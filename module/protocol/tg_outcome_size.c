/* Minimum sizes of replies, which are known before a reply is written. */
#include "protocol/tg_outcome.h"

/* Bytes counted per step: compilers vectorize a loop of this size. */
#define TG_OUTCOME_STEP 32

static size_t
tg_outcome_count_bytes(tg_str_t part, unsigned char low, unsigned char high)
{
    unsigned char sum, range;
    size_t at, i, n;

    range = (unsigned char) (high - low);

    for (at = 0, n = 0; part.len - at >= TG_OUTCOME_STEP; at += TG_OUTCOME_STEP)
    {
        for (i = 0, sum = 0; i < TG_OUTCOME_STEP; i++) {
            sum += (unsigned char) (part.data[at + i] - low) <= range;
        }

        n += sum;
    }

    for (/* void */; at < part.len; at++) {
        n += (unsigned char) (part.data[at] - low) <= range;
    }

    return n;
}

size_t
tg_outcome_min_size(tg_outcome_type_t kind, tg_str_t part)
{
    switch (kind) {
    case TG_OUTCOME_TEXT:
        return tg_json_escaped_len(part, SIZE_MAX);
    case TG_OUTCOME_BODY:
    case TG_OUTCOME_BLOB:
        return part.len;

    /* White space may be removed from the value wherever it occurs. */
    case TG_OUTCOME_JSON:
    case TG_OUTCOME_RESULT:
        return part.len - tg_outcome_count_bytes(part, 0, ' ');
    default:
        return 0;
    }
}

void
tg_outcome_write_too_large(tg_buf_t *text, size_t size, size_t limit)
{
    tg_buf_printf(text,
                  "The answer has %zu bytes, more than the %zu that this "
                  "connection carries; ask for less.",
                  size, limit);
}

size_t
tg_tool_result_texts_size(tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t content, block, text;
    size_t len;

    if (tg_json_get_member(raw, TG_STR("content"), &content) != TG_OK) {
        return 0;
    }

    len = 0;

    for (tg_json_iter_init(&json, content); tg_json_iter_next(&json, &block);) {
        if (tg_json_has_member(block, TG_STR("text"), TG_JSON_STRING, &text)) {
            len += tg_json_string_body(text).len + (len != 0 ? 2 : 0);
        }
    }

    return len;
}

size_t
tg_tool_result_texts_min_size(tg_str_t raw)
{
    size_t len, escaped;

    len = tg_tool_result_texts_size(raw);

    /* The longest escape has six bytes and represents at least one byte. */
    escaped = 5 * tg_outcome_count_bytes(raw, '\\', '\\');

    return len > escaped ? len - escaped : 0;
}
