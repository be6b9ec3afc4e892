/* Cron expressions, also while clocks change. Times are UTC. */
#include "rule_zone.h"

static const char *
next(const char *expression, const tg_zone_t *zone, const char *after)
{
    tg_cron_t cron;
    HELP_BUFFER(why);
    int64_t at;
    int rc;

    rc = tg_cron_parse(tg_str_from_cstr(expression), &cron, &why);
    CU_ASSERT_FATAL(rc == TG_OK);

    return tg_cron_find_next(&cron, zone, zone_at(after), &at) == TG_OK
               ? zone_text(at)
               : "never";
}

#define NEXT(expression, zone, after, expected)                                \
    HELP_EQ(tg_str_from_cstr(next(expression, zone, after)), expected)

/* Returns the next few times, one after the other. */
static const char *
next_few(const char *expression, const tg_zone_t *zone, const char *after,
         int n)
{
    static char text[512];
    char at[40];
    size_t len;

    snprintf(at, sizeof(at), "%s", after);

    for (len = 0; n > 0; n--) {
        snprintf(at, sizeof(at), "%s", next(expression, zone, at));
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%s",
                                 len == 0 ? "" : " ", at);
    }

    return text;
}

#define FEW(expression, zone, after, n, expected)                              \
    HELP_EQ(tg_str_from_cstr(next_few(expression, zone, after, n)), expected)

HELP_TEST(fields, "fields: stars, lists, ranges, steps, names")
{
    NEXT("* * * * *", NULL, "2026-11-22T08:15:03", "2026-11-22T08:16");
    NEXT("* * * * *", NULL, "2026-11-22T08:15", "2026-11-22T08:16");
    NEXT("*/20 * * * *", NULL, "2026-11-22T08:15", "2026-11-22T08:20");
    FEW("5,50-52 * * * *", NULL, "2026-11-22T08:15", 4,
        "2026-11-22T08:50 2026-11-22T08:51 2026-11-22T08:52 2026-11-22T09:05");
    FEW("0 8-18/5 * * *", NULL, "2026-11-22T08:00", 3,
        "2026-11-22T13:00 2026-11-22T18:00 2026-11-23T08:00");
    NEXT("0 3 * * *", NULL, "2026-11-22T08:15", "2026-11-23T03:00");
    NEXT("0 0 1 jan *", NULL, "2026-11-22T08:15", "2027-01-01T00:00");
    NEXT("0 0 * FEB-Apr *", NULL, "2026-11-22T08:15", "2027-02-01T00:00");
    NEXT(" 0\t9  * * mon-FRI ", NULL, "2026-11-20T09:00", "2026-11-23T09:00");
    NEXT("0 0 * * 7", NULL, "2026-11-23T00:00", "2026-11-29T00:00");
    NEXT("0 0 * * sat-sun", NULL, "2026-11-21T00:00", "2026-11-22T00:00");
    NEXT("@daily", NULL, "2026-11-22T08:15", "2026-11-23T00:00");
    NEXT("@yearly", NULL, "2026-11-22T08:15", "2027-01-01T00:00");
    NEXT("59 23 31 12 *", NULL, "2026-12-31T23:59", "2027-12-31T23:59");
}

HELP_TEST(days, "two day fields: one must match, unless there is a star")
{
    /* The 13th of a month, or a Friday. */
    FEW("0 0 13 * 5", NULL, "2026-11-10T00:00", 3,
        "2026-11-13T00:00 2026-11-20T00:00 2026-11-27T00:00");
    FEW("0 0 13 * 5", NULL, "2026-12-11T00:00", 2,
        "2026-12-13T00:00 2026-12-18T00:00");
    /* Every other day, if it is a Friday. */
    FEW("0 0 */2 * 5", NULL, "2026-11-10T00:00", 2,
        "2026-11-13T00:00 2026-11-27T00:00");
    NEXT("0 0 13 * *", NULL, "2026-11-13T00:00", "2026-12-13T00:00");
}

HELP_TEST(leap, "leap days, ends of months, days that never exist")
{
    NEXT("0 12 29 2 *", NULL, "2026-01-01T00:00", "2028-02-29T12:00");
    NEXT("0 12 29 2 *", NULL, "2096-02-29T12:00", "2104-02-29T12:00");
    NEXT("0 12 29 feb */7", NULL, "2026-01-01T00:00", "2032-02-29T12:00");
    FEW("0 0 31 * *", NULL, "2026-01-31T00:00", 3,
        "2026-03-31T00:00 2026-05-31T00:00 2026-07-31T00:00");
    NEXT("0 0 30 2 *", NULL, "2026-01-01T00:00", "never");
    NEXT("0 0 31 4,6,9,11 *", NULL, "2026-01-01T00:00", "never");
}

