/*
 * One parsed message of any dialect: the envelope's members, and those of
 * params, _meta and error that the protocols name, as slices of the frame.
 *
 * All three dialects are JSON objects with overlapping keys, so one pass
 * serves all; which members must be there is the dialect's business.
 */
#ifndef TG_MESSAGE_H
#define TG_MESSAGE_H

#include "base/tg_json.h"

/*
 * Every slice is a raw JSON value within the frame and lives as long as it;
 * an absent member has data NULL.  So has an optional one that is null:
 * params, arguments, cursor, _meta, clientInfo, requestState, progressToken
 * and the protocol version in _meta.
 */
typedef struct {
    tg_json_type_t type; /* of the whole text */
    tg_str_t text;       /* the whole text without white space around it */
    const char *why;     /* of TG_INVALID and TG_LIMIT, static */
    int has_duplicate;   /* a key below came twice in its object */

    tg_str_t jsonrpc;
    tg_str_t id;
    tg_str_t method;
    tg_str_t params;
    tg_str_t result;
    tg_str_t error;
    tg_str_t kind;    /* relay */
    tg_str_t reason;  /* relay shutdown */
    tg_str_t message; /* relay error */

    struct {
        tg_str_t name;
        tg_str_t arguments;
        tg_str_t input_responses;
        tg_str_t request_state;
        tg_str_t cursor;
        tg_str_t protocol_version;
        tg_str_t request_id; /* notifications/cancelled */
        tg_str_t id;         /* $/cancelRequest */
        tg_str_t notifications;
        tg_str_t tools_list_changed; /* in notifications */
        tg_str_t broadcasts;         /* likewise, "toolgate/broadcasts" */
        tg_str_t client_info;
        tg_str_t meta;
        tg_str_t progress_token;
        tg_str_t progress;
        tg_str_t total;
        tg_str_t message;
    } p; /* params */

    struct {
        tg_str_t protocol_version; /* io.modelcontextprotocol/… */
        tg_str_t client_capabilities;
        tg_str_t client_info;
        tg_str_t progress_token;
        tg_str_t subscription_id;
        tg_str_t traceparent;
        tg_str_t tracestate;
    } meta; /* params._meta */

    struct {
        tg_str_t code;
        tg_str_t message;
        tg_str_t data;
        tg_str_t type; /* ipc */
    } e;               /* error */

    /* Of params.arguments, where it is an object.  The last member. */
    tg_json_index_t notes;
} tg_message_t;

/*
 * TG_OK: text is one JSON value (an array is a batch: only type and text are
 * set then; so for every other type but an object).  TG_INVALID: it is no JSON.
 * TG_LIMIT: it nests deeper than TG_JSON_MAX_DEPTH.
 */
int tg_message_parse(tg_message_t *message, tg_str_t text);

/* Is a raw value an array without elements?  PHP writes `{}` as `[]`. */
int tg_message_is_empty_array(tg_str_t raw);

/* Does a raw method, or the beginning of one, name a notification of MCP? */
int tg_message_is_mcp_notification(tg_str_t method);

/* What is known of a message that is too large to be parsed. */
typedef struct {
    tg_str_t id;     /* raw, a string or a number; absent: it may come later */
    tg_str_t kind;   /* raw, or absent */
    tg_str_t method; /* raw, or absent */
    int is_request;  /* or a notification: `method` or `params` */
    int is_response; /* `result` or `error`, and nothing of those */
} tg_message_head_t;

/* From its beginning.  TG_OK, or TG_INVALID when this is no object. */
int tg_message_parse_head(tg_str_t head, tg_message_head_t *known);

/* The id from its end: TG_OK or TG_MISSING. */
int tg_message_find_tail_id(tg_str_t tail, tg_str_t *id);

#endif
