/*
 * One client's connection.
 *
 *   SERVING ◀─▶ LEAVING ──▶ PACKED       its worker exits: to another one
 *      │ ▲         │          │ │
 *      │ └─────────┼──────────┘ │           that one is not ready any more
 *      └───────────┴────────────┴▶ ENDING   what is in peer.out, then close
 *
 *   ngx_tg_session.c  events of the socket, calls that woke it, its end
 *   ngx_tg_session_io.c       reading, writing, and how long they may take
 *   ngx_tg_session_quota.c     time slices, memory and room of a client
 *   ngx_tg_buffer_cache.c    what the worker keeps for the next session
 *   ngx_tg_session_client_slot.c     what other workers know of it
 *   ngx_tg_broadcast_deliver.c  broadcasts, given to all sessions of a worker
 *   ngx_tg_broadcast_text.c     one copy of a broadcast for all of them
 *   ngx_tg_session_trace.c   what a trace has of its frames
 *
 * Sessions know nothing of where they move: that is the mover's.
 */
#ifndef _NGX_TG_SESSION_H_INCLUDED_
#define _NGX_TG_SESSION_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/sched/ngx_tg_sched.h"
#include "nginx/shm/ngx_tg_shm.h"
#include "nginx/session/ngx_tg_broadcast_text.h"

/* One read; large enough that a usual burst of frames is one. */
#define NGX_TG_READ_BUFFER_SIZE 131072
/* Buffers from this size on are kept for the next call. */
#define NGX_TG_LARGE_BUFFER_SIZE 262144
/* Steps of a time slice for an event of a session that sends a few bytes. */
#define NGX_TG_SESSION_STEPS_PER_SLICE 8192
/*
 * ms in which a new client may send its first byte, so that its dialect is
 * known before it gets a notification.  Notifications wait, none is lost.
 */
#define NGX_TG_FIRST_BYTE_TIMEOUT 500
/* How long an exiting worker serves a client that is never idle. */
#define NGX_TG_LEAVING_TIMEOUT 5000

typedef enum {
    NGX_TG_SESSION_SERVING = 0,
    NGX_TG_SESSION_LEAVING, /* its worker exits */
    /* nothing keeps it here but a worker to take it */
    NGX_TG_SESSION_AWAITING_HANDOFF,
    NGX_TG_SESSION_CLOSING
} ngx_tg_session_state_t;

/* Of a session whose client other workers know, and may tell something. */
typedef struct {
    ngx_queue_t queue;
    ngx_tg_session_t *session;
    ngx_tg_client_slot_t client_slot;
    uint64_t address;     /* of its server */
    size_t backlog_bytes; /* bytes that it was told, and may not have taken */
    unsigned nclient_changes;  /* the peer's, when its identity was written */
    uint64_t audience;         /* as NGX_TG_TO_… has it */
    ngx_uint_t can_receive;    /* the server's rules let it */
    ngx_uint_t sees_all;       /* what is others', too */
    ngx_uint_t is_catching_up; /* it catches up with the other sessions */
    ngx_msec_t connected;      /* when */
} ngx_tg_shared_client_t;

/* Of a connection that has not spoken, before it is a session, too. */
typedef struct {
    ngx_queue_t queue;
    ngx_connection_t *connection;
} ngx_tg_pre_request_t;

struct ngx_tg_session_s {
    ngx_tg_session_base_t base; /* first: the peer's host */
    ngx_tg_session_state_t state;
    tg_peer_wait_t wait;         /* what its timers are set for */
    tg_dialect_t dialect;        /* that it is counted with */
    tg_buf_t in;                 /* bytes that the peer did not consume */
    size_t sent;                 /* bytes of peer.out that were sent, */
    size_t traced;               /* and that a trace has, or that need not be */
    ngx_tg_unsent_texts_t texts; /* between those bytes */
    uint64_t bytes_in;
    uint64_t bytes_out;
    ngx_event_t *timer;      /* its timer; NULL: nothing ever waited for time */
    ngx_msec_t parked_until; /* when a request that waits is served again, */
    ngx_uint_t must_serve_parked; /* or sooner, as something has happened */
    ngx_msec_t leaving_since;
    uint64_t bytes_to_read; /* bytes_in, with what had come by then */
    ngx_msec_t handoff_since;
    ngx_msec_t in_transit_since; /* when the last byte arrived, at its end, */
    int in_transit_bytes;        /* and how many had not yet */

