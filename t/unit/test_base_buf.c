/* Slices, the allocator and the growing buffer. */
#include "protocol_help.h"

HELP_TEST(slices, "slices")
{
    CU_ASSERT(tg_str_eq(TG_STR_NONE, TG_STR("")));
    CU_ASSERT(tg_str_eq(TG_STR("ab"), tg_str_from_cstr("ab")));
    CU_ASSERT(!tg_str_eq(TG_STR("ab"), TG_STR("ac")));
    CU_ASSERT(!tg_str_eq(TG_STR("ab"), TG_STR("abc")));
    CU_ASSERT(tg_str_eq(tg_str("a\0b", 3), TG_STR("a\0b")));
    CU_ASSERT(TG_STR("").data != NULL);
}

HELP_TEST(libc, "libc allocator")
{
    const tg_alloc_t *alloc;
    char *p;

    alloc = tg_alloc_libc();
    p = tg_calloc(alloc, 100);
    CU_ASSERT_FATAL(p != NULL);
    CU_ASSERT(p[0] == 0 && p[99] == 0);
    p[99] = 'x';
    p = alloc->resize(alloc->ctx, p, 100000);
    CU_ASSERT_FATAL(p != NULL);
    CU_ASSERT(p[99] == 'x');
    tg_free(alloc, p);
    tg_free(alloc, NULL);
}

HELP_TEST(printf, "printf")
{
    help_alloc_t help;
    char room[5];
    tg_buf_t buf;

    help_alloc_init(&help);
    tg_buf_init(&buf, &help.alloc);
    tg_buf_printf(&buf, "%s %d", "a", -1);
    tg_buf_printf(&buf, "%0600u", 7u);
    CU_ASSERT_EQUAL(buf.len, 604);
    CU_ASSERT(memcmp(buf.data, "a -1000", 7) == 0);
    CU_ASSERT(buf.data[603] == '7' && !tg_buf_has_failed(&buf));
    tg_buf_deinit(&buf);

    buf = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&buf, "%u", 12345u);
    HELP_EQ(tg_buf_view(&buf), "12345");
    tg_buf_printf(&buf, "%u", 1u);
    CU_ASSERT(tg_buf_has_failed(&buf));
    HELP_EQ(tg_buf_view(&buf), "12345");
    CU_ASSERT_EQUAL(help.live, 0);
}

HELP_TEST(put, "put")
{
    help_alloc_t help;
    tg_buf_t buf;
    size_t i;

    help_alloc_init(&help);
    tg_buf_init(&buf, &help.alloc);
    CU_ASSERT(tg_buf_view(&buf).data != NULL && tg_buf_view(&buf).len == 0);
    tg_buf_append(&buf, NULL, 0);
    tg_buf_append_str(&buf, TG_STR_NONE);
    CU_ASSERT(help.count == 0);

    for (i = 0; i < 5000; i++) {
        tg_buf_append_char(&buf, (char) ('a' + i % 26));
    }

    tg_buf_append_cstr(&buf, "text");
    tg_buf_append_str(&buf, TG_STR("\0str"));
    CU_ASSERT(buf.len == 5008);
    CU_ASSERT(buf.data[4999] == 'a' + 4999 % 26);
    CU_ASSERT(memcmp(buf.data + 5000, "text\0str", 8) == 0);
    CU_ASSERT(help.count < 8);
    tg_buf_deinit(&buf);
    CU_ASSERT(help.live == 0);
}

HELP_TEST(numbers, "numbers")
{
    static const struct {
        int64_t value;
        const char *text;
    } ints[] = {
        { 0, "0" },
        { -1, "-1" },
        { 10, "10" },
        { INT64_MAX, "9223372036854775807" },
        { INT64_MIN, "-9223372036854775808" },
    };
    HELP_BUFFER(buf);

    HELP_EACH(row, ints) {
        tg_buf_truncate(&buf, 0);
        tg_buf_append_int(&buf, row->value);
        HELP_EQ(tg_buf_view(&buf), row->text);
    }

    tg_buf_truncate(&buf, 0);
    tg_buf_append_uint(&buf, UINT64_MAX);
    HELP_EQ(tg_buf_view(&buf), "18446744073709551615");
}

