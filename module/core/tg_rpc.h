/*
 * What JSON-RPC 2.0, MCP and Toolgate itself have fixed words and numbers
 * for (docs/protocols.md).
 */
#ifndef TG_RPC_H
#define TG_RPC_H

enum {
    TG_RPC_PARSE = -32700,
    TG_RPC_REQUEST = -32600,
    TG_RPC_METHOD = -32601,
    TG_RPC_PARAMS = -32602,
    TG_RPC_INTERNAL = -32603,
    TG_RPC_LEAVING = -32090, /* of Toolgate: not started, ask elsewhere */
    TG_RPC_VERSION = -32022  /* MCP 2026-07-28: unsupported version */
};

/* How the message of TG_RPC_REQUEST begins where a request is too large. */
#define TG_RPC_TOO_LARGE "The message is larger than the "

/* The data of TG_RPC_LEAVING. */
#define TG_LEAVING_DATA "\"toolgate\""

/* MCP's newest revision, and the newest with a handshake. */
#define TG_MCP_MODERN "2026-07-28"
#define TG_MCP_LEGACY "2025-11-25"
/* The one revision that has JSON-RPC batches. */
#define TG_MCP_BATCHES "2025-03-26"

#define TG_HELLO "notifications/toolgate/hello"
#define TG_CLOSING "notifications/toolgate/closing"

/* In the filter of subscriptions/listen: what a server tells all clients. */
#define TG_BROADCASTS "toolgate/broadcasts"

/*
 * In a call's _meta, true: it is to become a task.  In that of a tool:
 * "optional" or "required".
 */
#define TG_META_TASK "toolgate/task"

/* In a result's _meta: the class of its error, for who switches on it. */
#define TG_META_ERROR_TYPE "toolgate/errorType"
/* And the status that its program has exited with. */
#define TG_META_EXIT_STATUS "toolgate/exitStatus"

#endif
