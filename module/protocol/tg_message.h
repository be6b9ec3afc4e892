/*
 * One parsed message of any dialect: the members of the envelope, of params,
 * _meta and error that the protocols define, as slices of the frame.
 *
 * All three dialects are JSON objects with overlapping keys, so one pass serves
 * all. Each dialect checks which members are required.
 */
#ifndef TG_MESSAGE_H
#define TG_MESSAGE_H

#include "base/tg_json.h"

/*
 * A parsed message. Every slice is a raw JSON value within the frame and is
 * valid as long as the frame. An absent member has data NULL. An optional
 * member that is null counts as absent: params, arguments, cursor, _meta,
 * clientInfo, requestState, progressToken, and the protocol version and log
 * level in _meta.
 */
typedef struct {
    tg_json_type_t type; /* type of the whole text */
    tg_str_t text;       /* whole text without surrounding white space */
    const char *why;     /* reason of TG_INVALID or TG_LIMIT, static */
    int has_duplicate;   /* a key listed below occurred twice in its object */

    tg_str_t jsonrpc;
    tg_str_t id;
    tg_str_t method;
    tg_str_t params;
    tg_str_t result;
    tg_str_t error;
    tg_str_t kind;    /* relay only */
    tg_str_t reason;  /* relay "shutdown" only */
    tg_str_t message; /* relay "error" only */

    struct {
        tg_str_t name;
        tg_str_t arguments;
        tg_str_t input_responses;
        tg_str_t request_state;
        tg_str_t cursor;
        tg_str_t protocol_version;
        tg_str_t request_id; /* of notifications/cancelled */
        tg_str_t id;         /* of $/cancelRequest */
        tg_str_t notifications;
        /* members of notifications */
        tg_str_t tools_list_changed;
        tg_str_t prompts_list_changed;
        tg_str_t resources_list_changed;
        tg_str_t resource_subscriptions;
        tg_str_t broadcasts; /* "toolgate/broadcasts" */
        tg_str_t uri;
        tg_str_t ref; /* of completion/complete, as the next two */
        tg_str_t argument;
        tg_str_t context;
        tg_str_t client_info;
        tg_str_t meta;
        tg_str_t progress_token;
        tg_str_t progress;
        tg_str_t total;
        tg_str_t message;
        tg_str_t level;
    } p; /* members of params */

    struct {
        tg_str_t protocol_version; /* io.modelcontextprotocol/protocolVersion */
        tg_str_t client_capabilities;
        tg_str_t client_info;
        tg_str_t progress_token;
        tg_str_t subscription_id;
        tg_str_t traceparent;
        tg_str_t tracestate;
        tg_str_t log_level; /* io.modelcontextprotocol/logLevel */
    } meta;                 /* members of params._meta */

    struct {
        tg_str_t code;
        tg_str_t message;
        tg_str_t data;
        tg_str_t type; /* ipc only */
    } e;               /* members of error */

    /*
     * Index of the members of params.arguments, if it is an object. Must stay
     * the last member: the parser does not clear it.
     */
    tg_json_index_t notes;
} tg_message_t;

/*
 * Parses a text into message. TG_OK: the text is one JSON value; for any type
 * but an object (an array is a batch) only `type` and `text` are set.
 * TG_INVALID: the text is not valid JSON. TG_LIMIT: the text nests deeper than
 * TG_JSON_MAX_DEPTH.
 */
int tg_message_parse(tg_message_t *message, tg_str_t text);

/* Checks whether a raw value is an empty array. PHP writes `{}` as `[]`. */
int tg_message_is_empty_array(tg_str_t raw);

/*
 * Checks whether a raw method, or the beginning of one, names an MCP
 * notification ("notifications/…").
 */
int tg_message_is_mcp_notification(tg_str_t method);

/* The known members of a message that is too large to be parsed. */
typedef struct {
    tg_str_t id;     /* raw string or number; absent: may be at the end */
    tg_str_t kind;   /* raw or absent */
    tg_str_t method; /* raw or absent */
    int is_request;  /* has `method` or `params`: request or notification */
    int is_response; /* has `result` or `error`, but not `method`, `params` */
} tg_message_head_t;

/*
 * Parses the beginning of an oversized message. TG_OK; TG_INVALID if the
 * message is not an object.
 */
int tg_message_parse_head(tg_str_t head, tg_message_head_t *known);

/*
 * Finds the raw id in the last bytes of an oversized message. TG_OK or
 * TG_MISSING.
 */
int tg_message_find_tail_id(tg_str_t tail, tg_str_t *id);

#endif
