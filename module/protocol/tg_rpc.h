/*
 * What JSON-RPC 2.0, MCP and Toolgate itself have fixed words and numbers
 * for (docs/protocols.md).
 */
#ifndef TG_RPC_H
#define TG_RPC_H

enum {
    TG_RPC_PARSE_ERROR = -32700,
    TG_RPC_INVALID_REQUEST = -32600,
    TG_RPC_METHOD_NOT_FOUND = -32601,
    TG_RPC_INVALID_PARAMS = -32602,
    TG_RPC_INTERNAL_ERROR = -32603,
    TG_RPC_NOT_STARTED = -32090, /* of Toolgate: not started, ask elsewhere */
    TG_RPC_UNSUPPORTED_VERSION =
        -32022 /* MCP 2026-07-28: unsupported version */
};

/*
 * How the message of TG_RPC_INVALID_REQUEST begins where a request is too
 * large.
 */
#define TG_RPC_TOO_LARGE_TEXT "The message is larger than the "

/* The data of TG_RPC_NOT_STARTED. */
#define TG_RPC_NOT_STARTED_DATA "\"toolgate\""

/* MCP's newest revision, and the newest with a handshake. */
#define TG_MCP_VERSION_MODERN "2026-07-28"
#define TG_MCP_VERSION_LEGACY "2025-11-25"
/* The one revision that has JSON-RPC batches. */
#define TG_MCP_VERSION_BATCHES "2025-03-26"

#define TG_METHOD_TOOLGATE_HELLO "notifications/toolgate/hello"
#define TG_METHOD_TOOLGATE_CLOSING "notifications/toolgate/closing"

/* In the filter of subscriptions/listen: what a server tells all clients. */
#define TG_MCP_FILTER_BROADCASTS "toolgate/broadcasts"

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
