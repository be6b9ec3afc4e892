/*
 * The server's side of one connection, in any of the three dialects.
 *
 * The transport owns the bytes, the peer owns the states. The host passes the
 * bytes that it read to tg_peer_handle_input() and writes the bytes that
 * collect in peer->out. Requests that need a handler are passed to ops->call.
 * The host answers them at once (tg_peer_respond()) or later
 * (tg_peer_defer_request(), then tg_call_respond()).
 *
 * Every request that expects a reply gets exactly one, unless it was cancelled.
 * The contract is docs/protocols.md.
 */
#ifndef TG_PEER_H
#define TG_PEER_H

#include "protocol/tg_client_caps.h"
#include "protocol/tg_mcp_log_level.h"
#include "protocol/tg_request.h"

/* Largest number of elements in a JSON-RPC batch. */
#define TG_BATCH_MAX 1000
/* Largest number of subscriptions on one modern connection. */
#define TG_SUBSCRIPTIONS_MAX 64
/* Largest number of resources to which one connection subscribes. */
#define TG_RESOURCE_SUBSCRIPTIONS_MAX 1024
/* Largest request id in bytes. Ids are sent back unchanged. */
#define TG_REQUEST_ID_MAX 1024
/*
 * Largest progress token in bytes. Tokens are sent back unchanged with each
 * progress notification.
 */
#define TG_PROGRESS_TOKEN_MAX 1024
/* Largest number of requests to a client that wait for its responses. */
#define TG_SERVER_REQUESTS_MAX 32
/* Largest number of inputs that one request waits for at the same time. */
#define TG_INPUTS_MAX 16
/* Bytes of unwritten output above which a peer accepts no further request. */
#define TG_PEER_OUTPUT_MAX 262144

typedef struct {
    /*
     * Handles a request. The host must answer it with tg_peer_respond() or
     * take it with tg_peer_defer_request() before returning. Must not free the
     * peer.
     */
    void (*call)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * Handles a request for an unknown tool or method. The host answers with
     * tg_peer_respond_unknown(). NULL: the peer answers.
     */
    void (*on_unknown)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * Cancels a call whose client expects no answer any more. The host must
     * drop its references: the call is freed after the return. Not called from
     * within tg_call_respond().
     */
    void (*cancel)(void *host, tg_call_t *call);

    /* Logs a static text for the operator. May be NULL. */
    void (*log)(void *host, const char *text);

    /*
     * Reports a rejected message that is not a call; why is static. May be
     * NULL.
     */
    void (*on_refused)(void *host, const char *why);

    /*
     * Checks whether this peer may see an entry. NULL: it sees all.
     * Permission to call an entry is checked by ops->call, which answers with
     * tg_peer_respond_unknown() if the client may not.
     */
    int (*is_visible)(void *host, const tg_catalog_entry_t *entry);

    /*
     * Called for tools/list and the lists of other kinds (request->list_kind),
     * so that a proxy can fetch the catalog first. NULL or TG_END: the peer
     * answers now from the catalog. TG_OK: the host took the request with
     * tg_peer_defer_request() and will answer with tg_call_respond_list() or
     * tg_call_respond_error(). It may answer resources/list also with an
     * outcome in JSON, {"resources":[…],"next":"…"}: elements after those of
     * the catalog, and the cursor of the next page, if there is one, which
     * begins with TG_CURSOR_OF_MORE.
     */
    int (*list)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * Appends a raw object that becomes the _meta of the first page of
     * tools/list, or nothing. May be NULL.
     */
    void (*write_list_meta)(void *host, tg_buf_t *json);

    /*
     * Called when the client's first subscription to a resource begins (is_on),
     * and when its last one ends. uri is plain text, valid until the return.
     * NULL: the host does not care.
     */
    void (*on_subscribe)(void *host, tg_str_t uri, int is_on);

    /*
     * Checks whether the host can ever report a change of what an entry reads
     * at uri, which is plain text. NULL: it reports all changes.
     */
    int (*can_report)(void *host, const tg_catalog_entry_t *entry,
                      tg_str_t uri);

    /*
     * The host is a proxy: ops->call receives tools/call for every name, and in
     * jsonrpc every message that the peer does not answer itself, with the kind
     * TG_ENTRY_METHOD and the raw params (or absent) as arguments. A
     * notification expects no answer (reply.is_silent). request->entry is NULL
     * if the catalog does not have the name (yet).
     */
    int is_proxy;

    /*
     * Called for server/discover. NULL or TG_END: the peer answers now. TG_OK:
     * the host took the request with tg_peer_defer_request() and will answer
     * with tg_call_respond_discover().
     */
    int (*discover)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * Called for subscriptions/listen with its raw params as arguments, so that
     * the server behind a proxy decides which resources it reports. NULL or
     * TG_END: the peer acknowledges now. TG_OK: the host answered with
     * tg_peer_respond(), or took the request with tg_peer_defer_request() and
     * will answer with tg_call_respond_listen().
     */
    int (*listen)(void *host, tg_peer_t *peer, tg_request_t *request);

    /*
     * Delivers the client's response to the server request with this tag.
     * message has a result or an error. NULL if the host sends no requests.
     */
    void (*on_response)(void *host, uint64_t tag, const tg_message_t *message);

    /*
     * Called when the first line has decided the dialect, before the line is
     * served. Returns NULL, or why this client is refused. May be NULL.
     */
    const char *(*refusal)(void *host, tg_peer_t *peer);

    /*
     * Checks after each request, also within a batch, whether the time slice is
     * over; called only if more input is left. NULL: slices have no end.
     */
    int (*is_slice_over)(void *host);
} tg_peer_ops_t;

