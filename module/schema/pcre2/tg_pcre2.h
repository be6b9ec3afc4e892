/*
 * The regular expression engine of schemas, on PCRE2, for the NGINX module and
 * the CLI. It compiles translated patterns (schema/tg_pattern.h). A regex
 * contains its match data, so it must be used by one thread at a time.
 */
#ifndef TG_PCRE2_H
#define TG_PCRE2_H

#include "schema/tg_schema.h"

const tg_schema_regex_engine_t *tg_pcre2_get_engine(void);

/* Returns 1 if a text with this start can match, or the pattern is invalid. */
int tg_pcre2_can_match_prefix(tg_str_t pattern, tg_str_t start);

#endif
