/*
 * Scanners with steps of 32 bytes, for AVX2; UTF-8 after Keiser and Lemire,
 * "Validating UTF-8 In Less Than One Instruction Per Byte" (2020). The
 * algorithm does not locate an error. So the 16-byte scanner continues from the
 * last complete character at an error, at a stop byte after UTF-8, and at the
 * end.
 */
#include "base/tg_scan.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TG_SCAN_AVX2_FN __attribute__((target("avx2")))
#define TG_SCAN_AVX2_INLINE                                                    \
    static inline __attribute__((target("avx2"), always_inline))

/* Errors in two consecutive bytes; see the paper. */
enum {
    TG_UTF8_TOO_SHORT = 1 << 0,      /* 11______ 0_______, 11______ 11______ */
    TG_UTF8_TOO_LONG = 1 << 1,       /* 0_______ 10______ */
    TG_UTF8_OVERLONG_3 = 1 << 2,     /* 11100000 100_____ */
    TG_UTF8_TOO_LARGE = 1 << 3,      /* 11110100 101_____, 11110101 and more */
    TG_UTF8_SURROGATE = 1 << 4,      /* 11101101 101_____ */
    TG_UTF8_OVERLONG_2 = 1 << 5,     /* 1100000_ 10______ */
    TG_UTF8_TOO_LARGE_1000 = 1 << 6, /* 11110101 1000____ and more */
    TG_UTF8_OVERLONG_4 = 1 << 6,     /* 11110000 1000____ */
    TG_UTF8_TWO_CONTINUATIONS = 1 << 7, /* 10______ 10______ */
    TG_UTF8_CARRY = TG_UTF8_TOO_SHORT | TG_UTF8_TOO_LONG
                    | TG_UTF8_TWO_CONTINUATIONS
};

/* A lookup table of 16 entries, repeated in both halves of a register. */
#define TG_SCAN_SHUFFLE_TABLE(...)                                             \
    _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

TG_SCAN_AVX2_INLINE __m256i
tg_avx2_load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *) (const void *) p);
}

/* The comparison is signed: bytes of 0x80 and above are below 0x20, too. */
TG_SCAN_AVX2_INLINE __m256i
tg_avx2_find_stops(__m256i block)
{
    return _mm256_or_si256(
        _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), block),
        _mm256_or_si256(_mm256_cmpeq_epi8(block, _mm256_set1_epi8('"')),
                        _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\'))));
}

TG_SCAN_AVX2_INLINE __m256i
tg_avx2_high_nibble(__m256i block)
{
    return _mm256_and_si256(_mm256_srli_epi16(block, 4),
                            _mm256_set1_epi8(0x0f));
}

/* The block `before` may end with an incomplete sequence. */
TG_SCAN_AVX2_INLINE __m256i
tg_avx2_find_utf8_errors(__m256i block, __m256i before)
{
    const __m256i first_high = TG_SCAN_SHUFFLE_TABLE(
        TG_UTF8_TOO_LONG, TG_UTF8_TOO_LONG, TG_UTF8_TOO_LONG, TG_UTF8_TOO_LONG,
        TG_UTF8_TOO_LONG, TG_UTF8_TOO_LONG, TG_UTF8_TOO_LONG, TG_UTF8_TOO_LONG,
        (char) TG_UTF8_TWO_CONTINUATIONS, (char) TG_UTF8_TWO_CONTINUATIONS,
        (char) TG_UTF8_TWO_CONTINUATIONS, (char) TG_UTF8_TWO_CONTINUATIONS,
        TG_UTF8_TOO_SHORT | TG_UTF8_OVERLONG_2, TG_UTF8_TOO_SHORT,
        TG_UTF8_TOO_SHORT | TG_UTF8_OVERLONG_3 | TG_UTF8_SURROGATE,
        TG_UTF8_TOO_SHORT | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000
            | TG_UTF8_OVERLONG_4);
    const __m256i first_low = TG_SCAN_SHUFFLE_TABLE(
        (char) (TG_UTF8_CARRY | TG_UTF8_OVERLONG_3 | TG_UTF8_OVERLONG_2
                | TG_UTF8_OVERLONG_4),
        (char) (TG_UTF8_CARRY | TG_UTF8_OVERLONG_2), (char) TG_UTF8_CARRY,
        (char) TG_UTF8_CARRY, (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000
                | TG_UTF8_SURROGATE),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000),
        (char) (TG_UTF8_CARRY | TG_UTF8_TOO_LARGE | TG_UTF8_TOO_LARGE_1000));
    const __m256i second_high = TG_SCAN_SHUFFLE_TABLE(
        TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT,
        TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT,
        TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT,
        (char) (TG_UTF8_TOO_LONG | TG_UTF8_OVERLONG_2
                | TG_UTF8_TWO_CONTINUATIONS | TG_UTF8_OVERLONG_3
                | TG_UTF8_TOO_LARGE_1000 | TG_UTF8_OVERLONG_4),
        (char) (TG_UTF8_TOO_LONG | TG_UTF8_OVERLONG_2
                | TG_UTF8_TWO_CONTINUATIONS | TG_UTF8_OVERLONG_3
                | TG_UTF8_TOO_LARGE),
        (char) (TG_UTF8_TOO_LONG | TG_UTF8_OVERLONG_2
                | TG_UTF8_TWO_CONTINUATIONS | TG_UTF8_SURROGATE
                | TG_UTF8_TOO_LARGE),
        (char) (TG_UTF8_TOO_LONG | TG_UTF8_OVERLONG_2
                | TG_UTF8_TWO_CONTINUATIONS | TG_UTF8_SURROGATE
                | TG_UTF8_TOO_LARGE),
        TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT, TG_UTF8_TOO_SHORT,
        TG_UTF8_TOO_SHORT);
    __m256i across, back1, back2, back3, pairs, third, fourth;

    /* The block, shifted by one, two and three bytes. */
    across = _mm256_permute2x128_si256(before, block, 0x21);
    back1 = _mm256_alignr_epi8(block, across, 15);
    back2 = _mm256_alignr_epi8(block, across, 14);
    back3 = _mm256_alignr_epi8(block, across, 13);

    pairs = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(first_high, tg_avx2_high_nibble(back1)),
            _mm256_shuffle_epi8(
                first_low, _mm256_and_si256(back1, _mm256_set1_epi8(0x0f)))),
        _mm256_shuffle_epi8(second_high, tg_avx2_high_nibble(block)));

    /* Continuation bytes are valid in a sequence of 3 or 4 bytes. */
    third = _mm256_subs_epu8(back2, _mm256_set1_epi8((char) (0xe0 - 0x80)));
    fourth = _mm256_subs_epu8(back3, _mm256_set1_epi8((char) (0xf0 - 0x80)));

    return _mm256_xor_si256(_mm256_and_si256(_mm256_or_si256(third, fourth),
                                             _mm256_set1_epi8((char) 0x80)),
                            pairs);
}

