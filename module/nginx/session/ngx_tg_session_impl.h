/* What only the files of nginx/session/ know of a session. */
#ifndef _NGX_TG_SESSION_IMPL_H_INCLUDED_
#define _NGX_TG_SESSION_IMPL_H_INCLUDED_

#include "nginx/sched/ngx_tg_sched.h"
#include "nginx/session/ngx_tg_broadcast_text.h"
#include "nginx/session/ngx_tg_session.h"

/* Bytes per read; large enough for a usual burst of frames. */
#define NGX_TG_READ_BUFFER_SIZE 131072

/* Minimum size of a buffer that the worker caches, in bytes. */
#define NGX_TG_LARGE_BUFFER_SIZE 262144

/* Steps of a time slice charged for one event of a session with a few bytes. */
#define NGX_TG_SESSION_STEPS_PER_SLICE 8192

/*
 * Time in which a new client may send its first byte, in ms. The first byte
 * identifies the client's dialect. Notifications are delayed until then; none
 * is lost.
 */
#define NGX_TG_FIRST_BYTE_TIMEOUT 500

/*
 * Maximum time that an exiting worker serves a client that is never idle, in
 * ms.
 */
#define NGX_TG_LEAVING_TIMEOUT 5000

/*
 * The part of a session that other workers see in shared memory, and that
 * receives broadcasts.
 */
typedef struct {
    ngx_queue_t queue;
    ngx_tg_session_t *session;
    ngx_tg_client_slot_t client_slot;
    uint64_t address;     /* address hash of its server */
    size_t backlog_bytes; /* upper bound of broadcast bytes not yet sent */
    /* peer's nclient_changes when the identity was last written */
    unsigned nclient_changes;
    uint64_t audience;      /* the client's uid, or NGX_TG_AUDIENCE_* */
    ngx_uint_t can_receive; /* the server's rules allow broadcasts to it */
    ngx_uint_t sees_all;    /* sees other users' tasks as well */
    /* reads broadcasts that others already received */
    ngx_uint_t is_catching_up;
    ngx_msec_t connected; /* time of the connection, in ms */
} ngx_tg_shared_client_t;

struct ngx_tg_session_private_s {
    ngx_tg_unsent_texts_t texts; /* unsent texts between bytes of peer.out */
    ngx_event_t *timer;          /* session timer; NULL: never used */
    ngx_msec_t parked_until; /* time to serve parked requests again, in ms */
    /* value of bytes_in to reach: all bytes received before the exit */
    uint64_t bytes_to_read;
    ngx_msec_t in_transit_since; /* time of the last progress, in ms */
    int in_transit_bytes;        /* bytes not acknowledged by the client yet */
    tg_dialect_t dialect;        /* dialect it is counted under */
    ngx_queue_t all; /* link in the list of all sessions of the worker */
    tg_sched_source_t source; /* time slices and memory of the session */
    uint64_t charged_steps;   /* steps already charged to this slice */
    size_t charged_output;
    ngx_queue_t memory; /* link in the list of sessions that use much memory */
    /* NULL: not visible to other workers */
    ngx_tg_shared_client_t *shared_client;
    uint64_t weight;       /* recent average of its memory, in bytes */
    ngx_msec_t weighed_at; /* time of the average, in ms */
    uint16_t user;         /* indices in the sums of memory owners */
    uint16_t process;
    unsigned has_read:1; /* a whole frame came since the timers were set */
    unsigned has_sent:1; /* bytes were sent since the timers were set */
    unsigned is_eof:1;   /* the client will not send more */
    unsigned must_serve_parked:1; /* serve parked requests now */
    unsigned is_drained:1;        /* the last read before closing is done */
    unsigned has_memory_owner:1;  /* user and process are set */
    unsigned has_slice:1;         /* runs in its own time slice */
    unsigned is_embedded:1;       /* another module transports its messages */
    /* Result of the trace's `if=`, and the state for which it was evaluated. */
    unsigned is_traced:1;
    unsigned trace_dialect:7;
    unsigned trace_nmet; /* peer's nclient_changes at the evaluation */
};

/* A session, as it is allocated. */
typedef struct {
    ngx_tg_session_t session;
    ngx_tg_session_private_t priv;
} ngx_tg_session_block_t;

/* Returns the session of a private member's address. */
#define ngx_tg_session_of(ptr, member)                                         \
    (&TG_CONTAINER_OF(ptr, ngx_tg_session_block_t, priv.member)->session)

/* Adds a session to the list of all sessions of the worker. */
void ngx_tg_session_list_add(ngx_tg_session_t *session);
void ngx_tg_session_list_remove(ngx_tg_session_t *session);

