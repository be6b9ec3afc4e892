/*
 * 64 bytes of JSON at once: each question about them is a word with a bit a
 * byte, and the grammar is arithmetic on such words; after Langdale and
 * Lemire, "Parsing Gigabytes of JSON per Second" (2019).
 *
 * Here it is only found that bytes are in order.  Where anything is wrong, or
 * too long to be judged, pos stays in front of it, and the cursor goes on byte
 * by byte; it also has the words for mistakes.
 *
 * For tg_json_avx….c only, which say before what a block is:
 *
 *   TG_BLOCK_TARGET, TG_BLOCK_FN what functions are, and inline ones
 *   tg_block_t                   64 bytes
 *   tg_block_load(p)
 *   tg_block_lower(block)        with bit 0x20 set in each byte
 *   tg_block_eq(block, c)        which are c?
 *   tg_block_range(block, c, n)  which are one of n from c on?
 *   tg_block_inside(quotes)      from each odd bit on, up to the next one
 */
#ifndef TG_JSON_BLOCK_H
#define TG_JSON_BLOCK_H

#include "base/tg_json_impl.h"
#include "base/tg_scan.h"

/* A block, and what is compared at once behind its last comma. */
#define TG_BLOCK_ROOM 72

/* The bits up to and with bit n. */
#define TG_BLOCK_UP_TO(n) ((UINT64_C(2) << (n)) - 1)

static int
tg_block_is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Is each byte that is marked one that may follow a backslash? */
static int
tg_block_are_escapes(const char *p, const char *end, uint64_t marks,
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
            if (!tg_block_is_hex(c[i])) {
                return 0;
            }
        }

        if ((c[1] | 0x20) == 'd' && c[2] >= '8') {
            *kinds |= TG_JSON_HALVES;
        }
    }

    return 1;
}

/* What backslashes escape, of which none is in front of the block. */
TG_BLOCK_FN uint64_t
tg_block_escaped(uint64_t slashes)
{
    const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);

    return ((((slashes << 1) | odd) - slashes) ^ odd) ^ slashes;
}

/* The first bytes behind these, and behind white space that follows them. */
TG_BLOCK_FN uint64_t
tg_block_next(uint64_t bits, uint64_t space)
{
    bits <<= 1;

    return space == 0 ? bits : (((bits & space) + space) | bits) & ~space;
}

/* Bytes of numbers and words, and some of them. */
typedef struct {
    uint64_t all;
    uint64_t starts;
    uint64_t digits;
    uint64_t dots;
    uint64_t minus;
    uint64_t letters; /* all others */
} tg_block_scalars_t;

static unsigned
tg_block_word(const char *p)
{
    if (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0) {
        return 4;
    }

    return memcmp(p, "false", 5) == 0 ? 5 : 0;
}

/* Are letters words and exponents?  A comma is behind all of them. */
static int
tg_block_are_letters(const char *p, tg_block_scalars_t *scalars)
{
    uint64_t letters;
    unsigned at, n;

    letters = scalars->letters;

    while (letters != 0) {
        at = (unsigned) __builtin_ctzll(letters);

        if (scalars->starts >> at & 1) {
            n = tg_block_word(p + at);

        } else if ((p[at] | 0x20) == 'e' && scalars->digits >> (at - 1) & 1) {
            n = p[at + 1] == '+' || p[at + 1] == '-' ? 2 : 1;
            scalars->minus &= ~(UINT64_C(2) << at);
            at += n;
            n = (unsigned) __builtin_ctzll(~(scalars->digits >> at));

        } else {
            return 0;
        }

        if (n == 0 || scalars->all >> (at + n) & 1) {
            return 0;
        }

        letters &= ~TG_BLOCK_UP_TO(at + n - 1);
    }

    return 1;
}

/* Where numbers are none.  Each of them ends within the block. */
TG_BLOCK_FN uint64_t
tg_block_wrong_numbers(const tg_block_scalars_t *s, uint64_t zeros)
{
    uint64_t first, behind_dots;

    first = s->starts | (s->starts & s->minus) << 1;
    behind_dots = s->dots << 1;

    return (s->minus & ~s->starts) | (s->minus << 1 & ~s->digits)
           | ((first & zeros) << 1 & s->digits) | (s->dots & ~(s->digits << 1))
           | (behind_dots & ~s->digits)
           /* A second dot behind the digits that follow the first. */
           | ((behind_dots + s->digits) & ~s->digits & s->dots);
}

