/* Base64 and base64url encoders and decoders (RFC 4648). */
#include "base/tg_base64.h"

static const char tg_base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "abcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes n bytes (1 to 3) as four characters. All 3 bytes are read. */
static void
tg_base64_encode_group(char *dst, const unsigned char *bytes, size_t n)
{
    uint32_t group;

    group = (uint32_t) bytes[0] << 16 | (uint32_t) bytes[1] << 8 | bytes[2];
    dst[0] = tg_base64_digits[group >> 18];
    dst[1] = tg_base64_digits[group >> 12 & 63];
    dst[2] = n > 1 ? tg_base64_digits[group >> 6 & 63] : '=';
    dst[3] = n > 2 ? tg_base64_digits[group & 63] : '=';
}

void
tg_base64_encode(tg_base64_encoder_t *base64, tg_buf_t *out, const char *data,
                 size_t len)
{
    size_t i;

    if (tg_buf_reserve(out, (base64->n + len) / 3 * 4) != TG_OK) {
        return;
    }

    for (i = 0; i < len; i++) {
        base64->bytes[base64->n++] = (unsigned char) data[i];

        if (base64->n == 3) {
            tg_base64_encode_group(out->data + out->len, base64->bytes, 3);
            out->len += 4;
            base64->n = 0;
        }
    }
}

void
tg_base64_encode_end(tg_base64_encoder_t *base64, tg_buf_t *out)
{
    char group[4];
    size_t i;

    if (base64->n == 0) {
        return;
    }

    for (i = base64->n; i < 3; i++) {
        base64->bytes[i] = 0;
    }

    tg_base64_encode_group(group, base64->bytes, base64->n);
    tg_buf_append(out, group, sizeof(group));
    base64->n = 0;
}

static int
tg_base64_digit_value(char c)
{
    const char *digit;

    digit = c != '\0' ? strchr(tg_base64_digits, c) : NULL;

    return digit != NULL ? (int) (digit - tg_base64_digits) : -1;
}

int
tg_base64_decode(tg_buf_t *out, tg_str_t text)
{
    char bytes[3];
    uint32_t group;
    size_t i, j, n;
    int value;

    if (text.len % 4 != 0) {
        return TG_INVALID;
    }

    for (i = 0; i < text.len; i += 4) {
        n = 4;

        while (i + 4 == text.len && n > 2 && text.data[i + n - 1] == '=') {
            n--;
        }

        for (group = 0, j = 0; j < 4; j++) {
            value = j < n ? tg_base64_digit_value(text.data[i + j]) : 0;

            if (value == -1) {
                return TG_INVALID;
            }

            group = group << 6 | (uint32_t) value;
        }

        bytes[0] = (char) (group >> 16);
        bytes[1] = (char) (group >> 8);
        bytes[2] = (char) group;
        tg_buf_append(out, bytes, n - 1);
    }

    return TG_OK;
}

void
tg_base64url_encode(tg_buf_t *out, tg_str_t bytes)
{
    tg_base64_encoder_t base64;
    size_t i, start;

    memset(&base64, 0, sizeof(base64));
    start = out->len;
    tg_base64_encode(&base64, out, bytes.data, bytes.len);
    tg_base64_encode_end(&base64, out);

    while (out->len > start && out->data[out->len - 1] == '=') {
        out->len--;
    }

    for (i = start; i < out->len; i++) {
        switch (out->data[i]) {
        case '+':
            out->data[i] = '-';
            break;
        case '/':
            out->data[i] = '_';
            break;
        default:
            break;
        }
    }
}

static int
tg_base64url_digit_value(char c)
{
    switch (c) {
    case '-':
        return 62;
    case '_':
        return 63;
    case '+':
    case '/':
        return -1;
    default:
        return tg_base64_digit_value(c);
    }
}

int
tg_base64url_decode(tg_buf_t *out, tg_str_t text)
{
    uint32_t bits;
    unsigned n;
    size_t i;
    int value;

    for (i = 0, bits = 0, n = 0; i < text.len; i++) {
        value = tg_base64url_digit_value(text.data[i]);

        if (value == -1) {
            return TG_INVALID;
        }

        bits = bits << 6 | (uint32_t) value;
        n += 6;

        if (n >= 8) {
            n -= 8;
            tg_buf_append_char(out, (char) (bits >> n));
            bits &= (1u << n) - 1;
        }
    }

    /* The rest is less than a digit, and its bits are zero. */
    return n < 6 && bits == 0 ? TG_OK : TG_INVALID;
}
