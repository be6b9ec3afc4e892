/*
 * The result of a call that a worker has run: stored if it is too large, and
 * sent as the response of a job, in steps.
 */
#ifndef TG_RELAYED_RESULT_H
#define TG_RELAYED_RESULT_H

#include "runner/output/tg_output_response.h"

/* Params of the job types whose call a worker has run. */
extern const tg_json_field_t tg_relayed_result_fields[];

typedef struct {
    tg_job_t *job;
    tg_output_store_params_t spec;
    int64_t max_output;
    tg_buf_t answer; /* copy of the worker's answer */
    tg_buf_t scratch;
    int is_writing;
    tg_output_response_t response;

    /* Waits for permission to write a large response. */
    tg_sched_source_t source;
} tg_relayed_result_t;

/*
 * Reads the params of the result; *answer becomes the raw answer, or absent.
 * Returns TG_OK, or TG_INVALID with a static *why.
 */
int tg_relayed_result_read_params(tg_relayed_result_t *result, tg_job_t *job,
                                  const tg_str_t *values, tg_str_t *answer,
                                  const char **why);

/* Copies an answer as of tg_job_result_write(). Returns TG_OK or TG_NOMEM. */
int tg_relayed_result_copy(tg_relayed_result_t *result, tg_str_t answer);

/* Begins to write the response, whose end also ends the job. */
void tg_relayed_result_begin(tg_relayed_result_t *result);

/* Stops writing, if it has begun, and frees the memory. */
void tg_relayed_result_stop(tg_relayed_result_t *result);

#endif
