/*
 * Texts of broadcasts: one counted copy for all sessions of a worker that are
 * sent it, and what each session has not been sent of them.
 *
 * A session sends in order: its peer's output up to where a text belongs, the
 * text, and what the peer wrote after that.  Texts are sent in the session's
 * own time slices only, so that many listeners that take them at once do not
 * hold up the worker.
 */
#ifndef _NGX_TG_BROADCAST_TEXT_H_INCLUDED_
#define _NGX_TG_BROADCAST_TEXT_H_INCLUDED_

#include "nginx/sched/ngx_tg_sched.h"
#include "nginx/shm/ngx_tg_shm.h"

typedef struct ngx_tg_session_s ngx_tg_session_t;
typedef struct ngx_tg_unsent_text_s ngx_tg_unsent_text_t;

typedef struct {
    ngx_queue_t queue; /* of this worker, oldest first */
    uint64_t at;       /* its place in the log of broadcasts */
    tg_dialect_t form; /* as tg_broadcast_write_json() has it */
    ngx_uint_t nrefs;
    tg_buf_t bytes;
} ngx_tg_broadcast_text_t;

/* One text in the output of a session. */
struct ngx_tg_unsent_text_s {
    ngx_tg_unsent_text_t *next;
    ngx_tg_broadcast_text_t *text;
    size_t gap;  /* bytes of peer.out since the text before it */
    size_t head; /* bytes of the session's own, before the text */
    char data[];
};

/* The texts in the output of a session. */
typedef struct {
    ngx_tg_unsent_text_t *first;
    ngx_tg_unsent_text_t *last;
    size_t first_offset; /* where in peer.out the first belongs, */
    size_t last_offset;  /* and the last */
    size_t sent;         /* bytes of the first that were sent */
    size_t bytes;        /* of all that were not */
    size_t memory;       /* of the session's own */
} ngx_tg_unsent_texts_t;

/*
 * The text of a broadcast in a form, which other sessions may have: to be
 * released.  NULL: no memory.
 */
ngx_tg_broadcast_text_t *ngx_tg_broadcast_text_get(
    const ngx_tg_broadcast_message_t *broadcast, tg_dialect_t form);
void ngx_tg_broadcast_text_release(ngx_tg_broadcast_text_t *text);

/* The oldest text, when all texts together are more than a worker holds. */
ngx_tg_broadcast_text_t *ngx_tg_broadcast_text_find_surplus(void);

/*
 * Puts a text, after a head of the session's own, behind what is in its
 * output: a small one is copied.  TG_OK or TG_NOMEM.
 */
int ngx_tg_unsent_texts_add(ngx_tg_session_t *session,
                            ngx_tg_broadcast_text_t *text, tg_str_t head);

/* Does a session have to send a text? */
ngx_uint_t ngx_tg_unsent_texts_contains(const ngx_tg_session_t *session,
                                        const ngx_tg_broadcast_text_t *text);

/* Sends the first text, which is due: as ngx_tg_session_flush(). */
ngx_int_t ngx_tg_unsent_texts_flush(ngx_tg_session_t *session);

/*
 * The session moves: what has begun to be sent is in peer.out then, the other
 * texts are forgotten.  Returns the place of the first of those in the log, or
 * what is given where there is none.
 */
uint64_t ngx_tg_unsent_texts_copy_to_output(ngx_tg_session_t *session,
                                            uint64_t at);

/* Bytes at the beginning of peer.out were dropped. */
void ngx_tg_unsent_texts_shift(ngx_tg_session_t *session, size_t bytes);

/* Forgets all texts of a session. */
void ngx_tg_unsent_texts_clear(ngx_tg_session_t *session);

#endif
