/*
 * One running MCP server: a program or a connection, with the handshake, the
 * list and the calls.  There is one for all, or one for each user or
 * connection, as the config says.
 *
 *        ┌──────────────── closed ◀──────────────┐
 *        ▼                                       │
 *     STOPPED ──▶ STARTING ──▶ READY ──▶ ENDING ─┘
 *                  │  ▲          │         ▲
 *                  │  └ renewed ─┘         │
 *                  └───────────────────────┘
 *
 * It is STARTING until it has listed its tools.  Calls wait for that, and are
 * refused when it cannot be started.  One that fails is started again after a
 * while that doubles each time, if somebody wants it.
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

/* Bytes of the name of one, "uid:1000" or "conn:…". */
#define TG_MCP_CONN_ID_MAX 128
/* Before one that failed is started again; it doubles. */
#define TG_MCP_CONN_RETRY_MIN_MS 100
#define TG_MCP_CONN_RETRY_MAX_MS 30000
/* Up to this, a call waits for that start. */
#define TG_MCP_CONN_WAIT_MS 1000
/* One that was ready for so long has not failed at its start. */
#define TG_MCP_CONN_STABLE_MS 10000
/* Messages of a server, and to it. */
#define TG_MCP_CONN_FRAME_MAX 33554432
/* Calls of one at once. */
#define TG_MCP_CONN_CALLS_MAX 1024
/* Bytes that it does not read: at which no call is sent to it, … */
#define TG_MCP_CONN_CALL_BACKLOG 67108864
/* … at which its own requests are not answered, and at which it is ended. */
#define TG_MCP_CONN_REPLY_BACKLOG 1048576
#define TG_MCP_CONN_BACKLOG_MAX 134217728

typedef enum {
    TG_MCP_CONN_STOPPED,
    TG_MCP_CONN_STARTING,
    TG_MCP_CONN_READY,
    TG_MCP_CONN_ENDING
} tg_mcp_conn_state_t;

/* A call of one (tg_mcp_job.c). */
typedef struct tg_mcp_job_s tg_mcp_job_t;
typedef TAILQ_HEAD(tg_mcp_job_list_s, tg_mcp_job_s) tg_mcp_job_list_t;

/* What it asks of its client (tg_mcp_server_request.c). */
typedef struct tg_mcp_server_request_s tg_mcp_server_request_t;
typedef TAILQ_HEAD(tg_mcp_server_request_list_s,
                   tg_mcp_server_request_s) tg_mcp_server_request_list_t;

/* What an instance tells its server, and asks of it. */
typedef struct {
    /*
     * tg_mcp_conn_message.c: what it says, and what an MCP client makes of it.
     */
    const tg_caller_ops_t *caller;
    void (*event)(tg_mcp_conn_t *mcp_conn, tg_mcp_event_t event);

    /* Its state is another one. */
    void (*on_state_changed)(tg_mcp_server_t *server);

    /*
     * Is it wanted though nobody calls it?  And if not, until when does it
     * run, of the loop's clock; 0: for ever.
     */
    int (*is_wanted)(const tg_mcp_server_t *server,
                     const tg_mcp_conn_t *mcp_conn);
    uint64_t (*idle)(const tg_mcp_server_t *server,
                     const tg_mcp_conn_t *mcp_conn);

    /* Its list came: TG_OK, or TG_LIMIT when it is too large. */
    int (*on_list)(tg_mcp_server_t *server, const tg_mcp_conn_t *mcp_conn,
                   tg_catalog_t *tools);

    /* It is ready; or it could not be started, or has ended: text. */
    void (*ready)(tg_mcp_server_t *server);
    void (*failed)(tg_mcp_server_t *server, const tg_mcp_conn_t *mcp_conn,
                   tg_str_t text);

    /* Is there room for a line in the log now? */
    int (*can_log)(tg_mcp_server_t *server, int level);

    /* A line for the log. */
    void (*log)(tg_mcp_server_t *server, int level, tg_str_t text);

    /* What it asks has to be told to a worker that is not there yet. */
    void (*retry)(tg_mcp_server_t *server);

    /* It was freed. */
    void (*on_freed)(tg_mcp_server_t *server);
} tg_mcp_conn_ops_t;

struct tg_mcp_conn_s {
    TAILQ_ENTRY(tg_mcp_conn_s) link;
    tg_mcp_server_t *server;
    const tg_mcp_conn_ops_t *ops;
    tg_mcp_conn_state_t state;
    const tg_mcp_transport_t *transport;
    char *cwd;   /* instead of the config's, or NULL */
    int64_t uid; /* whose that must be; -1: anybody's */

