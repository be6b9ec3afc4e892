/*
 * Compares the JSON reader with a second, slow one that follows only RFC 8259
 * and RFC 3629, and checks the transformations of valid values.
 *
 * Input: a text.
 */
#include "help.h"

#include "../unit/base_json_ref.h"

#include "base/tg_json_impl.h"
#include "base/tg_number.h"
#include "base/tg_utf8.h"

/* Longer than any block. */
#define JSON_PAD 160

/* --- valid values --- */

static void
json_string(tg_str_t body)
{
    HELP_BUFFER(decoded);
    HELP_BUFFER(again);
    HELP_BUFFER(back);
    char *room;
    size_t len;

    room = malloc(body.len);
    FUZZ(room != NULL || body.len == 0);
    len = tg_json_unescape(room, body);
    FUZZ(len <= body.len);

    tg_json_append_unescaped(&decoded, body);
    FUZZ_EQ(tg_buf_view(&decoded), tg_str(room, len));
    FUZZ(tg_utf8_is_valid(tg_buf_view(&decoded)));
    FUZZ(tg_json_body_eq_text(body, tg_buf_view(&decoded)));

    tg_json_write_string(&again, tg_buf_view(&decoded));
    FUZZ(tg_json_validate(tg_buf_view(&again), NULL) == TG_OK);
    FUZZ(tg_json_string_eq(tg_buf_view(&again), tg_buf_view(&decoded)));
    FUZZ(tg_json_body_eq(body, tg_json_string_body(tg_buf_view(&again))));
    tg_json_append_unescaped(&back, tg_json_string_body(tg_buf_view(&again)));
    FUZZ_EQ(tg_buf_view(&back), tg_buf_view(&decoded));

    free(room);
}

static void
json_number(tg_str_t raw)
{
    tg_number_t number, other;
    HELP_BUFFER(text);
    int64_t value;

    if (tg_number_parse(raw, &number) != TG_OK) {
        return;
    }

    FUZZ(tg_number_compare(&number, &number) == 0);

    if (tg_json_parse_int64(raw, &value) != TG_OK) {
        return;
    }

    tg_buf_append_int(&text, value);
    FUZZ(tg_number_parse(tg_buf_view(&text), &other) == TG_OK);
    FUZZ(tg_number_compare(&number, &other) == 0);
    FUZZ(tg_number_is_integer(&number));
    FUZZ(tg_number_hash(&number, 5) == tg_number_hash(&other, 5));
}

static void
json_object(tg_str_t object)
{
    tg_str_t key, value, found;
    tg_buf_t text;
    tg_json_cursor_t json;

    tg_json_init(&json, object);
    FUZZ(tg_json_enter_object(&json) == TG_OK);

    while (tg_json_next_member(&json, &key) == TG_OK) {
        FUZZ(tg_json_read_value(&json, &value) == TG_OK);
        tg_buf_init(&text, tg_alloc_libc());
        tg_json_append_unescaped(&text, key);
        FUZZ(tg_json_get_member(object, tg_buf_view(&text), &found) == TG_OK);
        /* Of equal keys, the last one counts. */
        FUZZ(found.data >= value.data);
        tg_buf_deinit(&text);
        json_string(key);
    }
}

/* Visits every value of a valid text with the cursor. */
static void
json_walk(tg_json_cursor_t *json)
{
    tg_str_t key, value;
    int rc;

    switch (tg_json_peek_type(json)) {
    case TG_JSON_OBJECT:
        FUZZ(tg_json_enter_object(json) == TG_OK);

        while ((rc = tg_json_next_member(json, &key)) == TG_OK) {
            json_walk(json);
        }

        FUZZ(rc == TG_END);
        break;

    case TG_JSON_ARRAY:
        FUZZ(tg_json_enter_array(json) == TG_OK);

        while ((rc = tg_json_next_element(json)) == TG_OK) {
            json_walk(json);
        }

        FUZZ(rc == TG_END);
        break;

    case TG_JSON_STRING:
        FUZZ(tg_json_read_string(json, &value) == TG_OK);
        json_string(value);
        break;

    default:
        FUZZ(tg_json_read_value(json, &value) == TG_OK);

        if (tg_json_type(value) == TG_JSON_NUMBER) {
            json_number(value);
        }
    }
}

