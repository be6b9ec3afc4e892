/*
 * Texts of broadcasts: one counted copy for all sessions of a worker that are
 * sent it, and what each session has not been sent of them.
 *
 * A session sends in order: its peer's output up to where a text belongs, the
 * text, and what the peer wrote after that.  Texts are sent in the session's
 * own time slices only, so that many listeners that take them at once do not
 * hold up the worker.
 */
#ifndef _NGX_TOOLGATE_TEXT_H_INCLUDED_
#define _NGX_TOOLGATE_TEXT_H_INCLUDED_

#include "nginx/sched/ngx_toolgate_sched.h"
#include "nginx/share/ngx_toolgate_share.h"

typedef struct ngx_toolgate_session_s ngx_toolgate_session_t;
typedef struct ngx_toolgate_unsent_s ngx_toolgate_unsent_t;

typedef struct {
    ngx_queue_t queue; /* of this worker, oldest first */
    uint64_t at;       /* its place in the log of broadcasts */
    tg_dialect_t form; /* as tg_broadcast_text() has it */
    ngx_uint_t nrefs;
    tg_buf_t bytes;
} ngx_toolgate_text_t;

/* One text in the output of a session. */
struct ngx_toolgate_unsent_s {
    ngx_toolgate_unsent_t *next;
    ngx_toolgate_text_t *text;
    size_t gap;  /* bytes of peer.out since the text before it */
    size_t head; /* bytes of the session's own, before the text */
    char data[];
};

/* The texts in the output of a session. */
typedef struct {
    ngx_toolgate_unsent_t *first;
    ngx_toolgate_unsent_t *last;
    size_t first_at; /* where in peer.out the first belongs, */
    size_t last_at;  /* and the last */
    size_t sent;     /* bytes of the first that were sent */
    size_t bytes;    /* of all that were not */
    size_t memory;   /* of the session's own */
} ngx_toolgate_texts_t;

/*
 * The text of a broadcast in a form, which other sessions may have: to be
 * released.  NULL: no memory.
 */
ngx_toolgate_text_t *ngx_toolgate_text_get(const ngx_toolgate_news_t *news,
                                           tg_dialect_t form);
void ngx_toolgate_text_release(ngx_toolgate_text_t *text);

/* The oldest text, when all texts together are more than a worker holds. */
ngx_toolgate_text_t *ngx_toolgate_text_surplus(void);

/*
 * Puts a text, after a head of the session's own, behind what is in its
 * output: a small one is copied.  TG_OK or TG_NOMEM.
 */
int ngx_toolgate_text_add(ngx_toolgate_session_t *session,
                          ngx_toolgate_text_t *text, tg_str_t head);

/* Does a session have to send a text? */
ngx_uint_t ngx_toolgate_text_is_unsent(const ngx_toolgate_session_t *session,
                                       const ngx_toolgate_text_t *text);

/* Sends the first text, which is due: as ngx_toolgate_flush(). */
ngx_int_t ngx_toolgate_text_flush(ngx_toolgate_session_t *session);

/*
 * The session moves: what has begun to be sent is in peer.out then, the other
 * texts are forgotten.  Returns the place of the first of those in the log, or
 * what is given where there is none.
 */
uint64_t ngx_toolgate_text_leave(ngx_toolgate_session_t *session, uint64_t at);

/* Bytes at the beginning of peer.out were dropped. */
void ngx_toolgate_text_dropped(ngx_toolgate_session_t *session, size_t bytes);

/* Forgets all texts of a session. */
void ngx_toolgate_text_clear(ngx_toolgate_session_t *session);

#endif
