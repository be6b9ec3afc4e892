/*
 * Escaping of text for JSON strings, with variants for large texts, for many
 * short escapes, and for binary data.
 */
#include "base/tg_json_impl.h"
#include "base/simd/tg_scan_inline.h"

/* Returns the character of a short escape, or 0 if c needs \u. */
static char
tg_json_get_short_escape(char c)
{
    switch (c) {
    case '\n':
        return 'n';
    case '\t':
        return 't';
    case '\r':
        return 'r';
    case '"':
    case '\\':
        return c;
    default:
        return 0;
    }
}

/* Number of blocks without escapes after which the dense variant ends. */
#define TG_JSON_CLEAN_BLOCKS 4
/* Blocks until the wide variant, which needs more space, is tried again. */
#define TG_JSON_DENSE_BLOCKS 16

static const char *
tg_json_write_escaped_simd(tg_buf_t *buf, const char *p, const char *end)
{
    const tg_json_simd_t *blocks;
    char *at;

    blocks = tg_json_simd_get();

    if (blocks != NULL && blocks->escape != NULL && !buf->failed
        && buf->cap != 0) {
        at = buf->data + buf->len;
        blocks->escape(&p, end, &at, buf->data + buf->cap);
        buf->len = (size_t) (at - buf->data);
    }

    return p;
}

/* Escapes source code and the like. Returns the first byte not written. */
static const char *
tg_json_write_escaped_dense(tg_buf_t *buf, const char *p, const char *end)
{
#if defined(TG_SCAN_SIMD128)
    tg_scan_mask_t mask;
    unsigned n, done, clean, i;
    char *at, escape;

    /* Twice the block, and 16 for the whole block copied at its end. */
    for (clean = 0, i = 0;
         clean < TG_JSON_CLEAN_BLOCKS && i < TG_JSON_DENSE_BLOCKS
         && end - p >= 32 && !buf->failed && buf->cap - buf->len >= 48;
         clean = done != 0 ? 0 : clean + 1, i++)
    {
        at = buf->data + buf->len;
        mask = tg_scan_find_mask(p, TG_SCAN_STRING_STOPS);

        for (done = 0; mask != 0; mask &= mask - 1, done = n + 1) {
            n = tg_scan_mask_first(mask);
            escape = tg_json_get_short_escape(p[n]);

            if (escape == 0) {
                break;
            }

            memcpy(at, p + done, 16);
            at += n - done;
            *at++ = '\\';
            *at++ = escape;
        }

        n = mask != 0 ? tg_scan_mask_first(mask) : 16;
        memcpy(at, p + done, 16);
        buf->len = (size_t) (at - buf->data) + n - done;
        p += n;

        if (mask != 0) {
            break;
        }
    }
#endif

    return p;
}

#define TG_JSON_LONG_ESCAPE_CHUNK 32

/* The escapes of control characters: 6 bytes each, or 2 for a short one. */
#define TG_JSON_CONTROL_ESCAPES(digit)                                         \
    "\\u00" digit "0\0", "\\u00" digit "1\0", "\\u00" digit "2\0",             \
        "\\u00" digit "3\0", "\\u00" digit "4\0", "\\u00" digit "5\0",         \
        "\\u00" digit "6\0", "\\u00" digit "7\0", "\\u00" digit "8\0"

static const char tg_json_control_escapes[32][8] = {
    TG_JSON_CONTROL_ESCAPES("0"),
    "\\t",
    "\\n",
    "\\u000b",
    "\\u000c",
    "\\r",
    "\\u000e",
    "\\u000f",
    TG_JSON_CONTROL_ESCAPES("1"),
    "\\u0019",
    "\\u001a",
    "\\u001b",
    "\\u001c",
    "\\u001d",
    "\\u001e",
    "\\u001f",
};

/*
 * Escapes binary data, from a byte that needs a \u escape on, testing every
 * byte. Returns the first byte that was not written.
 */
