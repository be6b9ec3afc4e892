/*
 * Pending requests of a caller: found by id, kept in the order of sending.
 * Internal to the files of the caller and the dialects.
 */
#ifndef TG_CALLER_IMPL_H
#define TG_CALLER_IMPL_H

#include "protocol/tg_caller.h"

struct tg_pending_request_s {
    tg_pending_request_t *next_in_slot;
    tg_pending_request_t *next;
    tg_pending_request_t *prev;
    uint64_t id;
    uint64_t start;          /* offset of the request in all sent bytes */
    tg_str_t queued;         /* unsent frame of a sequential dialect, owned */
    uint64_t nnotifications; /* notifications sent before this request */
    void *tag;
};

/* Adds a pending request with the caller's next id. NULL: out of memory. */
tg_pending_request_t *tg_pending_add(tg_caller_t *caller, void *tag);
tg_pending_request_t *tg_pending_find(const tg_caller_t *caller, uint64_t id);

/* Removes a pending request and frees it. */
void tg_pending_remove(tg_caller_t *caller, tg_pending_request_t *pending);

/* Appends the oldest request to out if it is still queued. */
void tg_caller_send_next(tg_caller_t *caller);

void tg_caller_log(tg_caller_t *caller, const char *text);

/* --- tg_caller_complete.c --- */

/* Returns the escaped body of a raw string, or absent. */
static inline tg_str_t
tg_raw_string_body(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING ? tg_json_string_body(raw)
                                               : TG_STR_NONE;
}

/* Delivers the response of a request and frees the request. */
void tg_caller_complete_request(tg_caller_t *caller,
                                tg_pending_request_t *pending,
                                const tg_response_t *answer);

/* Message of an error response that has neither a message nor a class. */
#define TG_CALLER_NO_REASON                                                    \
    TG_STR("The server answered with an error and did not say why; check "     \
           "its log.")

/*
 * Fails a request with an internal error that the server did not send.
 * message: escaped body; if empty, TG_CALLER_NO_REASON. is_too_large: the
 * response exceeded the limit.
 */
void tg_caller_fail_request(tg_caller_t *caller, tg_pending_request_t *pending,
                            tg_str_t message, int is_too_large);

/*
 * Handles a shutdown notice of the server; reason is raw or absent. Returns
 * TG_CLOSED.
 */
int tg_caller_on_shutdown_notice(tg_caller_t *caller, tg_str_t reason);

/*
 * Handles a notification of the server. TG_OK; TG_CLOSED if it is Toolgate's
 * shutdown notice.
 */
int tg_caller_on_notification(tg_caller_t *caller, const tg_message_t *message);

/* --- tg_caller_input.c --- */

/*
 * Handles the server's "error" notice: fails the request that message->id
 * names, if any, and closes. Returns TG_CLOSED.
 */
int tg_caller_on_error_notice(tg_caller_t *caller, const tg_message_t *message);

/*
 * Answers a server's ping by its raw id. Return values: see
 * tg_caller_respond_error().
 */
int tg_caller_respond_ping(tg_caller_t *caller, tg_str_t id);

/* --- tg_caller_malformed.c --- */

/*
 * Fails a request whose response cannot be parsed. what: the reason, or NULL
 * for the error of the JSON parser.
 */
void tg_caller_fail_malformed(tg_caller_t *caller,
                              tg_pending_request_t *pending, tg_str_t frame,
                              const char *what);

/*
 * Finds the request that an unparsable response answers, by an id at its
 * beginning or its end. NULL: none.
 */
tg_pending_request_t *tg_caller_find_malformed(const tg_caller_t *caller,
                                               tg_str_t frame);

/*
 * Fails the requests named by a response that has several ids. Returns whether
 * at least one request failed.
 */
int tg_caller_fail_duplicate_id(tg_caller_t *caller, tg_str_t frame);

#endif
