/*
 * Checks the progress that a program reports: it is the same however it is
 * cut, and its numbers rise.
 *
 * Input: cut; the program's output.
 */
#include "help.h"

#include "base/tg_json.h"
#include "base/tg_number.h"
#include "runner/exec/tg_exec_output.h"
#include "runner/jobs/tg_progress.h"

static const tg_job_params_t params = { .tool = (char[]){ "tool" } };

static void
progress_take(tg_progress_t *progress, tg_buf_t *json)
{
    tg_buf_truncate(json, 0);
    tg_buf_append_char(json, '{');
    tg_progress_take_members(progress, json);
    tg_buf_append_char(json, '}');
    FUZZ(tg_json_validate(tg_buf_view(json), NULL) == TG_OK);
    FUZZ_LINE(tg_buf_view(json));
}

/* Checks that a is above b. Both are objects with progress; b may be empty. */
static void
progress_rises(tg_str_t a, tg_str_t b)
{
    tg_number_t now, before;
    tg_str_t raw;

    FUZZ(tg_json_get_member(a, TG_STR("progress"), &raw) == TG_OK);
    FUZZ(tg_number_parse(raw, &now) == TG_OK);

    if (b.len != 0) {
        FUZZ(tg_json_get_member(b, TG_STR("progress"), &raw) == TG_OK);
        FUZZ(tg_number_parse(raw, &before) == TG_OK);
        FUZZ(tg_number_compare(&now, &before) > 0);
    }
}

/* Feeds the whole text; with seed 0 at once, keeping the last progress. */
static void
progress_run(uint32_t seed, tg_str_t text, tg_buf_t *last)
{
    tg_progress_t progress;
    HELP_BUFFER(json);
    size_t n;

    tg_progress_init(&progress);

    while (text.len != 0) {
        n = fuzz_piece(&seed, text.len);
        (void) tg_progress_feed(&progress, text.data, n);
        text = tg_str(text.data + n, text.len - n);

        if (seed != 0 && tg_progress_has_update(&progress)) {
            progress_take(&progress, &json);
            progress_rises(tg_buf_view(&json), tg_buf_view(last));
            tg_buf_truncate(last, 0);
            tg_buf_append_str(last, tg_buf_view(&json));
        }
    }

    (void) tg_progress_feed_end(&progress);

    if (tg_progress_has_update(&progress)) {
        progress_take(&progress, &json);
        progress_rises(tg_buf_view(&json), tg_buf_view(last));
        tg_buf_truncate(last, 0);
        tg_buf_append_str(last, tg_buf_view(&json));
    }

    tg_progress_deinit(&progress);
}

/* Checks the result of a program with this output. */
static void
progress_result(uint32_t seed, tg_str_t text)
{
    static const int statuses[] = { 0, 0x100, 9, 0x8b };
    static const tg_run_stats_t times;
    tg_exec_output_t output;
    tg_exec_response_t answer;
    unsigned status;
    size_t n;
    int rc;

    status = seed % 4;
    tg_exec_output_init(&output, (tg_output_type_t) (seed / 4 % 3), 2000);
    rc = TG_OK;

    while (text.len != 0) {
        n = fuzz_piece(&seed, text.len);
        tg_output_tail_append(&output.err, text.data, n);

        if (rc == TG_OK) {
            rc = tg_exec_output_add_stdout(&output, text.data, n);
        }

        text = tg_str(text.data + n, text.len - n);
    }

    FUZZ(rc == TG_OK || rc == TG_LIMIT);
    tg_exec_response_begin(&answer, &output, &params, statuses[status], &times);

    while (tg_output_response_step(&answer.answer) == TG_AGAIN) {
        /* void */
    }

    FUZZ(tg_json_validate(tg_buf_view(&answer.answer.writer.json), NULL)
         == TG_OK);
    tg_output_response_end(&answer.answer);
    tg_exec_output_deinit(&output);
}

FUZZ_TARGET(in)
{
    HELP_BUFFER(whole);
    HELP_BUFFER(cut);
    uint32_t seed;
    tg_str_t text;

    seed = fuzz_byte(&in);
    text = fuzz_rest(&in);
    progress_run(0, text, &whole);
    progress_run(seed + 1, text, &cut);
    FUZZ_EQ(tg_buf_view(&whole), tg_buf_view(&cut));
    progress_result(seed, text);
}
