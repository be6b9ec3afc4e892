/*
 * An MCP server behind Streamable HTTP.  Each message that goes to it is an
 * exchange of its own (tg_exchange.h), and what comes back on any of them is
 * heard as from one connection.
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
 *   tg_streamable_end.c   how exchanges end
 *   tg_streamable_lost.c  what is said of sessions that are over
 *   tg_streamable_channel.c  the channel
 *   tg_streamable.c       the transport: what is heard, and when
 */
#ifndef TG_STREAMABLE_H
#define TG_STREAMABLE_H

#include "runner/mcp/tg_exchange.h"
#include "runner/mcp/tg_server_url.h"
#include "runner/mcp/tg_transport.h"

/* Requests that are sent at once; more wait. */
#define TG_STREAMABLE_REQUESTS 128
/* The same of messages that are no requests; … */
#define TG_STREAMABLE_NOTES 32
/* … and of these, cancellations that may wait. */
#define TG_STREAMABLE_CANCELS 256
/*
 * Replies to requests of the server's that are on their way; with more,
 * nothing that the server sends is read.
 */
#define TG_STREAMABLE_REPLIES 64
/* Of a time slice, what the end of an exchange counts as. */
#define TG_STREAMABLE_STEPS 4096
/* For the answer to a message that is no request. */
#define TG_STREAMABLE_NOTE_MS 30000
/* For the end of a session, which nobody waits for longer. */
#define TG_STREAMABLE_DELETE_MS 2000
/* For the first event of a server that may be one of HTTP+SSE. */
#define TG_STREAMABLE_PROBE_MS 2000
/* A stream whose request has its answer ends by itself; or so long after. */
#define TG_STREAMABLE_LINGER_MS 1000
/* Before a stream is opened again; it doubles. */
#define TG_STREAMABLE_RETRY_MIN 1000
#define TG_STREAMABLE_RETRY_MAX 30000
/* A channel that was there for so long was no failure. */
#define TG_STREAMABLE_LIVED_MS 10000
/* Times that the stream of a request is resumed without an event. */
#define TG_STREAMABLE_RESUMES 10
/* Of a version, "2025-11-25" */
#define TG_STREAMABLE_VERSION_MAX 32

typedef struct {
    tg_exchange_t *exchange; /* NULL: it is not open */
    uint64_t due;            /* when a modern server is asked for it; 0: not */
    uint64_t delay;          /* before it is opened again */
    uint64_t opened_at;      /* 0: this one was not, yet */
    unsigned nopened;        /* in this session */
} tg_channel_t;

typedef struct {
    tg_instance_t *instance;
    void (*news)(tg_exchange_t *exchange);
    uv_timer_t timer;
    tg_source_t source; /* waits while something new came that nobody read */
    tg_exchange_list_t exchanges;
    tg_exchange_t *hearing; /* its messages are being read; NULL: it is gone */
    unsigned nrequests;     /* of them, that are sent and not over */
    unsigned nnotes;        /* likewise */
    unsigned nreplies;      /* of the exchanges */
    tg_exchange_t *ready;   /* notifications/initialized: the others wait */
    tg_channel_t channel;
    unsigned session; /* its number */
    char session_id[TG_EXCHANGE_SESSION_MAX + 1];
    char version[TG_STREAMABLE_VERSION_MAX + 1]; /* that was agreed on */
    int is_open;
    int is_away; /* it could not be reached */
    int is_closing;
    char why[TG_EXCHANGE_WHY_MAX + 64]; /* it is lost, as explain has it */
    tg_buf_t refusal; /* what it said to initialize, while it is probed */
} tg_streamable_t;

/* --- tg_streamable_send.c --- */

/* Appends a header, which ends with a NUL. */
void tg_streamable_put(tg_buf_t *headers, const char *name, const char *value);

/* All of them, with those of the config, to be freed; NULL: no memory. */
const char **tg_streamable_list(const tg_server_url_t *url, tg_buf_t *headers);

/* A request as all are that go to this server. */
tg_http_request_t tg_streamable_request(const tg_server_url_t *url,
                                        const char *method,
                                        const char *const *headers);

/* Makes exchanges of what the instance's caller has to say. */
void tg_streamable_take(tg_streamable_t *streamable);

/* Starts those that may be started. */
void tg_streamable_start(tg_streamable_t *streamable);

/* Opens the channel of a legacy server, from its last event on. */
void tg_streamable_get(tg_streamable_t *streamable);

/* Ends the session: NULL when there is none, or nobody to tell. */
tg_exchange_t *tg_streamable_delete(tg_streamable_t *streamable);

/* Ends an exchange, whatever goes on. */
void tg_streamable_drop(tg_streamable_t *streamable, tg_exchange_t *exchange);

/* --- tg_streamable_end.c --- */

/* One is over, and all that it said was heard; it may be gone then. */
void tg_streamable_end(tg_streamable_t *streamable, tg_exchange_t *exchange);

/* --- tg_streamable_lost.c --- */

/* Does a status say that the session is over, or does what came with it? */
int tg_streamable_is_unknown(const tg_streamable_t *streamable,
                             const tg_exchange_t *exchange);

/* Does a message that came in the place of an answer say so? */
int tg_streamable_says_lost(const tg_streamable_t *streamable,
                            const tg_exchange_t *exchange, tg_str_t line);

/* Is it a request of the client's own, such as for the list? */
int tg_streamable_is_own(const tg_streamable_t *streamable,
                         const tg_exchange_t *exchange);

/* Begins another session after one with this number; says whether it does. */
int tg_streamable_renew(tg_streamable_t *streamable, unsigned session);

/* --- tg_streamable_channel.c --- */

/* The channel has ended: it is opened again, or there is none. */
void tg_streamable_end_channel(tg_streamable_t *streamable,
                               tg_exchange_t *exchange);

/* Has the channel been opened, or is it time to? */
void tg_streamable_see_channel(tg_streamable_t *streamable);

#endif