/* Gives the session the server's current catalog. */
void ngx_tg_session_update_catalog(ngx_tg_session_t *session);

/* Logs a rejected message. A callback of tg_peer_ops_t. */
void ngx_tg_session_on_rejected_message(void *host, const char *why);

/*
 * Appends the list's `_meta`, with the MCP servers that are starting or have
 * failed. A callback of tg_peer_ops_t; host is the session's base.
 */
void ngx_tg_parked_append_list_meta(void *host, tg_buf_t *json);

/*
 * Parks a request of the tool list if MCP servers are starting. Returns TG_OK
 * if it is parked, else TG_END. A callback of tg_peer_ops_t.
 */
int ngx_tg_parked_on_list(void *host, tg_peer_t *peer, tg_request_t *request);

/*
 * Parks a call of an unknown tool while MCP servers are starting, else rejects
 * it. A callback of tg_peer_ops_t.
 */
void ngx_tg_parked_on_unknown_tool(void *host, tg_peer_t *peer,
                                   tg_request_t *request);

/*
 * Serves the requests again whose client has not answered in time, or cannot
 * any more.
 */
void ngx_tg_session_expire_inputs(ngx_tg_session_t *session);

/* Serves parked requests again whose time is over, or all of them if is_now. */
void ngx_tg_session_serve_parked(ngx_tg_session_t *session, ngx_uint_t is_now);

/*
 * Finishes a session whose worker exits and which no other worker receives:
 * serves the input received so far, and sends the shutdown notice once no call
 * is running.
 */
void ngx_tg_session_finish_at_exit(ngx_tg_session_t *session);

/*
 * Closes a session after worker_shutdown_timeout: fails its calls and sends the
 * shutdown notice, without waiting for anything else.
 */
void ngx_tg_session_close_past_shutdown(ngx_tg_session_t *session);

/*
 * Sends the shutdown notice during a fast shutdown, as far as the socket
 * accepts it without blocking.
 */
void ngx_tg_session_send_shutdown_notice(ngx_tg_session_t *session);

/*
 * Closes the session if it has come to its end; flushed is the result of the
 * last flush. Returns 1 if the session is freed, else 0.
 */
ngx_uint_t ngx_tg_session_close_if_done(ngx_tg_session_t *session,
                                        ngx_int_t flushed);

/*
 * Reads and serves input until the socket is empty, the time slice is over or
 * the peer pauses. Reads nothing while the client does not take its output.
 */
void ngx_tg_session_read_and_serve(ngx_tg_session_t *session);

/*
 * Sends all output. Returns NGX_OK when everything is sent, NGX_AGAIN if the
 * socket is full or the time slice is over, or NGX_ERROR.
 */
ngx_int_t ngx_tg_session_flush(ngx_tg_session_t *session);

/*
 * Adds the write event while there is unsent output, and removes it otherwise.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_session_watch_writable(ngx_tg_session_t *session);

/*
 * Sets the timers for the event that the session waits for. A timer keeps
 * running until that event: single bytes of a frame, or requests of a client
 * that reads no responses, do not extend it.
 */
void ngx_tg_session_set_timers(ngx_tg_session_t *session);

/* Runs the session in its time slice. The run function of its source. */
void ngx_tg_session_run_time_slice(tg_sched_source_t *source);

/* Begins a time slice of the session. */
void ngx_tg_time_slice_begin(ngx_tg_session_t *session);

/*
 * Checks whether the current time slice is over; the session is then queued,
 * and woken for its next slice. A callback of tg_peer_ops_t; host is the
 * session.
 */
int ngx_tg_time_slice_is_over(void *host);

/*
 * Checks whether the time slice is over after `bytes` of an incomplete message.
 */
ngx_uint_t ngx_tg_time_slice_is_over_after(ngx_tg_session_t *session,
                                           size_t bytes);

/* Checks whether all work of the session waits for its next time slice. */
static ngx_inline ngx_uint_t
ngx_tg_time_slice_is_awaited(const ngx_tg_session_t *session)
{
    return session->priv->source.is_queued
           && session->state == NGX_TG_SESSION_SERVING;
}

/* Returns the number of bytes not sent to the client yet. */
static ngx_inline size_t
ngx_tg_session_get_unsent_size(const ngx_tg_session_t *session)
{
    return session->base.peer.out.len - session->sent
           + session->priv->texts.bytes;
}

/* Removes the session from the scheduler's queue. */
static ngx_inline void
ngx_tg_time_slice_leave_queue(ngx_tg_session_t *session)
{
    tg_sched_dequeue(&ngx_tg_sched, &session->priv->source);
}

/*
 * Updates the memory that the session is charged for. If the worker's clients
 * use too much memory together, posts an event that closes the worst.
 */
