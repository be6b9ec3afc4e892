/*
 * JSON in blocks of 64 bytes: each property of the bytes is a word with one bit
 * per byte, and the grammar is arithmetic on such words; after Langdale and
 * Lemire, "Parsing Gigabytes of JSON per Second" (2019). This code only finds
 * out whether the text is valid; the cursor then locates an error byte by byte.
 * Included by tg_json_avx2.c and tg_json_avx512.c only, which first define:
 *
 *   TG_BLOCK_TARGET, TG_BLOCK_FN  attributes of functions, inline functions
 *   tg_block_t                    64 bytes
 *   tg_block_load(p)              loads a block
 *   tg_block_to_lower(block)      sets bit 0x20 in each byte
 *   tg_block_find_char(block, c)  finds the bytes equal to c
 *   tg_block_find_range(block, c, n)  finds the bytes from c to c + n - 1
 *   tg_block_find_non_ascii(block)    finds the bytes of 0x80 and above
 *   tg_block_classes_t            character classes of 64 bytes
 *   tg_block_classify(block)      returns the classes of a block
 *   tg_block_find_class(kinds, what)  finds the bytes in the classes `what`;
 *                                 TG_BLOCK_STRUCTURAL may also find some
 *                                 control characters
 *   tg_block_prefix_xor(quotes)   sets the bits from each odd one to before
 *                                 the next one
 *   tg_block_compress(dst, block, p, bits)  writes the bytes in `bits` of the
 *                                 block at p; dst must have space for 64 bytes
 *   TG_BLOCK_ESCAPE_FN            the `escape` function, or NULL
 */
#ifndef TG_JSON_BLOCK_H
#define TG_JSON_BLOCK_H

#include "base/tg_json_impl.h"
#include "base/tg_scan.h"

/* Bytes that a block load may need, with the padding for comparisons. */
#define TG_BLOCK_PADDED_SIZE 72

/* The lowest n bits set; n must be less than 64. */
#define TG_BLOCK_LOW_BITS(n) ((UINT64_C(1) << (n)) - 1)

/*
 * Checks whether each byte in marks may follow a backslash; quotes,
 * backslashes, n and t must not be in marks. Sets TG_JSON_HAS_SURROGATES in
 * *kinds.
 */
static __attribute__((noinline)) int
tg_block_are_valid_escapes(const char *p, const char *end, uint64_t marks,
                           unsigned *kinds)
{
    const char *c;
    int i;

    for (/* void */; marks != 0; marks &= marks - 1) {
        c = p + __builtin_ctzll(marks);

        if (*c != 'u') {
            if (*c == '\0' || strchr("/bfr", *c) == NULL) {
                return 0;
            }

            continue;
        }

        if (end - c < 5) {
            return 0;
        }

        for (i = 1; i < 5; i++) {
            if (tg_hex_value(c[i]) < 0) {
                return 0;
            }
        }

        if ((c[1] | 0x20) == 'd' && c[2] >= '8') {
            *kinds |= TG_JSON_HAS_SURROGATES;
        }
    }

    return 1;
}

/* Returns each u in marks of a \u escape in the block that is no surrogate. */
TG_BLOCK_FN uint64_t
tg_block_find_unicode_escapes(tg_block_t block, uint64_t marks)
{
    uint64_t hex, halves;
    tg_block_t lower;

    marks &= tg_block_find_char(block, 'u');

    if (marks == 0) {
        return 0;
    }

    lower = tg_block_to_lower(block);
    hex = tg_block_find_range(block, '0', 10)
          | tg_block_find_range(lower, 'a', 6);
    halves = tg_block_find_char(lower, 'd') >> 1
             & ~tg_block_find_range(block, '0', 8) >> 2;

    return marks & hex >> 1 & hex >> 2 & hex >> 3 & hex >> 4 & ~halves;
}

/*
 * Returns the bytes that backslashes escape. Here and below a carry is 1 if the
 * searched thing continues from the last block or into the next, else 0.
 */
TG_BLOCK_FN uint64_t
tg_block_find_escaped(uint64_t slashes, uint64_t *carry)
{
    const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);
    uint64_t first, series, escaped;

    first = slashes & ~*carry;
    series = (((first << 1) | odd) - first) ^ odd;
    escaped = series ^ (slashes | *carry);
    *carry = (series & slashes) >> 63;

    return escaped;
}

/* Shifts the bits by one: returns the byte after each given byte. */
TG_BLOCK_FN uint64_t
tg_block_shift_next(uint64_t bits, uint64_t *carry)
{
    uint64_t behind;

    behind = bits << 1 | *carry;
    *carry = bits >> 63;

    return behind;
}

/*
 * For each run that starts with one of `bits`, returns the byte after the run.
 * The result also has all other runs, unchanged.
 */
