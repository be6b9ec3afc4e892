/*
 * All lists of an MCP server, with its capabilities: what workers receive and
 * the list cache stores.
 */
#ifndef TG_MCP_LISTS_H
#define TG_MCP_LISTS_H

#include "protocol/tg_mcp_client.h"

/* Maximum size of a server's capabilities in bytes; larger ones are omitted. */
#define TG_MCP_LISTS_CAPABILITIES_MAX 65536

typedef struct {
    tg_catalog_t *tools; /* with a reference; NULL: the lists are not known */
    /*
     * the other lists as members of an object, each with a leading comma:
     * prompts, resources, resourceTemplates and capabilities
     */
    tg_buf_t others;
} tg_mcp_lists_t;

void tg_mcp_lists_init(tg_mcp_lists_t *lists);
void tg_mcp_lists_deinit(tg_mcp_lists_t *lists);

/*
 * Takes the lists of a client with a complete list of tools. capabilities: the
 * server's, a raw object or empty. TG_OK; TG_NOMEM.
 */
int tg_mcp_lists_set(tg_mcp_lists_t *lists, const tg_mcp_client_t *client,
                     tg_str_t capabilities);

/* Parses an object that tg_mcp_lists_write() wrote. TG_OK, or TG_INVALID. */
int tg_mcp_lists_parse(tg_mcp_lists_t *lists, tg_str_t text, uint64_t seed);

/* Appends the lists as members of an object. */
void tg_mcp_lists_write(const tg_mcp_lists_t *lists, tg_buf_t *json);

uint64_t tg_mcp_lists_digest(const tg_mcp_lists_t *lists);

/* Returns the size of all lists in bytes. */
size_t tg_mcp_lists_size(const tg_mcp_lists_t *lists);

#endif
