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
#ifndef TG_INSTANCE_H
#define TG_INSTANCE_H

#include "core/tg_mcp_client.h"
#include "runner/mcp/tg_stdio.h"
#include "runner/mcp/tg_streamable.h"
#include "runner/mcp/tg_transport.h"
#include "runner/tg_job.h"
#include "uv/tg_uv.h"

typedef struct tg_server_s tg_server_t;
typedef struct tg_servers_s tg_servers_t;

/* Bytes of the name of one, "uid:1000" or "conn:…". */
#define TG_INSTANCE_ID_MAX 128
/* Before one that failed is started again; it doubles. */
#define TG_INSTANCE_RETRY_MIN 100
#define TG_INSTANCE_RETRY_MAX 30000
/* Up to this, a call waits for that start. */
#define TG_INSTANCE_WAIT_MS 1000
/* One that was ready for so long has not failed at its start. */
#define TG_INSTANCE_LIVED_MS 10000
/* Messages of a server, and to it. */
#define TG_INSTANCE_FRAME_MAX 33554432
/* Calls of one at once. */
#define TG_INSTANCE_CALLS_MAX 1024
/* Bytes that it does not read: at which no call is sent to it, … */
#define TG_INSTANCE_BACKLOG 67108864
/* … at which its own requests are not answered, and at which it is ended. */
#define TG_INSTANCE_REPLIES 1048576
#define TG_INSTANCE_DEAF 134217728

typedef enum {
    TG_INSTANCE_STOPPED,
    TG_INSTANCE_STARTING,
    TG_INSTANCE_READY,
    TG_INSTANCE_ENDING
} tg_instance_state_t;

/* A call of one (tg_mcp_job.c). */
typedef struct tg_mcp_job_s tg_mcp_job_t;
typedef TAILQ_HEAD(tg_mcp_job_list_s, tg_mcp_job_s) tg_mcp_job_list_t;

/* What it asks of its client (tg_question.c). */
typedef struct tg_question_s tg_question_t;
typedef TAILQ_HEAD(tg_question_list_s, tg_question_s) tg_question_list_t;

/* What an instance tells its server, and asks of it. */
typedef struct {
    /* tg_instance_hear.c: what it says, and what an MCP client makes of it. */
    const tg_caller_ops_t *caller;
    void (*event)(tg_instance_t *instance, tg_mcp_event_t event);

    /* Its state is another one. */
    void (*changed)(tg_server_t *server);

    /*
     * Is it wanted though nobody calls it?  And if not, until when does it
     * run, of the loop's clock; 0: for ever.
     */
    int (*wants)(const tg_server_t *server, const tg_instance_t *instance);
    uint64_t (*idle)(const tg_server_t *server, const tg_instance_t *instance);

    /* Its list came: TG_OK, or TG_LIMIT when it is too large. */
    int (*listed)(tg_server_t *server, const tg_instance_t *instance,
                  tg_catalogue_t *tools);

    /* It is ready; or it could not be started, or has ended: text. */
    void (*ready)(tg_server_t *server);
    void (*failed)(tg_server_t *server, const tg_instance_t *instance,
                   tg_str_t text);

    /* Is there room for a line in the log now? */
    int (*may_log)(tg_server_t *server, int level);

    /* A line for the log. */
    void (*log)(tg_server_t *server, int level, tg_str_t text);

    /* What it asks has to be told to a worker that is not there yet. */
    void (*retry)(tg_server_t *server);

    /* It was freed. */
    void (*freed)(tg_server_t *server);
} tg_instance_ops_t;

struct tg_instance_s {
    TAILQ_ENTRY(tg_instance_s) place;
    tg_server_t *server;
    const tg_instance_ops_t *ops;
    tg_instance_state_t state;
    const tg_transport_t *transport;
    char *cwd;   /* instead of the config's, or NULL */
    int64_t uid; /* whose that must be; -1: anybody's */

    tg_caller_t caller;
    tg_mcp_client_t client;
    tg_source_t reader; /* reads the list that has come */
    tg_uv_conn_t conn;  /* of all transports that are streams */
    int has_conn;
    tg_stdio_t stdio;
    tg_streamable_t streamable;
    unsigned nopen; /* what of the transport has to be closed */

