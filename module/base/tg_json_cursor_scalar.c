/* Validation of JSON strings, numbers, and the words true, false, null. */
#include "base/tg_json_impl.h"

#include "base/tg_scan.h"

__attribute__((cold)) int
tg_json_fail(tg_json_cursor_t *json, int code, const char *why)
{
    if (json->failed == 0) {
        json->failed = code;
        json->why = why;
    }

    return json->failed;
}

/* Returns the flags of the escape at p, which need not be valid. */
static unsigned
tg_json_classify_escape(const char *p, const char *end)
{
    return end - p >= 4 && p[1] == 'u' && (p[2] | 0x20) == 'd' && p[3] >= '8'
               ? TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES
               : TG_JSON_HAS_ESCAPES;
}

/* Returns the end of the escape whose backslash precedes p, or NULL. */
static const char *
tg_json_skip_escape(const char *p, const char *end)
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
            if (tg_hex_value(p[i]) < 0) {
                return NULL;
            }
        }

        return p + 5;

    default:
        return NULL;
    }
}

/* Fails at p, or at pos if the string has no end. */
static int
tg_json_fail_string(tg_json_cursor_t *json, const char *p)
{
    const char *why;

    if (p == json->end) {
        return tg_json_fail(json, TG_INVALID, "a string is not closed");
    }

    why = *p == '\\'                  ? "unknown escape in a string"
          : (unsigned char) *p < 0x20 ? "a control character in a string"
                                      : "a string is not valid UTF-8";
    json->pos = p;

    return tg_json_fail(json, TG_INVALID, why);
}

/* Skips escapes, which tend to follow each other. Returns p if none. */
static const char *
tg_json_skip_escapes_simd(tg_json_cursor_t *json, const char *p)
{
    const tg_json_simd_t *blocks;

    blocks = tg_json_simd_get();

    return blocks != NULL ? blocks->text(p, json->end, &json->escapes) : p;
}

int
tg_json_skip_string_rest(tg_json_cursor_t *json, const char *p)
{
    const char *at;

    p = tg_scan_string_utf8(p, json->end);

    while (p < json->end && *p == '\\') {
        at = p;
        p = tg_json_skip_escapes_simd(json, p);

        if (p != at) {
            p = tg_scan_string_utf8(p, json->end);
            continue;
        }

        json->escapes |= tg_json_classify_escape(p, json->end);
        p = tg_json_skip_escape(p + 1, json->end);

        if (p == NULL) {
            return tg_json_fail_string(json, at);
        }

        p = tg_scan_string_utf8(p, json->end);
    }

    if (p == json->end || *p != '"') {
        return tg_json_fail_string(json, p);
    }

    json->pos = p + 1;

    return TG_OK;
}

static const char *
tg_json_skip_digits(const char *p, const char *end)
{
    while (p < end && tg_is_digit(*p)) {
        p++;
    }

    return p;
}

int
tg_json_skip_number(tg_json_cursor_t *json)
{
    const char *p, *end, *digits;

    p = json->pos;
    end = json->end;

    if (*p == '-') {
        p++;
    }

    digits = p;
    p = tg_json_skip_digits(p, end);

    if (p == digits || (*digits == '0' && p - digits > 1)) {
        return tg_json_fail(json, TG_INVALID, "a number has wrong digits");
    }

    if (p < end && *p == '.') {
        digits = ++p;
        p = tg_json_skip_digits(p, end);

        if (p == digits) {
            return tg_json_fail(json, TG_INVALID,
                                "a number has no digits after the point");
        }
    }

    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;

        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }

        digits = p;
        p = tg_json_skip_digits(p, end);

        if (p == digits) {
            return tg_json_fail(json, TG_INVALID,
                                "a number has no digits in its exponent");
        }
    }

    json->pos = p;

    return TG_OK;
}

int
tg_json_skip_literal(tg_json_cursor_t *json, const char *word, size_t len)
{
    if ((size_t) (json->end - json->pos) < len
        || memcmp(json->pos, word, len) != 0) {
        return tg_json_fail(json, TG_INVALID, "an unknown word");
    }

    json->pos += len;

    return TG_OK;
}
