/*
 * How often something is done because a stranger wants it, such as a line that
 * is logged: a hundred times at once, then once a second.
 *
 * A tg_pace_t of zeros has all of its room.
 */
#ifndef TG_PACE_H
#define TG_PACE_H

#include <stdint.h>

#define TG_PACE_BURST 100
#define TG_PACE_MS 1000

typedef struct {
    unsigned used;
    uint64_t at; /* when used was as it is, in ms */
} tg_pace_t;

/* Is there room at a time, in ms? */
int tg_pace_has_room(const tg_pace_t *pace, uint64_t now);

/* Takes some: 1; -1: it was the last; 0: there is none. */
int tg_pace_take(tg_pace_t *pace, uint64_t now);

#endif
