/*
 * The validating cursor.  Strings are passed in the widest steps that the
 * machine offers; everything else is short and goes byte by byte.
 */
#include "core/tg_json.h"

#include "core/tg_utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static int
tg_json_fail(tg_json_t *json, int code, const char *why)
{
    if (json->failed == 0) {
        json->failed = code;
        json->why = why;
    }

    return json->failed;
}

void
tg_json_init(tg_json_t *json, tg_str_t text)
{
    json->start = text.data;
    json->pos = text.data;
    json->end = tg_str_end(text);
    json->depth = 0;
    json->is_fresh = 0;
    json->failed = 0;
    json->why = NULL;
}

static inline const char *
tg_json_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }

    return p;
}

static tg_json_type_t
tg_json_type_at(char c)
{
    switch (c) {
    case '{':
        return TG_JSON_OBJECT;
    case '[':
        return TG_JSON_ARRAY;
    case '"':
        return TG_JSON_STRING;
    case 't':
        return TG_JSON_TRUE;
    case 'f':
        return TG_JSON_FALSE;
    case 'n':
        return TG_JSON_NULL;
    case '-':
        return TG_JSON_NUMBER;
    default:
        return c >= '0' && c <= '9' ? TG_JSON_NUMBER : TG_JSON_NONE;
    }
}

tg_json_type_t
tg_json_peek(tg_json_t *json)
{
    json->pos = tg_json_space(json->pos, json->end);

    return json->pos < json->end ? tg_json_type_at(*json->pos) : TG_JSON_NONE;
}

tg_json_type_t
tg_json_type(tg_str_t raw)
{
    return raw.len != 0 ? tg_json_type_at(raw.data[0]) : TG_JSON_NONE;
}

const char *
tg_json_type_name(tg_json_type_t type)
{
    static const char *const names[] = { "nothing", "object", "array", "string",
                                         "number",  "true",   "false", "null" };

    return names[type];
}

/*
 * The first byte that a string's body cannot just pass: a quote, a
 * backslash, a control character, or the start of a multi-byte sequence.
 */
static inline const char *
tg_json_plain(const char *p, const char *end)
{
    unsigned char c;
#if defined(__SSE2__)
    __m128i chunk, hit;
    int mask;

    while (end - p >= 16) {
        chunk = _mm_loadu_si128((const __m128i *) (const void *) p);

        /* A signed comparison: bytes from 0x80 on are below 0x20 too. */
        hit = _mm_or_si128(
            _mm_cmplt_epi8(chunk, _mm_set1_epi8(0x20)),
            _mm_or_si128(_mm_cmpeq_epi8(chunk, _mm_set1_epi8('"')),
                         _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\'))));
        mask = _mm_movemask_epi8(hit);

        if (mask != 0) {
            return p + __builtin_ctz((unsigned) mask);
        }

        p += 16;
    }
#endif

    while (p < end) {
        c = (unsigned char) *p;

        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80) {
            break;
        }

        p++;
    }

    return p;
}

static int
tg_json_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')
           || (c >= 'A' && c <= 'F');
}

/* p is behind the backslash; returns what follows the escape, or NULL. */
static const char *
tg_json_escape(const char *p, const char *end)
{
    int i;

    if (p == end) {
        return NULL;
    }

    switch (*p) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 1;

    case 'u':
        if (end - p < 5) {
            return NULL;
        }

        for (i = 1; i < 5; i++) {
            if (!tg_json_is_hex(p[i])) {
                return NULL;
            }
        }

        return p + 5;

    default:
        return NULL;
    }
}

