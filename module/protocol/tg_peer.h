/*
 * The server's side of one connection, in any of the three dialects.
 *
 * The transport owns bytes, the peer owns states: the host feeds what it read
 * with tg_peer_handle_input() and writes what gathers in peer->out.  Requests
 * that need a handler come out through ops->call; the host answers at once
 * (tg_peer_respond) or later (tg_peer_defer_request, then tg_call_respond).
 *
 * Every request that expects a reply gets exactly one, unless it was
 * cancelled.  The contract is docs/protocols.md.
 */
#ifndef TG_PEER_H
#define TG_PEER_H

#include "protocol/tg_client_caps.h"
#include "catalog/tg_catalog.h"
#include "protocol/tg_dialect.h"

/* JSON-RPC batches: enough for any real one, a bound for the others. */
#define TG_BATCH_MAX 1000
/* Lists of listeners that one modern connection may hold open. */
#define TG_SUBSCRIPTIONS_MAX 64
/* An id is echoed as it came; beyond this it is no id but an attack. */
#define TG_REQUEST_ID_MAX 1024
/* So is a progress token, with each message about the call. */
#define TG_PROGRESS_TOKEN_MAX 1024
/* Digits of a progress value: longer ones are not passed on. */
#define TG_PROGRESS_VALUE_MAX 32
/* Requests to a client that may wait for its responses. */
#define TG_SERVER_REQUESTS_MAX 32
/* Bytes of a client's name; one that is longer is not kept. */
#define TG_CLIENT_NAME_MAX 128
/* Bytes of its version, and of what it comes through. */
#define TG_CLIENT_VERSION_MAX 64
#define TG_CLIENT_VIA_MAX 64
/* Unwritten output at which a peer takes no further request. */
#define TG_PEER_OUTPUT_MAX 262144

/* What the server says of itself; shared by its peers, must outlive them. */
typedef struct {
    tg_str_t name;    /* plain text */
    tg_str_t version; /* plain text */
    tg_str_t instructions;
    tg_str_t experimental; /* raw JSON object for capabilities, or absent */
    int has_list_changed; /* the host will call tg_peer_notify_list_changed() */
    int has_broadcasts;   /* the host may call tg_peer_send_broadcast() */
    int notifies_pre_request; /* also clients that have not sent a byte */
} tg_server_info_t;

typedef struct tg_call_s tg_call_t;
typedef struct tg_batch_s tg_batch_t;

/* Where and how the answer to one request goes. */
struct tg_reply_s {
    tg_str_t id; /* raw, as it came */
    tg_batch_t *batch;
    tg_catalog_entry_type_t kind;
    unsigned is_modern:1;
    unsigned is_mcp:1;
    unsigned is_silent:1; /* a notification: nothing is sent */
};

/* A request that a handler must answer; all slices live until ops->call
 * returns. */
typedef struct {
    const tg_catalog_entry_t *entry; /* NULL only with ops->is_proxy */
    tg_str_t name;      /* escaped body of the tool's or method's name */
    tg_str_t text;      /* its message, of MCP's tools; or absent */
    size_t size;        /* bytes of its message */
    tg_str_t arguments; /* raw JSON, `{}` where there were none */
    const tg_json_index_t *notes; /* of arguments, or NULL */

    /* Raw, or absent. */
    tg_str_t meta;            /* _meta */
    tg_str_t input_responses; /* of a tool's call that asked first */
    tg_str_t request_state;
    tg_str_t cursor; /* of ops->list */
    tg_str_t progress_token;
    tg_str_t traceparent; /* as the client says; see tg_trace_context.h */
    tg_str_t tracestate;
    tg_reply_t reply;
} tg_request_t;

