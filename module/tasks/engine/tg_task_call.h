/*
 * A call of a task method: a job of the type `task` with the params
 *
 *   {"store":"sqlite:/PATH","method":"task.get","params":{…},"clients":3,
 *    "owner":"1000","sees_all":true,"is_tool":true,"token":"0a1b…"}
 *
 * The worker has checked `params` against the method's schema. `clients` is the
 * number of clients of the server. The caller sees the tasks of `owner`, or
 * all. is_tool: a tool was called instead of the method. `token` identifies a
 * submission that is repeated if a runner exits before it has responded.
 *
 *   tg_task_call.c          responses, store queries, params
 *   tg_task_call_methods.c  the job type and the table of methods
 *   tg_task_call_submit.c   task.submit, chat.send, cancel, get, list, stats
 *   tg_task_call_tool.c     tool.call: a call of a tool becomes a task
 *   tg_task_call_output.c   task.output
 *   tg_task_call_wait.c     task.wait
 *   tg_task_call_daemon.c   daemon.status and daemon.stop
 */
#ifndef TG_TASK_CALL_H
#define TG_TASK_CALL_H

#include "base/tg_json.h"
#include "tasks/engine/tg_engine.h"
#include "tasks/engine/tg_task_output.h"

/* Error codes, see docs/protocols.md. */
enum {
    TG_TASK_ERROR_NOT_FOUND = -32000,
    TG_TASK_ERROR_NOT_CANCELLABLE = -32001,
    TG_TASK_ERROR_QUEUE_FULL = -32002,
    TG_TASK_ERROR_UNAVAILABLE = -32003,
    TG_TASK_ERROR_UNKNOWN_METHOD = -32601,
    TG_TASK_ERROR_INVALID_PARAMS = -32602
};

typedef struct tg_task_method_s tg_task_method_t;

struct tg_task_call_s {
    TAILQ_ENTRY(tg_task_call_s) link;
    tg_task_calls_t *list; /* list in which the call waits, or NULL */
    tg_job_t *job;
    tg_engine_t *engine;
    const tg_task_method_t *method;
    char *memory; /* owned; contains params, owner and token */
    tg_str_t params;
    tg_str_t owner;
    tg_str_t token;         /* of a submission, or absent */
    tg_str_t visible_owner; /* absent: the caller sees all tasks */
    int64_t clients;        /* number of connected clients */
    tg_store_query_t query;
    tg_store_record_t record; /* for `query` */
    tg_task_output_request_t read;
    tg_buf_t prompt;     /* decoded prompt, for the store */
    tg_buf_t cwd;        /* decoded */
    tg_buf_t job_params; /* tool.call: the job */
    tg_buf_t text;
    uint64_t wait_until; /* time of the loop, in ms */
    /* engine->nended when a following call sent its query */
    uint64_t seen_count;
    unsigned is_tool:1;      /* errors have no codes */
    unsigned is_forwarded:1; /* task.cancel: another runner was asked */
    unsigned is_querying:1;  /* the store or a thread uses the memory */
    unsigned is_abandoned:1; /* the caller has gone and gets no response */
    unsigned is_starting:1;
    unsigned is_over:1; /* the response was sent while is_starting */
};

/* Flags of a method. */
enum {
    /* needs no open store */
    TG_TASK_METHOD_NEEDS_NO_STORE = 1,
    /* has the param taskId */
    TG_TASK_METHOD_HAS_ID = 2,
    /* needs the rules of automation and their records */
    TG_TASK_METHOD_HAS_RULES = 4,
    /* only for clients that see all tasks */
    TG_TASK_METHOD_IS_ADMIN = 8,
    TG_TASK_METHOD_CHANGES_RULES = TG_TASK_METHOD_HAS_RULES
                                   | TG_TASK_METHOD_IS_ADMIN
};

struct tg_task_method_s {
    const char *name;
    tg_store_op_t op; /* initializes call->query; or TG_STORE_OPS */
    unsigned flags;

    /* Sends the completed query, or responds. NULL: sends the query. */
    void (*begin)(tg_task_call_t *call);

    /* Handles the result of call->query, unless it is TG_INVALID. */
    void (*on_result)(tg_task_call_t *call);
};

/* Begins the method of a call, or begins it again. */
void tg_task_call_begin(tg_task_call_t *call);

/* --- responses: each one ends the call and frees it, now or later --- */

void tg_task_call_respond(tg_task_call_t *call, const tg_outcome_t *outcome);

void tg_task_call_respond_json(tg_task_call_t *call, tg_str_t json);

