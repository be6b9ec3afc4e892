/* UTF-8 against a reference that decodes by the definition of RFC 3629. */
#include "base_json_ref.h"
#include "protocol_help.h"

#include "base/tg_utf8.h"

HELP_TEST(every_pair, "every pair of first bytes")
{
    static const unsigned char tails[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90,
                                           0x9f, 0xa0, 0xbf, 0xc0, 0xff };
    unsigned char u[4];
    unsigned a, b, i, k, wrong;
    size_t left;

    wrong = 0;

    for (a = 0; a < 256; a++) {
        for (b = 0; b < 256; b++) {
            for (i = 0; i < sizeof(tails); i++) {
                for (k = 0; k < sizeof(tails); k++) {
                    u[0] = (unsigned char) a;
                    u[1] = (unsigned char) b;
                    u[2] = tails[i];
                    u[3] = tails[k];

                    for (left = 1; left <= 4; left++) {
                        wrong += tg_utf8_sequence_len((const char *) u,
                                                      (const char *) u + left)
                                 != ref_utf8((const char *) u,
                                             (const char *) u + left);
                    }
                }
            }
        }
    }

    CU_ASSERT(wrong == 0);
}

HELP_TEST(every_code, "every code point")
{
    char text[4];
    uint32_t code;
    size_t n, wrong;

    wrong = 0;

    for (code = 0; code <= 0x10ffff; code++) {
        n = tg_utf8_encode(text, code);
        wrong += n
                 != (code < 0x80      ? 1u
                     : code < 0x800   ? 2u
                     : code < 0x10000 ? 3u
                                      : 4u);

        if (code >= 0xd800 && code <= 0xdfff) {
            wrong += tg_utf8_find_invalid(text, n) != 0;
        } else {
            wrong += tg_utf8_find_invalid(text, n) != n;
        }
    }

    CU_ASSERT(wrong == 0);
}

/* One invalid byte at each position of each length: wide steps miss none. */
HELP_TEST(offsets, "bad bytes at each offset")
{
    static const char *const invalid[] = {
        "\x80", "\xc3", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf"
    };
    tg_str_t piece;
    size_t len, at;
    char *text;

    HELP_EACH(row, invalid) {
        piece = tg_str_from_cstr(*row);

        for (len = piece.len; len <= 40; len++) {
            for (at = 0; at + piece.len <= len; at++) {
                text = malloc(len);
                CU_ASSERT_FATAL(text != NULL);
                memset(text, 'a', len);
                CU_ASSERT(tg_utf8_find_invalid(text, len) == len);
                memcpy(text + at, piece.data, piece.len);
                CU_ASSERT(tg_utf8_find_invalid(text, len) == at);
                free(text);
            }
        }
    }
}

HELP_TEST(texts, "texts")
{
    CU_ASSERT(tg_utf8_is_valid(TG_STR("")));
    CU_ASSERT(tg_utf8_is_valid(TG_STR_NONE));
    CU_ASSERT(tg_utf8_is_valid(TG_STR("h\xc3\xa9 \xe2\x82\xac "
                                      "\xf0\x9f\x98\x80 \xef\xbf\xbf")));
    CU_ASSERT(tg_utf8_is_valid(tg_str("a\0b", 3)));
    CU_ASSERT(!tg_utf8_is_valid(TG_STR("a\xe2\x82")));
    CU_ASSERT(!tg_utf8_is_valid(TG_STR("\xc0\x80")));
    CU_ASSERT(tg_utf8_find_invalid("ab\xe2\x82\xac\xf0\x9f\x98", 8) == 5);
}

HELP_TEST(visible, "made visible")
{
    static const struct {
        const char *text, *lines, *line;
    } rows[] = {
        { "a\tb\n", "a\tb\n", "a\\u0009b\\u000a" },
        { "\x1b[0m\r\x7f", "\\u001b[0m\\u000d\\u007f", NULL },
        { "\xc2\x9b\xc2\xa0\xc3\xa9", "\\u009b\xc2\xa0\xc3\xa9", NULL },
        { "\xe2\x80\xae\xe2\x81\xa9\xe2\x82\xac", "\\u202e\\u2069\xe2\x82\xac",
          NULL },
        { "\xf0\x9f\x98\x80\xff\xe2\x82",
          "\xf0\x9f\x98\x80\\ufffd\\ufffd\\ufffd", NULL },
    };
    char room[8];
    tg_buf_t buf;

    HELP_EACH(row, rows) {
        tg_buf_init(&buf, tg_alloc_libc());
        tg_utf8_append_visible(&buf, tg_str_from_cstr(row->text), 0);
        HELP_EQ(tg_buf_view(&buf), row->lines);
        tg_buf_truncate(&buf, 0);
        tg_utf8_append_visible(&buf, tg_str_from_cstr(row->text), 1);
        HELP_EQ(tg_buf_view(&buf), row->line != NULL ? row->line : row->lines);
        tg_buf_deinit(&buf);
    }

    buf = tg_buf_make_fixed(room, sizeof(room));
    tg_utf8_append_visible(&buf, TG_STR("abc\x1b\n\xe2\x82\xac"), 0);
    HELP_EQ(tg_buf_view(&buf), "abc");
    buf = tg_buf_make_fixed(room, 4);
    tg_utf8_append_visible(&buf,
                           TG_STR("ab\xe2\x82\xac"
                                  "c"),
                           0);
    HELP_EQ(tg_buf_view(&buf), "ab");
}