/* pos is behind the opening quote; moves it behind the closing one. */
static int
tg_json_pass_string(tg_json_t *json)
{
    const char *p;
    size_t n;

    p = json->pos;

    for (;;) {
        p = tg_json_plain(p, json->end);

        if (p == json->end) {
            return tg_json_fail(json, TG_BAD, "a string is not closed");
        }

        if (*p == '"') {
            json->pos = p + 1;
            return TG_OK;
        }

        if (*p == '\\') {
            p = tg_json_escape(p + 1, json->end);

            if (p == NULL) {
                return tg_json_fail(json, TG_BAD, "unknown escape in a string");
            }

            continue;
        }

        if ((unsigned char) *p < 0x20) {
            return tg_json_fail(json, TG_BAD,
                                "a control character in a string");
        }

        n = tg_utf8_length(p, json->end);

        if (n == 0) {
            return tg_json_fail(json, TG_BAD, "a string is not valid UTF-8");
        }

        p += n;
    }
}

static const char *
tg_json_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }

    return p;
}

static int
tg_json_pass_number(tg_json_t *json)
{
    const char *p, *end, *digits;

    p = json->pos;
    end = json->end;

    if (*p == '-') {
        p++;
    }

    digits = p;
    p = tg_json_digits(p, end);

    if (p == digits || (*digits == '0' && p - digits > 1)) {
        return tg_json_fail(json, TG_BAD, "a number has wrong digits");
    }

    if (p < end && *p == '.') {
        digits = ++p;
        p = tg_json_digits(p, end);

        if (p == digits) {
            return tg_json_fail(json, TG_BAD, "a number has no fraction");
        }
    }

    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;

        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }

        digits = p;
        p = tg_json_digits(p, end);

        if (p == digits) {
            return tg_json_fail(json, TG_BAD, "a number has no exponent");
        }
    }

    json->pos = p;

    return TG_OK;
}

static int
tg_json_pass_word(tg_json_t *json, const char *word, size_t len)
{
    if ((size_t) (json->end - json->pos) < len
        || memcmp(json->pos, word, len) != 0) {
        return tg_json_fail(json, TG_BAD, "an unknown word");
    }

    json->pos += len;

    return TG_OK;
}

/* Passes the scalar that starts at pos. */
static int
tg_json_pass_scalar(tg_json_t *json, tg_json_type_t type)
{
    switch (type) {
    case TG_JSON_STRING:
        json->pos++;
        return tg_json_pass_string(json);
    case TG_JSON_NUMBER:
        return tg_json_pass_number(json);
    case TG_JSON_TRUE:
        return tg_json_pass_word(json, "true", 4);
    case TG_JSON_FALSE:
        return tg_json_pass_word(json, "false", 5);
    case TG_JSON_NULL:
        return tg_json_pass_word(json, "null", 4);
    default:
        return tg_json_fail(json, TG_BAD, "a value is missing");
    }
}

static int
tg_json_enter(tg_json_t *json, tg_json_type_t type)
{
    if (json->failed) {
        return json->failed;
    }

    if (tg_json_peek(json) != type) {
        return tg_json_fail(json, TG_BAD, "a value has another type");
    }

    if (json->depth == TG_JSON_DEPTH) {
        return tg_json_fail(json, TG_LIMIT, "values nest too deep (128)");
    }

    json->depth++;
    json->pos++;
    json->is_fresh = 1;

    return TG_OK;
}

int
tg_json_object(tg_json_t *json)
{
    return tg_json_enter(json, TG_JSON_OBJECT);
}

int
tg_json_array(tg_json_t *json)
{
    return tg_json_enter(json, TG_JSON_ARRAY);
}

/* To the next entry of the open container, or out of it. */
static int
tg_json_next(tg_json_t *json, char closing)
{
    if (json->failed) {
        return json->failed;
    }

    json->pos = tg_json_space(json->pos, json->end);

    if (json->pos == json->end) {
        return tg_json_fail(json, TG_BAD, "the text ends too early");
    }

    if (*json->pos == closing) {
        json->pos++;
        json->depth--;
        json->is_fresh = 0;
        return TG_END;
    }

    if (!json->is_fresh) {
        if (*json->pos != ',') {
            return tg_json_fail(json, TG_BAD, "a comma is missing");
        }

        json->pos = tg_json_space(json->pos + 1, json->end);
    }

    json->is_fresh = 0;

    return TG_OK;
}