/* Responds with the JSON value in call->text. */
void tg_task_call_respond_text(tg_task_call_t *call);

/* Responds with an error; calls of tools have no `code`. */
void tg_task_call_respond_error(tg_task_call_t *call, int64_t code,
                                const char *message);

void tg_task_call_respond_not_found(tg_task_call_t *call);

void tg_task_call_respond_store_error(tg_task_call_t *call);

/* Responds with the JSON of the store, or "not found". */
void tg_task_call_respond_stored(tg_task_call_t *call);

/* Responds with the task of the store, or "not found". */
void tg_task_call_respond_task(tg_task_call_t *call);

/* --- store queries --- */

/* Initializes call->query for the tasks that the caller sees. */
void tg_task_call_init_query(tg_task_call_t *call, tg_store_op_t op);

/* Sends call->query; method->reported() follows. */
void tg_task_call_query_store(tg_task_call_t *call);

/*
 * Returns whether the call is cancelling a running task, which continues if the
 * caller disconnects.
 */
int tg_task_call_is_cancelling(const tg_task_call_t *call);

/* --- params: each one is absent or has the type of the method's schema --- */

/* Returns a raw param; absent if it has another type. */
tg_str_t tg_task_call_get_param(const tg_task_call_t *call, const char *name,
                                tg_json_type_t type);

/* Returns an integer, clamped to min and max, or the default value. */
int64_t tg_task_call_get_int(const tg_task_call_t *call, const char *name,
                             int64_t min, int64_t max, int64_t default_value);

int tg_task_call_get_bool(const tg_task_call_t *call, const char *name);

/* Returns a string, decoded into `buf`; absent if it is missing. */
tg_str_t tg_task_call_get_text(const tg_task_call_t *call, const char *name,
                               tg_buf_t *buf);

/*
 * Sets call->query.id from taskId. Returns 0 if it has responded that there is
 * no such task, else 1.
 */
int tg_task_call_get_task_id(tg_task_call_t *call);

/* --- calls that wait, in a list of the engine or of a task --- */

void tg_task_call_enqueue(tg_task_call_t *call, tg_task_calls_t *list);

void tg_task_call_dequeue(tg_task_call_t *call);

/* Removes all calls from a list; ends those without a caller. */
void tg_task_calls_dequeue_all(tg_task_calls_t *calls);

/* --- methods --- */

/* Returns whether it has responded that the engine is stopping. */
int tg_task_call_reject_if_stopping(tg_task_call_t *call);

/*
 * Returns 1 if the task was submitted, with {"taskId":"… in call->text, or 0
 * after it has responded with an error.
 */
int tg_task_call_check_submitted(tg_task_call_t *call);

void tg_task_call_begin_tool(tg_task_call_t *call);
void tg_task_call_on_tool(tg_task_call_t *call);
void tg_task_call_begin_submit(tg_task_call_t *call);
void tg_task_call_begin_chat(tg_task_call_t *call);
void tg_task_call_on_chat(tg_task_call_t *call);
void tg_task_call_on_submit(tg_task_call_t *call);
void tg_task_call_on_cancel(tg_task_call_t *call);

/* Continues the task.cancel calls of a task whose end is stored. */
void tg_task_resume_cancel_calls(tg_task_t *task);

void tg_task_call_begin_get(tg_task_call_t *call);
void tg_task_call_begin_list(tg_task_call_t *call);
void tg_task_call_on_list(tg_task_call_t *call);
void tg_task_call_begin_output(tg_task_call_t *call);
void tg_task_call_on_output(tg_task_call_t *call);
void tg_task_call_begin_wait(tg_task_call_t *call);
void tg_task_call_on_wait(tg_task_call_t *call);

/* Returns whether a task.wait call must query the store again. */
int tg_task_call_is_wait_over(const tg_task_call_t *call);

/* Sends the progress of a task.wait call to its caller. */
void tg_task_call_send_wait_progress(tg_task_call_t *call);

/* Continues the calls that follow the task `id`, which has changed. */
void tg_engine_resume_following_calls(tg_engine_t *engine, int64_t id);

/*
 * Loads the records of automation, then runs the calls that waited for the
 * store to be opened or not.
 */
void tg_task_calls_on_engine_opened(tg_engine_t *engine);

/* Sends progress to following calls and continues those that are due. */
void tg_engine_tick_following_calls(tg_engine_t *engine);

void tg_task_call_begin_status(tg_task_call_t *call);
void tg_task_call_on_status(tg_task_call_t *call);
void tg_task_call_begin_stop(tg_task_call_t *call);

#endif
