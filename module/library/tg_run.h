/*
 * A server between a start and a stop: its loop, its clients, its calls.  A
 * client (tg_client.h) has its loop likewise.
 *
 * All of it belongs to the loop's thread, but for what is marked: that is
 * locked.  Nothing here knows the server, which may be gone before a loop of
 * the program's has closed the last handle.
 */
#ifndef TG_RUN_H
#define TG_RUN_H

#include "core/tg_peer.h"
#include "library/tg_files.h"
#include "library/tg_tool.h"
#include "thread/tg_mail.h"
#include "uv/tg_uv.h"

#include <pthread.h>

/* Orders that the loop has not taken up, in bytes. */
#define TG_ORDERS_MAX (64 * 1024 * 1024)
/* What a client was told and has not taken, in bytes. */
#define TG_TOLD_MAX (4 * 1024 * 1024)
/* ms between two looks at a client that sends no more. */
#define TG_SESSION_LOOK 500
/* ms that a stop waits for clients to take what they were told last. */
#define TG_SESSION_LINGER 2000
/* ms until a client that there was no memory for is accepted after all. */
#define TG_SESSION_AGAIN 100

typedef enum {
    TG_LOOP_THREAD,
    TG_LOOP_FD,
    TG_LOOP_UV
} tg_loop_t;

/* What a server's options say of its runs. */
typedef struct {
    tg_dialect_t dialect;
    uint64_t max_frame;
    uint64_t max_inflight;
    uint64_t max_clients;
    uint64_t idle_timeout; /* all in ms, 0: none */
    uint64_t frame_timeout;
    uint64_t send_timeout;
    toolgate_cancel_pt cancelled;
    void *cancelled_data;
    toolgate_report_pt report;
    void *report_data;
} tg_conf_t;

typedef struct tg_run_s tg_run_t;
typedef struct tg_session_s tg_session_t;
typedef struct tg_order_s tg_order_t;
typedef struct tg_ask_s tg_ask_t;

/* A descriptor, for who forks; fd -1: there is none. */
typedef struct {
    int fd;
    tg_file_id_t id;
} tg_end_t;

/* One client. */
struct tg_session_s {
    tg_run_t *run;
    tg_session_t *next; /* of the run: locked when they change */
    tg_session_t *prev;
    tg_session_t *next_dirty;
    tg_peer_t peer;
    tg_uv_conn_t conn;     /* unless there is a link */
    toolgate_link_t *link; /* NULL: there is a conn */
    tg_end_t in;           /* its descriptors: locked when they change */
    tg_end_t out;          /* the same, of a socket */
    tg_wait_t wait;
    uint64_t deadline;   /* as the loop has time; 0: none */
    size_t unsent;       /* when that was set */
    size_t told;         /* bytes of notifications since out was empty */
    unsigned has_read:1; /* a whole frame came since then */
    unsigned is_dirty:1; /* it has output that nobody has flushed */
    unsigned is_eof:1;   /* it will send no more */
    unsigned is_closed:1;
    unsigned is_lingering:1; /* until it has taken what it was told last */
};

/* A client in this process; its session and its program hold it. */
struct toolgate_link_s {
    unsigned refs;        /* locked, as all but the session */
    tg_run_t *run;        /* NULL: it was stopped, or the client is closed */
    pid_t pid;            /* of the process that opened it */
    int has_session;      /* or will have one */
    atomic_int is_closed; /* nothing is told any more */
    tg_order_t *goodbye;  /* for its end, so that this needs no memory */
    tg_session_t *session;
    toolgate_message_pt message;
    void *data;
};

/* What a thread wants of the loop; done once, by NULL when there is none. */
struct tg_order_s {
    tg_order_t *next;
    void (*execute)(tg_run_t *run, tg_order_t *order);
    tg_catalogue_t *catalogue;
    toolgate_link_t *link;
    tg_ask_t *ask;
    int fds[2];
    size_t size; /* bytes that it counts for, until it is taken up */
    size_t len;  /* of text */
    size_t at;   /* where its second part begins */
    char text[];
};

struct tg_run_s {
    tg_loop_t kind;
    uv_loop_t *loop;
    uv_loop_t own; /* unless it is the program's */
    pthread_t thread;
    tg_uv_sched_t sched;
    uv_async_t async;
    uv_timer_t timer;
    uv_prepare_t prepare; /* before the loop waits: output goes out */
    uv_pipe_t listener;
    uv_poll_t ticker; /* of TG_LOOP_FD: when there is time to pass */
    int tick_fd;
    int listen_fd; /* -1: there is none */
    tg_file_id_t listen_id;
    unsigned nopen; /* handles and clients that must be gone in the end */

    tg_conf_t conf;
    tg_info_t info;
    tg_buf_t texts; /* where info's are */
    tg_catalogue_t *catalogue;
    tg_schema_checker_t *checker;
    tg_buf_t scratch; /* the arguments of the call that begins */
    void *spare_call; /* memory for the next one, or NULL */
    tg_uv_spare_t spare;

    tg_session_t *first; /* locked when they change */
    tg_session_t *last;
    unsigned nsessions; /* locked */
    unsigned nlingering;
    tg_session_t *dirty;
    tg_post_t post;
    uint64_t pace_at;            /* when progress is told again; 0: no matter */
    uint64_t accept_at;          /* when a client that waits is; likewise */
    uint64_t due;                /* what the timer is set for; 0: it is not */
    void (*tick)(tg_run_t *run); /* it is due; NULL: a server's */
    void (*ended)(tg_run_t *run); /* the last handle is closed */

