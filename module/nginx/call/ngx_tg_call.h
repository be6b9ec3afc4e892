/*
 * A call of a tool or method, from its request to its one end.
 *
 *   CHECKING ──▶ RUNNING ──▶ ENDED
 *                  │  ▲
 *                  ▼  │
 *                 MOVING       its session goes to another worker
 *
 * ngx_tg_call_end() is the only end, for whatever becomes of a call.
 * A call that is answered later leaves its answer with the peer and posts the
 * front's event: nothing calls back into a session that runs.
 */
#ifndef _NGX_TG_CALL_H_INCLUDED_
#define _NGX_TG_CALL_H_INCLUDED_

#include "nginx/call/ngx_tg_remote_call.h"
#include "nginx/config/ngx_tg_config.h"
#include "nginx/sched/ngx_tg_log_throttle.h"
#include "nginx/shm/ngx_tg_counters.h"

/* A call's values are short; a pool grows where they are not. */
#define NGX_TG_CALL_POOL_SIZE 2048
/* Who runs a call keeps its deadline; this much later it is taken for hung. */
#define NGX_TG_WATCHDOG_GRACE 5000

/* The process at the other end of a Unix socket, as the kernel knows it. */
typedef struct {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    ngx_uint_t ngroups;
} ngx_tg_peer_cred_t;

/*
 * What became of a call: a failure of tg_failure_t, or one of those that
 * need no answer, as nobody waits for it here.
 */
typedef enum {
    NGX_TG_END_CANCELLED = TG_FAILURE_SIZE + 1,
    NGX_TG_END_CLIENT_GONE, /* its client went away */
    NGX_TG_END_MOVED,       /* it goes on in another worker */
    NGX_TG_END_COUNT,

    /* Its worker was told to stop at once: logged, and counted by others. */
    NGX_TG_END_KILLED = NGX_TG_END_COUNT
} ngx_tg_end_reason_t;

/* By what a call was refused or ended: a directive, as a rule. */
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
    NGX_TG_RULE_EXEC,   /* its program could not be started */
    NGX_TG_RULE_RUNNER, /* the runner's own bounds */
    NGX_TG_RULE_COUNT
} ngx_tg_call_rule_t;

/* What is known of a call at its end, for logs and counters. */
typedef struct {
    const tg_catalog_entry_t *entry; /* NULL: the catalogue does not have it */
    ngx_uint_t end;                  /* tg_failure_t or ngx_tg_end_reason_t */
    ngx_uint_t rule;                 /* ngx_tg_call_rule_t */
    ngx_msec_t time;     /* since it came, in this worker or another */
    int64_t queued;      /* ms of it; -1: nobody has said */
    int64_t ran;         /* likewise */
    int64_t exit;        /* status of its program; -1: there is none */
    int64_t signal;      /* that ended its program, or 0 */
    uint64_t bytes_in;   /* of its message */
    uint64_t bytes_out;  /* of its answer; 0: it got none */
    ngx_uint_t is_known; /* 0: none ended yet */
} ngx_tg_call_record_t;

/* W3C trace context of a call, plain text, each valid or absent. */
typedef struct {
    tg_str_t parent;
    tg_str_t state;
} ngx_tg_trace_context_t;

/* Where calls come from: what they know of a session. */
struct ngx_tg_session_base_s {
    tg_peer_t peer;
    ngx_connection_t *connection;
    ngx_stream_session_t *stream;
    ngx_tg_srv_conf_t *conf;
    ngx_tg_call_t *current;    /* while its values are evaluated */
    ngx_tg_call_record_t last; /* of the call that ended last */
    const ngx_tg_call_record_t
        *ended_record; /* of current, while it is logged */
    ngx_tg_peer_cred_t client;
    const tg_catalog_t *view_catalog; /* whose view is known, or NULL */
    uint64_t view_hash;               /* what the client sees of it */
    uint64_t steps;                 /* that schemas have taken for it, in all */
    char key[NGX_TG_TOKEN_LEN + 1]; /* empty: nobody has asked for it */
    tg_throttle_t throttle;         /* of lines about what it sends */
    unsigned has_client:1;          /* client was asked for, and is known */
    unsigned is_gone:1;             /* nobody will read its answers */
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
    const ngx_tg_handler_t *handler; /* NULL: it runs elsewhere */
    void *ctx;                       /* the handler's own */
    ngx_pool_t *pool;
    tg_request_t *request; /* NULL once deferred */
    tg_call_t *deferred;   /* NULL until then */