typedef struct {
    /*
     * Answer with tg_peer_respond() or take it with tg_peer_defer_request()
     * before returning.  Must not free the peer.
     */
    void (*call)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * There is no such tool or method: says so with tg_peer_respond_unknown().
     * NULL: the peer does.
     */
    void (*on_unknown)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * The caller wants no answer any more; call is freed after the return,
     * so drop it.  Not called from within tg_call_respond().
     */
    void (*cancel)(void *host, tg_call_t *call);

    /* What an operator may want to know; text is static.  May be NULL. */
    void (*log)(void *host, const char *text);

    /* A message was refused that is no call: why, likewise. */
    void (*on_refused)(void *host, const char *why);

    /*
     * May this peer see an entry?  NULL: it may.  Whether it may call one is
     * asked of call, which answers with tg_peer_respond_unknown() where it may
     * not.
     */
    int (*is_visible)(void *host, const tg_catalog_entry_t *entry);

    /*
     * Asked on tools/list, so that a proxy may fetch the catalogue first. NULL
     * or TG_END: the catalogue answers now.  TG_OK: the request was taken with
     * tg_peer_defer_request() and will be answered by tg_call_respond_list() or
     * tg_call_respond_error().
     */
    int (*list)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * Appends what is to be said of the list as a whole, a raw object that
     * becomes the _meta of its first page, or nothing.  May be NULL.
     */
    void (*write_list_meta)(void *host, tg_buf_t *json);

    /*
     * A proxy gets tools/call of every name through call; entry is NULL for
     * those that the catalogue does not have (yet).
     */
    int is_proxy;

    /*
     * The client's response to what it was asked with this tag: message has
     * its result or its error.  NULL where nothing is asked.
     */
    void (*on_response)(void *host, uint64_t tag, const tg_message_t *message);

    /*
     * Asked when the first line has told the dialect, before it is served:
     * NULL, or why this client is turned away.  NULL: none is.
     */
    const char *(*refusal)(void *host, tg_peer_t *peer);

    /*
     * Asked after each request, also within a batch, while there is more:
     * is it the turn of somebody else?  NULL: never.
     */
    int (*is_slice_over)(void *host);
} tg_peer_ops_t;

/* A call that waits for its handler. */
struct tg_call_s {
    tg_peer_t *peer;
    tg_call_t *next;
    tg_call_t *prev;
    const tg_catalog_entry_t *entry; /* own, or NULL */
    tg_catalog_entry_t own_entry;    /* name, kind, output, its digest */
    tg_str_t progress_token;         /* owned with the call */
    tg_reply_t reply;                /* its id too */
    void *host;                      /* free for the host */
    size_t host_bytes;               /* what the host keeps for it, in bytes */
    char progress[TG_PROGRESS_VALUE_MAX]; /* the last one told, raw */
    size_t progress_len;
};

typedef struct tg_subscription_s tg_subscription_t;
typedef struct tg_parked_request_s tg_parked_request_t;
typedef struct tg_server_request_s tg_server_request_t;

struct tg_peer_s {
    const tg_alloc_t *alloc;
    tg_catalog_t *catalog; /* held; see tg_peer_set_catalog() */
    const tg_catalog_entry_t *recent_entry; /* of it, found last, or NULL */
    const tg_server_info_t *info;
    const tg_peer_ops_t *ops;
    void *host;

    tg_frame_t frame;
    tg_dialect_t dialect;
    unsigned max_calls;
    const tg_dialect_row_t *row; /* the dialect's */
    size_t max_frame; /* of jsonrpc, both ways; the others have their own */
    /* Unix time; the host sets it before tg_peer_handle_input */
    uint64_t now_ms;

    tg_buf_t out;        /* written by the peer, drained by the host */
    size_t memory_bytes; /* besides out, see tg_peer_memory_size() */

    size_t frame_size;         /* bytes of the frame that is served */
    tg_failure_t last_failure; /* how the call ended that was answered last, */
    size_t last_reply_size;    /* and in how many bytes that was told */
    uint64_t work; /* the host's, about that frame; 0 at its beginning */

    tg_batch_t *batch; /* being served, in more turns than one */

    tg_parked_request_t
        *parked; /* requests that were put aside, oldest first */
    unsigned nparked;
    uint64_t parked_since; /* of the one that is served again; else 0 */

    unsigned ncalls;  /* in flight */
    unsigned asked;   /* how often the client was */
    tg_call_t *calls; /* newest first */
    tg_call_t *oldest;
    tg_server_request_t
        *server_requests; /* what the client was asked, oldest first */
    tg_subscription_t *subscriptions;
    unsigned nsubscriptions;
    tg_str_t refusal; /* the host's: why every request is refused, or absent */

    /* Who the client says that it is: plain text, owned; each may be empty. */
    tg_str_t client;          /* name */
    tg_str_t client_version;  /* version */
    tg_str_t client_via;      /* name/version of the bridge between, or empty */
    unsigned nclient_changes; /* how often one of them changed */