typedef struct tg_peer_private_s tg_peer_private_t;

struct tg_peer_s {
    tg_peer_private_t *priv;
    tg_catalog_t *catalog; /* referenced; see tg_peer_set_catalog() */
    void *host;

    tg_frame_t frame;
    const tg_dialect_row_t *row; /* row of the dialect */
    tg_dialect_t dialect;
    unsigned max_calls;
    size_t max_frame; /* limit of jsonrpc messages in bytes, both ways */
    /* Unix time in ms, set by the host before tg_peer_handle_input() */
    uint64_t now_ms;

    tg_buf_t out; /* appended by the peer, written by the host */

    size_t frame_size;      /* size of the frame being served, in bytes */
    size_t last_reply_size; /* size of the last reply in bytes */
    /* Used by the host: work spent on the current frame; 0 at its beginning. */
    uint64_t work;

    tg_failure_t last_failure; /* failure of the last answered call */
    unsigned nparked;          /* parked requests */
    unsigned nrounds;          /* requests that wait for input */
    /* park time of the request being served again, else 0 */
    uint64_t parked_since;

    tg_call_t *calls; /* calls in flight, newest first */
    tg_call_t *oldest;
    unsigned ncalls;
    unsigned nclient_changes; /* number of changes of name, version or bridge */
    /* set by the host: reason for rejecting every request, or absent */
    tg_str_t refusal;

    /* The client's description of itself: plain text, owned, may be empty. */
    tg_str_t client;         /* name */
    tg_str_t client_version; /* version */
    tg_str_t client_via;     /* name/version of the bridge between, or empty */

    unsigned is_mcp:1;      /* the client has used a method or version of MCP */
    unsigned is_legacy:1;   /* initialize was answered */
    unsigned is_modern:1;   /* a request declared the modern era */
    unsigned is_toolgate:1; /* a bridge or CLI of Toolgate: sent a hello */
    unsigned is_http:1;     /* each of its requests has its own stream */
    unsigned resends:1;     /* the client announced that it resends requests */
    /* Requests are rejected as not started, because the client resends them. */
    unsigned is_leaving:1;
    unsigned is_closing:1; /* no further request is accepted */
    /* TG_CLIENT_CAP_…: requests that the client accepts */
    unsigned client_caps:7;
};

/*
 * Initializes a peer. dialect TG_DIALECT_AUTO: the first message decides.
 * max_frame is the limit of jsonrpc messages in bytes, max_calls the largest
 * number of calls in flight (at least 1). info and ops must outlive the peer.
 * TG_OK, or TG_NOMEM: the peer needs no tg_peer_deinit().
 */
int tg_peer_init(tg_peer_t *peer, const tg_alloc_t *alloc,
                 const tg_peer_ops_t *ops, void *host, tg_dialect_t dialect,
                 tg_catalog_t *catalog, const tg_server_info_t *info,
                 size_t max_frame, unsigned max_calls);

