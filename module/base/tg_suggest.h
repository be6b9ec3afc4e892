/* Suggestions for misspelled words. */
#ifndef TG_SUGGEST_H
#define TG_SUGGEST_H

#include "base/tg_base.h"

/*
 * Returns the edit distance of two words: the number of letters to change,
 * insert, delete, or swap with the next letter. Except in swaps, case does not
 * count, and neither does the difference between `-`, `.` and `_`. Returns
 * SIZE_MAX for words that are too long to compare.
 */
size_t tg_suggest_distance(tg_str_t a, tg_str_t b);

/*
 * Returns the entry of words that is nearest to word, or NULL if all differ
 * too much. words ends with NULL. The distance may be at most
 * 1 + word.len / 4.
 */
const char *tg_suggest_word(tg_str_t word, const char *const *words);

#endif
