/* Conversion of a handler's output. */
#include "protocol_help.h"

#include "protocol/tg_outcome.h"

static const tg_catalog_entry_t test_text = { .kind = TG_ENTRY_TOOL,
                                              .output = TG_OUTPUT_TEXT };
static const tg_catalog_entry_t test_json = { .kind = TG_ENTRY_TOOL,
                                              .output = TG_OUTPUT_JSON };
static const tg_catalog_entry_t test_result = { .kind = TG_ENTRY_TOOL,
                                                .output = TG_OUTPUT_RESULT };
static const tg_catalog_entry_t test_method = { .kind = TG_ENTRY_METHOD,
                                                .output = TG_OUTPUT_RESULT };

static void
test_is(tg_outcome_t outcome, tg_outcome_type_t kind, const char *value)
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

    test_is(tg_outcome_make_text(TG_STR("x")), TG_OUTCOME_TEXT, "x");
    outcome = tg_outcome_make_failure(TG_FAILURE_BUSY, "later");
    CU_ASSERT(outcome.kind == TG_OUTCOME_FAILURE);
    CU_ASSERT(outcome.failure == TG_FAILURE_BUSY);
    HELP_EQ(outcome.value, "later");
}

HELP_TEST(texts, "texts")
{
    test_is(tg_outcome_parse_output(&test_text, TG_STR("")), TG_OUTCOME_TEXT,
            "");
    test_is(tg_outcome_parse_output(&test_text, TG_STR_NONE), TG_OUTCOME_TEXT,
            "");
    test_is(tg_outcome_parse_output(&test_text, TG_STR(" a\n\"\n")),
            TG_OUTCOME_TEXT, " a\n\"\n");
    /* Text without escapes is passed on without a copy. */
    test_is(tg_outcome_parse_output(&test_text, TG_STR("na\xc3\xafve")),
            TG_OUTCOME_BODY, "na\xc3\xafve");
    test_fails(tg_outcome_parse_output(&test_text, TG_STR("\"a\xff")), "UTF-8");
    test_fails(tg_outcome_parse_output(&test_text, TG_STR("\xed\xa0\x80")),
               "UTF-8");
}

HELP_TEST(values, "values")
{
    static const char *const invalid[] = { "",    " ",          "x",       "{",
                                           "1 2", "{\"a\":1}}", "\"\xff\"" };

    test_is(tg_outcome_parse_output(&test_json, TG_STR(" \n{\"a\": 1}\r\n\t")),
            TG_OUTCOME_JSON, "{\"a\": 1}");
    test_is(tg_outcome_parse_output(&test_json, TG_STR("null")),
            TG_OUTCOME_JSON, "null");

    HELP_EACH(row, invalid) {
        test_fails(tg_outcome_parse_output(&test_json, tg_str_from_cstr(*row)),
                   "not one valid JSON value");
        test_fails(tg_outcome_parse_output(&test_result,
                                           tg_str_from_cstr(*row)),
                   "not one valid JSON value");
    }
}

/* Within a reply it must not nest deeper than the receiver reads. */
HELP_TEST(depth, "depth")
{
    char text[2 * TG_JSON_MAX_DEPTH];
    size_t n;

    for (n = 120; n <= TG_JSON_MAX_DEPTH; n++) {
        memset(text, '[', n);
        memset(text + n, ']', n);

        if (n <= TG_JSON_MAX_DEPTH - 3) {
            CU_ASSERT(
                tg_outcome_parse_output(&test_json, tg_str(text, 2 * n)).failure
                == TG_FAILURE_NONE);
        } else {
            test_fails(tg_outcome_parse_output(&test_json, tg_str(text, 2 * n)),
                       "nests deeper");
        }
    }
}

/* Checks a result in steps of some bytes and returns their number. */
static size_t
test_steps(const char *raw, size_t bytes, int is_lenient, tg_outcome_t *outcome)
{
    tg_tool_result_check_t check;
    size_t n;

    tg_tool_result_check_begin(&check, tg_str_from_cstr(raw), is_lenient);

    for (n = 1; tg_tool_result_check_step(&check, bytes, outcome) == TG_AGAIN;
         n++) {
        /* void */
    }

    return n;
}

