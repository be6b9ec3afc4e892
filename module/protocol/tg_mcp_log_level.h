/* Severity levels of MCP's log messages (RFC 5424). */
#ifndef TG_MCP_LOG_LEVEL_H
#define TG_MCP_LOG_LEVEL_H

#include "base/tg_json.h"

typedef enum {
    TG_MCP_LOG_NONE, /* not a level: no messages are wanted */
    TG_MCP_LOG_DEBUG,
    TG_MCP_LOG_INFO,
    TG_MCP_LOG_NOTICE,
    TG_MCP_LOG_WARNING,
    TG_MCP_LOG_ERROR,
    TG_MCP_LOG_CRITICAL,
    TG_MCP_LOG_ALERT,
    TG_MCP_LOG_EMERGENCY
} tg_mcp_log_level_t;

/*
 * Parses a raw JSON string with the name of a level. Returns TG_MCP_LOG_NONE if
 * it is anything else.
 */
tg_mcp_log_level_t tg_mcp_log_level_parse(tg_str_t raw);

/* Returns the name of a level other than TG_MCP_LOG_NONE. */
const char *tg_mcp_log_level_get_name(tg_mcp_log_level_t level);

#endif
