/*
 * Compares all ways to scan with a reference that checks byte by byte.
 *
 * A text ends where its memory ends, so that the sanitizer finds reads beyond
 * it; bytes before it would change the result.
 */
#include "protocol_help.h"

#include "base/tg_scan.h"
#include "base/tg_utf8.h"

#define TEST_BUFFER_SIZE 400

/* Finds the first byte that no string may have unescaped. */
static const char *
test_stop(const char *p, const char *end)
{
    while (p < end && (unsigned char) *p >= 0x20 && *p != '"' && *p != '\\') {
        p++;
    }

    return p;
}

/* Finds the first byte that is not UTF-8. */
static const char *
test_utf8(const char *p, const char *end)
{
    size_t n;

    for (n = 1; p < end && n != 0; p += n) {
        n = (unsigned char) *p < 0x80 ? 1 : tg_utf8_sequence_len(p, end);
    }

    return p;
}

/*
 * Counts the implementations that differ from the reference, which starts at
 * `from`: the bytes before are valid.
 */
static unsigned
test_wrong_from(const char *p, const char *from, const char *end)
{
    const char *text, *plain, *utf8;
    const tg_scan_impl_t *way;
    unsigned i, wrong;

    plain = test_stop(from, end);
    utf8 = test_utf8(from, end);
    text = plain < utf8 ? plain : utf8;
    wrong = (tg_scan_string_utf8(p, end) != text)
            + (tg_scan_string(p, end) != plain)
            + (tg_scan_utf8(p, end) != utf8);

    for (i = 0; (way = tg_scan_get_impl(i)) != NULL; i++) {
        wrong += (way->text(p, end) != text) + (way->plain(p, end) != plain)
                 + (way->utf8(p, end) != utf8);
    }

    return wrong;
}

static unsigned
test_wrong(const char *p, const char *end)
{
    return test_wrong_from(p, p, end);
}

HELP_TEST(ways, "all implementations")
{
    const tg_scan_impl_t *way;
    unsigned i;

    for (i = 0; (way = tg_scan_get_impl(i)) != NULL; i++) {
        (void) way;
    }

    CU_ASSERT_TRUE(i >= 1 && i <= 3);
    CU_ASSERT_STRING_EQUAL(tg_scan_get_impl(i - 1)->name, "bytes");
    CU_ASSERT_PTR_NULL(tg_scan_get_impl(i + 1));
#if defined(__x86_64__)
    CU_ASSERT_TRUE(i >= 2);
#endif
}

/* Each byte at each position of texts of each length, ASCII and others. */
HELP_TEST(each_byte, "each byte")
{
    char *room, *text, *end;
    unsigned byte, wrong;
    size_t len, at, i;
    int wide;

    room = malloc(TEST_BUFFER_SIZE);
    end = room + TEST_BUFFER_SIZE;
    wrong = 0;

    for (wide = 0; wide < 2; wide++) {
        for (len = 0; len <= 130; len += len < 70 ? 1 : 3) {
            memset(room, 0xf0, TEST_BUFFER_SIZE);
            text = end - len;

            for (i = 0; i < len; i++) {
                text[i] = wide ? "\xc3\xa9"[i % 2] : 'a';
            }

            wrong += test_wrong(text, end);

            for (at = 0; at < len; at++) {
                char was = text[at];

                for (byte = 0; byte < 256; byte++) {
                    text[at] = (char) byte;
                    wrong += test_wrong_from(text, text + at - at % 2, end);
                }

                text[at] = was;
            }
        }
    }

    free(room);
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Each pair of bytes and possible continuations, around block borders. */
HELP_TEST(sequences, "sequences")
{
    static const char tails[] = { 0x41, (char) 0x80, (char) 0xbf, (char) 0xc3 };
    unsigned a, b, i, k, wrong;
    char *room, *end, *at;
    size_t place;

    room = malloc(96);
    end = room + 96;
    wrong = 0;

    for (place = 28; place <= 32; place++) {
        memset(room, 'x', 96);
        at = room + place;

        for (a = 0x80; a < 256; a++) {
            for (b = 0x7f; b < 256; b++) {
                for (i = 0; i < sizeof(tails); i++) {
                    for (k = 0; k < sizeof(tails); k++) {
                        at[0] = (char) a;
                        at[1] = (char) b;
                        at[2] = tails[i];
                        at[3] = tails[k];
                        wrong += test_wrong_from(room, at, end);
                    }
                }
            }
        }
    }

    free(room);
    CU_ASSERT_EQUAL(wrong, 0);
}

static uint32_t
test_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;

    return *state >> 8;
}

/* Makes a piece of a text: mostly valid, sometimes a stop or an error. */
static size_t
test_piece(char *dst, uint32_t *state, unsigned spice)
{
    static const char *const odd[] = {
        "\"",           "\\",           "\n",       "\x1f",
        "\x80",         "\xc0\x80",     "\xc3",     "\xe0\x80\x80",
        "\xed\xa0\x80", "\xf4\x90\x80", "\xe2\x82", "\xf0\x9f\x98",
        "\xff",         "\xf0\x80\x80", "\xf8\x88", "\xe2\x28\xa1",
    };
    uint32_t kind;
    const char *text;
    size_t n;

    if (test_random(state) % spice == 0) {
        text = odd[test_random(state) % (HELP_COUNT(odd))];
        n = strlen(text);
        memcpy(dst, text, n);
        return n;
    }

    kind = test_random(state) % 4;

    switch (kind) {
    case 0:
        return tg_utf8_encode(dst, 0x80 + test_random(state) % 0x780);
    case 1:
        return tg_utf8_encode(dst, 0x800 + test_random(state) % 0xd000);
    case 2:
        return tg_utf8_encode(dst, 0x10000 + test_random(state) % 0x100000);
    default:
        n = 1 + test_random(state) % 40;
        memset(dst, 'a' + (int) (test_random(state) % 26), n);
        return n;
    }
}

HELP_TEST(mixtures, "mixtures")
{
    char *room, text[TEST_BUFFER_SIZE];
    uint32_t state;
    unsigned i, wrong, spice;
    size_t len, want;

    room = malloc(TEST_BUFFER_SIZE);
    state = 4;
    wrong = 0;

    for (i = 0; i < 60000; i++) {
        want = test_random(&state) % 300;
        spice = i % 3 == 0 ? 5 : i % 3 == 1 ? 30 : 1000000;

        for (len = 0; len < want; /* void */) {
            len += test_piece(text + len, &state, spice);
        }

        /* Cuts anywhere, also within a sequence. */
        len -= len < 3 ? 0 : test_random(&state) % 4;
        memset(room, 0xe2, TEST_BUFFER_SIZE);
        memcpy(room + TEST_BUFFER_SIZE - len, text, len);
        wrong += test_wrong(room + TEST_BUFFER_SIZE - len,
                            room + TEST_BUFFER_SIZE);
    }

    free(room);
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Long texts, for the widest steps, with an end at each position. */
HELP_TEST(long, "long")
{
    char *room, *end;
    unsigned wrong;
    size_t i;

    room = malloc(2000);
    end = room + 2000;
    wrong = 0;

    for (i = 0; i < 2000; i += 7) {
        memset(room, 'z', 2000);
        room[i] = '"';
        wrong += test_wrong(room, end);
        room[i] = (char) 0xc3;
        wrong += test_wrong(room, end);

        if (i < 1999) {
            room[i + 1] = (char) 0xa9;
            wrong += test_wrong(room, end);
        }
    }

    free(room);
    CU_ASSERT_EQUAL(wrong, 0);
}
