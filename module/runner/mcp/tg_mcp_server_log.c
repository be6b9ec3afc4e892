/* Log messages of and about an MCP server, with a limited rate. */
#include "base/tg_utf8.h"
#include "runner/mcp/tg_mcp_server.h"
#include "runner/logging/tg_log.h"

#include <stdio.h>

int
tg_mcp_server_can_log(tg_mcp_server_t *server, int level)
{
    return tg_throttle_has_room(&server->logs[level < TG_LOG_INFO],
                                TG_THROTTLE_WARNING_BURST,
                                uv_now(server->timer.loop));
}

void
tg_mcp_server_log(tg_mcp_server_t *server, int level, const char *format, ...)
{
    char text[TG_MCP_SERVER_ERROR_MAX], line[TG_MCP_SERVER_ERROR_MAX];
    va_list args;
    tg_buf_t buf;
    int room;

    room = tg_throttle_take(&server->logs[level < TG_LOG_INFO],
                            TG_THROTTLE_WARNING_BURST,
                            uv_now(server->timer.loop));

    if (room == 0) {
        return;
    }

    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf = tg_buf_make_fixed(line, sizeof(line));
    tg_utf8_append_visible(&buf, tg_str_from_cstr(text), 1);
    tg_log((tg_log_level_t) level, "mcp_server %s: %.*s", server->spec.name,
           (int) buf.len, line);

    if (room < 0) {
        tg_log(TG_LOG_WARN,
               "mcp_server %s: too many log lines at once; some are omitted",
               server->spec.name);
    }
}
