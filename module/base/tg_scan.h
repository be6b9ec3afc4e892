/*
 * Text scanners with SIMD: they find the next byte that a JSON string parser
 * must handle.
 *
 * There are several implementations. Each machine supports at least one. All
 * implementations return equal results and differ only in speed.
 */
#ifndef TG_SCAN_H
#define TG_SCAN_H

#include "base/tg_base.h"

/*
 * Returns the first byte in [p, end) that the scanner looks for, or end. p
 * must not be larger than end. Reads nothing outside of [p, end).
 */
typedef const char *(*tg_scan_pt)(const char *p, const char *end);

typedef struct {
    const char *name;

    /*
     * Finds the first quote, backslash or control character (below 0x20), or
     * the first byte of an invalid UTF-8 sequence as defined by
     * tg_utf8_sequence_len().
     */
    tg_scan_pt text;

    /*
     * Finds the first quote, backslash or control character; does not check
     * UTF-8.
     */
    tg_scan_pt plain;

    /* Finds the first byte of an invalid UTF-8 sequence. */
    tg_scan_pt utf8;
} tg_scan_impl_t;

/*
 * Returns the n-th implementation that this machine supports, from 0; the
 * fastest is first. Returns NULL if there are not so many.
 */
const tg_scan_impl_t *tg_scan_get_impl(unsigned n);

/* Runs the text scanner of the fastest implementation. */
const char *tg_scan_string_utf8(const char *p, const char *end);
/* Runs the plain scanner of the fastest implementation. */
const char *tg_scan_string(const char *p, const char *end);
/* Runs the utf8 scanner of the fastest implementation. */
const char *tg_scan_utf8(const char *p, const char *end);

/* --- private to tg_scan*.c --- */

/*
 * Returns the AVX2 implementation, or NULL if the CPU or the compiler does not
 * support AVX2.
 */
const tg_scan_impl_t *tg_scan_impl_avx2(void);
/*
 * Returns the implementation with steps of 16 bytes (SSE2 or NEON), or NULL if
 * the architecture has neither.
 */
const tg_scan_impl_t *tg_scan_impl_simd128(void);
/* Returns the implementation in plain C; never NULL. */
const tg_scan_impl_t *tg_scan_impl_scalar(void);

#endif
