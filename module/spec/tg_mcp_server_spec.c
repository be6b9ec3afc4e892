/* The members of the spec of an `mcp_server`. */
#include "spec/tg_mcp_server_spec.h"

#include "spec/tg_http_spec.h"

static const char *const tg_mcp_share_words[] = { "all", "user", "connection",
                                                  NULL };
static const char *const tg_mcp_start_words[] = { "use", "boot", NULL };

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
/* A member, and the group that has one error message. */
#define MEMBER(text, type, member, group)                                      \
    TG_FIELD(tg_mcp_server_spec_t, text, TG_FIELD_##type, member),             \
        .why = TG_MCP_SERVER_##group##_ERROR

const tg_json_field_t tg_mcp_server_fields[] = {
    { MEMBER("share", WORD, share, SPEC), .words = tg_mcp_share_words,
      TG_OPTION("share", .syntax = TG_SPEC_WORD) },
    { MEMBER("start", WORD, start, SPEC), .words = tg_mcp_start_words },
    { MEMBER("idle_ms", INT, idle_ms, SPEC), .max = INT32_MAX,
      .absent = TG_MCP_SERVER_IDLE_MS,
      TG_OPTION("idle", .syntax = TG_SPEC_TIME_OR_OFF, .min = 1,
                .expected = "a time such as \"10m\", or \"off\"") },
    { MEMBER("start_ms", INT, start_ms, SPEC), .min = 1, .max = INT32_MAX,
      .absent = TG_MCP_SERVER_START_MS,
      TG_OPTION("start_timeout", .syntax = TG_SPEC_TIME,
                .expected = "a time such as \"60s\"") },
    { MEMBER("place", STRING, place, SPEC) },
    { MEMBER("exec", STRINGS, program.argv, PROGRAM), .min = 1 },
    { MEMBER("env", STRINGS, program.env, PROGRAM) },
    { MEMBER("roots", RAW, roots, SPEC) },
    { MEMBER("pass", RAW, pass, SPEC) },
    { MEMBER("url", STRING, url, URL) },
    { MEMBER("headers", STRINGS, headers, URL) },
    { MEMBER("secrets", STRINGS, secrets, URL) },
    { MEMBER("ca_file", STRING, ca_file, URL) },
    { MEMBER("proxy", STRING, proxy, URL) },
    { MEMBER("connect_ms", INT, connect_ms, URL), .min = 1,
      .max = TG_HTTP_CONNECT_MS_MAX, TG_CONNECT_TIMEOUT_OPTION },
    { MEMBER("cwd", STRING, program.cwd, PROGRAM) },
    { MEMBER("memory", INT, program.options.memory, PROGRAM), .min = 1,
      .max = INT64_MAX, TG_MEMORY_OPTION },
    { MEMBER("pids", INT, program.options.pids, PROGRAM), .min = 1,
      .max = INT64_MAX, TG_PIDS_OPTION },
    { .name = NULL },
};
