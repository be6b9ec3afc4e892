/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing
 * beyond U+10FFFF.
 */
#ifndef TG_UTF8_H
#define TG_UTF8_H

#include "base/tg_base.h"

/*
 * The length of the one sequence at p (1 to 4), or 0 when it is malformed or
 * cut off by end.  p < end.
 */
size_t tg_utf8_length(const char *p, const char *end);

/* The offset of the first malformed byte; len when there is none. */
size_t tg_utf8_check(const char *data, size_t len);

/* Writes code, at most U+10FFFF, to dst: 1 to 4 bytes, returned. */
size_t tg_utf8_encode(char *dst, uint32_t code);

static inline int
tg_utf8_is_valid(tg_str_t str)
{
    return tg_utf8_check(str.data, str.len) == str.len;
}

#endif
