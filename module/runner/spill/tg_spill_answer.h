/*
 * The answer of a job whose output may be large: the output is checked, stored
 * where it is too large, and written, in steps.
 */
#ifndef TG_SPILL_ANSWER_H
#define TG_SPILL_ANSWER_H

#include "runner/spill/tg_spill_outcome.h"
#include "runner/tg_job.h"

typedef struct {
    const tg_job_params_t *params;
    const tg_spill_spec_t *spec; /* NULL: it is not stored */
    size_t max_output;
    tg_ran_t ran;
    tg_str_t meta; /* of the outcome, or absent */
    int is_loose;  /* a result is an MCP server's own, see tg_result_check_t */

    enum {
        TG_SPILL_ANSWER_CHECKS, /* the output */
        TG_SPILL_ANSWER_READS,  /* a large result, to store it */
        TG_SPILL_ANSWER_STORES, /* what is too large */
        TG_SPILL_ANSWER_WRITES,
        TG_SPILL_ANSWER_IS_WHOLE /* writer.json */
    } state;
    tg_str_t out; /* the output */
    tg_result_check_t check;
    tg_outcome_t outcome;
    tg_spill_result_t result;
    tg_buf_t text;   /* of an outcome that has to be put into words */
    tg_buf_t stored; /* instead of what was stored */
    tg_answer_writer_t writer;
} tg_spill_answer_t;

/* Begins one; params and spec outlive it. */
void tg_spill_answer_begin(tg_spill_answer_t *answer,
                           const tg_job_params_t *params,
                           const tg_spill_spec_t *spec, size_t max_output,
                           const tg_ran_t *ran);

/*
 * Says what the job ended with: an outcome, or an output of this form, which
 * is checked first.  Both outlive the answer.
 */
void tg_spill_answer_outcome(tg_spill_answer_t *answer,
                             const tg_outcome_t *outcome);
void tg_spill_answer_output(tg_spill_answer_t *answer, tg_str_t out,
                            tg_output_t form, int is_stored);

/* Takes the next step: TG_AGAIN; or TG_OK: writer.json is whole. */
int tg_spill_answer_step(tg_spill_answer_t *answer);
void tg_spill_answer_end(tg_spill_answer_t *answer);

/*
 * Takes steps until the time slice is over, one of a large output (size) only
 * in its turn: 1, or 0: the source waits.  tg_job_answered() is to follow.
 */
int tg_spill_answer_run(tg_spill_answer_t *answer, tg_job_t *job,
                        tg_source_t *source, size_t size);

#endif
