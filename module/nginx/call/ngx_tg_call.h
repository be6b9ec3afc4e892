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

#include "nginx/call/ngx_tg_remote_call.h"
#include "nginx/config/ngx_tg_config.h"
#include "nginx/sched/ngx_tg_log_throttle.h"
#include "nginx/shm/ngx_tg_counters.h"

/* Initial size of a call's pool, in bytes: its values are usually short. */
#define NGX_TG_CALL_POOL_SIZE 2048
/*
 * Time after a call's deadline, in ms, when its executor counts as hung. Until
 * then the executor enforces the deadline itself.
 */
#define NGX_TG_WATCHDOG_GRACE 5000

/* The process at the other end of a Unix socket, as the kernel reports it. */
typedef struct {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    ngx_uint_t ngroups;
} ngx_tg_peer_cred_t;

/*
 * The end of a call: a failure of tg_failure_t, or one of these reasons, which
 * send no response because nobody waits for it in this worker.
 */
typedef enum {
    NGX_TG_END_CANCELLED = TG_FAILURE_SIZE + 1,
    NGX_TG_END_CLIENT_GONE, /* the client disconnected */
    NGX_TG_END_MOVED,       /* the call continues in another worker */
    NGX_TG_END_COUNT,

    /*
     * the worker stops at once: it only logs the call, other workers count it
     */
    NGX_TG_END_KILLED = NGX_TG_END_COUNT
} ngx_tg_end_reason_t;

/* The rule, usually a directive, by which a call was refused or ended. */
typedef enum {
    NGX_TG_RULE_NONE = 0,
    NGX_TG_RULE_DENY,
    NGX_TG_RULE_INPUT,
    NGX_TG_RULE_OUTPUT,
    NGX_TG_RULE_MAX_OUTPUT,
    NGX_TG_RULE_TIMEOUT,
    NGX_TG_RULE_INFLIGHT,
    NGX_TG_RULE_RATE,
    NGX_TG_RULE_GROUP_RATE,
    NGX_TG_RULE_SERVER_RATE,
    NGX_TG_RULE_CONCURRENCY,
    NGX_TG_RULE_GROUP_CONCURRENCY,
    NGX_TG_RULE_SERVER_CONCURRENCY,
    NGX_TG_RULE_EXEC,   /* the program could not be started */
    NGX_TG_RULE_RUNNER, /* the runner's own limits */
    NGX_TG_RULE_COUNT
} ngx_tg_call_rule_t;

/* Record of an ended call, for logs and counters. */
typedef struct {
    const tg_catalog_entry_t *entry; /* NULL: not in the catalog */
    ngx_uint_t end;                  /* tg_failure_t or ngx_tg_end_reason_t */
    ngx_uint_t rule;                 /* ngx_tg_call_rule_t */
    /* ms from the arrival to the end, in all workers together */
    ngx_msec_t time;
    int64_t queued;      /* time in the queue, in ms; -1: unknown */
    int64_t ran;         /* run time, in ms; -1: unknown */
    int64_t exit;        /* exit status of the program; -1: none */
    int64_t signal;      /* signal that killed the program, or 0 */
    uint64_t bytes_in;   /* size of the request message */
    uint64_t bytes_out;  /* size of the response; 0: none was sent */
    ngx_uint_t is_known; /* 0: no call has ended yet */
} ngx_tg_call_record_t;

/* W3C trace context of a call as plain text; each member is valid or absent. */
typedef struct {
    tg_str_t parent;
    tg_str_t state;
} ngx_tg_trace_context_t;