    ngx_queue_t all;          /* of this worker */
    tg_sched_source_t source; /* its time slices and its memory */
    uint64_t charged_steps;   /* what this slice has been charged for */
    size_t charged_output;
    ngx_tg_pre_request_t pre_request;      /* among those who have not spoken */
    ngx_queue_t memory;                    /* among those who keep much */
    ngx_tg_shared_client_t *shared_client; /* NULL: others know nothing of it */
    uint64_t weight;       /* the average of its memory, of late, */
    ngx_msec_t weighed_at; /* as of then */
    uint16_t user;         /* whose sums it counts for */
    uint16_t process;

    unsigned has_read:1;   /* a whole frame came since the timers were set */
    unsigned has_sent:1;   /* it took bytes since then */
    unsigned is_eof:1;     /* it will send no more */
    unsigned is_drained:1; /* the last look before goodbye was taken */
    unsigned is_broken:1;  /* close at once */
    unsigned has_memory_owner:1; /* user and process are known */
    unsigned has_slice:1;        /* this is its own time slice */

    /* Of `if=` of its trace: what was known when that was asked. */
    unsigned is_traced:1;
    unsigned trace_dialect:7;
    unsigned trace_nmet; /* the peer's nmet, when the filter was asked */
};

/* Takes sessions to other workers, and brings theirs. */
typedef struct {
    /* What came with a connection from another worker; NULL: nothing. */
    void *(*received_snapshot)(ngx_connection_t *c);

    /* Goes on with a session in which nothing happened: NGX_OK, NGX_ERROR. */
    ngx_int_t (*restore)(ngx_tg_session_t *session, void *received_snapshot);

    /* This worker was told to exit: it takes nothing, unless it stays. */
    void (*stop)(void);

    /*
     * To another worker: NGX_DONE, and the session is gone; NGX_AGAIN: soon,
     * and nothing is read meanwhile; NGX_BUSY: that worker is not ready, and
     * this one serves the session; NGX_DECLINED: nobody takes it.
     */
    ngx_int_t (*hand_off)(ngx_tg_session_t *session);
} ngx_tg_handoff_ops_t;

/* --- session --- */

void ngx_tg_session_set_handoff_ops(const ngx_tg_handoff_ops_t *handoff_ops);

/* The content handler of a server with tools. */
void ngx_tg_stream_content_handler(ngx_stream_session_t *s);

/*
 * The worker stops at once: the calls that it has are logged, as killed, and
 * clients get the shutdown notice of their dialect.
 */
void ngx_tg_sessions_stop(void);

/* Has this worker any session? */
ngx_uint_t ngx_tg_has_sessions(void);

/* Looks at it again after some time, and keeps an exiting worker for it. */
void ngx_tg_session_set_timer(ngx_tg_session_t *session, ngx_msec_t time);

/*
 * From now on this worker offers what is in another catalogue to the clients
 * of a server: who sees another list than before is told, in time slices.
 * They and scf hold it; calls in flight point into none.
 */
void ngx_tg_server_set_catalog(ngx_tg_srv_conf_t *scf, tg_catalog_t *catalog);

/* Serves requests again that wait for what a server starts (scf->waits). */
void ngx_tg_server_unpark_sessions(ngx_tg_srv_conf_t *scf);

/* --- parked --- */

/* As tg_peer_ops_t has them. */
void ngx_tg_parked_append_list_meta(void *host, tg_buf_t *json);
int ngx_tg_parked_on_list(void *host, tg_peer_t *peer, tg_request_t *request);
void ngx_tg_parked_on_unknown_tool(void *host, tg_peer_t *peer,
                                   tg_request_t *request);

/* Serves again what waited long enough; is_now: all that wait. */
void ngx_tg_session_serve_parked(ngx_tg_session_t *session, ngx_uint_t is_now);

