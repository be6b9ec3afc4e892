/*
 * What a job is answered with, whatever its kind: its outcome, as
 * tg_outcome_write_json() writes it, and what is told of it (tg_run_stats_t):
 *
 *   {"failure":"timeout","message":"…","queued_ms":0,"ran_ms":12,
 *    "rule":"timeout"}
 */
#ifndef TG_JOB_RESULT_H
#define TG_JOB_RESULT_H

#include "protocol/tg_peer.h"
#include "runner/jobs/tg_job_params.h"

/* What is said where there is no memory for what should be. */
#define TG_JOB_RESULT_NO_MEMORY                                                \
    "toolgate-runner has no memory left for this answer; try again."

/* Frames of the runner's socket, and what an answer leaves for its envelope. */
#define TG_JOB_FRAME_MAX 67108864
#define TG_JOB_RESULT_MAX (TG_JOB_FRAME_MAX - 2048)

#define TG_RUNNER_NO_MEMORY "toolgate-runner has no memory left; try again."

/* Appends an answer. */
void tg_job_result_write(tg_buf_t *json, const tg_outcome_t *outcome,
                         const tg_run_stats_t *times);

/* The same for a failure, with a message as of printf(). */
void tg_job_result_write_failure(tg_buf_t *json, tg_failure_t failure,
                                 const tg_run_stats_t *times,
                                 const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

/*
 * What a call that went well put out, as it is to be; text takes what has to
 * be written about one that is wrong.  Output that will not be stored and is
 * larger than any message of the client is not checked: tg_answer_begin()
 * refuses it.
 */
tg_outcome_t tg_job_result_check_output(tg_str_t out, tg_output_type_t form,
                                        const tg_job_params_t *params,
                                        int is_stored, tg_buf_t *text);

/* Is it valid UTF-8?  If not, text says so. */
int tg_job_result_check_utf8(tg_str_t out, const tg_job_params_t *params,
                             tg_buf_t *text);

/* Is an output of this form surely larger than any message of the client? */
int tg_job_result_is_too_large(tg_str_t out, tg_output_type_t form,
                               const tg_job_params_t *params);

/* Bytes of an output that are written in one step. */
#define TG_JOB_RESULT_STEP 65536

/*
 * An answer with an output, which may be large, that is written step by step.
 * What the outcome refers to, and params, outlive it.  An output that no frame
 * carries, or no message of the client, becomes a failure that says so.
 */
typedef struct {
    tg_outcome_t outcome;
    tg_run_stats_t ran;
    const tg_job_params_t *params;
    tg_buf_t json;
    tg_buf_t text; /* of that failure */
    size_t at;     /* bytes of the value that are written, or counted */
    /* bytes that a reply needs for them, where it is counted */
    size_t min_reply_size;
    int is_size_counted;
} tg_job_result_writer_t;

void tg_job_result_writer_begin(tg_job_result_writer_t *writer,
                                const tg_outcome_t *outcome,
                                const tg_job_params_t *params,
                                const tg_run_stats_t *ran);

/* Writes on: TG_AGAIN; or TG_OK: writer->json is whole. */
int tg_job_result_writer_step(tg_job_result_writer_t *writer);
void tg_job_result_writer_end(tg_job_result_writer_t *writer);

/* Appends the failure of an output that no frame carries. */
void tg_job_result_append_too_large(tg_buf_t *text, const char *tool);

/* Appends an answer, of which the output may be large, in one step. */
void tg_job_result_write_output(tg_buf_t *json, const tg_outcome_t *outcome,
                                const tg_job_params_t *params,
                                const tg_run_stats_t *times);

/* Appends 5 s, 1.5 s, 200 ms. */
void tg_buf_append_duration(tg_buf_t *text, uint64_t ms);

/* What json says, or that there was no memory for it. */
tg_outcome_t tg_job_result_to_outcome(const tg_buf_t *json);

/*
 * Answer a request from within ops->call: with json; with a failure that did
 * not get as far as being a job, by a rule or NULL; that it is wrong in itself
 * (-32602).
 */
void tg_peer_respond_json(tg_peer_t *peer, const tg_request_t *request,
                          const tg_buf_t *json);
void tg_peer_respond_failure(tg_peer_t *peer, const tg_request_t *request,
                             tg_failure_t failure, const char *rule,
                             const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void tg_peer_respond_invalid_params(tg_peer_t *peer,
                                    const tg_request_t *request,
                                    const char *why);
void tg_peer_respond_true(tg_peer_t *peer, const tg_request_t *request);

#endif
