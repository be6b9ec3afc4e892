/*
 * A server between a start and a stop: its loop, its clients, its calls.  A
 * client (tg_client.h) has its loop likewise.
 *
 * All of it belongs to the loop's thread, but for what is marked: that is
 * locked.  Nothing here knows the server, which may be gone before a loop of
 * the program's has closed the last handle.
 */
#ifndef TG_RUNTIME_H
#define TG_RUNTIME_H

#include "protocol/tg_peer.h"
#include "lib/tg_server_files.h"
#include "lib/tg_tool.h"
#include "threading/tg_threading.h"
#include "transport/tg_transport.h"

#include <pthread.h>

/* Orders that the loop has not taken up, in bytes. */
#define TG_RUNTIME_COMMANDS_MAX (64 * 1024 * 1024)
/* What a client was told and has not taken, in bytes. */
#define TG_SESSION_NOTIFIED_MAX (4 * 1024 * 1024)
/* ms between two looks at a client that sends no more. */
#define TG_SESSION_HANGUP_CHECK_MS 500
/* ms that a stop waits for clients to take what they were told last. */
#define TG_SESSION_LINGER_MS 2000
/* ms until a client that there was no memory for is accepted after all. */
#define TG_SESSION_ACCEPT_RETRY_MS 100

typedef enum {
    TG_LOOP_THREAD,
    TG_LOOP_FD,
    TG_LOOP_UV
} tg_loop_type_t;

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
} tg_server_config_t;

typedef struct tg_runtime_s tg_runtime_t;
typedef struct tg_session_s tg_session_t;
typedef struct tg_runtime_command_s tg_runtime_command_t;
typedef struct tg_client_request_s tg_client_request_t;

/* A descriptor, for who forks; fd -1: there is none. */
typedef struct {
    int fd;
    tg_file_id_t id;
} tg_fd_identity_t;

/* One client. */
struct tg_session_s {
    tg_runtime_t *runtime;
    tg_session_t *next; /* of the run: locked when they change */
    tg_session_t *prev;
    tg_session_t *next_dirty;
    tg_peer_t peer;
    tg_uv_conn_t conn;     /* unless there is a link */
    toolgate_link_t *link; /* NULL: there is a conn */
    tg_fd_identity_t in;   /* its descriptors: locked when they change */
    tg_fd_identity_t out;  /* the same, of a socket */
    tg_peer_wait_t wait;
    uint64_t deadline;        /* as the loop has time; 0: none */
    size_t unsent;            /* when that was set */
    size_t notified_bytes;    /* bytes of notifications since out was empty */
    unsigned has_new_frame:1; /* a whole frame came since then */
    unsigned is_dirty:1;      /* it has output that nobody has flushed */
    unsigned is_eof:1;        /* it will send no more */
    unsigned is_closed:1;
    unsigned is_lingering:1; /* until it has taken what it was told last */
};

/* A client in this process; its session and its program hold it. */
struct toolgate_link_s {
    unsigned refs;         /* locked, as all but the session */
    tg_runtime_t *runtime; /* NULL: it was stopped, or the client is closed */
    pid_t pid;             /* of the process that opened it */
    int has_session;       /* or will have one */
    atomic_int is_closed;  /* nothing is told any more */
    tg_runtime_command_t
        *close_command; /* for its end, so that this needs no memory */
    tg_session_t *session;
    toolgate_message_pt message;
    void *data;
};

/* What a thread wants of the loop; done once, by NULL when there is none. */
struct tg_runtime_command_s {
    tg_runtime_command_t *next;
    void (*execute)(tg_runtime_t *runtime, tg_runtime_command_t *command);
    tg_catalog_t *catalog;
    toolgate_link_t *link;
    tg_client_request_t *request;
    int fds[2];
    size_t size; /* bytes that it counts for, until it is taken up */
    size_t len;  /* of text */
    size_t at;   /* where its second part begins */
    char text[];
};

