/* Params of an `mcp_server` (docs/protocols.md, "Worker and runner"). */
#ifndef TG_MCP_SERVER_PARAMS_H
#define TG_MCP_SERVER_PARAMS_H

#include "runner/mcp/tg_mcp_server_url.h"
#include "runner/process/tg_program_params.h"
#include "spec/tg_mcp_server_spec.h"

#include <sys/socket.h>
#include <sys/un.h>

/* Maximum size of the JSON in bytes; usual programs need some KB. */
#define TG_MCP_SERVER_PARAMS_MAX 1048576

/* Minimum length of a key in bytes. */
#define TG_MCP_SERVER_KEY_MIN 16

/* Maximum length of a key in bytes. */
#define TG_MCP_SERVER_KEY_MAX 64

/* Maximum length of the name, for messages, in bytes. */
#define TG_MCP_SERVER_NAME_MAX 128

typedef struct {
    char key[TG_MCP_SERVER_KEY_MAX + 1];
    char name[TG_MCP_SERVER_NAME_MAX + 1];

    /* Identifies the call target alone: exec, pass or url; or empty. */
    char place[TG_MCP_SERVER_KEY_MAX + 1];

    tg_program_params_t program; /* argv is NULL: not a program */
    tg_mcp_server_url_t url;     /* url is NULL: not HTTP */
    union {
        struct sockaddr any;
        struct sockaddr_un un;
        struct sockaddr_storage room;
    } address;
    char *roots; /* raw JSON array, owned; or NULL */
    tg_mcp_sharing_t share;
    int is_boot; /* the server runs as long as it has subscribers */

    /* Idle time before a connection is closed; 0: unlimited. */
    uint64_t idle_ms;

    uint64_t start_ms; /* timeout from the start to the list */
} tg_mcp_server_params_t;

/* Checks for a key of 16 to 64 letters, digits, - and _; sets *key to it. */
int tg_mcp_server_is_key(tg_str_t raw, tg_str_t *key);

/* Reads `mcp_watch`. TG_OK: `spec` must be freed; TG_INVALID: static *why. */
int tg_mcp_server_params_read(tg_mcp_server_params_t *spec, tg_str_t params,
                              const tg_program_base_env_t *env,
                              const char **why);

void tg_mcp_server_params_free(tg_mcp_server_params_t *spec);

#endif
