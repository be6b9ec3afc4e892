/*
 * Scanners that need no CPU detection: plain C, SSE2 and NEON. They search for
 * stop bytes in wide steps and skip UTF-8 sequences one by one.
 */
#include "base/simd/tg_scan_inline.h"

#include "base/tg_utf8.h"

static inline int
tg_scan_is_stop(unsigned char c, int what)
{
    return ((what & TG_SCAN_STRING_STOPS)
            && (c < 0x20 || c == '"' || c == '\\'))
           || ((what & TG_SCAN_NON_ASCII) && c >= 0x80);
}

/* Scans the end of a text, or locates a hit that a wide step found. */
static inline const char *
tg_scan_bytewise(const char *p, const char *end, int what)
{
    while (p < end && !tg_scan_is_stop((unsigned char) *p, what)) {
        p++;
    }

    return p;
}

#define TG_SCAN_LOW_BITS UINT64_C(0x0101010101010101)
#define TG_SCAN_HIGH_BITS UINT64_C(0x8080808080808080)
#define TG_SCAN_HAS_ZERO(word)                                                 \
    (((word) -TG_SCAN_LOW_BITS) & ~(word) &TG_SCAN_HIGH_BITS)

static inline const char *
tg_scan_find_scalar(const char *p, const char *end, int what)
{
    uint64_t word, hit;

    while (end - p >= 8) {
        memcpy(&word, p, 8);
        hit = 0;

        if (what & TG_SCAN_STRING_STOPS) {
            hit = ((word - TG_SCAN_LOW_BITS * 0x20) & ~word & TG_SCAN_HIGH_BITS)
                  | TG_SCAN_HAS_ZERO(word ^ (TG_SCAN_LOW_BITS * '"'))
                  | TG_SCAN_HAS_ZERO(word ^ (TG_SCAN_LOW_BITS * '\\'));
        }

        if (what & TG_SCAN_NON_ASCII) {
            hit |= word & TG_SCAN_HIGH_BITS;
        }

        if (hit != 0) {
            break;
        }

        p += 8;
    }

    return tg_scan_bytewise(p, end, what);
}

#if defined(TG_SCAN_SIMD128)

static inline const char *
tg_scan_find_simd128(const char *p, const char *end, int what)
{
    unsigned at;

    while (end - p >= 16) {
        at = tg_scan_find_in_block(p, what);
        p += at;

        if (at != 16) {
            return p;
        }
    }

    return tg_scan_bytewise(p, end, what);
}

#endif

/* Returns the first byte that does not start a valid sequence, or end. */
static const char *
tg_scan_skip_utf8(const char *p, const char *end)
{
    size_t n;

    while (p < end && (unsigned char) *p >= 0x80) {
        n = tg_utf8_sequence_len(p, end);

        if (n == 0) {
            break;
        }

        p += n;
    }

    return p;
}

