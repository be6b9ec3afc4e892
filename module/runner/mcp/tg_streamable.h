/*
 * MCP's Streamable HTTP transport. Each message to the server is an exchange
 * (tg_mcp_exchange.h); messages in all responses belong to one connection.
 *
 * Legacy servers may have sessions, whose id each message has. If a server
 * loses one, another begins, and messages that it did not accept are sent
 * again. Messages without a request arrive on a listen stream, the response to
 * a GET or, of modern servers, to subscriptions/listen. It is opened again
 * after its end. A server is a source of the scheduler; its messages are not
 * read while too many responses to it are unfinished.
 *
 *   tg_streamable_send.c      outgoing messages and their headers
 *   tg_streamable_response.c  end of exchanges
 *   tg_streamable_session.c   detection of lost sessions
 *   tg_streamable_listen.c    listen stream
 *   tg_streamable.c           transport interface and incoming messages
 */
#ifndef TG_STREAMABLE_H
#define TG_STREAMABLE_H

#include "runner/mcp/tg_mcp_exchange.h"
#include "runner/mcp/tg_mcp_server_url.h"
#include "runner/mcp/tg_mcp_transport.h"

/* Maximum number of concurrent requests. More requests wait. */
#define TG_STREAMABLE_REQUESTS_MAX 128

/* Maximum number of concurrent messages that are not requests. */
#define TG_STREAMABLE_NOTIFICATIONS_MAX 32

/* Maximum number of cancellations that wait. */
#define TG_STREAMABLE_CANCELS_MAX 256

/* Number of unfinished responses to a server, above which it is not read. */
#define TG_STREAMABLE_REPLIES_MAX 64

/* Cost of the end of an exchange in a time slice, in bytes. */
#define TG_STREAMABLE_STEPS 4096

/* Timeout in ms of a message that is not a request. */
#define TG_STREAMABLE_NOTIFICATION_MS 30000

/* Timeout in ms of the DELETE that ends a session. */
#define TG_STREAMABLE_DELETE_MS 2000

/* Time in ms to wait for the first event of a possible HTTP+SSE server. */
#define TG_STREAMABLE_PROBE_MS 2000

/* Time in ms after which the stream of an answered request is closed. */
#define TG_STREAMABLE_LINGER_MS 1000

/* Minimum delay before a stream is reopened, in ms; doubled each time. */
#define TG_STREAMABLE_RETRY_MIN_MS 1000

/* Maximum delay before a stream is reopened, in ms. */
#define TG_STREAMABLE_RETRY_MAX_MS 30000

/* Time in ms after which a listen stream is stable: its delay is reset. */
#define TG_STREAMABLE_STABLE_MS 10000

/* Maximum number of times that a stream is resumed without an event. */
#define TG_STREAMABLE_RESUMES_MAX 10

/* Maximum length of a protocol version, such as "2025-11-25". */
#define TG_STREAMABLE_VERSION_MAX 32

typedef struct {
    tg_mcp_exchange_t *exchange; /* exchange of the stream; NULL: not open */
    uint64_t due;       /* time of the next subscriptions/listen; 0: none */
    uint64_t delay;     /* delay in ms before the stream is opened again */
    uint64_t opened_at; /* time of its opening; 0: not opened yet */
    unsigned nopened;   /* number of times it was opened in this session */
} tg_streamable_listen_t;

typedef struct {
    tg_mcp_conn_t *mcp_conn;
    void (*on_event)(tg_mcp_exchange_t *exchange);
    uv_timer_t timer;

    /* Waits while there is unread input or another event. */
    tg_sched_source_t source;
    tg_mcp_exchange_list_t exchanges;

    /* Exchange whose messages are being read; NULL: none, or freed. */
    tg_mcp_exchange_t *reading;

    unsigned nrequests; /* number of requests that are sent and not over */

    /* Number of notifications that are sent and not over. */
    unsigned nnotifications;

    unsigned nreplies; /* number of responses in `exchanges` */

    /* notifications/initialized, for which others wait; or NULL. */
    tg_mcp_exchange_t *ready;

    tg_streamable_listen_t listen_stream;
    unsigned session; /* number of the current session */
    char session_id[TG_MCP_EXCHANGE_SESSION_ID_MAX + 1];
    char version[TG_STREAMABLE_VERSION_MAX + 1]; /* negotiated version */
    int is_open;
    int is_unreachable; /* the server could not be reached */
    int is_closing;
    char why[TG_MCP_EXCHANGE_REASON_MAX + 64]; /* reason of a lost connection */
    tg_buf_t init_error; /* error response to `initialize` during the probe */
} tg_streamable_t;

static inline uint64_t
tg_streamable_get_now(const tg_streamable_t *streamable)
{
    return uv_now(streamable->timer.loop);
}

/* --- sending (tg_streamable_send.c) --- */

void tg_streamable_append_header(tg_buf_t *headers, const char *name,
                                 const char *value);

/*
 * Returns an array of `headers` and the config's headers, for the caller to
 * free. It borrows the strings. NULL: no memory.
 */
const char **tg_streamable_make_header_list(const tg_mcp_server_url_t *url,
                                            tg_buf_t *headers);

/* Returns a request with the options of this server. */
tg_http_request_t tg_streamable_make_request(const tg_mcp_server_url_t *url,
                                             const char *method,
                                             const char *const *headers);

/* Creates exchanges for the output of the connection's caller. */
void tg_streamable_queue_messages(tg_streamable_t *streamable);

/* Starts queued exchanges, as far as the limits allow. */
void tg_streamable_start_queued(tg_streamable_t *streamable);

/* Queues the GET of a legacy server's listen stream. */
void tg_streamable_open_listen(tg_streamable_t *streamable);

/* Sends the DELETE that ends the session. Returns its exchange, or NULL. */
tg_mcp_exchange_t *tg_streamable_delete_session(tg_streamable_t *streamable);

void tg_streamable_remove_exchange(tg_streamable_t *streamable,
                                   tg_mcp_exchange_t *exchange);

/* Removes an exchange from the list and frees it, even if it is not over. */
void tg_streamable_drop_exchange(tg_streamable_t *streamable,
                                 tg_mcp_exchange_t *exchange);

/* --- end of exchanges (tg_streamable_response.c) --- */

/* Handles the end of an exchange whose messages are read. May free it. */
void tg_streamable_on_exchange_done(tg_streamable_t *streamable,
                                    tg_mcp_exchange_t *exchange);

/* --- sessions (tg_streamable_session.c) --- */

/* Checks status and body for a session that the server does not know. */
int tg_streamable_is_session_unknown(const tg_streamable_t *streamable,
                                     const tg_mcp_exchange_t *exchange);

/* Checks whether an error message means that the session is lost. */
int tg_streamable_is_session_lost(const tg_streamable_t *streamable,
                                  const tg_mcp_exchange_t *exchange,
                                  tg_str_t line);

/* Checks for a request of the MCP client itself, such as tools/list. */
int tg_streamable_is_own_request(const tg_streamable_t *streamable,
                                 const tg_mcp_exchange_t *exchange);

/*
 * Begins another session, unless this one was replaced. Returns 1 if there is
 * or will be another, 0 if not.
 */
int tg_streamable_renew_session(tg_streamable_t *streamable, unsigned session);

/* --- listen stream (tg_streamable_listen.c) --- */

/* Handles the end of the listen stream: opens it again later, if possible. */
void tg_streamable_on_listen_done(tg_streamable_t *streamable,
                                  tg_mcp_exchange_t *exchange);

/* Handles a newly opened listen stream, and opens one that is due. */
void tg_streamable_update_listen(tg_streamable_t *streamable);

#endif
