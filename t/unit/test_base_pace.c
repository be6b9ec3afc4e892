/*
 * How often something is done for a stranger.
 */
#include "core_help.h"

#include "base/tg_pace.h"

static void
take_all(tg_pace_t *pace, uint64_t now)
{
    int i;

    for (i = 1; i < TG_PACE_BURST; i++) {
        CU_ASSERT(tg_pace_take(pace, now) == 1);
    }

    CU_ASSERT(tg_pace_has_room(pace, now));
    CU_ASSERT(tg_pace_take(pace, now) == -1);
    CU_ASSERT(!tg_pace_has_room(pace, now));
    CU_ASSERT(tg_pace_take(pace, now) == 0);
}

HELP_TEST(pace, "many at once, then one each second")
{
    tg_pace_t pace;
    uint64_t now;

    memset(&pace, 0, sizeof(pace));
    now = 1000000;
    take_all(&pace, now);

    now += TG_PACE_MS - 1;
    CU_ASSERT(tg_pace_take(&pace, now) == 0);
    now += 1;
    CU_ASSERT(tg_pace_has_room(&pace, now));
    CU_ASSERT(tg_pace_take(&pace, now) == -1);
    CU_ASSERT(tg_pace_take(&pace, now) == 0);

    now += 3 * TG_PACE_MS;
    CU_ASSERT(tg_pace_take(&pace, now) == 1);
    CU_ASSERT(tg_pace_take(&pace, now) == 1);
    CU_ASSERT(tg_pace_take(&pace, now) == -1);

    take_all(&pace, now + (uint64_t) TG_PACE_BURST * TG_PACE_MS);
}