/*
 * Replaces the catalog and releases the previous one; allowed at any time. The
 * client is not notified, see tg_peer_notify_list_changed().
 */
void tg_peer_set_catalog(tg_peer_t *peer, tg_catalog_t *catalog);

/*
 * Cancels every call in flight and frees everything but the peer itself. Does
 * nothing if the peer was deinitialized before.
 */
void tg_peer_deinit(tg_peer_t *peer);

/*
 * Serves the frames in data, which starts at the first byte that was not
 * consumed. *consumed receives the number of bytes consumed.
 *
 *   TG_OK      more bytes are needed
 *   TG_LIMIT   paused: `ipc` waits for its response, or out has more than
 *              TG_PEER_OUTPUT_MAX bytes. Call again with the unconsumed
 *              bytes when that has changed.
 *   TG_AGAIN   the time slice is over (ops->is_slice_over): call again with
 *              the unconsumed bytes in the next slice
 *   TG_CLOSED  write out, then close; no further input is read
 *   TG_NOMEM   close at once
 */
int tg_peer_handle_input(tg_peer_t *peer, const char *data, size_t len,
                         size_t *consumed);

/*
 * Serves one whole message, for a host with its own framing. Returns the codes
 * of tg_peer_handle_input(). TG_LIMIT: the message was not served. TG_AGAIN:
 * pass the message again in the next time slice.
 */
int tg_peer_handle_message(tg_peer_t *peer, tg_str_t text);

/* Answers a request from within ops->call. */
void tg_peer_respond(tg_peer_t *peer, const tg_reply_t *reply,
                     const tg_outcome_t *outcome);

/* Answers a request with an error: the client lacks a scope. */
void tg_peer_respond_forbidden(tg_peer_t *peer, const tg_request_t *request);

/*
 * Answers a request with "unknown tool" or "method not found", from within
 * ops->call or ops->on_unknown.
 */
void tg_peer_respond_unknown(tg_peer_t *peer, const tg_request_t *request);

/*
 * Takes a request from within ops->call, to answer it later. NULL if too many
 * calls are in flight or memory is exhausted: the request was answered with an
 * error.
 */
tg_call_t *tg_peer_defer_request(tg_peer_t *peer, const tg_request_t *request);

/*
 * Parks a request, from within ops->list or ops->on_unknown, without answering
 * it. tg_peer_serve_parked() serves the message again as if it had just
 * arrived. since: time of the request, for the host, available as
 * peer->parked_since then. TG_OK; TG_MISSING if the request cannot be parked:
 * too many calls, part of a batch, or a notification; TG_NOMEM.
 */
int tg_peer_park_request(tg_peer_t *peer, const tg_request_t *request,
                         uint64_t since);

/*
 * Serves all parked requests in their order; they may be parked again. Must not
 * be called from within ops. Return values: see tg_peer_handle_message().
 * TG_LIMIT: the next call serves the remaining requests.
 */
int tg_peer_serve_parked(tg_peer_t *peer);

/* Answers a deferred call and frees it. */
void tg_call_respond(tg_call_t *call, const tg_outcome_t *outcome);

/*
 * Answers a deferred call with the JSON-RPC error of a backend and frees the
 * call. message is an escaped body, data raw or absent.
 */
void tg_call_respond_error(tg_call_t *call, int64_t code, tg_str_t message,
                           tg_str_t data);

/*
 * Frees a deferred call without an answer, because another process answers it.
 * ops->cancel is not called.
 */
void tg_call_forget(tg_call_t *call);

/*
 * Answers a deferred request of a list (see ops->list) from the catalog and
 * frees the call.
 */
void tg_call_respond_list(tg_call_t *call, const tg_list_page_t *page);

/*
 * Answers a deferred server/discover (see ops->discover) and frees the call.
 * result: raw result of the server behind a proxy, which is sent with this
 * server's info. If it is absent or invalid, the peer's own result is sent.
 */
void tg_call_respond_discover(tg_call_t *call, tg_str_t result);

/*
 * Answers a deferred subscriptions/listen (see ops->listen) and frees the call.
 * notifications: what the server behind a proxy honours, as a raw object like
 * that of the request.
 */
void tg_call_respond_listen(tg_call_t *call, tg_str_t notifications);

/*
 * Sends a progress notification for a deferred call if the client gave a token.
 * progress (a number), total and message are raw values or absent. A value
 * that is not larger than the last one is dropped (MCP "Progress": it must
 * increase).
 */