/* The part of a session that its calls know. */
struct ngx_tg_session_base_s {
    tg_peer_t peer;
    ngx_connection_t *connection;
    ngx_stream_session_t *stream;
    ngx_tg_srv_conf_t *conf;
    ngx_tg_call_t *current;    /* call whose values are being evaluated */
    ngx_tg_call_record_t last; /* record of the call that ended last */
    const ngx_tg_call_record_t
        *ended_record; /* record of `current` while it is logged, or NULL */
    ngx_tg_peer_cred_t client;
    /* catalog that view_hash is about, or NULL */
    const tg_catalog_t *view_catalog;
    /* hash of the entries that the client may see */
    uint64_t view_hash;
    /* total steps of schema checks for this session */
    uint64_t steps;
    /* token of the session; empty: not created yet */
    char key[NGX_TG_TOKEN_LEN + 1];
    /* limit of log lines about the client's input */
    tg_throttle_t throttle;
    unsigned has_client:1; /* `client` was read from the kernel */
    unsigned is_gone:1;    /* the client no longer reads responses */
};

typedef enum {
    NGX_TG_CALL_CHECKING = 0,
    NGX_TG_CALL_RUNNING,
    NGX_TG_CALL_MOVING,
    NGX_TG_CALL_ENDED
} ngx_tg_call_state_t;

struct ngx_tg_call_s {
    ngx_tg_call_state_t state;
    ngx_tg_session_base_t *base; /* NULL: its session is in another worker */
    const ngx_tg_handler_t *handler; /* NULL: the call runs elsewhere */
    void *ctx;                       /* private to the handler */
    ngx_pool_t *pool;
    tg_request_t *request; /* NULL once deferred */
    tg_call_t *deferred;   /* NULL until deferred */

    /* Pointers into the catalog, which a deferred call must not keep. */
    ngx_tg_tool_t *tool;             /* NULL once deferred */
    const tg_catalog_entry_t *entry; /* a copy once deferred */
    tg_schema_t *output_schema;      /* owned reference, or NULL */
    ngx_msec_t timeout;
    ngx_msec_t max_timeout;

    ngx_tg_trace_context_t trace;

    /* the call's own copy of the session's variables, or NULL */
    ngx_stream_variable_value_t *variables;
    /* raw current element of the array that is iterated over */
    tg_str_t element;
    ngx_msec_t start;
    size_t size; /* size of the request message in bytes */
    /* steps of argument lookups after the request's frame was freed */
    uint64_t lookup_steps;
    tg_str_t name;      /* name of an unknown tool, or empty */
    tg_str_t arguments; /* copy of the arguments, if a log may need them */
    /* statistics from the executor; -1 ms: not known yet */
    tg_run_stats_t ran;
    ngx_event_t timer; /* watchdog of a deferred call */
    ngx_tg_remote_call_t job;
    ngx_tg_upstream_request_t
        /* request for a slot, if this worker runs the call */
        slot_request;
    /* params of the slot request; empty: the call needs no slot */
    tg_str_t limits;
    tg_str_t store_params; /* params to store a large result, or empty */
    size_t unstored_max;   /* largest result, in bytes, that is not stored */
    /* max_output of the tool, in bytes, if results are stored */
    size_t max_output;
    ngx_tg_call_rule_t rule; /* rule that refused or ended the call */
    /* log level of a refusal, set by that rule; 0: default */
    ngx_uint_t log_level;
    ngx_tg_counters_t *counters;
    uint64_t number; /* number for `toolgate.status`; 0: none */
    /* handle from ngx_tg_running_call_add(), or 0 */
    ngx_uint_t running;
    /* the peer has already answered the call with a refusal */
    unsigned is_refused:1;
    unsigned is_handed_off:1;   /* the job was detached from a worker before */
    unsigned has_run:1;         /* the handler's run() was called */
    unsigned is_out_of_steps:1; /* an argument lookup ran out of steps */
    unsigned is_integer:1;      /* element, if it is a number, is an integer */
    unsigned is_stored:1;       /* the runner is storing the large result */
    /* a null argument counts as a value, not as absent */
    unsigned has_nulls:1;
};

/*
 * Wakes the session because a call has output for it: posts the connection's
 * write event, as if the socket had become writable.
 */
static ngx_inline void
ngx_tg_session_base_wake(ngx_tg_session_base_t *base)
{
    ngx_post_event(base->connection->write, &ngx_posted_events);
}

