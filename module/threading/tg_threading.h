/*
 * Replies and progress that threads send to calls of an event loop. A thread
 * knows a pending call only by its number, so a late reply does no harm. A
 * pending call stores one reply and the newest progress; a mailbox collects the
 * calls of a loop that have something to deliver. Only the functions for any
 * thread may be called outside of the loop's thread.
 */
#ifndef TG_THREADING_H
#define TG_THREADING_H

#include "protocol/tg_outcome.h"

#include <pthread.h>

/* Larger replies, in bytes, get their own memory. */
#define TG_PENDING_CALL_INLINE_MAX 256
/* Minimum time in ms between two deliveries of progress. */
#define TG_PROGRESS_INTERVAL_MS 50
/* Largest message of a progress in bytes. */
#define TG_PROGRESS_MESSAGE_MAX 4096

typedef struct tg_thread_message_s tg_thread_message_t;
typedef struct tg_pending_call_s tg_pending_call_t;
typedef struct tg_mailbox_s tg_mailbox_t;

struct tg_thread_message_s {
    tg_thread_message_t *next;
    unsigned level; /* for use by the sender */
    size_t len;
    char text[];
};

/* Creates a message with a copy of text. NULL: out of memory. */
tg_thread_message_t *tg_thread_message_new(unsigned level, tg_str_t text);
void tg_thread_message_free(tg_thread_message_t *thread_message);

typedef struct {
    tg_failure_t failure;
    tg_str_t text; /* data is NULL: no reply */
    tg_str_t type; /* exception class of an error, plain text, or absent */
    int64_t code;  /* JSON-RPC code of an error; 0: none */
    tg_str_t data; /* data of an error, raw JSON, or absent */
    /* memory of the slices; NULL: in the pending call */
    tg_thread_message_t *thread_message;
} tg_pending_call_reply_t;

/* The newest progress. Its message, if any, is valid UTF-8. */
typedef struct {
    uint64_t progress;
    uint64_t total;               /* 0: unknown */
    tg_thread_message_t *message; /* NULL: none */
} tg_pending_call_progress_t;

struct tg_mailbox_s {
    /* Wakes the loop. Called in any thread, with all pending calls locked. */
    void (*wake)(void *host);
    void *host;

    /*
     * Checks after each delivery, of `bytes` bytes, whether the slice is over:
     * the host then calls tg_mailbox_deliver() in the next one. NULL: slices
     * have no end.
     */
    int (*is_slice_over)(void *host, size_t bytes);

    /* Pending calls with something to deliver now. */
    tg_pending_call_t *first, *last;
    /* Pending calls whose progress is delayed by TG_PROGRESS_INTERVAL_MS. */
    tg_pending_call_t *first_paced, *last_paced;
    unsigned is_paced:1; /* progress was delivered within the interval */
};

struct tg_pending_call_s {
    uint64_t number;
    tg_mailbox_t *mailbox;
    pthread_t thread; /* thread of the loop */
    int is_closed;    /* only the loop's thread reads and writes this */
    /* next pending call in the hash bucket */
    tg_pending_call_t *next_in_bucket;
    tg_pending_call_t *next; /* next in the mailbox's list */
    tg_pending_call_t *prev;

    /* Delivers a reply, which closes the call, or progress. */
    void (*on_arrival)(tg_pending_call_t *pending,
                       const tg_pending_call_reply_t *reply,
                       const tg_pending_call_progress_t *progress);

    char *inline_text; /* set by the host: TG_PENDING_CALL_INLINE_MAX bytes */

    tg_pending_call_reply_t reply;
    tg_pending_call_progress_t progress;
    unsigned has_progress:1;
    unsigned is_enqueued:1; /* in a list of the mailbox */
    unsigned is_delayed:1;  /* in the list of delayed progress */
    unsigned has_delivery_disabled:1;
};

void tg_mailbox_init(tg_mailbox_t *mailbox, void (*wake)(void *host),
                     void *host);

/* Replies to calls of a closed mailbox are refused, and wake is not called. */
void tg_mailbox_close(tg_mailbox_t *mailbox);

/*
 * Delivers all that has arrived. Returns 1 after delivering progress: the rest
 * waits until the host calls tg_mailbox_deliver_paced(), after
 * TG_PROGRESS_INTERVAL_MS ms.
 */
int tg_mailbox_deliver(tg_mailbox_t *mailbox);

/* Delivers the delayed progress, too. Returns as tg_mailbox_deliver(). */
int tg_mailbox_deliver_paced(tg_mailbox_t *mailbox);

/*
 * Returns the call's number. on_arrival and inline_text must be set, the other
 * members zero. Nothing is delivered before tg_pending_call_enable_delivery().
 */
uint64_t tg_pending_call_open(tg_pending_call_t *pending,
                              tg_mailbox_t *mailbox);

/*
 * Takes a reply that arrived before delivery was enabled, and closes the call.
 * Returns 0 if there is none. The caller frees reply->thread_message.
 */
int tg_pending_call_take_reply(tg_pending_call_t *pending,
                               tg_pending_call_reply_t *reply);

void tg_pending_call_enable_delivery(tg_pending_call_t *pending);

/* Closes a pending call. Returns 1 if no reply had arrived. */
int tg_pending_call_close(tg_pending_call_t *pending);

/* Handler of pthread_atfork() before a fork: takes the lock. */
void tg_pending_calls_lock(void);

void tg_pending_calls_unlock(void);

/* Handler of pthread_atfork() in the child, which cannot reply to old calls. */
void tg_pending_calls_on_fork_child(void);

/* --- functions for any thread --- */

/*
 * Sends a copy of the reply, without reply->thread_message. TG_OK; TG_NOMEM;
 * TG_CLOSED: the call has ended or was answered; TG_INVALID: this is a forked
 * child and the call is its parent's. *why is then the reason, a static text.
 */
int tg_pending_call_reply(uint64_t number, const tg_pending_call_reply_t *reply,
                          const char **why);

/* Sends progress like a reply; omits a message that is invalid or too long. */
int tg_pending_call_progress(uint64_t number, uint64_t progress, uint64_t total,
                             const char *message);

/* Checks whether a reply to the call would be accepted. */
int tg_pending_call_is_open(uint64_t number);

/* Raw JSON, or absent, in the buffer of tg_progress_values_write_json(). */
typedef struct {
    tg_str_t progress;
    tg_str_t total;
    tg_str_t message;
} tg_progress_values_t;

void tg_progress_values_write_json(const tg_pending_call_progress_t *progress,
                                   tg_buf_t *text,
                                   tg_progress_values_t *values);

#endif
