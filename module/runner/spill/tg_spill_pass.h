/*
 * The answer of a call that a worker has run: it is stored where it is too
 * large, and passed on as the answer of a job, in steps.
 */
#ifndef TG_SPILL_PASS_H
#define TG_SPILL_PASS_H

#include "runner/spill/tg_spill_answer.h"

/* Why tg_spill_pass_read() says TG_BAD. */
#define TG_SPILL_PASS_WHY                                                      \
    "max_output must be 0 to 33554432, spill an object of owner, quota, "      \
    "keep_ms and preview"

typedef struct {
    tg_job_t *job;
    tg_spill_spec_t spec;
    int64_t max_output;
    tg_buf_t answer; /* the worker's, as its message is gone by then */
    tg_buf_t scratch;
    int is_writing;
    tg_spill_answer_t whole;
    tg_source_t source; /* waits while a large one is written */
} tg_spill_pass_t;

/* Reads what a job says of its answer: TG_OK or TG_BAD. */
int tg_spill_pass_read(tg_spill_pass_t *pass, tg_job_t *job,
                       tg_str_t max_output, tg_str_t spill);

/*
 * Copies an answer that is a valid object as of tg_answer_put(): TG_OK, or
 * TG_NOMEM.
 */
int tg_spill_pass_take(tg_spill_pass_t *pass, tg_str_t answer);

/* Begins to write it.  With its end the running job ends, later than this. */
void tg_spill_pass_begin(tg_spill_pass_t *pass);

/* Gives it up, or frees what is left. */
void tg_spill_pass_stop(tg_spill_pass_t *pass);

#endif
