/*
 * The client's side of one connection, in any of the three dialects: sends
 * calls, matches answers.  Twin of tg_peer.h, with the same division: the
 * host feeds what it read and writes what gathers in caller->out.
 */
#ifndef TG_CALLER_H
#define TG_CALLER_H

#include "protocol/tg_dialect.h"

/*
 * Bytes of refusals that wait for a server which asks and does not read them;
 * with more the connection is closed.
 */
#define TG_CALLER_REFUSALS_MAX 1048576

/* Messages of one array; the rest of it is dropped. */
#define TG_CALLER_BATCH_MAX 1000

typedef struct tg_caller_s tg_caller_t;
typedef struct tg_pending_request_s tg_pending_request_t;

typedef enum {
    TG_RESPONSE_RESULT,
    TG_RESPONSE_ERROR,
    TG_RESPONSE_LOST, /* the connection ended; it may have been executed */
    TG_RESPONSE_NOT_STARTED /* the connection ended before it was taken up */
} tg_response_type_t;

/* All slices live until ops->answer returns. */
typedef struct {
    tg_response_type_t kind;
    tg_str_t result; /* raw JSON (tools: a CallToolResult) */
    int has_code;    /* of an error in JSON-RPC */
    int64_t code;
    tg_str_t message;        /* escaped body of the error's message */
    tg_str_t type;           /* ipc: escaped body of the exception's class */
    tg_str_t data;           /* raw JSON or absent */
    int is_too_large;        /* an error: the answer was */
    tg_str_t unsent_message; /* not started: the request's message, or absent */
} tg_response_t;

typedef struct {
    /* Once for every request; tag is what it was sent with. */
    void (*answer)(void *host, void *tag, const tg_response_t *answer);

    /* method is an escaped body, params raw or absent.  May be NULL. */
    void (*notification)(void *host, tg_str_t method,
                         const tg_message_t *message);

    /*
     * The other side is about to close: reason is an escaped body or
     * absent.  is_drained: all that is unanswered was not started.  The
     * host then calls tg_caller_on_disconnect().  May be NULL.
     */
    void (*on_shutdown_notice)(void *host, tg_str_t reason, int is_drained);

    void (*log)(void *host, const char *text); /* may be NULL */

    /*
     * A request of the server's, as MCP has them: id, method and params, raw.
     * It is answered by tg_caller_reply() or tg_caller_respond_error(), now or
     * later.  NULL: all are refused.  `ping` does not come here.
     */
    void (*on_request)(void *host, const tg_message_t *message);

    /*
     * Asked after each frame, whatever was in it, while there is more input:
     * is the time slice over?  caller->serving has the bytes of the frame.
     * NULL: never.
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
    size_t max_answer; /* of what comes; max_frame, or less */
    tg_buf_t out;

    size_t frame_size; /* bytes of the frame that came last */
    /* bytes of refusals in out, since all of it was written */
    size_t refused_bytes;

    uint64_t next_id;
    tg_pending_request_t **slots; /* hash by id */
    size_t nslots;
    size_t npending;
    tg_pending_request_t *first; /* in the order of sending */
    tg_pending_request_t *last;
    uint64_t sent;         /* bytes that ever went into out */
    uint64_t written;      /* bytes that the host wrote of them */
    size_t nnotifications; /* notifications; some servers answer those, too */
    uint64_t nsent_notifications; /* all notifications so far */
    unsigned resends:1;           /* what was not started is sent again */
    unsigned is_leaving:1;     /* the other side refuses all, as we resend it */
    unsigned is_drained:1;     /* it said that it takes no more */
    unsigned is_closed:1;      /* it said goodbye, or broke the framing */
    unsigned is_awaiting_id:1; /* a discarded line's id may stand at its end */
    unsigned is_request:1;     /* that line is a request of the other side's */
};

/*
 * dialect is not AUTO.  max_frame: largest answer and largest request in
 * bytes, where the dialect allows as much.
 */
void tg_caller_init(tg_caller_t *caller, const tg_alloc_t *alloc,
                    const tg_caller_ops_t *ops, void *host,
                    tg_dialect_t dialect, size_t max_frame);

/* Discards what comes with more bytes, as it comes. */
void tg_caller_set_max_response(tg_caller_t *caller, size_t max_answer);

/* Frees everything; requests in flight are forgotten without an answer. */
void tg_caller_deinit(tg_caller_t *caller);