HELP_TEST(results, "results")
{
    /* clang-format off */
    static const char *const valid[] = {
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
        const char *raw, *word;
    } invalid[] = {
        { "[]", "not an object" },
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
    tg_outcome_t outcome;

    HELP_EACH(row, valid) {
        test_is(tg_outcome_parse_output(&test_result, tg_str_from_cstr(*row)),
                TG_OUTCOME_RESULT, *row);
        (void) test_steps(*row, 1, 0, &outcome);
        test_is(outcome, TG_OUTCOME_RESULT, *row);
    }

    HELP_EACH(row, invalid) {
        test_fails(tg_outcome_parse_output(&test_result,
                                           tg_str_from_cstr(row->raw)),
                   row->word);
        test_fails(tg_outcome_parse_output(&test_result,
                                           tg_str_from_cstr(row->raw)),
                   "The output is not a tool result");
        (void) test_steps(row->raw, 1, 0, &outcome);
        test_fails(outcome, row->word);
    }

    /* A method's result may be anything. */
    test_is(tg_outcome_parse_output(&test_method, TG_STR("[1]")),
            TG_OUTCOME_RESULT, "[1]");
}

HELP_TEST(result_steps, "a large result is checked in steps")
{
    static const char block[] = "{\"type\":\"text\",\"text\":\"\"},";
    tg_outcome_t outcome;
    tg_buf_t raw = HELP_BUF;
    size_t i;

    tg_buf_append_cstr(&raw, " {\"content\":[");

    for (i = 0; i < 1000; i++) {
        tg_buf_append_cstr(&raw, block);
    }

    tg_buf_append(&raw, "1]}\n", 5);
    CU_ASSERT(test_steps(raw.data, 1, 0, &outcome) >= 1000);
    test_fails(outcome, "\"type\"");
    CU_ASSERT(test_steps(raw.data, 10 * sizeof(block), 0, &outcome) >= 90);
    test_fails(outcome, "\"type\"");

    /* An MCP server's client checks the blocks. */
    (void) test_steps(raw.data, 1, 1, &outcome);
    CU_ASSERT(outcome.kind == TG_OUTCOME_RESULT);

    /* An error in the JSON takes precedence over one in its content. */
    raw.data[raw.len - 3] = ']';
    (void) test_steps(raw.data, 1, 0, &outcome);
    test_fails(outcome, "not one valid JSON value");
    tg_buf_deinit(&raw);

    /* The last of duplicate keys counts. */
    (void) test_steps("{\"content\":[1],\"content\":[]}", 1, 0, &outcome);
    CU_ASSERT(outcome.kind == TG_OUTCOME_RESULT);
    (void) test_steps("{\"content\":[],\"content\":1}", 1, 0, &outcome);
    test_fails(outcome, "array \"content\"");
}

HELP_TEST(loose_results, "results of MCP servers")
{
    tg_outcome_t outcome;

    (void) test_steps("{\"content\":[1],\"isError\":3}", 1, 1, &outcome);
    CU_ASSERT(outcome.kind == TG_OUTCOME_RESULT);
    (void) test_steps("{\"resultType\":\"input_required\"}", 1, 1, &outcome);
    CU_ASSERT(outcome.kind == TG_OUTCOME_RESULT);
    (void) test_steps("{\"resultType\":\"complete\"}", 1, 1, &outcome);
    test_fails(outcome, "The MCP server's result");
    (void) test_steps("[]", 1, 1, &outcome);
    test_fails(outcome, "The MCP server's result");
}

/* As another process reports it, with times after it. */
static void
test_passes(tg_outcome_t outcome, const char *json)
{
    HELP_BUFFER(text);
    HELP_BUFFER(scratch);
    tg_outcome_t read;
    tg_run_stats_t ran;

    memset(&ran, 0, sizeof(ran));
    tg_outcome_write_json(&text, &outcome);
    HELP_EQ(tg_buf_view(&text), json);
    tg_buf_append_cstr(&text, ",\"queued_ms\":7}");
    read = tg_outcome_parse_json(tg_buf_view(&text), &scratch, &ran);
    CU_ASSERT(ran.queued_ms == 7);
    CU_ASSERT(read.failure == outcome.failure);

    if (outcome.kind == TG_OUTCOME_TEXT) {
        CU_ASSERT(read.kind == TG_OUTCOME_BODY);
        tg_json_append_unescaped(&scratch, read.value);
        read.value = tg_buf_view(&scratch);
    } else {
        CU_ASSERT(read.kind == outcome.kind);
    }

    HELP_EQ(read.value, help_text(outcome.value));
}

HELP_TEST(passed_on, "passed on")
{
    tg_outcome_t outcome;

    test_passes(tg_outcome_make_text(TG_STR("a\n\"")),
                "{\"text\":\"a\\n\\\"\"");
    outcome = tg_outcome_make_text(TG_STR("a\\n"));
    outcome.kind = TG_OUTCOME_BODY;
    test_passes(outcome, "{\"text\":\"a\\n\"");
    test_passes(tg_outcome_make(TG_OUTCOME_JSON, TG_STR("[1,\n\"x\"]")),
                "{\"json\":[1,\n\"x\"]");
    outcome.kind = TG_OUTCOME_RESULT;
    outcome.value = TG_STR("{\"content\":[]}");
    test_passes(outcome, "{\"result\":{\"content\":[]}");
    test_passes(tg_outcome_make_failure(TG_FAILURE_TIMEOUT, "too \"late\""),
                "{\"failure\":\"timeout\",\"message\":\"too \\\"late\\\"\"");
    test_passes(tg_outcome_make_failure(TG_FAILURE_INTERNAL, ""),
                "{\"failure\":\"internal\",\"message\":\"\"");
}

/* Run statistics are passed on; unknown ones are left out. */
static void
test_stats_json(tg_run_stats_t ran, const char *json)
{
    HELP_BUFFER(text);
    HELP_BUFFER(scratch);
    tg_run_stats_t read;

    tg_buf_append_cstr(&text, "{\"text\":\"\"");
    tg_run_stats_write_json(&text, &ran);
    tg_buf_append_char(&text, '}');
    HELP_EQ(tg_buf_view(&text), json);

    memset(&read, 0, sizeof(read));
    read.queued_ms = -1;
    read.ran_ms = -1;
    (void) tg_outcome_parse_json(tg_buf_view(&text), &scratch, &read);
    CU_ASSERT(read.queued_ms == ran.queued_ms && read.ran_ms == ran.ran_ms);
    CU_ASSERT(read.has_exited == ran.has_exited && read.exit == ran.exit);
    CU_ASSERT(read.signal == ran.signal);
    CU_ASSERT(tg_str_eq(read.rule, ran.rule));
}

HELP_TEST(run_stats, "run statistics")
{
    tg_run_stats_t ran;

    memset(&ran, 0, sizeof(ran));
    ran.ran_ms = 12;
    test_stats_json(ran, "{\"text\":\"\",\"queued_ms\":0,\"ran_ms\":12}");
    ran.has_exited = 1;
    ran.exit = 3;
    test_stats_json(ran,
                    "{\"text\":\"\",\"queued_ms\":0,\"ran_ms\":12,\"exit\":3}");
    ran.has_exited = 0;
    ran.exit = 0;
    ran.signal = 9;
    ran.queued_ms = -1;
    ran.rule = TG_STR("max_output");
    test_stats_json(ran, "{\"text\":\"\",\"ran_ms\":12,\"signal\":9,"
                         "\"rule\":\"max_output\"}");
    ran.ran_ms = -1;
    ran.signal = 0;
    ran.rule = TG_STR_NONE;
    test_stats_json(ran, "{\"text\":\"\"}");
}

/* An unknown outcome is an internal error and no crash. */
HELP_TEST(not_understood, "unknown outcomes")
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"failure\":\"nope\"}",
        "{\"failure\":1,\"message\":2}",
        "{\"queued_ms\":\"x\"}",
        "{\"status\":\"exited\",\"code\":0,\"stdout\":\"x\"}",
    };
    tg_outcome_t outcome;
    tg_buf_t scratch;
    tg_run_stats_t ran;

    HELP_EACH(text, texts) {
        memset(&ran, 0, sizeof(ran));
        ran.queued_ms = -1;
        tg_buf_init(&scratch, tg_alloc_libc());
        outcome = tg_outcome_parse_json(tg_str_from_cstr(*text), &scratch,
                                        &ran);
        CU_ASSERT(outcome.kind == TG_OUTCOME_FAILURE);
        CU_ASSERT(outcome.failure == TG_FAILURE_INTERNAL);
        CU_ASSERT(outcome.value.len == 0);
        CU_ASSERT(ran.queued_ms == -1 && !ran.has_exited);
        tg_buf_deinit(&scratch);
    }
}

