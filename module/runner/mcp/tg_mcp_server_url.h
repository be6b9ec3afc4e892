/*
 * Of an `mcp_server` that is reached over HTTP: its URL, and what each request
 * has.
 */
#ifndef TG_MCP_SERVER_URL_H
#define TG_MCP_SERVER_URL_H

#include "base/tg_base.h"

/* Headers of a config. */
#define TG_MCP_SERVER_HEADERS_MAX 64

/* Everything points into memory, which is owned. */
typedef struct {
    void *memory;
    size_t size;
    char *url;
    char **headers; /* "Name: value": secrets, then the others, then NULL */
    size_t nsecrets;
    char *ca_file;       /* of those to trust, or NULL: the system's */
    char *proxy;         /* its URL, or NULL */
    uint64_t connect_ms; /* 0: as long as usual */
} tg_mcp_server_url_t;

/*
 * Raw values, in this order: url, headers, secrets, ca_file, proxy and
 * connect_ms.  TG_OK, and it must be freed; TG_INVALID and *why, static;
 * TG_NOMEM.
 */
int tg_mcp_server_url_read(tg_mcp_server_url_t *url, const tg_str_t *values,
                           const char **why);

void tg_mcp_server_url_free(tg_mcp_server_url_t *url);

#endif
