/* UTF-8 by RFC 3629: no overlong forms, no surrogates, at most U+10FFFF. */
#ifndef TG_UTF8_H
#define TG_UTF8_H

#include "base/tg_buf.h"

/* Returns the length, 1 to 4, or 0 if invalid or cut off; needs p < end. */
size_t tg_utf8_sequence_len(const char *p, const char *end);

size_t tg_utf8_find_invalid(const char *data, size_t len);

/* Encodes code, at most U+10FFFF, to dst. Returns the length, 1 to 4 bytes. */
size_t tg_utf8_encode(char *dst, uint32_t code);

/* Returns the length of the whole characters in at most max bytes. */
size_t tg_utf8_truncated_len(tg_str_t text, size_t max);

/* Returns the length in bytes of the first n characters of valid text. */
size_t tg_utf8_prefix_len(tg_str_t text, size_t n);

static inline int
tg_utf8_is_valid(tg_str_t str)
{
    return tg_utf8_find_invalid(str.data, str.len) == str.len;
}

/* Appends valid text unchanged, and U+FFFD for each invalid byte. */
void tg_utf8_append_lossy(tg_buf_t *buf, tg_str_t bytes);

/*
 * Appends text for display. Invalid bytes become \ufffd. Control characters
 * (C0, C1) and marks of text direction, which could mislead readers, are
 * escaped as in JSON, line feeds and tabs only if is_one_line is set. A fixed
 * buffer gets the whole characters that fit.
 */
void tg_utf8_append_visible(tg_buf_t *buf, tg_str_t text, int is_one_line);

/*
 * Returns the offset of the first character that tg_utf8_append_visible() would
 * escape on one line, except those below U+0020 and invalid bytes, or text.len.
 * Stores its code point and length in bytes.
 */
size_t tg_utf8_find_unsafe(tg_str_t text, uint32_t *code, size_t *len);

#endif
