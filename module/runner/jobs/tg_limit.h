/*
 * How many calls of one kind may run and wait at once.
 *
 * A kind is what the caller says: calls with the same key.  It lives as long
 * as calls of it do.  The numbers are those of the newest call, so that a
 * reload that changes them counts for the calls that wait already.
 */
#ifndef TG_LIMIT_H
#define TG_LIMIT_H

#include "base/tg_buf.h"

typedef struct tg_limit_s tg_limit_t;

/* At most so many calls with this key may run, and so many wait. */
typedef struct {
    char *name; /* the directive, for messages */
    char *key;
    unsigned concurrency;
    unsigned queue;
} tg_limit_spec_t;

struct tg_limit_s {
    tg_limit_t *next;
    unsigned concurrency;
    unsigned queue;
    unsigned nrunning;
    unsigned nwaiting; /* whatever they wait for */
    unsigned refs;
    char key[];
};

/* The limit of this key, with these numbers from now on; NULL: no calls. */
tg_limit_t *tg_limits_update(tg_limit_t *list, const tg_limit_spec_t *spec);

/*
 * The same for a call, which then counts; NULL: no memory.  Of one that is_old
 * the numbers may be those of a config that has gone: they are taken when there
 * are no others.
 */
tg_limit_t *tg_limits_acquire(tg_limit_t **list, const tg_limit_spec_t *spec,
                              int is_old);
void tg_limits_release(tg_limit_t **list, tg_limit_t *limit);

/* Must those that come wait?  Must they not even wait? */
int tg_limit_is_busy(const tg_limit_t *limit);
int tg_limit_is_queue_full(const tg_limit_t *limit);

/* Appends "2 calls run (concurrency 2) and 10 wait (queue=10)". */
void tg_limit_append_text(tg_buf_t *text, const tg_limit_t *limit,
                          const char *name);

#endif
