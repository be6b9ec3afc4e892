/*
 * The client's side of one connection, in any of the three dialects: sends
 * calls and matches responses. Counterpart of tg_peer.h with the same division
 * of work: the host passes the bytes that it read, and writes the bytes that
 * collect in caller->out.
 */
#ifndef TG_CALLER_H
#define TG_CALLER_H

#include "protocol/tg_dialect.h"

/*
 * Limit in bytes of automatic replies that wait in out, for a server that sends
 * requests without reading the replies. Beyond it the connection is closed.
 */
#define TG_CALLER_REFUSALS_MAX 1048576

/* Messages accepted from one batch; the others are dropped. */
#define TG_CALLER_BATCH_MAX 1000

typedef struct tg_caller_s tg_caller_t;
typedef struct tg_pending_request_s tg_pending_request_t;

typedef enum {
    TG_RESPONSE_RESULT,
    TG_RESPONSE_ERROR,
    TG_RESPONSE_LOST, /* connection lost; the call may have been executed */
    /* connection lost before the server started the call */
    TG_RESPONSE_NOT_STARTED
} tg_response_type_t;

/*
 * The response to a request. All slices are valid until ops->answer returns.
 */
typedef struct {
    tg_response_type_t kind;
    tg_str_t result; /* raw JSON; of a tool: a CallToolResult */
    int has_code;    /* the error has a JSON-RPC code */
    int64_t code;
    tg_str_t message; /* escaped body of the error's message */
    tg_str_t type;    /* ipc: escaped body of the exception's class */
    tg_str_t data;    /* raw JSON or absent */
    int is_too_large; /* an error: the response was too large */
    /* NOT_STARTED: message of the request, or absent */
    tg_str_t unsent_message;
} tg_response_t;

typedef struct {
    /*
     * Delivers the response of a request, once per request. tag is the tag
     * that the request was sent with.
     */
    void (*answer)(void *host, void *tag, const tg_response_t *answer);

    /* Delivers a notification. method is an escaped body. May be NULL. */
    void (*notification)(void *host, tg_str_t method,
                         const tg_message_t *message);

    /*
     * Reports that the server is about to close the connection. reason is an
     * escaped body or absent. is_drained: no unanswered request was started.
     * The host then calls tg_caller_on_disconnect(). May be NULL.
     */
    void (*on_shutdown_notice)(void *host, tg_str_t reason, int is_drained);

    void (*log)(void *host, const char *text); /* May be NULL. */

    /*
     * Delivers a request of the server (MCP): raw id, method and params. The
     * host answers with tg_caller_respond() or tg_caller_respond_error(), at
     * once or later. NULL: the caller rejects every request. `ping` is
     * answered by the caller and not delivered.
     */
    void (*on_request)(void *host, const tg_message_t *message);

    /*
     * Checks after each frame whether the time slice is over; called only if
     * more input is left. caller->frame_size is the size of the frame in
     * bytes. NULL: slices have no end.
     */
    int (*is_slice_over)(void *host);
} tg_caller_ops_t;

struct tg_caller_s {
    const tg_alloc_t *alloc;
    const tg_caller_ops_t *ops;
    void *host;

    tg_frame_t frame;
    const tg_dialect_row_t *dialect;
    size_t max_frame;
    size_t max_answer; /* largest response in bytes, at most max_frame */
    tg_buf_t out;

    size_t frame_size; /* size of the last received frame in bytes */
    /*
     * Bytes of automatic replies appended to out since out was last written
     * completely.
     */
    size_t refused_bytes;

    uint64_t next_id;
    tg_pending_request_t **slots; /* hash table by id */
    size_t nslots;
    size_t npending;
    tg_pending_request_t *first; /* in the order of sending */
    tg_pending_request_t *last;
    uint64_t sent;    /* bytes appended to out on this connection */
    uint64_t written; /* bytes of `sent` that the host has written */
    /*
     * Sent notifications that the server may still answer, as some servers do.
     */
    size_t nnotifications;
    uint64_t nsent_notifications; /* notifications sent so far */
    unsigned resends:1;    /* the host resends requests that were not started */
    unsigned is_leaving:1; /* the server answers NOT_STARTED to every request */
    /* the server announced that it starts no more calls */
    unsigned is_drained:1;
    unsigned is_closed:1; /* shutdown notice received, or framing broken */
    /* the id of a discarded line may be at its end */
    unsigned is_awaiting_id:1;
    unsigned is_request:1; /* the discarded line is a request of the server */
};

/*
 * Initializes a caller. dialect must not be AUTO. max_frame: size in bytes of
 * the largest response and the largest request; the dialect's limit applies
 * too.
 */
void tg_caller_init(tg_caller_t *caller, const tg_alloc_t *alloc,
                    const tg_caller_ops_t *ops, void *host,
                    tg_dialect_t dialect, size_t max_frame);

/*
 * Lowers the limit of a response to max_answer bytes. Longer responses are
 * discarded while they arrive.
 */
void tg_caller_set_max_response(tg_caller_t *caller, size_t max_answer);

/* Frees everything. Requests in flight are dropped without a response. */
void tg_caller_deinit(tg_caller_t *caller);

/*
 * Sends a request (jsonrpc, relay). params is raw JSON or absent. *id
 * receives the id for tg_caller_cancel_request(); id may be NULL. TG_OK;
 * TG_NOMEM; TG_LIMIT if the request exceeds the limit (nothing was sent);
 * TG_CLOSED after the server's shutdown notice; TG_MISSING if the dialect has
 * no requests.
 */
