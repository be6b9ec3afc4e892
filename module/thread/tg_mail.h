/*
 * What threads say of calls that an event loop serves: a mail is the box of
 * one call, which threads know by its number only, so that one who is late
 * does no harm.  A box holds one reply and the newest progress; where a loop
 * finds what came for its boxes is its post.
 *
 *   tg_mail_reply(), …_progress(), …_is_open()    in any thread
 *   all others                                    in that of the box's loop
 */
#ifndef TG_MAIL_H
#define TG_MAIL_H

#include "core/tg_outcome.h"

#include <pthread.h>

/* Of a reply that needs no memory of its own. */
#define TG_MAIL_ROOM 256
/* ms between two times that progress is told: clients are no displays. */
#define TG_MAIL_PACE 50
/* A message of progress. */
#define TG_MAIL_TEXT 4096

typedef struct tg_letter_s tg_letter_t;
typedef struct tg_mail_s tg_mail_t;
typedef struct tg_post_s tg_post_t;

/* A text on its way from a thread. */
struct tg_letter_s {
    tg_letter_t *next;
    unsigned level; /* free for who writes it */
    size_t len;
    char text[];
};

/* NULL: no memory. */
tg_letter_t *tg_letter_new(unsigned level, tg_str_t text);
void tg_letter_free(tg_letter_t *letter);

typedef struct {
    tg_failure_t failure;
    tg_str_t text;       /* data is NULL: there is none */
    tg_str_t type;       /* of an error, a class in plain text; or absent */
    int64_t code;        /* of an error, JSON-RPC's; 0: it has none */
    tg_str_t data;       /* of an error, raw JSON; or absent */
    tg_letter_t *letter; /* where all that is; NULL: in the box */
} tg_mail_reply_t;

/* The newest progress: message is absent, or text that is valid. */
typedef struct {
    uint64_t progress;
    uint64_t total;       /* 0: not known */
    tg_letter_t *message; /* NULL: none */
} tg_mail_progress_t;

struct tg_post_s {
    /* Something came.  In any thread, with all boxes locked. */
    void (*wake)(void *host);
    void *host;

    /*
     * Asked after what came of each box, which had this many bytes: is the
     * loop's time slice over?  The host then calls tg_post_deliver() again, in
     * the next one.  NULL: never.
     */
    int (*is_slice_over)(void *host, size_t bytes);

    /* Boxes with something, and those whose progress has time. */
    tg_mail_t *first, *last;
    tg_mail_t *first_paced, *last_paced;
    unsigned is_paced:1; /* progress was told just now */
};

struct tg_mail_s {
    uint64_t number;
    tg_post_t *post;
    pthread_t thread;  /* of its loop */
    int is_closed;     /* which alone reads and writes that */
    tg_mail_t *beside; /* of a number that is found with its own */
    tg_mail_t *next;   /* among those that have something */
    tg_mail_t *prev;

    /*
     * Something came: the reply (the box is closed), else progress.  What
     * is reached by the pointers is freed after the return.
     */
    void (*arrived)(tg_mail_t *mail, const tg_mail_reply_t *reply,
                    const tg_mail_progress_t *progress);

    char *room; /* TG_MAIL_ROOM bytes */

    tg_mail_reply_t reply;
    tg_mail_progress_t progress;
    unsigned has_progress:1;
    unsigned is_listed:1; /* by its post */
    unsigned is_later:1;  /* there, among those that have time */
    unsigned is_held:1;
};

void tg_post_init(tg_post_t *post, void (*wake)(void *host), void *host);

/* Nobody is woken any more; what is said of its boxes is dropped. */
void tg_post_close(tg_post_t *post);

/*
 * What there is by now arrives.  1: progress was told, and more of it waits
 * until tg_post_pace(), TG_MAIL_PACE ms from now.
 */
int tg_post_deliver(tg_post_t *post);
int tg_post_pace(tg_post_t *post);

/*
 * Opens a box of a post with arrived and room set, else zeroed; its number.
 * It is held: nothing arrives before tg_mail_release().
 */
uint64_t tg_mail_open(tg_mail_t *mail, tg_post_t *post);

/* Has a reply come to a box that is held?  Then it is closed; or 0. */
int tg_mail_take(tg_mail_t *mail, tg_mail_reply_t *reply);
void tg_mail_release(tg_mail_t *mail);

/* Its call is over; 1: no reply had come until then. */
int tg_mail_close(tg_mail_t *mail);

/*
 * The handlers of pthread_atfork(): no thread is in the midst of something
 * meanwhile, and a child refuses what it says of calls that were open before.
 */
void tg_mail_lock(void);
void tg_mail_unlock(void);
void tg_mail_forked(void);

/* --- any thread --- */

/*
 * Copies a reply, all but its letter.  TG_OK; TG_NOMEM; TG_CLOSED: nobody
 * waits for it; TG_BAD: this is a forked child, and the call is its parent's.
 * *why then says so, static.
 */
int tg_mail_reply(uint64_t number, const tg_mail_reply_t *reply,
                  const char **why);

/*
 * TG_OK, TG_CLOSED or TG_BAD, as above.  A message that is no text, or too
 * long, is left out.
 */
int tg_mail_progress(uint64_t number, uint64_t progress, uint64_t total,
                     const char *message);
int tg_mail_is_open(uint64_t number);

/* --- what is made of it --- */

/* The three raw values of progress, or absent; they are in text. */
typedef struct {
    tg_str_t progress;
    tg_str_t total;
    tg_str_t message;
} tg_mail_values_t;

void tg_mail_values(const tg_mail_progress_t *progress, tg_buf_t *text,
                    tg_mail_values_t *values);

#endif
