#include "base/tg_pace.h"

/* What is used when the time is now. */
static unsigned
tg_pace_used(const tg_pace_t *pace, unsigned burst, uint64_t now)
{
    uint64_t given;

    given = (now - pace->at) / TG_PACE_MS * ((burst + 999) / 1000);

    return given < pace->used ? pace->used - (unsigned) given : 0;
}

int
tg_pace_has_room(const tg_pace_t *pace, unsigned burst, uint64_t now)
{
    return tg_pace_used(pace, burst, now) < burst;
}

int
tg_pace_take(tg_pace_t *pace, unsigned burst, uint64_t now)
{
    if (now - pace->at >= TG_PACE_MS) {
        pace->used = tg_pace_used(pace, burst, now);
        pace->at = now;
    }

    if (pace->used >= burst) {
        return 0;
    }

    return ++pace->used < burst ? 1 : -1;
}
