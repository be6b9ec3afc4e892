/* What the two files of the pattern translator share. */
#ifndef TG_PATTERN_PARSE_H
#define TG_PATTERN_PARSE_H

#include "schema/tg_pattern.h"

/* Groups inside of each other; PCRE2 itself allows 250. */
#define TG_PATTERN_DEPTH 200
/* PCRE2's largest count in braces. */
#define TG_PATTERN_COUNT 65535

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
    int is_atom;    /* behind one, which a quantifier may repeat */
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
/* The same for one that stands for a set, such as \d; it is written. */
int tg_pattern_set_escape(tg_pattern_t *pattern, int is_in_class);
/* p is behind the opening bracket. */
int tg_pattern_class(tg_pattern_t *pattern);

#endif
