/*
 * The JSON reader against a second one, which knows nothing but RFC 8259 and
 * RFC 3629 and takes its time; and what is made of values that are valid.
 *
 * Input: a text.
 */
#include "help.h"

#include "base/tg_json_impl.h"
#include "base/tg_number.h"
#include "base/tg_utf8.h"

#include <stdlib.h>

/* More than blocks need. */
#define JSON_PAD 160

/* --- the plain reader: moves p, or returns TG_BAD or TG_LIMIT --- */

typedef struct {
    const unsigned char *p;
    const unsigned char *end;
    int depth;
} plain_t;

static int
plain_at(const plain_t *plain, int c)
{
    return plain->p != plain->end && *plain->p == c;
}

static void
plain_space(plain_t *plain)
{
    while (plain_at(plain, ' ') || plain_at(plain, '\t')
           || plain_at(plain, '\r') || plain_at(plain, '\n'))
    {
        plain->p++;
    }
}

static int
plain_between(const plain_t *plain, size_t i, int low, int high)
{
    return (size_t) (plain->end - plain->p) > i && plain->p[i] >= low
           && plain->p[i] <= high;
}

/* RFC 3629, section 4, as it is printed there. */
static size_t
plain_utf8(const plain_t *plain)
{
#define IS(i, low, high) plain_between(plain, i, low, high)
#define TAIL(i) IS(i, 0x80, 0xbf)
    if (IS(0, 0x00, 0x7f)) {
        return 1;
    }

    if (IS(0, 0xc2, 0xdf) && TAIL(1)) {
        return 2;
    }

    if ((IS(0, 0xe0, 0xe0) && IS(1, 0xa0, 0xbf) && TAIL(2))
        || (IS(0, 0xe1, 0xec) && TAIL(1) && TAIL(2))
        || (IS(0, 0xed, 0xed) && IS(1, 0x80, 0x9f) && TAIL(2))
        || (IS(0, 0xee, 0xef) && TAIL(1) && TAIL(2)))
    {
        return 3;
    }

    if ((IS(0, 0xf0, 0xf0) && IS(1, 0x90, 0xbf) && TAIL(2) && TAIL(3))
        || (IS(0, 0xf1, 0xf3) && TAIL(1) && TAIL(2) && TAIL(3))
        || (IS(0, 0xf4, 0xf4) && IS(1, 0x80, 0x8f) && TAIL(2) && TAIL(3)))
    {
        return 4;
    }
#undef TAIL
#undef IS

    return 0;
}

static int
plain_is_hex(const plain_t *plain, size_t i)
{
    return plain_between(plain, i, '0', '9')
           || plain_between(plain, i, 'a', 'f')
           || plain_between(plain, i, 'A', 'F');
}

static int
plain_escape(plain_t *plain)
{
    if (plain_at(plain, 'u')) {
        if (!plain_is_hex(plain, 1) || !plain_is_hex(plain, 2)
            || !plain_is_hex(plain, 3) || !plain_is_hex(plain, 4))
        {
            return TG_BAD;
        }

        plain->p += 5;
        return TG_OK;
    }

    if (plain->p == plain->end || *plain->p == 0
        || strchr("\"\\/bfnrt", *plain->p) == NULL)
    {
        return TG_BAD;
    }

    plain->p++;

    return TG_OK;
}

static int
plain_string(plain_t *plain)
{
    size_t n;

    if (!plain_at(plain, '"')) {
        return TG_BAD;
    }

    for (plain->p++; !plain_at(plain, '"');) {
        if (plain_at(plain, '\\')) {
            plain->p++;

            if (plain_escape(plain) != TG_OK) {
                return TG_BAD;
            }

            continue;
        }

        n = plain_utf8(plain);

        if (n == 0 || *plain->p < 0x20) {
            return TG_BAD;
        }

        plain->p += n;
    }

    plain->p++;

    return TG_OK;
}

static size_t
plain_digits(plain_t *plain)
{
    size_t n;

    for (n = 0; plain_between(plain, 0, '0', '9'); n++) {
        plain->p++;
    }

    return n;
}

static int
plain_number(plain_t *plain)
{
    if (plain_at(plain, '-')) {
        plain->p++;
    }

    if (plain_at(plain, '0')) {
        plain->p++;
    } else if (plain_digits(plain) == 0) {
        return TG_BAD;
    }

    if (plain_at(plain, '.')) {
        plain->p++;

        if (plain_digits(plain) == 0) {
            return TG_BAD;
        }
    }

    if (plain_at(plain, 'e') || plain_at(plain, 'E')) {
        plain->p++;

        if (plain_at(plain, '+') || plain_at(plain, '-')) {
            plain->p++;
        }

        if (plain_digits(plain) == 0) {
            return TG_BAD;
        }
    }

    return TG_OK;
}

