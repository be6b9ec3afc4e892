/* Time zones: their files, the rule at the end, and dates. */
#include "rule_zone.h"

/* Returns "from offset to, before", with hours. */
static const char *
span(const tg_zone_t *zone, const char *at)
{
    static char text[128];
    tg_zone_span_t it;

    tg_zone_find_span(zone, zone_at(at), &it);
    snprintf(text, sizeof(text), "%s %g %s, %g",
             it.from == INT64_MIN ? "-" : zone_text(it.from), it.offset / 3600.,
             it.to == INT64_MAX ? "-" : zone_text(it.to),
             it.previous_offset / 3600.);

    return text;
}

#define SPAN(zone, at, expected)                                               \
    HELP_EQ(tg_str_from_cstr(span(zone, at)), expected)

HELP_TEST(dates, "dates of days, and back")
{
    static const struct {
        int64_t day;
        const char *text;
    } rows[] = {
        { 0, "1970-01-01" },       { -1, "1969-12-31" },
        { 11016, "2000-02-29" },   { 11017, "2000-03-01" },
        { 20513, "2026-03-01" },   { 47541, "2100-03-01" },
        { -25509, "1900-02-28" },  { -25508, "1900-03-01" },
        { -719468, "0000-03-01" }, { 2932896, "9999-12-31" },
    };
    char text[32];
    tg_date_t date;
    int64_t day;

    HELP_EACH(row, rows) {
        tg_date_set_unix_day(row->day, &date);
        snprintf(text, sizeof(text), "%04d-%02d-%02d", (int) date.year,
                 date.month, date.day);
        HELP_EQ(tg_str_from_cstr(text), row->text);
        CU_ASSERT(tg_date_get_unix_day(&date) == row->day);
    }

    /* The calendar repeats after four hundred years. */
    for (day = -146097; day < 146097; day += 13) {
        tg_date_set_unix_day(day, &date);
        CU_ASSERT(tg_date_get_unix_day(&date) == day);
        CU_ASSERT(date.day >= 1 && date.day <= tg_date_count_month_days(&date));
    }
}

HELP_TEST(rules, "the rule at the end of a file")
{
    tg_zone_t *zone;

    zone = zone_footer(BERLIN);
    SPAN(zone, "2026-01-15T12:00", "2025-10-26T01:00 1 2026-03-29T01:00, 2");
    SPAN(zone, "2026-03-29T00:59:59", "2025-10-26T01:00 1 2026-03-29T01:00, 2");
    SPAN(zone, "2026-03-29T01:00", "2026-03-29T01:00 2 2026-10-25T01:00, 1");
    SPAN(zone, "2126-07-01T00:00", "2126-03-31T01:00 2 2126-10-27T01:00, 1");
    SPAN(zone, "1950-01-01T00:00", "1949-10-30T01:00 1 1950-03-26T01:00, 2");
    tg_zone_free(zone);

    /* Daylight time at new year, shifted by half an hour. */
    zone = zone_footer("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");
    SPAN(zone, "2026-01-01T00:00",
         "2025-10-04T15:30 11 2026-04-04T15:00, 10.5");
    SPAN(zone, "2026-06-01T00:00",
         "2026-04-04T15:00 10.5 2026-10-03T15:30, 11");
    tg_zone_free(zone);

    /* Times on other days, and days without months. */
    zone = zone_footer("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");
    SPAN(zone, "2026-06-01T00:00", "2026-03-29T01:00 -1 2026-10-25T01:00, -2");
    tg_zone_free(zone);
    zone = zone_footer("AAA3BBB,J60/0,59/24:30:00");
    SPAN(zone, "2026-03-01T04:00", "2026-03-01T03:00 -2 2026-03-02T02:30, -3");
    SPAN(zone, "2024-03-01T02:45", "2024-03-01T02:30 -3 2024-03-01T03:00, -3");
    tg_zone_free(zone);

    /* Daylight time all year, as in RFC 8536; and one that lasts no time. */
    zone = zone_footer("EST5EDT,0/0,J365/25");
    SPAN(zone, "2026-06-01T00:00", "2026-01-01T05:00 -4 2027-01-01T05:00, -4");
    tg_zone_free(zone);
    zone = zone_footer("<-02>2<-01>,M3.5.0/-1,M3.5.0/0");
    SPAN(zone, "2026-06-01T00:00", "2026-03-29T01:00 -2 2027-03-28T01:00, -2");
    tg_zone_free(zone);

    zone = zone_footer("UTC0");
    SPAN(zone, "2026-06-01T00:00", "- 0 -, 0");
    tg_zone_free(zone);
    SPAN(NULL, "2026-06-01T00:00", "- 0 -, 0");
}

