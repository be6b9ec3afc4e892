/* Blocks of JSON with AVX-512: one register each. */
#include "base/tg_json_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TG_BLOCK_TARGET                                                        \
    __attribute__((target("avx512f,avx512bw,pclmul,bmi,bmi2,lzcnt")))
#define TG_BLOCK_FN static inline TG_BLOCK_TARGET __attribute__((always_inline))

typedef __m512i tg_block_t;

TG_BLOCK_FN tg_block_t
tg_block_load(const char *p)
{
    return _mm512_loadu_si512(p);
}

TG_BLOCK_FN tg_block_t
tg_block_lower(tg_block_t block)
{
    return _mm512_or_si512(block, _mm512_set1_epi8(0x20));
}

TG_BLOCK_FN uint64_t
tg_block_eq(tg_block_t block, char c)
{
    return _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(c));
}

TG_BLOCK_FN uint64_t
tg_block_range(tg_block_t block, char c, int n)
{
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(block, _mm512_set1_epi8(c)),
                                  _mm512_set1_epi8((char) n));
}

TG_BLOCK_FN uint64_t
tg_block_inside(uint64_t quotes)
{
    return (uint64_t) _mm_cvtsi128_si64(_mm_clmulepi64_si128(
        _mm_cvtsi64_si128((long long) quotes), _mm_set1_epi8((char) 0xff), 0));
}

#include "base/tg_json_block.h"

const tg_json_blocks_t *
tg_json_blocks_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2")
                   && __builtin_cpu_supports("pclmul")
               ? &tg_block_way
               : NULL;
}

#else

const tg_json_blocks_t *
tg_json_blocks_avx512(void)
{
    return NULL;
}

#endif