    char version[12];          /* the negotiated legacy version, or "" */
    unsigned is_mcp:1;         /* it has shown itself to be an MCP client */
    unsigned is_legacy:1;      /* initialize was answered */
    unsigned is_modern:1;      /* a request claimed the modern era */
    unsigned is_toolgate:1;    /* a bridge or CLI of ours: said hello */
    unsigned resends:1;        /* it said so: what is refused, it sends again */
    unsigned is_leaving:1;     /* requests are refused, as it resends them */
    unsigned is_closing:1;     /* no further request is taken */
    unsigned is_awaiting_id:1; /* a discarded line is answered at its end */
    unsigned is_response:1;    /* that line is no request, an answer maybe */
    unsigned is_notification:1; /* that line is one, if it has no id */
    unsigned client_caps:7;     /* TG_CAN_…: what the client can be asked */
};

/*
 * dialect AUTO detects.  max_frame is the limit of jsonrpc in bytes;
 * max_calls bounds the calls in flight (at least 1).
 */
void tg_peer_init(tg_peer_t *peer, const tg_alloc_t *alloc,
                  const tg_peer_ops_t *ops, void *host, tg_dialect_t dialect,
                  tg_catalog_t *catalog, const tg_server_info_t *info,
                  size_t max_frame, unsigned max_calls);

/*
 * Serves another catalogue from now on, and lets go of the one before; at any
 * time.  The client is told by tg_peer_notify_list_changed().
 */
void tg_peer_set_catalog(tg_peer_t *peer, tg_catalog_t *catalog);

/* Cancels every call in flight and frees everything but the peer itself. */
void tg_peer_deinit(tg_peer_t *peer);

/*
 * Serves the frames in data, which starts where the bytes not yet consumed
 * start; consumed is how far it came.
 *
 *   TG_OK      more bytes are needed
 *   TG_LIMIT   paused: `ipc` waits for its answer, or out has more than
 *              TG_PEER_OUTPUT_MAX bytes; call again when that changed, with
 *              what is left
 *   TG_AGAIN   the turn is over (ops->is_turn_over); call again with what
 *              is left, in the next one
 *   TG_CLOSED  write out, then close; nothing is read any more
 *   TG_NOMEM   close at once
 */
int tg_peer_handle_input(tg_peer_t *peer, const char *data, size_t len,
                         size_t *consumed);

/*
 * Serves one whole message, for a front that has framing of its own: as
 * tg_peer_handle_input() would, with the same codes.  TG_LIMIT: nothing was
 * taken. After TG_AGAIN, and only then, it is to be handed in again.
 */
int tg_peer_handle_message(tg_peer_t *peer, tg_str_t text);

/* Answers a request from within ops->call. */
void tg_peer_respond(tg_peer_t *peer, const tg_reply_t *reply,
                     const tg_outcome_t *outcome);

/* Likewise, as if there were no such tool or method. */
void tg_peer_respond_unknown(tg_peer_t *peer, const tg_request_t *request);

/*
 * Takes a request from within ops->call, to answer it later.  NULL when
 * there is no memory: the request was answered with an error then.
 */
tg_call_t *tg_peer_defer_request(tg_peer_t *peer, const tg_request_t *request);

/*
 * Puts a request aside, from within ops->list or ops->unknown, of which nothing
 * was answered: it is served again, as if it had just come, by
 * tg_peer_serve_parked().  since is the host's, as it was when the request
 * came. TG_OK; TG_MISSING: it cannot be, as there are too many, or it is one of
 * a batch; TG_NOMEM.
 */
int tg_peer_park_request(tg_peer_t *peer, const tg_request_t *request,
                         uint64_t since);

/*
 * Serves all that were put aside, in their order; they may be put aside again.
 * Not from within ops.  As tg_peer_handle_message(); TG_LIMIT: those that are
 * left are served the next time.
 */
int tg_peer_serve_parked(tg_peer_t *peer);

/* Answers a deferred call and frees it. */
void tg_call_respond(tg_call_t *call, const tg_outcome_t *outcome);

/*
 * Answers a deferred call with a JSON-RPC error of a backend: code, message
 * (escaped body), data (raw or absent); frees it.
 */
void tg_call_respond_error(tg_call_t *call, int64_t code, tg_str_t message,
                           tg_str_t data);

/*
 * Frees a deferred call without an answer: its caller agreed that somebody
 * else gives it.  ops->cancel is not called.
 */
void tg_call_forget(tg_call_t *call);

/* Answers a deferred tools/list (see ops->list) from the catalogue. */
void tg_call_respond_list(tg_call_t *call, tg_str_t cursor);

/*
 * Tells a deferred call's caller how far it is, when it gave a token:
 * progress (a number), total and message are raw values or absent.  What
 * does not rise above what was told before is dropped (MCP "Progress": it
 * must increase).
 */