    /* The catalogue's, in which a deferred call points to nothing. */
    ngx_tg_tool_t *tool;             /* NULL once deferred */
    const tg_catalog_entry_t *entry; /* then a copy */
    tg_schema_t *output_schema;      /* held, or NULL */
    ngx_msec_t timeout;
    ngx_msec_t max_timeout;

    ngx_tg_trace_context_t trace;

    ngx_stream_variable_value_t *variables; /* of this call, when it has any */
    tg_str_t element; /* raw, of the array whose elements are gone through */
    ngx_msec_t start;
    size_t size;           /* bytes of its message */
    uint64_t lookup_steps; /* steps to look for arguments behind its frame */
    tg_str_t name;         /* of a tool that there is not, or empty */
    tg_str_t arguments;    /* a copy, where a log may ask for them */
    tg_run_stats_t ran;    /* what who runs it tells of it; -1 ms: not yet */
    ngx_event_t timer;     /* deferred: the last resort */
    ngx_tg_remote_call_t job;
    ngx_tg_upstream_request_t
        slot_request;        /* among the calls that this worker may run */
    tg_str_t limits;         /* what is asked for it; empty: it needs none */
    tg_str_t store_params;   /* params to store a large result, or empty */
    size_t unstored_max;     /* bytes of a result that is not large */
    size_t max_output;       /* of its tool, where results are stored */
    ngx_tg_call_rule_t rule; /* by which it does not end well */
    ngx_uint_t log_level;    /* of that, as the rule says; 0: it does not */
    ngx_tg_counters_t *counters;
    uint64_t number;            /* of one that is deferred; 0: it has none */
    ngx_uint_t running;         /* as ngx_tg_running_call_add() said */
    unsigned is_refused:1;      /* the peer has answered it: it may not be */
    unsigned is_handed_off:1;   /* its job was held for another worker */
    unsigned has_run:1;         /* its handler was told to */
    unsigned is_out_of_steps:1; /* an argument was not found within the steps */
    unsigned is_integer:1;      /* element, if a number, is a whole one */
    unsigned is_stored:1;       /* the runner stores its large result */
    unsigned has_nulls:1;       /* a null is a value of its text */
};

/*
 * A call has something for a front: its connection's write event is posted,
 * as if the client could take more.
 */
static ngx_inline void
ngx_tg_session_base_wake(ngx_tg_session_base_t *base)
{
    ngx_post_event(base->connection->write, &ngx_posted_events);
}

/* As tg_peer_ops_t has them; host is a front. */
void ngx_tg_call_start(void *host, tg_peer_t *peer, tg_request_t *request);
void ngx_tg_call_reject_unknown(void *host, tg_peer_t *peer,
                                tg_request_t *request);
void ngx_tg_call_cancel(void *host, tg_call_t *deferred);
void ngx_tg_session_base_on_log(void *host, const char *text);
void ngx_tg_call_on_client_response(void *host, uint64_t tag,
                                    const tg_message_t *message);

/*
 * Ends a call and frees it.  NULL: nobody waits for an answer, as it was
 * cancelled, its client is gone, or it moved.
 */
void ngx_tg_call_end(ngx_tg_call_t *call, const tg_outcome_t *outcome);
void ngx_tg_call_fail(ngx_tg_call_t *call, tg_failure_t failure,
                      const char *text);

/* Ends it with what its handler put out, as its `output` has that. */
void ngx_tg_call_end_with_output(ngx_tg_call_t *call, tg_str_t bytes);

/*
 * Keeps the call beyond its handler's start, for as long as its timeout, and
 * anew with each progress.  NGX_ERROR: it was answered and freed.  One of a
 * handler that has `run` may have ended when this returns.
 */
ngx_int_t ngx_tg_call_defer(ngx_tg_call_t *call);

