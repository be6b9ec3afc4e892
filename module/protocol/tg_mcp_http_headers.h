/*
 * What a message of MCP's modern era says once more in the headers of HTTP,
 * where proxies read it: its method, what it is about, and arguments that the
 * tool's schema marks with `x-mcp-header`.
 */
#ifndef TG_MCP_HTTP_HEADERS_H
#define TG_MCP_HTTP_HEADERS_H

#include "catalog/tg_catalog.h"
#include "protocol/tg_message.h"

/* Arguments of one tool that have a header. */
#define TG_MCP_HEADERS_MAX 64

/*
 * Appends them, each as "Name: value" and a NUL, an empty value as "Name:";
 * tools has the schemas, or is NULL.  NULL; or why the message cannot be sent
 * so: its tool's schema marks arguments in a way that MCP does not know.
 */
const char *tg_mcp_http_write_headers(tg_buf_t *out,
                                      const tg_message_t *message,
                                      const tg_catalog_t *tools);

/*
 * Appends text as the value of such a header: as it is where a header can
 * have it, else in base64.
 */
void tg_mcp_http_write_value(tg_buf_t *out, tg_str_t text);

#endif