struct tg_runtime_s {
    tg_loop_type_t type;
    uv_loop_t *loop;
    uv_loop_t own_loop; /* unless it is the program's */
    pthread_t thread;
    tg_uv_sched_t sched;
    uv_async_t async;
    uv_timer_t timer;
    uv_prepare_t prepare; /* before the loop waits: output goes out */
    uv_pipe_t listener;
    uv_poll_t timerfd_poll; /* of TG_LOOP_FD: when there is time to pass */
    int timerfd;
    int listen_fd; /* -1: there is none */
    tg_file_id_t listen_id;
    unsigned nopen; /* handles and clients that must be gone in the end */

    tg_server_config_t conf;
    tg_server_info_t info;
    tg_buf_t texts; /* where info's are */
    tg_catalog_t *catalog;
    tg_schema_validator_t *validator;
    tg_buf_t scratch;    /* the arguments of the call that begins */
    void *recycled_call; /* memory for the next one, or NULL */
    tg_uv_buffer_cache_t buffer_cache;

    tg_session_t *first; /* locked when they change */
    tg_session_t *last;
    unsigned nsessions; /* locked */
    unsigned nlingering;
    tg_session_t *dirty;
    tg_mailbox_t mailbox;
    uint64_t progress_at;     /* when progress is told again; 0: no matter */
    uint64_t accept_retry_at; /* when a client that waits is; likewise */
    uint64_t due;             /* what the timer is set for; 0: it is not */
    void (*run_timers)(tg_runtime_t *runtime); /* it is due; NULL: a server's */
    void (*ended)(tg_runtime_t *runtime);      /* the last handle is closed */

    /* Of a client, else NULL: before the loop waits; its end; its memory. */
    void (*flush)(tg_runtime_t *runtime);
    void (*stop)(tg_runtime_t *runtime);
    void (*release)(tg_runtime_t *runtime);

    tg_runtime_command_t *commands; /* locked, as the next two */
    tg_runtime_command_t **last_command;
    size_t command_bytes;
    int must_stop; /* locked */
    /* so that nobody locks to see that there are none */
    atomic_int has_commands;
    void (*run_commands)(tg_runtime_t *runtime); /* carries them out */

    unsigned ncallbacks;      /* callbacks on the stack */
    unsigned is_processing:1; /* of TG_LOOP_FD: in toolgate_process() */
    unsigned is_stopping:1;
    unsigned is_finished:1; /* the last handle is closed */
};

/* --- tg_runtime_command.c --- */

/* Two texts, of which each may be absent.  NULL: no memory, told. */
tg_runtime_command_t *tg_runtime_command_new(tg_str_t text, tg_str_t more);
void tg_runtime_command_free(tg_runtime_command_t *command);

/* Locked: 0 or a TOOLGATE_ERR_..., told; the order is the run's then. */
int tg_runtime_post_command(tg_runtime_t *runtime,
                            tg_runtime_command_t *command);

/* --- tg_runtime_handles.c --- */