/*
 * Sends a request (jsonrpc, relay).  params is raw JSON or absent.  *id names
 * it for tg_caller_cancel_request(); id may be NULL.  TG_OK, TG_NOMEM; TG_LIMIT
 * when it is larger than the dialect allows (nothing was sent); TG_CLOSED after
 * the other side's farewell; TG_MISSING when the dialect has no requests.
 */
int tg_caller_send_request(tg_caller_t *caller, tg_str_t method,
                           tg_str_t params, void *tag, uint64_t *id);

/*
 * Calls a tool (every dialect): name is an escaped body, arguments a raw
 * object.  In ipc, calls wait for the answer of the one before.  more: what
 * else its params have, raw members, each behind a comma, or none (jsonrpc
 * and relay only).
 */
int tg_caller_call_tool(tg_caller_t *caller, tg_str_t name, tg_str_t arguments,
                        tg_str_t more, void *tag, uint64_t *id);

/* jsonrpc only; others ignore it. */
int tg_caller_send_notification(tg_caller_t *caller, tg_str_t method,
                                tg_str_t params);

/*
 * First words on a connection to a jsonrpc server that may be Toolgate: a
 * notification, which others ignore.  From then on farewells are drained.
 * It may be said again when it is known what can be asked here (TG_CAN_…).
 */
int tg_caller_send_hello(tg_caller_t *caller, unsigned client_caps);

/*
 * tg_caller_send_hello() with the name of the client: info is its raw
 * clientInfo, via the name and version of the bridge between as plain text, or
 * absent.
 */
int tg_caller_send_client_info(tg_caller_t *caller, unsigned client_caps,
                               tg_str_t info, tg_str_t via);

/*
 * Likewise of somebody who sends again, on another connection, what is
 * answered with NOT_STARTED: then it may be, while others run.
 */
int tg_caller_send_hello_resends(tg_caller_t *caller);

/*
 * Answers a request of the server's, by its raw id, with the raw result, or
 * with the raw error where that is absent; and with an error of this code.
 * TG_OK; TG_LIMIT: it is larger than a message may be, and was refused; or
 * TG_NOMEM.
 */
int tg_caller_respond(tg_caller_t *caller, tg_str_t id, tg_str_t result,
                      tg_str_t error);
int tg_caller_respond_error(tg_caller_t *caller, tg_str_t id, int code,
                            const char *text);

/*
 * Forgets a request; tag's answer is never called.  With method_is_mcp the
 * other side is told by notifications/cancelled, else by $/cancelRequest.
 * TG_OK; TG_MISSING; TG_NOMEM when the other side could not be told.
 */
int tg_caller_cancel_request(tg_caller_t *caller, uint64_t id,
                             int method_is_mcp);

/*
 * Forgets a request (jsonrpc, relay) of which the other side has said that
 * it will not be answered here.  TG_OK or TG_MISSING.
 */
int tg_caller_forget_request(tg_caller_t *caller, uint64_t id);

/*
 * An id or a token of ours, as the other side says it: a number, or, of some
 * servers, a text of its digits.  TG_OK or TG_INVALID.
 */
int tg_caller_parse_id(tg_str_t raw, uint64_t *id);

/* The tag of a request in flight, or NULL. */
void *tg_caller_find_tag(const tg_caller_t *caller, uint64_t id);

/* relay: the shutdown frame. */
int tg_caller_send_shutdown(tg_caller_t *caller, tg_str_t reason);

/*
 * Handles the frames in data.  TG_OK; TG_AGAIN when the time slice is over
 * (ops->is_slice_over): call again with what is left, in the next one;
 * TG_CLOSED when the other side said goodbye or broke the framing: close and
 * call tg_caller_on_disconnect(); TG_NOMEM.
 */
int tg_caller_handle_input(tg_caller_t *caller, const char *data, size_t len,
                           size_t *consumed);

/*
 * The connection is gone: answers every request in flight, oldest first,
 * with LOST or NOT_STARTED, and starts afresh (empty out, new framing).
 * NOT_STARTED are requests still queued (ipc), those of which no byte was
 * written (see tg_caller_count_written()) and, after a drained farewell, all.
 */
void tg_caller_on_disconnect(tg_caller_t *caller);

/*
 * The host wrote len more bytes of what it took out of out.  Only counts:
 * what was never written is NOT_STARTED when the connection is lost.
 */
void tg_caller_count_written(tg_caller_t *caller, size_t len);

/*
 * The other side has ended, and did not read the last len bytes of what the
 * host wrote: what was not read is NOT_STARTED, too.
 */
void tg_caller_discount_unread(tg_caller_t *caller, size_t len);

/* Are all requests in flight such that were not read? */
int tg_caller_is_all_unread(const tg_caller_t *caller);

#endif
