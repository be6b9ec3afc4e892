/*
 * How often something is done because a stranger wants it, such as a line that
 * is logged: so many times at once (burst), then a thousandth of that each
 * second, once at least.
 *
 * A tg_throttle_t of zeros has all of its room.
 */
#ifndef TG_THROTTLE_H
#define TG_THROTTLE_H

#include <stdint.h>

/* The burst of warnings: more than an operator reads. */
#define TG_THROTTLE_WARNING_BURST 100
/* The burst of lines at level info, from which one can follow a client. */
#define TG_THROTTLE_INFO_BURST 100000
/* How often room is given back. */
#define TG_THROTTLE_REFILL_MS 1000

typedef struct {
    unsigned used;
    uint64_t updated_at; /* when used was as it is, in ms */
} tg_throttle_t;

/* Is there room at a time, in ms? */
int tg_throttle_has_room(const tg_throttle_t *pace, unsigned burst,
                         uint64_t now);

/* Takes some: 1; -1: it was the last; 0: there is none. */
int tg_throttle_take(tg_throttle_t *pace, unsigned burst, uint64_t now);

#endif