void tg_call_notify_progress(tg_call_t *call, tg_str_t progress, tg_str_t total,
                             tg_str_t message);

/*
 * Returns the lowest level of the log messages that the client wants about a
 * request: that of its own _meta (modern) or of logging/setLevel (legacy).
 * TG_MCP_LOG_NONE: it wants none.
 */
tg_mcp_log_level_t tg_peer_get_log_level(const tg_peer_t *peer,
                                         const tg_reply_t *reply);

/*
 * Sends a log message about a deferred call (MCP notifications/message) if the
 * client wants this level. logger is a raw string or absent, data raw JSON.
 */
void tg_call_notify_message(tg_call_t *call, tg_mcp_log_level_t level,
                            tg_str_t logger, tg_str_t data);

/*
 * Sends a notification if the dialect has notifications. params is raw or
 * absent.
 */
void tg_peer_notify(tg_peer_t *peer, tg_str_t method, tg_str_t params);

/*
 * Sends a request to the client (MCP's legacy versions). params is a raw
 * object or absent, tag belongs to the host. TG_OK: the response, if any, is
 * delivered by ops->on_response. TG_MISSING: the client does not accept this
 * request. TG_LIMIT: the request is too large, or TG_SERVER_REQUESTS_MAX
 * requests wait. TG_NOMEM.
 */
int tg_peer_send_server_request(tg_peer_t *peer, tg_str_t method,
                                tg_str_t params, uint64_t tag);

/*
 * Asks a client of the legacy era for input, from within ops->call. inputs is a
 * raw object like MCP's inputRequests, {"key":{"method":"…","params":{…}}}. The
 * host has checked that the client accepts these methods. The peer sends the
 * client a request for each input. When all are answered, or at deadline_ms (a
 * Unix time), it serves the request again, as if it had just arrived, with
 * state (a raw string) in request->request_state and the answers in
 * request->input_responses: each one the client's result, or an object with
 * "error" if the client sent an error or nothing.
 *
 * TG_OK: the host must not answer the request. TG_MISSING: this request cannot
 * wait, as it is modern, a notification or part of a batch. TG_LIMIT: too many
 * requests wait, or a message is too large. TG_NOMEM.
 */
int tg_peer_ask(tg_peer_t *peer, const tg_request_t *request, tg_str_t inputs,
                tg_str_t state, uint64_t deadline_ms);

/* Returns the earliest deadline of tg_peer_ask(), or 0. */
uint64_t tg_peer_get_input_deadline(const tg_peer_t *peer);

/*
 * Serves the requests whose deadline has passed at now_ms, or all (UINT64_MAX).
 * Must not be called from within ops. TG_OK or TG_NOMEM.
 */
int tg_peer_expire_inputs(tg_peer_t *peer, uint64_t now_ms);

/* Returns the number of requests that wait for the client's response. */
unsigned tg_peer_count_server_requests(const tg_peer_t *peer);

/* Cancels the server request with this tag and notifies the client. */
void tg_peer_cancel_server_request(tg_peer_t *peer, uint64_t tag);

/* Cancels all server requests and notifies the client. */
void tg_peer_cancel_server_requests(tg_peer_t *peer);

/*
 * Sends a notification that is not about a request, to a client that accepts
 * broadcasts: a modern MCP client only if it subscribed to
 * "toolgate/broadcasts". params is a raw object without line breaks, or
 * absent.
 */
void tg_peer_send_broadcast(tg_peer_t *peer, tg_str_t method, tg_str_t params);

/*
 * Appends the text of a broadcast, which many peers share, so that the host
 * need not copy it to each peer's out. form: the dialect of a whole message,
 * or TG_DIALECT_AUTO for the part after the head of a subscription's message.
 * TG_OK or TG_NOMEM.
 */
int tg_broadcast_write_json(tg_dialect_t form, tg_str_t method, tg_str_t params,
                            tg_buf_t *out);

/*
 * Calls send for each message of a broadcast that the peer must be sent after
 * the bytes in out. form says which text of tg_broadcast_write_json() to use;
 * head is sent before the text and is valid until send returns.
 */
void tg_peer_foreach_broadcast(tg_peer_t *peer, tg_str_t method,
                               void (*send)(void *data, tg_dialect_t form,
                                            tg_str_t head),
                               void *data);

