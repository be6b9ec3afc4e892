/* UTF-8 validation, encoding, and escaping of text for display. */
#include "base/tg_utf8.h"

#include "base/tg_scan.h"

static int
tg_utf8_is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

size_t
tg_utf8_sequence_len(const char *p, const char *end)
{
    const unsigned char *u;
    size_t left;

    u = (const unsigned char *) p;
    left = (size_t) (end - p);

    if (u[0] < 0x80) {
        return 1;
    }

    if (u[0] < 0xe0) {
        return u[0] >= 0xc2 && left >= 2 && tg_utf8_is_continuation(u[1]) ? 2
                                                                          : 0;
    }

    if (u[0] < 0xf0) {
        if (left < 3 || !tg_utf8_is_continuation(u[1])
            || !tg_utf8_is_continuation(u[2]))
        {
            return 0;
        }

        /* E0 starts no overlong form, ED no surrogate. */
        if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f)) {
            return 0;
        }

        return 3;
    }

    if (u[0] > 0xf4 || left < 4 || !tg_utf8_is_continuation(u[1])
        || !tg_utf8_is_continuation(u[2]) || !tg_utf8_is_continuation(u[3]))
    {
        return 0;
    }

    if ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)) {
        return 0;
    }

    return 4;
}

size_t
tg_utf8_find_invalid(const char *data, size_t len)
{
    return len != 0 ? (size_t) (tg_scan_utf8(data, data + len) - data) : 0;
}

size_t
tg_utf8_encode(char *dst, uint32_t code)
{
    if (code < 0x80) {
        dst[0] = (char) code;
        return 1;
    }

    if (code < 0x800) {
        dst[0] = (char) (0xc0 | (code >> 6));
        dst[1] = (char) (0x80 | (code & 0x3f));
        return 2;
    }

    if (code < 0x10000) {
        dst[0] = (char) (0xe0 | (code >> 12));
        dst[1] = (char) (0x80 | ((code >> 6) & 0x3f));
        dst[2] = (char) (0x80 | (code & 0x3f));
        return 3;
    }

    dst[0] = (char) (0xf0 | (code >> 18));
    dst[1] = (char) (0x80 | ((code >> 12) & 0x3f));
    dst[2] = (char) (0x80 | ((code >> 6) & 0x3f));
    dst[3] = (char) (0x80 | (code & 0x3f));

    return 4;
}

static uint32_t
tg_utf8_decode(const unsigned char *p, size_t len)
{
    switch (len) {
    case 1:
        return p[0];
    case 2:
        return (uint32_t) (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    case 3:
        return (uint32_t) (p[0] & 0x0f) << 12 | (uint32_t) (p[1] & 0x3f) << 6
               | (p[2] & 0x3f);
    default: /* The value of longer sequences is not needed here. */
        return 0x10000;
    }
}

static int
tg_utf8_is_unsafe(uint32_t code, int is_one_line)
{
    if (code < 0x20) {
        return is_one_line || (code != '\n' && code != '\t');
    }

    return (code >= 0x7f && code <= 0x9f) || code == 0x200e || code == 0x200f
           || (code >= 0x2028 && code <= 0x202e)
           || (code >= 0x2066 && code <= 0x2069);
}

void
tg_utf8_append_visible(tg_buf_t *buf, tg_str_t text, int is_one_line)
{
    const char *p, *end;
    uint32_t code;
    size_t len;

    end = tg_str_end(text);

    for (p = text.data; p < end; p += len) {
        len = tg_utf8_sequence_len(p, end);
        code = tg_utf8_decode((const unsigned char *) p, len);

        if (len == 0) {
            len = 1;
            tg_buf_append_cstr(buf, "\\ufffd");
        } else if (tg_utf8_is_unsafe(code, is_one_line)) {
            tg_buf_printf(buf, "\\u%04x", (unsigned) code);
        } else {
            tg_buf_append(buf, p, len);
        }
    }
}

size_t
tg_utf8_find_unsafe(tg_str_t text, uint32_t *code, size_t *len)
{
    const char *p, *end;

    end = tg_str_end(text);

    for (p = text.data; p < end; p += *len != 0 ? *len : 1) {
        *len = tg_utf8_sequence_len(p, end);
        *code = tg_utf8_decode((const unsigned char *) p, *len);

        if (*len != 0 && *code >= 0x20 && tg_utf8_is_unsafe(*code, 1)) {
            return (size_t) (p - text.data);
        }
    }

    return text.len;
}

size_t
tg_utf8_truncated_len(tg_str_t text, size_t max)
{
    if (text.len <= max) {
        return text.len;
    }

    while (max > 0 && tg_utf8_is_continuation((unsigned char) text.data[max])) {
        max--;
    }

    return max;
}

size_t
tg_utf8_prefix_len(tg_str_t text, size_t n)
{
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (((unsigned char) text.data[i] & 0xc0) != 0x80 && n-- == 0) {
            break;
        }
    }

    return i;
}

void
tg_utf8_append_lossy(tg_buf_t *buf, tg_str_t bytes)
{
    const char *p, *end;
    size_t n;

    p = bytes.data;
    end = tg_str_end(bytes);

    while (p < end) {
        n = tg_utf8_find_invalid(p, (size_t) (end - p));
        tg_buf_append(buf, p, n);
        p += n;

        if (p < end) {
            tg_buf_append(buf, "\xef\xbf\xbd", 3);
            p++;
        }
    }
}
