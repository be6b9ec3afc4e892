/*
 * A client of one server: a caller, a connection that is opened again when it
 * is lost, and the requests sent on it.
 *
 * A connection begins with a hello and a handshake, and requests follow the
 * handshake's response. From then on the server sends a shutdown notice before
 * it closes. Requests that it did not start are sent again on the next
 * connection and do not run twice; read-only requests are sent again in any
 * case.
 *
 * The client has no timeout for requests: the owner sets one.
 */
#ifndef TG_UV_CLIENT_H
#define TG_UV_CLIENT_H

#include "protocol/tg_mcp_client.h"
#include "transport/tg_uv_endpoint.h"

/*
 * Connections that may be lost during one request, or fail in a row. The
 * doubling delays add up to at least five seconds, longer than a restart of
 * NGINX.
 */
#define TG_UV_CLIENT_TRIES_MAX 8
/* First delay before a new connection, in ms. */
#define TG_UV_CLIENT_RETRY_DELAY_MIN 20
/* Longest delay of a client that reconnects without end, in ms. */
#define TG_UV_CLIENT_RETRY_DELAY_MAX 1000
/* Lost connections per request of a client with has_endless_connect. */
#define TG_UV_CLIENT_REQUEST_TRIES_MAX 20
/*
 * Connections in a row that a server may accept and close silently. An old
 * worker that exits may do so, but not repeatedly.
 */
#define TG_UV_CLIENT_SILENT_TRIES_MAX 4
/* Minimum lifetime of a connection in ms for a reconnect without delay. */
#define TG_UV_CLIENT_LIFETIME_MIN 100
/* Time in ms for writing the last bytes before closing. */
#define TG_UV_CLIENT_CLOSE_TIMEOUT 1000
/*
 * Bytes of automatic replies that the server does not read. The client then
 * stops reading, so TG_CALLER_REFUSALS_MAX is never reached.
 */
#define TG_UV_CLIENT_REFUSALS_MAX 524288
/* Largest number of pages of a list, each up to 512 KiB. */
#define TG_UV_CLIENT_LIST_PAGES_MAX 256

typedef struct tg_uv_client_s tg_uv_client_t;
typedef struct tg_uv_request_s tg_uv_request_t;

typedef enum {
    TG_UV_CLIENT_IDLE,       /* no connection, and none is needed */
    TG_UV_CLIENT_WAITING,    /* waiting for the next attempt to connect */
    TG_UV_CLIENT_CONNECTING, /* until the response to the handshake */
    TG_UV_CLIENT_OPEN,
    TG_UV_CLIENT_CLOSING,
    TG_UV_CLIENT_CLOSED
} tg_uv_client_state_t;

/* A request of the owner, who sets the members before the blank line. */
struct tg_uv_request_s {
    tg_str_t name;   /* plain name of a method, or escaped name of a tool */
    tg_str_t params; /* params of a method, or absent; arguments of a tool */
    /* further params of a tool, see tg_caller_call_tool() */
    tg_str_t extra_members;
    /* list whose pages are requested until it is complete */
    tg_mcp_list_t *list;
    unsigned is_tool_call:1;
    unsigned is_read_only:1; /* changes nothing; lists are read-only, too */

    unsigned is_sent:1;
    unsigned is_queued:1; /* in the client's list */
    unsigned tries;
    uint64_t id;
    uint64_t seq;
    tg_uv_request_t *next;
    tg_uv_request_t *prev;
};

typedef struct {
    /*
     * Delivers the one response to a request, which the client has removed.
     * LOST and NOT_STARTED: the client does not send it again.
     */
    void (*on_response)(void *host, tg_uv_request_t *request,
                        const tg_response_t *answer);

    /* Reports that the handshake was answered and the connection is open. */
    void (*opened)(void *host);

    /* Reports the loss of the connection, before requests are answered. */
    void (*on_disconnect)(void *host);
    /*
     * A connection ended or failed, and its requests were handled. The client
     * waits for the next one, or has given up: it is then idle, and all
     * requests are answered.
     */
    void (*on_conn_lost)(void *host, int was_open);

    void (*notification)(void *host, tg_str_t method,
                         const tg_message_t *message); /* May be NULL. */

    /*
     * Performs the owner's handshake, which ends with
     * tg_uv_client_complete_handshake(). NULL: the client performs one.
     */
    int (*start_handshake)(void *host);
    /* Returns 1 for a response to the owner's own request. May be NULL. */
    int (*answer)(void *host, void *tag, const tg_response_t *answer);
    /*
     * Sends a request with its address as the tag. TG_OK; TG_CLOSED: it was not
     * sent or was removed from the client. NULL: the client sends it.
     */
    int (*send_request)(void *host, tg_uv_request_t *request);

    /* Reports a shutdown notice, see tg_caller_ops_t. May be NULL. */
    void (*on_shutdown_notice)(void *host, tg_str_t reason, int is_drained);
    /* Logs a message, see tg_caller_ops_t. May be NULL. */
    void (*log)(void *host, const char *text);
    /* Delivers a request of the server, see tg_caller_ops_t. May be NULL. */
    void (*on_request)(void *host, const tg_message_t *message);

    /* Reports an attempt to connect; may change the endpoint. May be NULL. */
    void (*on_connect_attempt)(void *host);

    /* After 0 the owner calls tg_uv_client_resume(). NULL: always 1. */
    int (*can_read)(void *host);

    /* Gets each message; is_theirs: sent by the server. May be NULL. */
    void (*trace)(void *host, int is_theirs, tg_str_t bytes);

    /* The last callback: tg_uv_client_close() is complete. May be NULL. */
    void (*closed)(void *host);
} tg_uv_client_ops_t;

