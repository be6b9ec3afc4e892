/*
 * Cron expressions: minute, hour, day of the month, month, day of the week.
 *
 *     *  5  1-5  0,30  0-59/15 10-20/2  mon-fri  jan,jul  @daily
 *
 * If both days are restricted (do not begin with a star), one match is enough.
 *
 * Changes of the clock (daylight saving time): with `*` as the hour, the job
 * runs by elapsed time, so an hour that occurs twice counts as two hours. Any
 * other hour is kept once: skipped times are due once, at the moment of the
 * change, and of a time that occurs twice, the first counts.
 */
#ifndef TG_CRON_H
#define TG_CRON_H

#include "base/tg_buf.h"
#include "rule/tg_zone.h"

/* Largest expression in bytes: more than a list of all minutes needs. */
#define TG_CRON_LEN_MAX 512
/* Years of the search. A leap day on a given weekday takes up to 40. */
#define TG_CRON_YEARS_MAX 60

typedef struct {
    uint64_t minutes; /* one bit per minute */
    uint32_t hours;
    uint32_t days; /* bit 1 is the first day */
    uint16_t months;
    uint8_t weekdays; /* bit 0 is Sunday */
    unsigned is_any_hour:1;
    /* day of the month and day of the week must both match */
    unsigned must_match_both_days:1;
} tg_cron_t;

/* Parses an expression. TG_OK; TG_INVALID: why says what to write instead. */
int tg_cron_parse(tg_str_t text, tg_cron_t *cron, tg_buf_t *why);

/* Finds the first due time after `after`, or TG_END. zone NULL is UTC. */
int tg_cron_find_next(const tg_cron_t *cron, const tg_zone_t *zone,
                      int64_t after, int64_t *at);

#endif
