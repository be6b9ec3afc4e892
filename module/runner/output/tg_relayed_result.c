/* Stores and writes the result of a call that a worker has run. */
#include "runner/output/tg_relayed_result.h"

typedef struct {
    int64_t max_output;
    tg_str_t spill;
    tg_str_t answer;
} tg_relayed_result_params_t;

const tg_json_field_t tg_relayed_result_fields[] = {
    { .name = "max_output",
      .type = TG_FIELD_INT,
      .max = TG_OUTPUT_PREVIEW_BYTES_MAX,
      .absent = TG_OUTPUT_PREVIEW_BYTES_MAX,
      TG_FIELD_AT(tg_relayed_result_params_t, max_output),
      .why = "max_output must be 0 to 33554432" },
    { .name = "spill",
      .type = TG_FIELD_RAW,
      TG_FIELD_AT(tg_relayed_result_params_t, spill) },
    { .name = "answer",
      .type = TG_FIELD_RAW,
      TG_FIELD_AT(tg_relayed_result_params_t, answer) },
    { .name = NULL },
};

int
tg_relayed_result_read_params(tg_relayed_result_t *result, tg_job_t *job,
                              const tg_str_t *values, tg_str_t *answer,
                              const char **why)
{
    tg_relayed_result_params_t params;

    memset(result, 0, sizeof(*result));
    result->job = job;
    tg_buf_init(&result->answer, tg_alloc_libc());
    tg_buf_init(&result->scratch, tg_alloc_libc());

    if (tg_json_store_fields(tg_relayed_result_fields, values, &params, why)
        != TG_OK)
    {
        return TG_INVALID;
    }

    result->max_output = params.max_output;
    *answer = params.answer;

    return tg_output_store_params_read(&result->spec, job->jobs->output_store,
                                       params.spill, why);
}

int
tg_relayed_result_copy(tg_relayed_result_t *result, tg_str_t answer)
{
    tg_buf_append_str(&result->answer, answer);

    return tg_buf_has_failed(&result->answer) ? TG_NOMEM : TG_OK;
}

void
tg_relayed_result_stop(tg_relayed_result_t *result)
{
    if (result->is_writing) {
        result->is_writing = 0;
        tg_sched_dequeue(&result->job->jobs->sched.sched, &result->source);
        tg_job_release_writer(result->job);
        tg_output_response_end(&result->response);
    }

    tg_buf_deinit(&result->answer);
    tg_buf_deinit(&result->scratch);
}

static void
tg_relayed_result_run(tg_sched_source_t *source)
{
    tg_relayed_result_t *result;
    tg_job_t *job;

    result = TG_CONTAINER_OF(source, tg_relayed_result_t, source);
    job = result->job;

    if (!tg_output_response_run(&result->response, job, source,
                                result->answer.len)) {
        return;
    }

    tg_job_respond(job, &result->response.writer.json);
    tg_job_set_ending(job);
    tg_relayed_result_stop(result);
    tg_job_set_done(job);
}

void
tg_relayed_result_begin(tg_relayed_result_t *result)
{
    tg_outcome_t outcome;
    tg_job_t *job;
    tg_run_stats_t stats;

    job = result->job;
    memset(&stats, 0, sizeof(stats));
    stats.queued_ms = -1;
    stats.ran_ms = -1;
    outcome = tg_outcome_parse_json(tg_buf_view(&result->answer),
                                    &result->scratch, &stats);
    tg_output_response_begin(&result->response, &job->params, &result->spec,
                             (size_t) result->max_output, &stats);
    result->response.text.failed |= tg_buf_has_failed(&result->scratch);
    tg_output_response_set_outcome(&result->response, &outcome);
    tg_job_on_work_ended(job);
    result->is_writing = 1;
    result->source.run = tg_relayed_result_run;
    tg_sched_enqueue(&job->jobs->sched.sched, &result->source);
}
