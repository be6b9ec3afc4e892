/*
 * Cron expressions: minute, hour, day of the month, month, day of the week.
 *
 *     *  5  1-5  0,30  0-59/15 10-20/2  mon-fri  jan,jul  @daily
 *
 * Where both days are restricted, one of them is enough.  A field that begins
 * with a star restricts nothing by that rule, as in other crons.
 *
 * Clocks that are put forward and back: with `*` as the hour it is due by the
 * time that passes, an hour that comes twice is two hours.  Any other hour is
 * an appointment, which is kept once: one that is skipped with the clock is
 * due when it was put forward, several such are one; of one that comes twice
 * the first counts.
 */
#ifndef TG_CRON_H
#define TG_CRON_H

#include "base/tg_buf.h"
#include "rule/tg_zone.h"

/* Bytes of an expression: more than a list of all minutes has. */
#define TG_CRON_LEN_MAX 512
/* What is not due for so long never is: leap days on a Sunday take 40. */
#define TG_CRON_YEARS_MAX 60

typedef struct {
    uint64_t minutes; /* a bit each */
    uint32_t hours;
    uint32_t days; /* from bit 1 on */
    uint16_t months;
    uint8_t weekdays; /* Sunday is 0 */
    unsigned is_any_hour:1;
    unsigned
        must_match_both_days:1; /* the day of the month and that of the week */
} tg_cron_t;

/* TG_OK; TG_INVALID: why says what to write instead. */
int tg_cron_parse(tg_str_t text, tg_cron_t *cron, tg_buf_t *why);

/*
 * The first second of Unix time behind `after` at which it is due: TG_OK; or
 * TG_END: never.
 */
int tg_cron_find_next(const tg_cron_t *cron, const tg_zone_t *zone,
                      int64_t after, int64_t *at);

#endif
