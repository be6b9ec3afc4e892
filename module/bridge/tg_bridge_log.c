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
/* Lines at once: what a server does may be worth a line each time. */
#define TG_LOG_BURST 100
/* Nanoseconds until there is room for one more. */
#define TG_LOG_PACE 1000000000u

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

static void
tg_bridge_write(tg_str_t text)
{
    static const char prefix[] = "toolgate-bridge: ";
    char line[TG_LOG_LINE];
    size_t at;

    at = sizeof(prefix) - 1;
    memcpy(line, prefix, at);
    tg_bridge_printable(line + at, sizeof(line) - at - 1, text);
    at += strlen(line + at);
    line[at++] = '\n';
    tg_bridge_write_line(line, at);
}

/* Lines that may be written now: 0, 1, or -1 for the last of many. */
static int
tg_bridge_log_room(void)
{
    static uint64_t room = TG_LOG_BURST, last;
    uint64_t now;

    now = uv_hrtime() / TG_LOG_PACE;
    room += last != 0 ? now - last : 0;
    room = room < TG_LOG_BURST ? room : TG_LOG_BURST;
    last = now;

    if (room == 0) {
        return 0;
    }

    return --room != 0 ? 1 : -1;
}

void
tg_bridge_log(const char *format, ...)
{
    char text[TG_LOG_LINE];
    va_list args;
    int room;

    room = tg_bridge_log_room();

    if (room > 0) {
        va_start(args, format);
        (void) vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        tg_bridge_write(tg_str_c(text));

    } else if (room < 0) {
        tg_bridge_write(TG_STR("too many lines at once, some are left out"));
    }
}

/* Of what is traced no line is left out. */
static void
tg_bridge_trace_message(const char *where, const char *data, size_t len)
{
    char text[TG_TRACE_MAX + 64];
    size_t n, at;

    n = len < TG_TRACE_MAX ? len : TG_TRACE_MAX;
    at = (size_t) snprintf(text, 32, "%s ", where);
    memcpy(text + at, data, n);
    at += n;

    if (n != len) {
        at += (size_t) snprintf(text + at, 32, "... (%zu bytes)", len);
    }

    tg_bridge_write(tg_str(text, at));
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
tg_bridge_printable(char *dst, size_t size, tg_str_t text)
{
    const char *p, *end, *part;
    char escape[8];
    size_t n, at, len;
    unsigned c;

    end = text.data + text.len;

    for (p = text.data, at = 0; p != end; p += n) {
        n = tg_utf8_length(p, end);
        c = (unsigned char) p[0];

        /* U+0080 to U+009F, which some terminals obey. */
        if (n == 2 && c == 0xc2 && (unsigned char) p[1] < 0xa0) {
            c = (unsigned char) p[1];
        }

        part = p;
        len = n;

        if (n == 0) {
            part = "?";
            len = n = 1;

        } else if (c < ' ' || (c >= 0x7f && c < 0xa0)) {
            len = (size_t) snprintf(escape, sizeof(escape), "\\u%04x", c);
            part = escape;
        }

        if (at + len >= size) {
            break;
        }

        memcpy(dst + at, part, len);
        at += len;
    }

    dst[at] = '\0';
}

void
tg_bridge_decode(char *dst, size_t size, tg_str_t body)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_put_decoded(&text, body);
    tg_bridge_printable(dst, size,
                        tg_buf_failed(&text) ? TG_STR("(no memory)")
                                             : tg_buf_view(&text));
    tg_buf_deinit(&text);
}