/*
 * Starts a call of a request: a callback of tg_peer_ops_t whose host is the
 * ngx_tg_session_base_t.
 */
void ngx_tg_call_start(void *host, tg_peer_t *peer, tg_request_t *request);
/* Rejects a call of an unknown tool or method: a callback of tg_peer_ops_t. */
void ngx_tg_call_reject_unknown(void *host, tg_peer_t *peer,
                                tg_request_t *request);
/* Ends a deferred call without a response: a callback of tg_peer_ops_t. */
void ngx_tg_call_cancel(void *host, tg_call_t *deferred);
/* Logs a text of the peer at level info: a callback of tg_peer_ops_t. */
void ngx_tg_session_base_on_log(void *host, const char *text);
/*
 * Forwards the client's response to a server request to the runner: a callback
 * of tg_peer_ops_t.
 */
void ngx_tg_call_on_client_response(void *host, uint64_t tag,
                                    const tg_message_t *message);

/*
 * Ends a call and frees it. A NULL outcome sends no response: the call was
 * cancelled, its client is gone, or it moved to another worker. If the runner
 * stores a large result first, the call ends after that.
 */
void ngx_tg_call_end(ngx_tg_call_t *call, const tg_outcome_t *outcome);
/* Ends a call as failed and frees it; text is the message for the caller. */
void ngx_tg_call_fail(ngx_tg_call_t *call, tg_failure_t failure,
                      const char *text);

/*
 * Ends a call with its handler's output, parsed according to the tool's
 * `output` directive; output that cannot be parsed becomes a failure.
 */
void ngx_tg_call_end_with_output(ngx_tg_call_t *call, tg_str_t bytes);

/*
 * Keeps the call after its handler's start(), until its timeout; each progress
 * notification restarts the timeout. NGX_ERROR: the call was answered and
 * freed. With NGX_OK, too, a call whose handler has `run` may already have
 * ended.
 */
ngx_int_t ngx_tg_call_defer(ngx_tg_call_t *call);

/*
 * Makes the call outlive its request, but does not run its handler. NGX_OK, or
 * NGX_ERROR: the call was answered and freed.
 */
ngx_int_t ngx_tg_call_defer_request(ngx_tg_call_t *call);

/*
 * Sends a progress notification for the call and restarts its watchdog. The
 * values are raw JSON, or absent.
 */
void ngx_tg_call_send_progress(ngx_tg_call_t *call, tg_str_t progress,
                               tg_str_t total, tg_str_t message);

/*
 * Returns the random token that identifies the session's client in every
 * worker; creates it at the first use. NULL: no random bytes. The token is
 * valid until the session ends.
 */
const char *ngx_tg_session_base_get_token(ngx_tg_session_base_t *base);
/* Notifies the handlers that the client is gone, if the session has a token. */
void ngx_tg_session_base_notify_gone(ngx_tg_session_base_t *base);

/* Keeps the runner's connection open for a session that has a token. */
void ngx_tg_session_base_hold_runner(ngx_tg_session_base_t *base);
/* Stops keeping the runner's connection open and clears the session's token. */
void ngx_tg_session_base_release_runner(ngx_tg_session_base_t *base);

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

/* --- logs of calls --- */

/*
 * Saves what a log may need after the request is freed: the credentials of the
 * client, and the arguments if a log uses them. tool may be NULL. NGX_OK, or
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_call_save_for_log(ngx_tg_call_t *call,
                                   const ngx_tg_tool_t *tool,
                                   tg_str_t arguments);

/*
 * Writes the log lines of an ended call, unless its session is in another
 * worker.
 */
void ngx_tg_call_log_end(ngx_tg_call_t *call,
                         const ngx_tg_call_record_t *record);

/* --- records of ended calls --- */

/* Returns the value of $tool_status for an end reason. */
const char *ngx_tg_end_reason_get_name(ngx_uint_t end);
/* Returns the value of $tool_rule for a rule; NULL: no rule. */
const char *ngx_tg_call_rule_get_name(ngx_uint_t rule);

