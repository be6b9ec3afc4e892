/*
 * One client's connection.
 *
 *   SERVING ◀─▶ LEAVING ──▶ PACKED       its worker exits: to another one
 *      │ ▲         │          │ │
 *      │ └─────────┼──────────┘ │           that one is not ready any more
 *      └───────────┴────────────┴▶ ENDING   what is in peer.out, then close
 *
 *   …_session.c  events of the socket, calls that woke it, its end
 *   …_io.c       reading, writing, and how long they may take
 *   …_fair.c     time slices, memory and room: no client stops another
 *   …_spare.c    what the worker keeps for the next session
 *   …_told.c     what other workers know of it
 *   …_telling.c  broadcasts, given to all sessions of a worker
 *   …_text.c     one copy of a broadcast for all of them
 *   …_traced.c   what a trace has of its frames
 *
 * Sessions know nothing of where they move: that is the mover's.
 */
#ifndef _NGX_TOOLGATE_SESSION_H_INCLUDED_
#define _NGX_TOOLGATE_SESSION_H_INCLUDED_

#include "nginx/call/ngx_toolgate_call.h"
#include "nginx/sched/ngx_toolgate_sched.h"
#include "nginx/share/ngx_toolgate_share.h"
#include "nginx/stream/ngx_toolgate_text.h"

/* One read; large enough that a usual burst of frames is one. */
#define NGX_TOOLGATE_READ 131072
/* Buffers from this size on are kept for the next call. */
#define NGX_TOOLGATE_LARGE 262144
/* Steps of a time slice for an event of a session that sends a few bytes. */
#define NGX_TOOLGATE_SESSION_STEPS 8192
/*
 * ms in which a new client may send its first byte, so that its dialect is
 * known before it gets a notification.  Notifications wait, none is lost.
 */
#define NGX_TOOLGATE_FIRST_BYTE 500
/* How long an exiting worker serves a client that is never idle. */
#define NGX_TOOLGATE_LEAVE 5000

typedef enum {
    NGX_TOOLGATE_SERVING = 0,
    NGX_TOOLGATE_LEAVING, /* its worker exits */
    NGX_TOOLGATE_PACKED,  /* nothing keeps it here but a worker to take it */
    NGX_TOOLGATE_ENDING
} ngx_toolgate_state_t;

/* Of a session whose client other workers know, and may tell something. */
typedef struct {
    ngx_queue_t queue;
    ngx_toolgate_session_t *session;
    ngx_toolgate_seat_t seat;
    uint64_t address;     /* of its server */
    size_t told;          /* bytes that it was told, and may not have taken */
    unsigned nmet;        /* the peer's, when its identity was written */
    uint64_t who;         /* as NGX_TOOLGATE_TO_… has it */
    ngx_uint_t may_hear;  /* the server's rules let it */
    ngx_uint_t sees_all;  /* what is others', too */
    ngx_uint_t is_late;   /* it catches up with the other sessions */
    ngx_msec_t connected; /* when */
} ngx_toolgate_shared_t;

/* Of a connection that has not spoken, before it is a session, too. */
typedef struct {
    ngx_queue_t queue;
    ngx_connection_t *connection;
} ngx_toolgate_silent_t;

struct ngx_toolgate_session_s {
    ngx_toolgate_front_t front; /* first: the peer's host */
    ngx_toolgate_state_t state;
    tg_wait_t wait;             /* what its timers are set for */
    tg_dialect_t dialect;       /* that it is counted with */
    tg_buf_t in;                /* bytes that the peer did not consume */
    size_t sent;                /* bytes of peer.out that were sent, */
    size_t traced;              /* and that a trace has, or that need not be */
    ngx_toolgate_texts_t texts; /* between those bytes */
    uint64_t bytes_in;
    uint64_t bytes_out;
    ngx_event_t *again;      /* its timer; NULL: nothing ever waited for time */
    ngx_msec_t parked_until; /* when a request that waits is served again, */
    ngx_uint_t is_parked_over; /* or sooner, as something has happened */
    ngx_msec_t leaving_since;
    uint64_t bytes_due; /* bytes_in, with what had come by then */
    ngx_msec_t packed_since;
    ngx_msec_t arriving_since; /* when the last byte arrived, at its end, */
    int arriving;              /* and how many had not yet */