void tg_call_notify_progress(tg_call_t *call, tg_str_t progress, tg_str_t total,
                             tg_str_t message);

/* Sends a notification, where the dialect has such a thing. */
void tg_peer_notify(tg_peer_t *peer, tg_str_t method, tg_str_t params);

/*
 * Asks the client, by a request of the server's that MCP's legacy versions
 * have: params is a raw object or absent, tag the host's own.  TG_OK: its
 * response comes by ops->told, if one does.  TG_MISSING: this client cannot be
 * asked that; TG_LIMIT: it is larger than a message, or TG_SERVER_REQUESTS_MAX
 * wait; TG_NOMEM.
 */
int tg_peer_send_server_request(tg_peer_t *peer, tg_str_t method,
                                tg_str_t params, uint64_t tag);

/* Nobody waits for that response any more, or for any: the client is told. */
void tg_peer_cancel_server_request(tg_peer_t *peer, uint64_t tag);
void tg_peer_cancel_server_requests(tg_peer_t *peer);

/*
 * Sends a notification that is not about a request, to a client that takes
 * such: MCP's of the modern era upon a subscription that asks for
 * "toolgate/broadcasts".  params is a raw object without line breaks, or
 * absent.
 */
void tg_peer_send_broadcast(tg_peer_t *peer, tg_str_t method, tg_str_t params);

/*
 * A broadcast whose text many peers share, for hosts that send it without a
 * copy of it in each peer's out.  Of a form it is the same for all of them: a
 * dialect's is a whole message, and TG_DIALECT_AUTO's is what follows the head
 * of a subscription's.  tg_peer_foreach_broadcast() calls send for each message
 * that a peer is to be sent, behind what is in out; tg_peer_max_message_size()
 * bounds a message without its line feed.  TG_OK or TG_NOMEM.
 */
int tg_broadcast_write_json(tg_dialect_t form, tg_str_t method, tg_str_t params,
                            tg_buf_t *out);
void tg_peer_foreach_broadcast(tg_peer_t *peer, tg_str_t method,
                               void (*send)(void *data, tg_dialect_t form,
                                            tg_str_t head),
                               void *data);
size_t tg_peer_max_message_size(const tg_peer_t *peer);

/* The largest reply: as much, or what says that another one was too large. */
size_t tg_peer_max_reply_size(const tg_peer_t *peer);

/*
 * Whether a reply with an outcome is surely larger than that, which is known
 * before the outcome is checked or written: how many bytes it has at least, or
 * 0 where it may be sent.
 */
size_t tg_peer_check_reply_size(const tg_peer_t *peer, const tg_reply_t *reply,
                                const tg_outcome_t *outcome);

/* Would one be sent now? */
int tg_peer_has_broadcasts(const tg_peer_t *peer);

/*
 * Is this a client that has sent nothing yet and gets notifications all the
 * same?  Its dialect is not known: a client that only listens expects JSON-RPC.
 */
int tg_peer_is_pre_request_listener(const tg_peer_t *peer);

/* Tells a client that may be told that the list of tools changed. */
void tg_peer_notify_list_changed(tg_peer_t *peer);

/*
 * Says goodbye in the dialect and takes no further request: final results
 * of subscriptions, relay's shutdown, and to a bridge of ours the promise
 * that what is unanswered was not started.  For when ncalls is 0.
 */
void tg_peer_send_shutdown_notice(tg_peer_t *peer, tg_str_t reason);

/* Says why the client is not served, where the dialect has a word for that. */
void tg_peer_refuse_client(tg_peer_t *peer, tg_str_t why);

/* The host keeps so many bytes for a deferred call, its arguments say. */
void tg_call_set_host_bytes(tg_call_t *call, size_t bytes);

/* What a client is expected to do next; its host says how long it may take. */
typedef enum {
    TG_WAIT_NOTHING, /* its calls run */
    TG_WAIT_FRAME,   /* to end a frame */
    TG_WAIT_IDLE,    /* to begin one */
    TG_WAIT_READ     /* to read its answers */
} tg_peer_wait_t;

/* With so many bytes not sent, and so many of its input not consumed. */
tg_peer_wait_t tg_peer_get_wait(const tg_peer_t *peer, size_t unsent,
                                size_t left);

/*
 * The bytes that are kept for this client: output, replies that wait for
 * the rest of their batch, calls and what the host holds for them, and
 * subscriptions.  Input that was not consumed is the host's own.
 */
size_t tg_peer_memory_size(const tg_peer_t *peer);

#endif
