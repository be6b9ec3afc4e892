/* Names of the levels of MCP's log messages. */
#include "protocol/tg_mcp_log_level.h"

static const char *const tg_mcp_log_levels[] = {
    "debug",    "info",  "notice",    "warning", "error",
    "critical", "alert", "emergency", NULL,
};

tg_mcp_log_level_t
tg_mcp_log_level_parse(tg_str_t raw)
{
    /* The first name has the value 1. */
    return (tg_mcp_log_level_t) (tg_json_string_find(raw, tg_mcp_log_levels)
                                 + 1);
}

const char *
tg_mcp_log_level_get_name(tg_mcp_log_level_t level)
{
    return tg_mcp_log_levels[level - 1];
}
