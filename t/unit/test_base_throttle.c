/* Limits on actions that strangers cause. */
#include "protocol_help.h"

#include "base/tg_throttle.h"

static void
take_all(tg_throttle_t *pace, int burst, uint64_t now)
{
    int i;

    for (i = 1; i < burst; i++) {
        CU_ASSERT(tg_throttle_take(pace, burst, now) == 1);
    }

    CU_ASSERT(tg_throttle_has_room(pace, burst, now));
    CU_ASSERT(tg_throttle_take(pace, burst, now) == -1);
    CU_ASSERT(!tg_throttle_has_room(pace, burst, now));
    CU_ASSERT(tg_throttle_take(pace, burst, now) == 0);
}

HELP_TEST(pace, "many at once, then one each second")
{
    tg_throttle_t pace;
    uint64_t now;

    memset(&pace, 0, sizeof(pace));
    now = 1000000;
    take_all(&pace, 100, now);

    now += TG_THROTTLE_REFILL_MS - 1;
    CU_ASSERT(tg_throttle_take(&pace, 100, now) == 0);
    now += 1;
    CU_ASSERT(tg_throttle_has_room(&pace, 100, now));
    CU_ASSERT(tg_throttle_take(&pace, 100, now) == -1);
    CU_ASSERT(tg_throttle_take(&pace, 100, now) == 0);

    now += 3 * TG_THROTTLE_REFILL_MS;
    CU_ASSERT(tg_throttle_take(&pace, 100, now) == 1);
    CU_ASSERT(tg_throttle_take(&pace, 100, now) == 1);
    CU_ASSERT(tg_throttle_take(&pace, 100, now) == -1);

    now += 100 * TG_THROTTLE_REFILL_MS;
    take_all(&pace, 100, now);
}

HELP_TEST(large, "a thousandth of very many each second")
{
    tg_throttle_t pace;
    uint64_t now;
    int i;

    memset(&pace, 0, sizeof(pace));
    now = 1000000;
    take_all(&pace, 5000, now);
    now += TG_THROTTLE_REFILL_MS;

    for (i = 1; i < 5; i++) {
        CU_ASSERT(tg_throttle_take(&pace, 5000, now) == 1);
    }

    CU_ASSERT(tg_throttle_take(&pace, 5000, now) == -1);
    CU_ASSERT(tg_throttle_take(&pace, 5000, now) == 0);
}
