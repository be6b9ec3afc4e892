/*
 * Forwards tool calls and other requests to an MCP server. The server and the
 * calling client may be of different eras (legacy or modern).
 */
#ifndef TG_MCP_CLIENT_CALL_H
#define TG_MCP_CLIENT_CALL_H

#include "protocol/tg_mcp_client.h"

/* A request to forward. Every slice except the names is raw or absent. */
typedef struct {
    tg_str_t name; /* escaped body of the tool's name */
    /* plain text, such as "prompts/get"; absent: a tool call */
    tg_str_t method;
    /* the tool's arguments, or the params of the method */
    tg_str_t arguments;
    /* the client's _meta; its progressToken and version are not forwarded */
    tg_str_t meta;
    /* responses to the requests of an earlier result */
    tg_str_t input_responses;
    tg_str_t request_state;

    /*
     * Level of the log messages that the client wants, for a modern server;
     * its _meta may name it, too.
     */
    tg_mcp_log_level_t log_level;

    /* Forward as modern, even if the handshake was legacy. */
    int is_modern;
} tg_mcp_call_t;

/*
 * Appends the members of params after name and arguments, each with a leading
 * comma. token: progress token, or 0 for none. Members of call->meta that
 * belong to MCP itself are forwarded only in modern requests.
 */
void tg_mcp_client_write_call_params(const tg_mcp_client_t *client,
                                     const tg_mcp_call_t *call, uint64_t token,
                                     tg_buf_t *out);

/*
 * Sends a tool call with the params of tg_mcp_client_write_call_params().
 * Return values: see tg_caller_call_tool().
 */
int tg_mcp_client_call_tool(tg_mcp_client_t *client, const tg_mcp_call_t *call,
                            uint64_t token, void *tag, uint64_t *id);

/*
 * Appends the params of a method: call->arguments and the members of
 * tg_mcp_client_write_call_params().
 */
void tg_mcp_client_write_request_params(const tg_mcp_client_t *client,
                                        const tg_mcp_call_t *call,
                                        uint64_t token, tg_buf_t *out);

/*
 * Sends a request of call->method with the params of
 * tg_mcp_client_write_request_params(). Return values: see
 * tg_caller_send_request().
 */
int tg_mcp_client_call_method(tg_mcp_client_t *client,
                              const tg_mcp_call_t *call, uint64_t token,
                              void *tag, uint64_t *id);

/*
 * Appends the members of _meta that every modern request has. Values come from
 * meta, the client's own _meta (or absent), otherwise from the MCP client.
 */
void tg_mcp_client_write_meta(const tg_mcp_client_t *client, tg_str_t meta,
                              tg_buf_t *out);

#endif
