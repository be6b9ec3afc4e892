/* Parsing of cron expressions, and the search for the next date. */
#include "rule/tg_cron.h"

#include "base/tg_utf8.h"

#define TG_CRON_DAY_S INT64_C(86400)

typedef struct {
    const char *name;
    int min;
    int max;
    const char *const *words; /* names of the values from min on, or NULL */
} tg_cron_field_t;

static const char *const tg_cron_months[] = { "jan", "feb", "mar", "apr", "may",
                                              "jun", "jul", "aug", "sep", "oct",
                                              "nov", "dec", NULL };
static const char *const tg_cron_weekdays[] = { "sun", "mon", "tue", "wed",
                                                "thu", "fri", "sat", NULL };

enum {
    TG_CRON_MINUTE,
    TG_CRON_HOUR,
    TG_CRON_MDAY,
    TG_CRON_MONTH,
    TG_CRON_WDAY,
    TG_CRON_FIELDS
};

static const tg_cron_field_t tg_cron_fields[TG_CRON_FIELDS] = {
    { "minute", 0, 59, NULL },
    { "hour", 0, 23, NULL },
    { "day of the month", 1, 31, NULL },
    { "month", 1, 12, tg_cron_months },
    { "day of the week", 0, 7, tg_cron_weekdays },
};

static const struct {
    tg_str_t name;
    tg_str_t text;
} tg_cron_aliases[] = {
    { TG_STR_INIT("@hourly"), TG_STR_INIT("0 * * * *") },
    { TG_STR_INIT("@daily"), TG_STR_INIT("0 0 * * *") },
    { TG_STR_INIT("@midnight"), TG_STR_INIT("0 0 * * *") },
    { TG_STR_INIT("@weekly"), TG_STR_INIT("0 0 * * 0") },
    { TG_STR_INIT("@monthly"), TG_STR_INIT("0 0 1 * *") },
    { TG_STR_INIT("@yearly"), TG_STR_INIT("0 0 1 1 *") },
    { TG_STR_INIT("@annually"), TG_STR_INIT("0 0 1 1 *") },
};

static int
tg_cron_is_name(const char *p, size_t len, const char *word)
{
    size_t i;

    for (i = 0; i < len && word[i] != '\0'; i++) {
        if ((p[i] | 0x20) != word[i]) {
            return 0;
        }
    }

    return i == len && word[i] == '\0';
}

/* Parses a number or a name. Returns -1 if there is neither. */
static int
tg_cron_parse_number(const tg_cron_field_t *field, const char **at,
                     const char *end)
{
    const char *p, *start;
    int i, n;

    start = *at;
    n = 0;

    for (p = start; p < end && tg_is_digit(*p) && n < 1000; p++) {
        n = n * 10 + (*p - '0');
    }

    if (p != start) {
        *at = p;
        return n;
    }

    while (p < end && tg_is_alpha(*p)) {
        p++;
    }

    for (i = 0; field->words != NULL && field->words[i] != NULL; i++) {
        if (tg_cron_is_name(start, (size_t) (p - start), field->words[i])) {
            *at = p;
            return field->min + i;
        }
    }

    return -1;
}

static void
tg_cron_append_error(const tg_cron_field_t *field, tg_str_t text, tg_buf_t *why)
{
    tg_buf_append_char(why, '"');
    tg_utf8_append_visible(why, text, 1);
    tg_buf_printf(why, "\" is not a valid %s: ", field->name);
}

static int
tg_cron_set_error(const tg_cron_field_t *field, tg_str_t text, const char *what,
                  tg_buf_t *why)
{
    tg_cron_append_error(field, text, why);
    tg_buf_append_cstr(why, what);

    return TG_INVALID;
}

static int
tg_cron_parse_range(const tg_cron_field_t *field, tg_str_t text, uint64_t *bits,
                    tg_buf_t *why)
{
    const char *p, *end;
    int first, last, step;

    p = text.data;
    end = tg_str_end(text);
    step = 1;

    if (p < end && *p == '*') {
        p++;
        first = field->min;
        last = field->max;
    } else {
        first = last = tg_cron_parse_number(field, &p, end);

        if (first != -1 && p < end && *p == '-') {
            p++;
            last = tg_cron_parse_number(field, &p, end);
        }
    }

    if (p < end && *p == '/' && (last != first || text.data[0] == '*')) {
        p++;
        step = tg_cron_parse_number(&tg_cron_fields[TG_CRON_MINUTE], &p, end);
    }

    if (first < 0 || last < 0 || step < 1 || p != end) {
        return tg_cron_set_error(field, text, "write *, 5, 1-5, 0,30 or */15",
                                 why);
    }

    if (first < field->min || last > field->max) {
        tg_cron_append_error(field, text, why);
        tg_buf_printf(why, "it must be from %d to %d", field->min, field->max);
        return TG_INVALID;
    }

    if (last == 0 && field->max == 7) {
        last = first != 0 ? 7 : 0; /* a range up to Sunday, such as fri-sun */
    }

    if (first > last) {
        return tg_cron_set_error(
            field, text,
            "a range must not be reversed; separate two ranges with a comma",
            why);
    }

    for (; first <= last; first += step) {
        *bits |= UINT64_C(1) << first;
    }

    return TG_OK;
}

static int
tg_cron_parse_list(const tg_cron_field_t *field, tg_str_t text, uint64_t *bits,
                   tg_buf_t *why)
{
    const char *p, *comma, *end;
    int rc;

    end = tg_str_end(text);
    *bits = 0;

    for (p = text.data;; p = comma + 1) {
        comma = memchr(p, ',', (size_t) (end - p));
        rc = tg_cron_parse_range(
            field, tg_str(p, (size_t) ((comma != NULL ? comma : end) - p)),
            bits, why);

        if (rc != TG_OK || comma == NULL) {
            return rc;
        }
    }
}

