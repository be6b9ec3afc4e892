/* Filters the values of completion/complete. */
#include "protocol_help.h"

#include "base/tg_json.h"
#include "protocol/tg_peer_impl.h"

static void
test_values(tg_outcome_type_t kind, const char *text, const char *typed,
            const char *expected)
{
    tg_outcome_t outcome;
    HELP_BUFFER(got);

    outcome = tg_outcome_make(kind, tg_str_from_cstr(text));
    tg_buf_append_char(&got, '{');
    tg_completion_write_values(&got, &outcome, tg_str_from_cstr(typed));
    tg_buf_append_char(&got, '}');
    HELP_JSON(tg_buf_view(&got), expected);
}

HELP_TEST(shorten, "a result of another server has at most 100 values")
{
    static const unsigned sizes[] = { 0, 100, 101, 250 };
    HELP_BUFFER(result);
    HELP_BUFFER(expected);
    HELP_BUFFER(got);
    unsigned i;
    int rc;

    HELP_EACH(size, sizes) {
        tg_buf_truncate(&result, 0);
        tg_buf_truncate(&expected, 0);
        tg_buf_truncate(&got, 0);
        tg_buf_append_cstr(&result, "{\"a\":1,\"completion\":{\"total\":9,"
                                    "\"hasMore\":false,\"values\":[");
        tg_buf_append_cstr(&expected, "{\"a\":1,\"completion\":{\"total\":9,"
                                      "\"hasMore\":true,\"values\":[");

        for (i = 0; i < *size; i++) {
            tg_buf_printf(&result, "%s\"v%u\"", i != 0 ? "," : "", i);

            if (i < 100) {
                tg_buf_printf(&expected, "%s\"v%u\"", i != 0 ? "," : "", i);
            }
        }

        tg_buf_append_cstr(&result, "]}}");
        tg_buf_append_cstr(&expected, "]}}");
        rc = tg_completion_shorten_result(&got, tg_buf_view(&result));
        CU_ASSERT(rc == (*size > 100));

        if (rc) {
            tg_buf_append_char(&expected, '\0');
            HELP_JSON(tg_buf_view(&got), expected.data);
        } else {
            CU_ASSERT(got.len == 0);
        }
    }

    CU_ASSERT(!tg_completion_shorten_result(&got, TG_STR("{}")));
    CU_ASSERT(!tg_completion_shorten_result(
        &got, TG_STR("{\"completion\":{\"values\":1}}")));
}

HELP_TEST(filter, "values that begin with the text come first")
{
    static const struct {
        tg_outcome_type_t kind;
        const char *text, *typed, *values;
    } cases[] = {
        { TG_OUTCOME_TEXT, "", "", "[]" },
        { TG_OUTCOME_TEXT, "a\nb\n", "", "[\"a\",\"b\"]" },
        { TG_OUTCOME_TEXT, "a\r\n\n\nb", "", "[\"a\",\"b\"]" },
        { TG_OUTCOME_TEXT, "xab\nb\nABc\n", "ab", "[\"ABc\",\"xab\"]" },
        { TG_OUTCOME_TEXT, "ab\n", "abc", "[]" },
        { TG_OUTCOME_TEXT, "ab\nba\n", "\\u0061", "[\"ab\",\"ba\"]" },
        { TG_OUTCOME_BODY, "a\\\"\\nb", "", "[\"a\\\"\",\"b\"]" },
        { TG_OUTCOME_JSON, "[\"ab\",1,null,\"b\\u0061\"]", "a",
          "[\"ab\",\"ba\"]" },
        { TG_OUTCOME_JSON, "{}", "", "[]" },
    };
    char expected[256];

    HELP_EACH(item, cases) {
        (void) snprintf(
            expected, sizeof(expected),
            "{\"completion\":{\"values\":%s,\"total\":%d,\"hasMore\":false}}",
            item->values,
            strcmp(item->values, "[]") == 0
                ? 0
                : 1 + (strchr(item->values, ',') != NULL));
        test_values(item->kind, item->text, item->typed, expected);
    }
}

/* Returns the number of sent values, and their total, -1 if there is none. */
static int
test_count(int n, int64_t *total, int *has_more)
{
    tg_outcome_t outcome;
    HELP_BUFFER(text);
    HELP_BUFFER(got);
    tg_str_t completion, value;
    tg_json_cursor_t json;
    int i;

    for (i = 0; i < n; i++) {
        tg_buf_printf(&text, "v%d\n", i);
    }

    outcome = tg_outcome_make(TG_OUTCOME_TEXT, tg_buf_view(&text));
    tg_buf_append_char(&got, '{');
    tg_completion_write_values(&got, &outcome, TG_STR("V"));
    tg_buf_append_char(&got, '}');
    CU_ASSERT(
        tg_json_get_member(tg_buf_view(&got), TG_STR("completion"), &completion)
        == TG_OK);
    *total = -1;

    if (tg_json_get_member(completion, TG_STR("total"), &value) == TG_OK) {
        (void) tg_json_parse_int64(value, total);
    }

    (void) tg_json_get_member(completion, TG_STR("hasMore"), &value);
    *has_more = tg_json_type(value) == TG_JSON_TRUE;
    (void) tg_json_get_member(completion, TG_STR("values"), &value);
    i = 0;

    for (tg_json_iter_init(&json, value); tg_json_iter_next(&json, &value);) {
        i++;
    }

    return i;
}

HELP_TEST(bounds, "at most 100 values, with an honest total")
{
    static const struct {
        int n, sent, has_more;
        int64_t total;
    } cases[] = {
        { 0, 0, 0, 0 },         { 100, 100, 0, 100 }, { 101, 100, 1, 101 },
        { 1000, 100, 1, 1000 }, { 1001, 100, 1, -1 }, { 50000, 100, 1, -1 },
    };
    int64_t total;
    int has_more;

    HELP_EACH(item, cases) {
        CU_ASSERT_EQUAL(test_count(item->n, &total, &has_more), item->sent);
        CU_ASSERT_EQUAL(total, item->total);
        CU_ASSERT_EQUAL(has_more, item->has_more);
    }
}

HELP_TEST(long_values, "a value that nobody would type is left out")
{
    char text[1100];

    memset(text, 'a', sizeof(text));
    text[1024] = '\n';
    memcpy(text + 1025, "b", 2);
    CU_ASSERT_EQUAL(strlen(text), 1026);
    memset(text + 1, 'c', 10);
    test_values(TG_OUTCOME_TEXT, text, "b",
                "{\"completion\":{\"values\":[\"b\"],\"total\":1,"
                "\"hasMore\":false}}");
    text[1024] = 'a';
    text[1025] = '\0';
    test_values(TG_OUTCOME_TEXT, text, "",
                "{\"completion\":{\"values\":[],\"total\":0,"
                "\"hasMore\":false}}");
}
