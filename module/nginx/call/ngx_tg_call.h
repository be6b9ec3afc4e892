/*
 * A call of a tool or method, from its request to its end.
 *
 *   CHECKING ──▶ RUNNING ──▶ ENDED
 *                  │  ▲
 *                  ▼  │
 *                 MOVING       its session moves to another worker
 *
 * ngx_tg_call_end() is the only function that ends a call, for any reason. A
 * call that is answered later leaves its response with the peer and posts the
 * session's write event: nothing calls back into a session whose code is
 * running.
 */
#ifndef _NGX_TG_CALL_H_INCLUDED_
#define _NGX_TG_CALL_H_INCLUDED_

#include "nginx/call/ngx_tg_call_record.h"
#include "nginx/config/ngx_tg_config.h"
#include "protocol/tg_mcp_log_level.h"

/* W3C trace context of a call as plain text; each member is valid or absent. */
typedef struct {
    tg_str_t parent;
    tg_str_t state;
} ngx_tg_trace_context_t;

typedef enum {
    NGX_TG_CALL_CHECKING = 0,
    NGX_TG_CALL_RUNNING,
    NGX_TG_CALL_MOVING,
    NGX_TG_CALL_ENDED
} ngx_tg_call_state_t;

typedef struct ngx_tg_call_private_s ngx_tg_call_private_t;
typedef struct ngx_tg_answer_s ngx_tg_answer_t;

struct ngx_tg_call_s {
    ngx_tg_call_private_t *priv;
    ngx_tg_call_state_t state;
    ngx_tg_session_base_t *base; /* NULL: its session is in another worker */
    void *ctx;                   /* private to the handler */
    ngx_pool_t *pool;
    tg_request_t *request; /* NULL once deferred */

    /* Pointers into the catalog, which a deferred call must not keep. */
    ngx_tg_tool_t *tool;             /* NULL once deferred */
    const tg_catalog_entry_t *entry; /* a copy once deferred */

    /* `ask` of the tool and one answer for each; NULL: it has none */
    const ngx_array_t *asks;
    const ngx_tg_answer_t *answers;

    ngx_tg_trace_context_t trace;
    /* raw current element of the array that is iterated over */
    tg_str_t element;
    ngx_msec_t start;
    tg_str_t name;              /* name of an unknown tool, or empty */
    ngx_tg_call_rule_t rule;    /* rule that refused or ended the call */
    unsigned has_run:1;         /* the handler's run() was called */
    unsigned is_out_of_steps:1; /* an argument lookup ran out of steps */
    unsigned is_integer:1;      /* element, if it is a number, is an integer */
    /* a null argument counts as a value, not as absent */
    unsigned has_nulls:1;
    unsigned is_late:1; /* the call's timeout has passed */
};

/*
 * Ends a call and frees it, after a large result is stored. A NULL outcome
 * sends no response: cancelled, client gone, or moved to another worker.
 */
void ngx_tg_call_end(ngx_tg_call_t *call, const tg_outcome_t *outcome);

/* Ends a call as failed and frees it; text is the message for the caller. */
void ngx_tg_call_fail(ngx_tg_call_t *call, tg_failure_t failure,
                      const char *text);

/* Ends a call as failed and frees it; text is valid until the return. */
void ngx_tg_call_end_with_failure(ngx_tg_call_t *call, tg_failure_t failure,
                                  tg_str_t text);

/* Ends a call with its handler's output, parsed as `output` says. */
void ngx_tg_call_end_with_output(ngx_tg_call_t *call, tg_str_t bytes);

/*
 * Keeps the call after its handler's start(), until its timeout; each progress
 * notification restarts the timeout. NGX_ERROR: the call was answered and
 * freed. With NGX_OK, too, a call whose handler has `run` may already have
 * ended.
 */
ngx_int_t ngx_tg_call_defer(ngx_tg_call_t *call);

/* Sends progress and restarts the watchdog. Values: raw JSON, or absent. */
void ngx_tg_call_send_progress(ngx_tg_call_t *call, tg_str_t progress,
                               tg_str_t total, tg_str_t message);

/*
 * Sends a log message to the client if it wants this level. logger is a raw
 * string or absent, data raw JSON.
 */
