/* JSON numbers as exact decimals of any length, which point into their text. */
#ifndef TG_NUMBER_H
#define TG_NUMBER_H

#include "base/tg_base.h"

/* The sum of a larger exponent and a digit count might overflow. */
#define TG_NUMBER_EXPONENT_MAX INT64_C(1000000000000000)

/* A remainder with one more digit fits in 64 bits. */
#define TG_NUMBER_DIVISOR_DIGITS 18

/* 0.DIGITS * 10^point, where digits begins and ends with a nonzero digit. */
typedef struct {
    tg_str_t digits;
    int64_t point;
    size_t count; /* number of digits without the point; 0 for zero */
    int is_negative;
} tg_number_t;

/* Parses a valid JSON number. TG_LIMIT: the exponent is too large. */
int tg_number_parse(tg_str_t raw, tg_number_t *number);

/* Returns a value less than, equal to or greater than 0. */
int tg_number_compare(const tg_number_t *a, const tg_number_t *b);

int tg_number_is_integer(const tg_number_t *number);

/* divisor must be positive, with at most TG_NUMBER_DIVISOR_DIGITS digits. */
int tg_number_is_multiple(const tg_number_t *number,
                          const tg_number_t *divisor);

/* Returns a hash. Equal numbers have equal hashes, in any notation. */
uint64_t tg_number_hash(const tg_number_t *number, uint64_t seed);

/* Stores the absolute value. TG_LIMIT: it exceeds `most` (at least 9). */
int tg_number_to_uint64(const tg_number_t *number, uint64_t most,
                        uint64_t *value);

/* Digits that tg_number_write_integer() writes; the size has a sign, too. */
#define TG_NUMBER_INTEGER_DIGITS 40
#define TG_NUMBER_INTEGER_SIZE (TG_NUMBER_INTEGER_DIGITS + 1)

/*
 * Writes an integer without point and exponent, -0 as 0. Returns its length, or
 * 0 if raw is not an integer or has too many digits.
 */
size_t tg_number_write_integer(tg_str_t raw,
                               char plain[TG_NUMBER_INTEGER_SIZE]);

/* Converts an integer of at least 0, limited to SIZE_MAX / 2. */
int tg_number_to_size(const tg_number_t *number, size_t *size);

#endif
