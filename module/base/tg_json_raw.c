/* Decoding, comparing, lookup and compact output of validated JSON. */
#include "base/tg_json_impl.h"

#include "base/tg_number.h"
#include "base/simd/tg_scan_inline.h"
#include "base/tg_utf8.h"

static uint32_t
tg_json_decode_hex4(const char *p)
{
    uint32_t code;
    int i;
    char c;

    code = 0;

    for (i = 0; i < 4; i++) {
        c = p[i];
        code <<= 4;

        if (c <= '9') {
            code |= (uint32_t) (c - '0');
        } else {
            code |= (uint32_t) ((c | 0x20) - 'a' + 10);
        }
    }

    return code;
}

/*
 * Decodes the digits of a \u escape, at p, and the second escape of a pair. A
 * lone surrogate becomes U+FFFD. Returns the end.
 */
static const char *
tg_json_decode_unicode(const char *p, const char *end, uint32_t *code)
{
    uint32_t low;

    *code = tg_json_decode_hex4(p);
    p += 4;

    if (*code < 0xd800 || *code > 0xdfff) {
        return p;
    }

    if (*code <= 0xdbff && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        low = tg_json_decode_hex4(p + 2);

        if (low >= 0xdc00 && low <= 0xdfff) {
            *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
            return p + 6;
        }
    }

    *code = 0xfffd;

    return p;
}

