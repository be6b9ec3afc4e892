/*
 * What threads say of calls that an event loop serves: a mail is the box of
 * one call, which threads know by its number only, so that one who is late
 * does no harm.  A box holds one reply and the newest progress; where a loop
 * finds what came for its boxes is its post.
 *
 *   tg_pending_call_reply(), …_progress(), …_is_open()    in any thread
 *   all others                                    in that of the box's loop
 */
#ifndef TG_THREADING_H
#define TG_THREADING_H

#include "protocol/tg_outcome.h"

#include <pthread.h>

/* Of a reply that needs no memory of its own. */
#define TG_PENDING_CALL_INLINE_MAX 256
/* ms between two times that progress is told: clients are no displays. */
#define TG_PROGRESS_INTERVAL_MS 50
/* A message of progress. */
#define TG_PROGRESS_MESSAGE_MAX 4096

typedef struct tg_thread_message_s tg_thread_message_t;
typedef struct tg_pending_call_s tg_pending_call_t;
typedef struct tg_mailbox_s tg_mailbox_t;

/* A text on its way from a thread. */
struct tg_thread_message_s {
    tg_thread_message_t *next;
    unsigned level; /* free for who writes it */
    size_t len;
    char text[];
};

/* NULL: no memory. */
tg_thread_message_t *tg_thread_message_new(unsigned level, tg_str_t text);
void tg_thread_message_free(tg_thread_message_t *thread_message);

typedef struct {
    tg_failure_t failure;
    tg_str_t text; /* data is NULL: there is none */
    tg_str_t type; /* of an error, a class in plain text; or absent */
    int64_t code;  /* of an error, JSON-RPC's; 0: it has none */
    tg_str_t data; /* of an error, raw JSON; or absent */
    tg_thread_message_t
        *thread_message; /* where all that is; NULL: in the box */
} tg_pending_call_reply_t;

/* The newest progress: message is absent, or text that is valid. */
typedef struct {
    uint64_t progress;
    uint64_t total;               /* 0: not known */
    tg_thread_message_t *message; /* NULL: none */
} tg_pending_call_progress_t;

struct tg_mailbox_s {
    /* Something came.  In any thread, with all boxes locked. */
    void (*wake)(void *host);
    void *host;

    /*
     * Asked after what came of each box, which had this many bytes: is the
     * loop's time slice over?  The host then calls tg_mailbox_deliver() again,
     * in the next one.  NULL: never.
     */
    int (*is_slice_over)(void *host, size_t bytes);

    /* Boxes with something, and those whose progress has time. */
    tg_pending_call_t *first, *last;
    tg_pending_call_t *first_paced, *last_paced;
    unsigned is_paced:1; /* progress was told just now */
};

struct tg_pending_call_s {
    uint64_t number;
    tg_mailbox_t *mailbox;
    pthread_t thread; /* of its loop */
    int is_closed;    /* which alone reads and writes that */
    tg_pending_call_t
        *next_in_bucket;     /* of a number that is found with its own */
    tg_pending_call_t *next; /* among those that have something */
    tg_pending_call_t *prev;

    /*
     * Something came: the reply (the box is closed), else progress.  What
     * is reached by the pointers is freed after the return.
     */
    void (*on_arrival)(tg_pending_call_t *pending,
                       const tg_pending_call_reply_t *reply,
                       const tg_pending_call_progress_t *progress);

    char *inline_text; /* TG_PENDING_CALL_INLINE_MAX bytes */

    tg_pending_call_reply_t reply;
    tg_pending_call_progress_t progress;
    unsigned has_progress:1;
    unsigned is_enqueued:1; /* by its post */
    unsigned is_delayed:1;  /* there, among those that have time */
    unsigned has_delivery_disabled:1;
};

void tg_mailbox_init(tg_mailbox_t *mailbox, void (*wake)(void *host),
                     void *host);

/* Nobody is woken any more; what is said of its boxes is dropped. */
void tg_mailbox_close(tg_mailbox_t *mailbox);

/*
 * What there is by now arrives.  1: progress was told, and more of it waits
 * until tg_mailbox_deliver_paced(), TG_PROGRESS_INTERVAL_MS ms from now.
 */
int tg_mailbox_deliver(tg_mailbox_t *mailbox);
int tg_mailbox_deliver_paced(tg_mailbox_t *mailbox);

/*
 * Opens a box of a post with arrived and room set, else zeroed; its number.
 * It is held: nothing arrives before tg_pending_call_enable_delivery().
 */
uint64_t tg_pending_call_open(tg_pending_call_t *pending,
                              tg_mailbox_t *mailbox);

/* Has a reply come to a box that is held?  Then it is closed; or 0. */
int tg_pending_call_take_reply(tg_pending_call_t *pending,
                               tg_pending_call_reply_t *reply);
void tg_pending_call_enable_delivery(tg_pending_call_t *pending);

/* Its call is over; 1: no reply had come until then. */
int tg_pending_call_close(tg_pending_call_t *pending);

/*
 * The handlers of pthread_atfork(): no thread is in the midst of something
 * meanwhile, and a child refuses what it says of calls that were open before.
 */
void tg_pending_calls_lock(void);
void tg_pending_calls_unlock(void);
void tg_pending_calls_on_fork_child(void);

/* --- any thread --- */

/*
 * Copies a reply, all but its letter.  TG_OK; TG_NOMEM; TG_CLOSED: nobody waits
 * for it; TG_INVALID: this is a forked child, and the call is its parent's.
 * *why then says so, static.
 */
int tg_pending_call_reply(uint64_t number, const tg_pending_call_reply_t *reply,
                          const char **why);

/*
 * TG_OK, TG_CLOSED or TG_INVALID, as above.  A message that is no text, or too
 * long, is left out.
 */
int tg_pending_call_progress(uint64_t number, uint64_t progress, uint64_t total,
                             const char *message);
int tg_pending_call_is_open(uint64_t number);

/* --- what is made of it --- */

/* The three raw values of progress, or absent; they are in text. */
typedef struct {
    tg_str_t progress;
    tg_str_t total;
    tg_str_t message;
} tg_progress_values_t;

void tg_progress_values_write_json(const tg_pending_call_progress_t *progress,
                                   tg_buf_t *text,
                                   tg_progress_values_t *values);

#endif
