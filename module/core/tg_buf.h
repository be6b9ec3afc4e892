/*
 * A growing run of bytes.
 *
 * Failure is sticky: once memory ran out, every further write is a no-op and
 * tg_buf_failed() says so, so that a writer checks once, at its end.  What
 * was written before the failure stays.
 */
#ifndef TG_BUF_H
#define TG_BUF_H

#include "core/tg_base.h"

typedef struct {
    const tg_alloc_t *alloc;
    char *data;
    size_t len; /* bytes written */
    size_t cap;
    int failed;
} tg_buf_t;

void tg_buf_init(tg_buf_t *buf, const tg_alloc_t *alloc);
void tg_buf_deinit(tg_buf_t *buf);

/* Room for more bytes behind len: TG_OK or TG_NOMEM. */
int tg_buf_reserve(tg_buf_t *buf, size_t more);

void tg_buf_put(tg_buf_t *buf, const char *data, size_t len);
void tg_buf_str(tg_buf_t *buf, tg_str_t str);
void tg_buf_text(tg_buf_t *buf, const char *text);
void tg_buf_char(tg_buf_t *buf, char c);
void tg_buf_uint(tg_buf_t *buf, uint64_t value);
void tg_buf_int(tg_buf_t *buf, int64_t value);

/* Back to a length that was seen before; clears a failure after it. */
void tg_buf_truncate(tg_buf_t *buf, size_t len);

/* Drops the first len bytes and moves the rest to the front. */
void tg_buf_drop(tg_buf_t *buf, size_t len);

/* Gives the memory back when it is larger than keep; the buffer is empty. */
void tg_buf_reset(tg_buf_t *buf, size_t keep);

static inline int
tg_buf_failed(const tg_buf_t *buf)
{
    return buf->failed;
}

static inline tg_str_t
tg_buf_view(const tg_buf_t *buf)
{
    return tg_str(buf->data != NULL ? buf->data : "", buf->len);
}

#endif
