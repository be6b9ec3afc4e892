/*
 * tg_json_object(), tg_json_member() and tg_json_value() for those who cannot
 * wait for a function to be called: what each frame is read with.
 */
#ifndef TG_JSON_NEAR_H
#define TG_JSON_NEAR_H

#include "base/tg_json.h"
#include "base/tg_scan_block.h"

/* A comma, a quote, a block, another quote and a colon. */
#define TG_JSON_NEAR 20

/* Whatever there is. */
int tg_json_member_any(tg_json_t *json, tg_str_t *key);
int tg_json_value_any(tg_json_t *json, tg_str_t *value);

static inline int
tg_json_object_near(tg_json_t *json)
{
    if (json->failed != 0 || json->pos == json->end || *json->pos != '{'
        || json->depth == TG_JSON_DEPTH)
    {
        return tg_json_object(json);
    }

    json->depth++;
    json->pos++;
    json->is_fresh = 1;

    return TG_OK;
}

static inline int
tg_json_member_near(tg_json_t *json, tg_str_t *key)
{
    const char *start, *end;

    /* As most write it: a short key without an escape, no white space. */
    if (json->failed == 0 && json->end - json->pos > TG_JSON_NEAR
        && (json->is_fresh || *json->pos == ','))
    {
        start = json->pos + 2 - json->is_fresh;
        end = tg_scan_near(start, json->end);

        if (start[-1] == '"' && end[0] == '"' && end[1] == ':') {
            json->pos = end + 2;
            json->is_fresh = 0;
            json->escapes = 0;
            *key = tg_str(start, (size_t) (end - start));
            return TG_OK;
        }

    } else if (json->failed == 0 && json->pos < json->end && *json->pos == '}')
    {
        json->pos++;
        json->depth--;
        json->is_fresh = 0;
        return TG_END;
    }

    return tg_json_member_any(json, key);
}

/* Behind a short string or a whole number that starts at p, or p. */
static inline const char *
tg_json_near(const char *p, const char *end)
{
    const char *at;

    if (*p == '"') {
        at = tg_scan_short(p + 1, end);

        return at < end && *at == '"' ? at + 1 : p;
    }

    at = tg_scan_digits(p, end);

    return at < end && (*at == ',' || *at == '}') && *p != '0' ? at : p;
}

static inline int
tg_json_value_near(tg_json_t *json, tg_str_t *value)
{
    const char *start, *end;

    start = json->pos;

    if (json->failed != 0 || json->end - start <= TG_JSON_NEAR) {
        return tg_json_value_any(json, value);
    }

    end = tg_json_near(start, json->end);

    if (end == start) {
        return tg_json_value_any(json, value);
    }

    json->pos = end;
    json->is_fresh = 0;
    json->escapes = 0;

    if (value != NULL) {
        *value = tg_str(start, (size_t) (end - start));
    }

    return TG_OK;
}

#endif
