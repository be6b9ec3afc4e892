/* Index of an object's members, built while the cursor reads the object. */
#include "base/tg_json_inline.h"

/* Bytes that can be skipped in the time of one step. */
#define TG_JSON_STEP_BYTES 128

/*
 * Indexes members in the usual notation: short keys, strings and integers, no
 * white space. TG_END: the object has ended; TG_OK: the next member has another
 * notation, or the index is full.
 */
static int
tg_json_index_compact(tg_json_cursor_t *json, tg_json_index_t *index)
{
    const char *p, *end, *key, *value;
    tg_json_member_t *note;

    end = json->end;

    for (p = json->pos; index->n < TG_JSON_INDEX_MAX; p = json->pos + 1) {
        key = p + 1;

        if (end - p <= TG_JSON_INLINE_MIN || *p != '"') {
            return TG_OK;
        }

        p = tg_scan_string_16(key, end);
        value = p + 2;

        if (*p != '"' || p[1] != ':' || end - value <= TG_JSON_INLINE_MIN) {
            return TG_OK;
        }

        note = &index->list[index->n];
        note->key = tg_str(key, (size_t) (p - key));
        note->key_escapes = 0;
        note->escapes = 0;
        p = tg_json_skip_short_scalar(value, end);

        if (p == value && *value == '"') {
            json->pos = value;

            if (tg_json_read_value_slow(json, &note->value) != TG_OK) {
                return json->failed;
            }

            note->escapes = (uint8_t) json->escapes;
            p = json->pos;
        }

        if (p == value || p == end) {
            return TG_OK;
        }

        note->value = tg_str(value, (size_t) (p - value));
        index->n++;
        json->pos = p;
        json->is_first_entry = 0;

        if (*p == '}') {
            json->pos++;
            json->depth--;
            return TG_END;
        }

        if (*p != ',') {
            return TG_OK;
        }
    }

    return TG_OK;
}

int
tg_json_index_object(tg_json_cursor_t *json, tg_json_index_t *index,
                     tg_str_t *value)
{
    tg_json_member_t *note, beyond;
    /* after the opening bracket */
    const char *start;
    int rc;

    index->n = 0;
    rc = tg_json_enter_object_inline(json);
    start = json->pos;

    if (rc == TG_OK) {
        rc = tg_json_index_compact(json, index);
    }

    while (rc == TG_OK) {
        note = index->n < TG_JSON_INDEX_MAX ? &index->list[index->n] : &beyond;
        rc = tg_json_next_member_inline(json, &note->key);

        if (rc != TG_OK) {
            break;
        }

        note->key_escapes = (uint8_t) json->escapes;
        rc = tg_json_read_value_inline(json, &note->value);
        note->escapes = (uint8_t) json->escapes;
        index->n++;
    }

    if (rc != TG_END) {
        return rc;
    }

    *value = tg_str(start - 1, (size_t) (json->pos - start) + 1);

    return TG_OK;
}

static int
tg_json_member_has_key(const tg_json_member_t *note, tg_str_t key)
{
    return note->key_escapes != 0 ? tg_json_body_eq_text(note->key, key)
                                  : tg_str_eq(note->key, key);
}

/* Parses the whole object: the last of equal keys counts. */
static int
tg_json_find_unindexed(tg_str_t object, tg_str_t key, uint64_t *steps,
                       tg_json_member_t *note)
{
    tg_json_member_t member;
    tg_json_cursor_t json;
    uint64_t price;
    int rc, found;

    tg_json_init(&json, object);
    rc = tg_json_enter_object_inline(&json);
    found = TG_MISSING;

    while (rc == TG_OK
           && tg_json_next_member_inline(&json, &member.key) == TG_OK) {
        member.key_escapes = (uint8_t) json.escapes;
        rc = tg_json_read_value_inline(&json, &member.value);
        member.escapes = (uint8_t) json.escapes;
        price = 1 + (member.key.len + member.value.len) / TG_JSON_STEP_BYTES;

        if (price > *steps) {
            *steps = 0;
            return TG_LIMIT;
        }

        *steps -= price;

        if (tg_json_member_has_key(&member, key)) {
            *note = member;
            found = TG_OK;
        }
    }

    return found;
}

int
tg_json_index_get_bounded(const tg_json_index_t *index, tg_str_t object,
                          tg_str_t key, uint64_t *steps, tg_json_member_t *note)
{
    size_t i;

    if (index == NULL || index->n > TG_JSON_INDEX_MAX) {
        return tg_json_find_unindexed(object, key, steps, note);
    }

    for (i = index->n; i > 0; i--) {
        if (tg_json_member_has_key(&index->list[i - 1], key)) {
            *note = index->list[i - 1];
            return TG_OK;
        }
    }

    return TG_MISSING;
}

int
tg_json_index_get(const tg_json_index_t *index, tg_str_t object, tg_str_t key,
                  tg_json_member_t *note)
{
    uint64_t steps;

    steps = UINT64_MAX;

    return tg_json_index_get_bounded(index, object, key, &steps, note);
}
