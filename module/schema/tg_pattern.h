/*
 * Translation of ECMA-262 patterns (with the u flag) of JSON Schema to PCRE2.
 *
 * Compile the translation with PCRE2_UTF, PCRE2_NEVER_BACKSLASH_C and
 * PCRE2_MATCH_UNSET_BACKREF, without PCRE2_UCP and PCRE2_EXTENDED. It has a
 * callout, (?C), at its start, at the start of each group and alternative, and
 * after each repetition. The host counts callouts to limit a match. PCRE2's own
 * limit counts neither the start positions of a search nor the length of a
 * repetition: x*y takes n * n steps on n times x without reaching it.
 *
 * Every escape has its ECMA-262 meaning or is rejected, and no PCRE2 syntax is
 * accepted. Two differences remain: a group within a repeated group keeps its
 * text from the last repetition, and PCRE2 must be able to determine the length
 * of a lookbehind.
 */
#ifndef TG_PATTERN_H
#define TG_PATTERN_H

#include "base/tg_buf.h"

#include <limits.h>

/* Weight of a pattern with backreferences, which may compare the whole text. */
#define TG_PATTERN_WEIGHT_MAX UINT_MAX

/*
 * Appends the translation of pattern, which must be valid UTF-8. On TG_INVALID
 * *why is a static hint that says what to write. *weight is the maximum number
 * of characters compared between two callouts, without those that a repetition
 * matches.
 */
int tg_pattern_translate(tg_str_t pattern, tg_buf_t *out, unsigned *weight,
                         const char **why);

/* Checks a pattern in valid UTF-8. Returns 0 without memory, too. */
int tg_pattern_is_valid(tg_str_t pattern);

#endif
