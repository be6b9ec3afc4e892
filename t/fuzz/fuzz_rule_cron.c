/*
 * Checks cron expressions: an error is one line; the next time is after the
 * given time and matches the expression, and no time before it matches.
 *
 * Input: a byte for the zone, five for the time, the expression.
 */
#include "help.h"

#include "rule/tg_cron.h"
#include "rule_footer.h"

#define CRON_MINUTE 60
#define CRON_DAY 86400

/* Returns a zone with only a rule; NULL: UTC. */
static tg_zone_t *
cron_zone(unsigned choice)
{
    static const char *const footers[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "NST3:30NDT,M3.2.0,M11.1.0",  "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "EET-2EEST,J60/0,J300/24",
    };
    tg_zone_t *zone;
    HELP_BUFFER(buf);

    choice %= HELP_COUNT(footers) + 1;

    if (choice == 0) {
        return NULL;
    }

    rule_footer(&buf, tg_str_from_cstr(footers[choice - 1]));
    zone = NULL;
    FUZZ(tg_zone_parse(tg_alloc_libc(), tg_buf_view(&buf), &zone) == TG_OK);

    return zone;
}

/* Says whether the expression matches a local time, a whole minute. */
static int
cron_has(const tg_cron_t *cron, int64_t local)
{
    int is_mday, is_wday;
    int64_t day, minute;
    tg_date_t date;

    day = local / CRON_DAY - (local % CRON_DAY < 0);
    minute = (local - day * CRON_DAY) / CRON_MINUTE;
    tg_date_set_unix_day(day, &date);
    FUZZ(tg_date_get_unix_day(&date) == day);
    is_mday = cron->days >> date.day & 1;
    is_wday = cron->weekdays >> (((day + 4) % 7 + 7) % 7) & 1;

    return (local - day * CRON_DAY) % CRON_MINUTE == 0
           && (cron->minutes >> minute % 60 & 1)
           && (cron->hours >> minute / 60 & 1)
           && (cron->months >> date.month & 1)
           && (cron->must_match_both_days ? is_mday && is_wday
                                          : is_mday || is_wday);
}

static void
cron_next(const tg_cron_t *cron, const tg_zone_t *zone, int64_t after)
{
    tg_zone_span_t span;
    int64_t at, again, local;
    unsigned i;

    for (i = 0; i < 4; i++) {
        at = after;

        if (tg_cron_find_next(cron, zone, after, &at) != TG_OK) {
            FUZZ(at == after);
            return;
        }

        FUZZ(at > after);
        tg_zone_find_span(zone, at, &span);
        local = at + span.offset;
        FUZZ(cron_has(cron, local)
             || (at == span.from && span.previous_offset < span.offset));

        /*
         * A search that starts later, but before the result, has the same
         * result.
         */
        FUZZ(tg_cron_find_next(cron, zone, after + (at - after) / 2, &again)
             == TG_OK);
        FUZZ(again == at);
        FUZZ(tg_cron_find_next(cron, zone, at - 1, &again) == TG_OK);
        FUZZ(again == at);

        /* The minute before does not match, unless the clock was set back. */
        if (at - CRON_MINUTE > after && at - CRON_MINUTE >= span.from
            && span.previous_offset <= span.offset)
        {
            FUZZ(!cron_has(cron, local - CRON_MINUTE));
        }

        after = at;
    }
}

FUZZ_TARGET(in)
{
    tg_zone_t *zone;
    tg_cron_t cron;
    HELP_BUFFER(why);
    int64_t after;
    unsigned i;
    int rc;

    zone = cron_zone(fuzz_byte(&in));

    for (i = 0, after = 0; i < 5; i++) {
        after = after * 256 + fuzz_byte(&in);
    }

    /* Years 1400 to 2540. */
    after = after % INT64_C(36000000000) - INT64_C(18000000000);
    rc = tg_cron_parse(fuzz_rest(&in), &cron, &why);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && why.len != 0));

    if (rc == TG_OK) {
        cron_next(&cron, zone, after);
    }

    tg_zone_free(zone);
}
