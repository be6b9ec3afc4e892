/*
 * One request of MCP's Streamable HTTP transport, and the messages of its
 * response: one in a JSON body, or any number in an event stream.
 *
 *     (queued) ──▶ start ──▶ on_event, on_event, … (is_over)
 *
 * on_event() must only schedule work: libcurl may be on the stack.
 */
#ifndef TG_MCP_EXCHANGE_H
#define TG_MCP_EXCHANGE_H

#include "protocol/tg_sse.h"
#include "runner/http/tg_http.h"

/* Maximum size of the body of an error response that is read, in bytes. */
#define TG_MCP_EXCHANGE_ERROR_MAX 65536

/* Maximum number of unread bytes of messages; then no more is received. */
#define TG_MCP_EXCHANGE_UNREAD_MAX 65536

/* Maximum session id in characters; servers with longer ones are rejected. */
#define TG_MCP_EXCHANGE_SESSION_ID_MAX 1024

/* Size of a buffer for a header or a URL that a message quotes. */
#define TG_MCP_EXCHANGE_QUOTED_MAX 256

/* Size of the buffer for the reason of a missing response. */
#define TG_MCP_EXCHANGE_REASON_MAX 256

typedef enum {
    TG_MCP_EXCHANGE_TEXT, /* another type or none; may still be JSON */
    TG_MCP_EXCHANGE_JSON,
    TG_MCP_EXCHANGE_EVENTS
} tg_mcp_exchange_type_t;

typedef struct tg_mcp_exchange_s tg_mcp_exchange_t;
typedef TAILQ_HEAD(tg_mcp_exchange_list_s,
                   tg_mcp_exchange_s) tg_mcp_exchange_list_t;

struct tg_mcp_exchange_s {
    TAILQ_ENTRY(tg_mcp_exchange_s) link;

    /* Called after messages have arrived or the exchange has ended. */
    void (*on_event)(tg_mcp_exchange_t *exchange);

    void *host;

    /* NULL: the exchange is not started, or is over. */
    tg_http_exchange_t *http;

    char *body; /* body of the request, owned; NULL: no body */
    size_t len;
    size_t max; /* maximum size of a received message */

    char *const *secrets; /* headers whose values must be hidden */
    size_t nsecrets;

    uint64_t request;  /* id of the request in `body`; 0: not a request */
    unsigned session;  /* number of the session of this exchange */
    unsigned nresumed; /* number of resumptions since the last event */

    /* Loop time at which the exchange is resumed or dropped, in ms. */
    uint64_t due;

    unsigned is_initialize:1;  /* the message is the request `initialize` */
    unsigned is_initialized:1; /* the message is notifications/initialized */
    unsigned is_cancel:1;      /* the message is notifications/cancelled */
    unsigned is_reply:1;       /* response to a request of the server */

    /* Stream of messages that belong to no request. */
    unsigned is_listen_stream:1;

    unsigned is_started:1;
    unsigned is_old_probe:1; /* a GET checks for the old transport HTTP+SSE */
    unsigned is_resuming:1;  /* a GET resumes the stream after its last event */

    int status; /* status of the response; 0: no headers yet */
    tg_mcp_exchange_type_t type;
    tg_sse_t events;
    tg_buf_t text;        /* body of a response that is not a stream */
    tg_buf_t in;          /* received messages, one per line */
    size_t inspected_len; /* bytes of `in` that the owner has checked */

    /* Id in Mcp-Session-Id of the response, or empty. */
    char session_id[TG_MCP_EXCHANGE_SESSION_ID_MAX + 1];

    size_t session_len; /* length of an invalid session id; 0: valid */

    /* Retry-After header, or empty. */
    char retry_after[TG_MCP_EXCHANGE_QUOTED_MAX];

    /* WWW-Authenticate header, or empty. */
    char authenticate[TG_MCP_EXCHANGE_QUOTED_MAX];

    /* Members that are valid after the end: */
    int is_over;
    int was_sent;
    int is_too_large;
    int is_over_memory; /* received data exceeds the memory limit */
    int is_redirect;

    /* The server has the transport HTTP+SSE of 2024-11-05. */
    int is_old_sse;

    int is_session_lost; /* the server does not know the session */

    /* Target of a redirect without its query. */
    char redirect[TG_MCP_EXCHANGE_QUOTED_MAX];

    int is_refused; /* the message cannot be sent over HTTP */

    /* Reason why there is no complete response, or empty. */
    char why[TG_MCP_EXCHANGE_REASON_MAX];
};

/* Creates an exchange, which owns `body`. NULL: no memory; `body` is freed. */
tg_mcp_exchange_t *tg_mcp_exchange_new(
    void (*on_event)(tg_mcp_exchange_t *exchange), void *host, char *body,
    size_t len, size_t max);

/* Cancels and frees the exchange. Must not be called from on_event(). */
void tg_mcp_exchange_free(tg_mcp_exchange_t *exchange);

/*
 * Sends the request with method, URL and headers as in tg_http_request_t. If
 * that fails, the exchange is over and on_event() is called.
 */
void tg_mcp_exchange_start(tg_mcp_exchange_t *exchange, tg_http_pool_t *pool,
                           tg_http_request_t *request);

/* Continues to receive, after the owner has consumed a part of `in`. */
void tg_mcp_exchange_resume(tg_mcp_exchange_t *exchange);

/* Prepares the exchange for another start, to resume its stream. */
void tg_mcp_exchange_reset(tg_mcp_exchange_t *exchange);

/* Returns the id of the last event; empty: none, or invalid in a header. */
tg_str_t tg_mcp_exchange_get_last_id(const tg_mcp_exchange_t *exchange);

/*
 * Checks whether it is a notification or response, but not
 * notifications/initialized, for which others wait.
 */
static inline int
tg_mcp_exchange_is_notification(const tg_mcp_exchange_t *exchange)
{
    return exchange->request == 0 && exchange->body != NULL
           && !exchange->is_initialized;
}

static inline int
tg_mcp_exchange_is_success(const tg_mcp_exchange_t *exchange)
{
    return exchange->status >= 200 && exchange->status < 300;
}

#endif
