/*
 * The requests of a caller that wait for their answer: found by id, kept in
 * the order of sending.  For the files of the caller and the dialects.
 */
#ifndef TG_PENDING_H
#define TG_PENDING_H

#include "core/tg_caller.h"

struct tg_pending_s {
    tg_pending_t *next_in_slot;
    tg_pending_t *next;
    tg_pending_t *prev;
    uint64_t id;
    uint64_t start;  /* where its first byte stands in all that was sent */
    tg_str_t queued; /* sequential: the frame until its turn, owned */
    uint64_t nnotes; /* notifications that were sent before it */
    void *tag;
};

/* Adds one with the caller's next id.  NULL: no memory. */
tg_pending_t *tg_pending_add(tg_caller_t *caller, void *tag);
tg_pending_t *tg_pending_find(const tg_caller_t *caller, uint64_t id);

/* Takes it out and frees it. */
void tg_pending_remove(tg_caller_t *caller, tg_pending_t *pending);

/* Puts the oldest into out, when it is still queued. */
void tg_caller_next(tg_caller_t *caller);

void tg_caller_log(tg_caller_t *caller, const char *text);

/* --- tg_caller_end.c --- */

/* The body of a raw string, or absent. */
static inline tg_str_t
tg_raw_body(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING ? tg_json_body(raw)
                                               : TG_STR_NONE;
}

/* Gives a request its answer, and frees it. */
void tg_caller_end(tg_caller_t *caller, tg_pending_t *pending,
                   const tg_answer_t *answer);

/* Of an error that has neither a message nor a class. */
#define TG_CALLER_UNTOLD                                                       \
    TG_STR("The server answered with an error and did not say why; look into " \
           "its log.")

/* Fails a request with an error that no message says as its dialect does. */
void tg_caller_fail(tg_caller_t *caller, tg_pending_t *pending,
                    tg_str_t message, int is_too_large);

/* The other side leaves; reason is raw or absent.  TG_CLOSED. */
int tg_caller_farewell(tg_caller_t *caller, tg_str_t reason);

/* TG_CLOSED when it is a farewell of Toolgate's. */
int tg_caller_notification(tg_caller_t *caller, const tg_message_t *message);

/* --- tg_caller_input.c, for the dialects --- */

/* A farewell because of the request that message->id may name: TG_CLOSED. */
int tg_caller_broken(tg_caller_t *caller, const tg_message_t *message);

/* Answers a ping of the server's, by its raw id: as tg_caller_refuse(). */
int tg_caller_pong(tg_caller_t *caller, tg_str_t id);

/* --- tg_caller_broken.c --- */

/* Fails a request whose answer cannot be read: with what is wrong in it. */
void tg_caller_fail_broken(tg_caller_t *caller, tg_pending_t *pending,
                           tg_str_t frame, const char *what);

/*
 * The request that a frame answers which cannot be read as a whole, by an id
 * at its beginning or its end; NULL: none.
 */
tg_pending_t *tg_caller_find_broken(const tg_caller_t *caller, tg_str_t frame);

/* Fails the requests of an answer with two ids; says whether there are any. */
int tg_caller_fail_duplicate(tg_caller_t *caller, tg_str_t frame);

#endif
