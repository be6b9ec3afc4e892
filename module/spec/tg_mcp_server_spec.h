/*
 * `mcp_server`: the spec of a server that a worker sends to the runner
 * (docs/protocols.md, "Worker and runner").
 */
#ifndef TG_MCP_SERVER_SPEC_H
#define TG_MCP_SERVER_SPEC_H

#include "spec/tg_program_spec.h"

/*
 * Default of idle_ms: the time without calls after which a connection is
 * closed.
 */
#define TG_MCP_SERVER_IDLE_MS 600000

/* Default of start_ms. A server that is downloaded first takes long. */
#define TG_MCP_SERVER_START_MS 60000

typedef enum {
    TG_MCP_SHARE_ALL, /* one connection for all clients */
    TG_MCP_SHARE_USER,
    TG_MCP_SHARE_CONNECTION
} tg_mcp_sharing_t;

typedef enum {
    TG_MCP_START_USE, /* at the first use */
    TG_MCP_START_BOOT /* the server runs as long as it has subscribers */
} tg_mcp_start_t;

typedef struct {
    int64_t share;    /* tg_mcp_sharing_t */
    int64_t start;    /* tg_mcp_start_t */
    int64_t idle_ms;  /* idle time before a connection is closed; 0: none */
    int64_t start_ms; /* timeout from the start to the list */
    tg_str_t place;   /* raw: identifies exec, pass or url alone */
    tg_program_spec_t program; /* the argv is the member exec */
    tg_str_t roots;
    tg_str_t pass; /* raw: an address */
    tg_str_t url;
    tg_str_t headers;
    tg_str_t secrets;
    tg_str_t ca_file;
    tg_str_t proxy;
    int64_t connect_ms; /* timeout of connecting; 0: the default */
} tg_mcp_server_spec_t;

extern const tg_json_field_t tg_mcp_server_fields[];

#endif
