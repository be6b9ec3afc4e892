/*
 * What the files of a session share: reading, writing, waiting, leaving.
 */
#ifndef _NGX_TOOLGATE_SESSION_H_INCLUDED_
#define _NGX_TOOLGATE_SESSION_H_INCLUDED_

#include "nginx/ngx_toolgate.h"

/* One read; large enough that a usual burst of frames is one. */
#define NGX_TOOLGATE_READ 131072
/* Buffers from this size on are kept for the next call. */
#define NGX_TOOLGATE_LARGE 262144

/* --- blocks --- */

/*
 * Exchanges a buffer's memory for a kept block of the size that is wanted,
 * or the largest that is kept; what is in it comes along.  Where there is
 * none that is larger, the buffer stays as it is.
 */
void ngx_toolgate_block_get(tg_buf_t *buf, size_t want);

/* Empties a buffer; its memory is kept when it is large, else freed. */
void ngx_toolgate_block_put(tg_buf_t *buf);

/* Frees what is kept. */
void ngx_toolgate_blocks_exit(void);

/* Closes the client's connection; the session is gone. */
void ngx_toolgate_end(ngx_toolgate_session_t *session, ngx_uint_t rc);

/* --- output --- */

/* Lends peer.out the worker's buffer, and takes it back once it is empty. */
void ngx_toolgate_borrow(tg_buf_t *out);
void ngx_toolgate_give_back(tg_buf_t *out);

/* Sends what there is: NGX_OK when all went, NGX_AGAIN, NGX_ERROR. */
ngx_int_t ngx_toolgate_flush(ngx_toolgate_session_t *session);

/* Waits for the socket to take more, while there is something to send. */
ngx_int_t ngx_toolgate_watch(ngx_toolgate_session_t *session);

/* --- input --- */

/*
 * Serves what there is, until the socket is empty or the peer pauses.  While
 * its output does not drain, nothing more is read of a client.
 */
void ngx_toolgate_pump(ngx_toolgate_session_t *session);

/* --- turns --- */

void ngx_toolgate_turn_begin(void);

/* Out of the row, wherever it is. */
void ngx_toolgate_turn_leave(ngx_toolgate_session_t *session);

/* --- memory --- */

/*
 * Counts what the session keeps now, after it was served; when a worker's
 * clients keep too much, the worst is closed, though not from in here.
 */
void ngx_toolgate_memory_count(ngx_toolgate_session_t *session);
void ngx_toolgate_memory_drop(ngx_toolgate_session_t *session);

/* --- room --- */

/* It has not spoken yet, and may have to go for another; and it did. */
void ngx_toolgate_silent_join(ngx_toolgate_session_t *session);
void ngx_toolgate_silent_leave(ngx_toolgate_session_t *session);

/* --- timers --- */

/*
 * A timer runs on until the client does what is expected: single bytes of a
 * frame, or of requests while it reads no answers, put nothing off.
 */
void ngx_toolgate_set_timers(ngx_toolgate_session_t *session);

/* --- leaving --- */

/* Is the client still read from?  Always, but in an exiting worker. */
ngx_uint_t ngx_toolgate_may_read(const ngx_toolgate_session_t *session);

/* The worker exits; and the session is gone from it. */
void ngx_toolgate_leave_begin(ngx_toolgate_session_t *session);
void ngx_toolgate_leave_end(ngx_toolgate_session_t *session);

/*
 * To another worker: NGX_DONE, and the session is gone; NGX_AGAIN: soon, and
 * nothing is read meanwhile; NGX_DECLINED: nobody takes it.
 */
ngx_int_t ngx_toolgate_go(ngx_toolgate_session_t *session);

/* Of one that stays: what came is served, once; then goodbye. */
void ngx_toolgate_leave(ngx_toolgate_session_t *session);

#endif
