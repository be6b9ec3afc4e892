#include "runner/spill/tg_spill_pass.h"

int
tg_spill_pass_read(tg_spill_pass_t *pass, tg_job_t *job, tg_str_t max_output,
                   tg_str_t spill)
{
    memset(pass, 0, sizeof(*pass));
    pass->job = job;
    pass->max_output = TG_SPILL_PREVIEW_MAX;
    tg_buf_init(&pass->answer, tg_alloc_libc());
    tg_buf_init(&pass->scratch, tg_alloc_libc());

    return tg_job_number(max_output, 0, TG_SPILL_PREVIEW_MAX, &pass->max_output)
                       == TG_OK
                   && tg_spill_spec_read(&pass->spec, job->jobs->spills, spill)
                          == TG_OK
               ? TG_OK
               : TG_BAD;
}

int
tg_spill_pass_take(tg_spill_pass_t *pass, tg_str_t answer)
{
    tg_buf_str(&pass->answer, answer);

    return tg_buf_failed(&pass->answer) ? TG_NOMEM : TG_OK;
}

void
tg_spill_pass_stop(tg_spill_pass_t *pass)
{
    if (pass->is_writing) {
        pass->is_writing = 0;
        tg_source_leave(&pass->job->jobs->sched.sched, &pass->source);
        tg_job_answered(pass->job);
        tg_spill_answer_end(&pass->whole);
    }

    tg_buf_deinit(&pass->answer);
    tg_buf_deinit(&pass->scratch);
}

static void
tg_spill_pass_run(tg_source_t *source)
{
    tg_spill_pass_t *pass;
    tg_job_t *job;

    pass = TG_OWNER(source, tg_spill_pass_t, source);
    job = pass->job;

    if (!tg_spill_answer_run(&pass->whole, job, source, pass->answer.len)) {
        return;
    }

    tg_job_answer(job, &pass->whole.writer.json);
    tg_job_end(job);
    tg_spill_pass_stop(pass);
    tg_job_done(job);
}

void
tg_spill_pass_begin(tg_spill_pass_t *pass)
{
    tg_outcome_t outcome;
    tg_job_t *job;
    tg_ran_t ran;

    job = pass->job;
    memset(&ran, 0, sizeof(ran));
    ran.queued_ms = -1;
    ran.ran_ms = -1;
    outcome = tg_outcome_get(tg_buf_view(&pass->answer), &pass->scratch, &ran);
    tg_spill_answer_begin(&pass->whole, &job->params, &pass->spec,
                          (size_t) pass->max_output, &ran);
    pass->whole.text.failed |= tg_buf_failed(&pass->scratch);
    tg_spill_answer_outcome(&pass->whole, &outcome);
    tg_job_ended(job);
    pass->is_writing = 1;
    pass->source.run = tg_spill_pass_run;
    tg_source_wait(&job->jobs->sched.sched, &pass->source);
}
