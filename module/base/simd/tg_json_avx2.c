/* JSON block operations with AVX2: two registers per block. */
#include "base/tg_json_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TG_BLOCK_TARGET                                                        \
    __attribute__((target("avx2,pclmul,bmi,bmi2,popcnt,lzcnt")))
#define TG_BLOCK_FN static inline TG_BLOCK_TARGET __attribute__((always_inline))

typedef struct {
    __m256i low;
    __m256i high;
} tg_block_t;

TG_BLOCK_FN tg_block_t
tg_block_load(const char *p)
{
    const __m256i *at;

    at = (const __m256i *) (const void *) p;

    return (tg_block_t){ _mm256_loadu_si256(at), _mm256_loadu_si256(at + 1) };
}

TG_BLOCK_FN tg_block_t
tg_block_to_lower(tg_block_t b)
{
    return (tg_block_t){ _mm256_or_si256(b.low, _mm256_set1_epi8(0x20)),
                         _mm256_or_si256(b.high, _mm256_set1_epi8(0x20)) };
}

TG_BLOCK_FN uint64_t
tg_block_movemask(__m256i low, __m256i high)
{
    return (uint64_t) (uint32_t) _mm256_movemask_epi8(low)
           | (uint64_t) (uint32_t) _mm256_movemask_epi8(high) << 32;
}

TG_BLOCK_FN uint64_t
tg_block_find_char(tg_block_t b, char c)
{
    return tg_block_movemask(_mm256_cmpeq_epi8(b.low, _mm256_set1_epi8(c)),
                             _mm256_cmpeq_epi8(b.high, _mm256_set1_epi8(c)));
}

TG_BLOCK_FN uint64_t
tg_block_find_range(tg_block_t b, char c, int n)
{
    __m256i low, high, last;

    last = _mm256_set1_epi8((char) (n - 1));
    low = _mm256_sub_epi8(b.low, _mm256_set1_epi8(c));
    high = _mm256_sub_epi8(b.high, _mm256_set1_epi8(c));

    return tg_block_movemask(_mm256_cmpeq_epi8(_mm256_min_epu8(low, last), low),
                             _mm256_cmpeq_epi8(_mm256_min_epu8(high, last),
                                               high));
}

TG_BLOCK_FN uint64_t
tg_block_find_non_ascii(tg_block_t b)
{
    return tg_block_movemask(b.low, b.high);
}

#define TG_BLOCK_SHUFFLE_TABLE(...)                                            \
    _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

/*
 * Tables by a byte's low nibble: white space, and structural characters with
 * bit 0x20 set. An unused entry has another low nibble, so it never matches.
 */
#define TG_BLOCK_SPACE_TABLE                                                   \
    TG_BLOCK_SHUFFLE_TABLE(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0,      \
                           '\r', 0, 0)
#define TG_BLOCK_STRUCTURAL_TABLE                                              \
    TG_BLOCK_SHUFFLE_TABLE(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}',   \
                           0, 0)

/* Returns the bytes of b that equal the table entry of the byte in `by`. */
TG_BLOCK_FN uint64_t
tg_block_find_in_table(tg_block_t b, tg_block_t by, __m256i table)
{
    return tg_block_movemask(
        _mm256_cmpeq_epi8(b.low, _mm256_shuffle_epi8(table, by.low)),
        _mm256_cmpeq_epi8(b.high, _mm256_shuffle_epi8(table, by.high)));
}

typedef tg_block_t tg_block_classes_t;

TG_BLOCK_FN tg_block_classes_t
tg_block_classify(tg_block_t block)
{
    return block;
}

TG_BLOCK_FN uint64_t
tg_block_find_class(tg_block_classes_t block, int what)
{
    uint64_t are;

    are = 0;

    if (what & TG_BLOCK_QUOTE) {
        are |= tg_block_find_char(block, '"');
    }

    if (what & TG_BLOCK_BACKSLASH) {
        are |= tg_block_find_char(block, '\\');
    }

    if (what & TG_BLOCK_STRUCTURAL) {
        are |= tg_block_find_in_table(tg_block_to_lower(block), block,
                                      TG_BLOCK_STRUCTURAL_TABLE);
    }

    if (what & TG_BLOCK_SPACE) {
        are |= tg_block_find_in_table(block, block, TG_BLOCK_SPACE_TABLE);
    }

    if (what & TG_BLOCK_CONTROL) {
        are |= tg_block_find_range(block, 0, 0x20);
    }

    if (what & TG_BLOCK_NON_ASCII) {
        are |= tg_block_find_non_ascii(block);
    }

    return are;
}

TG_BLOCK_FN void
tg_block_compress(char *dst, tg_block_t block, const char *p, uint64_t bits)
{
    int i;

    /* Copy 8 bytes, maybe too many: the CPU mispredicts the exact number. */
    while (bits != 0) {
        for (i = 0; i < 8; i++, bits &= bits - 1) {
            *dst++ = p[_tzcnt_u64(bits)];
        }
    }
}

TG_BLOCK_FN uint64_t
tg_block_prefix_xor(uint64_t quotes)
{
    return (uint64_t) _mm_cvtsi128_si64(_mm_clmulepi64_si128(
        _mm_cvtsi64_si128((long long) quotes), _mm_set1_epi8((char) 0xff), 0));
}

#define TG_BLOCK_ESCAPE_FN NULL

#include "base/simd/tg_json_block.h"

const tg_json_simd_t *
tg_json_simd_get_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")
                   && __builtin_cpu_supports("pclmul")
               ? &tg_block_simd
               : NULL;
}

#else

const tg_json_simd_t *
tg_json_simd_get_avx2(void)
{
    return NULL;
}

#endif