struct tg_uv_client_s {
    uv_loop_t *loop;
    tg_uv_sched_t *sched; /* scheduler of the loop */
    const tg_uv_client_ops_t *ops;
    void *host;
    const tg_uv_endpoint_t *endpoint;
    const char *info; /* clientInfo as JSON, or NULL */
    /* timeout of an attempt to connect in ms; 0: none */
    uint64_t connect_timeout;
    uv_timer_t timer; /* next attempt, its timeout, or the timeout of closing */
    tg_caller_ops_t caller_ops;
    tg_caller_t caller;
    tg_uv_conn_t conn;
    tg_uv_client_state_t state;
    int err;         /* reason why there is no connection: libuv error or 0 */
    unsigned tries;  /* connections in a row that failed */
    uint64_t opened; /* loop time of the last handshake, in ms */
    /* Random state for delays: many clients may lose one server at once. */
    uint64_t jitter;
    unsigned has_conn:1;        /* conn->ops->closed is still to be called */
    unsigned is_read_stopped:1; /* the owner does not allow reading */
    unsigned was_open:1;   /* a connection has been open: there is a server */
    unsigned is_drained:1; /* the server sent a drained shutdown notice */
    /* reconnect without end to a server that was reached once */
    unsigned has_endless_reconnect:1;
    /* connect without end to a server that was never reached */
    unsigned has_endless_connect:1;
    unsigned is_persistent:1; /* keep a connection even without requests */
    /* handshake by `initialize` with info, otherwise by `ping` */
    unsigned has_mcp_initialize:1;
    uint64_t seq;
    tg_uv_request_t *first;
    tg_uv_request_t *last;
};

/*
 * Initializes a client, zeroed except for endpoint, info, connect_timeout,
 * has_endless_reconnect, has_endless_connect, is_persistent and
 * has_mcp_initialize. max_frame: largest message in both directions, in bytes.
 * ops, endpoint and info must outlive the client.
 */
void tg_uv_client_init(tg_uv_client_t *client, tg_uv_sched_t *sched,
                       const tg_uv_client_ops_t *ops, void *host,
                       tg_dialect_t dialect, size_t max_frame);

void tg_uv_client_connect(tg_uv_client_t *client);

/* Completes the owner's own handshake: requests are sent from now on. */
void tg_uv_client_complete_handshake(tg_uv_client_t *client);

/* Closes the connection as if it had been lost. */
void tg_uv_client_drop_conn(tg_uv_client_t *client);

/* Closes the connection as if it had never been open. */
void tg_uv_client_reject_conn(tg_uv_client_t *client);

/* Sends a request, now or later. Call tg_uv_client_flush() then. */
void tg_uv_client_send_request(tg_uv_client_t *client,
                               tg_uv_request_t *request);

/*
 * Removes a request and notifies the server: by $/cancelRequest for a method
 * that is not read-only, otherwise by MCP's notification.
 */
void tg_uv_client_cancel_request(tg_uv_client_t *client,
                                 tg_uv_request_t *request);

/* Answers all requests that were not sent with NOT_STARTED. */
void tg_uv_client_fail_unsent(tg_uv_client_t *client);

void tg_uv_client_notify(tg_uv_client_t *client, tg_str_t method,
                         tg_str_t params);

void tg_uv_client_flush(tg_uv_client_t *client);

/* Resumes reading if ops->can_read now allows it. */
void tg_uv_client_resume(tg_uv_client_t *client);

/* Writes the output, then closes. Requests are no longer answered. */
void tg_uv_client_close(tg_uv_client_t *client);

/* Frees a closed client. */
void tg_uv_client_deinit(tg_uv_client_t *client);

#endif
