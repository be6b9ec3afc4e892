/*
 * Regular expressions for core's schemas, by PCRE2: the one adapter that
 * NGINX's module and the CLI share, so that both find the same matches.
 *
 * Patterns come translated (schema/tg_pattern.h).  Compiling and matching use
 * no global state; the match data of a regex is its own, so one regex
 * serves one thread.
 */
#ifndef TG_REGEX_H
#define TG_REGEX_H

#include "schema/tg_schema.h"

const tg_schema_regex_t *tg_regex_pcre2(void);

/*
 * May a text in which a pattern of a schema has a match begin with start?
 * 1 also for a pattern that cannot be compiled.
 */
int tg_regex_may_begin(tg_str_t pattern, tg_str_t start);

#endif
