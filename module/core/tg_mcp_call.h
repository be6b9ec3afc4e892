/*
 * A call of a tool as somebody else's client made it, passed on to a server
 * of MCP, whatever eras the two are of.
 */
#ifndef TG_MCP_CALL_H
#define TG_MCP_CALL_H

#include "core/tg_mcp_client.h"

/* All but the name raw or absent. */
typedef struct {
    tg_str_t name; /* escaped body */
    tg_str_t arguments;
    tg_str_t meta; /* the client's _meta: its token and version are not sent */
    tg_str_t input_responses; /* to what an earlier result has asked */
    tg_str_t request_state;
} tg_mcp_call_t;

/*
 * As tg_mcp_client_call(), in the jsonrpc dialect.  Of meta, what belongs to
 * MCP itself is passed on only to a server of the modern era.
 */
int tg_mcp_client_pass(tg_mcp_client_t *client, const tg_mcp_call_t *call,
                       uint64_t token, void *tag, uint64_t *id);

#endif
