/*
 * A connection to an MCP server (program, socket or HTTP): handshake, lists and
 * calls. A server has a shared one, or one per user or client
 * connection.
 *
 *        ┌──────────────── closed ◀──────────────┐
 *        ▼                                       │
 *     STOPPED ──▶ STARTING ──▶ READY ──▶ ENDING ─┘
 *                  │  ▲          │         ▲
 *                  │  └ renewed ─┘         │
 *                  └───────────────────────┘
 *
 * It is STARTING until the server has sent its lists; calls wait for that. A
 * failed server that is wanted starts again after a delay, doubled each time.
 */
#ifndef TG_MCP_CONN_H
#define TG_MCP_CONN_H

#include "protocol/tg_mcp_client.h"
#include "runner/mcp/tg_mcp_stdio.h"
#include "runner/mcp/tg_streamable.h"
#include "runner/mcp/tg_mcp_transport.h"
#include "runner/jobs/tg_job.h"
#include "transport/tg_transport.h"

typedef struct tg_mcp_server_s tg_mcp_server_t;
typedef struct tg_mcp_servers_s tg_mcp_servers_t;

/* Maximum length of a connection's id in bytes, such as "uid:1000". */
#define TG_MCP_CONN_ID_MAX 128

/* Minimum delay of a failed server's start in ms, doubled each time. */
#define TG_MCP_CONN_RETRY_MIN_MS 100

/* Maximum delay before a failed server is started again, in ms. */
#define TG_MCP_CONN_RETRY_MAX_MS 30000

/* Maximum time in ms that a call waits for the next start. */
#define TG_MCP_CONN_WAIT_MS 1000

/* Time in ms after which a ready connection counts as stable. */
#define TG_MCP_CONN_STABLE_MS 10000

/* Maximum size of a message from or to a server, in bytes. */
#define TG_MCP_CONN_FRAME_MAX 33554432

/* Maximum number of calls of one connection. */
#define TG_MCP_CONN_CALLS_MAX 1024

/* Number of unread bytes above which no call is sent to the server. */
#define TG_MCP_CONN_CALL_BACKLOG 67108864

/* Number of unread bytes above which its requests are not answered. */
#define TG_MCP_CONN_REPLY_BACKLOG 1048576

/* Number of unread bytes above which the server is ended. */
#define TG_MCP_CONN_BACKLOG_MAX 134217728

typedef enum {
    TG_MCP_CONN_STOPPED,
    TG_MCP_CONN_STARTING,
    TG_MCP_CONN_READY,
    TG_MCP_CONN_ENDING
} tg_mcp_conn_state_t;

typedef struct tg_mcp_job_s tg_mcp_job_t;
typedef TAILQ_HEAD(tg_mcp_job_list_s, tg_mcp_job_s) tg_mcp_job_list_t;

/* A subscription to a resource (tg_mcp_resource_watch.c). */
typedef struct tg_mcp_resource_watch_s tg_mcp_resource_watch_t;
typedef TAILQ_HEAD(tg_mcp_resource_watch_list_s,
                   tg_mcp_resource_watch_s) tg_mcp_resource_watch_list_t;

/* A request of the server to its client (tg_mcp_server_request.c). */
typedef struct tg_mcp_server_request_s tg_mcp_server_request_t;
typedef TAILQ_HEAD(tg_mcp_server_request_list_s,
                   tg_mcp_server_request_s) tg_mcp_server_request_list_t;

/* Whose connection it is, and how it begins. */
typedef struct {
    tg_str_t id;          /* empty: the connection for all */
    char *cwd;            /* working directory, or NULL */
    int64_t uid;          /* required owner of `cwd`; -1: any */
    unsigned client_caps; /* capabilities of the client */
} tg_mcp_conn_owner_t;

struct tg_mcp_conn_s {
    TAILQ_ENTRY(tg_mcp_conn_s) link;
    tg_mcp_server_t *server;
    tg_mcp_conn_state_t state;
    const tg_mcp_transport_t *transport;
    char *cwd;   /* replaces the configured cwd, or NULL */
    int64_t uid; /* required owner of `cwd`; -1: any */

    tg_caller_t caller;
    tg_mcp_client_t client;
    tg_buf_t capabilities;    /* capabilities of the server, raw, or empty */
    tg_sched_source_t reader; /* reads a list that has arrived */
    tg_uv_conn_t conn;        /* used by all stream transports */
    int has_conn;
    tg_mcp_stdio_t stdio;
    tg_streamable_t streamable;
    unsigned nhandles; /* open handles of the transport */

