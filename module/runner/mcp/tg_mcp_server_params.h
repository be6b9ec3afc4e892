/*
 * What an `mcp_server` of the config says, as a worker tells it
 * (docs/protocols.md, "Worker and runner").
 */
#ifndef TG_MCP_SERVER_PARAMS_H
#define TG_MCP_SERVER_PARAMS_H

#include "runner/mcp/tg_mcp_server_url.h"
#include "runner/process/tg_program_params.h"

#include <sys/socket.h>
#include <sys/un.h>

/* Its JSON; the arguments and variables of a program are some KB. */
#define TG_MCP_SERVER_PARAMS_MAX 1048576
/* How long one is kept that nobody calls, when nothing is said. */
#define TG_MCP_SERVER_IDLE_MS 600000
/* For a start, when nothing is said: one that is downloaded takes its time. */
#define TG_MCP_SERVER_START_MS 60000
/* Bytes of a key, and of the name, for messages. */
#define TG_MCP_SERVER_KEY_MIN 16
#define TG_MCP_SERVER_KEY_MAX 64
#define TG_MCP_SERVER_NAME_MAX 128

typedef enum {
    TG_MCP_SHARE_ALL, /* one instance for everybody */
    TG_MCP_SHARE_USER,
    TG_MCP_SHARE_CONNECTION
} tg_mcp_sharing_t;

typedef struct {
    char key[TG_MCP_SERVER_KEY_MAX + 1];
    char name[TG_MCP_SERVER_NAME_MAX + 1];
    char place[TG_MCP_SERVER_KEY_MAX + 1]; /* what is called at all; or empty */
    tg_program_params_t program;           /* argv is NULL: none */
    tg_mcp_server_url_t url; /* url is NULL: none, it is at the address */
    union {
        struct sockaddr any;
        struct sockaddr_un un;
        struct sockaddr_storage room;
    } address;
    char *roots; /* a raw array, owned; or NULL */
    tg_mcp_sharing_t share;
    int is_boot;       /* it runs as long as it is watched */
    uint64_t idle_ms;  /* 0: for ever */
    uint64_t start_ms; /* from its start to its list */
} tg_mcp_server_params_t;

/* Is a raw string a key?  Then it is key. */
int tg_mcp_server_is_key(tg_str_t raw, tg_str_t *key);

/*
 * Reads the params of `mcp_watch`.  TG_OK, and it must be freed; TG_INVALID and
 * *why, static; TG_NOMEM.
 */
int tg_mcp_server_params_read(tg_mcp_server_params_t *spec, tg_str_t params,
                              const tg_program_base_env_t *env,
                              const char **why);

void tg_mcp_server_params_free(tg_mcp_server_params_t *spec);

#endif
