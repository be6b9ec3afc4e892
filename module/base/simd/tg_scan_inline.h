/* Inline scanning in steps of 16 bytes, with the SSE2 or NEON of every CPU. */
#ifndef TG_SCAN_INLINE_H
#define TG_SCAN_INLINE_H

#include "base/tg_scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define TG_SCAN_SIMD128 "sse2"
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define TG_SCAN_SIMD128 "neon"
#endif

/* More steps cost more than choosing the fastest implementation. */
#define TG_SCAN_INLINE_BLOCKS 8

/* Searched byte classes, a compile-time constant in all calls. */
enum {
    TG_SCAN_STRING_STOPS = 1, /* quote, backslash, control characters */
    TG_SCAN_NON_ASCII = 2,    /* bytes of 0x80 and above */
    TG_SCAN_NON_DIGITS = 4    /* all except digits; not combined with others */
};

#if defined(__SSE2__)

/* A bit mask of 16 bytes: one bit per byte, the first byte is bit 0. */
typedef uint32_t tg_scan_mask_t;
#define TG_SCAN_MASK_BITS 1

/* Returns the mask of the 16 bytes at p that are in the classes `what`. */
static inline tg_scan_mask_t
tg_scan_find_mask(const char *p, int what)
{
    __m128i block, hit;

    block = _mm_loadu_si128((const __m128i *) (const void *) p);
    hit = block;

    if (what & TG_SCAN_STRING_STOPS) {
        hit = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                           _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));

        /*
         * The comparison is signed: bytes of 0x80 and above are below 0x20,
         * too.
         */
        hit = _mm_or_si128(
            hit, what & TG_SCAN_NON_ASCII
                     ? _mm_cmplt_epi8(block, _mm_set1_epi8(0x20))
                     : _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)),
                                      block));
    }

    if (what & TG_SCAN_NON_DIGITS) {
        block = _mm_sub_epi8(block, _mm_set1_epi8('0'));
        hit = _mm_cmpeq_epi8(_mm_max_epu8(block, _mm_set1_epi8(10)), block);
    }

    return (uint32_t) _mm_movemask_epi8(hit);
}

#elif defined(TG_SCAN_SIMD128)

typedef uint64_t tg_scan_mask_t;
#define TG_SCAN_MASK_BITS 4

static inline tg_scan_mask_t
tg_scan_find_mask(const char *p, int what)
{
    uint8x16_t block, hit;

    block = vld1q_u8((const uint8_t *) p);
    hit = vdupq_n_u8(0);

    if (what & TG_SCAN_STRING_STOPS) {
        hit = vorrq_u8(vcltq_u8(block, vdupq_n_u8(0x20)),
                       vorrq_u8(vceqq_u8(block, vdupq_n_u8('"')),
                                vceqq_u8(block, vdupq_n_u8('\\'))));
    }

    if (what & TG_SCAN_NON_ASCII) {
        hit = vorrq_u8(hit, vcgeq_u8(block, vdupq_n_u8(0x80)));
    }

    if (what & TG_SCAN_NON_DIGITS) {
        hit = vcgtq_u8(vsubq_u8(block, vdupq_n_u8('0')), vdupq_n_u8(9));
    }

    /* The mask has 4 bits per byte, of which only one is kept. */
    return vget_lane_u64(vreinterpret_u64_u8(
                             vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)),
                         0)
           & UINT64_C(0x8888888888888888);
}

#endif

#if defined(TG_SCAN_SIMD128)

static inline unsigned
tg_scan_mask_first(tg_scan_mask_t mask)
{
    return (unsigned) __builtin_ctzll(mask) / TG_SCAN_MASK_BITS;
}

/* Returns the index of the first hit in the 16 bytes at p, or 16. */
static inline unsigned
tg_scan_find_in_block(const char *p, int what)
{
    tg_scan_mask_t mask;

    mask = tg_scan_find_mask(p, what);

    return mask != 0 ? tg_scan_mask_first(mask) : 16;
}

#endif

/* Skips at most 16 digits; p must be less than end. */
static inline const char *
tg_scan_skip_digits(const char *p, const char *end)
{
#if defined(TG_SCAN_SIMD128)
    if (end - p >= 16) {
        return p + tg_scan_find_in_block(p, TG_SCAN_NON_DIGITS);
    }
#endif

    while (p < end && tg_is_digit(*p)) {
        p++;
    }

    return p;
}

/*
 * Scans at most 16 bytes of a usually short string. Returns the first quote,
 * backslash, control or non-ASCII byte, or the end of the scanned bytes, so the
 * caller must check the byte there.
 */
static inline const char *
tg_scan_string_16(const char *p, const char *end)
{
#if defined(TG_SCAN_SIMD128)
    if (end - p >= 16) {
        return p
               + tg_scan_find_in_block(p, TG_SCAN_STRING_STOPS
                                              | TG_SCAN_NON_ASCII);
    }
#endif

    return p;
}

/* Scans at most 128 bytes; see tg_scan_string_16(). */
static inline const char *
tg_scan_string_128(const char *p, const char *end)
{
#if defined(TG_SCAN_SIMD128)
    tg_scan_mask_t mask;
    unsigned i;

    for (i = 0; i < TG_SCAN_INLINE_BLOCKS && end - p >= 16; i++, p += 16) {
        mask = tg_scan_find_mask(p, TG_SCAN_STRING_STOPS | TG_SCAN_NON_ASCII);

        if (mask != 0) {
            return p + tg_scan_mask_first(mask);
        }
    }
#endif

    return p;
}

#endif
