/* Every character, raw and escaped, and every invalid code. */
#include "base_json_ref.h"
#include "protocol_help.h"

#include "base/tg_utf8.h"

/* Encodes a code as in RFC 3629, but also surrogates, as some encoders do. */
static size_t
test_encode(char *dst, uint32_t code)
{
    if (code < 0x80) {
        dst[0] = (char) code;
        return 1;
    }

    if (code < 0x800) {
        dst[0] = (char) (0xc0 + code / 64);
        dst[1] = (char) (0x80 + code % 64);
        return 2;
    }

    if (code < 0x10000) {
        dst[0] = (char) (0xe0 + code / 4096);
        dst[1] = (char) (0x80 + code / 64 % 64);
        dst[2] = (char) (0x80 + code % 64);
        return 3;
    }

    dst[0] = (char) (0xf0 + code / 262144);
    dst[1] = (char) (0x80 + code / 4096 % 64);
    dst[2] = (char) (0x80 + code / 64 % 64);
    dst[3] = (char) (0x80 + code % 64);

    return 4;
}

static int
test_is_half(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdfff;
}

/* A string accepts each raw code but surrogates and control characters. */
HELP_TEST(raw, "raw")
{
    char text[80], out[8];
    unsigned wrong;
    uint32_t code;
    tg_str_t body;
    size_t n, pad;
    int rc, expected;

    wrong = 0;

    /* Beyond the last code, up to the limit of four bytes. */
    for (code = 0; code < 0x140000; code++) {
        pad = code % 37;
        memset(text, 'p', sizeof(text));
        text[0] = '"';
        n = test_encode(text + 1 + pad, code);
        text[1 + pad + n + 33] = '"';
        rc = tg_json_validate(tg_str(text, pad + n + 35), NULL);

        /* A backslash would need a valid letter after it. */
        expected = code < 0x20 || code == '"' || code == '\\'
                           || test_is_half(code) || code > 0x10ffff
                       ? TG_INVALID
                       : TG_OK;

        wrong += rc != expected;

        if (rc == TG_OK) {
            body = tg_str(text + 1 + pad, n);
            wrong += tg_json_unescape(out, body) != n
                     || memcmp(out, text + 1 + pad, n) != 0;
        }
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

HELP_TEST(escaped, "each escape of four digits, in both cases of its letters")
{
    char text[32], expected[8], out[8];
    unsigned wrong;
    uint32_t code;
    size_t n;
    int upper;

    wrong = 0;

    for (code = 0; code < 0x10000; code++) {
        for (upper = 0; upper < 2; upper++) {
            snprintf(text, sizeof(text), upper ? "\"\\u%04X\"" : "\"\\u%04x\"",
                     (unsigned) code);
            wrong += tg_json_validate(tg_str_from_cstr(text), NULL) != TG_OK;
            n = test_encode(expected, test_is_half(code) ? 0xfffd : code);
            wrong += tg_json_unescape(out, tg_str(text + 1, 6)) != n
                     || memcmp(out, expected, n) != 0;
        }
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

HELP_TEST(pairs, "two escapes: a pair, or two unrelated ones")
{
    static const uint32_t codes[] = { 0x0000, 0x0041, 0xd7ff, 0xd800, 0xd801,
                                      0xd83d, 0xdbfe, 0xdbff, 0xdc00, 0xdc01,
                                      0xde00, 0xdffe, 0xdfff, 0xe000, 0xffff };
    const size_t count = HELP_COUNT(codes);
    char text[32], expected[16], out[16];
    unsigned wrong;
    size_t i, k, n;

    wrong = 0;

    for (i = 0; i < count; i++) {
        for (k = 0; k < count; k++) {
            snprintf(text, sizeof(text), "\"\\u%04x\\u%04x\"",
                     (unsigned) codes[i], (unsigned) codes[k]);
            wrong += tg_json_validate(tg_str_from_cstr(text), NULL) != TG_OK;

            if (codes[i] >= 0xd800 && codes[i] <= 0xdbff && codes[k] >= 0xdc00
                && codes[k] <= 0xdfff)
            {
                n = test_encode(expected, 0x10000 + (codes[i] - 0xd800) * 1024
                                              + (codes[k] - 0xdc00));
            } else {
                n = test_encode(expected,
                                test_is_half(codes[i]) ? 0xfffd : codes[i]);
                n += test_encode(expected + n,
                                 test_is_half(codes[k]) ? 0xfffd : codes[k]);
            }

            wrong += tg_json_unescape(out, tg_str(text + 1, 12)) != n
                     || memcmp(out, expected, n) != 0;
        }
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

/*
 * Every three bytes, and relevant fourth bytes, in a long string. The reference
 * checks them without the ASCII around them.
 */
HELP_TEST(bytes, "bytes")
{
    static const unsigned char fourth[] = { 0x41, 0x80, 0xbf, 0xc2 };
    unsigned a, b, c, d, wrong;
    char text[77], bytes[] = "\"....q\"";
    int rc;

    wrong = 0;
    memset(text, 'q', sizeof(text));
    text[0] = '"';
    text[76] = '"';

    for (a = 0x80; a < 0x100; a++) {
        for (b = 0x7e; b < 0x100; b++) {
            for (c = 0x7f; c < 0x100; c += c < 0x82 || c > 0xbd ? 1 : 7) {
                for (d = 0; d < 4; d++) {
                    bytes[1] = (char) a;
                    bytes[2] = (char) b;
                    bytes[3] = (char) c;
                    bytes[4] = (char) fourth[d];
                    memcpy(text + 31, bytes + 1, 4);
                    rc = tg_json_validate(tg_str(text, sizeof(text)), NULL);
                    wrong += rc != ref_check(TG_STR(bytes));
                }
            }
        }
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

HELP_TEST(written, "each code that is written reads back as itself")
{
    char text[8], out[16];
    unsigned wrong;
    uint32_t code;
    HELP_BUFFER(buf);
    size_t n;

    wrong = 0;

    for (code = 0; code < 0x110000; code++) {
        if (test_is_half(code)) {
            continue;
        }

        n = test_encode(text, code);
        tg_buf_truncate(&buf, 0);
        tg_json_write_string(&buf, tg_str(text, n));
        wrong += ref_check(tg_buf_view(&buf)) != TG_OK
                 || tg_json_unescape(out,
                                     tg_json_string_body(tg_buf_view(&buf)))
                        != n
                 || memcmp(out, text, n) != 0;
    }

    CU_ASSERT_EQUAL(wrong, 0);
}