/* Values of the short escapes, by the character after the backslash. */
static const char tg_json_escape_values[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* Decodes the escape at p to at most 4 bytes. Returns the end of the escape. */
static inline const char *
tg_json_decode_escape(const char *p, const char *end, char *at, size_t *len)
{
    uint32_t code;

    if (p[1] == 'u') {
        p = tg_json_decode_unicode(p + 2, end, &code);
        *len = tg_utf8_encode(at, code);
        return p;
    }

    *at = tg_json_escape_values[p[1] & 0x7f];
    *len = 1;

    return p + 2;
}

static inline const char *
tg_json_find_escape(const char *p, const char *end)
{
    const char *slash;

    slash = memchr(p, '\\', (size_t) (end - p));

    return slash != NULL ? slash : end;
}

/* Decodes text up to an escape, or an escape to scratch. Returns the end. */
static inline const char *
tg_json_decode_piece(const char *p, const char *end, tg_str_t *out,
                     char scratch[4])
{
    const char *run_end;
    size_t len;

    if (*p != '\\') {
        run_end = tg_json_find_escape(p, end);
        *out = tg_str(p, (size_t) (run_end - p));
        return run_end;
    }

    p = tg_json_decode_escape(p, end, scratch, &len);
    *out = tg_str(scratch, len);

    return p;
}

/*
 * Decodes text with many short escapes, such as source code, and advances *dst.
 * Returns the first byte that was not decoded. Never writes beyond the space
 * for the whole body.
 */
static const char *
tg_json_unescape_dense(const char *p, const char *end, char **dst)
{
#if defined(TG_SCAN_SIMD128)
    tg_scan_mask_t mask;
    unsigned n, done;
    char *at;

    for (at = *dst; end - p >= 32 && *p != '\\'; p += done) {
        mask = tg_scan_find_mask(p, TG_SCAN_STRING_STOPS);

        for (done = 0; mask != 0; done = n + 2) {
            n = tg_scan_mask_first(mask);

            if (n == done && done != 0) {
                break;
            }

            memcpy(at, p + done, 16);
            at += n - done;
            done = n;

            if (p[n] != '\\' || p[n + 1] == 'u') {
                break;
            }

            *at++ = tg_json_escape_values[p[n + 1] & 0x7f];
            mask &= mask - 1;

            /*
             * A quote or backslash that is escaped within this block is no
             * stop.
             */
            if (n != 15 && (p[n + 1] == '\\' || p[n + 1] == '"')) {
                mask &= mask - 1;
            }
        }

        if (mask != 0) {
            p += done;
            break;
        }

        if (done < 16) {
            memcpy(at, p + done, 16);
            at += 16 - done;
            done = 16;
        }
    }

    *dst = at;
#endif

    return p;
}

size_t
tg_json_unescape(char *dst, tg_str_t body)
{
    const char *p, *end, *run;
    size_t len;
    char *at;

    at = dst;
    end = tg_str_end(body);

    for (p = body.data; p < end; /* void */) {
        p = tg_json_unescape_dense(p, end, &at);

        if (p < end && *p != '\\') {
            run = p;
            p = tg_json_find_escape(p, end);
            memcpy(at, run, (size_t) (p - run));
            at += p - run;
        }

        /* An escape is longer than its value, so dst has the space. */
        while (p < end && *p == '\\') {
            p = tg_json_decode_escape(p, end, at, &len);
            at += len;
        }
    }

    return (size_t) (at - dst);
}

void
tg_json_append_unescaped(tg_buf_t *buf, tg_str_t body)
{
    if (body.len != 0 && tg_buf_reserve(buf, body.len) == TG_OK
        && buf->data != NULL)
    {
        buf->len += tg_json_unescape(buf->data + buf->len, body);
    }
}

int
tg_json_body_eq_text(tg_str_t body, tg_str_t text)
{
    const char *p, *end;
    char scratch[4];
    tg_str_t piece;
    size_t at;

    /* An escape is longer than its value. */
    if (body.len <= text.len) {
        return tg_str_eq(body, text)
               && (body.len == 0 || memchr(body.data, '\\', body.len) == NULL);
    }

    if (memchr(body.data, '\\', body.len) == NULL) {
        return 0;
    }

    at = 0;
    end = tg_str_end(body);

    for (p = body.data; p < end; /* void */) {
        p = tg_json_decode_piece(p, end, &piece, scratch);

        if (piece.len > text.len - at
            || memcmp(text.data + at, piece.data, piece.len) != 0)
        {
            return 0;
        }

        at += piece.len;
    }

    return at == text.len;
}

/* Iterates over decoded bytes, to compare two bodies. */
typedef struct {
    const char *p;
    const char *end;
    char scratch[4];
    tg_str_t piece;
} tg_json_body_iter_t;

static int
tg_json_body_iter_next(tg_json_body_iter_t *walk)
{
    char c;

    while (walk->piece.len == 0) {
        if (walk->p == walk->end) {
            return -1;
        }

        walk->p = tg_json_decode_piece(walk->p, walk->end, &walk->piece,
                                       walk->scratch);
    }

    c = *walk->piece.data++;
    walk->piece.len--;

    return (unsigned char) c;
}

int
tg_json_body_eq(tg_str_t a, tg_str_t b)
{
    tg_json_body_iter_t left, right;
    int c;

    if (b.len == 0 || memchr(b.data, '\\', b.len) == NULL) {
        return tg_json_body_eq_text(a, b);
    }

    left = (tg_json_body_iter_t){ a.data, tg_str_end(a), { 0 }, TG_STR_NONE };
    right = (tg_json_body_iter_t){ b.data, tg_str_end(b), { 0 }, TG_STR_NONE };

    do {
        c = tg_json_body_iter_next(&left);

        if (c != tg_json_body_iter_next(&right)) {
            return 0;
        }
    } while (c >= 0);

    return 1;
}

int
tg_json_body_find(tg_str_t body, const char *const *words)
{
    int i;

    for (i = 0; words[i] != NULL; i++) {
        if (tg_json_body_eq_text(body, tg_str_from_cstr(words[i]))) {
            return i;
        }
    }

    return -1;
}

int
tg_json_string_find(tg_str_t raw, const char *const *words)
{
    return tg_json_type(raw) == TG_JSON_STRING
               ? tg_json_body_find(tg_json_string_body(raw), words)
               : -1;
}

int
tg_json_get_member(tg_str_t object, tg_str_t key, tg_str_t *value)
{
    tg_json_cursor_t json;
    tg_str_t name, found;
    int is_found;

    tg_json_init(&json, object);
    is_found = 0;

    if (tg_json_enter_object(&json) != TG_OK) {
        return TG_MISSING;
    }

    while (tg_json_next_member(&json, &name) == TG_OK) {
        if (tg_json_read_value(&json, &found) != TG_OK) {
            return TG_MISSING;
        }

        if (tg_json_body_eq_text(name, key)) {
            *value = found;
            is_found = 1;
        }
    }

    return is_found ? TG_OK : TG_MISSING;
}

void
tg_json_iter_init(tg_json_cursor_t *json, tg_str_t array)
{
    tg_json_init(json, array);
    (void) tg_json_enter_array(json);
}

int
tg_json_iter_next(tg_json_cursor_t *json, tg_str_t *value)
{
    return tg_json_next_element(json) == TG_OK
           && tg_json_read_value(json, value) == TG_OK;
}

void
tg_json_iter_init_members(tg_json_cursor_t *json, tg_str_t object)
{
    tg_json_init(json, object);
    (void) tg_json_enter_object(json);
}

int
tg_json_iter_next_member(tg_json_cursor_t *json, tg_str_t *key, tg_str_t *value)
{
    return tg_json_next_member(json, key) == TG_OK
           && tg_json_read_value(json, value) == TG_OK;
}

int
tg_json_get_members(tg_str_t text, const char *const *names, tg_str_t *values)
{
    tg_str_t key, value;
    tg_json_cursor_t json;
    size_t i;
    int rc;

    for (i = 0; names[i] != NULL; i++) {
        values[i] = TG_STR_NONE;
    }

    value = TG_STR_NONE;
    tg_json_init(&json, text);
    rc = tg_json_enter_object(&json);

    while (rc == TG_OK && (rc = tg_json_next_member(&json, &key)) == TG_OK) {
        rc = tg_json_read_value(&json, &value);

        for (i = 0; names[i] != NULL; i++) {
            if (tg_json_body_eq_text(key, tg_str_from_cstr(names[i]))) {
                values[i] = value;
            }
        }
    }

    return rc == TG_END && tg_json_expect_end(&json) == TG_OK ? TG_OK
                                                              : TG_INVALID;
}

int
tg_json_parse_int64(tg_str_t raw, int64_t *value)
{
    tg_number_t number;
    uint64_t whole, most;

    if (tg_json_type(raw) != TG_JSON_NUMBER
        || tg_number_parse(raw, &number) != TG_OK)
    {
        return TG_INVALID;
    }

    most = (uint64_t) INT64_MAX + (uint64_t) number.is_negative;

    if (tg_number_to_uint64(&number, most, &whole) != TG_OK) {
        return TG_INVALID;
    }

    *value = (int64_t) (number.is_negative ? ~whole + 1 : whole);

    return TG_OK;
}

#define TG_JSON_COMPACT_SIMD_MIN 256

void
tg_json_write_compact(tg_buf_t *buf, tg_str_t raw)
{
    const tg_json_simd_t *blocks;
    const char *p, *end, *run;

    blocks = raw.len >= TG_JSON_COMPACT_SIMD_MIN ? tg_json_simd_get() : NULL;

    if (blocks != NULL) {
        blocks->write_compact(buf, raw);
        return;
    }

    run = raw.data;
    end = tg_str_end(raw);

    for (p = raw.data; p < end; p++) {

        if (*p == '"') {
            p = tg_scan_string(p + 1, end);

            while (*p == '\\') {
                /* Skip consecutive escapes without a new search. */
                do {
                    p += p[1] == 'u' ? 6 : 2;
                } while (*p == '\\');

                p = tg_scan_string(p, end);
            }

            continue;
        }

        if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') {
            tg_buf_append(buf, run, (size_t) (p - run));
            run = p + 1;
        }
    }

    tg_buf_append(buf, run, (size_t) (end - run));
}

size_t
tg_json_write_members_except(tg_buf_t *buf, tg_str_t object,
                             const char *const *names, size_t n)
{
    tg_str_t key, value;
    tg_json_cursor_t json;

    tg_json_iter_init_members(&json, object);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (tg_json_body_find(key, names) < 0) {
            tg_buf_append_cstr(buf, n++ != 0 ? ",\"" : "\"");
            tg_buf_append_str(buf, key);
            tg_buf_append_cstr(buf, "\":");
            tg_json_write_compact(buf, value);
        }
    }

    return n;
}
