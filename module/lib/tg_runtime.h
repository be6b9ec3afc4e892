/*
 * A server between a start and a stop: its event loop, its clients, its calls.
 * A client of the public API (tg_client.h) has a runtime, too.
 *
 * A runtime belongs to the loop's thread; members that other threads use are
 * guarded by the lock and marked "locked". A runtime does not refer to its
 * server, which may be freed before a loop of the program has closed the last
 * handle.
 */
#ifndef TG_RUNTIME_H
#define TG_RUNTIME_H

#include "protocol/tg_peer.h"
#include "lib/tg_server_files.h"
#include "lib/tg_tool.h"
#include "threading/tg_threading.h"
#include "transport/tg_transport.h"

#include <pthread.h>

/* Limit of the commands that wait for the loop, in bytes. */
#define TG_RUNTIME_COMMANDS_MAX (64 * 1024 * 1024)
/* Limit of the notifications that a client has not read, in bytes. */
#define TG_SESSION_NOTIFIED_MAX (4 * 1024 * 1024)
/* Interval in ms of checks whether a half-closed client has disconnected. */
#define TG_SESSION_HANGUP_CHECK_MS 500
/* Time that a stop waits for clients to read their last messages, in ms. */
#define TG_SESSION_LINGER_MS 2000
/* Delay before a client is accepted after a lack of memory, in ms. */
#define TG_SESSION_ACCEPT_RETRY_MS 100

typedef enum {
    TG_LOOP_THREAD,
    TG_LOOP_FD,
    TG_LOOP_UV
} tg_loop_type_t;

