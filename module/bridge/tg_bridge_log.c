#include "bridge/tg_bridge.h"

#include "base/tg_utf8.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* One write of at most this size neither blocks a polled pipe nor mixes. */
#define TG_LOG_LINE 4096
/* What is shown of a message. */
#define TG_TRACE_MAX 2000

/*
 * Nobody may read our stderr, and a full pipe would stop the agent's tools
 * for ever: a line that cannot be written at once is dropped.
 */
static void
tg_bridge_write_line(const char *line, size_t len)
{
    struct pollfd fd;
    ssize_t n;

    fd.fd = STDERR_FILENO;
    fd.events = POLLOUT;
    fd.revents = 0;

    if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT)) {
        n = write(STDERR_FILENO, line, len);
        (void) n;
    }
}

void
tg_bridge_log(const char *format, ...)
{
    static const char prefix[] = "toolgate-bridge: ";
    char line[TG_LOG_LINE];
    va_list args;
    size_t at;
    int n;

    at = sizeof(prefix) - 1;
    memcpy(line, prefix, at);

    va_start(args, format);
    n = vsnprintf(line + at, sizeof(line) - at - 1, format, args);
    va_end(args);

    if (n < 0) {
        return;
    }

    at += (size_t) n < sizeof(line) - at - 2 ? (size_t) n
                                             : sizeof(line) - at - 2;
    line[at++] = '\n';
    tg_bridge_write_line(line, at);
}

static void
tg_bridge_trace_message(const char *where, const char *data, size_t len)
{
    char text[TG_TRACE_MAX + 1];
    size_t i, n;

    n = len < TG_TRACE_MAX ? len : TG_TRACE_MAX;

    for (i = 0; i < n; i++) {
        text[i] = (unsigned char) data[i] < 0x20 || data[i] == 0x7f ? '?'
                                                                    : data[i];
    }

    text[n] = '\0';

    if (n == len) {
        tg_bridge_log("%s %s", where, text);
    } else {
        tg_bridge_log("%s %s... (%zu bytes)", where, text, len);
    }
}

void
tg_bridge_trace(const char *where, const char *data, size_t len,
                int is_prefixed)
{
    const unsigned char *p;
    const char *end;
    size_t n, skip;

    while (len != 0) {
        skip = is_prefixed ? TG_FRAME_PREFIX_SIZE : 0;

        if (is_prefixed && len >= skip) {
            p = (const unsigned char *) data;
            n = (size_t) p[0] << 24 | (size_t) p[1] << 16 | (size_t) p[2] << 8
                | p[3];
            n = n < len - skip ? n + skip : len;

        } else {
            end = is_prefixed ? NULL : memchr(data, '\n', len);
            n = end != NULL ? (size_t) (end - data) + 1 : len;
        }

        if (n > skip) {
            tg_bridge_trace_message(where, data + skip,
                                    n - skip - (data[n - 1] == '\n' ? 1 : 0));
        }

        data += n;
        len -= n;
    }
}

void
tg_bridge_printable(char *dst, size_t size, const char *text)
{
    const char *end;
    size_t n, at;

    end = text + strlen(text);

    for (at = 0; text != end; text += n) {
        n = tg_utf8_length(text, end);

        if (at + (n != 0 ? n : 1) >= size) {
            break;
        }

        if (n == 0) {
            dst[at++] = '?';
            n = 1;
            continue;
        }

        memcpy(dst + at, text, n);
        at += n;
    }

    dst[at] = '\0';
}

void
tg_bridge_decode(char *dst, size_t size, tg_str_t body)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_put_decoded(&text, body);
    tg_buf_char(&text, '\0');
    tg_bridge_printable(dst, size,
                        tg_buf_failed(&text) ? "(no memory)" : text.data);
    tg_buf_deinit(&text);
}