/* --- ending --- */

/*
 * Its worker exits, and nobody takes it: what came is served, once; when the
 * last call has ended it says goodbye.
 */
void ngx_tg_session_finish_at_exit(ngx_tg_session_t *session);

/*
 * worker_shutdown_timeout has passed: calls fail, it says goodbye, and nothing
 * else is waited for.
 */
void ngx_tg_session_close_past_shutdown(ngx_tg_session_t *session);

/*
 * The worker stops at once: sends the shutdown notice, as far as the socket
 * takes it without waiting.
 */
void ngx_tg_session_send_shutdown_notice(ngx_tg_session_t *session);

/*
 * Behind all that was to be done, of which `flushed` says whether it was sent:
 * has it come to its end?  Then the session is gone.
 */
ngx_uint_t ngx_tg_session_close_if_done(ngx_tg_session_t *session,
                                        ngx_int_t flushed);

/* --- io --- */

/*
 * Serves what there is, until the socket is empty or the peer pauses.  While
 * its output does not drain, nothing more is read of a client.
 */
void ngx_tg_session_read_and_serve(ngx_tg_session_t *session);

/* Sends what there is: NGX_OK when all went, NGX_AGAIN, NGX_ERROR. */
ngx_int_t ngx_tg_session_flush(ngx_tg_session_t *session);

/* Waits for the socket to take more, while there is something to send. */
ngx_int_t ngx_tg_session_watch_writable(ngx_tg_session_t *session);

/*
 * A timer runs on until the client does what is expected: single bytes of a
 * frame, or of requests while it reads no answers, put nothing off.
 */
void ngx_tg_session_set_timers(ngx_tg_session_t *session);

/* Sets the timer of what is expected, for so many milliseconds at most. */
void ngx_tg_session_set_wait(ngx_tg_session_t *session, tg_peer_wait_t wait,
                             ngx_msec_t most);

/* --- fair --- */

/* Runs the session in its time slice: for its source. */
void ngx_tg_session_run_time_slice(tg_sched_source_t *source);

/* Begins a time slice of the session. */
void ngx_tg_time_slice_begin(ngx_tg_session_t *session);

/*
 * Is the slice over that began last?  Then the session waits, and is woken
 * when its next slice comes.  As tg_peer_ops_t has it; host is the session.
 */
int ngx_tg_time_slice_is_over(void *host);

/* Asks the same after `bytes` of a message that is not complete. */
ngx_uint_t ngx_tg_time_slice_is_over_after(ngx_tg_session_t *session,
                                           size_t bytes);

/* Does it wait for its slice, with all that it has to do? */
static ngx_inline ngx_uint_t
ngx_tg_time_slice_is_awaited(const ngx_tg_session_t *session)
{
    return session->source.is_queued
           && session->state == NGX_TG_SESSION_SERVING;
}

/* Bytes that the client has not been sent yet. */
static ngx_inline size_t
ngx_tg_session_get_unsent_size(const ngx_tg_session_t *session)
{
    return session->base.peer.out.len - session->sent + session->texts.bytes;
}

/* Takes the session from the scheduler's queue. */
static ngx_inline void
ngx_tg_time_slice_leave_queue(ngx_tg_session_t *session)
{
    tg_sched_dequeue(&ngx_tg_sched, &session->source);
}

/*
 * Counts what the session keeps now, after it was served; when a worker's
 * clients keep too much, the worst is closed, though not from in here.
 */
void ngx_tg_session_update_memory(ngx_tg_session_t *session);
void ngx_tg_session_clear_memory(ngx_tg_session_t *session);

/* So much more, or less, is kept for clients that are not here (any more). */
void ngx_tg_moving_memory_add(ssize_t bytes);

/* As ngx_stream_init_connection(), where the worker has room for a client. */
void ngx_tg_init_client_connection(ngx_connection_t *c);

/* Has the worker room for another client of this listening socket? */
ngx_uint_t ngx_tg_has_connection_room(ngx_socket_t listening);

