/*
 * Time zones, as the system's files have them (TZif, RFC 8536): what the
 * clocks of a place show, now and in years to come.  Who reads the file is
 * somebody else's business.
 *
 * All times are seconds of Unix time.
 */
#ifndef TG_ZONE_H
#define TG_ZONE_H

#include "base/tg_base.h"

/* Bytes of a zone's name, and of its file: the largest has four thousand. */
#define TG_ZONE_NAME_MAX 64
#define TG_ZONE_FILE_MAX 65536

typedef struct tg_zone_s tg_zone_t;

/* A time in which clocks are as far from UTC all along. */
typedef struct {
    int64_t from; /* INT64_MIN: it has no beginning */
    int64_t to;   /* the first second behind it; or INT64_MAX */
    int32_t offset;
    int32_t previous_offset; /* the offset just before from */
} tg_zone_span_t;

typedef struct {
    int64_t year;
    int month; /* from 1 on */
    int day;
} tg_date_t;

/* Is it the name of a zone, which may not lead out of the zones' folder? */
int tg_zone_is_valid_name(tg_str_t name);

/*
 * Reads a file's bytes: TG_OK; TG_INVALID: they are none of a zone; TG_NOMEM.
 */
int tg_zone_parse(const tg_alloc_t *alloc, tg_str_t bytes, tg_zone_t **zone);
void tg_zone_free(tg_zone_t *zone);

/* Of a zone; NULL is UTC. */
void tg_zone_find_span(const tg_zone_t *zone, int64_t at, tg_zone_span_t *span);

/* The date of a day, counted from the first of Unix time; and back. */
void tg_date_set_unix_day(int64_t day, tg_date_t *date);
int64_t tg_date_get_unix_day(const tg_date_t *date);
int tg_date_count_month_days(const tg_date_t *date);

#endif