/* Tells the program.  In the loop's thread. */
void tg_runtime_report(tg_runtime_t *runtime, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Something is due at that time, as the loop has it. */
void tg_runtime_schedule(tg_runtime_t *runtime, uint64_t at);

/* One handle, or client, less. */
void tg_runtime_unref_handle(tg_runtime_t *runtime);

/* Closes a handle that is open. */
void tg_runtime_close_handle(tg_runtime_t *runtime, uv_handle_t *handle);

/* One that lingered has gone. */
void tg_runtime_end_linger(tg_runtime_t *runtime);

/* Is this a callback of the program's, in its thread?  Locked. */
int tg_runtime_is_in_callback(const tg_runtime_t *runtime);

/*
 * --- tg_server_call.c: calls; of a session's peer, as tg_peer_ops_t has it ---
 */

void tg_server_call_on_call(void *host, tg_peer_t *peer, tg_request_t *request);
void tg_server_call_on_cancel(void *host, tg_call_t *deferred);

/* A box of this run has something. */
void tg_runtime_deliver_mailbox(tg_runtime_t *runtime);

/* Ends those whose time is over; when the next is due, or UINT64_MAX. */
uint64_t tg_session_expire_calls(tg_session_t *session, uint64_t now);

/* The server stops: all calls of a session end. */
void tg_session_fail_calls(tg_session_t *session);

/* --- tg_server_call_reply.c --- */

/*
 * While the function of a call runs: what it has of its arguments, and whose
 * they are, so that toolgate_argument() finds what was read before.
 */
typedef struct tg_call_scope_s tg_call_scope_t;

struct tg_call_scope_s {
    const tg_call_scope_t *outer; /* of another server, in the same thread */
    const char *text;
    const tg_request_t *request;
};

void tg_call_scope_enter(tg_call_scope_t *asked, const char *text,
                         const tg_request_t *request);
void tg_call_scope_leave(const tg_call_scope_t *asked);

/* --- tg_server_session.c --- */

/*
 * A client at a listener, at two descriptors, or behind a link; when it cannot
 * be served, that is reported.  NULL: it is not.
 */
void tg_session_accept(tg_runtime_t *runtime);
void tg_session_open_fds(tg_runtime_t *runtime, int in, int out);
tg_session_t *tg_session_open_link(tg_runtime_t *runtime,
                                   toolgate_link_t *link);

/* A message of a client behind a link. */
void tg_session_handle_message(tg_session_t *session, tg_str_t message);

/* Sends what there is of it, and sets its time. */
void tg_session_flush(tg_session_t *session);

/* It closes; what there is to say was said. */
void tg_session_close(tg_session_t *session);

/* The same once the client has taken that; it may linger. */
void tg_session_close_after_flush(tg_session_t *session);

/* Looks at its time: as tg_session_expire_calls(). */
uint64_t tg_session_check_deadline(tg_session_t *session, uint64_t now);

/* It has output, which the run flushes before it waits. */
static inline void
tg_session_mark_dirty(tg_session_t *session)
{
    if (!session->is_dirty && !session->is_closed) {
        session->is_dirty = 1;
        session->next_dirty = session->runtime->dirty;
        session->runtime->dirty = session;
    }
}

/* --- tg_runtime.c --- */

/*
 * With conf, info and catalogue set, and kind, and loop where it is the
 * program's: opens the handles; fd is listened to from then on, unless it is
 * -1.  0 or a TOOLGATE_ERR_..., told; then all is as before.
 */
int tg_runtime_open(tg_runtime_t *runtime, int fd);

/* Closes all: is_over when that is done. */
void tg_runtime_stop(tg_runtime_t *runtime);

/* One that lingered has gone. */
void tg_runtime_end_linger(tg_runtime_t *runtime);
void tg_runtime_free(tg_runtime_t *runtime);

/* --- tg_runtime_thread.c --- */

/* Starts its thread, if it has one: 0, or an error, told. */
int tg_runtime_start_thread(tg_runtime_t *runtime);

/* It did not come to more: its handles are closed.  Locked. */
void tg_runtime_abort_start(tg_runtime_t *runtime);

/* ended, of a run: frees what nobody waits for. */
void tg_runtime_on_ended(tg_runtime_t *runtime);

/* Of TG_LOOP_FD: does what there is to do, and says when there is more. */
void tg_runtime_process(tg_runtime_t *runtime);

/*
 * It shall end.  Locked: the run when that is for tg_runtime_stop_in_caller(),
 * or NULL, and what tg_runtime_join() waits for in *ended.
 */
tg_runtime_t *tg_runtime_request_stop(tg_runtime_t *runtime,
                                      tg_runtime_t **ended);
void tg_runtime_stop_in_caller(tg_runtime_t *runtime);
void tg_runtime_join(tg_runtime_t **ended);

#endif