TG_BLOCK_FN uint64_t
tg_block_find_run_ends(uint64_t bits, uint64_t runs, uint64_t *carry)
{
    unsigned long long sum;

    *carry = __builtin_uaddll_overflow(bits | *carry, runs, &sum) ? 1 : 0;

    return sum;
}

TG_BLOCK_FN size_t
tg_block_scan_string(const char *p, const char *end, unsigned *kinds)
{
    uint64_t quotes, slashes, escaped, carry, stops, marks;
    tg_block_t block;
    unsigned n, more;

    block = tg_block_load(p);
    quotes = tg_block_find_char(block, '"');
    slashes = tg_block_find_char(block, '\\');
    carry = 0;
    escaped = tg_block_find_escaped(slashes, &carry);
    stops = (quotes & ~escaped) | tg_block_find_range(block, 0, 0x20)
            | tg_block_find_non_ascii(block)
            /* The last byte may escape the first one of the next block. */
            | carry << 63;
    n = stops != 0 ? (unsigned) __builtin_ctzll(stops) : 64;
    /* Including the stop: an escape must not be cut off by a stop byte. */
    marks = n != 64 ? escaped & (stops ^ (stops - 1)) : escaped;
    more = marks != 0 ? TG_JSON_HAS_ESCAPES : 0;
    marks &= ~(slashes | quotes | tg_block_find_char(block, 'n')
               | tg_block_find_char(block, 't'));
    marks &= ~tg_block_find_unicode_escapes(block, marks);

    if (marks != 0 && !tg_block_are_valid_escapes(p, end, marks, &more)) {
        return 0;
    }

    *kinds |= more;

    return n;
}

TG_BLOCK_TARGET static const char *
tg_block_skip_string(const char *p, const char *end, unsigned *kinds)
{
    size_t n;

    while (end - p >= TG_BLOCK_PADDED_SIZE
           && (n = tg_block_scan_string(p, end, kinds)) != 0)
    {
        p += n;
    }

    return p;
}

/*
 * Returns the white space outside of strings. *inside has all bits set if the
 * block starts in a string, else none; it is updated for the next block.
 */
TG_BLOCK_FN uint64_t
tg_block_find_spaces(tg_block_t block, uint64_t *inside, uint64_t *carry)
{
    uint64_t quotes, slashes, texts, ascii;
    tg_block_classes_t kinds;

    kinds = tg_block_classify(block);
    ascii = ~tg_block_find_non_ascii(block);
    quotes = tg_block_find_class(kinds, TG_BLOCK_QUOTE) & ascii;
    slashes = tg_block_find_class(kinds, TG_BLOCK_BACKSLASH) & ascii;

    if ((slashes | *carry) != 0) {
        quotes &= ~tg_block_find_escaped(slashes, carry);
    }

    texts = tg_block_prefix_xor(quotes) ^ *inside;
    *inside = 0 - (texts >> 63);

    return tg_block_find_class(kinds, TG_BLOCK_SPACE) & ascii & ~texts;
}

TG_BLOCK_TARGET static void
tg_block_write_compact(tg_buf_t *buf, tg_str_t raw)
{
    char last[TG_BLOCK_PADDED_SIZE], room[64];
    uint64_t spaces, keep, inside, carry;
    const char *p, *at, *run;
    tg_block_t block;
    size_t left;

    inside = 0;
    carry = 0;
    run = raw.data;
    left = raw.len;

    for (p = raw.data; left != 0; p += 64) {
        at = p;

        if (left < TG_BLOCK_PADDED_SIZE) {
            at = last;
            memset(last, 0, sizeof(last));
            memcpy(last, p, left < 64 ? left : 64);
        }

        block = tg_block_load(at);

        /* The inner part of a long string: no quote and no escape. */
        if (inside != 0 && carry == 0 && left > 64
            && (tg_block_find_char(block, '"')
                | tg_block_find_char(block, '\\'))
                   == 0)
        {
            left -= 64;
            continue;
        }

        spaces = tg_block_find_spaces(block, &inside, &carry);
        keep = left < 64 ? ~spaces & TG_BLOCK_LOW_BITS(left) : ~spaces;
        left -= left < 64 ? left : 64;

        if (spaces == 0 && left != 0) {
            continue;
        }

        tg_buf_append(buf, run, (size_t) (p - run));
        tg_block_compress(room, block, at, keep);
        tg_buf_append(buf, room, (size_t) __builtin_popcountll(keep));
        run = p + 64;
    }
}

#include "base/simd/tg_json_block_tokens.h"

static const tg_json_simd_t tg_block_simd = { tg_block_skip_container,
                                              tg_block_skip_string,
                                              tg_block_write_compact,
                                              TG_BLOCK_ESCAPE_FN };

#endif
