/*
 * A growing byte buffer.
 *
 * Failure is sticky: once an allocation has failed, every further write does
 * nothing and tg_buf_has_failed() returns 1. So a writer checks once, at the
 * end. Bytes written before the failure stay.
 */
#ifndef TG_BUF_H
#define TG_BUF_H

#include "base/tg_base.h"

#include <stdarg.h>

typedef struct {
    const tg_alloc_t *alloc;
    char *data;
    size_t len; /* number of bytes written */
    size_t cap;
    int failed;
} tg_buf_t;

void tg_buf_init(tg_buf_t *buf, const tg_alloc_t *alloc);
void tg_buf_deinit(tg_buf_t *buf);

/*
 * Returns a buffer of fixed size that writes to the caller's memory `room`. A
 * write beyond size bytes fails. The buffer needs no tg_buf_deinit().
 */
tg_buf_t tg_buf_make_fixed(char *room, size_t size);

/* Ensures space for `more` bytes after buf->len. Returns TG_OK or TG_NOMEM. */
int tg_buf_reserve(tg_buf_t *buf, size_t more);

/*
 * Ensures space for `more` bytes and returns a pointer to that space, or NULL
 * if there is no memory. The caller writes there and adds the number of
 * written bytes to buf->len. The pointer is valid until the next write to the
 * buffer.
 */
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

/*
 * Appends bytes if tg_buf_append() cannot: the buffer must grow or has failed.
 */
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

/*
 * Appends text formatted as by printf(). Slow: not for the path of each call.
 */
void tg_buf_printf(tg_buf_t *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends text formatted as by vprintf(). */
void tg_buf_vprintf(tg_buf_t *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void tg_buf_append_uint(tg_buf_t *buf, uint64_t value);
void tg_buf_append_int(tg_buf_t *buf, int64_t value);

/* Appends a Unix time in ms as ISO 8601, UTC: 2026-11-22T08:15:03.978Z. */
void tg_buf_append_time(tg_buf_t *buf, uint64_t ms);

/*
 * Truncates the buffer to len bytes, at most its length, and clears a failure.
 */
void tg_buf_truncate(tg_buf_t *buf, size_t len);

/* Removes the first len bytes and moves the rest to the front. */
void tg_buf_consume(tg_buf_t *buf, size_t len);

/*
 * Empties the buffer and clears a failure. Frees the memory if its capacity is
 * larger than keep bytes.
 */
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
