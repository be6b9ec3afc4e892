/* The growing byte buffer: memory, printf-style formatting, numbers, times. */
#include "base/tg_buf.h"

#include <inttypes.h>
#include <stdio.h>

/* Size of the first allocation: enough for a usual response. */
#define TG_BUF_MIN_CAPACITY 512

void
tg_buf_init(tg_buf_t *buf, const tg_alloc_t *alloc)
{
    memset(buf, 0, sizeof(*buf));
    buf->alloc = alloc;
}

static void *
tg_buf_fail_alloc(void *ctx, void *ptr, size_t size)
{
    return NULL;
}

tg_buf_t
tg_buf_make_fixed(char *room, size_t size)
{
    static const tg_alloc_t none = { tg_buf_fail_alloc, NULL };

    return (tg_buf_t){ .alloc = &none, .data = room, .cap = size };
}

void
tg_buf_deinit(tg_buf_t *buf)
{
    tg_free(buf->alloc, buf->data);
    buf->data = NULL;
    buf->len = 0;
    buf->cap = 0;
}

int
tg_buf_reserve(tg_buf_t *buf, size_t more)
{
    size_t cap;
    void *data;

    if (buf->failed) {
        return TG_NOMEM;
    }

    if (more <= buf->cap - buf->len) {
        return TG_OK;
    }

    if (more > SIZE_MAX / 4 || buf->len > SIZE_MAX / 4) {
        buf->failed = 1;
        return TG_NOMEM;
    }

    cap = buf->cap ? buf->cap * 2 : TG_BUF_MIN_CAPACITY;

    /* Keep spare space, so that the end of a large text does not reallocate. */
    if (cap < buf->len + more) {
        cap = buf->len + more + TG_BUF_MIN_CAPACITY;
    }

    data = buf->alloc->resize(buf->alloc->ctx, buf->data, cap);

    if (data == NULL) {
        buf->failed = 1;
        return TG_NOMEM;
    }

    buf->data = data;
    buf->cap = cap;

    return TG_OK;
}

void
tg_buf_append_slow(tg_buf_t *buf, const char *data, size_t len)
{
    if (len == 0 || tg_buf_reserve(buf, len) != TG_OK) {
        return;
    }

    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

void
tg_buf_vprintf(tg_buf_t *buf, const char *format, va_list args)
{
    char room[512];
    va_list again;
    size_t len;

    va_copy(again, args);
    len = (size_t) vsnprintf(room, sizeof(room), format, args);

    if (len < sizeof(room)) {
        tg_buf_append(buf, room, len);

    } else if (tg_buf_reserve(buf, len + 1) == TG_OK) {
        (void) vsnprintf(buf->data + buf->len, len + 1, format, again);
        buf->len += len;
    }

    va_end(again);
}

void
tg_buf_printf(tg_buf_t *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tg_buf_vprintf(buf, format, args);
    va_end(args);
}

void
tg_buf_append_uint(tg_buf_t *buf, uint64_t value)
{
    char digits[20];
    size_t at;

    at = sizeof(digits);

    do {
        digits[--at] = (char) ('0' + value % 10);
        value /= 10;
    } while (value != 0);

    tg_buf_append(buf, digits + at, sizeof(digits) - at);
}

void
tg_buf_append_int(tg_buf_t *buf, int64_t value)
{
    if (value < 0) {
        tg_buf_append_char(buf, '-');
        tg_buf_append_uint(buf, ~(uint64_t) value + 1);
        return;
    }

    tg_buf_append_uint(buf, (uint64_t) value);
}

void
tg_buf_append_time(tg_buf_t *buf, uint64_t ms)
{
    uint64_t day, era, year, seconds, month;

    /* In years from March 1st, month lengths follow a regular pattern. */
    seconds = ms / 1000;
    day = seconds / 86400 + 719468;
    era = day / 146097;
    day %= 146097;
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    year += 400 * era + (month >= 10);
    month = month < 10 ? month + 3 : month - 9;

    tg_buf_printf(buf,
                  "%04" PRIu64 "-%02" PRIu64 "-%02" PRIu64 "T%02" PRIu64
                  ":%02" PRIu64 ":%02" PRIu64 ".%03" PRIu64 "Z",
                  year, month, day + 1, seconds / 3600 % 24, seconds / 60 % 60,
                  seconds % 60, ms % 1000);
}

void
tg_buf_truncate(tg_buf_t *buf, size_t len)
{
    buf->len = len;
    buf->failed = 0;
}

void
tg_buf_consume(tg_buf_t *buf, size_t len)
{
    if (len == 0) {
        return;
    }

    buf->len -= len;

    if (buf->len != 0) {
        memmove(buf->data, buf->data + len, buf->len);
    }
}

void
tg_buf_reset(tg_buf_t *buf, size_t keep)
{
    if (buf->cap > keep) {
        tg_free(buf->alloc, buf->data);
        buf->data = NULL;
        buf->cap = 0;
    }

    buf->len = 0;
    buf->failed = 0;
}
