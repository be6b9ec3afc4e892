/*
 * The ways that need no question at run time: plain C, and what every
 * machine of the architecture has.  They find the bytes that matter in wide
 * steps and pass sequences of UTF-8 one by one.
 */
#include "base/tg_scan_block.h"

#include "base/tg_utf8.h"

static inline int
tg_scan_is_hit(unsigned char c, int what)
{
    return ((what & TG_SCAN_STOPS) && (c < 0x20 || c == '"' || c == '\\'))
           || ((what & TG_SCAN_HIGH) && c >= 0x80);
}

/* Byte by byte: the end of a run, and what a wide step found roughly. */
static inline const char *
tg_scan_each(const char *p, const char *end, int what)
{
    while (p < end && !tg_scan_is_hit((unsigned char) *p, what)) {
        p++;
    }

    return p;
}

/* Has a word of 8 bytes one that is zero? */
#define TG_SCAN_ONES UINT64_C(0x0101010101010101)
#define TG_SCAN_TOPS UINT64_C(0x8080808080808080)
#define TG_SCAN_HAS_ZERO(word) (((word) -TG_SCAN_ONES) & ~(word) &TG_SCAN_TOPS)

static inline const char *
tg_scan_find_bytes(const char *p, const char *end, int what)
{
    uint64_t word, hit;

    while (end - p >= 8) {
        memcpy(&word, p, 8);
        hit = 0;

        if (what & TG_SCAN_STOPS) {
            hit = ((word - TG_SCAN_ONES * 0x20) & ~word & TG_SCAN_TOPS)
                  | TG_SCAN_HAS_ZERO(word ^ (TG_SCAN_ONES * '"'))
                  | TG_SCAN_HAS_ZERO(word ^ (TG_SCAN_ONES * '\\'));
        }

        if (what & TG_SCAN_HIGH) {
            hit |= word & TG_SCAN_TOPS;
        }

        if (hit != 0) {
            break;
        }

        p += 8;
    }

    return tg_scan_each(p, end, what);
}

#if defined(TG_SCAN_NARROW)

static inline const char *
tg_scan_find_narrow(const char *p, const char *end, int what)
{
    unsigned at;

    while (end - p >= 16) {
        at = tg_scan_block(p, what);
        p += at;

        if (at != 16) {
            return p;
        }
    }

    return tg_scan_each(p, end, what);
}

#endif

/* p is at a byte that was found: over the sequences that start there. */
static const char *
tg_scan_sequences(const char *p, const char *end)
{
    size_t n;

    while (p < end && (unsigned char) *p >= 0x80) {
        n = tg_utf8_length(p, end);

        if (n == 0) {
            break;
        }

        p += n;
    }

    return p;
}

/* The three functions of a way, from how it finds. */
#define TG_SCAN_WAY(way)                                                       \
    static const char *tg_scan_text_##way(const char *p, const char *end)      \
    {                                                                          \
        const char *at;                                                        \
                                                                               \
        for (;;) {                                                             \
            at = tg_scan_find_##way(p, end, TG_SCAN_STOPS | TG_SCAN_HIGH);     \
            p = tg_scan_sequences(at, end);                                    \
                                                                               \
            if (p == at || (p < end && (unsigned char) *p >= 0x80)) {          \
                return p;                                                      \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    static const char *tg_scan_plain_##way(const char *p, const char *end)     \
    {                                                                          \
        return tg_scan_find_##way(p, end, TG_SCAN_STOPS);                      \
    }                                                                          \
                                                                               \
    static const char *tg_scan_utf8_##way(const char *p, const char *end)      \
    {                                                                          \
        const char *at;                                                        \
                                                                               \
        for (;;) {                                                             \
            at = tg_scan_find_##way(p, end, TG_SCAN_HIGH);                     \
            p = tg_scan_sequences(at, end);                                    \
                                                                               \
            if (p == at || (p < end && (unsigned char) *p >= 0x80)) {          \
                return p;                                                      \
            }                                                                  \
        }                                                                      \
    }

TG_SCAN_WAY(bytes)

const tg_scan_t *
tg_scan_bytes(void)
{
    static const tg_scan_t way = { "bytes", tg_scan_text_bytes,
                                   tg_scan_plain_bytes, tg_scan_utf8_bytes };

    return &way;
}

#if defined(TG_SCAN_NARROW)

TG_SCAN_WAY(narrow)

const tg_scan_t *
tg_scan_narrow(void)
{
    static const tg_scan_t way = { TG_SCAN_NARROW, tg_scan_text_narrow,
                                   tg_scan_plain_narrow, tg_scan_utf8_narrow };

    return &way;
}

#else

const tg_scan_t *
tg_scan_narrow(void)
{
    return NULL;
}

#endif

const tg_scan_t *
tg_scan_way(unsigned n)
{
    const tg_scan_t *ways[3];
    unsigned i, found;

    ways[0] = tg_scan_avx2();
    ways[1] = tg_scan_narrow();
    ways[2] = tg_scan_bytes();

    for (i = 0, found = 0; i < 3; i++) {
        if (ways[i] != NULL && found++ == n) {
            return ways[i];
        }
    }

    return NULL;
}

/* Asked anew for each text: the answer is one load and one comparison. */
static inline const tg_scan_t *
tg_scan_best(void)
{
    const tg_scan_t *way;

    way = tg_scan_avx2();

    if (way == NULL) {
        way = tg_scan_narrow();
    }

    return way != NULL ? way : tg_scan_bytes();
}

/*
 * Most texts are short.  Where some steps find their end, nobody has to be
 * asked; a byte of a sequence is left to the way.
 */
static inline const char *
tg_scan_first(const char *p, const char *end, int what)
{
#if defined(TG_SCAN_NARROW)
    tg_scan_mask_t mask;
    unsigned i;

    if (end - p < 16) {
        return p;
    }

    for (i = 0; i < TG_SCAN_SHORT && end - p >= 16; i++, p += 16) {
        mask = tg_scan_mask(p, what);

        if (mask != 0) {
            return p + tg_scan_first_of(mask);
        }
    }

    /* The last bytes, with some that were looked at. */
    if (p != end && end - p < 16) {
        mask = tg_scan_mask(end - 16, what);
        p = mask != 0 ? end - 16 + tg_scan_first_of(mask) : end;
    }
#else
    (void) end;
    (void) what;
#endif

    return p;
}

const char *
tg_scan_text(const char *p, const char *end)
{
    p = tg_scan_first(p, end, TG_SCAN_STOPS | TG_SCAN_HIGH);

    if (p == end || tg_scan_is_hit((unsigned char) *p, TG_SCAN_STOPS)) {
        return p;
    }

    return tg_scan_best()->text(p, end);
}

const char *
tg_scan_plain(const char *p, const char *end)
{
    p = tg_scan_first(p, end, TG_SCAN_STOPS);

    if (p == end || tg_scan_is_hit((unsigned char) *p, TG_SCAN_STOPS)) {
        return p;
    }

    return tg_scan_best()->plain(p, end);
}

const char *
tg_scan_utf8(const char *p, const char *end)
{
    return tg_scan_best()->utf8(p, end);
}