/*
 * Returns the rule with the name that limits and the runner use, or
 * NGX_TG_RULE_NONE.
 */
ngx_tg_call_rule_t ngx_tg_call_rule_find(tg_str_t name);

/*
 * Fills in the record of a call that was just answered with an outcome, or with
 * none (NULL), and counts the end of the call.
 */
void ngx_tg_call_make_record(ngx_tg_call_t *call, const tg_outcome_t *outcome,
                             ngx_tg_call_record_t *record);

/*
 * Fills in the record of a call that is killed with its worker. Does not count
 * the call: another worker does.
 */
void ngx_tg_call_make_killed_record(const ngx_tg_call_t *call,
                                    ngx_tg_call_record_t *record);

/*
 * Returns the queue and run times of a call so far: from its executor, or
 * measured by this worker if it runs the call.
 */
tg_run_stats_t ngx_tg_call_get_run_stats(const ngx_tg_call_t *call);

/* Counts a call that begins. */
void ngx_tg_calls_count_begun(void);
/*
 * Logs how many calls began and how they ended; called when the worker exits.
 */
void ngx_tg_calls_log_totals(ngx_cycle_t *cycle);

/* Copies the trace context of the request, if it is valid. */
void ngx_tg_call_read_trace_context(ngx_tg_call_t *call);
/*
 * Sets the trace context of a call that another worker has handed over. NGX_OK
 * (an invalid context is ignored), or NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_call_restore_trace_context(ngx_tg_call_t *call,
                                            tg_str_t parent, tg_str_t state);

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

/* --- calls that run as jobs of the runner --- */

/*
 * Starts a job in the server's runner for a deferred call, which ends with the
 * job. Ends the call at once if the request cannot be sent.
 */
void ngx_tg_call_start_remote(ngx_tg_call_t *call, tg_str_t method,
                              tg_str_t params);

/*
 * Appends the params that all jobs have, as a JSON object that the caller must
 * close.
 */
