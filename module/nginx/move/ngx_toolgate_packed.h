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
#ifndef _NGX_TOOLGATE_PACKED_H_INCLUDED_
#define _NGX_TOOLGATE_PACKED_H_INCLUDED_

#include "nginx/move/ngx_toolgate_handover.h"
#include "nginx/stream/ngx_toolgate_session.h"

/* Larger contents go in a file: a few hundred small ones fit the pair. */
#define NGX_TOOLGATE_PACKED_INLINE 16384

enum {
    NGX_TOOLGATE_PACKED_STATE = 0, /* of the peer */
    NGX_TOOLGATE_PACKED_IN,        /* bytes that the peer did not consume */
    NGX_TOOLGATE_PACKED_OUT,       /* bytes that the client did not take */
    NGX_TOOLGATE_PACKED_FAREWELL,  /* what to say if nobody can take it */
    NGX_TOOLGATE_PACKED_REPLIES,   /* that wait for the rest of their batch */
    NGX_TOOLGATE_PACKED_PARTS
};

/* What goes as it is; unused bytes are 0. */
typedef struct {
    uint64_t magic;
    uint64_t len[NGX_TOOLGATE_PACKED_PARTS];
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t received;
    uint64_t sent;
    uint64_t start_sec;
    uint64_t start_msec;
    uint64_t left; /* ms of its timer; 0: there is none */
    uint64_t told;
    uint64_t number; /* of the connection, in logs */
    ngx_toolgate_seat_t seat;
    uint32_t wait;
    uint32_t has_spoken;
    uint32_t listener_len;
    uint32_t client_len;
    ngx_toolgate_record_t last; /* but its entry, which has a name */
    uint32_t last_kind;
    uint32_t last_len;
    char last_name[TG_NAME_MAX];
    char key[NGX_TOOLGATE_KEY]; /* of the front, or zeros */
    ngx_sockaddr_t listener;
    ngx_sockaddr_t client;
} ngx_toolgate_packed_head_t;

typedef struct {
    ngx_toolgate_packed_head_t head;
    ngx_socket_t fd; /* the client's; -1: none, or not ours any more */
    ngx_fd_t file;   /* the parts, one behind the other; -1: in body */
    tg_buf_t body;
    size_t given;   /* of the replies */
    size_t counted; /* of the file, among what the worker keeps */

    /* Of one that is sent: a part each, and behind them the replies. */
    tg_buf_t *bufs;
    ngx_uint_t nbufs;
    ngx_uint_t nwritten; /* of these, and freed */
} ngx_toolgate_packed_t;

void ngx_toolgate_packed_init(ngx_toolgate_packed_t *packed);

/* Room for the parts, with so many buffers of replies: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_toolgate_packed_alloc(ngx_toolgate_packed_t *packed,
                                    ngx_uint_t nreplies);

/* A part, each once; its buffer is left empty. */
void ngx_toolgate_packed_set(ngx_toolgate_packed_t *packed, ngx_uint_t part,
                             tg_buf_t *buf);

/* The next replies, likewise; as tg_peer_take_pt, of a packed. */
void ngx_toolgate_packed_take(void *data, tg_buf_t *replies);

/* Frees what it holds, and closes fd if there is one. */
void ngx_toolgate_packed_deinit(ngx_toolgate_packed_t *packed);

/* Could one be sent now? */
ngx_uint_t ngx_toolgate_packed_may_send(void);

/*
 * What was put as if it had been received: in one place, a buffer after the
 * other.  NGX_OK, also once more, or NGX_ERROR with errno.
 */
ngx_int_t ngx_toolgate_packed_gather(ngx_toolgate_packed_t *packed);

/*
 * Sends what was put, head and fd, which stay the caller's.  NGX_OK;
 * NGX_AGAIN: not now; NGX_ERROR, logged: never.
 */
ngx_int_t ngx_toolgate_packed_send(ngx_toolgate_packed_t *packed,
                                   ngx_log_t *log);

/*
 * Takes the next one.  NGX_OK; NGX_AGAIN: there is none; NGX_BUSY: no
 * descriptor or memory is left for it, it stays; NGX_ERROR, logged: it was
 * none, and is gone.
 */
ngx_int_t ngx_toolgate_packed_receive(ngx_toolgate_packed_t *packed,
                                      ngx_log_t *log);

/* Appends a part, but the replies: TG_OK, TG_BAD, TG_NOMEM. */
int ngx_toolgate_packed_get(ngx_toolgate_packed_t *packed, ngx_uint_t part,
                            tg_buf_t *out);

/* The next replies, once; as tg_peer_give_pt, of a packed. */
int ngx_toolgate_packed_give(void *data, tg_buf_t *replies, size_t len);

/* Nobody can serve it: the rest of its output as far as it goes, goodbye. */
void ngx_toolgate_packed_farewell(ngx_toolgate_packed_t *packed);

#endif