HELP_TEST(forward, "the clock is set forward: 2 to 3, at 01:00 UTC")
{
    tg_zone_t *zone;

    zone = zone_footer(BERLIN);

    /* 02:30 does not exist: due when the clock is set forward. */
    FEW("30 2 * * *", zone, "2026-03-28T00:00", 4,
        "2026-03-28T01:30 2026-03-29T01:00 2026-03-30T00:30 2026-03-31T00:30");
    /* Several skipped times are one, together with that of 03:00. */
    FEW("*/15 2 * * *", zone, "2026-03-28T01:45", 2,
        "2026-03-29T01:00 2026-03-30T00:00");
    FEW("0 2,3 * * *", zone, "2026-03-28T12:00", 2,
        "2026-03-29T01:00 2026-03-30T00:00");
    FEW("0 3 * * *", zone, "2026-03-28T12:00", 2,
        "2026-03-29T01:00 2026-03-30T01:00");
    /* An hourly job continues with the elapsed hours. */
    FEW("0 * * * *", zone, "2026-03-28T23:00", 4,
        "2026-03-29T00:00 2026-03-29T01:00 2026-03-29T02:00 2026-03-29T03:00");
    FEW("30 * * * *", zone, "2026-03-28T23:30", 3,
        "2026-03-29T00:30 2026-03-29T01:30 2026-03-29T02:30");
    /* The date would match, but not its weekday. */
    NEXT("30 2 29 3 *", zone, "2026-01-01T00:00", "2026-03-29T01:00");
    NEXT("30 2 30 3 *", zone, "2026-01-01T00:00", "2026-03-30T00:30");
    tg_zone_free(zone);
}

HELP_TEST(back, "the clock is set back: 3 to 2, at 01:00 UTC")
{
    tg_zone_t *zone;

    zone = zone_footer(BERLIN);

    /* 02:30 exists twice: the first one. */
    FEW("30 2 * * *", zone, "2026-10-24T12:00", 2,
        "2026-10-25T00:30 2026-10-26T01:30");
    NEXT("30 2 * * *", zone, "2026-10-25T00:30", "2026-10-26T01:30");
    NEXT("30 2 * * *", zone, "2026-10-25T01:10", "2026-10-26T01:30");
    FEW("0,30 2 * * *", zone, "2026-10-24T12:00", 3,
        "2026-10-25T00:00 2026-10-25T00:30 2026-10-26T01:00");
    NEXT("0 3 * * *", zone, "2026-10-24T12:00", "2026-10-25T02:00");
    /* Hourly, including the repeated hour. */
    FEW("0 * * * *", zone, "2026-10-24T23:00", 4,
        "2026-10-25T00:00 2026-10-25T01:00 2026-10-25T02:00 2026-10-25T03:00");
    FEW("*/30 * * * *", zone, "2026-10-25T00:00", 4,
        "2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30 2026-10-25T02:00");
    tg_zone_free(zone);
}

HELP_TEST(far, "southern zones, and days that a zone skipped")
{
    static const zone_time_t samoa[] = { { "2011-12-30T10:00", 14 } };
    tg_zone_t *zone;

    zone = zone_footer("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");
    /* Set forward by half an hour, at two. */
    FEW("15 2 * * *", zone, "2026-10-02T20:00", 2,
        "2026-10-03T15:30 2026-10-04T15:15");
    FEW("45 1 * * *", zone, "2026-04-03T12:00", 3,
        "2026-04-03T14:45 2026-04-04T14:45 2026-04-05T15:15");
    tg_zone_free(zone);

    /* With daylight time all year, no clock changes at new year. */
    zone = zone_footer("EST5EDT,0/0,J365/25");
    FEW("30 23 31 12 *", zone, "2026-12-01T00:00", 2,
        "2027-01-01T03:30 2028-01-01T03:30");
    tg_zone_free(zone);

    /* There was no 30th of December. */
    zone = zone_of(-10, samoa, 1, "");
    FEW("0 12 * * *", zone, "2011-12-29T00:00", 3,
        "2011-12-29T22:00 2011-12-30T10:00 2011-12-30T22:00");
    tg_zone_free(zone);
}

static int
invalid(const char *text, const char *what)
{
    tg_cron_t cron;
    HELP_BUFFER(why);
    int rc, is;

    rc = tg_cron_parse(tg_str_from_cstr(text), &cron, &why);
    tg_buf_append_char(&why, '\0');
    is = rc == TG_INVALID && strstr(why.data, what) != NULL;

    if (!is) {
        printf("%s: %s\n", text, why.data);
    }

    return is;
}

HELP_TEST(wrong, "errors, and what to write instead")
{
    CU_ASSERT(invalid("", "five fields"));
    CU_ASSERT(invalid("* * * *", "five fields"));
    CU_ASSERT(invalid("0 * * * * *", "five fields"));
    CU_ASSERT(invalid("@often", "five fields"));
    CU_ASSERT(invalid("60 * * * *", "\"60\" is not a valid minute: it must be "
                                    "from 0 to 59"));
    CU_ASSERT(invalid("0 3 * * 7\n",
                      "\"7\\u000a\" is not a valid day of the week: write"));
    CU_ASSERT(invalid("0 24 * * *", "not a valid hour"));
    CU_ASSERT(invalid("0 0 0 * *", "\"0\" is not a valid day of the month"));
    CU_ASSERT(
        invalid("0 0 * 13 *", "not a valid month: it must be from 1 to 12"));
    CU_ASSERT(invalid("0 0 * * 8", "not a valid day of the week"));
    CU_ASSERT(invalid("0 0 * * monday", "not a valid day of the week: write"));
    CU_ASSERT(invalid("0 5-1 * * *", "a range must not be"));
    CU_ASSERT(invalid("5/15 * * * *", "write"));
    CU_ASSERT(invalid("*/0 * * * *", "write"));
    CU_ASSERT(invalid("1,,2 * * * *", "write"));
    CU_ASSERT(invalid("1- * * * *", "write"));
    CU_ASSERT(invalid("-1 * * * *", "write"));
    CU_ASSERT(invalid("1, * * * *", "write"));
    CU_ASSERT(invalid("99999999999999999999 * * * *", "not a valid minute"));
}