int
tg_json_member(tg_json_t *json, tg_str_t *key)
{
    const char *start;
    int rc;

    rc = tg_json_next(json, '}');

    if (rc != TG_OK) {
        return rc;
    }

    if (json->pos == json->end || *json->pos != '"') {
        return tg_json_fail(json, TG_BAD, "a key is missing");
    }

    start = ++json->pos;
    rc = tg_json_pass_string(json);

    if (rc != TG_OK) {
        return rc;
    }

    *key = tg_str(start, (size_t) (json->pos - 1 - start));
    json->pos = tg_json_space(json->pos, json->end);

    if (json->pos == json->end || *json->pos != ':') {
        return tg_json_fail(json, TG_BAD, "a colon is missing");
    }

    json->pos++;

    return TG_OK;
}

int
tg_json_element(tg_json_t *json)
{
    return tg_json_next(json, ']');
}

int
tg_json_string(tg_json_t *json, tg_str_t *body)
{
    tg_str_t raw;
    int rc;

    if (json->failed == 0 && tg_json_peek(json) != TG_JSON_STRING) {
        return tg_json_fail(json, TG_BAD, "a string is missing");
    }

    rc = tg_json_value(json, &raw);

    if (rc == TG_OK) {
        *body = tg_json_body(raw);
    }

    return rc;
}

/*
 * Passes the value at pos without recursion.  arrays has a bit for each
 * container that this call opened: set for an array.
 */
static int
tg_json_pass(tg_json_t *json)
{
    uint64_t arrays[TG_JSON_DEPTH / 64] = { 0 };
    tg_json_type_t type;
    tg_str_t key;
    int base, bit, rc;

    base = json->depth;

    for (;;) {
        type = tg_json_peek(json);

        if (type == TG_JSON_OBJECT || type == TG_JSON_ARRAY) {
            bit = json->depth;
            rc = tg_json_enter(json, type);

            if (rc != TG_OK) {
                return rc;
            }

            if (type == TG_JSON_ARRAY) {
                arrays[bit / 64] |= UINT64_C(1) << (bit % 64);
            } else {
                arrays[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
            }

        } else {
            rc = tg_json_pass_scalar(json, type);

            if (rc != TG_OK) {
                return rc;
            }
        }

        for (;;) {
            if (json->depth == base) {
                return TG_OK;
            }

            bit = json->depth - 1;

            if (arrays[bit / 64] >> (bit % 64) & 1) {
                rc = tg_json_element(json);
            } else {
                rc = tg_json_member(json, &key);
            }

            if (rc == TG_OK) {
                break;
            }

            if (rc != TG_END) {
                return rc;
            }
        }
    }
}

int
tg_json_value(tg_json_t *json, tg_str_t *value)
{
    const char *start;
    int rc;

    if (json->failed) {
        return json->failed;
    }

    json->pos = tg_json_space(json->pos, json->end);
    start = json->pos;
    rc = tg_json_pass(json);

    if (rc != TG_OK) {
        return rc;
    }

    json->is_fresh = 0;

    if (value != NULL) {
        *value = tg_str(start, (size_t) (json->pos - start));
    }

    return TG_OK;
}

int
tg_json_end(tg_json_t *json)
{
    if (json->failed) {
        return json->failed;
    }

    json->pos = tg_json_space(json->pos, json->end);

    if (json->pos != json->end) {
        return tg_json_fail(json, TG_BAD, "something follows the value");
    }

    return TG_OK;
}

int
tg_json_check(tg_str_t text, const char **why)
{
    tg_json_t json;
    int rc;

    tg_json_init(&json, text);
    rc = tg_json_value(&json, NULL);

    if (rc == TG_OK) {
        rc = tg_json_end(&json);
    }

    if (rc != TG_OK && why != NULL) {
        *why = json.why;
    }

    return rc;
}
