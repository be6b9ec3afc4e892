/*
 * Snapshot of a session for its handoff: the client's descriptor, NGINX's
 * counters, the peer's state, and bytes not yet processed or written. It is one
 * message of the channel; large contents are in a memory file, which is written
 * and read so that only one buffer at a time exists twice. A snapshot of
 * another version of the format is rejected and its client closed.
 */
#ifndef _NGX_TG_SESSION_SNAPSHOT_H_INCLUDED_
#define _NGX_TG_SESSION_SNAPSHOT_H_INCLUDED_

#include "nginx/handoff/ngx_tg_handoff_channel.h"
#include "nginx/session/ngx_tg_session.h"
#include "nginx/call/ngx_tg_session_base.h"

/* Maximum contents without a file, in bytes: some hundred messages fit. */
#define NGX_TG_SNAPSHOT_INLINE_MAX 16384

enum {
    NGX_TG_SNAPSHOT_PEER_STATE = 0, /* state of the peer */
    NGX_TG_SNAPSHOT_INPUT,          /* input not consumed by the peer */
    NGX_TG_SNAPSHOT_OUTPUT,         /* output not sent to the client */
    /* notice to send if no worker receives the session */
    NGX_TG_SNAPSHOT_SHUTDOWN_NOTICE,
    /* responses waiting for the rest of their batch */
    NGX_TG_SNAPSHOT_BATCH_REPLIES,
    NGX_TG_SNAPSHOT_PARTS_N
};

/* Fixed part of a message; unused bytes are 0. */
typedef struct {
    uint64_t magic;
    uint64_t len[NGX_TG_SNAPSHOT_PARTS_N];
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t received;
    uint64_t sent;
    uint64_t start_sec;
    uint64_t start_msec;
    /* remaining time of the active timer, in ms; 0: no timer */
    uint64_t timer_left;
    uint64_t backlog_bytes;
    uint64_t number; /* number of the connection in logs */
    ngx_tg_client_slot_t client_slot;
    uint32_t wait;
    uint32_t has_spoken;
    uint32_t listener_len;
    uint32_t client_len;
    /* all members but the entry, whose name follows */
    ngx_tg_call_record_t last;
    uint32_t last_kind;
    uint32_t last_len;
    char last_name[TG_NAME_MAX];
    /* handoff token of the session base, or zeros */
    char key[NGX_TG_TOKEN_LEN];
    ngx_sockaddr_t listener;
    ngx_sockaddr_t client;
} ngx_tg_session_snapshot_head_t;

typedef struct {
    ngx_tg_session_snapshot_head_t head;
    ngx_socket_t fd; /* client's descriptor; -1: none, or not owned */
    ngx_fd_t file;   /* all parts concatenated; -1: the parts are in body */
    tg_buf_t body;
    size_t replies_read; /* bytes of the replies that were read */
    /* size of the file, if it is charged to the worker */
    size_t counted_memory;

    /* Parts to send, then the buffers of the replies. */
    tg_buf_t *bufs;
    ngx_uint_t nbufs;
    ngx_uint_t nwritten; /* number of bufs that were written and freed */
} ngx_tg_session_snapshot_t;

void ngx_tg_session_snapshot_init(ngx_tg_session_snapshot_t *snapshot);

/* Allocates the buffers: one per part, and nreplies for replies. */
ngx_int_t ngx_tg_session_snapshot_alloc(ngx_tg_session_snapshot_t *snapshot,
                                        ngx_uint_t nreplies);

/* Moves buf into the snapshot, once per part; buf is empty afterwards. */
void ngx_tg_session_snapshot_set_part(ngx_tg_session_snapshot_t *snapshot,
                                      ngx_uint_t part, tg_buf_t *buf);

/* Moves the next replies into the snapshot. A tg_peer_take_replies_pt. */
void ngx_tg_session_snapshot_add_replies(void *data, tg_buf_t *replies);

/* Frees the snapshot's contents, and closes fd if it is set. */
void ngx_tg_session_snapshot_deinit(ngx_tg_session_snapshot_t *snapshot);

/* Checks whether the channel can take a message now. */
ngx_uint_t ngx_tg_session_snapshot_can_send(void);

/*
 * Gathers the parts in the body or the file, freeing their buffers. May be
 * called again. NGX_ERROR sets errno.
 */
ngx_int_t ngx_tg_session_snapshot_gather(ngx_tg_session_snapshot_t *snapshot);

/*
 * Sends the parts, the head and fd, which the caller keeps. NGX_AGAIN: not now;
 * NGX_ERROR, after logging: never.
 */
ngx_int_t ngx_tg_session_snapshot_send(ngx_tg_session_snapshot_t *snapshot,
                                       ngx_log_t *log);

/*
 * Receives the next snapshot. NGX_AGAIN: there is none; NGX_BUSY: descriptors
 * or memory are short, try again; NGX_ERROR: an invalid one was dropped.
 */
ngx_int_t ngx_tg_session_snapshot_receive(ngx_tg_session_snapshot_t *snapshot,
                                          ngx_log_t *log);

/* Appends a part (not replies). Returns TG_INVALID if it is incomplete. */
int ngx_tg_session_snapshot_read_part(ngx_tg_session_snapshot_t *snapshot,
                                      ngx_uint_t part, tg_buf_t *out);

/* Reads the next bytes of the replies, each once. A tg_peer_read_replies_pt. */
int ngx_tg_session_snapshot_read_replies(void *data, tg_buf_t *replies,
                                         size_t len);

/*
 * Closes a client that no worker can serve: sends the rest of its output and
 * the shutdown notice, as far as the socket accepts them.
 */
void ngx_tg_session_snapshot_close_client(ngx_tg_session_snapshot_t *snapshot);

#endif