static int
plain_word(plain_t *plain, const char *word)
{
    for (; *word != '\0'; word++, plain->p++) {
        if (!plain_at(plain, *word)) {
            return TG_BAD;
        }
    }

    return TG_OK;
}

static int plain_value(plain_t *plain);

static int
plain_container(plain_t *plain, int close)
{
    int rc;

    if (++plain->depth > TG_JSON_DEPTH) {
        return TG_LIMIT;
    }

    plain->p++;
    plain_space(plain);

    while (!plain_at(plain, close)) {
        if (close == '}') {
            if (plain_string(plain) != TG_OK) {
                return TG_BAD;
            }

            plain_space(plain);

            if (!plain_at(plain, ':')) {
                return TG_BAD;
            }

            plain->p++;
        }

        rc = plain_value(plain);

        if (rc != TG_OK) {
            return rc;
        }

        if (plain_at(plain, close)) {
            break;
        }

        if (!plain_at(plain, ',')) {
            return TG_BAD;
        }

        plain->p++;
        plain_space(plain);

        if (plain_at(plain, close)) {
            return TG_BAD;
        }
    }

    plain->p++;
    plain->depth--;

    return TG_OK;
}

static int
plain_value(plain_t *plain)
{
    int rc;

    plain_space(plain);

    switch (plain->p == plain->end ? 0 : *plain->p) {
    case '{':
        rc = plain_container(plain, '}');
        break;
    case '[':
        rc = plain_container(plain, ']');
        break;
    case '"':
        rc = plain_string(plain);
        break;
    case 't':
        rc = plain_word(plain, "true");
        break;
    case 'f':
        rc = plain_word(plain, "false");
        break;
    case 'n':
        rc = plain_word(plain, "null");
        break;
    default:
        rc = plain_number(plain);
    }

    plain_space(plain);

    return rc;
}

static int
plain_check(tg_str_t text)
{
    plain_t plain;
    int rc;

    plain.p = (const unsigned char *) text.data;
    plain.end = plain.p + text.len;
    plain.depth = 0;
    rc = plain_value(&plain);

    return rc == TG_OK && plain.p != plain.end ? TG_BAD : rc;
}

/* --- valid values --- */

static void
json_string(tg_str_t body)
{
    tg_buf_t decoded, again, back;
    char *room;
    size_t len;

    room = malloc(body.len);
    FUZZ(room != NULL || body.len == 0);
    len = tg_json_decode(room, body);
    FUZZ(len <= body.len);

    tg_buf_init(&decoded, tg_alloc_libc());
    tg_buf_init(&again, tg_alloc_libc());
    tg_buf_init(&back, tg_alloc_libc());
    tg_json_put_decoded(&decoded, body);
    FUZZ_EQ(tg_buf_view(&decoded), tg_str(room, len));
    FUZZ(tg_utf8_is_valid(tg_buf_view(&decoded)));
    FUZZ(tg_json_body_is(body, tg_buf_view(&decoded)));

    tg_json_put_string(&again, tg_buf_view(&decoded));
    FUZZ(tg_json_check(tg_buf_view(&again), NULL) == TG_OK);
    FUZZ(tg_json_is_text(tg_buf_view(&again), tg_buf_view(&decoded)));
    FUZZ(tg_json_body_eq(body, tg_json_body(tg_buf_view(&again))));
    tg_json_put_decoded(&back, tg_json_body(tg_buf_view(&again)));
    FUZZ_EQ(tg_buf_view(&back), tg_buf_view(&decoded));

    tg_buf_deinit(&decoded);
    tg_buf_deinit(&again);
    tg_buf_deinit(&back);
    free(room);
}

static void
json_number(tg_str_t raw)
{
    tg_number_t number, other;
    tg_buf_t text;
    int64_t value;

    if (tg_number_parse(raw, &number) != TG_OK) {
        return;
    }

    FUZZ(tg_number_compare(&number, &number) == 0);

    if (tg_json_int64(raw, &value) != TG_OK) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_int(&text, value);
    FUZZ(tg_number_parse(tg_buf_view(&text), &other) == TG_OK);
    FUZZ(tg_number_compare(&number, &other) == 0);
    FUZZ(tg_number_is_integer(&number));
    FUZZ(tg_number_hash(&number, 5) == tg_number_hash(&other, 5));
    tg_buf_deinit(&text);
}

