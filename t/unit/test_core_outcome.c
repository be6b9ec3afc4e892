/*
 * What becomes of a handler's output.
 */
#include "core_help.h"

#include "core/tg_outcome.h"

#define TEST_COUNT(table) (sizeof(table) / sizeof(table[0]))

static const tg_entry_t test_text = { .kind = TG_ENTRY_TOOL,
                                      .output = TG_OUTPUT_TEXT };
static const tg_entry_t test_json = { .kind = TG_ENTRY_TOOL,
                                      .output = TG_OUTPUT_JSON };
static const tg_entry_t test_result = { .kind = TG_ENTRY_TOOL,
                                        .output = TG_OUTPUT_RESULT };
static const tg_entry_t test_method = { .kind = TG_ENTRY_METHOD,
                                        .output = TG_OUTPUT_RESULT };

static void
test_is(tg_outcome_t outcome, tg_outcome_kind_t kind, const char *value)
{
    CU_ASSERT(outcome.kind == kind);
    CU_ASSERT(outcome.failure == TG_FAILURE_NONE);
    HELP_EQ(outcome.value, value);
}

static void
test_fails(tg_outcome_t outcome, const char *word)
{
    CU_ASSERT(outcome.kind == TG_OUTCOME_FAILURE);
    CU_ASSERT(outcome.failure == TG_FAILURE_OUTPUT);
    CU_ASSERT(strstr(help_text(outcome.value), word) != NULL);
}

HELP_TEST(makers, "makers")
{
    tg_outcome_t outcome;

    test_is(tg_outcome_text(TG_STR("x")), TG_OUTCOME_TEXT, "x");
    outcome = tg_outcome_failure(TG_FAILURE_BUSY, "later");
    CU_ASSERT(outcome.kind == TG_OUTCOME_FAILURE);
    CU_ASSERT(outcome.failure == TG_FAILURE_BUSY);
    HELP_EQ(outcome.value, "later");
}

HELP_TEST(texts, "texts")
{
    test_is(tg_outcome_output(&test_text, TG_STR("")), TG_OUTCOME_TEXT, "");
    test_is(tg_outcome_output(&test_text, TG_STR_NONE), TG_OUTCOME_TEXT, "");
    test_is(tg_outcome_output(&test_text, TG_STR(" a\n\"\n")), TG_OUTCOME_TEXT,
            " a\n\"\n");
    test_fails(tg_outcome_output(&test_text, TG_STR("a\xff")), "UTF-8");
    test_fails(tg_outcome_output(&test_text, TG_STR("\xed\xa0\x80")), "base64");
}

HELP_TEST(values, "values")
{
    static const char *const bad[] = { "",    " ",          "x",       "{",
                                       "1 2", "{\"a\":1}}", "\"\xff\"" };
    size_t i;

    test_is(tg_outcome_output(&test_json, TG_STR(" \n{\"a\": 1}\r\n\t")),
            TG_OUTCOME_JSON, "{\"a\": 1}");
    test_is(tg_outcome_output(&test_json, TG_STR("null")), TG_OUTCOME_JSON,
            "null");

    for (i = 0; i < TEST_COUNT(bad); i++) {
        test_fails(tg_outcome_output(&test_json, tg_str_c(bad[i])),
                   "not one valid JSON value");
        test_fails(tg_outcome_output(&test_result, tg_str_c(bad[i])),
                   "not one valid JSON value");
    }
}

/* Within a reply it must not nest deeper than the receiver reads. */
HELP_TEST(depth, "depth")
{
    char text[2 * TG_JSON_DEPTH];
    size_t n;

    for (n = 120; n <= TG_JSON_DEPTH; n++) {
        memset(text, '[', n);
        memset(text + n, ']', n);

        if (n <= TG_JSON_DEPTH - 3) {
            CU_ASSERT(tg_outcome_output(&test_json, tg_str(text, 2 * n)).failure
                      == TG_FAILURE_NONE);
        } else {
            test_fails(tg_outcome_output(&test_json, tg_str(text, 2 * n)),
                       "nests deeper");
        }
    }
}

