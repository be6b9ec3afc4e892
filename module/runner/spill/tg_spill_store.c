/*
 * Stores the result of a call that a worker has run.
 */
#include "runner/spill/tg_spill_store.h"

#include "runner/spill/tg_spill_pass.h"

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
    tg_spill_pass_t *pass;
    int rc;

    *why = "answer must be an object, " TG_SPILL_PASS_WHY;

    if (tg_json_type(values[TG_SPILL_STORE_ANSWER]) != TG_JSON_OBJECT) {
        return TG_BAD;
    }

    pass = malloc(sizeof(*pass));

    if (pass == NULL) {
        return TG_NOMEM;
    }

    rc = tg_spill_pass_read(pass, job, values[TG_SPILL_STORE_MAX_OUTPUT],
                            values[TG_SPILL_STORE_SPILL]);

    if (rc == TG_OK) {
        rc = tg_spill_pass_take(pass, values[TG_SPILL_STORE_ANSWER]);
    }

    if (rc != TG_OK) {
        tg_spill_pass_stop(pass);
        free(pass);
        return rc;
    }

    job->bytes += values[TG_SPILL_STORE_ANSWER].len;
    job->work = pass;

    return TG_OK;
}

static int
tg_spill_store_start(tg_job_t *job)
{
    tg_spill_pass_begin(job->work);

    return 0;
}

static void
tg_spill_store_stop(tg_job_t *job)
{
    tg_spill_pass_stop(job->work);
    tg_job_done(job);
}

static void
tg_spill_store_free(tg_job_t *job)
{
    tg_spill_pass_stop(job->work);
    free(job->work);
}

const tg_kind_t tg_spill_store_kind = {
    .name = "store_output",
    .members = tg_spill_store_members,
    .timeout_ms = TG_SPILL_STORE_TIMEOUT,
    .is_elsewhere = 1,
    .read = tg_spill_store_read,
    .start = tg_spill_store_start,
    .stop = tg_spill_store_stop,
    .free = tg_spill_store_free,
};
