/* What only the files of nginx/call/ know of a call. */
#ifndef _NGX_TG_CALL_IMPL_H_INCLUDED_
#define _NGX_TG_CALL_IMPL_H_INCLUDED_

#include "nginx/call/ngx_tg_call_checks.h"
#include "nginx/call/ngx_tg_remote_call.h"
#include "nginx/shm/ngx_tg_counters.h"

/* Initial size of a call's pool, in bytes: its values are usually short. */
#define NGX_TG_CALL_POOL_SIZE 2048

/*
 * Time after a call's deadline, in ms, when its executor counts as hung. Until
 * then the executor enforces the deadline itself.
 */
#define NGX_TG_WATCHDOG_GRACE 5000

/* Receives the job of a call that is not started (ngx_tg_call_capture.h). */
typedef struct {
    tg_str_t method;
    tg_buf_t *params;
} ngx_tg_captured_job_t;

struct ngx_tg_call_private_s {
    const ngx_tg_handler_t *handler; /* NULL: the call runs elsewhere */
    tg_call_t *deferred;             /* NULL until deferred */
    tg_schema_t *output_schema;      /* owned reference, or NULL */
    ngx_msec_t timeout;
    ngx_msec_t max_timeout;
    /* the call's own copy of the session's variables, or NULL */
    ngx_stream_variable_value_t *variables;
    size_t size; /* size of the request message in bytes */
    /* steps of argument lookups after the request's frame was freed */
    uint64_t lookup_steps;
    tg_str_t arguments; /* copy of the arguments, if a log may need them */
    /* statistics from the executor; -1 ms: not known yet */
    tg_run_stats_t ran;
    ngx_event_t timer; /* watchdog of a deferred call */
    ngx_tg_remote_call_t job;
    /* request for a slot, if this worker runs the call */
    ngx_tg_upstream_request_t slot_request;
    /* params of the slot request; empty: the call needs no slot */
    tg_str_t limits;
    tg_str_t store_params; /* params to store a large result, or empty */
    size_t unstored_max;   /* largest result, in bytes, that is not stored */
    /* max_output of the tool, in bytes, if results are stored */
    size_t max_output;
    /* log level of a refusal, set by its rule; 0: default */
    ngx_uint_t log_level;
    ngx_tg_counters_t *counters;
    ngx_tg_captured_job_t *captured; /* NULL: the job is started */
    uint64_t number;                 /* number for `toolgate.status`; 0: none */
    /* handle from ngx_tg_running_call_add(), or 0 */
    ngx_uint_t running;
    /* the peer has already answered the call with a refusal */
    unsigned is_refused:1;
    unsigned is_handed_off:1; /* the job was detached from a worker before */
    unsigned is_stored:1;     /* the runner is storing the large result */
    unsigned is_repeatable:1; /* the params of the job are kept */
};

/* A call, as it is allocated. */
typedef struct {
    ngx_tg_call_t call;
    ngx_tg_call_private_t priv;
} ngx_tg_call_block_t;

void ngx_tg_call_set_state(ngx_tg_call_t *call, ngx_tg_call_state_t state);

/*
 * Makes the call outlive its request, but does not run its handler. NGX_OK, or
 * NGX_ERROR: the call was answered and freed.
 */
ngx_int_t ngx_tg_call_defer_request(ngx_tg_call_t *call);

/*
 * Keeps the params of a deferred call for a repetition. Without memory they are
 * not kept.
 */
void ngx_tg_call_save_task_params(ngx_tg_call_t *call, tg_str_t params);

/* Restarts the call's watchdog: its executor or its client is alive. */
void ngx_tg_call_reset_watchdog(ngx_tg_call_t *call);

/*
 * Handles a notification of the runner about a server request: sends the
 * request to the client, or cancels it if params has no method.
 */
void ngx_tg_call_on_server_request(ngx_tg_call_t *call, tg_str_t params);

/*
 * Returns one of the session's calls that have a runner, or NULL. All such
 * calls of a session have the same runner.
 */
ngx_tg_call_t *ngx_tg_session_base_find_remote_call(
    ngx_tg_session_base_t *base);

/*
 * Saves what a log may need after the request is freed: the credentials of the
 * client, and the arguments if a log uses them. tool may be NULL. NGX_OK, or
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_call_save_for_log(ngx_tg_call_t *call,
                                   const ngx_tg_tool_t *tool,
                                   tg_str_t arguments);

/* Logs an ended call, unless its session is in another worker. */
void ngx_tg_call_log_end(ngx_tg_call_t *call,
                         const ngx_tg_call_record_t *record);

/* Returns the rule with a name of limits or the runner, or ..._NONE. */
ngx_tg_call_rule_t ngx_tg_call_rule_find(tg_str_t name);

/* Makes the record of an answered call and counts its end. */
void ngx_tg_call_make_record(ngx_tg_call_t *call, const tg_outcome_t *outcome,
                             ngx_tg_call_record_t *record);

/* Makes the record of a killed call, which another worker counts. */
void ngx_tg_call_make_killed_record(const ngx_tg_call_t *call,
                                    ngx_tg_call_record_t *record);

/*
 * Returns the queue and run times of a call so far: from its executor, or
 * measured by this worker if it runs the call.
 */
tg_run_stats_t ngx_tg_call_get_run_stats(const ngx_tg_call_t *call);

/* Counts a call that begins. */
void ngx_tg_calls_count_begun(void);

/* Logs how many calls began and how they ended, at the worker's exit. */
void ngx_tg_calls_log_totals(ngx_cycle_t *cycle);

/* Copies the trace context of the request, if it is valid. */
void ngx_tg_call_read_trace_context(ngx_tg_call_t *call);