    ngx_queue_t all;        /* of this worker */
    tg_source_t source;     /* its time slices and its memory */
    uint64_t counted_steps; /* what this slice has been charged for */
    size_t counted_out;
    ngx_toolgate_silent_t silent;  /* among those who have not spoken */
    ngx_queue_t memory;            /* among those who keep much */
    ngx_toolgate_shared_t *shared; /* NULL: others know nothing of it */
    uint64_t weight;               /* the average of its memory, of late, */
    ngx_msec_t weighed;            /* as of then */
    uint16_t user;                 /* whose sums it counts for */
    uint16_t process;

    unsigned has_read:1;   /* a whole frame came since the timers were set */
    unsigned has_sent:1;   /* it took bytes since then */
    unsigned is_eof:1;     /* it will send no more */
    unsigned is_drained:1; /* the last look before goodbye was taken */
    unsigned is_broken:1;  /* close at once */
    unsigned has_party:1;  /* user and process are known */
    unsigned has_slice:1;  /* this is its own time slice */

    /* Of `if=` of its trace: what was known when that was asked. */
    unsigned is_traced:1;
    unsigned trace_dialect:7;
    unsigned trace_nmet; /* the peer's nmet, when the filter was asked */
};

/* Takes sessions to other workers, and brings theirs. */
typedef struct {
    /* What came with a connection from another worker; NULL: nothing. */
    void *(*arrival)(ngx_connection_t *c);

    /* Goes on with a session in which nothing happened: NGX_OK, NGX_ERROR. */
    ngx_int_t (*resume)(ngx_toolgate_session_t *session, void *arrival);

    /* This worker was told to exit: it takes nothing, unless it stays. */
    void (*stop)(void);

    /*
     * To another worker: NGX_DONE, and the session is gone; NGX_AGAIN: soon,
     * and nothing is read meanwhile; NGX_BUSY: that worker is not ready, and
     * this one serves the session; NGX_DECLINED: nobody takes it.
     */
    ngx_int_t (*go)(ngx_toolgate_session_t *session);
} ngx_toolgate_mover_t;

/* --- session --- */

void ngx_toolgate_session_init(const ngx_toolgate_mover_t *mover);

/* The content handler of a server with tools. */
void ngx_toolgate_handler(ngx_stream_session_t *s);

/*
 * The worker stops at once: the calls that it has are logged, as killed, and
 * clients get the shutdown notice of their dialect.
 */
void ngx_toolgate_session_stop(void);

/* Has this worker any session? */
ngx_uint_t ngx_toolgate_has_sessions(void);

/* Looks at it again after some time, and keeps an exiting worker for it. */
void ngx_toolgate_session_wait(ngx_toolgate_session_t *session,
                               ngx_msec_t time);

/*
 * From now on this worker offers what is in another catalogue to the clients
 * of a server: who sees another list than before is told, in time slices.
 * They and scf hold it; calls in flight point into none.
 */
void ngx_toolgate_session_offer(ngx_toolgate_srv_conf_t *scf,
                                tg_catalogue_t *catalogue);

/* Serves requests again that wait for what a server starts (scf->waits). */
void ngx_toolgate_session_unpark(ngx_toolgate_srv_conf_t *scf);

/* --- parked --- */

/* As tg_peer_ops_t has them. */
void ngx_toolgate_parked_meta(void *host, tg_buf_t *json);
int ngx_toolgate_parked_list(void *host, tg_peer_t *peer,
                             tg_request_t *request);
void ngx_toolgate_parked_unknown(void *host, tg_peer_t *peer,
                                 tg_request_t *request);

/* Serves again what waited long enough; is_now: all that wait. */
void ngx_toolgate_parked_serve(ngx_toolgate_session_t *session,
                               ngx_uint_t is_now);

