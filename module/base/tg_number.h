/*
 * JSON numbers as exact decimals: no rounding, and no limit of length except
 * that of the text. Nothing is copied: a number points into its text.
 */
#ifndef TG_NUMBER_H
#define TG_NUMBER_H

#include "base/tg_base.h"

/*
 * Maximum absolute value of an exponent. The sum of an exponent and a digit
 * count then fits in 64 bits, and real data has no such numbers.
 */
#define TG_NUMBER_EXPONENT_MAX INT64_C(1000000000000000)

/*
 * Maximum digits of a divisor: a remainder with one more digit fits in 64
 * bits.
 */
#define TG_NUMBER_DIVISOR_DIGITS 18

/*
 * The number 0.DIGITS * 10^point. digits starts at the first and ends at the
 * last nonzero digit; it may contain the decimal point.
 */
typedef struct {
    tg_str_t digits;
    int64_t point;
    size_t count; /* number of digits without the point; 0 for zero */
    int is_negative;
} tg_number_t;

/*
 * Parses raw, a valid JSON number. Returns TG_OK, or TG_LIMIT if the exponent
 * is too large. The number points into raw.
 */
int tg_number_parse(tg_str_t raw, tg_number_t *number);

/*
 * Compares two numbers. Returns a value less than, equal to or greater than 0
 * if a is less than, equal to or greater than b.
 */
int tg_number_compare(const tg_number_t *a, const tg_number_t *b);

int tg_number_is_integer(const tg_number_t *number);

/*
 * Checks whether number is an integer multiple of divisor. divisor must be
 * positive and have at most TG_NUMBER_DIVISOR_DIGITS digits.
 */
int tg_number_is_multiple(const tg_number_t *number,
                          const tg_number_t *divisor);

/* Returns a hash. Equal numbers have equal hashes, in any notation. */
uint64_t tg_number_hash(const tg_number_t *number, uint64_t seed);

/*
 * Stores the absolute value of an integer that is at most `most`, which must
 * be at least 9. Returns TG_OK, TG_INVALID if number is not an integer, or
 * TG_LIMIT if it is larger than `most`.
 */
int tg_number_to_uint64(const tg_number_t *number, uint64_t most,
                        uint64_t *value);

/*
 * Maximum digits that tg_number_write_integer() writes; the size includes a
 * sign.
 */
#define TG_NUMBER_INTEGER_DIGITS 40
#define TG_NUMBER_INTEGER_SIZE (TG_NUMBER_INTEGER_DIGITS + 1)

/*
 * Writes an integer without point and exponent, -0 as 0, and returns its
 * length. Returns 0 if raw is not a number, is not an integer, or has more
 * than TG_NUMBER_INTEGER_DIGITS digits.
 */
size_t tg_number_write_integer(tg_str_t raw,
                               char plain[TG_NUMBER_INTEGER_SIZE]);

/*
 * Converts an integer of at least 0; values above SIZE_MAX / 2 become SIZE_MAX
 * / 2. Returns TG_OK, or TG_INVALID for any other number.
 */
int tg_number_to_size(const tg_number_t *number, size_t *size);

#endif