/* Only has the call outlive its request.  NGX_ERROR: it was answered. */
ngx_int_t ngx_tg_call_defer_request(ngx_tg_call_t *call);

/* The values are raw, or absent. */
void ngx_tg_call_send_progress(ngx_tg_call_t *call, tg_str_t progress,
                               tg_str_t total, tg_str_t message);

/*
 * What tells a client from all others, hard to guess, whichever worker has
 * its session; NULL: there is none.  Handlers are told when it is gone.
 */
const char *ngx_tg_session_base_get_token(ngx_tg_session_base_t *base);
void ngx_tg_session_base_notify_gone(ngx_tg_session_base_t *base);

/* It came with a key, if it has one, or goes on with it in another worker. */
void ngx_tg_session_base_hold_runner(ngx_tg_session_base_t *base);
void ngx_tg_session_base_release_runner(ngx_tg_session_base_t *base);

/* A sign of life, of whoever runs it or of its client. */
void ngx_tg_call_reset_watchdog(ngx_tg_call_t *call);

/* The runner's notification `ask` or `unask` about a call. */
void ngx_tg_call_on_server_request(ngx_tg_call_t *call, tg_str_t params);

/*
 * One of a client's calls that are jobs, all of which are one runner's; or
 * NULL.
 */
ngx_tg_call_t *ngx_tg_session_base_find_remote_call(
    ngx_tg_session_base_t *base);

/* --- logs of calls --- */

/*
 * A call that outlasts its request, of a tool or NULL, keeps what its log may
 * ask for at the end.  NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_call_save_for_log(ngx_tg_call_t *call,
                                   const ngx_tg_tool_t *tool,
                                   tg_str_t arguments);

/* It has ended: the logs are told, if that is here. */
void ngx_tg_call_log_end(ngx_tg_call_t *call,
                         const ngx_tg_call_record_t *record);

/* --- what is known of calls at their end --- */

/* The words of $tool_status and $tool_rule; NULL: there is no rule. */
const char *ngx_tg_end_reason_get_name(ngx_uint_t end);
const char *ngx_tg_call_rule_get_name(ngx_uint_t rule);

/* The rule that limits and the runner call so, or NONE. */
ngx_tg_call_rule_t ngx_tg_call_rule_find(tg_str_t name);

/*
 * Of a call that has just been answered with an outcome, or with none; counts
 * it among those that have ended.
 */
void ngx_tg_call_make_record(ngx_tg_call_t *call, const tg_outcome_t *outcome,
                             ngx_tg_call_record_t *record);

/* Of one that ends with its worker, and is counted by others. */
void ngx_tg_call_make_killed_record(const ngx_tg_call_t *call,
                                    ngx_tg_call_record_t *record);

/* What this worker tells another one of a call that it has run for it. */
tg_run_stats_t ngx_tg_call_get_run_stats(const ngx_tg_call_t *call);

/* A call begins; and how all have ended, when the worker exits. */
void ngx_tg_calls_count_begun(void);
void ngx_tg_calls_log_totals(ngx_cycle_t *cycle);

/* Keeps the trace context that its request has, or the one it came with. */
void ngx_tg_call_read_trace_context(ngx_tg_call_t *call);
ngx_int_t ngx_tg_call_restore_trace_context(ngx_tg_call_t *call,
                                            tg_str_t parent, tg_str_t state);

/* Evaluates a value of the tool for this call: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_call_eval_value(ngx_tg_call_t *call,
                                 ngx_stream_complex_value_t *value,
                                 ngx_str_t *text);

/*
 * What a backend's result or error is for a call, whose `output` says how a
 * result of a tool is told; scratch lives as long as the outcome.  is_method:
 * it answers a method of JSON-RPC, with any value.
 */
tg_outcome_t ngx_tg_call_convert_response(ngx_tg_call_t *call,
                                          ngx_uint_t is_method,
                                          size_t max_output,
                                          const tg_response_t *answer,
                                          tg_buf_t *scratch);

/* What a session is without, while it is lent to a call. */
typedef struct {
    ngx_stream_session_t session;
    ngx_pool_t *pool;
    ngx_uint_t log_level;
} ngx_tg_borrowed_session_t;

