/*
 * Time zones from the bytes of TZif files (RFC 8536): the offset of local time
 * from UTC, now and in future years. All times are in seconds of Unix time.
 */
#ifndef TG_ZONE_H
#define TG_ZONE_H

#include "base/tg_base.h"

/* Largest name of a zone in bytes. */
#define TG_ZONE_NAME_MAX 64
/* Limit of a zone file; the system's have at most about 4,000 bytes. */
#define TG_ZONE_FILE_MAX 65536

typedef struct tg_zone_s tg_zone_t;

/* A span of time with a constant offset from UTC. */
typedef struct {
    int64_t from; /* first second; INT64_MIN: no beginning */
    int64_t to;   /* first second after the span; INT64_MAX: no end */
    /* offset from UTC in seconds, positive east */
    int32_t offset;
    int32_t previous_offset; /* offset just before `from` */
} tg_zone_span_t;

typedef struct {
    int64_t year;
    int month; /* 1 to 12 */
    int day;
} tg_date_t;

/* Checks a name, which must not lead out of the zones' folder. */
int tg_zone_is_valid_name(tg_str_t name);

/* Parses a zone file. TG_OK; TG_INVALID; TG_NOMEM. */
int tg_zone_parse(const tg_alloc_t *alloc, tg_str_t bytes, tg_zone_t **zone);
void tg_zone_free(tg_zone_t *zone);

/* Finds the span that contains the time `at`. zone NULL is UTC. */
void tg_zone_find_span(const tg_zone_t *zone, int64_t at, tg_zone_span_t *span);

/* Sets the date of a day, counted from the first day of Unix time. */
void tg_date_set_unix_day(int64_t day, tg_date_t *date);

/* Returns the day of a date, counted from the first day of Unix time. */
int64_t tg_date_get_unix_day(const tg_date_t *date);

int tg_date_count_month_days(const tg_date_t *date);

#endif