    tg_caller_t caller;
    tg_mcp_client_t client;
    tg_sched_source_t reader; /* reads the list that has come */
    tg_uv_conn_t conn;        /* of all transports that are streams */
    int has_conn;
    tg_mcp_stdio_t stdio;
    tg_streamable_t streamable;
    unsigned nhandles; /* what of the transport has to be closed */

    tg_mcp_job_list_t waiting; /* not sent yet */
    tg_mcp_job_list_t calls;   /* to be answered */
    unsigned ncalls;           /* both */
    tg_mcp_server_request_list_t server_requests;
    unsigned nserver_requests;

    uv_timer_t timer; /* of the state */
    uint64_t started_at;
    uint64_t ready_at; /* 0: it was not, since its start */
    uint64_t used_at;
    uint64_t retry_at; /* not before */
    unsigned nfailures;
    int is_leaving; /* freed as soon as it has ended */
    int has_served; /* it has answered a call since its start */
    int is_restart; /* it ends, to be started and greeted otherwise */
    tg_str_t why;   /* what calls are told that are lost just now */
    char id[];
};

/* The one with this id, or NULL. */
tg_mcp_conn_t *tg_mcp_conn_find(const tg_mcp_server_t *server, tg_str_t id);

/* A new one; NULL: no memory. */
tg_mcp_conn_t *tg_mcp_conn_new(tg_mcp_server_t *server,
                               const tg_mcp_transport_t *transport,
                               const tg_mcp_conn_ops_t *ops, tg_str_t id);

/* Starts it soon, when it is stopped. */
void tg_mcp_conn_start_soon(tg_mcp_conn_t *mcp_conn);

/*
 * Ends it and frees it, as soon as it has no calls, or now, which also leaves
 * it no time for an end of its own.
 */
void tg_mcp_conn_shutdown(tg_mcp_conn_t *mcp_conn, int is_now);

/*
 * Takes a call, sends it or lets it wait: TG_FAILURE_NONE; or why not is
 * appended to text.
 */
tg_failure_t tg_mcp_conn_add_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call,
                                  tg_buf_t *text);

/* One that was sent was not read: it waits for the next start. */
void tg_mcp_conn_requeue_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call);

/* The call is over, or nobody wants its answer any more. */
void tg_mcp_conn_remove_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call);

/* --- for its transport --- */

void tg_mcp_conn_on_opened(tg_mcp_conn_t *mcp_conn);

/*
 * The session is over, the server is not: shakes hands anew.  Calls that it
 * has go on; others wait.
 */
void tg_mcp_conn_initialize_again(tg_mcp_conn_t *mcp_conn);

/*
 * A call that was sent as this request was not executed: it is sent once
 * more, as soon as the instance is ready.
 */
void tg_mcp_conn_resend_request(tg_mcp_conn_t *mcp_conn, uint64_t request);

/* The same, of which nothing more will be heard; text says why. */
void tg_mcp_conn_fail_request(tg_mcp_conn_t *mcp_conn, uint64_t request,
                              tg_failure_t failure, tg_str_t text);

/* What came: as tg_caller_input(). */
int tg_mcp_conn_on_input(tg_mcp_conn_t *mcp_conn, const char *data, size_t len,
                         size_t *consumed);

/* The other side has ended, or cannot be used; transport->explain says why. */
void tg_mcp_conn_on_lost(tg_mcp_conn_t *mcp_conn);

/* One more thing of the transport is open, or has been closed. */
void tg_mcp_conn_ref_handle(tg_mcp_conn_t *mcp_conn);
void tg_mcp_conn_unref_handle(tg_mcp_conn_t *mcp_conn);

/* --- for the files of an instance --- */

/* The only way from one state to another. */
void tg_mcp_conn_set_state(tg_mcp_conn_t *mcp_conn, tg_mcp_conn_state_t state);

/* One that is to go, goes when it has no calls any more. */
void tg_mcp_conn_finish_shutdown(tg_mcp_conn_t *mcp_conn);

/* --- tg_mcp_conn_message.c: what the server says --- */

extern const tg_caller_ops_t tg_mcp_conn_caller_ops;

/* What an MCP client makes of it. */
void tg_mcp_conn_on_event(tg_mcp_conn_t *mcp_conn, tg_mcp_event_t event);

/* It could not be started, of which text is said. */
void tg_mcp_conn_fail(tg_mcp_conn_t *mcp_conn, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* It has its list. */
void tg_mcp_conn_set_ready(tg_mcp_conn_t *mcp_conn);

/* One line in the log; and is there room for it now? */
int tg_mcp_conn_can_log(const tg_mcp_conn_t *mcp_conn, int level);
void tg_mcp_conn_log(tg_mcp_conn_t *mcp_conn, int level, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Sends what is to be sent, and waits for what comes next. */
void tg_mcp_conn_flush(tg_mcp_conn_t *mcp_conn);

#endif
