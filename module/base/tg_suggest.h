/*
 * Words that were probably meant by others.
 */
#ifndef TG_SUGGEST_H
#define TG_SUGGEST_H

#include "base/tg_base.h"

/*
 * The one of words, the last of which is NULL, that is nearest to a word, of
 * whose letters at most a few are others, too many, missing or swapped; NULL:
 * none of them is.
 */
const char *tg_suggest_word(tg_str_t word, const char *const *words);

#endif
