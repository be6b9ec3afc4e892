/* Dates, and the rule of a zone for the years after its table. */
#include "rule/tg_zone_impl.h"

#define TG_ZONE_DAY_S INT64_C(86400)
/* Largest offset in hours. */
#define TG_ZONE_OFFSET_HOURS 24
/* Largest time of a change in hours: RFC 8536 allows times on other days. */
#define TG_ZONE_TIME_HOURS 167

/* Counts in years that begin in March, so that the leap day is the last one. */
void
tg_date_set_unix_day(int64_t day, tg_date_t *date)
{
    int64_t era, year, rest;
    int month;

    day += 719468;
    era = (day >= 0 ? day : day - 146096) / 146097;
    rest = day - era * 146097;
    year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    rest -= 365 * year + year / 4 - year / 100;
    month = (int) ((5 * rest + 2) / 153);
    date->day = (int) (rest - (153 * month + 2) / 5) + 1;
    date->month = month < 10 ? month + 3 : month - 9;
    date->year = year + era * 400 + (date->month <= 2);
}

int64_t
tg_date_get_unix_day(const tg_date_t *date)
{
    int64_t era, year, rest;
    int month;

    year = date->year - (date->month <= 2);
    era = (year >= 0 ? year : year - 399) / 400;
    year -= era * 400;
    month = date->month > 2 ? date->month - 3 : date->month + 9;
    rest = (153 * month + 2) / 5 + date->day - 1;

    return era * 146097 + year * 365 + year / 4 - year / 100 + rest - 719468;
}

static int
tg_year_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int
tg_date_count_month_days(const tg_date_t *date)
{
    static const int days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    return days[date->month - 1]
           + (date->month == 2 && tg_year_is_leap(date->year));
}

typedef struct {
    const char *p;
    const char *end;
} tg_zone_cursor_t;

static int
tg_zone_skip_char(tg_zone_cursor_t *text, char c)
{
    if (text->p == text->end || *text->p != c) {
        return 0;
    }

    text->p++;

    return 1;
}

/* Parses a number from min to max. Returns -1 if there is none. */
static int
tg_zone_parse_number(tg_zone_cursor_t *text, int min, int max)
{
    const char *start;
    int n;

    n = 0;

    for (start = text->p;
         text->p < text->end && tg_is_digit(*text->p) && n < 1000; text->p++)
    {
        n = n * 10 + (*text->p - '0');
    }

    return text->p != start && n >= min && n <= max ? n : -1;
}

/* Parses a time, [+-]HH[:MM[:SS]], into seconds. TG_OK or TG_INVALID. */
static int
tg_zone_parse_time(tg_zone_cursor_t *text, int hours, int32_t *seconds)
{
    int sign, part, unit;

    sign = tg_zone_skip_char(text, '-') ? -1 : 1;

    if (sign == 1) {
        (void) tg_zone_skip_char(text, '+');
    }

    part = tg_zone_parse_number(text, 0, hours);
    *seconds = part * 3600;

    for (unit = 60; part != -1 && unit != 0 && tg_zone_skip_char(text, ':');
         unit /= 60)
    {
        part = tg_zone_parse_number(text, 0, 59);
        *seconds += part * unit;
    }

    *seconds *= sign;

    return part != -1 ? TG_OK : TG_INVALID;
}

/* Skips a zone's name: letters, or anything between < and >. */
static int
tg_zone_parse_name(tg_zone_cursor_t *text)
{
    const char *start;

    if (tg_zone_skip_char(text, '<')) {
        while (text->p < text->end && *text->p != '>') {
            text->p++;
        }

        return tg_zone_skip_char(text, '>') ? TG_OK : TG_INVALID;
    }

    for (start = text->p; text->p < text->end && tg_is_alpha(*text->p);
         text->p++) {
        /* void */
    }

    return text->p != start ? TG_OK : TG_INVALID;
}

static int
tg_zone_parse_offset(tg_zone_cursor_t *text, int32_t *offset)
{
    int rc;

    rc = tg_zone_parse_time(text, TG_ZONE_OFFSET_HOURS, offset);
    *offset = -*offset; /* POSIX counts west of UTC as positive */

    return rc;
}

static int
tg_zone_parse_change(tg_zone_cursor_t *text, tg_zone_dst_change_t *change)
{
    if (!tg_zone_skip_char(text, ',')) {
        return TG_INVALID;
    }

    if (tg_zone_skip_char(text, 'M')) {
        change->format = 'M';
        change->month = tg_zone_parse_number(text, 1, 12);
        change->week = tg_zone_skip_char(text, '.')
                           ? tg_zone_parse_number(text, 1, 5)
                           : -1;
        change->day = tg_zone_skip_char(text, '.')
                          ? tg_zone_parse_number(text, 0, 6)
                          : -1;
    } else {
        change->format = tg_zone_skip_char(text, 'J') ? 'J' : '0';
        change->day = tg_zone_parse_number(text, change->format == 'J', 365);
    }

    if (change->day == -1 || change->month == -1 || change->week == -1) {
        return TG_INVALID;
    }

    change->time = 7200;

    return tg_zone_skip_char(text, '/')
               ? tg_zone_parse_time(text, TG_ZONE_TIME_HOURS, &change->time)
               : TG_OK;
}

