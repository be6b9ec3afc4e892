/*
 * The result of a job: its outcome (tg_outcome_write_json()) and run statistics
 * (tg_run_stats_t):
 *
 *   {"failure":"timeout","message":"…","queued_ms":0,"ran_ms":12,
 *    "rule":"timeout"}
 */
#ifndef TG_JOB_RESULT_H
#define TG_JOB_RESULT_H

#include "protocol/tg_request.h"
#include "runner/jobs/tg_job_params.h"

/* Message of the failure that replaces a result for which memory is missing. */
#define TG_JOB_RESULT_NO_MEMORY                                                \
    "toolgate-runner has no memory left for this answer; try again."

/* Maximum size of a frame on the runner's socket, in bytes. */
#define TG_JOB_FRAME_MAX 67108864

/* Maximum size of a result in bytes; the rest of a frame is its envelope. */
#define TG_JOB_RESULT_MAX (TG_JOB_FRAME_MAX - 2048)

#define TG_RUNNER_NO_MEMORY "toolgate-runner has no memory left; try again."

/* Appends the outcome and the run statistics as one JSON object. */
void tg_job_result_write(tg_buf_t *json, const tg_outcome_t *outcome,
                         const tg_run_stats_t *times);

/* Appends a failure. `format` is a printf() format of its message. */
void tg_job_result_write_failure(tg_buf_t *json, tg_failure_t failure,
                                 const tg_run_stats_t *times,
                                 const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

/*
 * Returns the outcome of a successful call after a check of its output type.
 * `text` gets a failure's message and must outlive the outcome. Output that the
 * client's maximum surely excludes is not checked: …_writer_begin() rejects it.
 */
tg_outcome_t tg_job_result_check_output(tg_str_t out, tg_output_type_t form,
                                        const tg_job_params_t *params,
                                        int is_stored, tg_buf_t *text);

/* Checks for valid UTF-8. Returns 0 with an error in `text` otherwise. */
int tg_job_result_check_utf8(tg_str_t out, const tg_job_params_t *params,
                             tg_buf_t *text);

/* Checks whether the output surely exceeds the client's maximum size. */
int tg_job_result_is_too_large(tg_str_t out, tg_output_type_t form,
                               const tg_job_params_t *params);

/* Bytes of an output that one step writes. */
#define TG_JOB_RESULT_STEP 65536

/*
 * Writes a result that may be large, step by step. The outcome's data and
 * `params` must outlive the writer. A failure replaces output that exceeds a
 * frame or the client's maximum.
 */
typedef struct {
    tg_outcome_t outcome;
    tg_run_stats_t stats;
    const tg_job_params_t *params;
    tg_buf_t json;
    tg_buf_t text; /* message of the failure that replaces the output */
    size_t at;     /* bytes of the value that are written or counted */

    /* Minimum size of the response, if is_size_counted is set. */
    size_t min_reply_size;
    int is_size_counted;
} tg_job_result_writer_t;

/* Initializes the writer, to be freed by tg_job_result_writer_end(). */
void tg_job_result_writer_begin(tg_job_result_writer_t *writer,
                                const tg_outcome_t *outcome,
                                const tg_job_params_t *params,
                                const tg_run_stats_t *stats);

/* Writes a part. Returns TG_AGAIN, or TG_OK when writer->json is complete. */
int tg_job_result_writer_step(tg_job_result_writer_t *writer);

void tg_job_result_writer_end(tg_job_result_writer_t *writer);

/* Appends the error message for an output that exceeds a frame. */
void tg_job_result_append_too_large(tg_buf_t *text, const char *tool);

/* Appends a result in one step, even if it is large. */
void tg_job_result_write_output(tg_buf_t *json, const tg_outcome_t *outcome,
                                const tg_job_params_t *params,
                                const tg_run_stats_t *times);

/* Appends a duration, such as "5 s", "1.5 s" or "200 ms". */
void tg_buf_append_duration(tg_buf_t *text, uint64_t ms);

/* Returns an outcome that refers to `json`, or a failure: no memory. */
tg_outcome_t tg_job_result_to_outcome(const tg_buf_t *json);

/* Responds to the request with a JSON result, in ops->call. */
void tg_peer_respond_json(tg_peer_t *peer, const tg_request_t *request,
                          const tg_buf_t *json);

/* Fails a call before it is a job, because of the directive `rule` or NULL. */
void tg_peer_respond_failure(tg_peer_t *peer, const tg_request_t *request,
                             tg_failure_t failure, const char *rule,
                             const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Responds with error -32602 and the message `why`. */
void tg_peer_respond_invalid_params(tg_peer_t *peer,
                                    const tg_request_t *request,
                                    const char *why);

void tg_peer_respond_true(tg_peer_t *peer, const tg_request_t *request);

#endif
