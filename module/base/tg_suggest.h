/* Suggestions for misspelled words. */
#ifndef TG_SUGGEST_H
#define TG_SUGGEST_H

#include "base/tg_base.h"

/*
 * Returns the entry of words that is nearest to word, or NULL if all differ
 * too much. words ends with NULL. The number of changed, missing, additional
 * or swapped letters may be at most 1 + word.len / 4; case does not count.
 */
const char *tg_suggest_word(tg_str_t word, const char *const *words);

#endif
