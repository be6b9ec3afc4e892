/*
 * Patterns of file names:
 *
 *     *.c  src/?.h  [a-z]*.[!o]  **.txt
 *
 * One without a slash is about the last name of a path; one with a slash is
 * about all of it.  Only ** goes over slashes, and with a slash behind it
 * stands for any number of folders, or none.  A backslash takes away what the
 * next character means.
 */
#ifndef TG_PATH_GLOB_H
#define TG_PATH_GLOB_H

#include "base/tg_base.h"

/* Bytes of a pattern. */
#define TG_PATH_GLOB_LEN_MAX 256

/* NULL, or what is wrong with it. */
const char *tg_path_glob_check(tg_str_t pattern);

/* Does it match a path, which is relative?  The pattern was checked. */
int tg_path_glob_match(tg_str_t pattern, tg_str_t path);

#endif
