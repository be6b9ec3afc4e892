/*
 * The requests of a caller that wait for their answer: found by id, kept in
 * the order of sending.  For the files of the caller and the dialects.
 */
#ifndef TG_CALLER_IMPL_H
#define TG_CALLER_IMPL_H

#include "protocol/tg_caller.h"

struct tg_pending_request_s {
    tg_pending_request_t *next_in_slot;
    tg_pending_request_t *next;
    tg_pending_request_t *prev;
    uint64_t id;
    uint64_t start;  /* where its first byte stands in all that was sent */
    tg_str_t queued; /* sequential: the frame until its turn, owned */
    uint64_t nnotifications; /* notifications that were sent before it */
    void *tag;
};

/* Adds one with the caller's next id.  NULL: no memory. */
tg_pending_request_t *tg_pending_add(tg_caller_t *caller, void *tag);
tg_pending_request_t *tg_pending_find(const tg_caller_t *caller, uint64_t id);

/* Takes it out and frees it. */
void tg_pending_remove(tg_caller_t *caller, tg_pending_request_t *pending);

/* Puts the oldest into out, when it is still queued. */
void tg_caller_send_next(tg_caller_t *caller);

void tg_caller_log(tg_caller_t *caller, const char *text);

/* --- tg_caller_complete.c --- */

/* The body of a raw string, or absent. */
static inline tg_str_t
tg_raw_string_body(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING ? tg_json_string_body(raw)
                                               : TG_STR_NONE;
}

/* Gives a request its answer, and frees it. */
void tg_caller_complete_request(tg_caller_t *caller,
                                tg_pending_request_t *pending,
                                const tg_response_t *answer);

/* Of an error that has neither a message nor a class. */
#define TG_CALLER_NO_REASON                                                    \
    TG_STR("The server answered with an error and did not say why; look into " \
           "its log.")

/* Fails a request with an error that no message says as its dialect does. */
void tg_caller_fail_request(tg_caller_t *caller, tg_pending_request_t *pending,
                            tg_str_t message, int is_too_large);

/* The other side leaves; reason is raw or absent.  TG_CLOSED. */
int tg_caller_on_shutdown_notice(tg_caller_t *caller, tg_str_t reason);

/* TG_CLOSED when it is a farewell of Toolgate's. */
int tg_caller_on_notification(tg_caller_t *caller, const tg_message_t *message);

/* --- tg_caller_input.c, for the dialects --- */

/* A farewell because of the request that message->id may name: TG_CLOSED. */
int tg_caller_on_error_notice(tg_caller_t *caller, const tg_message_t *message);

/*
 * Answers a ping of the server's, by its raw id: as tg_caller_respond_error().
 */
int tg_caller_respond_ping(tg_caller_t *caller, tg_str_t id);

/* --- tg_caller_malformed.c --- */

/* Fails a request whose answer cannot be read: with what is wrong in it. */
void tg_caller_fail_malformed(tg_caller_t *caller,
                              tg_pending_request_t *pending, tg_str_t frame,
                              const char *what);

/*
 * The request that a frame answers which cannot be read as a whole, by an id
 * at its beginning or its end; NULL: none.
 */
tg_pending_request_t *tg_caller_find_malformed(const tg_caller_t *caller,
                                               tg_str_t frame);

/* Fails the requests of an answer with two ids; says whether there are any. */
int tg_caller_fail_duplicate_id(tg_caller_t *caller, tg_str_t frame);

#endif