HELP_TEST(results, "results")
{
    /* clang-format off */
    static const char *const good[] = {
        "{\"content\":[]}",
        "{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}",
        "{\"content\":[{\"type\":\"image\",\"data\":\"AA==\","
        "\"mimeType\":\"image/png\"},{\"type\":\"audio\",\"data\":\"\","
        "\"mimeType\":\"audio/wav\"}],\"isError\":true}",
        "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///a\","
        "\"name\":\"a\"},{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
        "\"text\":\"\"}}],\"structuredContent\":{},\"isError\":false}",
        "{\"x\":1,\"content\":[{\"\\u0074ype\":\"te\\u0078t\",\"text\":\"\"}]}",
    };
    static const struct {
        const char *raw;
        const char *word;
    } bad[] = {
        { "[]", "no object" },
        { "{}", "array \"content\"" },
        { "{\"content\":{}}", "array \"content\"" },
        { "{\"content\":[1]}", "\"type\"" },
        { "{\"content\":[{}]}", "\"type\"" },
        { "{\"content\":[{\"type\":\"video\"}]}", "none of" },
        { "{\"content\":[{\"type\":1}]}", "none of" },
        { "{\"content\":[{\"type\":\"text\"}]}", "string \"text\"" },
        { "{\"content\":[{\"type\":\"text\",\"text\":1}]}", "string \"text\"" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"\"},"
          "{\"type\":\"image\",\"data\":\"\"}]}", "\"mimeType\"" },
        { "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"\"}]}",
          "\"data\"" },
        { "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"\"}]}",
          "\"name\"" },
        { "{\"content\":[{\"type\":\"resource\",\"resource\":1}]}",
          "\"resource\"" },
        { "{\"content\":[{\"type\":\"resource\",\"resource\":{}}]}",
          "\"uri\"" },
        { "{\"content\":[],\"isError\":0}", "\"isError\"" },
        { "{\"content\":[],\"structuredContent\":[]}",
          "\"structuredContent\"" },
    };
    /* clang-format on */
    size_t i;

    for (i = 0; i < TEST_COUNT(good); i++) {
        test_is(tg_outcome_output(&test_result, tg_str_c(good[i])),
                TG_OUTCOME_RESULT, good[i]);
        CU_ASSERT(tg_result_check(tg_str_c(good[i])) == NULL);
    }

    for (i = 0; i < TEST_COUNT(bad); i++) {
        test_fails(tg_outcome_output(&test_result, tg_str_c(bad[i].raw)),
                   bad[i].word);
        test_fails(tg_outcome_output(&test_result, tg_str_c(bad[i].raw)),
                   "The output is no tool result");
    }

    /* A method's result is its own business. */
    test_is(tg_outcome_output(&test_method, TG_STR("[1]")), TG_OUTCOME_RESULT,
            "[1]");
}

HELP_TEST(bodies, "bodies")
{
    tg_buf_t scratch;

    tg_buf_init(&scratch, tg_alloc_libc());
    test_is(tg_outcome_body(&test_text, TG_STR("a\\nb"), &scratch),
            TG_OUTCOME_BODY, "a\\nb");
    CU_ASSERT(scratch.len == 0);
    test_is(tg_outcome_body(&test_json, TG_STR("{\\\"a\\\":\\\"\\\\n\\\"}\\n"),
                            &scratch),
            TG_OUTCOME_JSON, "{\"a\":\"\\n\"}");
    tg_buf_truncate(&scratch, 0);
    test_fails(tg_outcome_body(&test_json, TG_STR("{\\u0000}"), &scratch),
               "JSON");
    tg_buf_truncate(&scratch, 0);
    test_fails(tg_outcome_body(&test_json, TG_STR(""), &scratch), "JSON");
    tg_buf_deinit(&scratch);
}

static void
test_run_body(const tg_alloc_t *alloc, int may_fail)
{
    tg_outcome_t outcome;
    tg_buf_t scratch;

    tg_buf_init(&scratch, alloc);
    outcome = tg_outcome_body(&test_json, TG_STR("[1]"), &scratch);
    CU_ASSERT(outcome.failure
              == (may_fail ? TG_FAILURE_INTERNAL : TG_FAILURE_NONE));
    tg_buf_deinit(&scratch);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run_body);
}
