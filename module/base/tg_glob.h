/*
 * Patterns of names, and of file names:
 *
 *     *.c  src/?.h  [a-z]*.[!o]  **.txt
 *
 * A pattern without a slash matches the last name of a path, a pattern with a
 * slash the whole path. Only ** matches slashes; ** followed by a slash
 * matches any number of folders, or none. A backslash makes the next character
 * literal.
 */
#ifndef TG_GLOB_H
#define TG_GLOB_H

#include "base/tg_base.h"

/* Largest pattern in bytes. */
#define TG_PATH_GLOB_LEN_MAX 256

/* Returns NULL if the pattern is valid, otherwise what is wrong. */
const char *tg_path_glob_check(tg_str_t pattern);

/* Checks whether a relative path matches a valid pattern. */
int tg_path_glob_match(tg_str_t pattern, tg_str_t path);

/* Checks whether a name matches a pattern: `*` matches any bytes, `?` one. */
int tg_glob_match(tg_str_t pattern, tg_str_t name);

#endif
