/* Params of an MCP server over HTTP: URL, headers and options. */
#ifndef TG_MCP_SERVER_URL_H
#define TG_MCP_SERVER_URL_H

#include "spec/tg_mcp_server_spec.h"

/* Maximum number of headers. */
#define TG_MCP_SERVER_HEADERS_MAX 64

/* All pointers point into `memory`, which the object owns. */
typedef struct {
    void *memory;
    size_t size;
    char *url;

    /* "Name: value", secrets first; NULL-terminated. */
    char **headers;

    size_t nsecrets;
    char *ca_file;       /* file of trusted CAs; NULL: the system's CAs */
    char *proxy;         /* URL of the proxy, or NULL */
    uint64_t connect_ms; /* timeout of connecting; 0: the default */
} tg_mcp_server_url_t;

/* TG_OK: `url` must be freed; TG_INVALID: static *why; or TG_NOMEM. */
int tg_mcp_server_url_read(tg_mcp_server_url_t *url,
                           const tg_mcp_server_spec_t *spec, const char **why);

void tg_mcp_server_url_free(tg_mcp_server_url_t *url);

#endif