    tg_mcp_job_list_t waiting; /* not sent yet */
    tg_mcp_job_list_t calls;   /* to be answered */
    unsigned ncalls;           /* both */
    tg_question_list_t questions;
    unsigned nquestions;

    uv_timer_t timer; /* of the state */
    uint64_t started_at;
    uint64_t ready_at; /* 0: it was not, since its start */
    uint64_t used_at;
    uint64_t retry_at; /* not before */
    unsigned nfailures;
    int is_leaving; /* freed as soon as it has ended */
    int has_served; /* it has answered a call since its start */
    int is_again;   /* it ends, to be started and greeted otherwise */
    tg_str_t why;   /* what calls are told that are lost just now */
    char id[];
};

/* The one with this id, or NULL. */
tg_instance_t *tg_instance_find(const tg_server_t *server, tg_str_t id);

/* A new one; NULL: no memory. */
tg_instance_t *tg_instance_new(tg_server_t *server,
                               const tg_transport_t *transport,
                               const tg_instance_ops_t *ops, tg_str_t id);

/* Starts it soon, when it is stopped. */
void tg_instance_want(tg_instance_t *instance);

/*
 * Ends it and frees it, as soon as it has no calls, or now, which also leaves
 * it no time for an end of its own.
 */
void tg_instance_leave(tg_instance_t *instance, int is_now);

/*
 * Takes a call, sends it or lets it wait: TG_FAILURE_NONE; or why not is
 * appended to text.
 */
tg_failure_t tg_instance_call(tg_instance_t *instance, tg_mcp_job_t *call,
                              tg_buf_t *text);

/* One that was sent was not read: it waits for the next start. */
void tg_instance_put_back(tg_instance_t *instance, tg_mcp_job_t *call);

/* The call is over, or nobody wants its answer any more. */
void tg_instance_drop(tg_instance_t *instance, tg_mcp_job_t *call);

/* --- for its transport --- */

void tg_instance_opened(tg_instance_t *instance);

/*
 * The session is over, the server is not: shakes hands anew.  Calls that it
 * has go on; others wait.
 */
void tg_instance_renew(tg_instance_t *instance);

/*
 * A call that was sent as this request was not executed: it is sent once
 * more, as soon as the instance is ready.
 */
void tg_instance_again(tg_instance_t *instance, uint64_t request);

/* The same, of which nothing more will be heard; text says why. */
void tg_instance_give_up(tg_instance_t *instance, uint64_t request,
                         tg_failure_t failure, tg_str_t text);

/* What came: as tg_caller_input(). */
int tg_instance_input(tg_instance_t *instance, const char *data, size_t len,
                      size_t *consumed);

/* The other side has ended, or cannot be used; transport->explain says why. */
void tg_instance_lost(tg_instance_t *instance);

/* One more thing of the transport is open, or has been closed. */
void tg_instance_hold(tg_instance_t *instance);
void tg_instance_release(tg_instance_t *instance);

/* --- for the files of an instance --- */

/* The only way from one state to another. */
void tg_instance_to(tg_instance_t *instance, tg_instance_state_t state);

/* One that is to go, goes when it has no calls any more. */
void tg_instance_settle(tg_instance_t *instance);

/* --- tg_instance_hear.c: what the server says --- */

extern const tg_caller_ops_t tg_instance_caller_ops;

/* What an MCP client makes of it. */
void tg_instance_event(tg_instance_t *instance, tg_mcp_event_t event);

/* It could not be started, of which text is said. */
void tg_instance_fail(tg_instance_t *instance, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* It has its list. */
void tg_instance_ready(tg_instance_t *instance);

/* One line in the log; and is there room for it now? */
int tg_instance_may_log(const tg_instance_t *instance, int level);
void tg_instance_log(tg_instance_t *instance, int level, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Sends what is to be sent, and waits for what comes next. */
void tg_instance_turn(tg_instance_t *instance);

#endif
