/*
 * The answer of a job whose output may be large: the output is checked, stored
 * where it is too large, and written, in steps.
 */
#ifndef TG_OUTPUT_RESPONSE_H
#define TG_OUTPUT_RESPONSE_H

#include "runner/output/tg_outcome_store.h"
#include "runner/jobs/tg_job.h"

typedef struct {
    const tg_job_params_t *params;
    const tg_output_store_params_t *spec; /* NULL: it is not stored */
    size_t max_output;
    tg_run_stats_t ran;
    tg_str_t meta; /* of the outcome, or absent */
    /* a result is an MCP server's own, see tg_tool_result_check_t */
    int is_mcp_server_result;

    enum {
        TG_OUTPUT_RESPONSE_CHECKING,  /* the output */
        TG_OUTPUT_RESPONSE_SPLITTING, /* a large result, to store it */
        TG_OUTPUT_RESPONSE_STORING,   /* what is too large */
        TG_OUTPUT_RESPONSE_WRITING,
        TG_OUTPUT_RESPONSE_DONE /* writer.json */
    } state;
    tg_str_t out; /* the output */
    tg_tool_result_check_t check;
    tg_outcome_t outcome;
    tg_result_splitter_t result;
    tg_buf_t text;   /* of an outcome that has to be put into words */
    tg_buf_t stored; /* instead of what was stored */
    tg_job_result_writer_t writer;
} tg_output_response_t;

/* Begins one; params and spec outlive it. */
void tg_output_response_begin(tg_output_response_t *answer,
                              const tg_job_params_t *params,
                              const tg_output_store_params_t *spec,
                              size_t max_output, const tg_run_stats_t *ran);

/*
 * Says what the job ended with: an outcome, or an output of this form, which
 * is checked first.  Both outlive the answer.
 */
void tg_output_response_set_outcome(tg_output_response_t *answer,
                                    const tg_outcome_t *outcome);
void tg_output_response_set_output(tg_output_response_t *answer, tg_str_t out,
                                   tg_output_type_t form, int is_stored);

/* Takes the next step: TG_AGAIN; or TG_OK: writer.json is whole. */
int tg_output_response_step(tg_output_response_t *answer);
void tg_output_response_end(tg_output_response_t *answer);

/*
 * Takes steps until the time slice is over, one of a large output (size) only
 * in its turn: 1, or 0: the source waits.  tg_job_release_writer() is to
 * follow.
 */
int tg_output_response_run(tg_output_response_t *answer, tg_job_t *job,
                           tg_sched_source_t *source, size_t size);

#endif