/* As tg_block_entries(), of an array that has nothing but plain numbers. */
TG_BLOCK_FN size_t
tg_block_numbers(tg_block_t block)
{
    uint64_t commas, digits, dots, minus, starts, first, wrong;
    unsigned last;

    commas = tg_block_eq(block, ',');

    if (commas <= 1) {
        return 0;
    }

    last = 63 - (unsigned) __builtin_clzll(commas);
    digits = tg_block_range(block, '0', 10);
    dots = tg_block_eq(block, '.');
    minus = tg_block_eq(block, '-');
    starts = commas << 1;
    first = starts | (starts & minus) << 1;

    wrong = ~(commas | digits | dots | minus)
            | ((commas | dots | minus) << 1 & ~(digits | minus))
            | (minus & ~starts)
            | ((first & tg_block_eq(block, '0')) << 1 & digits)
            | (((dots << 1) + digits) & ~digits & dots);

    return (wrong & TG_BLOCK_UP_TO(last)) == 0 && commas & 1 ? last : 0;
}

/*
 * Which bytes are directly in an object?  Enters and leaves what these
 * brackets open and close, but not the container that nest began with: 0.
 */
TG_BLOCK_FN int
tg_block_nest(tg_json_nest_t *nest, const char *p, uint64_t brackets,
              uint64_t *objects)
{
    uint64_t was, is;
    unsigned at;

    was = 0 - tg_json_nest_is_object(nest);
    *objects = was;

    for (/* void */; brackets != 0; brackets &= brackets - 1) {
        at = (unsigned) __builtin_ctzll(brackets);
        is = (uint64_t) (unsigned char) p[at] >> 5 & 1;

        if (p[at] & 2) {
            if (nest->depth == TG_JSON_DEPTH) {
                return 0;
            }

            tg_json_nest_push(nest, is);

        } else {
            if (is != tg_json_nest_is_object(nest)
                || nest->depth == nest->base + 1) {
                return 0;
            }

            tg_json_nest_pop(nest);
        }

        is = 0 - tg_json_nest_is_object(nest);
        *objects ^= (is ^ was) & (UINT64_MAX << 1 << at);
        was = is;
    }

    return 1;
}

/*
 * From p on, behind a value of an open container: how many bytes are entries
 * in order, and the last one's comma is behind them?  0 where it is not known.
 */
