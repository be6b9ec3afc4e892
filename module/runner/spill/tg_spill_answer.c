#include "runner/spill/tg_spill_answer.h"

void
tg_spill_answer_begin(tg_spill_answer_t *answer, const tg_job_params_t *params,
                      const tg_spill_spec_t *spec, size_t max_output,
                      const tg_ran_t *ran)
{
    memset(answer, 0, sizeof(*answer));
    answer->params = params;
    answer->spec = spec;
    answer->max_output = max_output;
    answer->ran = *ran;
    tg_buf_init(&answer->text, tg_alloc_libc());
    tg_buf_init(&answer->stored, tg_alloc_libc());
    tg_spill_result_init(&answer->result);
    tg_buf_init(&answer->writer.json, tg_alloc_libc());
    tg_buf_init(&answer->writer.text, tg_alloc_libc());
}

/* The outcome is known. */
static void
tg_spill_answer_known(tg_spill_answer_t *answer)
{
    answer->state = TG_SPILL_ANSWER_STORES;

    if (answer->outcome.kind == TG_OUTCOME_RESULT && answer->spec != NULL
        && tg_spill_is_large(&answer->outcome, answer->spec,
                             answer->max_output))
    {
        answer->state = TG_SPILL_ANSWER_READS;
        tg_spill_result_begin(&answer->result, answer->outcome.value);
    }
}

void
tg_spill_answer_outcome(tg_spill_answer_t *answer, const tg_outcome_t *outcome)
{
    answer->outcome = *outcome;
    tg_spill_answer_known(answer);
}

void
tg_spill_answer_output(tg_spill_answer_t *answer, tg_str_t out,
                       tg_output_t form, int is_stored)
{
    tg_outcome_t outcome;

    if (form != TG_OUTPUT_RESULT
        || (!is_stored && tg_answer_is_too_large(out, form, answer->params)))
    {
        outcome = tg_answer_of(out, form, answer->params, is_stored,
                               &answer->text);
        tg_spill_answer_outcome(answer, &outcome);

    } else if (!answer->is_loose
               && !tg_answer_is_text(out, answer->params, &answer->text))
    {
        outcome = tg_outcome_failed(TG_FAILURE_OUTPUT,
                                    tg_buf_view(&answer->text));
        tg_spill_answer_outcome(answer, &outcome);

    } else {
        answer->state = TG_SPILL_ANSWER_CHECKS;
        answer->out = out;
        tg_result_check_begin(&answer->check, out, answer->is_loose);
    }
}

static void
tg_spill_answer_check(tg_spill_answer_t *answer)
{
    if (tg_result_check_step(&answer->check, TG_ANSWER_STEP, &answer->outcome)
        == TG_AGAIN)
    {
        return;
    }

    if (!answer->is_loose) {
        tg_outcome_explain(&answer->outcome, tg_str_c(answer->params->tool),
                           answer->out, &answer->text);
    }

    tg_spill_answer_known(answer);
}

static void
tg_spill_answer_read(tg_spill_answer_t *answer)
{
    if (tg_spill_result_step(&answer->result, TG_ANSWER_STEP) == TG_OK) {
        answer->state = TG_SPILL_ANSWER_STORES;
    }
}

static void
tg_spill_answer_store(tg_spill_answer_t *answer)
{
    if (answer->spec != NULL
        && tg_spill_is_large(&answer->outcome, answer->spec,
                             answer->max_output))
    {
        tg_spill_large(&answer->outcome,
                       answer->outcome.kind == TG_OUTCOME_RESULT
                           ? &answer->result
                           : NULL,
                       answer->spec, answer->max_output, answer->params->tool,
                       &answer->stored);
    }

    if (answer->meta.data != NULL) {
        answer->outcome.meta = answer->meta;
    }

    tg_answer_begin(&answer->writer, &answer->outcome, answer->params,
                    &answer->ran);
    answer->writer.json.failed |= tg_buf_failed(&answer->text)
                                  | tg_buf_failed(&answer->stored);
    answer->state = TG_SPILL_ANSWER_WRITES;
}

int
tg_spill_answer_step(tg_spill_answer_t *answer)
{
    switch (answer->state) {
    case TG_SPILL_ANSWER_CHECKS:
        tg_spill_answer_check(answer);
        return TG_AGAIN;
    case TG_SPILL_ANSWER_READS:
        tg_spill_answer_read(answer);
        return TG_AGAIN;
    case TG_SPILL_ANSWER_STORES:
        tg_spill_answer_store(answer);
        return TG_AGAIN;
    case TG_SPILL_ANSWER_WRITES:
        if (tg_answer_step(&answer->writer) == TG_AGAIN) {
            return TG_AGAIN;
        }

        answer->state = TG_SPILL_ANSWER_IS_WHOLE;
        break;
    case TG_SPILL_ANSWER_IS_WHOLE:
        break;
    }

    return TG_OK;
}

void
tg_spill_answer_end(tg_spill_answer_t *answer)
{
    tg_answer_end(&answer->writer);
    tg_spill_result_end(&answer->result);
    tg_buf_deinit(&answer->text);
    tg_buf_deinit(&answer->stored);
}

int
tg_spill_answer_run(tg_spill_answer_t *answer, tg_job_t *job,
                    tg_source_t *source, size_t size)
{
    if (size > TG_JOB_LARGE && !tg_job_may_answer(job, source)) {
        return 0;
    }

    while (tg_spill_answer_step(answer) == TG_AGAIN) {
        if (tg_slice_is_over(&job->jobs->sched.sched, source, TG_ANSWER_STEP)) {
            return 0;
        }
    }

    return 1;
}