void ngx_tg_call_send_message(ngx_tg_call_t *call, tg_mcp_log_level_t level,
                              tg_str_t logger, tg_str_t data);

/*
 * Evaluates a complex value of the tool for this call. NGX_OK, or NGX_ERROR: no
 * memory, or too many steps to find an argument.
 */
ngx_int_t ngx_tg_call_eval_value(ngx_tg_call_t *call,
                                 ngx_stream_complex_value_t *value,
                                 ngx_str_t *text);

/*
 * Converts a backend's result or error to the outcome of a call, in the form
 * that the tool's `output` directive says. max_output is in bytes. is_method: 1
 * if the backend executed a JSON-RPC method, whose result may be any value. The
 * outcome may point into scratch.
 */
tg_outcome_t ngx_tg_call_convert_response(ngx_tg_call_t *call,
                                          ngx_uint_t is_method,
                                          size_t max_output,
                                          const tg_response_t *answer,
                                          tg_buf_t *scratch);

/*
 * Appends a text, escaped for JSON, and a closing quote. Returns NULL, or
 * `invalid` if the text is not valid UTF-8.
 */
const char *ngx_tg_append_json_string_end(tg_buf_t *buf, tg_str_t text,
                                          const char *invalid);

/*
 * Appends a value of the tool for this call, escaped for JSON, and a closing
 * quote. Returns NULL, or the error: `invalid` for invalid UTF-8.
 */
const char *ngx_tg_call_append_value(ngx_tg_call_t *call, tg_buf_t *buf,
                                     ngx_stream_complex_value_t *value,
                                     const char *invalid);

/*
 * Defers a call and starts its job in the server's runner. Closes and frees
 * params. Ends the call at once if mistake is not NULL, with `failure`, or if
 * memory is exhausted or the request cannot be sent.
 */
void ngx_tg_call_start_remote(ngx_tg_call_t *call, tg_str_t method,
                              tg_buf_t *params, tg_failure_t failure,
                              const char *mistake);

/* Begins the JSON object of params with those that all jobs have. */
void ngx_tg_call_begin_params(ngx_tg_call_t *call, tg_buf_t *params);

/* Appends how to store a large result, if it is stored: `,"spill":{…}`. */
void ngx_tg_call_append_stored_output(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Returns the largest output of a handler in bytes: more than max_output if
 * large results are stored.
 */
size_t ngx_tg_call_get_handler_max_output(const ngx_tg_call_t *call);

/* Appends the owner of a stored output, a user id: `,"owner":"1000"`. */
void ngx_tg_call_append_owner(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Starts a job about tasks like ngx_tg_call_start_remote(). The params of a
 * repeatable job are sent again if the runner ends before it answers.
 */
void ngx_tg_call_start_task_job(ngx_tg_call_t *call, tg_buf_t *params,
                                ngx_uint_t is_repeatable);

/*
 * Appends a random token by which the task store recognizes a repeated
 * submission. Returns 0 if there is none: it must not be repeated.
 */
ngx_uint_t ngx_tg_append_submission_token(tg_buf_t *params);

/* Checks whether tool or caller want the call to become a task. */
ngx_uint_t ngx_tg_call_is_task_submission(const ngx_tg_call_t *call,
                                          const tg_request_t *request);

/*
 * Creates a task from the call in the runner. Closes and frees job, the params
 * of `exec`.
 */
void ngx_tg_call_start_task(ngx_tg_call_t *call, tg_str_t arguments,
                            tg_buf_t *job);

/* Appends format and largest size of the output of a job. */
void ngx_tg_call_append_output_params(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Sends a large result of a call that this worker has run to the runner, which
 * stores it. Returns 1: the call ends when the result is stored; 0: the result
 * is not large or cannot be stored, and the call ends with the outcome, which
 * may have become a failure.
 */
ngx_uint_t ngx_tg_call_store_result(ngx_tg_call_t *call, tg_outcome_t *outcome);

typedef ngx_uint_t (*ngx_tg_store_result_pt)(ngx_tg_call_t *call,
                                             tg_outcome_t *outcome);

/* Sets the function that stores large results, before the first call. */
void ngx_tg_calls_init_process(ngx_tg_store_result_pt store);

/* Frees the worker's cached call and logs the totals of its calls. */
void ngx_tg_calls_exit_process(ngx_cycle_t *cycle);

#endif
