/*
 * Translation of ECMA-262 patterns, as used by JSON Schema (with the u flag),
 * to PCRE2.
 *
 * Compile the translation with PCRE2_UTF, PCRE2_NEVER_BACKSLASH_C and
 * PCRE2_MATCH_UNSET_BACKREF, without PCRE2_UCP and PCRE2_EXTENDED. The
 * translation has a callout, (?C), at its start, at the start of each group and
 * alternative, and after each repetition. The host counts callouts to limit the
 * time of a match. PCRE2's own limit is not enough: it counts neither the start
 * positions of a search nor the length of a repetition. So x*y takes n * n
 * steps on a text of n times x without reaching PCRE2's limit.
 *
 * Every escape has its ECMA-262 meaning or is rejected, and no PCRE2-specific
 * syntax is accepted. Two differences remain: a group within a repeated group
 * keeps its text from the last repetition, and lookbehind must have a length
 * that PCRE2 can determine.
 */
#ifndef TG_PATTERN_H
#define TG_PATTERN_H

#include "base/tg_buf.h"

#include <limits.h>

/* Weight of a pattern with backreferences, which may compare the whole text. */
#define TG_PATTERN_WEIGHT_MAX UINT_MAX

/*
 * Appends the translation of pattern, which must be valid UTF-8. Returns TG_OK,
 * TG_NOMEM, or TG_INVALID with a static hint in *why that says what to write.
 *
 * *weight is the maximum number of characters compared between two callouts,
 * not counting those that a repetition matches.
 */
int tg_pattern_translate(tg_str_t pattern, tg_buf_t *out, unsigned *weight,
                         const char **why);

/*
 * Checks whether a text, which must be valid UTF-8, is a valid pattern. Returns
 * 0 if there is no memory, too.
 */
int tg_pattern_is_valid(tg_str_t pattern);

#endif