/*
 * Sets the trace context of a call that another worker has handed over. NGX_OK
 * (an invalid context is ignored), or NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_call_restore_trace_context(ngx_tg_call_t *call,
                                            tg_str_t parent, tg_str_t state);

/* Members of a session that are saved while the session is lent to a call. */
typedef struct {
    ngx_stream_session_t session;
    ngx_pool_t *pool;
    ngx_uint_t log_level;
} ngx_tg_borrowed_session_t;

/*
 * Gives the session the call's variables and pool, for code of NGINX that
 * evaluates variables or allocates from the session's pool. NGX_OK, or
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_call_borrow_session(ngx_tg_call_t *call,
                                     ngx_tg_borrowed_session_t *borrowed);

/* Restores the session after ngx_tg_call_borrow_session(). */
void ngx_tg_call_return_session(ngx_tg_call_t *call,
                                const ngx_tg_borrowed_session_t *borrowed);

/*
 * Appends the largest response that the client accepts, for a job that produces
 * a response: `,"max_answer":N`.
 */
void ngx_tg_call_append_max_response(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Saves the params to store a large result, for a call that this worker runs.
 * TG_OK or TG_NOMEM.
 */
int ngx_tg_call_save_store_params(ngx_tg_call_t *call);

/* Checks whether a large result of the call may be stored. */
static ngx_inline ngx_uint_t
ngx_tg_call_can_be_stored(const ngx_tg_call_t *call)
{
    return call->priv->store_params.len != 0
           || (call->tool != NULL && call->tool->output_spec.is_stored);
}

/* Prepares the call's job for a runner; events of the job go to the call. */
void ngx_tg_call_init_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner);

/*
 * Attaches the call to a job that a runner holds under a key. TG_OK, or an
 * error of ngx_tg_runner_send_request().
 */
int ngx_tg_call_attach_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner,
                              const char *key);

/* Creates a call of a session; NULL: no memory. */
ngx_tg_call_t *ngx_tg_call_new(ngx_tg_session_base_t *base);

/*
 * Marks the call as deferred and starts its watchdog, which fires in `left` ms.
 */
void ngx_tg_call_set_deferred(ngx_tg_call_t *call, tg_call_t *deferred,
                              ngx_msec_t left);

/* Counts the beginning of a call of a tool. */
void ngx_tg_call_count_begin(ngx_tg_call_t *call, ngx_tg_tool_t *tool);

/* Counts a call under the name of the session's client. */
void ngx_tg_session_base_count_call(ngx_tg_session_base_t *base);

/*
 * Counts a call that came from another worker. entry: the tool in the old
 * config; now: in this one, or NULL.
 */
void ngx_tg_call_count_moved_in(ngx_tg_call_t *call,
                                const tg_catalog_entry_t *entry,
                                const tg_catalog_entry_t *now);

/* Counts the end of a call; a call that has moved is counted as moved only. */
void ngx_tg_call_count_end(ngx_tg_call_t *call,
                           const ngx_tg_call_record_t *record);

/* Counts a call as moved to another worker. */
void ngx_tg_call_count_moved_out(ngx_tg_call_t *call);

/*
 * Returns the number of the call in `toolgate.status`; 0: the call is not
 * listed.
 */
uint64_t ngx_tg_call_get_number(ngx_tg_call_t *call);

/*
 * Publishes a deferred call to all workers. unwanted(call) runs when another
 * process requests the end of the call.
 */
void ngx_tg_call_publish_running(ngx_tg_call_t *call,
                                 void (*unwanted)(void *call));

/* The scope of a limit, and the names of its directives, for messages. */
typedef struct {
    const char *tools;
    const char *rate;
    const char *concurrency;
} ngx_tg_limit_scope_t;

/*
 * Gets the limits of a tool, from its own to the server's. Returns their
 * number; both arrays need 3 elements.
 */
ngx_uint_t ngx_tg_tool_get_limits(const ngx_tg_tool_t *tool,
                                  const ngx_tg_srv_conf_t *scf,
                                  const ngx_tg_limit_t **limits,
                                  ngx_tg_limit_scope_t *scopes);

/*
 * Counts a call in all its rates. NGX_OK, or NGX_BUSY: a rate is exceeded; text
 * (NUL-terminated) has the message, and call->rule the rule.
 */
ngx_int_t ngx_tg_call_take_rate(ngx_tg_call_t *call, u_char *text, size_t size);

/*
 * Compiles the schemas of an imported tool at its first call, and keeps a
 * reference to the output schema. Returns NULL, or the reason of a refusal: the
 * calls of one frame have compiled too much.
 */
const char *ngx_tg_call_prepare_schemas(ngx_tg_call_t *call);

/*
 * Validates the call's arguments with the tool's input schema, and inserts
 * defaults. TG_OK; TG_INVALID or TG_NOMEM: outcome is the failure, whose text
 * may be in scratch.
 */
int ngx_tg_call_validate_args(ngx_tg_call_t *call, tg_outcome_t *outcome,
                              tg_buf_t *scratch);

/* Validates a client's answer. TG_OK, TG_INVALID, TG_LIMIT or TG_NOMEM. */
int ngx_tg_call_validate_answer(ngx_tg_call_t *call, const tg_schema_t *schema,
                                tg_str_t raw);

/*
 * Validates an outcome with the call's output schema. An invalid outcome
 * becomes a failure whose text is in scratch.
 */
void ngx_tg_call_validate_outcome(ngx_tg_call_t *call, tg_outcome_t *outcome,
                                  tg_buf_t *scratch);

/*
 * Replaces the JSON of a remote call by the whole result of a prompt or
 * resource if `output result` is set, or by a failure whose text is in scratch.
 */
void ngx_tg_call_check_remote_result(const ngx_tg_call_t *call,
                                     tg_outcome_t *outcome, tg_buf_t *scratch);

#endif
