/*
 * Checks server-sent events: however the bytes are cut, the same events come
 * out, and they are those that a simple, line by line implementation of the
 * standard finds.
 *
 * Input: the limit, cut, bytes.
 */
#include "help.h"

#include "protocol/tg_sse.h"

static void
sse_log(tg_buf_t *log, tg_str_t type, tg_str_t data)
{
    tg_buf_append_cstr(log, "event ");
    tg_buf_append_str(log, type);
    tg_buf_append_char(log, ' ');
    tg_buf_append_str(log, data);
    tg_buf_append_char(log, '\n');
}

static void
sse_log_end(tg_buf_t *log, int rc, uint64_t retry, tg_str_t last)
{
    if (rc == TG_AGAIN) {
        tg_buf_append_uint(log, retry);
        tg_buf_append_str(log, last);
    } else {
        tg_buf_append_cstr(log, "too large");
    }
}

static void
sse_run(size_t max, uint32_t seed, tg_str_t text, tg_buf_t *log)
{
    size_t at, n, part, done;
    tg_sse_event_t event;
    tg_sse_t sse;
    char *copy;
    int rc;

    tg_sse_init(&sse, tg_alloc_libc(), max);
    rc = TG_AGAIN;

    for (at = 0; at < text.len && rc == TG_AGAIN; at += n) {
        n = fuzz_piece(&seed, text.len - at);
        copy = help_copy(tg_str(text.data + at, n));

        for (done = 0;
             (rc = tg_sse_next(&sse, copy + done, n - done, &part, &event))
             == TG_OK;
             done += part)
        {
            FUZZ(part <= n - done && event.data.len <= max);
            sse_log(log, event.type, event.data);
        }

        FUZZ(rc == TG_LIMIT || part == n - done);
        free(copy);
    }

    sse_log_end(log, rc, sse.retry, tg_sse_last_id(&sse));
    tg_sse_deinit(&sse);
}

/* --- a simple implementation for a whole text --- */

typedef struct {
    size_t max;
    tg_buf_t data;
    tg_str_t type;
    tg_str_t id;
    tg_str_t last;
    uint64_t retry;
    int has_data;
} sse_plain_t;

/* Reads the next line, without its end; returns 0 after the last line. */
static int
sse_line(tg_str_t *text, tg_str_t *line)
{
    size_t n, end;

    for (n = 0; n < text->len && text->data[n] != '\n' && text->data[n] != '\r';
         n++)
    {
        /* void */
    }

    if (n == text->len) {
        return 0;
    }

    *line = tg_str(text->data, n);
    end = n + 1;

    if (text->data[n] == '\r' && end < text->len && text->data[end] == '\n') {
        end++;
    }

    text->data += end;
    text->len -= end;

    return 1;
}

static void
sse_plain_retry(sse_plain_t *plain, tg_str_t value)
{
    uint64_t ms;
    size_t i;

    for (i = 0, ms = 0; i < value.len && tg_is_digit(value.data[i]); i++) {
        ms = ms * 10 + (uint64_t) (value.data[i] - '0');
    }

    if (i != 0 && i == value.len && i < 10) {
        plain->retry = ms;
    }
}

static int
sse_plain_field(sse_plain_t *plain, tg_str_t name, tg_str_t value)
{
    if (tg_str_eq(name, TG_STR("data"))) {
        tg_buf_append(&plain->data, "\n", plain->has_data);
        tg_buf_append_str(&plain->data, value);
        plain->has_data = 1;
        return plain->data.len <= plain->max;
    }

    if (value.len > TG_SSE_VALUE_MAX) {
        value = TG_STR("");
    }

    if (tg_str_eq(name, TG_STR("event"))) {
        plain->type = value;
    } else if (tg_str_eq(name, TG_STR("id"))) {
        if (memchr(value.data, '\0', value.len) == NULL) {
            plain->id = value;
        }
    } else if (tg_str_eq(name, TG_STR("retry"))) {
        sse_plain_retry(plain, value);
    }

    return 1;
}

static int
sse_plain_line(sse_plain_t *plain, tg_str_t line, tg_buf_t *log)
{
    const char *colon;
    tg_str_t value;
    size_t n;

    if (line.len == 0) {
        plain->last = plain->id;

        if (plain->has_data) {
            sse_log(log, plain->type, tg_buf_view(&plain->data));
        }

        tg_buf_reset(&plain->data, 0);
        plain->has_data = 0;
        plain->type = TG_STR("");
        return 1;
    }

    colon = memchr(line.data, ':', line.len);
    n = colon != NULL ? (size_t) (colon - line.data) : line.len;
    value = colon != NULL ? tg_str(colon + 1, line.len - n - 1) : TG_STR("");

    if (value.len != 0 && value.data[0] == ' ') {
        value.data++;
        value.len--;
    }

    return sse_plain_field(plain, tg_str(line.data, n), value);
}

static void
sse_plain(size_t max, tg_str_t text, tg_buf_t *log)
{
    sse_plain_t plain;
    tg_str_t line;
    int is_ok;

    memset(&plain, 0, sizeof(plain));
    plain.max = max;
    plain.type = TG_STR("");
    plain.id = TG_STR("");
    plain.last = TG_STR("");
    tg_buf_init(&plain.data, tg_alloc_libc());
    is_ok = 1;

    if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        text.data += 3;
        text.len -= 3;
    }

    while (is_ok && sse_line(&text, &line)) {
        is_ok = sse_plain_line(&plain, line, log);
    }

    /* The data of an unfinished line count towards the limit. */
    if (is_ok && text.len >= 5 && memcmp(text.data, "data:", 5) == 0) {
        is_ok = sse_plain_line(&plain, text, log);
    }

    sse_log_end(log, is_ok ? TG_AGAIN : TG_LIMIT, plain.retry, plain.last);
    tg_buf_deinit(&plain.data);
}

FUZZ_TARGET(in)
{
    HELP_BUFFER(whole);
    HELP_BUFFER(cut);
    HELP_BUFFER(plain);
    uint32_t seed;
    tg_str_t text;
    size_t max;

    max = fuzz_byte(&in);
    seed = fuzz_byte(&in);
    text = fuzz_rest(&in);
    sse_run(max, 0, text, &whole);
    sse_run(max, seed, text, &cut);
    sse_plain(max, text, &plain);
    FUZZ_EQ(tg_buf_view(&whole), tg_buf_view(&cut));
    FUZZ_EQ(tg_buf_view(&whole), tg_buf_view(&plain));
}