static const char *
tg_json_write_long_escapes(tg_buf_t *buf, const char *p, const char *end)
{
    /* Each control escape is copied as 8 bytes, 2 more than its length. */
    char text[6 * TG_JSON_LONG_ESCAPE_CHUNK + 2], *at;
    unsigned char c;
    unsigned i, n, nlong, is_short, is_near;

    n = TG_JSON_LONG_ESCAPE_CHUNK / 8;

    do {
        n = end - p < n ? (unsigned) (end - p) : n;
        at = text;
        nlong = 0;

        for (i = 0; i < n; i++) {
            c = (unsigned char) p[i];

            if (c < 0x20) {
                is_short = c == '\n' || c == '\t' || c == '\r';
                memcpy(at, tg_json_control_escapes[c], 8);
                at += is_short ? 2 : 6;
                nlong += !is_short;
                continue;
            }

            *at = '\\';
            at += c == '"' || c == '\\';
            *at++ = (char) c;
        }

        tg_buf_append(buf, text, (size_t) (at - text));
        p += n;
        is_near = nlong > n / 4;
        n = TG_JSON_LONG_ESCAPE_CHUNK;
    } while (p < end && is_near);

    return p;
}

static unsigned
tg_json_count_escape_bytes(const unsigned char *p)
{
    unsigned char n[TG_JSON_LONG_ESCAPE_CHUNK];
    unsigned i, sum;

    for (i = 0; i < TG_JSON_LONG_ESCAPE_CHUNK; i++) {
        n[i] = (unsigned char) ((p[i] < 0x20 ? 5 : 0) - (p[i] == '\n' ? 4 : 0)
                                - (p[i] == '\t' ? 4 : 0)
                                - (p[i] == '\r' ? 4 : 0) + (p[i] == '"' ? 1 : 0)
                                + (p[i] == '\\' ? 1 : 0));
    }

    for (i = 0, sum = 0; i < TG_JSON_LONG_ESCAPE_CHUNK; i++) {
        sum += n[i];
    }

    return sum;
}

size_t
tg_json_escaped_len(tg_str_t text, size_t max)
{
    unsigned char last[TG_JSON_LONG_ESCAPE_CHUNK];
    const char *p, *end;
    size_t len;

    len = text.len;
    end = tg_str_end(text);
    p = tg_scan_string(text.data, end);

    while (end - p >= TG_JSON_LONG_ESCAPE_CHUNK && len <= max) {
        len += tg_json_count_escape_bytes((const unsigned char *) p);
        p = tg_scan_string(p + TG_JSON_LONG_ESCAPE_CHUNK, end);
    }

    if (p != end && len <= max) {
        memset(last, 'x', sizeof(last));
        memcpy(last, p,
               end - p < TG_JSON_LONG_ESCAPE_CHUNK ? (size_t) (end - p)
                                                   : sizeof(last));
        len += tg_json_count_escape_bytes(last);
    }

    return len;
}

void
tg_json_write_escaped(tg_buf_t *buf, tg_str_t text)
{
    const char *p, *end, *stop;
    char escape[2] = { '\\', 0 };

    end = tg_str_end(text);

    for (p = text.data; p < end; /* void */) {
        p = tg_json_write_escaped_simd(buf, p, end);
        stop = tg_scan_string(p, end);
        tg_buf_append(buf, p, (size_t) (stop - p));

        if (stop == end) {
            return;
        }

        escape[1] = tg_json_get_short_escape(*stop);

        if (escape[1] == 0) {
            p = tg_json_write_long_escapes(buf, stop, end);
            continue;
        }

        tg_buf_append(buf, escape, 2);
        p = tg_json_write_escaped_dense(buf, stop + 1, end);
    }
}

void
tg_json_write_string(tg_buf_t *buf, tg_str_t text)
{
    tg_buf_append_char(buf, '"');
    tg_json_write_escaped(buf, text);
    tg_buf_append_char(buf, '"');
}