void ngx_tg_session_update_memory(ngx_tg_session_t *session);

/* Removes the session's memory from the worker's accounts. */
void ngx_tg_session_clear_memory(ngx_tg_session_t *session);

/*
 * Queues a connection that has sent no request yet, and that may be closed to
 * make room for another one.
 */
void ngx_tg_pre_request_add(ngx_tg_pre_request_t *pre_request,
                            ngx_connection_t *c);

/*
 * Registers a new client in shared memory, and applies tool_relay_bridges.
 * Returns NGX_OK, or NGX_ERROR after logging: too many clients, or no memory.
 */
ngx_int_t ngx_tg_session_register_client(ngx_tg_session_t *session);

/* Updates the client's row in shared memory after the session was served. */
void ngx_tg_session_update_client_slot(ngx_tg_session_t *session);

/* Removes the client from shared memory. */
void ngx_tg_session_unregister_client(ngx_tg_session_t *session);

/*
 * Closes the client's connection and frees the session. The client is
 * unregistered first: once a bridge sees the end of its connection, another
 * bridge may connect.
 */
static ngx_inline void
ngx_tg_session_close(ngx_tg_session_t *session, ngx_uint_t rc)
{
    /*
     * A TLS shutdown may still wait for the client; the exiting worker waits
     * too.
     */
    session->base.connection->read->cancelable = 0;
    ngx_tg_session_unregister_client(session);
    ngx_stream_finalize_session(session->base.stream, rc);
}

/*
 * Applies tool_relay_bridges to a client whose dialect is now known. Returns
 * NULL, or the reason to reject the client. A callback of tg_peer_ops_t; host
 * is the session.
 */
const char *ngx_tg_session_check_bridge_policy(void *host, tg_peer_t *peer);

/* Closes the session of a bridge that another bridge has displaced. */
void ngx_tg_session_displace_bridge(ngx_tg_session_t *session);

/* Adds a session to the receivers of broadcasts. */
void ngx_tg_broadcast_add_listener(ngx_tg_shared_client_t *shared_client);

/* Removes a session from the receivers of broadcasts. */
void ngx_tg_broadcast_remove_listener(ngx_tg_shared_client_t *shared_client);

/*
 * Sends, in a time slice, broadcasts that the session missed during its
 * handoff.
 */
void ngx_tg_session_send_missed_broadcasts(ngx_tg_session_t *session);

/*
 * Notes the time and frame state before the peer reads input. Only for a server
 * with a trace.
 */
void ngx_tg_session_trace_begin(const ngx_tg_session_t *session);

/* Traces input bytes that the peer has consumed. */
void ngx_tg_session_trace_input(ngx_tg_session_t *session, tg_str_t bytes);

/* Traces the first unsent text, before it is sent. */
void ngx_tg_session_trace_broadcast_text(ngx_tg_session_t *session);

/* Lends the worker's output buffer to an empty peer.out. */
void ngx_tg_output_buffer_borrow(tg_buf_t *out);

/* Returns the buffer to the worker once peer.out is empty. */
void ngx_tg_output_buffer_return(tg_buf_t *out);

/*
 * Replaces a buffer's memory with the smallest cached block of at least `want`
 * bytes, or else the largest cached block. The contents are copied. Leaves the
 * buffer unchanged if no cached block is larger.
 */
void ngx_tg_buffer_cache_get(tg_buf_t *buf, size_t want);

/* Empties a buffer. Caches its memory if it is large, else frees it. */
void ngx_tg_buffer_cache_recycle(tg_buf_t *buf);

/* --- variables: ngx_tg_variables.c, ngx_tg_call_variables.c --- */

typedef ngx_stream_variable_value_t ngx_tg_variable_value_t;

/* Returns the call whose values are being evaluated, or NULL. */
ngx_tg_call_t *ngx_tg_stream_get_current_call(ngx_stream_session_t *s);

/* Sets a variable to bytes, not found if data is NULL. */
ngx_int_t ngx_tg_variable_set(ngx_tg_variable_value_t *v, const char *data,
                              size_t len);
ngx_int_t ngx_tg_variable_set_str(ngx_tg_variable_value_t *v, tg_str_t str);

/* Decodes a JSON string; other values keep their JSON text. */
ngx_int_t ngx_tg_variable_set_decoded(ngx_stream_session_t *s,
                                      ngx_tg_variable_value_t *v, tg_str_t raw);

ngx_int_t ngx_tg_trace_variable(ngx_stream_session_t *s,
                                ngx_tg_variable_value_t *v, uintptr_t data);
ngx_int_t ngx_tg_ask_variable(ngx_stream_session_t *s,
                              ngx_tg_variable_value_t *v, uintptr_t data);

#endif
