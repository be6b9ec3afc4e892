/*
 * HTTP headers that repeat parts of a modern MCP message, so that proxies can
 * read them: the method, the name or URI, and the arguments that the tool's
 * schema marks with `x-mcp-header`.
 */
#ifndef TG_MCP_HTTP_HEADERS_H
#define TG_MCP_HTTP_HEADERS_H

#include "catalog/tg_catalog.h"
#include "protocol/tg_message.h"

/* Largest number of arguments of one tool that have a header. */
#define TG_MCP_HEADERS_MAX 64

/*
 * Appends the headers of a message, each as "Name: value" and a NUL, or "Name:"
 * if the value is empty. tools has the schemas, or is NULL. Returns NULL, or
 * why the message cannot be sent: its tool's schema uses `x-mcp-header` in an
 * invalid way.
 */
const char *tg_mcp_http_write_headers(tg_buf_t *out,
                                      const tg_message_t *message,
                                      const tg_catalog_t *tools);

/* The headers of a received request. */
typedef struct {
    /*
     * Returns the number of headers with the name `prefix name`, in any case,
     * and sets value to the first one without white space around it.
     */
    unsigned (*find)(void *data, tg_str_t prefix, tg_str_t name,
                     tg_str_t *value);
    void *data;
} tg_http_fields_t;

/*
 * Checks that the headers Mcp-Method and Mcp-Name agree with a message. Returns
 * NULL, or what is wrong.
 */
const char *tg_mcp_http_check_fields(const tg_http_fields_t *fields,
                                     const tg_message_t *message);

/*
 * Checks the headers of arguments that the schema of a tool marks. Returns
 * NULL, or what is wrong.
 */
const char *tg_mcp_http_check_arguments(const tg_http_fields_t *fields,
                                        const tg_message_t *message,
                                        const tg_catalog_entry_t *entry);

/*
 * Checks each `x-mcp-header` of a tool's input schema. Returns NULL, or what is
 * wrong with one.
 */
const char *tg_mcp_http_check_schema(tg_str_t schema);

/* Returns the raw name, URI or task id of a request, or absent. */
tg_str_t tg_mcp_find_subject(const tg_message_t *message);

/*
 * Appends text as a header value: unchanged if that is valid in a header,
 * otherwise in base64.
 */
void tg_mcp_http_write_value(tg_buf_t *out, tg_str_t text);

#endif
