/* Large results in steps: checked, stored and written. */
#include "protocol_help.h"

#include "runner/output/tg_output_response.h"

static tg_job_params_t test_params = { .tool = (char[]){ "t" } };

/* Takes the texts of a result and its other blocks and members, in steps. */
static void
test_taken(const char *raw, size_t bytes, const char *plain, const char *blocks,
           const char *others)
{
    tg_result_splitter_t steps;

    tg_result_splitter_init(&steps);
    tg_result_splitter_begin(&steps, tg_str_from_cstr(raw));

    while (tg_result_splitter_step(&steps, bytes) == TG_AGAIN) { /* void */
    }

    HELP_EQ(tg_buf_view(&steps.plain), plain);
    HELP_EQ(tg_buf_view(&steps.blocks), blocks);
    HELP_EQ(tg_buf_view(&steps.others), others);
    tg_result_splitter_deinit(&steps);
}

HELP_TEST(parts, "stored and kept parts of a result")
{
    static const char *const raw =
        "{\"a\":[1, 2],\"content\":[{\"type\":\"text\",\"text\":\"x\\n\"},"
        "{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"i/p\"},"
        "{\"type\":\"text\",\"text\":\"y\"}],"
        "\"structuredContent\":{\"n\":1},\"isError\":false}";
    size_t bytes;

    for (bytes = 1; bytes < 1000; bytes *= 3) {
        test_taken(raw, bytes, "x\ny\nstructuredContent:\n{\"n\":1}",
                   ",{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"i/p\"}",
                   ",\"a\":[1,2],\"isError\":false");
    }

    /* Text equal to the structured content; a duplicate key. */
    test_taken("{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\": 1}\"}],"
               "\"structuredContent\":{\"n\":1}}",
               1, "{\"n\": 1}", "", "");
    test_taken("{\"content\":[1,{\"type\":\"text\",\"text\":\"x\"}],"
               "\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}",
               1, "y", "", "");
}

HELP_TEST(in_steps, "a result of 100,000 blocks is written in many small steps")
{
    static const char block[] = "{\"type\":\"text\",\"text\":\"\"},";
    tg_output_response_t answer;
    tg_str_t result;
    HELP_BUFFER(raw);
    tg_run_stats_t ran;
    size_t i, n;

    memset(&ran, 0, sizeof(ran));
    tg_buf_append_cstr(&raw, "{\"content\":[");

    for (i = 0; i < 100000; i++) {
        tg_buf_append_cstr(&raw, block);
    }

    tg_buf_append_cstr(&raw, "{\"type\":\"text\",\"text\":\"\"}]}");
    tg_output_response_begin(&answer, &test_params, NULL, SIZE_MAX, &ran);
    tg_output_response_set_output(&answer, tg_buf_view(&raw), TG_OUTPUT_RESULT,
                                  0);

    for (n = 0; tg_output_response_step(&answer) == TG_AGAIN; n++) {
        CU_ASSERT(answer.state != TG_OUTPUT_RESPONSE_CHECKING
                  || tg_json_walk_get_offset(&answer.check.walk)
                         <= (n + 1) * (TG_JOB_RESULT_STEP + sizeof(block)));
    }

    CU_ASSERT(n >= 2 * raw.len / (TG_JOB_RESULT_STEP + sizeof(block)));
    CU_ASSERT(tg_json_get_member(tg_buf_view(&answer.writer.json),
                                 TG_STR("result"), &result)
              == TG_OK);
    CU_ASSERT(tg_str_eq(result, tg_buf_view(&raw)));
    tg_output_response_end(&answer);

    /* The error message quotes the beginning of the result. */
    raw.data[raw.len - 1] = ' ';
    tg_output_response_begin(&answer, &test_params, NULL, SIZE_MAX, &ran);
    tg_output_response_set_output(&answer, tg_buf_view(&raw), TG_OUTPUT_RESULT,
                                  0);

    while (tg_output_response_step(&answer) == TG_AGAIN) { /* void */
    }

    CU_ASSERT(strstr(help_text(tg_buf_view(&answer.writer.json)),
                     "t: The output is not one valid JSON value. It begins: ")
              != NULL);
    tg_output_response_end(&answer);
}