static void
test_run_get(const tg_alloc_t *alloc, int may_fail)
{
    tg_outcome_t outcome;
    tg_buf_t scratch;
    tg_run_stats_t ran;

    memset(&ran, 0, sizeof(ran));
    tg_buf_init(&scratch, alloc);
    outcome = tg_outcome_parse_json(
        TG_STR("{\"failure\":\"busy\",\"message\":\"m\"}"), &scratch, &ran);
    CU_ASSERT(outcome.failure
              == (may_fail ? TG_FAILURE_INTERNAL : TG_FAILURE_BUSY));
    tg_buf_deinit(&scratch);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run_get);
}

HELP_TEST(kinds, "whole results of prompts and resources")
{
    static const char prompt[] = "{\"messages\":[]}";
    static const char contents[] = "{\"contents\":[]}";
    static const char input[] = "{\"resultType\":\"input_required\"}";
    tg_catalog_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    entry.output = TG_OUTPUT_RESULT;
    entry.kind = TG_ENTRY_PROMPT;
    test_is(tg_outcome_parse_output(&entry, TG_STR(prompt)), TG_OUTCOME_RESULT,
            prompt);
    test_is(tg_outcome_parse_output(&entry, TG_STR(input)), TG_OUTCOME_RESULT,
            input);
    test_fails(tg_outcome_parse_output(&entry, TG_STR(contents)), "messages");
    test_fails(tg_outcome_parse_output(&entry, TG_STR("[]")), "messages");
    test_fails(tg_outcome_parse_output(&entry, TG_STR("{")), "JSON");
    entry.kind = TG_ENTRY_RESOURCE;
    test_is(tg_outcome_parse_output(&entry, TG_STR(contents)),
            TG_OUTCOME_RESULT, contents);
    test_fails(tg_outcome_parse_output(&entry, TG_STR(prompt)), "contents");
    entry.kind = TG_ENTRY_TEMPLATE;
    test_fails(tg_outcome_parse_output(&entry, TG_STR("{\"contents\":{}}")),
               "contents");
}