/* Returns the start of a character cut off at p, or p; never before start. */
static const char *
tg_avx2_find_char_start(const char *start, const char *p)
{
    int i;

    for (i = 1; i <= 3 && p - i >= start; i++) {
        if ((unsigned char) p[-i] >= 0xc0) {
            return p - i;
        }
    }

    return p;
}

/* Stop bytes end the scan only if stops is set. */
TG_SCAN_AVX2_INLINE const char *
tg_avx2_skip_ascii(const char *p, const char *end, int stops)
{
    __m256i a, b, c, d, hit;

    while (end - p >= 128) {
        a = tg_avx2_load(p);
        b = tg_avx2_load(p + 32);
        c = tg_avx2_load(p + 64);
        d = tg_avx2_load(p + 96);

        if (stops) {
            a = tg_avx2_find_stops(a);
            b = tg_avx2_find_stops(b);
            c = tg_avx2_find_stops(c);
            d = tg_avx2_find_stops(d);
        }

        hit = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));

        if (_mm256_movemask_epi8(hit) != 0) {
            break;
        }

        p += 128;
    }

    return p;
}

TG_SCAN_AVX2_INLINE const char *
tg_avx2_scan(const char *p, const char *end, int stops)
{
    __m256i block, before, hits;
    const char *start;
    unsigned mask, high;

    start = p;
    before = _mm256_setzero_si256();

    for (;;) {
        /* Only after a complete character: sequences must not be split. */
        if (p == start || (unsigned char) p[-1] < 0x80) {
            p = tg_avx2_skip_ascii(p, end, stops);
            before = _mm256_setzero_si256();
        }

        if (end - p < 32) {
            break;
        }

        block = tg_avx2_load(p);
        high = (unsigned) _mm256_movemask_epi8(block);
        mask = 0;

        if (stops) {
            hits = tg_avx2_find_stops(block);
            mask = (unsigned) _mm256_movemask_epi8(hits) & ~high;
        }

        if (mask != 0) {
            /* The usual case: only ASCII before the stop byte. */
            if ((high & (mask ^ (mask - 1))) == 0
                && (p == start || (unsigned char) p[-1] < 0x80))
            {
                return p + __builtin_ctz(mask);
            }

            break;
        }

        hits = tg_avx2_find_utf8_errors(block, before);

        if (!_mm256_testz_si256(hits, hits)) {
            break;
        }

        before = block;
        p += 32;
    }

    p = tg_avx2_find_char_start(start, p);

    return stops ? tg_scan_impl_simd128()->text(p, end)
                 : tg_scan_impl_simd128()->utf8(p, end);
}

TG_SCAN_AVX2_FN static const char *
tg_scan_string_utf8_avx2(const char *p, const char *end)
{
    return tg_avx2_scan(p, end, 1);
}

TG_SCAN_AVX2_FN static const char *
tg_scan_utf8_avx2(const char *p, const char *end)
{
    return tg_avx2_scan(p, end, 0);
}

TG_SCAN_AVX2_FN static const char *
tg_scan_string_avx2(const char *p, const char *end)
{
    __m256i block, hits;
    unsigned mask;

    while (end - p >= 32) {
        block = tg_avx2_load(p);
        hits = _mm256_or_si256(
            _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(0x1f)),
                              block),
            _mm256_or_si256(_mm256_cmpeq_epi8(block, _mm256_set1_epi8('"')),
                            _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\'))));
        mask = (unsigned) _mm256_movemask_epi8(hits);

        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }

        p += 32;
    }

    return tg_scan_impl_simd128()->plain(p, end);
}

const tg_scan_impl_t *
tg_scan_impl_avx2(void)
{
    static const tg_scan_impl_t impl = { "avx2", tg_scan_string_utf8_avx2,
                                         tg_scan_string_avx2,
                                         tg_scan_utf8_avx2 };

    return __builtin_cpu_supports("avx2") ? &impl : NULL;
}

#else

const tg_scan_impl_t *
tg_scan_impl_avx2(void)
{
    return NULL;
}

#endif
