/* Params of an `mcp_server` over HTTP: URL, headers and options. */
#ifndef TG_MCP_SERVER_URL_H
#define TG_MCP_SERVER_URL_H

#include "spec/tg_mcp_server_spec.h"

/* Maximum number of headers of a config. */
#define TG_MCP_SERVER_HEADERS_MAX 64

/* Parsed params. All pointers point into `memory`, which this object owns. */
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

/* Reads a URL's params. TG_OK: free `url` later; TG_INVALID: static *why. */
int tg_mcp_server_url_read(tg_mcp_server_url_t *url,
                           const tg_mcp_server_spec_t *spec, const char **why);

void tg_mcp_server_url_free(tg_mcp_server_url_t *url);

#endif
