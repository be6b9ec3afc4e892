/*
 * A growing run of bytes.
 *
 * Failure is sticky: once memory ran out, every further write is a no-op and
 * tg_buf_has_failed() says so, so that a writer checks once, at its end.  What
 * was written before the failure stays.
 */
#ifndef TG_BUF_H
#define TG_BUF_H

#include "base/tg_base.h"

#include <stdarg.h>

typedef struct {
    const tg_alloc_t *alloc;
    char *data;
    size_t len; /* bytes written */
    size_t cap;
    int failed;
} tg_buf_t;

void tg_buf_init(tg_buf_t *buf, const tg_alloc_t *alloc);
void tg_buf_deinit(tg_buf_t *buf);

/*
 * One that never grows: it writes to room, of the caller's, and fails beyond.
 * Nothing needs to be freed.
 */
tg_buf_t tg_buf_make_fixed(char *room, size_t size);

/* Room for more bytes behind len: TG_OK or TG_NOMEM. */
int tg_buf_reserve(tg_buf_t *buf, size_t more);

/* The same for who writes there itself, and adds to len: where, or NULL. */
static inline char *
tg_buf_reserve_space(tg_buf_t *buf, size_t more)
{
    if ((more > buf->cap - buf->len || buf->failed)
        && tg_buf_reserve(buf, more) != TG_OK)
    {
        return NULL;
    }

    return buf->data + buf->len;
}

/* Puts where it must grow, or has failed. */
void tg_buf_append_slow(tg_buf_t *buf, const char *data, size_t len);

static inline void
tg_buf_append(tg_buf_t *buf, const char *data, size_t len)
{
    if (len == 0 || len > buf->cap - buf->len || buf->failed) {
        tg_buf_append_slow(buf, data, len);
        return;
    }

    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

static inline void
tg_buf_append_str(tg_buf_t *buf, tg_str_t str)
{
    tg_buf_append(buf, str.data, str.len);
}

static inline void
tg_buf_append_cstr(tg_buf_t *buf, const char *text)
{
    tg_buf_append(buf, text, strlen(text));
}

static inline void
tg_buf_append_char(tg_buf_t *buf, char c)
{
    tg_buf_append(buf, &c, 1);
}

/* As printf() does, for what is written seldom. */
void tg_buf_printf(tg_buf_t *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tg_buf_vprintf(tg_buf_t *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void tg_buf_append_uint(tg_buf_t *buf, uint64_t value);
void tg_buf_append_int(tg_buf_t *buf, int64_t value);

/* Milliseconds of Unix time as ISO 8601: 2026-11-22T08:15:03.978Z. */
void tg_buf_append_time(tg_buf_t *buf, uint64_t ms);

/* Back to a length that was seen before; clears a failure after it. */
void tg_buf_truncate(tg_buf_t *buf, size_t len);

/* Drops the first len bytes and moves the rest to the front. */
void tg_buf_consume(tg_buf_t *buf, size_t len);

/* Gives the memory back when it is larger than keep; the buffer is empty. */
void tg_buf_reset(tg_buf_t *buf, size_t keep);

static inline int
tg_buf_has_failed(const tg_buf_t *buf)
{
    return buf->failed;
}

static inline tg_str_t
tg_buf_view(const tg_buf_t *buf)
{
    return tg_str(buf->data != NULL ? buf->data : "", buf->len);
}

#endif
