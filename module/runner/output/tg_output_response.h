/*
 * The response of a job whose output may be large: checks the output, stores it
 * if it is too large, and writes the result, in steps.
 */
#ifndef TG_OUTPUT_RESPONSE_H
#define TG_OUTPUT_RESPONSE_H

#include "base/tg_base64.h"
#include "runner/output/tg_outcome_store.h"
#include "runner/jobs/tg_job.h"

typedef struct {
    const tg_job_params_t *params;
    const tg_output_store_params_t *spec; /* NULL: the output is not stored */
    size_t max_output;
    tg_run_stats_t stats;
    tg_str_t meta; /* `_meta` of the outcome, or absent */

    /* The result is an MCP server's, unchanged (tg_tool_result_check_t). */
    int is_mcp_server_result;

    enum {
        TG_OUTPUT_RESPONSE_CHECKING, /* checking the output */
        TG_OUTPUT_RESPONSE_ENCODING, /* encoding bytes in base64 */

        /* Splitting a large result, in order to store it. */
        TG_OUTPUT_RESPONSE_SPLITTING,

        TG_OUTPUT_RESPONSE_STORING, /* storing output that is too large */
        TG_OUTPUT_RESPONSE_WRITING,
        TG_OUTPUT_RESPONSE_DONE /* the complete result is in writer.json */
    } state;
    tg_str_t out; /* output that is being checked, or left to encode */
    tg_base64_encoder_t base64;
    tg_tool_result_check_t check;
    tg_outcome_t outcome;
    tg_result_splitter_t result;
    tg_buf_t text;   /* message or preview to which the outcome refers */
    tg_buf_t stored; /* preview that replaces a stored output */
    tg_job_result_writer_t writer;
} tg_output_response_t;

/* Initializes a response, to be freed by tg_output_response_end(). */
void tg_output_response_begin(tg_output_response_t *answer,
                              const tg_job_params_t *params,
                              const tg_output_store_params_t *spec,
                              size_t max_output, const tg_run_stats_t *stats);

/* Sets the outcome of the job. Its data must outlive the response. */
void tg_output_response_set_outcome(tg_output_response_t *answer,
                                    const tg_outcome_t *outcome);

/* Sets an output to check and send. It must outlive the response. */
void tg_output_response_set_output(tg_output_response_t *answer, tg_str_t out,
                                   tg_output_type_t form, int is_stored);

/* Takes a step. Returns TG_AGAIN, or TG_OK when writer.json is complete. */
int tg_output_response_step(tg_output_response_t *answer);

void tg_output_response_end(tg_output_response_t *answer);

/*
 * Takes steps for a time slice; waits for permission if the output of `size`
 * bytes is large. Returns 1 if writer.json is complete, 0 if the source runs
 * again later. The caller must call tg_job_release_writer() at the end.
 */
int tg_output_response_run(tg_output_response_t *answer, tg_job_t *job,
                           tg_sched_source_t *source, size_t size);

#endif
