/* Server-sent events, fed whole, byte by byte and split at each offset. */
#include "protocol_help.h"

#include "protocol/tg_sse.h"

#define TEST_MAX 32

/* Writes "TYPE|DATA|" for each event, "!" if it is too large; then the rest. */
static void
test_feed(tg_sse_t *sse, tg_str_t text, tg_buf_t *log)
{
    tg_sse_event_t event;
    size_t at, part;
    char *copy;
    int rc;

    copy = help_copy(text);

    for (at = 0;
         (rc = tg_sse_next(sse, copy + at, text.len - at, &part, &event))
         == TG_OK;
         at += part)
    {
        tg_buf_append_str(log, event.type);
        tg_buf_append_char(log, '|');
        tg_buf_append_str(log, event.data);
        tg_buf_append_char(log, '|');
    }

    tg_buf_append_cstr(log, rc == TG_AGAIN ? "" : "!");
    free(copy);
}

static void
test_end(tg_sse_t *sse, tg_buf_t *log, const char *expected)
{
    tg_buf_printf(log, "%llu ", (unsigned long long) sse->retry);
    tg_buf_append_str(log, tg_sse_last_id(sse));
    HELP_EQ(tg_buf_view(log), expected);
    tg_sse_deinit(sse);
    tg_buf_deinit(log);
}

static void
test_begin(tg_sse_t *sse, tg_buf_t *log)
{
    tg_sse_init(sse, tg_alloc_libc(), TEST_MAX);
    tg_buf_init(log, tg_alloc_libc());
}

static void
test_stream(tg_str_t text, const char *expected)
{
    tg_buf_t log;
    tg_sse_t sse;
    size_t i;

    test_begin(&sse, &log);
    test_feed(&sse, text, &log);
    test_end(&sse, &log, expected);

    for (i = 1; i < text.len; i++) {
        test_begin(&sse, &log);
        test_feed(&sse, tg_str(text.data, i), &log);

        if (log.len == 0 || log.data[log.len - 1] != '!') {
            test_feed(&sse, tg_str(text.data + i, text.len - i), &log);
        }

        test_end(&sse, &log, expected);
    }

    test_begin(&sse, &log);

    for (i = 0; i < text.len && (log.len == 0 || log.data[log.len - 1] != '!');
         i++) {
        test_feed(&sse, tg_str(text.data + i, 1), &log);
    }

    test_end(&sse, &log, expected);
}

HELP_TEST(events, "events of a stream")
{
    static const struct {
        const char *text;
        const char *expected; /* events, retry, last id */
    } rows[] = {
        { "", "0 " },
        { "data: a\n\n", "|a|0 " },
        { "data:a\n\n", "|a|0 " },
        { "data:  a \n\n", "| a |0 " },
        { "data: a\r\n\r\n", "|a|0 " },
        { "data: a\r\rdata: b\r\r", "|a||b|0 " },
        { "data: a\r\n\ndata: b\n\r\n", "|a||b|0 " },
        { "data: a\ndata: b\n\n", "|a\nb|0 " },
        { "data\n\n", "||0 " },
        { "data\ndata\n\n", "|\n|0 " },
        { "data: \n\n", "||0 " },
        { "data: a\n", "0 " },
        { "data: a", "0 " },
        { ": hello\n\n:\n\ndata: a\n\n", "|a|0 " },
        { "event: x\ndata: a\n\ndata: b\n\n", "x|a||b|0 " },
        { "event: x\n\ndata: b\n\n", "|b|0 " },
        { "id: 7\ndata: a\n\n", "|a|0 7" },
        { "id: 7\n\n", "0 7" },
        { "id: 7\n", "0 " },
        { "id: 7\n\nid: 8\ndata: a\n", "0 7" },
        { "id: 7\n\nid\n\n", "0 " },
        { "retry: 1500\n", "1500 " },
        { "retry: 15x\nretry:\nretry: -1\n", "0 " },
        { "retry: 99999999999999999999\n", "0 " },
        { "Data: a\n\ndat: b\n\ndatas: c\n\n data: d\n\n", "0 " },
        { "\xef\xbb\xbf"
          "data: a\n\n",
          "|a|0 " },
        { "\xef\xbb"
          "data: a\n\ndata: b\n\n",
          "|b|0 " },
        { "\xef\xbb\xbf\xef\xbb\xbf"
          "data: a\n\n",
          "0 " },
        { "data: 12345678901234567890123456789012\n\n",
          "|12345678901234567890123456789012|0 " },
        { "data: 123456789012345678901234567890123\n\n", "!0 " },
        { "data: 12345678901234567890123456789012\ndata\n\n", "!0 " },
    };

    HELP_EACH(row, rows) {
        test_stream(tg_str_from_cstr(row->text), row->expected);
    }

    test_stream(TG_STR("id: 7\n\nid: a\0b\ndata: a\n\n"), "|a|0 7");
}

HELP_TEST(values, "too long values are ignored")
{
    char text[TG_SSE_VALUE_MAX + 64];
    tg_buf_t log;
    tg_sse_t sse;
    int more;

    for (more = 0; more < 2; more++) {
        test_begin(&sse, &log);
        memset(text, 'x', sizeof(text));
        memcpy(text, "id: 1\n\nid: ", 11);
        strcpy(text + 11 + TG_SSE_VALUE_MAX + more, "\ndata: a\n\n");
        test_feed(&sse, tg_str_from_cstr(text), &log);
        HELP_EQ(tg_buf_view(&log), "|a|");
        CU_ASSERT_EQUAL(tg_sse_last_id(&sse).len,
                        more == 0 ? TG_SSE_VALUE_MAX : 0);
        tg_sse_deinit(&sse);
        tg_buf_deinit(&log);
    }
}

HELP_TEST(resumed, "a stream resumes after its last event")
{
    tg_buf_t log;
    tg_sse_t sse;

    test_begin(&sse, &log);
    test_feed(&sse, TG_STR("retry: 5\nid: 1\ndata: a\n\nid: 2\ndata: b\r"),
              &log);
    tg_sse_restart(&sse);
    HELP_EQ(tg_sse_last_id(&sse), "1");
    test_feed(&sse, TG_STR("\ndata: c\n\n"), &log);
    test_end(&sse, &log, "|a||c|5 1");
}

static void
test_starved(const tg_alloc_t *alloc, int may_fail)
{
    static const char text[] = "data: abc\n\ndata: def\n\n";
    tg_sse_event_t event;
    size_t at, part;
    tg_sse_t sse;
    int rc;

    tg_sse_init(&sse, alloc, TEST_MAX);

    for (at = 0; (rc = tg_sse_next(&sse, text + at, sizeof(text) - 1 - at,
                                   &part, &event))
                 == TG_OK;
         at += part)
    {
        CU_ASSERT_EQUAL(event.data.len, 3);
    }

    CU_ASSERT(rc == TG_AGAIN || (may_fail && rc == TG_NOMEM));
    tg_sse_deinit(&sse);
}

HELP_TEST(memory, "memory that ends")
{
    help_each_failure(test_starved);
}
