#include "base/tg_throttle.h"

/* Returns the used part of the burst after refills; now in ms. */
static unsigned
tg_throttle_get_used(const tg_throttle_t *pace, unsigned burst, uint64_t now)
{
    uint64_t given;

    given = (now - pace->updated_at) / TG_THROTTLE_REFILL_MS
            * ((burst + 999) / 1000);

    return given < pace->used ? pace->used - (unsigned) given : 0;
}

int
tg_throttle_has_room(const tg_throttle_t *pace, unsigned burst, uint64_t now)
{
    return tg_throttle_get_used(pace, burst, now) < burst;
}

int
tg_throttle_take(tg_throttle_t *pace, unsigned burst, uint64_t now)
{
    if (now - pace->updated_at >= TG_THROTTLE_REFILL_MS) {
        pace->used = tg_throttle_get_used(pace, burst, now);
        pace->updated_at = now;
    }

    if (pace->used >= burst) {
        return 0;
    }

    return ++pace->used < burst ? 1 : -1;
}
