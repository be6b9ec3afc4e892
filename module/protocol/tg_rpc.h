/*
 * Fixed names and numbers of JSON-RPC 2.0, MCP and Toolgate
 * (docs/protocols.md).
 */
#ifndef TG_RPC_H
#define TG_RPC_H

enum {
    TG_RPC_PARSE_ERROR = -32700,
    TG_RPC_INVALID_REQUEST = -32600,
    TG_RPC_METHOD_NOT_FOUND = -32601,
    TG_RPC_INVALID_PARAMS = -32602,
    TG_RPC_INTERNAL_ERROR = -32603,
    TG_RPC_RESOURCE_NOT_FOUND = -32002, /* MCP's legacy era only */
    /* Toolgate: the request was not started and may be resent */
    TG_RPC_NOT_STARTED = -32090,
    /* MCP 2026-07-28 */
    TG_RPC_HEADER_MISMATCH = -32020, /* HTTP headers and message differ */
    TG_RPC_MISSING_CAPABILITY = -32021,
    TG_RPC_UNSUPPORTED_VERSION = -32022
};

/*
 * Beginning of the message of TG_RPC_INVALID_REQUEST if a request is too large.
 */
#define TG_RPC_TOO_LARGE_TEXT "The message is larger than the "

/* The data of a TG_RPC_NOT_STARTED error, as raw JSON. */
#define TG_RPC_NOT_STARTED_DATA "\"toolgate\""

/* MCP's newest revision, which has no handshake. */
#define TG_MCP_VERSION_MODERN "2026-07-28"

/* MCP's newest revision with a handshake. */
#define TG_MCP_VERSION_LEGACY "2025-11-25"
/*
 * The extension MCP Apps: views of tools, which are resources. It has neither
 * methods nor results of its own, so it passes through.
 */
#define TG_MCP_EXTENSION_APPS "io.modelcontextprotocol/ui"

/* The only MCP revision with JSON-RPC batches. */
#define TG_MCP_VERSION_BATCHES "2025-03-26"

#define TG_METHOD_TOOLGATE_HELLO "notifications/toolgate/hello"
#define TG_METHOD_TOOLGATE_CLOSING "notifications/toolgate/closing"

/*
 * Member of the filter of subscriptions/listen: subscribes to the server's
 * broadcasts to all clients.
 */
#define TG_MCP_FILTER_BROADCASTS "toolgate/broadcasts"
/* In _meta of resources/subscribe: an error if no change is ever reported. */
#define TG_META_FOR_LISTEN "toolgate/listen"

/*
 * Member of _meta. In a call, true requests that the call becomes a task. In
 * a tool, "optional" or "required" says whether its calls may or must be tasks.
 */
#define TG_META_TASK "toolgate/task"

/* Member of a result's _meta: error class, for programs that handle errors. */
#define TG_META_ERROR_TYPE "toolgate/errorType"
/* Member of a result's _meta: exit status of the tool's program. */
#define TG_META_EXIT_STATUS "toolgate/exitStatus"

#endif
