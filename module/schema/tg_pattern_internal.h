/* What the two files of the pattern translator share. */
#ifndef TG_PATTERN_INTERNAL_H
#define TG_PATTERN_INTERNAL_H

#include "schema/tg_pattern.h"

/* Groups inside of each other; PCRE2 itself allows 250. */
#define TG_PATTERN_MAX_DEPTH 200
/* PCRE2's largest count in braces. */
#define TG_PATTERN_MAX_COUNT 65535

typedef struct {
    const char *start;
    const char *p;
    const char *end;
    tg_buf_t *out;
    const char *why;
    unsigned depth;    /* open groups */
    unsigned n_groups; /* capturing ones in the whole pattern */
    unsigned weight;
    unsigned chars_since_callout; /* characters since the last callout */
    int is_atom; /* behind one, which a quantifier may repeat */
    /* the open group is an assertion */
    uint8_t is_assertion[TG_PATTERN_MAX_DEPTH];
} tg_pattern_parser_t;

/* Sets why: TG_INVALID. */
int tg_pattern_fail(tg_pattern_parser_t *pattern, const char *why);

/* Does text come next? */
int tg_pattern_is_next(const tg_pattern_parser_t *pattern, const char *text);
int tg_pattern_is_word_char(char c);

void tg_pattern_append_code_point(tg_buf_t *out, uint32_t code);
uint32_t tg_pattern_read_char(tg_pattern_parser_t *pattern);

/*
 * An escape that stands for one character; p is at what follows the
 * backslash.  TG_MISSING when it is none of those.
 */
int tg_pattern_parse_char_escape(tg_pattern_parser_t *pattern, uint32_t *code);
/* The same for one that stands for a set, such as \d; it is written. */
int tg_pattern_parse_set_escape(tg_pattern_parser_t *pattern, int is_in_class);
/* p is behind the opening bracket. */
int tg_pattern_parse_class(tg_pattern_parser_t *pattern);

#endif
