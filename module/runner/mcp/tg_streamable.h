/*
 * An MCP server behind Streamable HTTP.  Each message that goes to it is an
 * exchange of its own (tg_mcp_exchange.h), and what comes back on any of them
 * is heard as from one connection.
 *
 * Legacy servers may have sessions: the id that they gave with the handshake
 * goes with each message from then on.  When one does not know it any more,
 * another session begins, and what it did not take is sent again in that.
 *
 * What belongs to no request comes on a channel: a GET, or to modern servers
 * the request subscriptions/listen.  One that has ended is opened again.
 *
 * Each server is a source of the scheduler: its messages are read in time
 * slices, and while too many replies to it are on their way, not at all.
 *
 *   tg_streamable_send.c  what is sent, and with which headers
 *   tg_streamable_response.c   how exchanges end
 *   tg_streamable_session.c  what is said of sessions that are over
 *   tg_streamable_listen.c  the channel
 *   tg_streamable.c       the transport: what is heard, and when
 */
#ifndef TG_STREAMABLE_H
#define TG_STREAMABLE_H

#include "runner/mcp/tg_mcp_exchange.h"
#include "runner/mcp/tg_mcp_server_url.h"
#include "runner/mcp/tg_mcp_transport.h"

/* Requests that are sent at once; more wait. */
#define TG_STREAMABLE_REQUESTS_MAX 128
/* The same of messages that are no requests; … */
#define TG_STREAMABLE_NOTIFICATIONS_MAX 32
/* … and of these, cancellations that may wait. */
#define TG_STREAMABLE_CANCELS_MAX 256
/*
 * Replies to requests of the server's that are on their way; with more,
 * nothing that the server sends is read.
 */
#define TG_STREAMABLE_REPLIES_MAX 64
/* Of a time slice, what the end of an exchange counts as. */
#define TG_STREAMABLE_STEPS 4096
/* For the answer to a message that is no request. */
#define TG_STREAMABLE_NOTIFICATION_MS 30000
/* For the end of a session, which nobody waits for longer. */
#define TG_STREAMABLE_DELETE_MS 2000
/* For the first event of a server that may be one of HTTP+SSE. */
#define TG_STREAMABLE_PROBE_MS 2000
/* A stream whose request has its answer ends by itself; or so long after. */
#define TG_STREAMABLE_LINGER_MS 1000
/* Before a stream is opened again; it doubles. */
#define TG_STREAMABLE_RETRY_MIN_MS 1000
#define TG_STREAMABLE_RETRY_MAX_MS 30000
/* A channel that was there for so long was no failure. */
#define TG_STREAMABLE_STABLE_MS 10000
/* Times that the stream of a request is resumed without an event. */
#define TG_STREAMABLE_RESUMES_MAX 10
/* Of a version, "2025-11-25" */
#define TG_STREAMABLE_VERSION_MAX 32

typedef struct {
    tg_mcp_exchange_t *exchange; /* NULL: it is not open */
    uint64_t due;       /* when a modern server is asked for it; 0: not */
    uint64_t delay;     /* before it is opened again */
    uint64_t opened_at; /* 0: this one was not, yet */
    unsigned nopened;   /* in this session */
} tg_streamable_listen_t;

typedef struct {
    tg_mcp_conn_t *mcp_conn;
    void (*on_event)(tg_mcp_exchange_t *exchange);
    uv_timer_t timer;
    /* waits while something new came that nobody read */
    tg_sched_source_t source;
    tg_mcp_exchange_list_t exchanges;
    tg_mcp_exchange_t
        *reading;            /* its messages are being read; NULL: it is gone */
    unsigned nrequests;      /* of them, that are sent and not over */
    unsigned nnotifications; /* likewise */
    unsigned nreplies;       /* of the exchanges */
    tg_mcp_exchange_t *ready; /* notifications/initialized: the others wait */
    tg_streamable_listen_t listen_stream;
    unsigned session; /* its number */
    char session_id[TG_MCP_EXCHANGE_SESSION_ID_MAX + 1];
    char version[TG_STREAMABLE_VERSION_MAX + 1]; /* that was agreed on */
    int is_open;
    int is_unreachable; /* it could not be reached */
    int is_closing;
    char why[TG_MCP_EXCHANGE_REASON_MAX
             + 64];      /* it is lost, as explain has it */
    tg_buf_t init_error; /* what it said to initialize, while it is probed */
} tg_streamable_t;

/* --- tg_streamable_send.c --- */

/* Appends a header, which ends with a NUL. */
void tg_streamable_append_header(tg_buf_t *headers, const char *name,
                                 const char *value);

/* All of them, with those of the config, to be freed; NULL: no memory. */
const char **tg_streamable_make_header_list(const tg_mcp_server_url_t *url,
                                            tg_buf_t *headers);

/* A request as all are that go to this server. */
tg_http_request_t tg_streamable_make_request(const tg_mcp_server_url_t *url,
                                             const char *method,
                                             const char *const *headers);

/* Makes exchanges of what the instance's caller has to say. */
void tg_streamable_queue_messages(tg_streamable_t *streamable);

/* Starts those that may be started. */
void tg_streamable_start_queued(tg_streamable_t *streamable);

/* Opens the channel of a legacy server, from its last event on. */
void tg_streamable_open_listen(tg_streamable_t *streamable);

/* Ends the session: NULL when there is none, or nobody to tell. */
tg_mcp_exchange_t *tg_streamable_delete_session(tg_streamable_t *streamable);

/* Ends an exchange, whatever goes on. */
void tg_streamable_drop_exchange(tg_streamable_t *streamable,
                                 tg_mcp_exchange_t *exchange);

/* --- tg_streamable_response.c --- */

/* One is over, and all that it said was heard; it may be gone then. */
void tg_streamable_on_exchange_done(tg_streamable_t *streamable,
                                    tg_mcp_exchange_t *exchange);

/* --- tg_streamable_session.c --- */

/* Does a status say that the session is over, or does what came with it? */
int tg_streamable_is_session_unknown(const tg_streamable_t *streamable,
                                     const tg_mcp_exchange_t *exchange);

/* Does a message that came in the place of an answer say so? */
int tg_streamable_is_session_lost(const tg_streamable_t *streamable,
                                  const tg_mcp_exchange_t *exchange,
                                  tg_str_t line);

/* Is it a request of the client's own, such as for the list? */
int tg_streamable_is_own_request(const tg_streamable_t *streamable,
                                 const tg_mcp_exchange_t *exchange);

/* Begins another session after one with this number; says whether it does. */
int tg_streamable_renew_session(tg_streamable_t *streamable, unsigned session);

/* --- tg_streamable_listen.c --- */

/* The channel has ended: it is opened again, or there is none. */
void tg_streamable_on_listen_done(tg_streamable_t *streamable,
                                  tg_mcp_exchange_t *exchange);

/* Has the channel been opened, or is it time to? */
void tg_streamable_update_listen(tg_streamable_t *streamable);

#endif
