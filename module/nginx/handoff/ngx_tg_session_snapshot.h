/*
 * A session on its way between workers: its descriptor, what NGINX counts of
 * it, its peer's state, and bytes read and not yet written.
 *
 * One message over the handover's pair; what is large is in a memory file.
 * That is written from the session's own buffers, each of which is freed then,
 * and read into the new one's, so that no session is there twice: one buffer
 * at a time is.  Both ends are this module, of one version: what another one
 * packed is not understood, and its client is closed.
 */
#ifndef _NGX_TG_SESSION_SNAPSHOT_H_INCLUDED_
#define _NGX_TG_SESSION_SNAPSHOT_H_INCLUDED_

#include "nginx/handoff/ngx_tg_handoff_channel.h"
#include "nginx/session/ngx_tg_session.h"

/* Larger contents go in a file: a few hundred small ones fit the pair. */
#define NGX_TG_SNAPSHOT_INLINE_MAX 16384

enum {
    NGX_TG_SNAPSHOT_PEER_STATE = 0,  /* of the peer */
    NGX_TG_SNAPSHOT_INPUT,           /* bytes that the peer did not consume */
    NGX_TG_SNAPSHOT_OUTPUT,          /* bytes that the client did not take */
    NGX_TG_SNAPSHOT_SHUTDOWN_NOTICE, /* what to say if nobody can take it */
    NGX_TG_SNAPSHOT_BATCH_REPLIES,   /* that wait for the rest of their batch */
    NGX_TG_SNAPSHOT_PARTS_N
};

/* What goes as it is; unused bytes are 0. */
typedef struct {
    uint64_t magic;
    uint64_t len[NGX_TG_SNAPSHOT_PARTS_N];
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t received;
    uint64_t sent;
    uint64_t start_sec;
    uint64_t start_msec;
    uint64_t timer_left; /* ms of its timer; 0: there is none */
    uint64_t backlog_bytes;
    uint64_t number; /* of the connection, in logs */
    ngx_tg_client_slot_t client_slot;
    uint32_t wait;
    uint32_t has_spoken;
    uint32_t listener_len;
    uint32_t client_len;
    ngx_tg_call_record_t last; /* but its entry, which has a name */
    uint32_t last_kind;
    uint32_t last_len;
    char last_name[TG_NAME_MAX];
    char key[NGX_TG_TOKEN_LEN]; /* of the front, or zeros */
    ngx_sockaddr_t listener;
    ngx_sockaddr_t client;
} ngx_tg_session_snapshot_head_t;

typedef struct {
    ngx_tg_session_snapshot_head_t head;
    ngx_socket_t fd; /* the client's; -1: none, or not ours any more */
    ngx_fd_t file;   /* the parts, one behind the other; -1: in body */
    tg_buf_t body;
    size_t replies_read;   /* of the replies */
    size_t counted_memory; /* of the file, among what the worker keeps */

    /* Of one that is sent: a part each, and behind them the replies. */
    tg_buf_t *bufs;
    ngx_uint_t nbufs;
    ngx_uint_t nwritten; /* of these, and freed */
} ngx_tg_session_snapshot_t;

void ngx_tg_session_snapshot_init(ngx_tg_session_snapshot_t *snapshot);

/* Room for the parts, with so many buffers of replies: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_session_snapshot_alloc(ngx_tg_session_snapshot_t *snapshot,
                                        ngx_uint_t nreplies);

/* A part, each once; its buffer is left empty. */
void ngx_tg_session_snapshot_set_part(ngx_tg_session_snapshot_t *snapshot,
                                      ngx_uint_t part, tg_buf_t *buf);

/* The next replies, likewise; as tg_peer_take_replies_pt, of a packed. */
void ngx_tg_session_snapshot_add_replies(void *data, tg_buf_t *replies);

/* Frees what it holds, and closes fd if there is one. */
void ngx_tg_session_snapshot_deinit(ngx_tg_session_snapshot_t *snapshot);

/* Could one be sent now? */
ngx_uint_t ngx_tg_session_snapshot_can_send(void);

/*
 * What was put as if it had been received: in one place, a buffer after the
 * other.  NGX_OK, also once more, or NGX_ERROR with errno.
 */
ngx_int_t ngx_tg_session_snapshot_gather(ngx_tg_session_snapshot_t *snapshot);

/*
 * Sends what was put, head and fd, which stay the caller's.  NGX_OK;
 * NGX_AGAIN: not now; NGX_ERROR, logged: never.
 */
ngx_int_t ngx_tg_session_snapshot_send(ngx_tg_session_snapshot_t *snapshot,
                                       ngx_log_t *log);

/*
 * Takes the next one.  NGX_OK; NGX_AGAIN: there is none; NGX_BUSY: no
 * descriptor or memory is left for it, it stays; NGX_ERROR, logged: it was
 * none, and is gone.
 */
ngx_int_t ngx_tg_session_snapshot_receive(ngx_tg_session_snapshot_t *snapshot,
                                          ngx_log_t *log);

/* Appends a part, but the replies: TG_OK, TG_INVALID, TG_NOMEM. */
int ngx_tg_session_snapshot_read_part(ngx_tg_session_snapshot_t *snapshot,
                                      ngx_uint_t part, tg_buf_t *out);

/* The next replies, once; as tg_peer_read_replies_pt, of a packed. */
int ngx_tg_session_snapshot_read_replies(void *data, tg_buf_t *replies,
                                         size_t len);

/* Nobody can serve it: the rest of its output as far as it goes, goodbye. */
void ngx_tg_session_snapshot_close_client(ngx_tg_session_snapshot_t *snapshot);

#endif
