/*
 * A step of 16 bytes, for those who cannot wait for a function to be called:
 * SSE2 and NEON, which every machine of their architecture has.
 */
#ifndef TG_SCAN_BLOCK_H
#define TG_SCAN_BLOCK_H

#include "base/tg_scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define TG_SCAN_NARROW "sse2"
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define TG_SCAN_NARROW "neon"
#endif

/* So many steps cost less than to ask for the widest way. */
#define TG_SCAN_SHORT 8

/* What is looked for, as a constant that the compiler folds. */
enum {
    TG_SCAN_STOPS = 1, /* quote, backslash, control characters */
    TG_SCAN_HIGH = 2   /* bytes from 0x80 on */
};

#if defined(__SSE2__)

/* The place of the first hit among 16 bytes, or 16. */
static inline unsigned
tg_scan_block(const char *p, int what)
{
    __m128i block, hit;
    unsigned mask;

    block = _mm_loadu_si128((const __m128i *) (const void *) p);
    hit = block;

    if (what & TG_SCAN_STOPS) {
        hit = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                           _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));

        /* Signed: bytes from 0x80 on are below 0x20, too. */
        hit = _mm_or_si128(
            hit, what & TG_SCAN_HIGH
                     ? _mm_cmplt_epi8(block, _mm_set1_epi8(0x20))
                     : _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)),
                                      block));
    }

    mask = (unsigned) _mm_movemask_epi8(hit);

    return mask != 0 ? (unsigned) __builtin_ctz(mask) : 16;
}

#elif defined(TG_SCAN_NARROW)

static inline unsigned
tg_scan_block(const char *p, int what)
{
    uint8x16_t block, hit;
    uint64_t mask;

    block = vld1q_u8((const uint8_t *) p);
    hit = vdupq_n_u8(0);

    if (what & TG_SCAN_STOPS) {
        hit = vorrq_u8(vcltq_u8(block, vdupq_n_u8(0x20)),
                       vorrq_u8(vceqq_u8(block, vdupq_n_u8('"')),
                                vceqq_u8(block, vdupq_n_u8('\\'))));
    }

    if (what & TG_SCAN_HIGH) {
        hit = vorrq_u8(hit, vcgeq_u8(block, vdupq_n_u8(0x80)));
    }

    /* Half of each byte's bits: 16 times 4 bits in their order. */
    mask = vget_lane_u64(
        vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);

    return mask != 0 ? (unsigned) __builtin_ctzll(mask) / 4 : 16;
}

#endif

/*
 * From p on, for a text that is most often short: the first byte that ends
 * it or is not ASCII, if that is near; else a byte that says nothing.
 */
static inline const char *
tg_scan_near(const char *p, const char *end)
{
#if defined(TG_SCAN_NARROW)
    if (end - p >= 16) {
        return p + tg_scan_block(p, TG_SCAN_STOPS | TG_SCAN_HIGH);
    }
#endif

    (void) end;

    return p;
}

/* The same, further on. */
static inline const char *
tg_scan_short(const char *p, const char *end)
{
#if defined(TG_SCAN_NARROW)
    unsigned i, at;

    for (i = 0, at = 16; i < TG_SCAN_SHORT && at == 16 && end - p >= 16; i++) {
        at = tg_scan_block(p, TG_SCAN_STOPS | TG_SCAN_HIGH);
        p += at;
    }
#endif

    (void) end;

    return p;
}

#endif
