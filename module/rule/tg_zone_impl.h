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
    char format; /* M: month, week, weekday; J: 1 to 365; or 0: 0 to 365 */
    int month;
    int week;
    int day;
    int32_t time; /* seconds, which may lead to another day */
} tg_zone_dst_change_t;

/* As POSIX has it in TZ: "CET-1CEST,M3.5.0,M10.5.0/3". */
typedef struct {
    int is_set;
    int has_dst;
    int32_t offset;
    int32_t dst_offset;
    tg_zone_dst_change_t begin; /* of summer, by the other clock */
    tg_zone_dst_change_t end;
} tg_zone_rule_t;

struct tg_zone_s {
    const tg_alloc_t *alloc;
    tg_zone_rule_t rule;
    int32_t first_offset; /* the offset before all times */
    size_t n;
    struct {
        int64_t at;
        int32_t offset; /* from then on */
    } transitions[];
};

/* TG_OK or TG_INVALID. */
int tg_zone_rule_parse(tg_zone_rule_t *rule, tg_str_t text);

/* As tg_zone_find_span(), where the rule alone holds. */
void tg_zone_rule_find_span(const tg_zone_rule_t *rule, int64_t at,
                            tg_zone_span_t *span);

#endif
