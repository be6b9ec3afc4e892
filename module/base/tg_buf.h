/*
 * A growing byte buffer. Failure is sticky: after a failed allocation every
 * write does nothing and tg_buf_has_failed() returns 1, so a writer checks
 * once, at the end. Bytes written before stay.
 */
#ifndef TG_BUF_H
#define TG_BUF_H

#include "base/tg_base.h"

#include <stdarg.h>

typedef struct {
    const tg_alloc_t *alloc;
    char *data;
    size_t len;
    size_t cap;
    int failed;
} tg_buf_t;

void tg_buf_init(tg_buf_t *buf, const tg_alloc_t *alloc);
void tg_buf_deinit(tg_buf_t *buf);

/*
 * Returns a buffer in the caller's memory. A write beyond size bytes fails. The
 * buffer needs no tg_buf_deinit().
 */
tg_buf_t tg_buf_make_fixed(char *room, size_t size);

/* Ensures space for `more` bytes after buf->len. Returns TG_OK or TG_NOMEM. */
int tg_buf_reserve(tg_buf_t *buf, size_t more);

/*
 * Returns space for `more` bytes, valid until the next write, or NULL if there
 * is no memory. The caller adds the number of written bytes to buf->len.
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

/* Appends to a buffer that must grow or has failed. */
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

/* Appends formatted text. Slow: not for the path of each call. */
void tg_buf_printf(tg_buf_t *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tg_buf_vprintf(tg_buf_t *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void tg_buf_append_uint(tg_buf_t *buf, uint64_t value);
void tg_buf_append_int(tg_buf_t *buf, int64_t value);

/* Appends a Unix time in ms as ISO 8601, UTC: 2026-11-22T08:15:03.978Z. */
void tg_buf_append_time(tg_buf_t *buf, uint64_t ms);

/* Truncates to at most len bytes and clears a failure. */
void tg_buf_truncate(tg_buf_t *buf, size_t len);

void tg_buf_consume(tg_buf_t *buf, size_t len);

/* Empties the buffer, clears a failure, and frees more than keep bytes. */
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
