/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing
 * beyond U+10FFFF.
 */
#ifndef TG_UTF8_H
#define TG_UTF8_H

#include "base/tg_buf.h"

/*
 * The length of the one sequence at p (1 to 4), or 0 when it is malformed or
 * cut off by end.  p < end.
 */
size_t tg_utf8_sequence_len(const char *p, const char *end);

/* The offset of the first malformed byte; len when there is none. */
size_t tg_utf8_find_invalid(const char *data, size_t len);

/* Writes code, at most U+10FFFF, to dst: 1 to 4 bytes, returned. */
size_t tg_utf8_encode(char *dst, uint32_t code);

/* Bytes of the first n characters of valid text. */
size_t tg_utf8_prefix_len(tg_str_t text, size_t n);

static inline int
tg_utf8_is_valid(tg_str_t str)
{
    return tg_utf8_find_invalid(str.data, str.len) == str.len;
}

/* Appends valid text as it is, and U+FFFD for each byte that is of none. */
void tg_utf8_append_lossy(tg_buf_t *buf, tg_str_t bytes);

/*
 * Appends text for people: what is not UTF-8 becomes \ufffd; control
 * characters of both sets and the marks that turn the direction of what
 * follows, so that it reads as something else, are escaped as in JSON.  Line
 * ends and tabs are such characters with is_one_line only.  A buffer that
 * cannot grow has what fits, up to a whole character.
 */
void tg_utf8_append_visible(tg_buf_t *buf, tg_str_t text, int is_one_line);

/*
 * The offset of the first character that would be escaped so on one line, but
 * for those below U+0020; text.len when there is none.
 */
size_t tg_utf8_find_unsafe(tg_str_t text, uint32_t *code, size_t *len);

#endif
