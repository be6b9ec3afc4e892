/*
 * A rate limit for actions that peers can trigger, such as log lines. It
 * allows `burst` actions at once, and then burst / 1000 actions per second,
 * but at least one.
 *
 * A zeroed tg_throttle_t has its whole burst available.
 */
#ifndef TG_THROTTLE_H
#define TG_THROTTLE_H

#include <stdint.h>

/* Burst of warnings: more than an operator reads. */
#define TG_THROTTLE_WARNING_BURST 100
/*
 * Burst of log lines at level info, with which an operator can follow a
 * client.
 */
#define TG_THROTTLE_INFO_BURST 100000
/* Refill interval in ms. */
#define TG_THROTTLE_REFILL_MS 1000

typedef struct {
    unsigned used;
    uint64_t updated_at; /* time of the last refill, in ms */
} tg_throttle_t;

/* Checks whether an action is allowed at the time now, in ms. */
int tg_throttle_has_room(const tg_throttle_t *pace, unsigned burst,
                         uint64_t now);

/*
 * Counts an action at the time now, in ms. Returns 1 if the action is allowed,
 * -1 if it is allowed but is the last one of the burst, or 0 if it is not.
 */
int tg_throttle_take(tg_throttle_t *pace, unsigned burst, uint64_t now);

#endif
