/* Time zones for tests: makes zone files, and reads times in ISO format. */
#ifndef RULE_ZONE_H
#define RULE_ZONE_H

#include "protocol_help.h"

#include "rule/tg_cron.h"

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

/* A time, and the offset from UTC in hours from then on. */
typedef struct {
    const char *at;
    int hours;
} zone_time_t;

/* Converts "2026-11-22T08:15", with or without seconds, UTC. */
static inline int64_t
zone_at(const char *text)
{
    int month, day, hour, minute, second;
    tg_date_t date;
    long year;

    second = 0;
    CU_ASSERT_FATAL(sscanf(text, "%ld-%d-%dT%d:%d:%d", &year, &month, &day,
                           &hour, &minute, &second)
                    >= 5);
    date.year = year;
    date.month = month;
    date.day = day;

    return tg_date_get_unix_day(&date) * 86400 + hour * 3600 + minute * 60
           + second;
}

static inline const char *
zone_text(int64_t at)
{
    static char text[4][40];
    static unsigned n;
    tg_date_t date;
    int64_t day;

    day = (at - (at % 86400 + 86400) % 86400) / 86400;
    tg_date_set_unix_day(day, &date);
    at -= day * 86400;
    n = (n + 1) % 4;
    snprintf(text[n], sizeof(text[n]), "%04d-%02d-%02dT%02d:%02d%s",
             (int) date.year, date.month, date.day, (int) (at / 3600),
             (int) (at / 60 % 60), at % 60 != 0 ? ":??" : "");

    return text[n];
}

static inline void
zone_put(tg_buf_t *buf, uint64_t value, int bytes)
{
    while (bytes-- > 0) {
        tg_buf_append_char(buf, bytes < 8 ? (char) (value >> (bytes * 8) & 0xff)
                                          : 0);
    }
}

/* Appends a header and its data. */
static inline void
zone_put_part(tg_buf_t *buf, int width, int first, const zone_time_t *times,
              unsigned n)
{
    unsigned i;

    tg_buf_append_cstr(buf, "TZif2");
    zone_put(buf, 0, 15);
    zone_put(buf, 0, 4);
    zone_put(buf, 0, 4);
    zone_put(buf, 0, 4);
    zone_put(buf, n, 4);
    zone_put(buf, n + 1, 4);
    zone_put(buf, 4, 4);

    for (i = 0; i < n; i++) {
        zone_put(buf, (uint64_t) zone_at(times[i].at), width);
    }

    for (i = 0; i < n; i++) {
        zone_put(buf, i + 1, 1);
    }

    zone_put(buf, (uint64_t) ((int64_t) first * 3600), 4);
    zone_put(buf, 0, 2);

    for (i = 0; i < n; i++) {
        zone_put(buf, (uint64_t) ((int64_t) times[i].hours * 3600), 4);
        zone_put(buf, 0, 2);
    }

    tg_buf_append(buf, "XXX\0", 4);
}

/* Appends the bytes of a file; footer is NULL for version 1. */
static inline void
zone_file(tg_buf_t *buf, int first, const zone_time_t *times, unsigned n,
          const char *footer)
{
    zone_put_part(buf, 4, first, footer == NULL ? times : NULL,
                  footer == NULL ? n : 0);

    if (footer == NULL) {
        buf->data[4] = '\0';
        return;
    }

    zone_put_part(buf, 8, first, times, n);
    tg_buf_printf(buf, "\n%s\n", footer);
}

/* Returns NULL if the file is invalid. */
static inline tg_zone_t *
zone_parse(int first, const zone_time_t *times, unsigned n, const char *footer)
{
    tg_zone_t *zone;
    HELP_BUFFER(buf);

    zone = NULL;
    zone_file(&buf, first, times, n, footer);
    (void) tg_zone_parse(tg_alloc_libc(), tg_buf_view(&buf), &zone);

    return zone;
}

static inline tg_zone_t *
zone_of(int first, const zone_time_t *times, unsigned n, const char *footer)
{
    tg_zone_t *zone;

    zone = zone_parse(first, times, n, footer);
    CU_ASSERT_FATAL(zone != NULL);

    return zone;
}

static inline tg_zone_t *
zone_footer(const char *footer)
{
    return zone_of(0, NULL, 0, footer);
}

#endif
