/*
 * Checks the ways to scan a text: each implementation that the machine
 * supports agrees with a byte-by-byte scan at every alignment.
 *
 * Input: number of bytes before the text, number of repetitions; the text.
 */
#include "help.h"

#include "base/tg_scan.h"
#include "base/tg_utf8.h"

/* Bytes before the text: every alignment of the widest step. */
#define SCAN_BEFORE 64
#define SCAN_REPEAT 150

enum {
    SCAN_STOPS = 1,
    SCAN_UTF8 = 2
};

static const char *
scan_plainly(const char *p, const char *end, int what)
{
    size_t n;

    for (; p < end; p += n) {
        n = what & SCAN_UTF8 ? tg_utf8_sequence_len(p, end) : 1;

        if (n == 0
            || ((what & SCAN_STOPS)
                && ((unsigned char) *p < 0x20 || *p == '"' || *p == '\\')))
        {
            break;
        }
    }

    return p;
}

static void
scan_text(const char *p, const char *end)
{
    const char *text, *plain, *utf8;
    const tg_scan_impl_t *way;
    unsigned i;

    text = scan_plainly(p, end, SCAN_STOPS | SCAN_UTF8);
    plain = scan_plainly(p, end, SCAN_STOPS);
    utf8 = scan_plainly(p, end, SCAN_UTF8);

    for (i = 0; (way = tg_scan_get_impl(i)) != NULL; i++) {
        FUZZ(way->text(p, end) == text);
        FUZZ(way->plain(p, end) == plain);
        FUZZ(way->utf8(p, end) == utf8);
    }

    FUZZ(i != 0);
    FUZZ(tg_scan_string_utf8(p, end) == text);
    FUZZ(tg_scan_string(p, end) == plain);
    FUZZ(tg_scan_utf8(p, end) == utf8);
}

FUZZ_TARGET(in)
{
    size_t before, repeat, at;
    tg_str_t text;
    HELP_BUFFER(all);
    char *copy;

    before = fuzz_byte(&in) % SCAN_BEFORE;
    repeat = fuzz_byte(&in) % SCAN_REPEAT;
    text = fuzz_rest(&in);

    /* Repeats the first character: long runs that may be skipped. */

    for (at = 0; at < before; at++) {
        tg_buf_append_char(&all, '"');
    }

    at = text.len != 0 ? tg_utf8_sequence_len(text.data, tg_str_end(text)) : 0;

    while (repeat-- != 0) {
        tg_buf_append(&all, text.data, at);
    }

    tg_buf_append_str(&all, text);
    copy = help_copy(tg_buf_view(&all));
    scan_text(copy + before, copy + all.len);
    free(copy);
}