/*
 * Returns the largest message of the connection in bytes, without its line
 * feed.
 */
size_t tg_peer_max_message_size(const tg_peer_t *peer);

/*
 * Returns the largest reply in bytes: tg_peer_max_message_size(), but at least
 * the size of the error that reports an oversized reply.
 */
size_t tg_peer_max_reply_size(const tg_peer_t *peer);

/*
 * Checks whether a reply with this outcome surely exceeds
 * tg_peer_max_reply_size(), before the outcome is checked or written. Returns
 * the minimum size of the reply in bytes if so, else 0.
 */
size_t tg_peer_check_reply_size(const tg_peer_t *peer, const tg_reply_t *reply,
                                const tg_outcome_t *outcome);

/* Checks whether tg_peer_send_broadcast() would send anything now. */
int tg_peer_has_broadcasts(const tg_peer_t *peer);

/*
 * Checks whether the client has sent nothing yet but still gets notifications.
 * Its dialect is unknown; they are sent as JSON-RPC.
 */
int tg_peer_is_pre_request_listener(const tg_peer_t *peer);

/*
 * Sends list_changed for entries of this kind to a client that accepts it.
 * Resources and templates have one notification.
 */
void tg_peer_notify_list_changed(tg_peer_t *peer, tg_catalog_entry_type_t kind);

/* Checks whether the client is notified of other resources. */
int tg_peer_listens_to_resources(const tg_peer_t *peer);

/* Sends list_changed for each kind with its bit `1 << kind` in changes. */
void tg_peer_notify_list_changes(tg_peer_t *peer, unsigned changes);

/*
 * Sends resources/updated to a client that subscribed to the URI, which is
 * plain text, and may see the resource.
 */
void tg_peer_notify_resource_updated(tg_peer_t *peer, tg_str_t uri);

/* Checks whether the client subscribed to a resource. uri is plain text. */
int tg_peer_is_subscribed(const tg_peer_t *peer, tg_str_t uri);

/*
 * The version of a resource's content that the client knows, 0 at first. It
 * belongs to the host and is kept over a handoff. uri is plain text.
 */
uint64_t tg_peer_get_resource_version(const tg_peer_t *peer, tg_str_t uri);
void tg_peer_set_resource_version(tg_peer_t *peer, tg_str_t uri,
                                  uint64_t version);

/* Calls visit for each resource to which the client subscribed, once. */
void tg_peer_foreach_subscribed(const tg_peer_t *peer,
                                void (*visit)(void *data, tg_str_t uri),
                                void *data);

/* Ends all subscriptions of subscriptions/listen, and notifies the client. */
void tg_peer_end_subscriptions(tg_peer_t *peer, tg_str_t reason);

/*
 * Sends the dialect's shutdown notice and accepts no further request: final
 * results of subscriptions, the shutdown frame of relay, and for a Toolgate
 * client the notice that no unanswered request was started. Call when ncalls
 * is 0.
 */
void tg_peer_send_shutdown_notice(tg_peer_t *peer, tg_str_t reason);

/*
 * Refuses the client with a reason, if the dialect can express it, and accepts
 * no further request.
 */
void tg_peer_refuse_client(tg_peer_t *peer, tg_str_t why);

/* Sets the memory that the host uses for a deferred call, in bytes. */
void tg_call_set_host_bytes(tg_call_t *call, size_t bytes);

/* What the connection waits for. The host chooses the timeout for each. */
typedef enum {
    TG_WAIT_NOTHING, /* nothing from the client: its calls are running */
    TG_WAIT_FRAME,   /* the rest of a frame */
    TG_WAIT_IDLE,    /* the beginning of a frame */
    TG_WAIT_READ     /* the client to read its responses */
} tg_peer_wait_t;

/*
 * Returns what the connection waits for. unsent: bytes of output not yet sent;
 * left: bytes of input not yet consumed.
 */
tg_peer_wait_t tg_peer_get_wait(const tg_peer_t *peer, size_t unsent,
                                size_t left);

/*
 * Returns the memory used for this client in bytes: output, incomplete batch
 * replies, calls with the host's memory for them, parked requests and
 * subscriptions. Unconsumed input is not included.
 */
size_t tg_peer_memory_size(const tg_peer_t *peer);

#endif