/* It has not spoken yet, and may have to go for another; and it did. */
void ngx_tg_pre_request_add(ngx_tg_pre_request_t *pre_request,
                            ngx_connection_t *c);

static ngx_inline void
ngx_tg_pre_request_remove(ngx_tg_pre_request_t *pre_request)
{
    ngx_queue_remove(&pre_request->queue);
    ngx_queue_init(&pre_request->queue);
}

/* TLS and a PROXY header are behind it: it is a session's from here on. */
ngx_int_t ngx_tg_pre_request_preread(ngx_stream_session_t *s);

/* --- told --- */

/*
 * A new client, which may be turned away here: NGX_OK; NGX_ERROR: there are
 * too many, which is logged.
 */
ngx_int_t ngx_tg_session_register_client(ngx_tg_session_t *session);

/* A shared one was served: what others know of it is brought up to date. */
void ngx_tg_session_update_client_slot(ngx_tg_session_t *session);
void ngx_tg_session_unregister_client(ngx_tg_session_t *session);

/*
 * Closes the client's connection; the session is gone.  A client that has read
 * the end of its connection is counted no more: another bridge may come.
 */
static ngx_inline void
ngx_tg_session_close(ngx_tg_session_t *session, ngx_uint_t rc)
{
    /* TLS may still wait for the client: an exiting worker stays for that. */
    session->base.connection->read->cancelable = 0;
    ngx_tg_session_unregister_client(session);
    ngx_stream_finalize_session(session->base.stream, rc);
}

/* It is packed with these, and this worker knows it no more. */
void ngx_tg_session_detach_client_slot(ngx_tg_session_t *session,
                                       ngx_tg_client_slot_t *client_slot,
                                       uint64_t *backlog_bytes);

/*
 * It came with them: what it was not told yet, it is told.  As
 * ngx_tg_session_register_client().
 */
ngx_int_t ngx_tg_session_attach_client_slot(
    ngx_tg_session_t *session, const ngx_tg_client_slot_t *client_slot,
    uint64_t backlog_bytes);

/* As tg_peer_ops_t has it; host is a session. */
const char *ngx_tg_session_check_bridge_policy(void *host, tg_peer_t *peer);

/* Another bridge has displaced it: it is to go. */
void ngx_tg_session_displace_bridge(ngx_tg_session_t *session);

/* --- telling --- */

/* As ngx_tg_shm_page_start_worker(). */
void ngx_tg_broadcast_start_worker(ngx_cycle_t *cycle);

/* A session that is told broadcasts, from now on and no more. */
void ngx_tg_broadcast_add_listener(ngx_tg_shared_client_t *shared_client);
void ngx_tg_broadcast_remove_listener(ngx_tg_shared_client_t *shared_client);

/* Goes on, in a time slice, with what it was not told on its way. */
void ngx_tg_session_send_missed_broadcasts(ngx_tg_session_t *session);

/* --- traced --- */

/* Where the server has a trace: bytes came, and the peer has consumed these. */
void ngx_tg_session_trace_begin(const ngx_tg_session_t *session);
void ngx_tg_session_trace_input(ngx_tg_session_t *session, tg_str_t bytes);

/* The first text, before it is sent. */
void ngx_tg_session_trace_broadcast_text(ngx_tg_session_t *session);

/* What is new in peer.out; before that is sent, or goes elsewhere. */
void ngx_tg_session_trace_output(ngx_tg_session_t *session);

/* --- spare --- */

/* Lends peer.out the worker's buffer, and takes it back once it is empty. */
void ngx_tg_output_buffer_borrow(tg_buf_t *out);
void ngx_tg_output_buffer_return(tg_buf_t *out);

/*
 * Exchanges a buffer's memory for a kept block of the size that is wanted,
 * or the largest that is kept; what is in it comes along.  Where there is
 * none that is larger, the buffer stays as it is.
 */
void ngx_tg_buffer_cache_get(tg_buf_t *buf, size_t want);

/* Empties a buffer; its memory is kept when it is large, else freed. */
void ngx_tg_buffer_cache_recycle(tg_buf_t *buf);

/* Frees what is kept. */
void ngx_tg_buffer_cache_exit(void);

#endif