int
tg_zone_rule_parse(tg_zone_rule_t *rule, tg_str_t text)
{
    tg_zone_cursor_t at;

    at.p = text.data;
    at.end = tg_str_end(text);
    rule->is_set = 1;

    if (tg_zone_parse_name(&at) != TG_OK
        || tg_zone_parse_offset(&at, &rule->offset) != TG_OK)
    {
        return TG_INVALID;
    }

    if (at.p == at.end) {
        return TG_OK;
    }

    rule->has_dst = 1;
    rule->dst_offset = rule->offset + 3600;

    if (tg_zone_parse_name(&at) != TG_OK
        || (at.p < at.end && *at.p != ','
            && tg_zone_parse_offset(&at, &rule->dst_offset) != TG_OK)
        || tg_zone_parse_change(&at, &rule->begin) != TG_OK
        || tg_zone_parse_change(&at, &rule->end) != TG_OK)
    {
        return TG_INVALID;
    }

    return at.p == at.end ? TG_OK : TG_INVALID;
}

static int64_t
tg_zone_dst_change_get_day(const tg_zone_dst_change_t *change, int64_t year)
{
    tg_date_t date;
    int64_t first;
    int day;

    date.year = year;
    date.month = change->format == 'M' ? change->month : 1;
    date.day = 1;
    first = tg_date_get_unix_day(&date);

    if (change->format == '0') {
        return first + change->day;
    }

    /* This format never counts the leap day. */
    if (change->format == 'J') {
        return first + change->day - 1
               + (change->day >= 60 && tg_year_is_leap(year));
    }

    /* The first such weekday, then full weeks; week 5 is the last one. */
    day = (int) ((change->day - (first + 4) % 7 + 14) % 7)
          + (change->week - 1) * 7;

    return first + (day < tg_date_count_month_days(&date) ? day : day - 7);
}

typedef struct {
    int64_t at;
    int32_t offset;
} tg_zone_transition_t;

/* Computes the k-th change of a year: 0 is the begin of DST, 1 its end. */
static void
tg_zone_rule_get_transition(const tg_zone_rule_t *rule, int64_t year, int k,
                            tg_zone_transition_t *transition)
{
    const tg_zone_dst_change_t *change;

    change = k == 0 ? &rule->begin : &rule->end;
    transition->at = tg_zone_dst_change_get_day(change, year) * TG_ZONE_DAY_S
                     + change->time
                     - (k == 0 ? rule->offset : rule->dst_offset);
    transition->offset = k == 0 ? rule->dst_offset : rule->offset;
}

/*
 * Finds the last change at or before `at` and the first one after it, in the
 * years around `at`: in the southern hemisphere DST begins in one year and ends
 * in the next. If both changes occur at once (DST never or always), the later
 * one counts.
 */
static void
tg_zone_rule_find_transitions(const tg_zone_rule_t *rule, int64_t at,
                              tg_zone_transition_t *last, int64_t *next)
{
    tg_zone_transition_t transition;
    tg_date_t date;
    int64_t year;
    int k;

    tg_date_set_unix_day(at / TG_ZONE_DAY_S, &date);
    last->at = INT64_MIN;
    last->offset = rule->offset;
    *next = INT64_MAX;

    for (year = date.year - 2; year <= date.year + 2; year++) {
        for (k = 0; k < 2; k++) {
            tg_zone_rule_get_transition(rule, year, k, &transition);

            if (transition.at <= at && transition.at >= last->at) {
                *last = transition;
            }

            if (transition.at > at && transition.at < *next) {
                *next = transition.at;
            }
        }
    }
}

void
tg_zone_rule_find_span(const tg_zone_rule_t *rule, int64_t at,
                       tg_zone_span_t *span)
{
    tg_zone_transition_t transition;
    int64_t next;

    span->from = INT64_MIN;
    span->to = INT64_MAX;
    span->offset = span->previous_offset = rule->offset;

    if (!rule->has_dst) {
        return;
    }

    tg_zone_rule_find_transitions(rule, at, &transition, &span->to);
    span->from = transition.at;
    span->offset = transition.offset;
    tg_zone_rule_find_transitions(rule, span->from - 1, &transition, &next);
    span->previous_offset = transition.offset;
}
