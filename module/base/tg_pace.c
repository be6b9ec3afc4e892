#include "base/tg_pace.h"

/* What is used when the time is now. */
static unsigned
tg_pace_used(const tg_pace_t *pace, uint64_t now)
{
    uint64_t given;

    given = (now - pace->at) / TG_PACE_MS;

    return given < pace->used ? pace->used - (unsigned) given : 0;
}

int
tg_pace_has_room(const tg_pace_t *pace, uint64_t now)
{
    return tg_pace_used(pace, now) < TG_PACE_BURST;
}

int
tg_pace_take(tg_pace_t *pace, uint64_t now)
{
    if (now - pace->at >= TG_PACE_MS) {
        pace->used = tg_pace_used(pace, now);
        pace->at = now;
    }

    if (pace->used == TG_PACE_BURST) {
        return 0;
    }

    return ++pace->used < TG_PACE_BURST ? 1 : -1;
}
