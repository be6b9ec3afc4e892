/*
 * What is logged of an MCP server: its own lines and ours about it, neither
 * without end.
 */
#include "base/tg_utf8.h"
#include "runner/mcp/tg_server.h"
#include "runner/tg_log.h"

#include <stdio.h>

int
tg_server_may_log(tg_server_t *server, int level)
{
    return tg_pace_has_room(&server->logs[level < TG_LOG_INFO],
                            TG_PACE_WARNINGS, uv_now(server->timer.loop));
}

void
tg_server_log(tg_server_t *server, int level, const char *format, ...)
{
    char text[TG_SERVER_ERROR_MAX], line[TG_SERVER_ERROR_MAX];
    va_list args;
    tg_buf_t buf;
    int room;

    room = tg_pace_take(&server->logs[level < TG_LOG_INFO], TG_PACE_WARNINGS,
                        uv_now(server->timer.loop));

    if (room == 0) {
        return;
    }

    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf = tg_buf_fixed(line, sizeof(line));
    tg_utf8_put_visible(&buf, tg_str_c(text), 1);
    tg_log((tg_log_level_t) level, "mcp_server %s: %.*s", server->spec.name,
           (int) buf.len, line);

    if (room < 0) {
        tg_log(TG_LOG_WARN,
               "mcp_server %s: too many lines at once, some are left out",
               server->spec.name);
    }
}