int tg_caller_send_request(tg_caller_t *caller, tg_str_t method,
                           tg_str_t params, void *tag, uint64_t *id);

/*
 * Calls a tool, in every dialect. name is an escaped body, arguments a raw
 * object. more: further raw members of params, each with a leading comma, or
 * none (jsonrpc and relay only). In ipc, a call waits until the previous one
 * is answered. *id as in tg_caller_send_request(). TG_OK; TG_NOMEM; TG_LIMIT
 * if the request exceeds the limit; TG_CLOSED after the server's shutdown
 * notice.
 */
int tg_caller_call_tool(tg_caller_t *caller, tg_str_t name, tg_str_t arguments,
                        tg_str_t more, void *tag, uint64_t *id);

/*
 * Sends a notification (jsonrpc). params is raw JSON or absent. TG_OK, also
 * if the dialect has no notifications; TG_NOMEM; TG_LIMIT if it exceeds the
 * limit.
 */
int tg_caller_send_notification(tg_caller_t *caller, tg_str_t method,
                                tg_str_t params);

/*
 * Sends Toolgate's hello notification, as the first message to a jsonrpc server
 * that may be Toolgate; other servers ignore it. After a hello, Toolgate sends
 * a shutdown notice before it closes. May be sent again when client_caps
 * (TG_CLIENT_CAP_…) become known. Return values: see
 * tg_caller_send_notification().
 */
int tg_caller_send_hello(tg_caller_t *caller, unsigned client_caps);

/*
 * Sends a hello (see tg_caller_send_hello()) that also names the client. info:
 * raw clientInfo or absent. via: name and version of the bridge in between, as
 * plain text, or absent. Return values: see tg_caller_send_notification().
 */
int tg_caller_send_client_info(tg_caller_t *caller, unsigned client_caps,
                               tg_str_t info, tg_str_t via);

/*
 * Sends a hello which announces that this client resends requests answered with
 * NOT_STARTED, on another connection. The server may then answer NOT_STARTED
 * while other requests still run. Return values: see
 * tg_caller_send_notification().
 */
int tg_caller_send_hello_resends(tg_caller_t *caller);

/*
 * Answers a request of the server by its raw id: with the raw result, or with
 * the raw error if result is absent. TG_OK; TG_NOMEM; TG_LIMIT if the response
 * exceeds the limit: an error was sent instead.
 */
int tg_caller_respond(tg_caller_t *caller, tg_str_t id, tg_str_t result,
                      tg_str_t error);

/*
 * Answers a request of the server by its raw id with an error; text is plain.
 * TG_OK; TG_NOMEM; TG_LIMIT if the response exceeds the limit.
 */
int tg_caller_respond_error(tg_caller_t *caller, tg_str_t id, int code,
                            const char *text);

/*
 * Cancels a request; ops->answer is not called for it. With method_is_mcp the
 * server is notified by notifications/cancelled, otherwise by $/cancelRequest.
 * TG_OK; TG_MISSING if no request has this id; TG_NOMEM if the notification
 * could not be sent.
 */
int tg_caller_cancel_request(tg_caller_t *caller, uint64_t id,
                             int method_is_mcp);

/*
 * Removes a request (jsonrpc, relay) that the server will not answer on this
 * connection, as the server has reported. TG_OK; TG_MISSING if no request has
 * this id.
 */
int tg_caller_forget_request(tg_caller_t *caller, uint64_t id);

/*
 * Parses an id or progress token that this caller issued and the server sent
 * back: a number, or a string of digits, as some servers send it. TG_OK or
 * TG_INVALID.
 */
int tg_caller_parse_id(tg_str_t raw, uint64_t *id);

/* Returns the tag of a request in flight, or NULL. */
void *tg_caller_find_tag(const tg_caller_t *caller, uint64_t id);

/*
 * Sends the shutdown frame (relay; a no-op in other dialects). TG_OK;
 * TG_NOMEM; TG_LIMIT if the frame exceeds the limit.
 */
int tg_caller_send_shutdown(tg_caller_t *caller, tg_str_t reason);

/*
 * Handles the frames in data. TG_OK; TG_AGAIN if the time slice is over
 * (ops->is_slice_over): call again with the unconsumed bytes in the next slice;
 * TG_CLOSED after a shutdown notice or broken framing: close the connection and
 * call tg_caller_on_disconnect(); TG_NOMEM.
 */
int tg_caller_handle_input(tg_caller_t *caller, const char *data, size_t len,
                           size_t *consumed);

/*
 * Ends the connection: answers every request in flight, oldest first, with LOST
 * or NOT_STARTED, and resets the caller for the next connection (empty out, new
 * framing). NOT_STARTED are the requests that are still queued (ipc), those of
 * which no byte was written (see tg_caller_count_written()) and, after a
 * drained shutdown notice, all.
 */
void tg_caller_on_disconnect(tg_caller_t *caller);

/*
 * Reports that the host wrote len more bytes from caller->out. Requests of
 * which nothing was written become NOT_STARTED if the connection is lost.
 */
void tg_caller_count_written(tg_caller_t *caller, size_t len);

/*
 * Reports that the server has exited without reading the last len bytes that
 * the host wrote. Requests that were not read become NOT_STARTED.
 */
void tg_caller_report_unread(tg_caller_t *caller, size_t len);

/* Checks whether the server has read none of the requests in flight. */
int tg_caller_is_all_unread(const tg_caller_t *caller);

#endif
