/* Log of the bridge on stderr. */
#include "bridge/tg_bridge.h"

#include "base/tg_throttle.h"
#include "base/tg_utf8.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Longest line. A write of up to PIPE_BUF does not block a pipe that poll()
 * reports as writable, and is not mixed with other output.
 */
#define TG_BRIDGE_LOG_LINE_MAX 4096
/* Number of bytes of a message that are logged. */
#define TG_BRIDGE_LOG_MESSAGE_MAX 2000
#define TG_BRIDGE_NS_PER_MS 1000000

/*
 * Drops the line if it cannot be written at once: a full pipe that nobody reads
 * would stop the bridge for ever.
 */
static void
tg_bridge_log_write(tg_str_t text)
{
    struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };
    char line[TG_BRIDGE_LOG_LINE_MAX];
    tg_buf_t buf;
    ssize_t n;

    buf = tg_buf_make_fixed(line, sizeof(line) - 1);
    tg_buf_append_cstr(&buf, "toolgate-bridge: ");
    tg_utf8_append_visible(&buf, text, 1);
    line[buf.len++] = '\n';

    if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT)) {
        n = write(STDERR_FILENO, line, buf.len);
        (void) n;
    }
}

void
tg_bridge_log(const char *format, ...)
{
    /* A server could cause a log line by each message. */
    static tg_throttle_t pace;

    char text[TG_BRIDGE_LOG_LINE_MAX];
    va_list args;
    int room;

    room = tg_throttle_take(&pace, TG_THROTTLE_WARNING_BURST,
                            uv_hrtime() / TG_BRIDGE_NS_PER_MS);

    if (room > 0) {
        va_start(args, format);
        (void) vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        tg_bridge_log_write(tg_str_from_cstr(text));

    } else if (room < 0) {
        tg_bridge_log_write(
            TG_STR("too many log lines at once; some are omitted"));
    }
}

/* Logs a message for debugging, without the limit on lines. */
static void
tg_bridge_log_message(const char *where, tg_str_t message)
{
    char text[TG_BRIDGE_LOG_MESSAGE_MAX + 64];
    tg_buf_t buf;

    buf = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_printf(&buf, "%s ", where);
    tg_buf_append(&buf, message.data,
                  message.len < TG_BRIDGE_LOG_MESSAGE_MAX
                      ? message.len
                      : TG_BRIDGE_LOG_MESSAGE_MAX);

    if (message.len > TG_BRIDGE_LOG_MESSAGE_MAX) {
        tg_buf_printf(&buf, "... (%zu bytes)", message.len);
    }

    tg_bridge_log_write(tg_buf_view(&buf));
}

void
tg_bridge_log_messages(const char *where, tg_frame_type_t kind, tg_str_t bytes)
{
    tg_str_t message;

    while (tg_frame_split(kind, &bytes, &message) != TG_END) {
        if (message.len != 0) {
            tg_bridge_log_message(where, message);
        }
    }
}

void
tg_bridge_copy_visible(char *dst, size_t size, tg_str_t text)
{
    tg_buf_t buf;

    buf = tg_buf_make_fixed(dst, size - 1);
    tg_utf8_append_visible(&buf, text, 1);
    dst[buf.len] = '\0';
}

void
tg_bridge_decode_visible(char *dst, size_t size, tg_str_t body)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, body);
    tg_bridge_copy_visible(dst, size,
                           tg_buf_has_failed(&text) ? TG_STR("(no memory)")
                                                    : tg_buf_view(&text));
    tg_buf_deinit(&text);
}