/* Defines the scanners of an implementation by its find function. */
#define TG_SCAN_DEFINE_IMPL(impl)                                              \
    static const char *tg_scan_string_utf8_##impl(const char *p,               \
                                                  const char *end)             \
    {                                                                          \
        const char *at;                                                        \
                                                                               \
        for (;;) {                                                             \
            at = tg_scan_find_##impl(                                          \
                p, end, TG_SCAN_STRING_STOPS | TG_SCAN_NON_ASCII);             \
            p = tg_scan_skip_utf8(at, end);                                    \
                                                                               \
            if (p == at || (p < end && (unsigned char) *p >= 0x80)) {          \
                return p;                                                      \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    static const char *tg_scan_string_##impl(const char *p, const char *end)   \
    {                                                                          \
        return tg_scan_find_##impl(p, end, TG_SCAN_STRING_STOPS);              \
    }                                                                          \
                                                                               \
    static const char *tg_scan_utf8_##impl(const char *p, const char *end)     \
    {                                                                          \
        const char *at;                                                        \
                                                                               \
        for (;;) {                                                             \
            at = tg_scan_find_##impl(p, end, TG_SCAN_NON_ASCII);               \
            p = tg_scan_skip_utf8(at, end);                                    \
                                                                               \
            if (p == at || (p < end && (unsigned char) *p >= 0x80)) {          \
                return p;                                                      \
            }                                                                  \
        }                                                                      \
    }

TG_SCAN_DEFINE_IMPL(scalar)

const tg_scan_impl_t *
tg_scan_impl_scalar(void)
{
    static const tg_scan_impl_t impl = { "bytes", tg_scan_string_utf8_scalar,
                                         tg_scan_string_scalar,
                                         tg_scan_utf8_scalar };

    return &impl;
}

#if defined(TG_SCAN_SIMD128)

TG_SCAN_DEFINE_IMPL(simd128)

const tg_scan_impl_t *
tg_scan_impl_simd128(void)
{
    static const tg_scan_impl_t impl = { TG_SCAN_SIMD128,
                                         tg_scan_string_utf8_simd128,
                                         tg_scan_string_simd128,
                                         tg_scan_utf8_simd128 };

    return &impl;
}

#else

const tg_scan_impl_t *
tg_scan_impl_simd128(void)
{
    return NULL;
}

#endif

const tg_scan_impl_t *
tg_scan_get_impl(unsigned n)
{
    const tg_scan_impl_t *ways[3];
    unsigned i, found;

    ways[0] = tg_scan_impl_avx2();
    ways[1] = tg_scan_impl_simd128();
    ways[2] = tg_scan_impl_scalar();

    for (i = 0, found = 0; i < 3; i++) {
        if (ways[i] != NULL && found++ == n) {
            return ways[i];
        }
    }

    return NULL;
}

/* Chooses anew for each text, by one load and one comparison. */
static inline const tg_scan_impl_t *
tg_scan_get_best_impl(void)
{
    const tg_scan_impl_t *impl;

    impl = tg_scan_impl_avx2();

    if (impl == NULL) {
        impl = tg_scan_impl_simd128();
    }

    return impl != NULL ? impl : tg_scan_impl_scalar();
}

/*
 * Scans the first bytes inline: most texts are short, so no implementation need
 * be chosen. Returns a stop byte, end, or the position where the implementation
 * must continue, for example at a UTF-8 sequence.
 */
static inline const char *
tg_scan_start_inline(const char *p, const char *end, int what)
{
#if defined(TG_SCAN_SIMD128)
    tg_scan_mask_t mask;
    unsigned i;

    if (end - p < 16) {
        return p;
    }

    for (i = 0; i < TG_SCAN_INLINE_BLOCKS && end - p >= 16; i++, p += 16) {
        mask = tg_scan_find_mask(p, what);

        if (mask != 0) {
            return p + tg_scan_mask_first(mask);
        }
    }

    /* Scan the last bytes together with some that were scanned already. */
    if (p != end && end - p < 16) {
        mask = tg_scan_find_mask(end - 16, what);
        p = mask != 0 ? end - 16 + tg_scan_mask_first(mask) : end;
    }
#endif

    return p;
}

const char *
tg_scan_string_utf8(const char *p, const char *end)
{
    p = tg_scan_start_inline(p, end, TG_SCAN_STRING_STOPS | TG_SCAN_NON_ASCII);

    if (p == end || tg_scan_is_stop((unsigned char) *p, TG_SCAN_STRING_STOPS)) {
        return p;
    }

    return tg_scan_get_best_impl()->text(p, end);
}

const char *
tg_scan_string(const char *p, const char *end)
{
    p = tg_scan_start_inline(p, end, TG_SCAN_STRING_STOPS);

    if (p == end || tg_scan_is_stop((unsigned char) *p, TG_SCAN_STRING_STOPS)) {
        return p;
    }

    return tg_scan_get_best_impl()->plain(p, end);
}

const char *
tg_scan_utf8(const char *p, const char *end)
{
    return tg_scan_get_best_impl()->utf8(p, end);
}
