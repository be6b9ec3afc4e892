/*
 * What the files of zones share.
 *
 *   tg_zone.c       the file's table
 *   tg_zone_rule.c  the rule behind it, for the years to come; dates
 */
#ifndef TG_ZONE_IMPL_H
#define TG_ZONE_IMPL_H

#include "rule/tg_zone.h"

/* A day of each year, and a time of it. */
typedef struct {
    char kind; /* M: month, week, weekday; J: 1 to 365; or 0: 0 to 365 */
    int month;
    int week;
    int day;
    int32_t time; /* seconds, which may lead to another day */
} tg_zone_change_t;

/* As POSIX has it in TZ: "CET-1CEST,M3.5.0,M10.5.0/3". */
typedef struct {
    int is_there;
    int has_summer;
    int32_t offset;
    int32_t summer;
    tg_zone_change_t begin; /* of summer, by the other clock */
    tg_zone_change_t end;
} tg_zone_rule_t;

struct tg_zone_s {
    const tg_alloc_t *alloc;
    tg_zone_rule_t rule;
    int32_t first; /* the offset before all times */
    size_t n;
    struct {
        int64_t at;
        int32_t offset; /* from then on */
    } times[];
};

/* TG_OK or TG_BAD. */
int tg_zone_rule_read(tg_zone_rule_t *rule, tg_str_t text);

/* As tg_zone_span(), where the rule alone holds. */
void tg_zone_rule_span(const tg_zone_rule_t *rule, int64_t at,
                       tg_zone_span_t *span);

#endif
