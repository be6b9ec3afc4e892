/* The job type that stores the result of a call that a worker has run. */
#include "runner/output/tg_output_store_job.h"

#include "runner/output/tg_relayed_result.h"

#include <stdlib.h>

#define TG_OUTPUT_STORE_JOB_TIMEOUT 60000

static int
tg_output_store_job_read(tg_job_t *job, const tg_str_t *values,
                         const char **why)
{
    tg_relayed_result_t *result;
    tg_str_t answer;
    int rc;

    result = malloc(sizeof(*result));

    if (result == NULL) {
        return TG_NOMEM;
    }

    rc = tg_relayed_result_read_params(result, job, values, &answer, why);

    if (rc == TG_OK && tg_json_type(answer) != TG_JSON_OBJECT) {
        *why = "answer must be an object";
        rc = TG_INVALID;
    }

    if (rc == TG_OK) {
        rc = tg_relayed_result_copy(result, answer);
    }

    if (rc != TG_OK) {
        tg_relayed_result_stop(result);
        free(result);
        return rc;
    }

    job->bytes += answer.len;
    job->work = result;

    return TG_OK;
}

static int
tg_output_store_job_start(tg_job_t *job)
{
    tg_relayed_result_begin(job->work);

    return 0;
}

static void
tg_output_store_job_stop(tg_job_t *job)
{
    tg_relayed_result_stop(job->work);
    tg_job_set_done(job);
}

static void
tg_output_store_job_free(tg_job_t *job)
{
    tg_relayed_result_stop(job->work);
    free(job->work);
}

const tg_job_type_t tg_output_store_job_type = {
    .name = "store_output",
    .fields = tg_relayed_result_fields,
    .timeout_ms = TG_OUTPUT_STORE_JOB_TIMEOUT,
    .needs_no_slot = 1,
    .read = tg_output_store_job_read,
    .start = tg_output_store_job_start,
    .stop = tg_output_store_job_stop,
    .free = tg_output_store_job_free,
};
