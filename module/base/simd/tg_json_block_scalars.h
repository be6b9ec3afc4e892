/*
 * Validation of numbers and words, 64 bytes at once; for tg_json_block.h only.
 * The input is scalars, each followed by the byte that ends it.
 */
#ifndef TG_JSON_BLOCK_SCALARS_H
#define TG_JSON_BLOCK_SCALARS_H

#include "base/tg_json_impl.h"

/*
 * State between two blocks, carries are 1 or 0. Letters are rare and therefore
 * have a state of their own.
 */
typedef struct {
    uint64_t wrong; /* nonzero after any error */
    uint64_t any;
    uint64_t due;   /* carry: a digit must follow */
    uint64_t minus; /* carry: minus at the start of a number */
    uint64_t zero;  /* carry: zero at the start of a number */
    uint64_t fraction;
    /* nonzero if any tg_block_literal_state_t carry is set */
    uint64_t letters;
} tg_block_number_state_t;

typedef struct {
    uint64_t word;
    /* ends of words, one bit per byte of the next block */
    uint64_t ends;
    uint64_t exponent;
    uint64_t sign; /* carry: sign of an exponent */
    uint64_t power;
    /* not a carry: exponent signs in the last block */
    uint64_t signs;
} tg_block_literal_state_t;

/*
 * Checks the letters and signs outside of words: all must belong to exponents.
 * Stores the exponent signs in in->signs, so that their minus is not checked as
 * the start of a number. Returns the mask of errors.
 */
TG_BLOCK_FN uint64_t
tg_block_check_exponents(tg_block_literal_state_t *in, tg_block_t block,
                         uint64_t others, uint64_t scalar)
{
    uint64_t plus, behind, digits, first;

    digits = tg_block_find_range(block, '0', 10);
    plus = tg_block_find_char(block, '+') & others;
    others &= ~plus;
    behind = tg_block_shift_next(others, &in->exponent);
    in->signs = behind & (tg_block_find_char(block, '-') | plus);
    first = (behind & ~in->signs) | tg_block_shift_next(in->signs, &in->sign);

    return (others & ~tg_block_find_char(tg_block_to_lower(block), 'e'))
           | (plus & ~in->signs) | (first & ~digits)
           | (tg_block_find_run_ends(first & digits, digits, &in->power)
              & ~digits & scalar);
}

/* Checks words and exponents. Returns the mask of errors. */
TG_BLOCK_TARGET static __attribute__((noinline)) uint64_t
tg_block_check_letters(tg_block_literal_state_t *in, const char *p,
                       uint64_t letters, uint64_t scalar, uint64_t starts)
{
    uint64_t four, five, ends, behind, words, wrong;
    tg_block_t at, one, two, three;

    at = tg_block_load(p);
    one = tg_block_load(p + 1);
    two = tg_block_load(p + 2);
    three = tg_block_load(p + 3);
    words = letters & starts;

    four = (tg_block_find_char(at, 't') & tg_block_find_char(one, 'r')
            & tg_block_find_char(two, 'u') & tg_block_find_char(three, 'e'))
           | (tg_block_find_char(at, 'n') & tg_block_find_char(one, 'u')
              & tg_block_find_char(two, 'l') & tg_block_find_char(three, 'l'));
    five = tg_block_find_char(at, 'f') & tg_block_find_char(one, 'a')
           & tg_block_find_char(two, 'l') & tg_block_find_char(three, 's')
           & tg_block_find_char(tg_block_load(p + 4), 'e');

    /* A word must be known and end where its letters end. */
    four &= words;
    five &= words;
    ends = four << 4 | five << 5 | in->ends;
    in->ends = four >> 60 | five >> 59;
    behind = tg_block_find_run_ends(words, letters, &in->word);
    wrong = (words ^ (four | five)) | ((behind & ~letters) ^ ends)
            | (ends & scalar);
    letters &= behind;
    in->signs = 0;

    if (letters | in->exponent | in->sign | in->power) {
        wrong |= tg_block_check_exponents(in, at, letters, scalar);
    }

    return wrong;
}

/*
 * Checks 64 bytes of scalars. The byte before a dot or an exponent needs no
 * check: it is a digit, because one must follow every non-digit.
 */
TG_BLOCK_FN void
tg_block_check_scalars(tg_block_number_state_t *in,
                       tg_block_literal_state_t *letters, const char *p)
{
    uint64_t scalar, digits, dots, minus, others, starts, first;
    tg_block_t block;

    block = tg_block_load(p);
    scalar = ~tg_block_find_class(tg_block_classify(block),
                                  TG_BLOCK_STRUCTURAL | TG_BLOCK_SPACE
                                      | TG_BLOCK_QUOTE)
             | tg_block_find_non_ascii(block);
    digits = tg_block_find_range(block, '0', 10);
    dots = tg_block_find_char(block, '.');
    minus = tg_block_find_char(block, '-');
    others = scalar & ~(digits | dots | minus);
    starts = scalar & ~tg_block_shift_next(scalar, &in->any);

    if (others | in->letters) {
        in->wrong |= tg_block_check_letters(letters, p, others, scalar, starts);
        minus &= ~letters->signs;
        in->letters = letters->word | letters->ends | letters->exponent
                      | letters->sign | letters->power;
    }

    first = starts | tg_block_shift_next(minus, &in->minus);
    in->wrong |= (minus & ~starts) | (dots & starts)
                 | (tg_block_shift_next(minus | dots, &in->due) & ~digits)
                 | (tg_block_shift_next(first & tg_block_find_char(block, '0'),
                                        &in->zero)
                    & digits)
                 /* A second dot after the digits that follow the first one. */
                 | (tg_block_find_run_ends(dots << 1, digits, &in->fraction)
                    & dots);
    in->fraction |= dots >> 63;
}

#endif