static void
json_valid(tg_str_t text)
{
    HELP_BUFFER(write_compact);
    HELP_BUFFER(again);
    tg_json_cursor_t json;
    tg_str_t value;

    tg_json_init(&json, text);
    FUZZ(tg_json_read_value(&json, &value) == TG_OK);
    FUZZ(tg_json_expect_end(&json) == TG_OK);
    FUZZ(tg_json_type(value) != TG_JSON_NONE);

    tg_json_init(&json, text);
    json_walk(&json);
    FUZZ(tg_json_expect_end(&json) == TG_OK);

    if (tg_json_type(value) == TG_JSON_OBJECT) {
        json_object(value);
    }

    tg_json_write_compact(&write_compact, value);
    FUZZ(write_compact.len <= value.len);
    FUZZ_LINE(tg_buf_view(&write_compact));
    FUZZ(tg_json_validate(tg_buf_view(&write_compact), NULL) == TG_OK);
    tg_json_write_compact(&again, tg_buf_view(&write_compact));
    FUZZ_EQ(tg_buf_view(&again), tg_buf_view(&write_compact));
}

/* All ways to skip blocks agree, and accept a valid text. */
static void
json_ways(tg_str_t text, int rc)
{
    const tg_json_simd_t *ways[2];
    const char *at[2], *body[2];
    unsigned kinds[2];
    int i;

    ways[0] = tg_json_simd_get_avx512();
    ways[1] = tg_json_simd_get_avx2();

    for (i = 0; i < 2; i++) {
        if (ways[i] == NULL) {
            return;
        }

        at[i] = text.data[0] == '{' || text.data[0] == '['
                    ? ways[i]->skip_container(text.data, tg_str_end(text), 0)
                    : NULL;
        kinds[i] = 0;
        body[i] = ways[i]->text(text.data + 1, tg_str_end(text), &kinds[i]);
    }

    FUZZ(at[0] == at[1] && body[0] == body[1] && kinds[0] == kinds[1]);
    FUZZ(rc != TG_OK || (text.data[0] != '{' && text.data[0] != '[')
         || at[0] != NULL);
    FUZZ(at[0] == NULL
         || ref_check(tg_str(text.data, (size_t) (at[0] - text.data)))
                == TG_OK);
}

/* Each way to compact a valid text drops only what may be dropped. */
static void
json_compact(tg_str_t text)
{
    const tg_json_simd_t *ways[2];
    HELP_BUFFER(buf);
    tg_str_t wanted;
    char *room;
    int i;

    ways[0] = tg_json_simd_get_avx512();
    ways[1] = tg_json_simd_get_avx2();
    room = malloc(text.len);
    FUZZ(room != NULL);
    wanted = tg_str(room, ref_compact(text, room));
    tg_json_write_compact(&buf, text);
    FUZZ_EQ(tg_buf_view(&buf), wanted);

    for (i = 0; i < 2; i++) {
        if (ways[i] != NULL) {
            tg_buf_truncate(&buf, 0);
            ways[i]->write_compact(&buf, text);
            FUZZ_EQ(tg_buf_view(&buf), wanted);
        }
    }

    free(room);
}

/*
 * White space at the end makes even the shortest text long enough for blocks.
 */
static void
json_blocks(tg_str_t text, int rc, const char *why)
{
    const char *other;
    tg_str_t padded;
    char *room;

    room = malloc(text.len + JSON_PAD);
    FUZZ(room != NULL);
    memcpy(room, text.data, text.len);
    memset(room + text.len, '\n', JSON_PAD);
    padded = tg_str(room, text.len + JSON_PAD);

    /* A text that ends too early gets another error code when it is padded. */
    FUZZ(tg_json_validate(padded, &other) == rc);
    FUZZ(rc != TG_LIMIT || other == why);
    json_ways(padded, rc);

    if (rc == TG_OK) {
        json_compact(text);
        json_compact(padded);
    }

    free(room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why;
    tg_str_t text;
    int rc;

    text = tg_str(size != 0 ? (const char *) data : "", size);
    FUZZ(tg_utf8_find_invalid(text.data, text.len) <= text.len);
    rc = tg_json_validate(text, &why);
    FUZZ(rc == ref_check(text));
    json_blocks(text, rc, why);

    if (rc == TG_OK) {
        json_valid(text);
    } else {
        FUZZ(why != NULL && why[0] != '\0');
    }

    return 0;
}
