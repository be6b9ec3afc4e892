/* Exact decimal arithmetic on JSON numbers: parsing, comparing, division. */
#include "base/tg_number.h"

/* Parses the exponent at p, after the e. TG_LIMIT: it is too large. */
static int
tg_number_parse_exponent(const char *p, const char *end, int64_t *exponent)
{
    int64_t value;
    int is_negative;

    is_negative = *p == '-';
    p += *p == '-' || *p == '+';

    for (value = 0; p < end; p++) {
        value = value * 10 + (*p - '0');

        if (value > TG_NUMBER_EXPONENT_MAX) {
            return TG_LIMIT;
        }
    }

    *exponent = is_negative ? -value : value;

    return TG_OK;
}

int
tg_number_parse(tg_str_t raw, tg_number_t *number)
{
    const char *p, *end, *first, *last, *dot;
    int64_t exponent;
    int rc;

    p = raw.data;
    end = raw.data + raw.len;
    first = last = dot = NULL;
    exponent = 0;
    rc = TG_OK;

    memset(number, 0, sizeof(*number));
    number->is_negative = *p == '-';

    for (p += number->is_negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            dot = p;

        } else if (*p != '0') {
            first = first != NULL ? first : p;
            last = p;
        }
    }

    /* -0 equals 0, and so does zero with any exponent. */
    if (first == NULL) {
        number->is_negative = 0;
        return TG_OK;
    }

    dot = dot != NULL ? dot : p;

    if (p < end) {
        rc = tg_number_parse_exponent(p + 1, end, &exponent);
    }

    number->digits = tg_str(first, (size_t) (last + 1 - first));
    number->count = number->digits.len - (first < dot && dot < last);
    number->point = exponent + (dot - first) + (dot < first);

    return rc;
}

static int
tg_number_compare_digits(tg_str_t a, tg_str_t b)
{
    const char *p, *q, *p_end, *q_end;

    p = a.data;
    q = b.data;
    p_end = p + a.len;
    q_end = q + b.len;

    for (;;) {
        p += p < p_end && !tg_is_digit(*p);
        q += q < q_end && !tg_is_digit(*q);

        if (p == p_end || q == q_end) {
            return (p < p_end) - (q < q_end);
        }

        if (*p != *q) {
            return *p < *q ? -1 : 1;
        }

        p++;
        q++;
    }
}

int
tg_number_compare(const tg_number_t *a, const tg_number_t *b)
{
    int sign;

    if (a->count == 0 || b->count == 0 || a->is_negative != b->is_negative) {
        return (a->count != 0 ? (a->is_negative ? -1 : 1) : 0)
               - (b->count != 0 ? (b->is_negative ? -1 : 1) : 0);
    }

    sign = a->is_negative ? -1 : 1;

    if (a->point != b->point) {
        return a->point < b->point ? -sign : sign;
    }

    return sign * tg_number_compare_digits(a->digits, b->digits);
}

int
tg_number_is_integer(const tg_number_t *number)
{
    return number->point >= (int64_t) number->count;
}

/*
 * Returns the remainder; divisor must be positive. Digits smaller than the
 * divisor are returned as they are, so a divisor of at most 18 digits, divided
 * by UINT64_MAX / 10, stays unchanged and is not 0.
 */
static uint64_t
tg_number_remainder(tg_str_t digits, uint64_t divisor)
{
    uint64_t rest;
    size_t i;

    rest = 0;

    for (i = 0; i < digits.len; i++) {
        if (tg_is_digit(digits.data[i])) {
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): see above */
            rest = (rest * 10 + (uint64_t) (digits.data[i] - '0')) % divisor;
        }
    }

    return rest;
}

int
tg_number_is_multiple(const tg_number_t *number, const tg_number_t *divisor)
{
    uint64_t whole, rest;
    int64_t shift;

    if (number->count == 0) {
        return 1;
    }

    whole = tg_number_remainder(divisor->digits, UINT64_MAX / 10);
    shift = (number->point - (int64_t) number->count)
            - (divisor->point - (int64_t) divisor->count);

    /* Multiples of ten times the divisor end in 0, but number does not. */
    if (shift < 0) {
        return 0;
    }

    rest = tg_number_remainder(number->digits, whole);

    /* A divisor below 2^60 has fewer than 60 factors 2 or 5. */
    for (shift = shift < 60 ? shift : 60; shift > 0 && rest != 0; shift--) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
        rest = rest * 10 % whole;
    }

    return rest == 0;
}

uint64_t
tg_number_hash(const tg_number_t *number, uint64_t seed)
{
    uint64_t hash;
    size_t i;

    hash = seed ^ (uint64_t) number->point ^ (uint64_t) number->is_negative;

    for (i = 0; i < number->digits.len; i++) {
        if (tg_is_digit(number->digits.data[i])) {
            hash = (hash ^ (unsigned char) number->digits.data[i])
                   * UINT64_C(1099511628211);
        }
    }

    return hash;
}

int
tg_number_to_uint64(const tg_number_t *number, uint64_t most, uint64_t *value)
{
    uint64_t whole, digit;
    int64_t left;
    size_t i;

    if (!tg_number_is_integer(number)) {
        return TG_INVALID;
    }

    whole = 0;

    for (left = number->point, i = 0; left > 0; left--, i++) {
        i += i < number->digits.len && number->digits.data[i] == '.';
        digit = i < number->digits.len
                    ? (uint64_t) (number->digits.data[i] - '0')
                    : 0;

        if (whole > (most - digit) / 10) {
            return TG_LIMIT;
        }

        whole = whole * 10 + digit;
    }

    *value = whole;

    return TG_OK;
}

size_t
tg_number_write_integer(tg_str_t raw, char plain[TG_NUMBER_INTEGER_SIZE])
{
    tg_number_t number;
    size_t i, len;
    int64_t left;

    if (raw.len == 0 || (*raw.data != '-' && !tg_is_digit(*raw.data))
        || tg_number_parse(raw, &number) != TG_OK
        || !tg_number_is_integer(&number)
        || number.point > TG_NUMBER_INTEGER_DIGITS)
    {
        return 0;
    }

    len = 0;

    if (number.is_negative) {
        plain[len++] = '-';
    } else if (number.count == 0) {
        plain[len++] = '0';
    }

    for (left = number.point, i = 0; left > 0; left--, i++) {
        i += i < number.digits.len && number.digits.data[i] == '.';
        plain[len++] = i < number.digits.len ? number.digits.data[i] : '0';
    }

    return len;
}

int
tg_number_to_size(const tg_number_t *number, size_t *size)
{
    uint64_t value;

    if (number->is_negative || !tg_number_is_integer(number)) {
        return TG_INVALID;
    }

    value = SIZE_MAX / 2;
    (void) tg_number_to_uint64(number, value, &value);
    *size = (size_t) value;

    return TG_OK;
}