/* --- ending --- */

/*
 * Its worker exits, and nobody takes it: what came is served, once; when the
 * last call has ended it says goodbye.
 */
void ngx_toolgate_session_farewell(ngx_toolgate_session_t *session);

/*
 * worker_shutdown_timeout has passed: calls fail, it says goodbye, and nothing
 * else is waited for.
 */
void ngx_toolgate_session_overdue(ngx_toolgate_session_t *session);

/*
 * The worker stops at once: sends the shutdown notice, as far as the socket
 * takes it without waiting.
 */
void ngx_toolgate_session_stopped(ngx_toolgate_session_t *session);

/*
 * Behind all that was to be done, of which `flushed` says whether it was sent:
 * has it come to its end?  Then the session is gone.
 */
ngx_uint_t ngx_toolgate_session_ended(ngx_toolgate_session_t *session,
                                      ngx_int_t flushed);

/* --- io --- */

/*
 * Serves what there is, until the socket is empty or the peer pauses.  While
 * its output does not drain, nothing more is read of a client.
 */
void ngx_toolgate_pump(ngx_toolgate_session_t *session);

/* Sends what there is: NGX_OK when all went, NGX_AGAIN, NGX_ERROR. */
ngx_int_t ngx_toolgate_flush(ngx_toolgate_session_t *session);

/* Waits for the socket to take more, while there is something to send. */
ngx_int_t ngx_toolgate_watch(ngx_toolgate_session_t *session);

/*
 * A timer runs on until the client does what is expected: single bytes of a
 * frame, or of requests while it reads no answers, put nothing off.
 */
void ngx_toolgate_set_timers(ngx_toolgate_session_t *session);

/* Sets the timer of what is expected, for so many milliseconds at most. */
void ngx_toolgate_wait_for(ngx_toolgate_session_t *session, tg_wait_t wait,
                           ngx_msec_t most);

/* --- fair --- */

/* Runs the session in its time slice: for its source. */
void ngx_toolgate_turn_run(tg_source_t *source);

/* Begins a time slice of the session. */
void ngx_toolgate_turn_begin(ngx_toolgate_session_t *session);

/*
 * Is the slice over that began last?  Then the session waits, and is woken
 * when its next slice comes.  As tg_peer_ops_t has it; host is the session.
 */
int ngx_toolgate_turn_is_over(void *host);

/* Asks the same after `bytes` of a message that is not complete. */
ngx_uint_t ngx_toolgate_turn_is_over_after(ngx_toolgate_session_t *session,
                                           size_t bytes);

/* Does it wait for its slice, with all that it has to do? */
static ngx_inline ngx_uint_t
ngx_toolgate_turn_is_awaited(const ngx_toolgate_session_t *session)
{
    return session->source.is_waiting && session->state == NGX_TOOLGATE_SERVING;
}

/* Bytes that the client has not been sent yet. */
static ngx_inline size_t
ngx_toolgate_unsent(const ngx_toolgate_session_t *session)
{
    return session->front.peer.out.len - session->sent + session->texts.bytes;
}

/* Takes the session from the scheduler's queue. */
static ngx_inline void
ngx_toolgate_turn_leave(ngx_toolgate_session_t *session)
{
    tg_source_leave(&ngx_toolgate_sched, &session->source);
}

/*
 * Counts what the session keeps now, after it was served; when a worker's
 * clients keep too much, the worst is closed, though not from in here.
 */
void ngx_toolgate_memory_count(ngx_toolgate_session_t *session);
void ngx_toolgate_memory_drop(ngx_toolgate_session_t *session);

/* So much more, or less, is kept for clients that are not here (any more). */
void ngx_toolgate_memory_add(ssize_t bytes);

/* As ngx_stream_init_connection(), where the worker has room for a client. */
void ngx_toolgate_init_connection(ngx_connection_t *c);

/* Has the worker room for another client of this listening socket? */
ngx_uint_t ngx_toolgate_has_room(ngx_socket_t listening);