HELP_TEST(table, "the table of a file, and the rule after it")
{
    static const zone_time_t times[] = {
        { "2000-01-01T00:00", 2 },
        { "2010-01-01T00:00", 3 },
        { "2020-05-01T00:00", 1 },
    };
    tg_zone_t *zone;

    zone = zone_of(5, times, 3, "CET-1CEST,M3.5.0,M10.5.0/3");
    SPAN(zone, "1990-01-01T00:00", "- 5 2000-01-01T00:00, 5");
    SPAN(zone, "2000-01-01T00:00", "2000-01-01T00:00 2 2010-01-01T00:00, 5");
    SPAN(zone, "2009-12-31T23:59:59", "2000-01-01T00:00 2 2010-01-01T00:00, 5");
    SPAN(zone, "2015-01-01T00:00", "2010-01-01T00:00 3 2020-05-01T00:00, 2");

    /* The table's last entry begins after the rule's change. */
    SPAN(zone, "2020-06-01T00:00", "2020-05-01T00:00 2 2020-10-25T01:00, 3");
    SPAN(zone, "2020-11-01T00:00", "2020-10-25T01:00 1 2021-03-28T01:00, 2");
    tg_zone_free(zone);

    zone = zone_of(5, times, 3, "");
    SPAN(zone, "2030-01-01T00:00", "2020-05-01T00:00 1 -, 3");
    tg_zone_free(zone);

    /* The old version, with 32 bits. */
    zone = zone_of(5, times, 3, NULL);
    SPAN(zone, "2005-01-01T00:00", "2000-01-01T00:00 2 2010-01-01T00:00, 5");
    tg_zone_free(zone);
}

HELP_TEST(wrong, "invalid zone files")
{
    /* clang-format off */
    static const char *const footers[] = {
        "X", "-1", "CET", "CET-25", "CET-1:60", "CET-1CEST", "CET-1CEST,M3",
        "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J1", "CET-1CEST,J366,J1", "CET-1CEST,1,366",
        "CET-1CEST,1,2/168", "<CET-1", "CET-1CEST,1,2,3", "CET-1 ",
    };
    /* clang-format on */
    static const zone_time_t backwards[] = {
        { "2010-01-01T00:00", 2 },
        { "2000-01-01T00:00", 3 },
    };
    static const zone_time_t far[] = { { "2010-01-01T00:00", 27 } };
    tg_zone_t *zone;
    HELP_BUFFER(buf);
    size_t i;

    HELP_EACH(footer, footers) {
        zone = zone_parse(0, NULL, 0, *footer);
        CU_ASSERT(zone == NULL);
        tg_zone_free(zone);
    }

    CU_ASSERT(zone_parse(0, backwards, 2, "") == NULL);
    CU_ASSERT(zone_parse(0, far, 1, "") == NULL);

    /* A truncated file, and damaged counts. */
    zone_file(&buf, 1, backwards, 1, BERLIN);

    for (i = 0; i < buf.len; i++) {
        CU_ASSERT(tg_zone_parse(tg_alloc_libc(), tg_str(buf.data, i), &zone)
                  == TG_INVALID);
    }

    for (i = 0; i < 44; i++) {
        buf.data[i] ^= 0x40;
        zone = NULL;
        (void) tg_zone_parse(tg_alloc_libc(), tg_buf_view(&buf), &zone);
        tg_zone_free(zone);
        buf.data[i] ^= 0x40;
    }
}

HELP_TEST(names, "names of zones stay inside their folder")
{
    CU_ASSERT(tg_zone_is_valid_name(TG_STR("Europe/Berlin")));
    CU_ASSERT(tg_zone_is_valid_name(TG_STR("Etc/GMT+5")));
    CU_ASSERT(tg_zone_is_valid_name(TG_STR("America/Port-au-Prince")));
    CU_ASSERT(!tg_zone_is_valid_name(TG_STR("")));
    CU_ASSERT(!tg_zone_is_valid_name(TG_STR("/etc/passwd")));
    CU_ASSERT(!tg_zone_is_valid_name(TG_STR("../../etc/passwd")));
    CU_ASSERT(!tg_zone_is_valid_name(TG_STR("Europe/Berlin ")));
}

static void
nomem(const tg_alloc_t *alloc, int may_fail)
{
    tg_zone_t *zone;
    HELP_BUFFER(buf);
    int rc;

    zone_file(&buf, 1, NULL, 0, BERLIN);
    rc = tg_zone_parse(alloc, tg_buf_view(&buf), &zone);
    CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));

    if (rc == TG_OK) {
        tg_zone_free(zone);
    }
}

HELP_TEST(memory, "without memory")
{
    help_each_failure(nomem);
}