    /* Of a client, else NULL: before the loop waits; its end; its memory. */
    void (*flush)(tg_run_t *run);
    void (*stop)(tg_run_t *run);
    void (*release)(tg_run_t *run);

    tg_order_t *orders; /* locked, as the next two */
    tg_order_t **last_order;
    size_t ordered;
    int must_stop;         /* locked */
    atomic_int has_orders; /* so that nobody locks to see that there are none */
    void (*obey)(tg_run_t *run); /* carries them out */

    unsigned is_calling;   /* callbacks on the stack */
    unsigned is_running:1; /* of TG_LOOP_FD: in toolgate_process() */
    unsigned is_stopping:1;
    unsigned is_over:1; /* the last handle is closed */
};

/* --- tg_order.c --- */

/* Two texts, of which each may be absent.  NULL: no memory, told. */
tg_order_t *tg_order_new(tg_str_t text, tg_str_t more);
void tg_order_free(tg_order_t *order);

/* Locked: 0 or a TOOLGATE_ERR_..., told; the order is the run's then. */
int tg_run_order(tg_run_t *run, tg_order_t *order);

/* --- tg_loop.c --- */

/* Tells the program.  In the loop's thread. */
void tg_report(tg_run_t *run, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Something is due at that time, as the loop has it. */
void tg_run_due(tg_run_t *run, uint64_t at);

/* One handle, or client, less. */
void tg_run_gone(tg_run_t *run);

/* Closes a handle that is open. */
void tg_run_close(tg_run_t *run, uv_handle_t *handle);

/* One that lingered has gone. */
void tg_run_lingered(tg_run_t *run);

/* Is this a callback of the program's, in its thread?  Locked. */
int tg_run_is_calling(const tg_run_t *run);

/* --- tg_answer.c: calls; of a session's peer, as tg_peer_ops_t has it --- */

void tg_answer_call(void *host, tg_peer_t *peer, tg_request_t *request);
void tg_answer_cancel(void *host, tg_call_t *deferred);

/* A box of this run has something. */
void tg_answer_deliver(tg_run_t *run);

/* Ends those whose time is over; when the next is due, or UINT64_MAX. */
uint64_t tg_answer_due(tg_session_t *session, uint64_t now);

/* The server stops: all calls of a session end. */
void tg_answer_stop(tg_session_t *session);

/* --- tg_reply.c --- */

/*
 * While the function of a call runs: what it has of its arguments, and whose
 * they are, so that toolgate_argument() finds what was read before.
 */
typedef struct tg_asked_s tg_asked_t;

struct tg_asked_s {
    const tg_asked_t *outer; /* of another server, in the same thread */
    const char *text;
    const tg_request_t *request;
};

void tg_asked_enter(tg_asked_t *asked, const char *text,
                    const tg_request_t *request);
void tg_asked_leave(const tg_asked_t *asked);

/* --- tg_session.c --- */

/*
 * A client at a listener, at two descriptors, or behind a link; when it cannot
 * be served, that is reported.  NULL: it is not.
 */
void tg_session_accept(tg_run_t *run);
void tg_session_serve(tg_run_t *run, int in, int out);
tg_session_t *tg_session_link(tg_run_t *run, toolgate_link_t *link);

/* A message of a client behind a link. */
void tg_session_message(tg_session_t *session, tg_str_t message);

/* Sends what there is of it, and sets its time. */
void tg_session_flush(tg_session_t *session);

/* It closes; what there is to say was said. */
void tg_session_close(tg_session_t *session);

/* The same once the client has taken that; it may linger. */
void tg_session_finish(tg_session_t *session);

/* Looks at its time: as tg_answer_due(). */
uint64_t tg_session_due(tg_session_t *session, uint64_t now);

/* It has output, which the run flushes before it waits. */
static inline void
tg_session_mark(tg_session_t *session)
{
    if (!session->is_dirty && !session->is_closed) {
        session->is_dirty = 1;
        session->next_dirty = session->run->dirty;
        session->run->dirty = session;
    }
}

/* --- tg_run.c --- */

/*
 * With conf, info and catalogue set, and kind, and loop where it is the
 * program's: opens the handles; fd is listened to from then on, unless it is
 * -1.  0 or a TOOLGATE_ERR_..., told; then all is as before.
 */
int tg_run_open(tg_run_t *run, int fd);

/* Closes all: is_over when that is done. */
void tg_run_stop(tg_run_t *run);

/* One that lingered has gone. */
void tg_run_lingered(tg_run_t *run);
void tg_run_free(tg_run_t *run);

/* --- tg_drive.c --- */

/* Starts its thread, if it has one: 0, or an error, told. */
int tg_run_start(tg_run_t *run);

/* It did not come to more: its handles are closed.  Locked. */
void tg_run_undo(tg_run_t *run);

/* ended, of a run: frees what nobody waits for. */
void tg_run_is_over(tg_run_t *run);

/* Of TG_LOOP_FD: does what there is to do, and says when there is more. */
void tg_run_process(tg_run_t *run);

/*
 * It shall end.  Locked: the run when that is for tg_run_stop_here(), or
 * NULL, and what tg_run_join() waits for in *ended.
 */
tg_run_t *tg_run_leave(tg_run_t *run, tg_run_t **ended);
void tg_run_stop_here(tg_run_t *run);
void tg_run_join(tg_run_t **ended);

#endif
