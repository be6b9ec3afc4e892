/*
 * A rate limit for actions that peers trigger, such as log lines: `burst`
 * actions at once, then burst / 1000 per second, at least one. A zeroed
 * tg_throttle_t has its whole burst. Times are in ms.
 */
#ifndef TG_THROTTLE_H
#define TG_THROTTLE_H

#include <stdint.h>

/* Burst of warnings: more than an operator reads. */
#define TG_THROTTLE_WARNING_BURST 100
/* Enough info lines for an operator to follow a client. */
#define TG_THROTTLE_INFO_BURST 100000
#define TG_THROTTLE_REFILL_MS 1000

typedef struct {
    unsigned used;
    uint64_t updated_at; /* time of the last refill, in ms */
} tg_throttle_t;

int tg_throttle_has_room(const tg_throttle_t *pace, unsigned burst,
                         uint64_t now);

/*
 * Counts an action. Returns 1 if it is allowed, -1 if it is the last one of the
 * burst, or 0 if it is not allowed.
 */
int tg_throttle_take(tg_throttle_t *pace, unsigned burst, uint64_t now);

#endif