/*
 * For NGINX's own code that evaluates variables of a session, or allocates
 * from its pool: meanwhile both are the call's.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_call_borrow_session(ngx_tg_call_t *call,
                                     ngx_tg_borrowed_session_t *borrowed);
void ngx_tg_call_return_session(ngx_tg_call_t *call,
                                const ngx_tg_borrowed_session_t *borrowed);

/*
 * Appends a text and its closing quote, or what a value of the tool is for
 * this call: NULL; or what is wrong, and invalid where it is no UTF-8.
 */
const char *ngx_tg_append_json_string_end(tg_buf_t *buf, tg_str_t text,
                                          const char *invalid);
const char *ngx_tg_call_append_value(ngx_tg_call_t *call, tg_buf_t *buf,
                                     ngx_stream_complex_value_t *value,
                                     const char *invalid);

/* --- calls that are jobs --- */

/*
 * Asks the server's runner for a job of a deferred call, which ends with the
 * job; or now, when it cannot be asked for.
 */
void ngx_tg_call_start_remote(ngx_tg_call_t *call, tg_str_t method,
                              tg_str_t params);

/* Appends what each job is asked, as an object that is left open. */
void ngx_tg_call_begin_params(ngx_tg_call_t *call, tg_buf_t *params);

/* Appends how large an answer the client takes, for a job that makes one. */
void ngx_tg_call_append_max_response(ngx_tg_call_t *call, tg_buf_t *params);

/* Appends where a large result is stored, if it is: `,"spill":{…}`. */
void ngx_tg_call_append_stored_output(ngx_tg_call_t *call, tg_buf_t *params);

/* The most bytes that a handler takes: what is stored may be larger. */
size_t ngx_tg_call_get_handler_max_output(const ngx_tg_call_t *call);

/*
 * A call that this worker runs notes how its large result is to be stored.
 * TG_OK or TG_NOMEM.
 */
int ngx_tg_call_save_store_params(ngx_tg_call_t *call);

/* May the worker have a large result of this call stored? */
static ngx_inline ngx_uint_t
ngx_tg_call_can_be_stored(const ngx_tg_call_t *call)
{
    return call->store_params.len != 0
           || (call->tool != NULL && call->tool->stores_output);
}

/*
 * Has the runner store a large result of a call that this worker has run.
 * Returns 1: the call ends when that is done; 0: it is not large, or cannot
 * be stored, and ends with the outcome, which may say so now.
 */
ngx_uint_t ngx_tg_call_store_result(ngx_tg_call_t *call, tg_outcome_t *outcome);

/* Appends whose an output that is kept is: `,"owner":"1000"`. */
void ngx_tg_call_append_owner(ngx_tg_call_t *call, tg_buf_t *params);

/*
 * Of a deferred call about tasks: its params are kept, and sent again if the
 * runner ends before it answers.  Without memory for them, they are not.
 */
void ngx_tg_call_save_task_params(ngx_tg_call_t *call, tg_str_t params);

/*
 * Appends a token, by which the store knows a submission that is repeated: 1;
 * or 0, and the submission cannot be.
 */
ngx_uint_t ngx_tg_append_submission_token(tg_buf_t *params);

/*
 * Does its tool, or the caller, want it to become a task?  And: the runner
 * makes that of it; job has the params of `exec`.
 */
ngx_uint_t ngx_tg_call_is_task_submission(const ngx_tg_call_t *call,
                                          const tg_request_t *request);
void ngx_tg_call_start_task(ngx_tg_call_t *call, tg_str_t arguments,
                            tg_str_t job);

/* And what those that put something out are: what it is to be, how much. */
void ngx_tg_call_append_output_params(ngx_tg_call_t *call, tg_buf_t *params);

/* What becomes of its job, of this runner, is told to the call. */
void ngx_tg_call_init_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner);

/* Goes on with the job that a runner holds: as ngx_tg_runner_send_request(). */
int ngx_tg_call_attach_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner,
                              const char *key);

/* --- calls that change their worker --- */

/*
 * All calls of a front are to leave: NGX_OK: they may; NGX_AGAIN: the front is
 * woken when that has changed.
 */