TG_BLOCK_FN size_t
tg_block_entries(tg_json_nest_t *nest, const char *p, const char *end)
{
    uint64_t quotes, slashes, escaped, inside, texts, commas, colons, opens;
    uint64_t closes, space, controls, upto, values, after, after_colon;
    uint64_t after_entry, keys, objects, wrong, high;
    tg_block_scalars_t scalars;
    tg_json_nest_t inner;
    tg_block_t block, lower;
    unsigned last, kinds;
    size_t size;

    block = tg_block_load(p);

    if (p[1] <= '9' && p[1] >= '-' && !tg_json_nest_is_object(nest)) {
        size = tg_block_numbers(block);

        if (size != 0) {
            return size;
        }
    }

    lower = tg_block_lower(block);
    quotes = tg_block_eq(block, '"');
    slashes = tg_block_eq(block, '\\');
    escaped = slashes != 0 ? tg_block_escaped(slashes) : 0;
    quotes &= ~escaped;
    inside = tg_block_inside(quotes);
    texts = inside | quotes;
    commas = tg_block_eq(block, ',') & ~texts;

    if (commas <= 1) {
        return 0;
    }

    last = 63 - (unsigned) __builtin_clzll(commas);
    upto = TG_BLOCK_UP_TO(last);
    kinds = 0;

    if ((escaped & upto)
        && !tg_block_are_escapes(
            p, end,
            escaped & upto & ~slashes & ~tg_block_eq(block, '"')
                & ~tg_block_eq(block, 'n') & ~tg_block_eq(block, 't'),
            &kinds))
    {
        return 0;
    }

    space = tg_block_eq(block, ' ');
    controls = tg_block_range(block, 0, 0x20);

    if (controls & upto) {
        space |= tg_block_eq(block, '\n') | tg_block_eq(block, '\r')
                 | tg_block_eq(block, '\t');
    }

    space &= ~texts;
    colons = tg_block_eq(block, ':') & ~texts;
    opens = tg_block_eq(lower, '{') & ~texts;
    closes = tg_block_eq(lower, '}') & ~texts;

    scalars.all = ~(texts | space | commas | colons | opens | closes);
    scalars.starts = scalars.all & ~(scalars.all << 1);
    scalars.digits = tg_block_range(block, '0', 10) & scalars.all;
    scalars.dots = tg_block_eq(block, '.') & scalars.all;
    scalars.minus = tg_block_eq(block, '-') & scalars.all;
    scalars.letters = scalars.all & upto
                      & ~(scalars.digits | scalars.dots | scalars.minus);

    if (scalars.letters != 0 && !tg_block_are_letters(p, &scalars)) {
        return 0;
    }

    inner = *nest;

    if (!tg_block_nest(&inner, p, (opens | closes) & upto, &objects)) {
        return 0;
    }

    values = scalars.starts | (quotes & inside) | opens;
    after_entry = tg_block_next(commas | opens, space);
    after_colon = tg_block_next(colons, space);
    after = after_entry | after_colon;
    /* What follows a string that does not follow a colon. */
    keys = tg_block_next((((quotes & inside & after_entry) + inside) & ~inside),
                         space);

    wrong = (controls & inside) | (values & ~after)
            | (after & (commas | colons))
            | (closes & after & ~tg_block_next(opens, space))
            | (colons & ~(keys & objects)) | (keys & objects & ~colons)
            | (values & after_entry & objects & ~quotes)
            | tg_block_wrong_numbers(&scalars, tg_block_eq(block, '0'));

    if (wrong & upto) {
        return 0;
    }

    high = tg_block_range(block, (char) 0x80, (char) 0x80);

    if ((high & upto) && tg_scan_utf8(p, p + last) != p + last) {
        return 0;
    }

    *nest = inner;

    return last;
}

/* From p on, in a string: how many bytes are in order, escapes and all? */
TG_BLOCK_FN size_t
tg_block_text(const char *p, const char *end, unsigned *kinds)
{
    uint64_t quotes, slashes, escaped, stops, marks;
    tg_block_t block;
    unsigned n, more;

    block = tg_block_load(p);
    quotes = tg_block_eq(block, '"');
    slashes = tg_block_eq(block, '\\');
    escaped = tg_block_escaped(slashes);
    stops = (quotes & ~escaped) | tg_block_range(block, 0, 0x20)
            | tg_block_range(block, (char) 0x80, (char) 0x80)
            /* The last one may escape what is behind the block. */
            | (slashes & ~escaped & UINT64_C(1) << 63);
    n = stops != 0 ? (unsigned) __builtin_ctzll(stops) : 64;
    /* With the stop: nothing that ends or breaks a string may be escaped. */
    marks = n != 64 ? escaped & TG_BLOCK_UP_TO(n) : escaped;
    more = marks != 0 ? TG_JSON_ESCAPED : 0;
    marks &= ~(slashes | quotes | tg_block_eq(block, 'n')
               | tg_block_eq(block, 't'));

    if (marks != 0 && !tg_block_are_escapes(p, end, marks, &more)) {
        return 0;
    }

    *kinds |= more;

    return n;
}

TG_BLOCK_TARGET static const char *
tg_block_all_entries(tg_json_nest_t *nest, const char *p, const char *end)
{
    size_t n;

    while (end - p >= TG_BLOCK_ROOM
           && (n = tg_block_entries(nest, p, end)) != 0) {
        p += n;
    }

    return p;
}

TG_BLOCK_TARGET static const char *
tg_block_all_text(const char *p, const char *end, unsigned *kinds)
{
    size_t n;

    while (end - p >= TG_BLOCK_ROOM && (n = tg_block_text(p, end, kinds)) != 0)
    {
        p += n;
    }

    return p;
}

static const tg_json_blocks_t tg_block_way = { tg_block_all_entries,
                                               tg_block_all_text };

#endif