HELP_TEST(failure_is_sticky, "failure is sticky")
{
    help_alloc_t help;
    tg_buf_t buf;

    help_alloc_init(&help);
    tg_buf_init(&buf, &help.alloc);
    tg_buf_append_cstr(&buf, "before");
    help.fail_at = help.count + 1;
    CU_ASSERT(tg_buf_reserve(&buf, 100000) == TG_NOMEM);
    CU_ASSERT(tg_buf_has_failed(&buf));

    /* The buffer stays failed although the allocator would succeed again. */
    tg_buf_append_cstr(&buf, "more");
    CU_ASSERT(tg_buf_reserve(&buf, 1) == TG_NOMEM);
    HELP_EQ(tg_buf_view(&buf), "before");

    tg_buf_truncate(&buf, 2);
    CU_ASSERT(!tg_buf_has_failed(&buf));
    tg_buf_append_cstr(&buf, "st");
    HELP_EQ(tg_buf_view(&buf), "best");
    tg_buf_deinit(&buf);
    CU_ASSERT(help.live == 0);
}

HELP_TEST(huge, "huge sizes")
{
    HELP_BUFFER(buf);

    tg_buf_append_cstr(&buf, "x");
    CU_ASSERT(tg_buf_reserve(&buf, SIZE_MAX) == TG_NOMEM);
    CU_ASSERT(tg_buf_has_failed(&buf));
    HELP_EQ(tg_buf_view(&buf), "x");
}

HELP_TEST(drop_and_reset, "drop and reset")
{
    help_alloc_t help;
    tg_buf_t buf;

    help_alloc_init(&help);
    tg_buf_init(&buf, &help.alloc);
    tg_buf_consume(&buf, 0);
    tg_buf_append_cstr(&buf, "abcdef");
    tg_buf_consume(&buf, 2);
    HELP_EQ(tg_buf_view(&buf), "cdef");
    tg_buf_consume(&buf, 4);
    HELP_EQ(tg_buf_view(&buf), "");

    tg_buf_append_cstr(&buf, "xy");
    tg_buf_reset(&buf, 1 << 20);
    CU_ASSERT(buf.len == 0 && buf.cap != 0 && help.live == 1);
    tg_buf_append_cstr(&buf, "xy");
    tg_buf_reset(&buf, 16);
    CU_ASSERT(buf.len == 0 && buf.cap == 0 && help.live == 0);
    tg_buf_append_cstr(&buf, "again");
    HELP_EQ(tg_buf_view(&buf), "again");
    tg_buf_deinit(&buf);
    CU_ASSERT(help.live == 0);
}

HELP_TEST(time, "time")
{
    static const struct {
        uint64_t ms;
        const char *text;
    } times[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 951782399999, "2000-02-28T23:59:59.999Z" },
        { 951782400000, "2000-02-29T00:00:00.000Z" },
        { 951868800007, "2000-03-01T00:00:00.007Z" },
        { 1709164800000, "2024-02-29T00:00:00.000Z" },
        { 1735689599999, "2024-12-31T23:59:59.999Z" },
        { 1735689600000, "2025-01-01T00:00:00.000Z" },
        { 1795228203978, "2026-11-21T02:30:03.978Z" },
        { 4107542400000, "2100-03-01T00:00:00.000Z" },
        { 253402300799999, "9999-12-31T23:59:59.999Z" },
    };
    char room[24];
    tg_buf_t buf;
    size_t i;

    for (i = 0; i < HELP_COUNT(times); i++) {
        buf = tg_buf_make_fixed(room, sizeof(room));
        tg_buf_append_time(&buf, times[i].ms);
        CU_ASSERT(!tg_buf_has_failed(&buf));
        HELP_EQ(tg_buf_view(&buf), times[i].text);
    }

    /* A fixed buffer never grows. */
    tg_buf_append_char(&buf, 'x');
    CU_ASSERT(tg_buf_has_failed(&buf));
    HELP_EQ(tg_buf_view(&buf), times[i - 1].text);
}
