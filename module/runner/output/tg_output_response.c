/* Writes the response of a job with a large output, step by step. */
#include "runner/output/tg_output_response.h"

#include "base/tg_utf8.h"

void
tg_output_response_begin(tg_output_response_t *answer,
                         const tg_job_params_t *params,
                         const tg_output_store_params_t *spec,
                         size_t max_output, const tg_run_stats_t *stats)
{
    memset(answer, 0, sizeof(*answer));
    answer->params = params;
    answer->spec = spec;
    answer->max_output = max_output;
    answer->stats = *stats;
    tg_buf_init(&answer->text, tg_alloc_libc());
    tg_buf_init(&answer->stored, tg_alloc_libc());
    tg_result_splitter_init(&answer->result);
    tg_buf_init(&answer->writer.json, tg_alloc_libc());
    tg_buf_init(&answer->writer.text, tg_alloc_libc());
}

static void
tg_output_response_on_outcome(tg_output_response_t *answer)
{
    answer->state = TG_OUTPUT_RESPONSE_STORING;

    if (answer->outcome.kind == TG_OUTCOME_RESULT && answer->spec != NULL
        && tg_outcome_is_large_output(&answer->outcome, answer->spec,
                                      answer->max_output))
    {
        answer->state = TG_OUTPUT_RESPONSE_SPLITTING;
        tg_result_splitter_begin(&answer->result, answer->outcome.value);
    }
}

void
tg_output_response_set_outcome(tg_output_response_t *answer,
                               const tg_outcome_t *outcome)
{
    answer->outcome = *outcome;
    tg_output_response_on_outcome(answer);
}

void
tg_output_response_set_output(tg_output_response_t *answer, tg_str_t out,
                              tg_output_type_t form, int is_stored)
{
    tg_outcome_t outcome;

    if (form == TG_OUTPUT_BASE64
        || (form == TG_OUTPUT_CONTENT && !tg_utf8_is_valid(out)))
    {
        answer->state = TG_OUTPUT_RESPONSE_ENCODING;
        answer->out = out;

    } else if (form == TG_OUTPUT_CONTENT) {
        outcome = tg_outcome_make_text(out);
        tg_output_response_set_outcome(answer, &outcome);

    } else if (form != TG_OUTPUT_RESULT
               || (!is_stored
                   && tg_job_result_is_too_large(out, form, answer->params)))
    {
        outcome = tg_job_result_check_output(out, form, answer->params,
                                             is_stored, &answer->text);
        tg_output_response_set_outcome(answer, &outcome);

    } else if (!answer->is_mcp_server_result
               && !tg_job_result_check_utf8(out, answer->params, &answer->text))
    {
        outcome = tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                              tg_buf_view(&answer->text));
        tg_output_response_set_outcome(answer, &outcome);

    } else {
        answer->state = TG_OUTPUT_RESPONSE_CHECKING;
        answer->out = out;
        tg_tool_result_check_begin(&answer->check, out,
                                   answer->is_mcp_server_result);
    }
}

static void
tg_output_response_encode(tg_output_response_t *answer)
{
    tg_outcome_t outcome;
    size_t len;

    len = answer->out.len < TG_JOB_RESULT_STEP ? answer->out.len
                                               : TG_JOB_RESULT_STEP;

    if (len != 0) {
        tg_base64_encode(&answer->base64, &answer->text, answer->out.data, len);
        answer->out = tg_str_skip(answer->out, len);
    }

    if (answer->out.len == 0) {
        tg_base64_encode_end(&answer->base64, &answer->text);
        outcome = tg_outcome_make(TG_OUTCOME_BLOB, tg_buf_view(&answer->text));
        tg_output_response_set_outcome(answer, &outcome);
    }
}

static void
tg_output_response_check(tg_output_response_t *answer)
{
    if (tg_tool_result_check_step(&answer->check, TG_JOB_RESULT_STEP,
                                  &answer->outcome)
        == TG_AGAIN)
    {
        return;
    }

    if (!answer->is_mcp_server_result) {
        tg_outcome_explain(&answer->outcome,
                           tg_str_from_cstr(answer->params->tool), answer->out,
                           &answer->text);
    }

    tg_output_response_on_outcome(answer);
}

static void
tg_output_response_split_result(tg_output_response_t *answer)
{
    if (tg_result_splitter_step(&answer->result, TG_JOB_RESULT_STEP) == TG_OK) {
        answer->state = TG_OUTPUT_RESPONSE_STORING;
    }
}

static void
tg_output_response_store(tg_output_response_t *answer)
{
    if (answer->spec != NULL
        && tg_outcome_is_large_output(&answer->outcome, answer->spec,
                                      answer->max_output))
    {
        tg_outcome_store_large(&answer->outcome,
                               answer->outcome.kind == TG_OUTCOME_RESULT
                                   ? &answer->result
                                   : NULL,
                               answer->spec, answer->max_output,
                               answer->params->tool, &answer->stored);
    }

    if (answer->meta.data != NULL) {
        answer->outcome.meta = answer->meta;
    }

    tg_job_result_writer_begin(&answer->writer, &answer->outcome,
                               answer->params, &answer->stats);
    answer->writer.json.failed |= tg_buf_has_failed(&answer->text)
                                  | tg_buf_has_failed(&answer->stored);
    answer->state = TG_OUTPUT_RESPONSE_WRITING;
}

int
tg_output_response_step(tg_output_response_t *answer)
{
    switch (answer->state) {
    case TG_OUTPUT_RESPONSE_CHECKING:
        tg_output_response_check(answer);
        return TG_AGAIN;
    case TG_OUTPUT_RESPONSE_ENCODING:
        tg_output_response_encode(answer);
        return TG_AGAIN;
    case TG_OUTPUT_RESPONSE_SPLITTING:
        tg_output_response_split_result(answer);
        return TG_AGAIN;
    case TG_OUTPUT_RESPONSE_STORING:
        tg_output_response_store(answer);
        return TG_AGAIN;
    case TG_OUTPUT_RESPONSE_WRITING:
        if (tg_job_result_writer_step(&answer->writer) == TG_AGAIN) {
            return TG_AGAIN;
        }

        answer->state = TG_OUTPUT_RESPONSE_DONE;
        break;
    case TG_OUTPUT_RESPONSE_DONE:
        break;
    }

    return TG_OK;
}

void
tg_output_response_end(tg_output_response_t *answer)
{
    tg_job_result_writer_end(&answer->writer);
    tg_result_splitter_deinit(&answer->result);
    tg_buf_deinit(&answer->text);
    tg_buf_deinit(&answer->stored);
}

int
tg_output_response_run(tg_output_response_t *answer, tg_job_t *job,
                       tg_sched_source_t *source, size_t size)
{
    if (size > TG_JOB_LARGE_RESPONSE && !tg_job_acquire_writer(job, source)) {
        return 0;
    }

    while (tg_output_response_step(answer) == TG_AGAIN) {
        if (tg_sched_is_slice_over(&job->jobs->sched.sched, source,
                                   TG_JOB_RESULT_STEP)) {
            return 0;
        }
    }

    return 1;
}