    tg_mcp_job_list_t waiting; /* calls that were not sent yet */
    tg_mcp_job_list_t calls;   /* calls that wait for a response */
    unsigned ncalls;           /* number of calls in both lists */
    tg_mcp_server_request_list_t server_requests;
    unsigned nserver_requests;
    tg_mcp_resource_watch_list_t watches;
    unsigned nwatches;
    tg_buf_t uris;     /* of the watches, for a modern server */
    int is_filter_due; /* a modern server must get other URIs */

    uv_timer_t timer; /* next deadline, which depends on the state */
    uint64_t started_at;

    /* Time at which it became ready; 0: not since its start. */
    uint64_t ready_at;

    uint64_t used_at;
    uint64_t retry_at; /* earliest time of the next start */
    unsigned nfailures;
    int is_leaving; /* the connection is freed as soon as it has ended */
    int has_cancelled_calls; /* since the server's start */
    int has_served; /* the server has answered a call since its start */
    int is_restart; /* the server ends in order to be started again */
    tg_str_t why;   /* error message for calls that are being failed */
    char id[];
};

tg_mcp_conn_t *tg_mcp_conn_find(const tg_mcp_server_t *server, tg_str_t id);

/* Creates a connection. Returns NULL if out of memory. */
tg_mcp_conn_t *tg_mcp_conn_new(tg_mcp_server_t *server,
                               const tg_mcp_transport_t *transport,
                               tg_str_t id);

/* Starts a stopped connection in a later loop iteration. */
void tg_mcp_conn_start_soon(tg_mcp_conn_t *mcp_conn);

/* Frees a connection when it has no calls; is_now: fails them at once. */
void tg_mcp_conn_shutdown(tg_mcp_conn_t *mcp_conn, int is_now);

/* Takes a call. Returns TG_FAILURE_NONE, or a failure with its `text`. */
tg_failure_t tg_mcp_conn_add_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call,
                                  tg_buf_t *text);

/* Lets a sent call wait for the next start: the server has not read it. */
void tg_mcp_conn_requeue_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call);

void tg_mcp_conn_remove_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call);

/* --- functions for transports --- */

void tg_mcp_conn_on_opened(tg_mcp_conn_t *mcp_conn);

/*
 * Begins another handshake: the session is over, but the server continues. Sent
 * calls continue; new ones wait.
 */
void tg_mcp_conn_initialize_again(tg_mcp_conn_t *mcp_conn);

/* Resends a call with this request id, which was not executed, when ready. */
void tg_mcp_conn_resend_request(tg_mcp_conn_t *mcp_conn, uint64_t request);

/* Fails the call with this request id, which gets no response. */
void tg_mcp_conn_fail_request(tg_mcp_conn_t *mcp_conn, uint64_t request,
                              tg_failure_t failure, tg_str_t text);

/* Handles input. Returns the codes of tg_caller_handle_input(). */
int tg_mcp_conn_on_input(tg_mcp_conn_t *mcp_conn, const char *data, size_t len,
                         size_t *consumed);

/*
 * Handles the end of the server or a fatal error, as described by
 * transport->append_reason().
 */
void tg_mcp_conn_on_lost(tg_mcp_conn_t *mcp_conn);

void tg_mcp_conn_ref_handle(tg_mcp_conn_t *mcp_conn);

/* Counts one closed handle. After the last one the connection is STOPPED. */
void tg_mcp_conn_unref_handle(tg_mcp_conn_t *mcp_conn);

/* --- internal functions of a connection --- */

/* Changes the state. No other function does. */
void tg_mcp_conn_set_state(tg_mcp_conn_t *mcp_conn, tg_mcp_conn_state_t state);

/* Continues tg_mcp_conn_shutdown() when there are no calls any more. */
void tg_mcp_conn_finish_shutdown(tg_mcp_conn_t *mcp_conn);

/* --- messages of the server (tg_mcp_conn_message.c) --- */

extern const tg_caller_ops_t tg_mcp_conn_caller_ops;

void tg_mcp_conn_on_event(tg_mcp_conn_t *mcp_conn, tg_mcp_event_t event);

/* Fails the connection. The reason is appended to the server's name. */
void tg_mcp_conn_fail(tg_mcp_conn_t *mcp_conn, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the state READY after the lists have arrived; sends waiting calls. */
void tg_mcp_conn_set_ready(tg_mcp_conn_t *mcp_conn);

void tg_mcp_conn_log(tg_mcp_conn_t *mcp_conn, int level, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Sends pending output and sets the timer. */
void tg_mcp_conn_flush(tg_mcp_conn_t *mcp_conn);

#endif
