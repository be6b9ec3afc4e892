/*
 * JSON numbers as exact decimals: no rounding, no length limit but that of
 * the text itself.  Nothing is copied; a number points into its text.
 */
#ifndef TG_NUMBER_H
#define TG_NUMBER_H

#include "base/tg_base.h"

/*
 * Exponents beyond this are refused: their sum with a count of digits still
 * fits 64 bits, and nobody means such a number.
 */
#define TG_NUMBER_EXPONENT_MAX INT64_C(1000000000000000)

/* Digits of a divisor: with one more digit, a remainder fits 64 bits. */
#define TG_NUMBER_DIVISOR_DIGITS 18

/*
 * 0.DIGITS times 10 to the power of point.  digits runs from the first to
 * the last digit that is not zero and may hold the decimal point.
 */
typedef struct {
    tg_str_t digits;
    int64_t point;
    size_t count; /* digits without the point; 0 for zero */
    int is_negative;
} tg_number_t;

/* raw is a valid JSON number.  TG_OK, or TG_LIMIT for its exponent. */
int tg_number_parse(tg_str_t raw, tg_number_t *number);

/* Below zero, zero or above it, as a is less than, equal to or beyond b. */
int tg_number_compare(const tg_number_t *a, const tg_number_t *b);

int tg_number_is_integer(const tg_number_t *number);

/*
 * Is number a whole multiple of divisor, which is positive and has at most
 * TG_NUMBER_DIVISOR_DIGITS digits?
 */
int tg_number_is_multiple(const tg_number_t *number,
                          const tg_number_t *divisor);

/* Equal numbers have equal hashes, however they are written. */
uint64_t tg_number_hash(const tg_number_t *number, uint64_t seed);

/*
 * Without its sign, a whole number that is at most so large (9 at least).
 * TG_INVALID: it is not whole; TG_LIMIT: it is larger.
 */
int tg_number_to_uint64(const tg_number_t *number, uint64_t most,
                        uint64_t *value);

/*
 * Writes a whole number without point and exponent, -0 as 0, and returns its
 * length.  0: raw is no number, or no whole one, or has more than
 * TG_NUMBER_INTEGER_DIGITS digits.
 */
#define TG_NUMBER_INTEGER_DIGITS 40
#define TG_NUMBER_INTEGER_SIZE (TG_NUMBER_INTEGER_DIGITS + 1)

size_t tg_number_write_integer(tg_str_t raw,
                               char plain[TG_NUMBER_INTEGER_SIZE]);

/* A whole number from 0 on; what is larger than SIZE_MAX / 2 becomes that. */
int tg_number_to_size(const tg_number_t *number, size_t *size);

#endif
