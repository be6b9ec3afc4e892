/*
 * Members of an object, noted while it is passed.
 */
#include "base/tg_json_near.h"

/* Bytes that are passed in the time of a step. */
#define TG_JSON_STEP_BYTES 128

/*
 * As most write it: short keys, strings and whole numbers, and no white space.
 * Stops between two members, or behind the object: then TG_END.
 */
static int
tg_json_note_plain(tg_json_t *json, tg_json_notes_t *notes)
{
    const char *p, *end, *key, *value;
    tg_json_note_t *note;

    end = json->end;

    for (p = json->pos; notes->n < TG_JSON_NOTES; p = json->pos + 1) {
        key = p + 1;

        if (end - p <= TG_JSON_NEAR || *p != '"') {
            return TG_OK;
        }

        p = tg_scan_near(key, end);
        value = p + 2;

        if (*p != '"' || p[1] != ':' || end - value <= TG_JSON_NEAR) {
            return TG_OK;
        }

        note = &notes->list[notes->n];
        note->key = tg_str(key, (size_t) (p - key));
        note->key_escapes = 0;
        note->escapes = 0;
        p = tg_json_near(value, end);

        if (p == value && *value == '"') {
            json->pos = value;

            if (tg_json_value_any(json, &note->value) != TG_OK) {
                return json->failed;
            }

            note->escapes = (uint8_t) json->escapes;
            p = json->pos;
        }

        if (p == value || p == end) {
            return TG_OK;
        }

        note->value = tg_str(value, (size_t) (p - value));
        notes->n++;
        json->pos = p;
        json->is_fresh = 0;

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
tg_json_note(tg_json_t *json, tg_json_notes_t *notes, tg_str_t *value)
{
    tg_json_note_t *note, beyond;
    const char *start; /* behind the opening bracket */
    int rc;

    notes->n = 0;
    rc = tg_json_object_near(json);
    start = json->pos;

    if (rc == TG_OK) {
        rc = tg_json_note_plain(json, notes);
    }

    notes->is_plain = rc == TG_END;

    while (rc == TG_OK) {
        note = notes->n < TG_JSON_NOTES ? &notes->list[notes->n] : &beyond;
        rc = tg_json_member_near(json, &note->key);

        if (rc != TG_OK) {
            break;
        }

        note->key_escapes = (uint8_t) json->escapes;
        rc = tg_json_value_near(json, &note->value);
        note->escapes = (uint8_t) json->escapes;
        notes->n++;
    }

    if (rc != TG_END) {
        return rc;
    }

    *value = tg_str(start - 1, (size_t) (json->pos - start) + 1);

    return TG_OK;
}

static int
tg_json_note_is(const tg_json_note_t *note, tg_str_t key)
{
    return note->key_escapes != 0 ? tg_json_body_is(note->key, key)
                                  : tg_str_eq(note->key, key);
}

/* Of a member that nobody noted: all are passed, as the last one counts. */
static int
tg_json_note_of(tg_str_t object, tg_str_t key, uint64_t *steps,
                tg_json_note_t *note)
{
    tg_json_note_t member;
    tg_json_t json;
    uint64_t price;
    int rc, found;

    tg_json_init(&json, object);
    rc = tg_json_object_near(&json);
    found = TG_MISSING;

    while (rc == TG_OK && tg_json_member_near(&json, &member.key) == TG_OK) {
        member.key_escapes = (uint8_t) json.escapes;
        rc = tg_json_value_near(&json, &member.value);
        member.escapes = (uint8_t) json.escapes;
        price = 1 + (member.key.len + member.value.len) / TG_JSON_STEP_BYTES;

        if (price > *steps) {
            *steps = 0;
            return TG_LIMIT;
        }

        *steps -= price;

        if (tg_json_note_is(&member, key)) {
            *note = member;
            found = TG_OK;
        }
    }

    return found;
}

int
tg_json_notes_look(const tg_json_notes_t *notes, tg_str_t object, tg_str_t key,
                   uint64_t *steps, tg_json_note_t *note)
{
    size_t i;

    if (notes == NULL || notes->n > TG_JSON_NOTES) {
        return tg_json_note_of(object, key, steps, note);
    }

    for (i = notes->n; i > 0; i--) {
        if (tg_json_note_is(&notes->list[i - 1], key)) {
            *note = notes->list[i - 1];
            return TG_OK;
        }
    }

    return TG_MISSING;
}

int
tg_json_notes_get(const tg_json_notes_t *notes, tg_str_t object, tg_str_t key,
                  tg_json_note_t *note)
{
    uint64_t steps;

    steps = UINT64_MAX;

    return tg_json_notes_look(notes, object, key, &steps, note);
}