static tg_str_t
tg_cron_take_word(tg_str_t *text)
{
    const char *p, *start, *end;

    p = text->data;
    end = tg_str_end(*text);

    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }

    for (start = p; p < end && *p != ' ' && *p != '\t'; p++) {
        /* void */
    }

    *text = tg_str(p, (size_t) (end - p));

    return tg_str(start, (size_t) (p - start));
}

static tg_str_t
tg_cron_resolve_alias(tg_str_t text)
{
    size_t i;

    for (i = 0; i < sizeof(tg_cron_aliases) / sizeof(tg_cron_aliases[0]); i++) {
        if (tg_str_eq(text, tg_cron_aliases[i].name)) {
            return tg_cron_aliases[i].text;
        }
    }

    return text;
}

int
tg_cron_parse(tg_str_t text, tg_cron_t *cron, tg_buf_t *why)
{
    tg_str_t words[TG_CRON_FIELDS + 1];
    uint64_t bits[TG_CRON_FIELDS];
    int i, rc;

    text = tg_cron_resolve_alias(text);

    for (i = 0; i <= TG_CRON_FIELDS; i++) {
        words[i] = tg_cron_take_word(&text);
    }

    if (words[TG_CRON_FIELDS - 1].len == 0 || words[TG_CRON_FIELDS].len != 0
        || text.len > TG_CRON_LEN_MAX)
    {
        tg_buf_append_cstr(
            why, "it must have five fields: minute, hour, day of the month, "
                 "month, day of the week, such as \"0 3 * * *\"");
        return TG_INVALID;
    }

    for (i = 0, rc = TG_OK; rc == TG_OK && i < TG_CRON_FIELDS; i++) {
        rc = tg_cron_parse_list(&tg_cron_fields[i], words[i], &bits[i], why);
    }

    if (rc != TG_OK) {
        return rc;
    }

    cron->minutes = bits[TG_CRON_MINUTE];
    cron->hours = (uint32_t) bits[TG_CRON_HOUR];
    cron->days = (uint32_t) bits[TG_CRON_MDAY];
    cron->months = (uint16_t) bits[TG_CRON_MONTH];
    cron->weekdays = (uint8_t) ((bits[TG_CRON_WDAY] | bits[TG_CRON_WDAY] >> 7)
                                & 0x7f);
    cron->is_any_hour = cron->hours == 0xffffff;
    cron->must_match_both_days = words[TG_CRON_MDAY].data[0] == '*'
                                 || words[TG_CRON_WDAY].data[0] == '*';

    return TG_OK;
}

static int
tg_cron_match_day(const tg_cron_t *cron, int64_t day, const tg_date_t *date)
{
    int is_mday, is_wday;

    /* The first day of Unix time was a Thursday. */
    is_wday = cron->weekdays >> (((day + 4) % 7 + 7) % 7) & 1;
    is_mday = cron->days >> date->day & 1;

    return cron->must_match_both_days ? is_mday && is_wday : is_mday || is_wday;
}

/* Returns the first minute of a day at or after `from`, or -1. */
static int
tg_cron_find_minute(const tg_cron_t *cron, int from)
{
    int hour, minute;

    minute = from % 60;

    for (hour = from / 60; hour < 24; hour++, minute = 0) {
        if (!(cron->hours >> hour & 1)) {
            continue;
        }

        for (; minute < 60; minute++) {
            if (cron->minutes >> minute & 1) {
                return hour * 60 + minute;
            }
        }
    }

    return -1;
}

static int64_t
tg_cron_divide_floor(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* Finds the first time in [from, end), in local seconds. TG_OK or TG_END. */
static int
tg_cron_find_next_local(const tg_cron_t *cron, int64_t from, int64_t end,
                        int64_t *at)
{
    tg_date_t date;
    int64_t day;
    int minute;

    from = -tg_cron_divide_floor(-from, 60);
    day = tg_cron_divide_floor(from, 24 * 60);
    minute = (int) (from - day * 24 * 60);

    while (day * TG_CRON_DAY_S < end) {
        tg_date_set_unix_day(day, &date);

        if (!(cron->months >> date.month & 1)) {
            day += tg_date_count_month_days(&date) - date.day + 1;
            minute = 0;
            continue;
        }

        if (tg_cron_match_day(cron, day, &date)) {
            minute = tg_cron_find_minute(cron, minute);

            if (minute != -1) {
                *at = day * TG_CRON_DAY_S + minute * 60;
                return *at < end ? TG_OK : TG_END;
            }
        }

        day++;
        minute = 0;
    }

    return TG_END;
}

int
tg_cron_find_next(const tg_cron_t *cron, const tg_zone_t *zone, int64_t after,
                  int64_t *at)
{
    tg_zone_span_t span;
    int64_t now, from, end, max;

    max = after + TG_CRON_YEARS_MAX * 366 * TG_CRON_DAY_S;

    for (now = after + 1; now < max; now = span.to) {
        tg_zone_find_span(zone, now, &span);
        from = now + span.offset;

        if (!cron->is_any_hour && span.previous_offset != span.offset) {
            if (now == span.from
                && tg_cron_find_next_local(cron, now + span.previous_offset,
                                           from, at)
                       == TG_OK)
            {
                *at = now; /* the clock skipped this time */
                return TG_OK;
            }

            /* The clock was put back: do not count earlier times again. */
            if (from < span.from + span.previous_offset) {
                from = span.from + span.previous_offset;
            }
        }

        end = (span.to < max ? span.to : max) + span.offset;

        if (tg_cron_find_next_local(cron, from, end, at) == TG_OK) {
            *at -= span.offset;
            return TG_OK;
        }
    }

    return TG_END;
}
