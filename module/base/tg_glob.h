/*
 * Patterns of names and of file names, such as [a-z]*.[!o] and **.txt.
 * Without a slash a pattern matches the last name of a path, with one the whole
 * path. Only ** matches slashes; ** and a slash match any number of folders. A
 * backslash makes the next character literal.
 */
#ifndef TG_GLOB_H
#define TG_GLOB_H

#include "base/tg_base.h"

#define TG_PATH_GLOB_LEN_MAX 256

/* Returns NULL if the pattern is valid, otherwise what is wrong. */
const char *tg_path_glob_check(tg_str_t pattern);

/* Checks whether a relative path matches a valid pattern. */
int tg_path_glob_match(tg_str_t pattern, tg_str_t path);

/* Checks whether a name matches a pattern: `*` matches any bytes, `?` one. */
int tg_glob_match(tg_str_t pattern, tg_str_t name);

#endif
