/*
 * A session on its way between workers: its descriptor, what NGINX counts of
 * it, its peer's state, and bytes read and not yet written.
 *
 * One message over the handover's pair; what is large follows in a memory
 * file.  Both ends are this module, of one version: what another one packed is
 * not understood, and its client is closed.
 */
#ifndef _NGX_TOOLGATE_PACKED_H_INCLUDED_
#define _NGX_TOOLGATE_PACKED_H_INCLUDED_

#include "nginx/move/ngx_toolgate_handover.h"

/* Larger contents go in a file: a few hundred small ones fit the pair. */
#define NGX_TOOLGATE_PACKED_INLINE 16384

enum {
    NGX_TOOLGATE_PACKED_STATE = 0, /* of the peer */
    NGX_TOOLGATE_PACKED_IN,        /* bytes that the peer did not consume */
    NGX_TOOLGATE_PACKED_OUT,       /* bytes that the client did not take */
    NGX_TOOLGATE_PACKED_FAREWELL,  /* what to say if nobody can take it */
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
    uint64_t last_time;
    uint64_t last_queued;
    uint64_t to_read; /* ms that are left of the timers; 0: none */
    uint64_t to_send;
    uint32_t wait;
    uint32_t has_spoken;
    uint32_t is_apart; /* the parts are in a file */
    uint32_t listener_len;
    uint32_t client_len;
    uint32_t last_is_known; /* of the call that ended last */
    uint32_t last_end;
    uint32_t last_kind;
    uint32_t last_len;
    char last_name[TG_NAME_MAX];
    ngx_sockaddr_t listener;
    ngx_sockaddr_t client;
} ngx_toolgate_packed_head_t;

typedef struct {
    ngx_toolgate_packed_head_t head;
    tg_str_t part[NGX_TOOLGATE_PACKED_PARTS];
    ngx_socket_t fd; /* the client's; -1: none, or not ours any more */

    /* what part points into: of one that was received */
    void *map;
    size_t map_len;
    void *body;

    /* and of one that is sent: state, in, out, farewell */
    tg_buf_t buf[NGX_TOOLGATE_PACKED_PARTS];
} ngx_toolgate_packed_t;

void ngx_toolgate_packed_init(ngx_toolgate_packed_t *packed);

/* Frees what it holds, and closes fd if there is one. */
void ngx_toolgate_packed_deinit(ngx_toolgate_packed_t *packed);

/* Could one be sent now? */
ngx_uint_t ngx_toolgate_packed_may_send(void);

/*
 * Sends what is in head, part and fd, which stay the caller's.  NGX_OK;
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

/* Nobody can serve it: the rest of its output as far as it goes, goodbye. */
void ngx_toolgate_packed_farewell(ngx_toolgate_packed_t *packed);

#endif