ngx_int_t ngx_tg_session_base_detach_calls(ngx_tg_session_base_t *base);

/* They stay after all. */
void ngx_tg_session_base_reattach_calls(ngx_tg_session_base_t *base);

/* They went: each ends here, or goes on without its session. */
void ngx_tg_session_base_hand_off_calls(ngx_tg_session_base_t *base);
void ngx_tg_call_hand_off(ngx_tg_call_t *call);

/* Its worker stops at once, and will not see its end: only logs that. */
void ngx_tg_call_log_killed(ngx_tg_call_t *call);

/* worker_shutdown_timeout has passed: it fails, whatever works for it. */
void ngx_tg_call_fail_shutdown_timeout(ngx_tg_call_t *call);

/* As tg_peer_save() and tg_peer_load() want it; host is a front. */
void ngx_tg_call_write_snapshot(void *host, const tg_call_t *deferred,
                                tg_buf_t *out);
void ngx_tg_call_restore(void *host, tg_call_t *deferred,
                         const tg_catalog_entry_t *now, tg_str_t bytes);

/* ms until the timer fires, 1 at least; 0: it is not set. */
uint64_t ngx_tg_timer_get_remaining_ms(const ngx_event_t *ev);

/* A call of a front: NULL when there is no memory. */
ngx_tg_call_t *ngx_tg_call_new(ngx_tg_session_base_t *base);

/* It is deferred, and has this time (ms) left to end. */
void ngx_tg_call_set_deferred(ngx_tg_call_t *call, tg_call_t *deferred,
                              ngx_msec_t left);

/* Stores large results: as ngx_tg_call_store(). */
typedef ngx_uint_t (*ngx_tg_store_result_pt)(ngx_tg_call_t *call,
                                             tg_outcome_t *outcome);

/* Before a worker's first call. */
void ngx_tg_calls_init_process(ngx_tg_store_result_pt store);

/* Frees what the worker keeps, and says how its calls ended. */
void ngx_tg_calls_exit_process(ngx_cycle_t *cycle);

/* --- numbers --- */

/* It begins, as one of this tool; or came from another worker. */
void ngx_tg_call_count_begin(ngx_tg_call_t *call, ngx_tg_tool_t *tool);
void ngx_tg_call_count_moved_in(ngx_tg_call_t *call,
                                const tg_catalog_entry_t *entry,
                                const tg_catalog_entry_t *now);

/* It ended here; or its session went, and only that is counted. */
void ngx_tg_call_count_end(ngx_tg_call_t *call,
                           const ngx_tg_call_record_t *record);
void ngx_tg_call_count_moved_out(ngx_tg_call_t *call);

/* By which `toolgate.status` names it; 0: not at all. */
uint64_t ngx_tg_call_get_number(ngx_tg_call_t *call);

/* It was deferred: others know of it; unwanted: one of them wants it ended. */
void ngx_tg_call_publish_running(ngx_tg_call_t *call,
                                 void (*unwanted)(void *call));

/* --- access --- */

/* A connection's client, without groups; NGX_DECLINED: it came over TCP. */
ngx_int_t ngx_tg_connection_get_peer_cred(ngx_connection_t *c,
                                          ngx_tg_peer_cred_t *client);

/* The front's client; NULL when it came over TCP. */
const ngx_tg_peer_cred_t *ngx_tg_session_base_get_peer_cred(
    ngx_tg_session_base_t *base);

/*
 * May client (NULL: unknown) see and call this entry?  The first rule that
 * matches decides, the tool's before the server's; without one it may.
 */
ngx_uint_t ngx_tg_entry_is_allowed(const ngx_tg_srv_conf_t *scf,
                                   const tg_catalog_entry_t *entry,
                                   const ngx_tg_peer_cred_t *client);

/*
 * As tool_status_allow has it, `toolgate.status` and the like may be called;
 * and by whom other rules (or NULL) allow it.
 */
ngx_array_t *ngx_tg_conf_make_status_rules(ngx_conf_t *cf,
                                           const ngx_tg_srv_conf_t *scf,
                                           const ngx_array_t *others);

/* The same for a front, as tg_peer_ops_t has it. */
int ngx_tg_session_base_can_see(void *host, const tg_catalog_entry_t *entry);

