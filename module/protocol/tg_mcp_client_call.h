/*
 * A call of a tool, passed on to a server of MCP, whatever eras the server and
 * whoever calls are of.
 */
#ifndef TG_MCP_CLIENT_CALL_H
#define TG_MCP_CLIENT_CALL_H

#include "protocol/tg_mcp_client.h"

/* All but the name raw or absent. */
typedef struct {
    tg_str_t name; /* escaped body */
    tg_str_t arguments;
    tg_str_t meta; /* the client's _meta: its token and version are not sent */
    tg_str_t input_responses; /* to what an earlier result has asked */
    tg_str_t request_state;

    /* It goes on as it came: modern, whatever the handshake was. */
    int is_modern;
} tg_mcp_call_t;

/*
 * Appends what its params have besides name and arguments, each member behind
 * a comma; token is that of its progress, or 0.  Of meta, what belongs to MCP
 * itself is passed on only in a request of the modern era.
 */
void tg_mcp_client_write_call_params(const tg_mcp_client_t *client,
                                     const tg_mcp_call_t *call, uint64_t token,
                                     tg_buf_t *out);

/* Sends it, with that: as tg_caller_call_tool(). */
int tg_mcp_client_call_tool(tg_mcp_client_t *client, const tg_mcp_call_t *call,
                            uint64_t token, void *tag, uint64_t *id);

/*
 * Appends the members of _meta that each request of the modern era has: what
 * the client's own meta (or absent) says there, else client.
 */
void tg_mcp_client_write_meta(const tg_mcp_client_t *client, tg_str_t meta,
                              tg_buf_t *out);

#endif
