/*
 * Regular expressions for core's schemas, by PCRE2: the one adapter that
 * NGINX's module and the CLI share, so that both find the same matches.
 *
 * Patterns come translated (schema/tg_pattern.h).  Compiling and matching use
 * no global state; the match data of a regex is its own, so one regex
 * serves one thread.
 */
#ifndef TG_PCRE2_H
#define TG_PCRE2_H

#include "schema/tg_schema.h"

const tg_schema_regex_engine_t *tg_pcre2_get_engine(void);

/*
 * May a text in which a pattern of a schema has a match begin with start?
 * 1 also for a pattern that cannot be compiled.
 */
int tg_pcre2_can_match_prefix(tg_str_t pattern, tg_str_t start);

#endif
