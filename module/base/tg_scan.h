/*
 * Text scanners with SIMD: they find the next byte that a JSON parser must
 * handle. All implementations return equal results and differ only in speed.
 */
#ifndef TG_SCAN_H
#define TG_SCAN_H

#include "base/tg_base.h"

/*
 * Returns the first byte that the scanner looks for, or end. p must not be
 * larger than end. Reads nothing outside of [p, end).
 */
typedef const char *(*tg_scan_pt)(const char *p, const char *end);

typedef struct {
    const char *name;

    /*
     * Finds a quote, a backslash, a control character (below 0x20), or an
     * invalid sequence as defined by tg_utf8_sequence_len().
     */
    tg_scan_pt text;

    /* Finds quotes, backslashes and control characters; ignores UTF-8. */
    tg_scan_pt plain;

    /* Finds the first byte of an invalid UTF-8 sequence. */
    tg_scan_pt utf8;
} tg_scan_impl_t;

/* Returns the n-th fastest implementation for this machine, or NULL. */
const tg_scan_impl_t *tg_scan_get_impl(unsigned n);

const char *tg_scan_string_utf8(const char *p, const char *end);
const char *tg_scan_string(const char *p, const char *end);
const char *tg_scan_utf8(const char *p, const char *end);

/* --- private to tg_scan*.c --- */

/* Returns NULL without AVX2 in the CPU or compiler. */
const tg_scan_impl_t *tg_scan_impl_avx2(void);
/* Returns NULL without SSE2 or NEON in the architecture. */
const tg_scan_impl_t *tg_scan_impl_simd128(void);
const tg_scan_impl_t *tg_scan_impl_scalar(void);

#endif
