/*
 * Shared by tg_zone.c (table of transitions) and tg_zone_rule.c (rule for later
 * years, dates).
 */
#ifndef TG_ZONE_IMPL_H
#define TG_ZONE_IMPL_H

#include "rule/tg_zone.h"

/* A day of each year and a time on it, at which the clock changes. */
typedef struct {
    char format; /* M: month, week, weekday; J: 1 to 365; 0: 0 to 365 */
    int month;
    int week;
    int day;
    int32_t time; /* local time in seconds, may be on another day */
} tg_zone_dst_change_t;

/* A POSIX rule, "CET-1CEST,M3.5.0,M10.5.0/3". East is positive, in seconds. */
typedef struct {
    int is_set;
    int has_dst;
    int32_t offset;
    int32_t dst_offset;
    tg_zone_dst_change_t begin; /* begin of DST, in standard time */
    tg_zone_dst_change_t end;
} tg_zone_rule_t;

struct tg_zone_s {
    const tg_alloc_t *alloc;
    tg_zone_rule_t rule;
    int32_t first_offset; /* offset before the first transition, in seconds */
    size_t n;
    struct {
        int64_t at;
        int32_t offset; /* offset from `at` on, in seconds */
    } transitions[];
};

/* Parses a rule in the format of TZ. TG_OK or TG_INVALID. */
int tg_zone_rule_parse(tg_zone_rule_t *rule, tg_str_t text);

/* Finds the span of the time `at` by the rule alone. */
void tg_zone_rule_find_span(const tg_zone_rule_t *rule, int64_t at,
                            tg_zone_span_t *span);

#endif
