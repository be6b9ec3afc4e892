/* What the two files of the pattern translator share. */
#ifndef TG_PATTERN_PARSE_H
#define TG_PATTERN_PARSE_H

#include "schema/tg_pattern.h"

/* Groups inside of each other; PCRE2 itself allows 250. */
#define TG_PATTERN_DEPTH 200
/* PCRE2's largest count in braces. */
#define TG_PATTERN_COUNT 65535

/* What \s and \S are made of, as members of a class. */
#define TG_PATTERN_SPACE                                                       \
    "\\t-\\r\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"      \
    "\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define TG_PATTERN_NO_SPACE                                                    \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}"              \
    "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"                \
    "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"                \
    "\\x{ff00}-\\x{10ffff}"

/* What an atom is, for the quantifier that may follow. */
typedef enum {
    TG_PATTERN_NOTHING, /* a quantifier has nothing to repeat */
    TG_PATTERN_ATOM
} tg_pattern_last_t;

typedef struct {
    const char *start;
    const char *p;
    const char *end;
    tg_buf_t *out;
    const char *why;
    unsigned depth;    /* open groups */
    unsigned n_groups; /* capturing ones in the whole pattern */
    unsigned weight;
    unsigned plain; /* characters since the last callout */
    tg_pattern_last_t last;
    uint8_t is_look[TG_PATTERN_DEPTH]; /* the open group is an assertion */
} tg_pattern_t;

/* Sets why: TG_BAD. */
int tg_pattern_bad(tg_pattern_t *pattern, const char *why);

/* Does text come next? */
int tg_pattern_at(const tg_pattern_t *pattern, const char *text);
int tg_pattern_is_word(char c);

void tg_pattern_put_code(tg_buf_t *out, uint32_t code);
uint32_t tg_pattern_take_char(tg_pattern_t *pattern);

/*
 * An escape that stands for one character; p is at what follows the
 * backslash.  TG_MISSING when it is none of those.
 */
int tg_pattern_char_escape(tg_pattern_t *pattern, uint32_t *code);
/* p is at the p or P of a property escape. */
int tg_pattern_property(tg_pattern_t *pattern);
/* p is behind the opening bracket. */
int tg_pattern_class(tg_pattern_t *pattern);

#endif
