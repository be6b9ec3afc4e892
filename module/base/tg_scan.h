/*
 * The bytes of texts, in the widest steps that the machine offers: where is
 * the next one that a string of JSON cannot just pass?
 *
 * There are several ways to look, of which each machine has some.  All of
 * them say the same of every input; which one is taken shows only in time.
 */
#ifndef TG_SCAN_H
#define TG_SCAN_H

#include "base/tg_base.h"

/*
 * From p on, p <= end: the first byte that is looked for, or end.  Nothing
 * outside of [p, end) is read.
 */
typedef const char *(*tg_scan_pt)(const char *p, const char *end);

typedef struct {
    const char *name;

    /*
     * The first quote, backslash or control character (below 0x20), or the
     * first byte of a sequence that is no UTF-8 (as tg_utf8_sequence_len()
     * says).
     */
    tg_scan_pt text;

    /* The first quote, backslash or control character, whatever else. */
    tg_scan_pt plain;

    /* The first byte of a sequence that is no UTF-8. */
    tg_scan_pt utf8;
} tg_scan_impl_t;

/* The ways that this machine has, the fastest first; NULL: no more. */
const tg_scan_impl_t *tg_scan_get_impl(unsigned n);

/* By the fastest. */
const char *tg_scan_string_utf8(const char *p, const char *end);
const char *tg_scan_string(const char *p, const char *end);
const char *tg_scan_utf8(const char *p, const char *end);

/* --- for tg_scan*.c only --- */

/* NULL where the machine, or the compiler, does not have it. */
const tg_scan_impl_t *tg_scan_impl_avx2(void);
const tg_scan_impl_t *tg_scan_impl_simd128(void); /* 16 bytes: SSE2 or NEON */
const tg_scan_impl_t *tg_scan_impl_scalar(void);  /* C alone; never NULL */

#endif