/* Settings that a runtime copies from the options of its server. */
typedef struct {
    tg_dialect_t dialect;
    uint64_t max_frame;
    uint64_t max_inflight;
    uint64_t max_clients;
    uint64_t idle_timeout; /* times in ms, 0: no limit */
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

/* A descriptor that a forked child closes; fd -1: none. */
typedef struct {
    int fd;
    tg_file_id_t id;
} tg_fd_identity_t;

struct tg_session_s {
    tg_runtime_t *runtime;
    tg_session_t *next; /* list of the runtime; locked for changes */
    tg_session_t *prev;
    tg_session_t *next_dirty;
    tg_peer_t peer;
    tg_uv_conn_t conn;     /* unused if there is a link */
    toolgate_link_t *link; /* NULL: there is a conn */
    /* The descriptors of conn, equal for a socket; locked for changes. */
    tg_fd_identity_t in;
    tg_fd_identity_t out;
    tg_peer_wait_t wait;
    uint64_t deadline; /* in ms of the loop's clock; 0: none */
    size_t unsent;     /* unsent bytes when deadline was set */
    /* Bytes of notifications since the output was last empty. */
    size_t notified_bytes;
    unsigned has_new_frame:1; /* whole frame received since deadline was set */
    unsigned is_dirty:1;      /* output must be flushed */
    unsigned is_eof:1;        /* the client has ended its input */
    unsigned is_closed:1;
    /* Closed, but the client has yet to read its last messages. */
    unsigned is_lingering:1;
};

/* A client in this process, referenced by its session and the program. */
struct toolgate_link_s {
    unsigned refs; /* locked, as all members but session */
    /* NULL: the server was stopped, or the client is closed. */
    tg_runtime_t *runtime;
    pid_t pid;            /* process that opened the link */
    int has_session;      /* a session exists or will be created */
    atomic_int is_closed; /* no more messages are delivered */
    /* Allocated in advance, so that closing the link needs no memory. */
    tg_runtime_command_t *close_command;
    tg_session_t *session;
    toolgate_message_pt message;
    void *data;
};

/* A command of a thread for the loop; runtime is NULL after the end. */
struct tg_runtime_command_s {
    tg_runtime_command_t *next;
    void (*execute)(tg_runtime_t *runtime, tg_runtime_command_t *command);
    tg_catalog_t *catalog;
    toolgate_link_t *link;
    tg_client_request_t *request;
    int fds[2];
    /* Bytes that count for TG_RUNTIME_COMMANDS_MAX until execution. */
    size_t size;
    size_t len; /* length of text */
    size_t at;  /* offset of the second part of text */
    char text[];
};

struct tg_runtime_s {
    tg_loop_type_t type;
    uv_loop_t *loop;
    uv_loop_t own_loop; /* used unless the loop is the program's */
    pthread_t thread;
    tg_uv_sched_t sched;
    uv_async_t async;
    uv_timer_t timer;
    uv_prepare_t prepare; /* flushes output before the loop waits */
    uv_pipe_t listener;
    /* For TG_LOOP_FD: makes the loop's descriptor readable for a timer. */
    uv_poll_t timerfd_poll;
    int timerfd;
    int listen_fd; /* -1: none */
    tg_file_id_t listen_id;
    /* Number of handles and clients to close before the runtime ends. */
    unsigned nopen;

    tg_server_config_t conf;
    tg_server_info_t info;
    tg_buf_t texts; /* storage of the strings of info */
    tg_catalog_t *catalog;
    tg_schema_validator_t *validator;
    tg_buf_t scratch; /* arguments of the call that begins */
    /* memory of an ended call for the next call, or NULL */
    void *recycled_call;
    tg_uv_buffer_cache_t buffer_cache;

    tg_session_t *first; /* locked for changes */
    tg_session_t *last;
    unsigned nsessions; /* locked */
    unsigned nlingering;
    tg_session_t *dirty;
    tg_mailbox_t mailbox;
    /* Time of the next progress in ms of the loop's clock; 0: none. */
    uint64_t progress_at;
    /* Time to accept again after a lack of memory; 0: none. */
    uint64_t accept_retry_at;
    /* Time for which timer is set, in ms of the loop's clock; 0: not set. */
    uint64_t due;
    /* Called when the timer is due. */
    void (*run_timers)(tg_runtime_t *runtime);
    /* called after the last handle is closed */
    void (*ended)(tg_runtime_t *runtime);

    /* Of a client, or NULL: called before the loop waits and at the end. */
    void (*flush)(tg_runtime_t *runtime);
    void (*stop)(tg_runtime_t *runtime);
    void (*release)(tg_runtime_t *runtime);

    tg_runtime_command_t *commands; /* locked, as the next two members */
    tg_runtime_command_t **last_command;
    size_t command_bytes;
    int must_stop; /* locked */
    /* Lets the loop check for commands without acquiring the lock. */
    atomic_int has_commands;
    void (*run_commands)(tg_runtime_t *runtime); /* executes all commands */

    unsigned ncallbacks; /* depth of nested callbacks of the program */
    /* For TG_LOOP_FD: toolgate_process() is running. */
    unsigned is_processing:1;
    unsigned is_stopping:1;
    unsigned is_finished:1; /* the last handle is closed */
};

/* Creates a command. NULL, with toolgate_error() set: no memory. */
tg_runtime_command_t *tg_runtime_command_new(tg_str_t text, tg_str_t more);
void tg_runtime_command_free(tg_runtime_command_t *command);

/*
 * Requires tg_lib_lock(). On success the runtime owns the command. Returns
 * TOOLGATE_ERR_BUSY if too many bytes are queued.
 */
int tg_runtime_post_command(tg_runtime_t *runtime,
                            tg_runtime_command_t *command);

/* Calls the program's report callback, in the loop's thread. */
void tg_runtime_report(tg_runtime_t *runtime, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the timer to `at`, in ms of the loop's clock, if that is earlier. */
void tg_runtime_schedule(tg_runtime_t *runtime, uint64_t at);

/* Counts a handle or client as closed.  The last one ends the runtime. */
void tg_runtime_unref_handle(tg_runtime_t *runtime);

/* Closes a handle that is initialized; ignores any other handle. */
void tg_runtime_close_handle(tg_runtime_t *runtime, uv_handle_t *handle);

/* Closes the timer after the last lingering client. */
void tg_runtime_end_linger(tg_runtime_t *runtime);

/*
 * Checks whether a callback of the program runs: for TG_LOOP_THREAD, in this
 * thread. Requires tg_lib_lock().
 */
int tg_runtime_is_in_callback(const tg_runtime_t *runtime);

/* Members of tg_peer_ops_t. */

void tg_server_call_on_call(void *host, tg_peer_t *peer, tg_request_t *request);
void tg_server_call_on_cancel(void *host, tg_call_t *deferred);

/* Delivers the answers and progress that threads have put into the mailbox. */
void tg_runtime_deliver_mailbox(tg_runtime_t *runtime);

/* Returns the time of the next timeout in ms of the loop's clock. */
uint64_t tg_session_expire_calls(tg_session_t *session, uint64_t now);

/* Ends all calls of a session with an error, because the server stops. */
void tg_session_fail_calls(tg_session_t *session);

/* The call whose handler runs: toolgate_argument() uses its index. */
typedef struct tg_call_scope_s tg_call_scope_t;

struct tg_call_scope_s {
    /* scope of another server's call, in the same thread */
    const tg_call_scope_t *outer;
    const char *text;
    const tg_request_t *request;
};

void tg_call_scope_enter(tg_call_scope_t *asked, const char *text,
                         const tg_request_t *request);
void tg_call_scope_leave(const tg_call_scope_t *asked);

/* Adds a session to the list of its runtime, which a forked child reads. */
void tg_session_register(tg_runtime_t *runtime, tg_session_t *session);

void tg_session_unregister(tg_session_t *session);

/* Serves the reported client, or tries again after a lack of memory. */
void tg_session_accept(tg_runtime_t *runtime);

/* Opens a session, which owns both descriptors and reports failures. */
void tg_session_open_fds(tg_runtime_t *runtime, int in, int out);

/* Opens a session, or returns NULL after reporting a lack of memory. */
tg_session_t *tg_session_open_link(tg_runtime_t *runtime,
                                   toolgate_link_t *link);

/* Handles a message from the client of a link. */
void tg_session_handle_message(tg_session_t *session, tg_str_t message);

/* Sends the output of a session and updates its deadline. */
void tg_session_flush(tg_session_t *session);

/* Closes a session at once; output that is not sent is dropped. */
void tg_session_close(tg_session_t *session);

/* Closes a session after its client has read the output. */
void tg_session_close_after_flush(tg_session_t *session);

/* Returns a future deadline in ms of the loop's clock, or UINT64_MAX. */
uint64_t tg_session_check_deadline(tg_session_t *session, uint64_t now);

/* Has the runtime flush the output before the loop waits. */
static inline void
tg_session_mark_dirty(tg_session_t *session)
{
    if (!session->is_dirty && !session->is_closed) {
        session->is_dirty = 1;
        session->next_dirty = session->runtime->dirty;
        session->runtime->dirty = session;
    }
}

/*
 * Opens the handles. Requires conf, info, catalog and type to be set, and loop
 * for a loop of the program. Takes the listening socket fd, unless it is -1. On
 * failure fd is closed or owned by a handle, and the caller calls
 * tg_runtime_abort_start().
 */
int tg_runtime_open(tg_runtime_t *runtime, int fd);

/* Closes all sessions and handles; is_finished is set after the last one. */
void tg_runtime_stop(tg_runtime_t *runtime);

/* Closes the timer after the last lingering client. */
void tg_runtime_end_linger(tg_runtime_t *runtime);

/* Frees a runtime whose handles are closed. */
void tg_runtime_free(tg_runtime_t *runtime);

/* Starts the thread of a TG_LOOP_THREAD runtime. */
int tg_runtime_start_thread(tg_runtime_t *runtime);

/*
 * Closes the handles of a runtime whose start has failed, and frees it.
 * Requires tg_lib_lock(), which is released meanwhile.
 */
void tg_runtime_abort_start(tg_runtime_t *runtime);

/* Frees a runtime of the program's libuv loop; others have a waiter. */
void tg_runtime_on_ended(tg_runtime_t *runtime);

/* Handles all events of a TG_LOOP_FD runtime and arms its timer. */
void tg_runtime_process(tg_runtime_t *runtime);

/*
 * Requires tg_lib_lock(). Returns the runtime if the caller must call
 * tg_runtime_stop_in_caller() after releasing the lock, else NULL. For
 * TG_LOOP_THREAD sets *ended, for tg_runtime_join().
 */
tg_runtime_t *tg_runtime_request_stop(tg_runtime_t *runtime,
                                      tg_runtime_t **ended);

/* Stops a runtime in the thread of the program's loop. */
void tg_runtime_stop_in_caller(tg_runtime_t *runtime);

/*
 * Waits for the thread of *ended, frees the runtime, and sets *ended to NULL.
 * Does nothing if *ended is NULL, or in a callback of the runtime.
 */
void tg_runtime_join(tg_runtime_t **ended);

#endif
