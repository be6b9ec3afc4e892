/*
 * Texts of broadcasts: one reference-counted copy for all sessions of a worker,
 * and the texts that each session has not sent yet.
 *
 * A session sends in order: its peer's output up to the position of a text, the
 * text, and what the peer wrote after that. Texts are sent only in the
 * session's own time slices, so that many clients that read at once do not
 * delay the worker.
 */
#ifndef _NGX_TG_BROADCAST_TEXT_H_INCLUDED_
#define _NGX_TG_BROADCAST_TEXT_H_INCLUDED_

#include "nginx/sched/ngx_tg_sched.h"
#include "nginx/session/ngx_tg_session.h"

typedef struct ngx_tg_unsent_text_s ngx_tg_unsent_text_t;

typedef struct {
    ngx_queue_t queue; /* all texts of this worker, oldest first */
    uint64_t at;       /* position of the broadcast in the broadcast log */
    tg_dialect_t form; /* dialect, see tg_broadcast_write_json() */
    ngx_uint_t nrefs;
    tg_buf_t bytes;
} ngx_tg_broadcast_text_t;

/* One text in the output of a session. */
struct ngx_tg_unsent_text_s {
    ngx_tg_unsent_text_t *next;
    ngx_tg_broadcast_text_t *text;
    size_t gap;  /* bytes of peer.out between the previous text and this one */
    size_t head; /* length of data, which the session sends before the text */
    char data[];
};

/* All unsent texts in the output of a session. */
typedef struct {
    ngx_tg_unsent_text_t *first;
    ngx_tg_unsent_text_t *last;
    size_t first_offset; /* position of the first text in peer.out */
    size_t last_offset;  /* position of the last text in peer.out */
    size_t sent;   /* bytes of the first text that were sent, data included */
    size_t bytes;  /* bytes of all texts that were not sent */
    size_t memory; /* bytes of memory of the list, without the shared texts */
} ngx_tg_unsent_texts_t;

/*
 * Returns the text of a broadcast in a dialect, shared with other sessions; the
 * caller must release it. Returns NULL if there is no memory.
 */
ngx_tg_broadcast_text_t *ngx_tg_broadcast_text_get(
    const ngx_tg_broadcast_message_t *broadcast, tg_dialect_t form);
/* Releases a reference to a text. */
void ngx_tg_broadcast_text_release(ngx_tg_broadcast_text_t *text);

/*
 * Returns the oldest text if all texts together exceed the worker's limit, else
 * NULL.
 */
ngx_tg_broadcast_text_t *ngx_tg_broadcast_text_find_surplus(void);

/*
 * Appends a text to the session's output, after the session's own head. A small
 * text is copied to peer.out. Returns TG_OK or TG_NOMEM.
 */
int ngx_tg_unsent_texts_add(ngx_tg_session_t *session,
                            ngx_tg_broadcast_text_t *text, tg_str_t head);

/* Checks whether this text is among the session's unsent texts. */
ngx_uint_t ngx_tg_unsent_texts_contains(const ngx_tg_session_t *session,
                                        const ngx_tg_broadcast_text_t *text);

/*
 * Sends the first text, whose position in the output is reached. Returns NGX_OK
 * when all of it is sent, NGX_AGAIN, or NGX_ERROR.
 */
ngx_int_t ngx_tg_unsent_texts_flush(ngx_tg_session_t *session);

/*
 * Prepares the texts for a handoff: copies partly sent texts, and texts that
 * are no longer in the broadcast log, to peer.out, and drops the others.
 * Returns the log position of the first dropped text, or at if none was
 * dropped.
 */
uint64_t ngx_tg_unsent_texts_copy_to_output(ngx_tg_session_t *session,
                                            uint64_t at);

/* Adjusts positions after bytes were removed from the start of peer.out. */
void ngx_tg_unsent_texts_shift(ngx_tg_session_t *session, size_t bytes);

/* Drops all unsent texts of a session. */
void ngx_tg_unsent_texts_clear(ngx_tg_session_t *session);

#endif
