/* JSON block operations with AVX-512: one register per block. */
#include "base/tg_json_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TG_BLOCK_TARGET                                                        \
    __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,pclmul,"    \
                          "bmi,bmi2,popcnt,lzcnt")))
#define TG_BLOCK_FN static inline TG_BLOCK_TARGET __attribute__((always_inline))

typedef __m512i tg_block_t;

TG_BLOCK_FN tg_block_t
tg_block_load(const char *p)
{
    return _mm512_loadu_si512(p);
}

/* Keeps a constant in a register, which the compiler would reload. */
TG_BLOCK_FN tg_block_t
tg_block_pin_register(tg_block_t block)
{
    __asm__("" : "+v"(block));

    return block;
}

TG_BLOCK_FN tg_block_t
tg_block_broadcast(char c)
{
    return tg_block_pin_register(_mm512_set1_epi8(c));
}

TG_BLOCK_FN tg_block_t
tg_block_to_lower(tg_block_t block)
{
    return _mm512_or_si512(block, tg_block_broadcast(0x20));
}

/* Moves a mask to a general register, where arithmetic is faster. */
TG_BLOCK_FN uint64_t
tg_block_mask_to_word(__mmask64 mask)
{
    uint64_t word;

    word = mask;
    __asm__("" : "+r"(word));

    return word;
}

TG_BLOCK_FN uint64_t
tg_block_find_char(tg_block_t block, char c)
{
    return tg_block_mask_to_word(
        _mm512_cmpeq_epi8_mask(block, tg_block_broadcast(c)));
}

TG_BLOCK_FN uint64_t
tg_block_find_range(tg_block_t block, char c, int n)
{
    if (c != 0) {
        block = _mm512_sub_epi8(block, tg_block_broadcast(c));
    }

    return tg_block_mask_to_word(
        _mm512_cmplt_epu8_mask(block, tg_block_broadcast((char) n)));
}

TG_BLOCK_FN uint64_t
tg_block_find_non_ascii(tg_block_t block)
{
    return tg_block_mask_to_word(_mm512_movepi8_mask(block));
}

/* Character classes (TG_BLOCK_*) of the bytes below 0x80. */
static const char tg_block_class_table[128] __attribute__((aligned(64))) = {
    [0x00 ... 0x08] = TG_BLOCK_CONTROL,
    ['\t' ... '\n'] = TG_BLOCK_CONTROL | TG_BLOCK_SPACE,
    [0x0b ... 0x0c] = TG_BLOCK_CONTROL,
    ['\r'] = TG_BLOCK_CONTROL | TG_BLOCK_SPACE,
    [0x0e ... 0x1f] = TG_BLOCK_CONTROL,
    [' '] = TG_BLOCK_SPACE,
    ['"'] = TG_BLOCK_QUOTE,
    ['\\'] = TG_BLOCK_BACKSLASH,
    ['['] = TG_BLOCK_STRUCTURAL,
    [']'] = TG_BLOCK_STRUCTURAL,
    ['{'] = TG_BLOCK_STRUCTURAL,
    ['}'] = TG_BLOCK_STRUCTURAL,
    [','] = TG_BLOCK_STRUCTURAL,
    [':'] = TG_BLOCK_STRUCTURAL,
};

typedef __m512i tg_block_classes_t;

TG_BLOCK_FN tg_block_classes_t
tg_block_classify(tg_block_t block)
{
    __m512i kinds;

    kinds = _mm512_permutex2var_epi8(
        tg_block_pin_register(_mm512_load_si512(tg_block_class_table)), block,
        tg_block_pin_register(_mm512_load_si512(tg_block_class_table + 64)));

    /* kinds | (block & 0x80 in each byte) */
    return _mm512_ternarylogic_epi64(
        kinds, block, tg_block_broadcast((char) TG_BLOCK_NON_ASCII), 0xf8);
}

TG_BLOCK_FN uint64_t
tg_block_find_class(tg_block_classes_t kinds, int what)
{
    return tg_block_mask_to_word(
        _mm512_test_epi8_mask(kinds, tg_block_broadcast((char) what)));
}

TG_BLOCK_FN void
tg_block_compress(char *dst, tg_block_t block, const char *p, uint64_t bits)
{
    _mm512_storeu_si512(dst, _mm512_maskz_compress_epi8(bits, block));
}

TG_BLOCK_FN uint64_t
tg_block_prefix_xor(uint64_t quotes)
{
    return (uint64_t) _mm_cvtsi128_si64(_mm_clmulepi64_si128(
        _mm_cvtsi64_si128((long long) quotes), _mm_set1_epi8((char) 0xff), 0));
}

/* Writes the lower 32 bytes with a backslash before each byte in marks. */
TG_BLOCK_FN size_t
tg_block_write_escaped(char *dst, __m512i block, uint32_t marks)
{
    const uint64_t all = UINT64_C(0xaaaaaaaaaaaaaaaa);

    /* Pair each byte with a backslash, then drop those not in marks. */
    _mm512_storeu_si512(dst, _mm512_mask_expand_epi8(
                                 _mm512_set1_epi8('\\'),
                                 _pext_u64(all, all | _pdep_u64(marks, ~all)),
                                 block));

    return 32 + (size_t) __builtin_popcount(marks);
}

TG_BLOCK_TARGET static void
tg_block_escape(const char **text, const char *end, char **dst,
                const char *limit)
{
    const __m512i letters = _mm512_maskz_set1_epi8(UINT64_C(1) << '\t', 't')
                            | _mm512_maskz_set1_epi8(UINT64_C(1) << '\n', 'n')
                            | _mm512_maskz_set1_epi8(UINT64_C(1) << '\r', 'r');
    uint64_t marks, controls;
    __m512i block;
    const char *p;
    char *at;

    for (p = *text, at = *dst; end - p >= 64 && limit - at >= 128; p += 64) {
        block = _mm512_loadu_si512(p);
        controls = tg_block_find_range(block, 0, 0x20);
        marks = controls | tg_block_find_char(block, '"')
                | tg_block_find_char(block, '\\');

        if (controls != 0) {
            block = _mm512_mask_permutexvar_epi8(block, controls, block,
                                                 letters);

            if (tg_block_find_char(block, 0) != 0) {
                break;
            }
        }

        if (marks == 0) {
            _mm512_storeu_si512(at, block);
            at += 64;
            continue;
        }

        at += tg_block_write_escaped(at, block, (uint32_t) marks);
        at += tg_block_write_escaped(at,
                                     _mm512_shuffle_i64x2(block, block, 0xee),
                                     (uint32_t) (marks >> 32));
    }

    *text = p;
    *dst = at;
}

#define TG_BLOCK_ESCAPE_FN tg_block_escape

#include "base/simd/tg_json_block.h"

const tg_json_simd_t *
tg_json_simd_get_avx512(void)
{
    return __builtin_cpu_supports("avx512bw")
                   && __builtin_cpu_supports("avx512vbmi")
                   && __builtin_cpu_supports("avx512vbmi2")
                   && __builtin_cpu_supports("bmi2")
                   && __builtin_cpu_supports("pclmul")
               ? &tg_block_simd
               : NULL;
}

#else

const tg_json_simd_t *
tg_json_simd_get_avx512(void)
{
    return NULL;
}

#endif
