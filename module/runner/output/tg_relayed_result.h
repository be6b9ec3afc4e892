/*
 * The answer of a call that a worker has run: it is stored where it is too
 * large, and passed on as the answer of a job, in steps.
 */
#ifndef TG_RELAYED_RESULT_H
#define TG_RELAYED_RESULT_H

#include "runner/output/tg_output_response.h"

/* Why tg_relayed_result_read_params() says TG_INVALID. */
#define TG_RELAYED_RESULT_PARAMS_ERROR                                         \
    "max_output must be 0 to 33554432, spill an object of owner, quota, "      \
    "keep_ms and preview"

typedef struct {
    tg_job_t *job;
    tg_output_store_params_t spec;
    int64_t max_output;
    tg_buf_t answer; /* the worker's, as its message is gone by then */
    tg_buf_t scratch;
    int is_writing;
    tg_output_response_t response;
    tg_sched_source_t source; /* waits while a large one is written */
} tg_relayed_result_t;

/* Reads what a job says of its answer: TG_OK or TG_INVALID. */
int tg_relayed_result_read_params(tg_relayed_result_t *result, tg_job_t *job,
                                  tg_str_t max_output, tg_str_t spill);

/*
 * Copies an answer that is a valid object as of tg_answer_put(): TG_OK, or
 * TG_NOMEM.
 */
int tg_relayed_result_copy(tg_relayed_result_t *result, tg_str_t answer);

/* Begins to write it.  With its end the running job ends, later than this. */
void tg_relayed_result_begin(tg_relayed_result_t *result);

/* Gives it up, or frees what is left. */
void tg_relayed_result_stop(tg_relayed_result_t *result);

#endif