/* It has not spoken yet, and may have to go for another; and it did. */
void ngx_toolgate_silent_join(ngx_toolgate_silent_t *silent,
                              ngx_connection_t *c);

static ngx_inline void
ngx_toolgate_silent_leave(ngx_toolgate_silent_t *silent)
{
    ngx_queue_remove(&silent->queue);
    ngx_queue_init(&silent->queue);
}

/* TLS and a PROXY header are behind it: it is a session's from here on. */
ngx_int_t ngx_toolgate_silent_preread(ngx_stream_session_t *s);

/* --- told --- */

/*
 * A new client, which may be turned away here: NGX_OK; NGX_ERROR: there are
 * too many, which is logged.
 */
ngx_int_t ngx_toolgate_told_join(ngx_toolgate_session_t *session);

/* A shared one was served: what others know of it is brought up to date. */
void ngx_toolgate_told_update(ngx_toolgate_session_t *session);
void ngx_toolgate_told_leave(ngx_toolgate_session_t *session);

/*
 * Closes the client's connection; the session is gone.  A client that has read
 * the end of its connection is counted no more: another bridge may come.
 */
static ngx_inline void
ngx_toolgate_session_end(ngx_toolgate_session_t *session, ngx_uint_t rc)
{
    /* TLS may still wait for the client: an exiting worker stays for that. */
    session->front.connection->read->cancelable = 0;
    ngx_toolgate_told_leave(session);
    ngx_stream_finalize_session(session->front.stream, rc);
}

/* It is packed with these, and this worker knows it no more. */
void ngx_toolgate_told_send(ngx_toolgate_session_t *session,
                            ngx_toolgate_seat_t *seat, uint64_t *told);

/*
 * It came with them: what it was not told yet, it is told.  As
 * ngx_toolgate_told_join().
 */
ngx_int_t ngx_toolgate_told_arrive(ngx_toolgate_session_t *session,
                                   const ngx_toolgate_seat_t *seat,
                                   uint64_t told);

/* As tg_peer_ops_t has it; host is a session. */
const char *ngx_toolgate_told_refusal(void *host, tg_peer_t *peer);

/* Another bridge has displaced it: it is to go. */
void ngx_toolgate_told_displace(ngx_toolgate_session_t *session);

/* --- telling --- */

/* As ngx_toolgate_share_start(). */
void ngx_toolgate_told_start(ngx_cycle_t *cycle);

/* A session that is told broadcasts, from now on and no more. */
void ngx_toolgate_telling_join(ngx_toolgate_shared_t *shared);
void ngx_toolgate_telling_leave(ngx_toolgate_shared_t *shared);

/* Goes on, in a time slice, with what it was not told on its way. */
void ngx_toolgate_told_catch_up(ngx_toolgate_session_t *session);

/* --- traced --- */

/* Where the server has a trace: bytes came, and the peer has consumed these. */
void ngx_toolgate_traced_begin(const ngx_toolgate_session_t *session);
void ngx_toolgate_traced_in(ngx_toolgate_session_t *session, tg_str_t bytes);

/* The first text, before it is sent. */
void ngx_toolgate_traced_text(ngx_toolgate_session_t *session);

/* What is new in peer.out; before that is sent, or goes elsewhere. */
void ngx_toolgate_traced_out(ngx_toolgate_session_t *session);

/* --- spare --- */

/* Lends peer.out the worker's buffer, and takes it back once it is empty. */
void ngx_toolgate_borrow(tg_buf_t *out);
void ngx_toolgate_give_back(tg_buf_t *out);

/*
 * Exchanges a buffer's memory for a kept block of the size that is wanted,
 * or the largest that is kept; what is in it comes along.  Where there is
 * none that is larger, the buffer stays as it is.
 */
void ngx_toolgate_block_get(tg_buf_t *buf, size_t want);

/* Empties a buffer; its memory is kept when it is large, else freed. */
void ngx_toolgate_block_put(tg_buf_t *buf);

/* Frees what is kept. */
void ngx_toolgate_spare_exit(void);

#endif