static void
json_object(tg_str_t object)
{
    tg_str_t key, value, found;
    tg_buf_t text;
    tg_json_t json;

    tg_json_init(&json, object);
    FUZZ(tg_json_object(&json) == TG_OK);

    while (tg_json_member(&json, &key) == TG_OK) {
        FUZZ(tg_json_value(&json, &value) == TG_OK);
        tg_buf_init(&text, tg_alloc_libc());
        tg_json_put_decoded(&text, key);
        FUZZ(tg_json_get(object, tg_buf_view(&text), &found) == TG_OK);
        /* The last of equal ones. */
        FUZZ(found.data >= value.data);
        tg_buf_deinit(&text);
        json_string(key);
    }
}

/* Every value of a valid text, by the cursor. */
static void
json_walk(tg_json_t *json)
{
    tg_str_t key, value;
    int rc;

    switch (tg_json_peek(json)) {
    case TG_JSON_OBJECT:
        FUZZ(tg_json_object(json) == TG_OK);

        while ((rc = tg_json_member(json, &key)) == TG_OK) {
            json_walk(json);
        }

        FUZZ(rc == TG_END);
        break;

    case TG_JSON_ARRAY:
        FUZZ(tg_json_array(json) == TG_OK);

        while ((rc = tg_json_element(json)) == TG_OK) {
            json_walk(json);
        }

        FUZZ(rc == TG_END);
        break;

    case TG_JSON_STRING:
        FUZZ(tg_json_string(json, &value) == TG_OK);
        json_string(value);
        break;

    default:
        FUZZ(tg_json_value(json, &value) == TG_OK);

        if (tg_json_type(value) == TG_JSON_NUMBER) {
            json_number(value);
        }
    }
}

static void
json_valid(tg_str_t text)
{
    tg_buf_t compact, again;
    tg_json_t json;
    tg_str_t value;

    tg_json_init(&json, text);
    FUZZ(tg_json_value(&json, &value) == TG_OK);
    FUZZ(tg_json_end(&json) == TG_OK);
    FUZZ(tg_json_type(value) != TG_JSON_NONE);

    tg_json_init(&json, text);
    json_walk(&json);
    FUZZ(tg_json_end(&json) == TG_OK);

    if (tg_json_type(value) == TG_JSON_OBJECT) {
        json_object(value);
    }

    tg_buf_init(&compact, tg_alloc_libc());
    tg_buf_init(&again, tg_alloc_libc());
    tg_json_put_compact(&compact, value);
    FUZZ(compact.len <= value.len);
    FUZZ_LINE(tg_buf_view(&compact));
    FUZZ(tg_json_check(tg_buf_view(&compact), NULL) == TG_OK);
    tg_json_put_compact(&again, tg_buf_view(&compact));
    FUZZ_EQ(tg_buf_view(&again), tg_buf_view(&compact));
    tg_buf_deinit(&compact);
    tg_buf_deinit(&again);
}

/* All ways to pass blocks say the same, and of a good text the right. */
static void
json_ways(tg_str_t text, int rc)
{
    const tg_json_blocks_t *ways[2];
    const char *at[2], *body[2];
    unsigned kinds[2];
    int i;

    ways[0] = tg_json_blocks_avx512();
    ways[1] = tg_json_blocks_avx2();

    for (i = 0; i < 2; i++) {
        if (ways[i] == NULL) {
            return;
        }

        at[i] = text.data[0] == '{' || text.data[0] == '['
                    ? ways[i]->container(text.data, tg_str_end(text), 0)
                    : NULL;
        kinds[i] = 0;
        body[i] = ways[i]->text(text.data + 1, tg_str_end(text), &kinds[i]);
    }

    FUZZ(at[0] == at[1] && body[0] == body[1] && kinds[0] == kinds[1]);
    FUZZ(rc != TG_OK || (text.data[0] != '{' && text.data[0] != '[')
         || at[0] != NULL);
    FUZZ(at[0] == NULL
         || plain_check(tg_str(text.data, (size_t) (at[0] - text.data)))
                == TG_OK);
}

/* White space behind it makes the shortest text long enough for blocks. */
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

    /* Where the text ends too early, what is missing has another name. */
    FUZZ(tg_json_check(padded, &other) == rc);
    FUZZ(rc != TG_LIMIT || other == why);
    json_ways(padded, rc);
    free(room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why;
    tg_str_t text;
    int rc;

    text = tg_str(size != 0 ? (const char *) data : "", size);
    FUZZ(tg_utf8_check(text.data, text.len) <= text.len);
    rc = tg_json_check(text, &why);
    FUZZ(rc == plain_check(text));
    json_blocks(text, rc, why);

    if (rc == TG_OK) {
        json_valid(text);
    } else {
        FUZZ(why != NULL && why[0] != '\0');
    }

    return 0;
}
