/* Suggestions for misspelled words. */
#ifndef TG_SUGGEST_H
#define TG_SUGGEST_H

#include "base/tg_base.h"

/*
 * Counts the letters to change, insert, delete, or swap with the next. Except
 * in swaps, case and the difference between `-`, `.` and `_` do not count.
 * Returns SIZE_MAX for words that are too long.
 */
size_t tg_suggest_distance(tg_str_t a, tg_str_t b);

/* Returns the word at the least distance, at most 1 + word.len / 4, or NULL. */
const char *tg_suggest_word(tg_str_t word, const char *const *words);

#endif