/* May it be told what all clients are told?  By the server's rules. */
ngx_uint_t ngx_tg_session_base_can_be_notified(ngx_tg_session_base_t *base);

/* Does it see what is others'?  As scf->all_rules has it. */
ngx_uint_t ngx_tg_session_base_can_see_all(ngx_tg_session_base_t *base);

/* --- limits, schemas, arguments --- */

/* Whose a limit is, and how it is called in messages. */
typedef struct {
    const char *tools;
    const char *rate;
    const char *concurrency;
} ngx_tg_limit_scope_t;

/* The limits of a tool, from the nearest on: how many; there is room for 3. */
ngx_uint_t ngx_tg_tool_get_limits(const ngx_tg_tool_t *tool,
                                  const ngx_tg_srv_conf_t *scf,
                                  const ngx_tg_limit_t **limits,
                                  ngx_tg_limit_scope_t *scopes);

/* Counts a call: NGX_OK, or NGX_BUSY: one too many, as text and rule say. */
ngx_int_t ngx_tg_call_take_rate(ngx_tg_call_t *call, u_char *text, size_t size);

/*
 * Compiles the schemas of an imported tool at its first call, and holds that
 * of the output.  NULL, or why the arguments are refused: the frame has
 * compiled enough.
 */
const char *ngx_tg_call_prepare_schemas(ngx_tg_call_t *call);

/* As tg_tool_validate_args(), of the call's tool. */
int ngx_tg_call_validate_args(ngx_tg_call_t *call, tg_outcome_t *outcome,
                              tg_buf_t *scratch);

/*
 * Does an outcome fit the call's output schema?  If not, it becomes a failure
 * whose text is in scratch.
 */
void ngx_tg_call_validate_outcome(ngx_tg_call_t *call, tg_outcome_t *outcome,
                                  tg_buf_t *scratch);
void ngx_tg_schema_checker_exit(void);

/*
 * Which argument a variable means: the property of the schema that has its
 * name, so that what is used is what was checked; NULL: that name itself.
 */
const ngx_tg_arg_property_t *ngx_tg_tool_find_property(
    const ngx_tg_tool_t *tool, tg_str_t name);

/*
 * A member of an object among the arguments, of which there are notes or NULL:
 * as tg_json_index_get(), and what it takes is of the steps of the frame.
 * TG_LIMIT: there are none left, and the call fails once its values are asked
 * for.
 */
int ngx_tg_call_lookup_arg(ngx_tg_call_t *call, const tg_json_index_t *notes,
                           tg_str_t object, tg_str_t name,
                           tg_json_member_t *note);

/*
 * Is a value of the arguments as if it were not there?  A null is, where a
 * variable of this kind puts its text into a word, a URL, a header or the
 * like; not in what is answered, and not in logs.
 */
static ngx_inline ngx_uint_t
ngx_tg_call_is_arg_absent(const ngx_tg_call_t *call, tg_variable_type_t kind,
                          tg_str_t value)
{
    return kind == TG_VARIABLE_ARG && !call->has_nulls
           && call->base->ended_record == NULL
           && tg_json_type(value) == TG_JSON_NULL;
}

/*
 * What a path leads to in the arguments, or in what the schema has for those
 * that were not given: raw, or absent.
 */
void ngx_tg_call_get_path_value(ngx_tg_call_t *call,
                                const ngx_tg_arg_path_t *path,
                                tg_json_member_t *note);

/*
 * The elements of an array among the arguments: next() makes each of them
 * call->element, and returns 0 after the last one.  An absent array, and null,
 * has none; any other value is one element.
 */
typedef struct {
    tg_json_cursor_t json;
    tg_str_t single; /* the value, if it is not an array; else absent */
    unsigned is_integer:1;
} ngx_tg_arg_elements_t;

void ngx_tg_call_begin_elements(ngx_tg_call_t *call,
                                const ngx_tg_arg_path_t *path,
                                ngx_tg_arg_elements_t *elements);
ngx_uint_t ngx_tg_call_next_element(ngx_tg_call_t *call,
                                    ngx_tg_arg_elements_t *elements);

#endif
