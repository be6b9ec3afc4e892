/* Collects the outputs of a program for the result of `exec`. */
#ifndef TG_EXEC_OUTPUT_H
#define TG_EXEC_OUTPUT_H

#include "base/tg_base64.h"
#include "spec/tg_exec_spec.h"
#include "runner/process/tg_output_tail.h"
#include "runner/output/tg_output_response.h"

/* Maximum size of the ends of stdout and stderr in a failure, in bytes. */
#define TG_EXEC_TAILS_MAX 65536

/* URI of a file in an MCP result. */
#define TG_EXEC_URI "toolgate://output"

/* Params of the outputs. */
typedef struct {
    tg_output_type_t type;
    size_t max_output;
    tg_exec_stderr_t err;
    tg_exec_binary_t bytes;
    const char *mime;        /* MIME type of a binary stdout */
    tg_field_bits_t success; /* successful exit statuses */
    tg_output_store_params_t store_params;
} tg_exec_output_params_t;

typedef struct {
    tg_exec_output_params_t output_params;
    tg_buf_t out; /* stdout; binary output as an incomplete MCP result */

    /* File that contains stdout instead of `out`. */
    tg_stored_output_t stored_output;

    /* An attempt to store stdout has failed. */
    int is_refused;

    /* stderr, if it will be appended to stdout. */
    tg_buf_t all;

    tg_output_tail_t err;
    size_t size;    /* bytes of stdout and stderr that count for max_output */
    size_t escaped; /* bytes of stdout when written as JSON */
    tg_base64_encoder_t base64;
} tg_exec_output_t;

void tg_exec_output_init(tg_exec_output_t *output, tg_output_type_t type,
                         size_t max_output);
void tg_exec_output_deinit(tg_exec_output_t *output);

/* Adds stdout. TG_LIMIT: exceeds max_output; TG_INVALID: exceeds a frame. */
int tg_exec_output_add_stdout(tg_exec_output_t *output, const char *data,
                              size_t len);

/* Adds stderr. Returns TG_OK, TG_LIMIT: exceeds max_output, or TG_NOMEM. */
int tg_exec_output_add_stderr(tg_exec_output_t *output, const char *data,
                              size_t len);

/* State of the response while it is written. */
typedef struct {
    tg_output_response_t answer;
    char meta[64];
} tg_exec_response_t;

/*
 * Begins the response for a wait status. `output` and `params` must outlive it.
 * The caller continues with tg_output_response_run() or _step(), and _end().
 */
void tg_exec_response_begin(tg_exec_response_t *answer,
                            tg_exec_output_t *output,
                            const tg_job_params_t *params, int status,
                            const tg_run_stats_t *times);

#endif