void ngx_tg_call_begin_params(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Appends the largest response that the client accepts, for a job that produces
 * a response: `,"max_answer":N`.
 */
void ngx_tg_call_append_max_response(ngx_tg_call_t *call, tg_buf_t *params);

/* Appends how to store a large result, if it is stored: `,"spill":{…}`. */
void ngx_tg_call_append_stored_output(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Returns the largest output of a handler in bytes: more than max_output if
 * large results are stored.
 */
size_t ngx_tg_call_get_handler_max_output(const ngx_tg_call_t *call);

/*
 * Saves the params to store a large result, for a call that this worker runs.
 * TG_OK or TG_NOMEM.
 */
int ngx_tg_call_save_store_params(ngx_tg_call_t *call);

/* Checks whether a large result of the call may be stored. */
static ngx_inline ngx_uint_t
ngx_tg_call_can_be_stored(const ngx_tg_call_t *call)
{
    return call->store_params.len != 0
           || (call->tool != NULL && call->tool->output_spec.is_stored);
}

/*
 * Sends a large result of a call that this worker has run to the runner, which
 * stores it. Returns 1: the call ends when the result is stored; 0: the result
 * is not large or cannot be stored, and the call ends with the outcome, which
 * may have become a failure.
 */
ngx_uint_t ngx_tg_call_store_result(ngx_tg_call_t *call, tg_outcome_t *outcome);

/* Appends the owner of a stored output, a user id: `,"owner":"1000"`. */
void ngx_tg_call_append_owner(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Keeps the params of a deferred call about tasks, so that they are sent again
 * if the runner ends before it answers. Without memory they are not kept.
 */
void ngx_tg_call_save_task_params(ngx_tg_call_t *call, tg_str_t params);

/*
 * Appends a random token by which the task store recognizes a repeated
 * submission. Returns 1, or 0: no token, so the submission must not be
 * repeated.
 */
ngx_uint_t ngx_tg_append_submission_token(tg_buf_t *params);

/*
 * Checks whether the call becomes a task, because its tool requires it or the
 * caller requests it.
 */
ngx_uint_t ngx_tg_call_is_task_submission(const ngx_tg_call_t *call,
                                          const tg_request_t *request);
/*
 * Makes the runner create a task from the call; job is the raw JSON of the
 * params of `exec`.
 */
void ngx_tg_call_start_task(ngx_tg_call_t *call, tg_str_t arguments,
                            tg_str_t job);

/*
 * Appends the format and the largest size of the output, for jobs that produce
 * output.
 */
void ngx_tg_call_append_output_params(ngx_tg_call_t *call, tg_buf_t *params);

/* Prepares the call's job for a runner; events of the job go to the call. */
void ngx_tg_call_init_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner);

/*
 * Attaches the call to a job that a runner holds under a key. TG_OK, or an
 * error of ngx_tg_runner_send_request().
 */
int ngx_tg_call_attach_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner,
                              const char *key);

/* --- calls that move to another worker --- */

/*
 * Detaches all calls of a session from this worker. NGX_OK: all are detached;
 * NGX_AGAIN: not yet, and the session is woken when a call changes.
 */
ngx_int_t ngx_tg_session_base_detach_calls(ngx_tg_session_base_t *base);

/* Takes back all detached calls, because the session stays in this worker. */
void ngx_tg_session_base_reattach_calls(ngx_tg_session_base_t *base);

/*
 * Hands off all calls of a session that has moved to another worker: each call
 * ends here, or continues here without its session.
 */
void ngx_tg_session_base_hand_off_calls(ngx_tg_session_base_t *base);
/*
 * Hands off one call: ends it here, or continues it here without its session.
 */
void ngx_tg_call_hand_off(ngx_tg_call_t *call);

/* Logs a call that is killed with its worker, which stops at once. */
void ngx_tg_call_log_killed(ngx_tg_call_t *call);

/* Cancels a call and ends it as failed: worker_shutdown_timeout has passed. */
void ngx_tg_call_fail_shutdown_timeout(ngx_tg_call_t *call);

/*
 * Appends the state of a call for its new worker: a callback of tg_peer_save(),
 * whose host is the ngx_tg_session_base_t.
 */
void ngx_tg_call_write_snapshot(void *host, const tg_call_t *deferred,
                                tg_buf_t *out);
/*
 * Restores a call from the state that its old worker wrote: a callback of
 * tg_peer_load(). now: the tool's entry in this worker's catalog, or NULL.
 */
void ngx_tg_call_restore(void *host, tg_call_t *deferred,
                         const tg_catalog_entry_t *now, tg_str_t bytes);

/*
 * Returns the time until the timer fires, in ms, at least 1; 0: the timer is
 * not set.
 */
uint64_t ngx_tg_timer_get_remaining_ms(const ngx_event_t *ev);

/* Creates a call of a session; NULL: no memory. */
ngx_tg_call_t *ngx_tg_call_new(ngx_tg_session_base_t *base);

/*
 * Marks the call as deferred and starts its watchdog, which fires in `left` ms.
 */
void ngx_tg_call_set_deferred(ngx_tg_call_t *call, tg_call_t *deferred,
                              ngx_msec_t left);

/* Function type of ngx_tg_call_store_result(), which stores large results. */
typedef ngx_uint_t (*ngx_tg_store_result_pt)(ngx_tg_call_t *call,
                                             tg_outcome_t *outcome);

/*
 * Sets the function that stores large results, before the first call of the
 * worker.
 */
void ngx_tg_calls_init_process(ngx_tg_store_result_pt store);

/* Frees the worker's cached call and logs the totals of its calls. */
void ngx_tg_calls_exit_process(ngx_cycle_t *cycle);

/* --- counters --- */

/* Counts the beginning of a call of a tool. */
void ngx_tg_call_count_begin(ngx_tg_call_t *call, ngx_tg_tool_t *tool);
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

#endif
