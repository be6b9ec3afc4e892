/*
 * Patterns of ECMA-262, as JSON Schema uses them (with the u flag), written
 * for PCRE2.
 *
 * The translation must be compiled with PCRE2_UTF, PCRE2_ANCHORED,
 * PCRE2_NEVER_BACKSLASH_C and PCRE2_MATCH_UNSET_BACKREF, without PCRE2_UCP,
 * and matched from the first byte on.  Where the pattern may match further
 * on, the search for it is part of the translation: then the library's
 * limit of backtracking bounds the whole search, not each start of it.
 *
 * Every escape means what ECMA-262 says, or is refused; nothing of PCRE2's
 * own syntax gets through.  What differs still: a group inside of a
 * repeated one keeps its text from the round before, and lookbehind must
 * have a length that PCRE2 can tell.
 */
#ifndef TG_PATTERN_H
#define TG_PATTERN_H

#include "core/tg_buf.h"

/*
 * Appends the translation of pattern, which is valid UTF-8.  TG_OK; TG_BAD
 * with what to write instead, static text; TG_NOMEM.
 */
int tg_pattern_translate(tg_str_t pattern, tg_buf_t *out, const char **why);

#endif
