/* Inline variants of the cursor's functions, for the path of each frame. */
#ifndef TG_JSON_INLINE_H
#define TG_JSON_INLINE_H

#include "base/tg_json.h"
#include "base/simd/tg_scan_inline.h"

/* Bytes that the fast path may read: a quoted key, a comma, a colon. */
#define TG_JSON_INLINE_MIN 20

int tg_json_next_member_slow(tg_json_cursor_t *json, tg_str_t *key);
int tg_json_read_value_slow(tg_json_cursor_t *json, tg_str_t *value);

static inline int
tg_json_enter_object_inline(tg_json_cursor_t *json)
{
    if (json->failed != 0 || json->pos == json->end || *json->pos != '{'
        || json->depth == TG_JSON_MAX_DEPTH)
    {
        return tg_json_enter_object(json);
    }

    json->depth++;
    json->pos++;
    json->is_first_entry = 1;

    return TG_OK;
}

static inline int
tg_json_next_member_inline(tg_json_cursor_t *json, tg_str_t *key)
{
    const char *start, *end;

    /* The usual notation: a short key without escapes, and no white space. */
    if (json->failed == 0 && json->end - json->pos > TG_JSON_INLINE_MIN
        && (json->is_first_entry || *json->pos == ','))
    {
        start = json->pos + 2 - json->is_first_entry;
        end = tg_scan_string_16(start, json->end);

        if (start[-1] == '"' && end[0] == '"' && end[1] == ':') {
            json->pos = end + 2;
            json->is_first_entry = 0;
            json->escapes = 0;
            *key = tg_str(start, (size_t) (end - start));
            return TG_OK;
        }

    } else if (json->failed == 0 && json->pos < json->end && *json->pos == '}')
    {
        json->pos++;
        json->depth--;
        json->is_first_entry = 0;
        return TG_END;
    }

    return tg_json_next_member_slow(json, key);
}

/* Returns the end of a short string or plain integer; p for other values. */
static inline const char *
tg_json_skip_short_scalar(const char *p, const char *end)
{
    const char *at;

    if (*p == '"') {
        at = tg_scan_string_128(p + 1, end);

        return at < end && *at == '"' ? at + 1 : p;
    }

    at = tg_scan_skip_digits(p, end);

    return at < end && (*at == ',' || *at == '}') && *p != '0' ? at : p;
}

static inline int
tg_json_read_value_inline(tg_json_cursor_t *json, tg_str_t *value)
{
    const char *start, *end;

    start = json->pos;

    if (json->failed != 0 || json->end - start <= TG_JSON_INLINE_MIN) {
        return tg_json_read_value_slow(json, value);
    }

    end = tg_json_skip_short_scalar(start, json->end);

    if (end == start) {
        return tg_json_read_value_slow(json, value);
    }

    json->pos = end;
    json->is_first_entry = 0;
    json->escapes = 0;

    if (value != NULL) {
        *value = tg_str(start, (size_t) (end - start));
    }

    return TG_OK;
}

#endif
