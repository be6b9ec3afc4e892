/*
 * Session of one client's connection.
 *
 *   SERVING ◀─▶ LEAVING ──▶ AWAITING_HANDOFF   the worker exits
 *      │ ▲         │          │ │
 *      │ └─────────┼──────────┘ │              the receiver is not ready
 *      └───────────┴────────────┴─▶ CLOSING    sends peer.out, then closes
 *
 *   ngx_tg_session.c              start, socket events, wakeups
 *   ngx_tg_session_list.c         all sessions of the worker, their catalogs
 *   ngx_tg_embedded_session.c     sessions without a connection of their own
 *   ngx_tg_session_io.c           reading, writing, timers
 *   ngx_tg_session_close.c        end of a session
 *   ngx_tg_session_parked.c       requests that wait for MCP servers
 *   ngx_tg_session_quota.c        time slices, memory, connection limits
 *   ngx_tg_buffer_cache.c         buffers reused by the worker's sessions
 *   ngx_tg_session_client_slot.c  the client's row in shared memory
 *   ngx_tg_broadcast_deliver.c    delivery of broadcasts to all sessions
 *   ngx_tg_broadcast_text.c       texts of broadcasts, shared by sessions
 *   ngx_tg_session_trace.c        frames for a trace (tool_trace)
 *   ngx_tg_variables.c            variables $tool_...
 *
 * Sessions do not know the handoff code; they use ngx_tg_handoff_ops_t.
 */
#ifndef _NGX_TG_SESSION_H_INCLUDED_
#define _NGX_TG_SESSION_H_INCLUDED_

#include "nginx/call/ngx_tg_session_base.h"
#include "nginx/shm/ngx_tg_shm.h"

typedef enum {
    NGX_TG_SESSION_SERVING = 0,
    NGX_TG_SESSION_LEAVING, /* the worker exits */
    /* the session waits for a worker that is ready to receive it */
    NGX_TG_SESSION_AWAITING_HANDOFF,
    NGX_TG_SESSION_CLOSING
} ngx_tg_session_state_t;

/*
 * Queue entry of a connection that has not sent a request yet; it may exist
 * before the session does.
 */
typedef struct {
    ngx_queue_t queue;
    ngx_connection_t *connection;
} ngx_tg_pre_request_t;

typedef struct ngx_tg_session_s ngx_tg_session_t;
typedef struct ngx_tg_session_private_s ngx_tg_session_private_t;

struct ngx_tg_session_s {
    ngx_tg_session_base_t base; /* must be first: host of the peer */
    ngx_tg_session_private_t *priv;
    ngx_tg_session_state_t state;
    tg_peer_wait_t wait; /* condition its timers are set for */
    tg_buf_t in;         /* bytes not consumed by the peer */
    size_t sent;         /* bytes of peer.out that were sent */
    size_t traced; /* bytes of peer.out that are traced or need no trace */
    uint64_t bytes_in;
    uint64_t bytes_out;
    ngx_msec_t leaving_since;
    ngx_msec_t handoff_since;
    /* link in the queue of silent connections */
    ngx_tg_pre_request_t pre_request;
};

/* Functions that hand off sessions to other workers and receive sessions. */
typedef struct {
    /*
     * Returns the snapshot that came with a connection from another worker, or
     * NULL if the connection is a new client's.
     */
    void *(*received_snapshot)(ngx_connection_t *c);

    /* Restores a fresh session from a snapshot. Returns NGX_OK or NGX_ERROR. */
    ngx_int_t (*restore)(ngx_tg_session_t *session, void *received_snapshot);

    /*
     * Stops receiving sessions, as this worker is requested to exit; the worker
     * may decide to linger instead.
     */
    void (*stop)(void);

    /*
     * Hands off the session. Returns NGX_DONE: the session is freed; NGX_AGAIN:
     * not yet, and nothing may be read meanwhile; NGX_BUSY: the receiver is not
     * ready, and this worker must serve the session; NGX_DECLINED: no worker
     * receives it.
     */
    ngx_int_t (*hand_off)(ngx_tg_session_t *session);
} ngx_tg_handoff_ops_t;

void ngx_tg_session_set_handoff_ops(const ngx_tg_handoff_ops_t *handoff_ops);

/* Content handler of a server with tools. */
void ngx_tg_stream_content_handler(ngx_stream_session_t *s);

/*
 * Handles a fast shutdown: logs running calls as killed, and sends each client
 * the shutdown notice of its dialect.
 */
void ngx_tg_sessions_stop(void);

/* Checks whether this worker has any session. */
ngx_uint_t ngx_tg_has_sessions(void);

/*
 * Wakes the session after this time, in ms. An exiting worker waits for the
 * timer.
 */
void ngx_tg_session_set_timer(ngx_tg_session_t *session, ngx_msec_t time);

/*
 * Replaces a server's catalog in this worker. In time slices, notifies clients
 * whose visible list changed. The sessions and scf hold references to the
 * catalog; running calls do not point into it.
 */
void ngx_tg_server_set_catalog(ngx_tg_srv_conf_t *scf, tg_catalog_t *catalog);

/* Serves parked requests of all sessions again (scf->get_wait_time). */
void ngx_tg_server_unpark_sessions(ngx_tg_srv_conf_t *scf);

/*
 * Sets the timer for the event that the session waits for, at most `most` ms.
 */
void ngx_tg_session_set_wait(ngx_tg_session_t *session, tg_peer_wait_t wait,
                             ngx_msec_t most);

/*
 * Adds bytes, possibly negative, to the memory of clients that are between two
 * workers.
 */
void ngx_tg_moving_memory_add(ssize_t bytes);

/*
 * Accepts a client like ngx_stream_init_connection(), if the worker has enough
 * free connections and descriptors.
 */
void ngx_tg_init_client_connection(ngx_connection_t *c);

/*
 * Checks whether the worker has room for another client of this listening
 * socket.
 */
ngx_uint_t ngx_tg_has_connection_room(ngx_socket_t listening);

static ngx_inline void
ngx_tg_pre_request_remove(ngx_tg_pre_request_t *pre_request)
{
    ngx_queue_remove(&pre_request->queue);
    ngx_queue_init(&pre_request->queue);
}

/*
 * Removes the connection from the queue of silent connections, after TLS and
 * the PROXY header; a preread phase handler. The new session queues the
 * connection again. Returns NGX_DECLINED.
 */
ngx_int_t ngx_tg_pre_request_preread(ngx_stream_session_t *s);

/*
 * Detaches the client's slot for a handoff; client_slot and backlog_bytes go to
 * the snapshot. This worker no longer counts the client.
 */
void ngx_tg_session_detach_client_slot(ngx_tg_session_t *session,
                                       ngx_tg_client_slot_t *client_slot,
                                       uint64_t *backlog_bytes);

/*
 * Attaches the client's slot after a handoff, and sends the broadcasts missed
 * meanwhile. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_session_attach_client_slot(
    ngx_tg_session_t *session, const ngx_tg_client_slot_t *client_slot,
    uint64_t backlog_bytes);

/*
 * Starts the use of shared memory in this worker, see
 * ngx_tg_shm_page_start_worker(), with delivery of broadcasts.
 */
void ngx_tg_broadcast_start_worker(ngx_cycle_t *cycle);

/* Traces new bytes of peer.out, before they are sent or handed off. */
void ngx_tg_session_trace_output(ngx_tg_session_t *session);

/* Frees the cached buffers. */
void ngx_tg_buffer_cache_exit(void);

#endif
