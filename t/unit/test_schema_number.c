/* Exact decimals: order, whole numbers, multiples, sizes, hashes. */
#include "protocol_help.h"

#include "base/tg_number.h"

static tg_number_t
test_parse(const char *text)
{
    tg_number_t number;

    CU_ASSERT_EQUAL(tg_number_parse(tg_str_from_cstr(text), &number), TG_OK);

    return number;
}

/* In ascending order; those on one line are equal. */
static const char *const test_order[][4] = {
    { "-1e1000000", "-10e999999", NULL, NULL },
    { "-12345678901234567890123", NULL, NULL, NULL },
    { "-12345678901234567890122.9", NULL, NULL, NULL },
    { "-1e2", "-100", "-100.00", "-0.01e4" },
    { "-99.999999999999999999999999999", NULL, NULL, NULL },
    { "-1", "-1.0", "-10e-1", NULL },
    { "-1e-1000000", NULL, NULL, NULL },
    { "0", "-0", "0.000", "0e99999999999999999999999" },
    { "1e-1000001", "0.1e-1000000", NULL, NULL },
    { "0.00012", "1.2e-4", "12E-5", "0.000120" },
    { "0.12", NULL, NULL, NULL },
    { "0.1200000000000000000000000000001", NULL, NULL, NULL },
    { "0.2", NULL, NULL, NULL },
    { "1", "1e0", "1.00e+0", "100e-2" },
    { "9007199254740992", NULL, NULL, NULL },
    { "9007199254740993", "9007199254740993.0", "9.007199254740993e15",
      "900719925474099300e-2" },
    { "1e400", "10e399", NULL, NULL },
    { "1.5e400", "15e399", "0.15e401", NULL },
    { "1e1000000", NULL, NULL, NULL },
};

#define TEST_N_ORDER (HELP_COUNT(test_order))

HELP_TEST(compare, "order and hashes")
{
    tg_number_t a, b;
    size_t i, j, k, l;
    int sign;

    for (i = 0; i < TEST_N_ORDER; i++) {
        for (j = 0; j < TEST_N_ORDER; j++) {
            for (k = 0; k < 4 && test_order[i][k] != NULL; k++) {
                for (l = 0; l < 4 && test_order[j][l] != NULL; l++) {
                    a = test_parse(test_order[i][k]);
                    b = test_parse(test_order[j][l]);
                    sign = tg_number_compare(&a, &b);
                    CU_ASSERT_EQUAL((sign > 0) - (sign < 0), (i > j) - (i < j));

                    if (i == j) {
                        CU_ASSERT_EQUAL(tg_number_hash(&a, 5),
                                        tg_number_hash(&b, 5));
                    }
                }
            }
        }
    }
}

HELP_TEST(integers, "whole numbers")
{
    static const char *const whole[] = { "0",      "-0.0",  "1.0",   "10e-1",
                                         "1e400",  "-12e3", "1.5e1", "100e-2",
                                         "120e-1", "0.5e1" };
    static const char *const others[] = { "0.5",    "1e-1",   "-1.5",
                                          "15e-1",  "1e-400", "123.456e2",
                                          "10.01e1" };
    tg_number_t number;

    HELP_EACH(row, whole) {
        number = test_parse(*row);
        CU_ASSERT(tg_number_is_integer(&number));
    }

    HELP_EACH(other, others) {
        number = test_parse(*other);
        CU_ASSERT(!tg_number_is_integer(&number));
    }
}

/* Whole numbers, for which the machine can compute the result. */
HELP_TEST(multiples, "multiples")
{
    tg_number_t a, b;
    char text[64], divisor[64];
    int64_t n;
    int d, scale;

    for (n = -300; n <= 300; n++) {
        for (d = 1; d <= 130; d++) {
            for (scale = -3; scale <= 3; scale++) {
                snprintf(text, sizeof(text), "%llde%d", (long long) n, scale);
                a = test_parse(text);
                snprintf(divisor, sizeof(divisor), "%de%d", d, scale);
                b = test_parse(divisor);
                CU_ASSERT_EQUAL(tg_number_is_multiple(&a, &b), n % d == 0);

                /* A larger exponent on one side multiplies it. */
                snprintf(text, sizeof(text), "%llde%d", (long long) n,
                         scale + 2);
                a = test_parse(text);
                CU_ASSERT_EQUAL(tg_number_is_multiple(&a, &b),
                                n * 100 % d == 0);
            }
        }
    }
}

HELP_TEST(sizes, "sizes")
{
    static const struct {
        const char *text;
        size_t size;
    } rows[] = {
        { "0", 0 },
        { "-0", 0 },
        { "7", 7 },
        { "120", 120 },
        { "1.5e1", 15 },
        { "12.00", 12 },
        { "1e3", 1000 },
        { "0.5e1", 5 },
        { "4294967296", 4294967296 },
        { "1e30", SIZE_MAX / 2 },
        { "1e1000000000", SIZE_MAX / 2 },
    };
    static const char *const invalid[] = { "-1", "0.5", "1e-3", "-1e9" };
    tg_number_t number;
    size_t size;

    HELP_EACH(row, rows) {
        number = test_parse(row->text);
        size = 99;
        CU_ASSERT_EQUAL(tg_number_to_size(&number, &size), TG_OK);
        CU_ASSERT_EQUAL(size, row->size);
    }

    HELP_EACH(row, invalid) {
        number = test_parse(*row);
        CU_ASSERT_EQUAL(tg_number_to_size(&number, &size), TG_INVALID);
    }
}

HELP_TEST(range, "exponents out of range")
{
    static const char *const beyond[] = { "1e1000000000000001",
                                          "-1e-1000000000000001",
                                          "1e99999999999999999999999999" };
    tg_number_t number;

    HELP_EACH(row, beyond) {
        CU_ASSERT_EQUAL(tg_number_parse(tg_str_from_cstr(*row), &number),
                        TG_LIMIT);
    }

    (void) test_parse("1e1000000000000000");
}

/* A number without point and exponent; empty: not possible. */
static void
test_plain(const char *raw, const char *expected)
{
    char plain[TG_NUMBER_INTEGER_SIZE];

    CU_ASSERT(tg_str_eq(
        tg_str(plain, tg_number_write_integer(tg_str_from_cstr(raw), plain)),
        tg_str_from_cstr(expected)));
}

HELP_TEST(plain_numbers, "whole numbers without point and exponent")
{
    test_plain("3", "3");
    test_plain("3.0", "3");
    test_plain("3e0", "3");
    test_plain("1e1", "10");
    test_plain("1.5e1", "15");
    test_plain("1200e-2", "12");
    test_plain("-12.00", "-12");
    test_plain("0.0", "0");
    test_plain("-0.0", "0");
    test_plain("-0", "0");
    test_plain("0e99999999999999999999", "0");
    test_plain("9007199254740993.0", "9007199254740993");
    test_plain("12.340e3", "12340");
    test_plain("-1e39", "-1000000000000000000000000000000000000000");
    test_plain("1e40", "");
    test_plain("1e400", "");
    test_plain("1e99999999999999999999", "");
    test_plain("1.5", "");
    test_plain("1e-1", "");
    test_plain("\"3.0\"", "");
    test_plain("null", "");
    test_plain("", "");
}
