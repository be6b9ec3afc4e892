/*
 * Patterns of ECMA-262, as JSON Schema uses them (with the u flag), written
 * for PCRE2.
 *
 * The translation must be compiled with PCRE2_UTF, PCRE2_NEVER_BACKSLASH_C
 * and PCRE2_MATCH_UNSET_BACKREF, without PCRE2_UCP and PCRE2_EXTENDED.  It
 * has a callout, (?C), at its start, at the start of each alternative and
 * behind each repetition: whoever counts those bounds a match.  PCRE2's own
 * limit does not: it counts neither the starts of a search nor how far an
 * item runs, so that x*y takes n * n steps on n times x and reaches none.
 *
 * Every escape means what ECMA-262 says, or is refused; nothing of PCRE2's
 * own syntax gets through.  What differs still: a group inside of a
 * repeated one keeps its text from the round before, and lookbehind must
 * have a length that PCRE2 can tell.
 */
#ifndef TG_PATTERN_H
#define TG_PATTERN_H

#include "base/tg_buf.h"

#include <limits.h>

/* The weight of a pattern with backreferences: as long as the text is. */
#define TG_PATTERN_WEIGHT_MAX UINT_MAX

/*
 * Appends the translation of pattern, which is valid UTF-8.  TG_OK; TG_INVALID
 * with what to write instead, static text; TG_NOMEM.
 *
 * weight: the most characters that may be compared between two callouts, but
 * for those that a repetition runs over.
 */
int tg_pattern_translate(tg_str_t pattern, tg_buf_t *out, unsigned *weight,
                         const char **why);

/* Is a text, valid UTF-8, a pattern?  Out of memory, it is none. */
int tg_pattern_is_valid(tg_str_t pattern);

#endif
