/*
 * Stores the result of a call that a worker has run.
 */
#include "runner/spill/tg_spill_store.h"

#include "base/tg_json.h"
#include "runner/spill/tg_spill_outcome.h"

#include <stdlib.h>

#define TG_SPILL_STORE_TIMEOUT 60000

enum {
    TG_SPILL_STORE_ANSWER,
    TG_SPILL_STORE_MAX_OUTPUT,
    TG_SPILL_STORE_SPILL
};

static const char *const tg_spill_store_members[] = { "answer", "max_output",
                                                      "spill", NULL };

static int
tg_spill_store_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_spill_spec_t spec;
    int64_t max_output;
    tg_buf_t *json;

    memset(&spec, 0, sizeof(spec));
    max_output = TG_SPILL_PREVIEW_MAX;
    *why = "answer must be an object, max_output 0 to 33554432, spill an "
           "object of owner, quota, keep_ms and preview";

    if (tg_json_type(values[TG_SPILL_STORE_ANSWER]) != TG_JSON_OBJECT
        || tg_job_number(values[TG_SPILL_STORE_MAX_OUTPUT], 0,
                         TG_SPILL_PREVIEW_MAX, &max_output)
               != TG_OK
        || tg_spill_spec_read(&spec, job->jobs->spills,
                              values[TG_SPILL_STORE_SPILL])
               != TG_OK)
    {
        return TG_BAD;
    }

    json = malloc(sizeof(*json));

    if (json == NULL) {
        return TG_NOMEM;
    }

    /* Small, unlike what it is of: that is not copied. */
    tg_buf_init(json, tg_alloc_libc());
    tg_spill_put_answer(json, values[TG_SPILL_STORE_ANSWER], &spec,
                        (size_t) max_output, &job->params);
    job->work = json;

    return TG_OK;
}

/* It is done as soon as it starts: nothing of it is left to run. */
static int
tg_spill_store_start(tg_job_t *job)
{
    tg_job_ended(job);
    tg_job_answer(job, job->work);

    return -1;
}

static void
tg_spill_store_free(tg_job_t *job)
{
    tg_buf_deinit(job->work);
    free(job->work);
}

const tg_kind_t tg_spill_store_kind = {
    .name = "store_output",
    .members = tg_spill_store_members,
    .timeout_ms = TG_SPILL_STORE_TIMEOUT,
    .is_elsewhere = 1,
    .read = tg_spill_store_read,
    .start = tg_spill_store_start,
    .stop = tg_job_done,
    .free = tg_spill_store_free,
};
