/* Shared by tg_pattern.c and tg_pattern_escape.c. */
#ifndef TG_PATTERN_IMPL_H
#define TG_PATTERN_IMPL_H

#include "schema/tg_pattern.h"

/* Maximum nesting depth of groups; PCRE2 itself allows 250. */
#define TG_PATTERN_MAX_DEPTH 200
/* Maximum count in braces in PCRE2. */
#define TG_PATTERN_MAX_COUNT 65535

typedef struct {
    const char *start;
    const char *p;
    const char *end;
    tg_buf_t *out;
    const char *why;
    unsigned depth;    /* number of open groups */
    unsigned n_groups; /* number of capturing groups in the whole pattern */
    unsigned weight;
    unsigned chars_since_callout;
    int is_atom; /* 1: the last item may be repeated by a quantifier */
    /* 1 for each open group that is an assertion */
    uint8_t is_assertion[TG_PATTERN_MAX_DEPTH];
} tg_pattern_parser_t;

int tg_pattern_fail(tg_pattern_parser_t *pattern, const char *why);

int tg_pattern_is_next(const tg_pattern_parser_t *pattern, const char *text);
int tg_pattern_is_word_char(char c);

/* Appends a character in PCRE2 syntax: itself or \x{HEX}. */
void tg_pattern_append_code_point(tg_buf_t *out, uint32_t code);
/* Reads the next character of the text, which must be valid UTF-8. */
uint32_t tg_pattern_read_char(tg_pattern_parser_t *pattern);

/* Parses an escaped character after a backslash; else TG_MISSING. */
int tg_pattern_parse_char_escape(tg_pattern_parser_t *pattern, uint32_t *code);
/* Appends the characters of an escape such as \d; TG_MISSING: not a set. */
int tg_pattern_parse_set_escape(tg_pattern_parser_t *pattern, int is_in_class);
/* Appends the class after the opening bracket at p. */
int tg_pattern_parse_class(tg_pattern_parser_t *pattern);

#endif
