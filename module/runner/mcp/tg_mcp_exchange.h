/*
 * One request of MCP's Streamable HTTP, and the messages that come back: one
 * in a body of JSON, or any number in a stream of events.
 *
 *     (queued) ──▶ start ──▶ heard heard … over
 *
 * heard and over are told by a call that must only note it: libcurl may be
 * beneath it.
 */
#ifndef TG_MCP_EXCHANGE_H
#define TG_MCP_EXCHANGE_H

#include "protocol/tg_sse.h"
#include "runner/http/tg_http.h"

/* Bytes that are read of an answer with an error. */
#define TG_MCP_EXCHANGE_ERROR_MAX 65536
/* Bytes of messages that nobody has read; with more, no more is received. */
#define TG_MCP_EXCHANGE_UNREAD_MAX 65536
/* Characters of a session's id; with a longer one the server cannot be used. */
#define TG_MCP_EXCHANGE_SESSION_ID_MAX 1024
/* Bytes of a header or a URL that a message quotes. */
#define TG_MCP_EXCHANGE_QUOTED_MAX 256
/* Bytes of the reason why there was no answer. */
#define TG_MCP_EXCHANGE_REASON_MAX 256

typedef enum {
    TG_MCP_EXCHANGE_TEXT, /* another type, or none: maybe JSON after all */
    TG_MCP_EXCHANGE_JSON,
    TG_MCP_EXCHANGE_EVENTS
} tg_mcp_exchange_type_t;

typedef struct tg_mcp_exchange_s tg_mcp_exchange_t;
typedef TAILQ_HEAD(tg_mcp_exchange_list_s,
                   tg_mcp_exchange_s) tg_mcp_exchange_list_t;

struct tg_mcp_exchange_s {
    TAILQ_ENTRY(tg_mcp_exchange_s) link;
    void (*on_event)(
        tg_mcp_exchange_t *exchange); /* something was heard, or all was */
    void *host;
    tg_http_exchange_t *http; /* NULL: it was not started, or is over */
    char *body;               /* owned; NULL: there is none */
    size_t len;
    size_t max; /* bytes of a message that comes */

    char *const *secrets; /* headers, whose values nobody may see */
    size_t nsecrets;

    uint64_t request;  /* the id of the request in body; 0: it is none */
    unsigned session;  /* the number of the session it belongs to */
    unsigned nresumed; /* times that its stream was, without an event */
    uint64_t due;      /* of the loop's clock: to be resumed, or given up */
    unsigned is_initialize:1;    /* initialize */
    unsigned is_initialized:1;   /* notifications/initialized */
    unsigned is_cancel:1;        /* notifications/cancelled */
    unsigned is_reply:1;         /* to a request of the server's */
    unsigned is_listen_stream:1; /* what belongs to no request comes here */
    unsigned is_started:1;
    unsigned is_old_probe:1; /* a GET asks whether it is of the old transport */
    unsigned is_resuming:1;  /* by GET, from the last event on */

    int status; /* 0: no head came */
    tg_mcp_exchange_type_t type;
    tg_sse_t events;
    tg_buf_t text;        /* the body of an answer that is no stream */
    tg_buf_t in;          /* the messages that came, a line each */
    size_t inspected_len; /* bytes of in that the owner has looked at */
    char session_id[TG_MCP_EXCHANGE_SESSION_ID_MAX + 1]; /* that it was given */
    size_t session_len; /* of one that cannot be used; 0: it can */
    char retry_after[TG_MCP_EXCHANGE_QUOTED_MAX]; /* the header, or empty */
    /* WWW-Authenticate, likewise */
    char authenticate[TG_MCP_EXCHANGE_QUOTED_MAX];

    /* once it is over: */
    int is_over;
    int was_sent;
    int is_too_large;
    int is_over_memory; /* all that is received holds too much memory */
    int is_redirect;
    int is_old_sse;      /* it is a server of HTTP+SSE, of 2024-11-05 */
    int is_session_lost; /* it says that it does not know the session */
    char redirect[TG_MCP_EXCHANGE_QUOTED_MAX]; /* where to, without its query */
    int is_refused; /* it could not be put into words of HTTP */
    /* there was no (whole) answer; or empty */
    char why[TG_MCP_EXCHANGE_REASON_MAX];
};

/* Takes body over; NULL: no memory, and it is freed. */
tg_mcp_exchange_t *tg_mcp_exchange_new(
    void (*on_event)(tg_mcp_exchange_t *exchange), void *host, char *body,
    size_t len, size_t max);

/* Ends it, whatever goes on.  Not from news. */
void tg_mcp_exchange_free(tg_mcp_exchange_t *exchange);

/*
 * Sends it; the method and headers are the caller's, as in tg_http_request_t.
 * One that cannot be sent is over, which news tells.
 */
void tg_mcp_exchange_start(tg_mcp_exchange_t *exchange, tg_http_pool_t *pool,
                           tg_http_request_t *request);

/* Receives on, after its owner has read of in. */
void tg_mcp_exchange_resume(tg_mcp_exchange_t *exchange);

/* It is to be started again, to go on where its stream has ended. */
void tg_mcp_exchange_reset(tg_mcp_exchange_t *exchange);

/* The id to resume its stream with; empty: none that a header can have. */
tg_str_t tg_mcp_exchange_get_last_id(const tg_mcp_exchange_t *exchange);

/* No request; but the one that others wait for is none of these. */
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
