/*
 * Limits how many calls with the same key may run and wait. The caller chooses
 * the key. A limit exists as long as calls refer to it. Its values are those of
 * the newest call, so that a reload also applies to calls that wait already.
 */
#ifndef TG_LIMIT_H
#define TG_LIMIT_H

#include "base/tg_buf.h"

typedef struct tg_limit_s tg_limit_t;

/* Limit of the calls with `key`: at most `concurrency` run and `queue` wait. */
typedef struct {
    char *name; /* directive that sets the limit, for messages */
    char *key;
    unsigned concurrency;
    unsigned queue;
} tg_limit_spec_t;

struct tg_limit_s {
    tg_limit_t *next;
    unsigned concurrency;
    unsigned queue;
    unsigned nrunning;

    /* Calls that wait for anything, not only for this limit. */
    unsigned nwaiting;

    unsigned refs;
    char key[];
};

/* Finds the limit and sets its values to `spec`. NULL: there is none. */
tg_limit_t *tg_limits_update(tg_limit_t *list, const tg_limit_spec_t *spec);

/*
 * Returns a new reference to the limit of spec->key, maybe a new one, with the
 * values of `spec`. If is_old is 1, `spec` may be from a previous configuration
 * and does not change an existing limit. NULL: out of memory.
 */
tg_limit_t *tg_limits_acquire(tg_limit_t **list, const tg_limit_spec_t *spec,
                              int is_old);

/* Drops one reference. The last one frees the limit. */
void tg_limits_release(tg_limit_t **list, tg_limit_t *limit);

/* Checks whether a new call must wait. */
int tg_limit_is_busy(const tg_limit_t *limit);

/* Checks whether a new call may not even wait. */
int tg_limit_is_queue_full(const tg_limit_t *limit);

/* Appends text such as "2 calls run (concurrency 2) and 10 wait (queue=10)". */
void tg_limit_append_text(tg_buf_t *text, const tg_limit_t *limit,
                          const char *name);

#endif
