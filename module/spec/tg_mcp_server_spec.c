/* The members of the spec of an `mcp_server`. */
#include "spec/tg_mcp_server_spec.h"

#include "spec/tg_http_spec.h"

#define TG_MCP_SERVER_FIELD(text, kind, member)                                \
    .name = text, .type = kind, TG_FIELD_AT(tg_mcp_server_spec_t, member)
#define TG_MCP_SERVER_SPEC_ERROR                                               \
    "spec must be an object with share (all, user or connection), start (use " \
    "or boot), idle_ms (0 to 2147483647), start_ms (1 to 2147483647) and "     \
    "place (like key)"
#define TG_MCP_SERVER_PROGRAM_ERROR                                            \
    "exec must be a non-empty array of strings; env an array of strings; cwd " \
    "a string; memory and pids at least 1"
#define TG_MCP_SERVER_URL_ERROR                                                \
    "url must be an http or https URL; ca_file and proxy strings; headers "    \
    "and secrets arrays of at most 64 strings \"Name: value\"; connect_ms 1 "  \
    "to 3600000"

static const char *const tg_mcp_share_words[] = { "all", "user", "connection",
                                                  NULL };
static const char *const tg_mcp_start_words[] = { "use", "boot", NULL };

static const tg_spec_option_t tg_mcp_share_option = {
    .directive = "share",
    .syntax = TG_SPEC_WORD,
    .noun = "value",
    .expected = "one of all, user, connection",
};

static const tg_spec_option_t tg_mcp_idle_option = {
    .directive = "idle",
    .syntax = TG_SPEC_TIME_OR_OFF,
    .min = 1,
    .noun = "time",
    .expected = "a time such as \"10m\", or \"off\"",
};

static const tg_spec_option_t tg_mcp_start_timeout_option = {
    .directive = "start_timeout",
    .syntax = TG_SPEC_TIME,
    .noun = "time",
    .expected = "a time such as \"60s\"",
};

const tg_json_field_t tg_mcp_server_fields[] = {
    { TG_MCP_SERVER_FIELD("share", TG_FIELD_WORD, share),
      .words = tg_mcp_share_words, .why = TG_MCP_SERVER_SPEC_ERROR,
      .option = &tg_mcp_share_option },
    { TG_MCP_SERVER_FIELD("start", TG_FIELD_WORD, start),
      .words = tg_mcp_start_words, .why = TG_MCP_SERVER_SPEC_ERROR },
    { TG_MCP_SERVER_FIELD("idle_ms", TG_FIELD_INT, idle_ms), .max = INT32_MAX,
      .absent = TG_MCP_SERVER_IDLE_MS, .why = TG_MCP_SERVER_SPEC_ERROR,
      .option = &tg_mcp_idle_option },
    { TG_MCP_SERVER_FIELD("start_ms", TG_FIELD_INT, start_ms), .min = 1,
      .max = INT32_MAX, .absent = TG_MCP_SERVER_START_MS,
      .why = TG_MCP_SERVER_SPEC_ERROR, .option = &tg_mcp_start_timeout_option },
    { TG_MCP_SERVER_FIELD("place", TG_FIELD_STRING, place),
      .why = TG_MCP_SERVER_SPEC_ERROR },
    { TG_MCP_SERVER_FIELD("exec", TG_FIELD_STRINGS, program.argv), .min = 1,
      .why = TG_MCP_SERVER_PROGRAM_ERROR },
    { TG_MCP_SERVER_FIELD("env", TG_FIELD_STRINGS, program.env),
      .why = TG_MCP_SERVER_PROGRAM_ERROR },
    { TG_MCP_SERVER_FIELD("roots", TG_FIELD_RAW, roots) },
    { TG_MCP_SERVER_FIELD("pass", TG_FIELD_RAW, pass) },
    { TG_MCP_SERVER_FIELD("url", TG_FIELD_STRING, url),
      .why = TG_MCP_SERVER_URL_ERROR },
    { TG_MCP_SERVER_FIELD("headers", TG_FIELD_STRINGS, headers),
      .why = TG_MCP_SERVER_URL_ERROR },
    { TG_MCP_SERVER_FIELD("secrets", TG_FIELD_STRINGS, secrets),
      .why = TG_MCP_SERVER_URL_ERROR },
    { TG_MCP_SERVER_FIELD("ca_file", TG_FIELD_STRING, ca_file),
      .why = TG_MCP_SERVER_URL_ERROR },
    { TG_MCP_SERVER_FIELD("proxy", TG_FIELD_STRING, proxy),
      .why = TG_MCP_SERVER_URL_ERROR },
    { TG_MCP_SERVER_FIELD("connect_ms", TG_FIELD_INT, connect_ms), .min = 1,
      .max = TG_HTTP_CONNECT_MS_MAX, .why = TG_MCP_SERVER_URL_ERROR,
      .option = &tg_http_connect_timeout_option },
    { TG_MCP_SERVER_FIELD("cwd", TG_FIELD_STRING, program.cwd),
      .why = TG_MCP_SERVER_PROGRAM_ERROR },
    { TG_MCP_SERVER_FIELD("memory", TG_FIELD_INT, program.options.memory),
      .min = 1, .max = INT64_MAX, .why = TG_MCP_SERVER_PROGRAM_ERROR,
      .option = &tg_program_memory_option },
    { TG_MCP_SERVER_FIELD("pids", TG_FIELD_INT, program.options.pids), .min = 1,
      .max = INT64_MAX, .why = TG_MCP_SERVER_PROGRAM_ERROR,
      .option = &tg_program_pids_option },
    { .name = NULL },
};
