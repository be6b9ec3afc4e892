/*
 * A call of one of the methods about tasks: a job of the kind `task`,
 *
 *   {"store":"sqlite:/PATH","method":"task.get","params":{…},"clients":3,
 *    "owner":"1000","sees_all":true,"is_tool":true,"token":"0a1b…"}
 *
 * The worker has checked the params against the method's schema.  clients is
 * how many are connected to the server; owner is whose the caller's tasks are,
 * and all that it sees, unless sees_all; is_tool: a tool was called, no method.
 * token: a submission that may come again, if a runner ends before it answers.
 *
 *   tg_task_call.c    what all of them do
 *   tg_task_call_submit.c  most methods
 *   tg_task_call_tool.c    tool.call: a call of a tool becomes a task
 *   tg_task_call_output.c  task.output
 *   tg_task_call_wait.c    task.wait
 *   tg_task_call_daemon.c  daemon.status and daemon.stop
 *   tg_task_call_methods.c    the kind, and the table of methods
 */
#ifndef TG_TASK_CALL_H
#define TG_TASK_CALL_H

#include "base/tg_json.h"
#include "tasks/engine/tg_engine.h"

/* Of docs/protocols.md. */
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
    tg_task_calls_t *list; /* in which it waits, or NULL */
    tg_job_t *job;
    tg_engine_t *engine;
    const tg_task_method_t *method;
    char *memory; /* owned: params, owner and token */
    tg_str_t params;
    tg_str_t owner;
    tg_str_t token;         /* or absent */
    tg_str_t visible_owner; /* absent: it sees all */
    int64_t clients;
    tg_store_query_t query;
    tg_store_record_t record; /* of ask */
    tg_task_output_request_t read;
    tg_buf_t prompt; /* decoded, for the store */
    tg_buf_t cwd;
    tg_buf_t job_params; /* of tool.call: the job */
    tg_buf_t text;
    uint64_t wait_until;
    uint64_t seen_count; /* of one that follows: engine->nended when it asked */
    unsigned is_tool:1;  /* its errors have no codes */
    unsigned is_forwarded:1; /* task.cancel: another runner was asked */
    unsigned is_querying:1;  /* its memory is needed */
    unsigned is_abandoned:1; /* nobody waits for its answer */
    unsigned is_starting:1;
    unsigned is_over:1; /* it was answered by then */
};

struct tg_task_method_s {
    const char *name;
    unsigned is_quick:1; /* it needs no store */

    /* Asks the store, or answers. */
    void (*begin)(tg_task_call_t *call);

    /* The store has answered ask. */
    void (*reported)(tg_task_call_t *call);
};

/* --- how a call ends: each frees it, now or later --- */

void tg_task_call_respond(tg_task_call_t *call, const tg_outcome_t *outcome);
void tg_task_call_respond_json(tg_task_call_t *call, tg_str_t json);
void tg_task_call_respond_text(
    tg_task_call_t *call); /* what was written to text */
void tg_task_call_respond_error(tg_task_call_t *call, int64_t code,
                                const char *message);
void tg_task_call_respond_not_found(tg_task_call_t *call); /* no such task */
void tg_task_call_respond_store_error(
    tg_task_call_t *call); /* the store's fault */
void tg_task_call_respond_stored(
    tg_task_call_t *call);                            /* what the store told */
void tg_task_call_respond_task(tg_task_call_t *call); /* the same of one task */

/* --- the store --- */

/* A new question; and asks it: method->told follows. */
void tg_task_call_init_query(tg_task_call_t *call, tg_store_op_t op);
void tg_task_call_query_store(tg_task_call_t *call);

/* Of a task that runs: that goes on without its caller. */
int tg_task_call_is_cancelling(const tg_task_call_t *call);

/* --- params: absent, or of the type that the schema says --- */

tg_str_t tg_task_call_get_param(const tg_task_call_t *call, const char *name,
                                tg_json_type_t type);
int64_t tg_task_call_get_int(const tg_task_call_t *call, const char *name,
                             int64_t min, int64_t max, int64_t default_value);
int tg_task_call_get_bool(const tg_task_call_t *call, const char *name);

/* A text, decoded into buf; absent where it is none. */
tg_str_t tg_task_call_get_text(const tg_task_call_t *call, const char *name,
                               tg_buf_t *buf);

/* Which task is meant, for the store; 0: none, which was answered. */
int tg_task_call_get_task_id(tg_task_call_t *call);

/* --- calls that wait in a list of the engine's or of a task's --- */

void tg_task_call_enqueue(tg_task_call_t *call, tg_task_calls_t *list);
void tg_task_call_dequeue(tg_task_call_t *call);
void tg_task_calls_dequeue_all(tg_task_calls_t *calls);

/* --- the methods --- */

/* Those that submit: are none taken?  And was this one?  If so, or not, that
 * was answered; text then begins with the task's id, {"taskId":"…. */
int tg_task_call_reject_if_stopping(tg_task_call_t *call);
int tg_task_call_check_submitted(tg_task_call_t *call);

void tg_task_call_begin_tool(tg_task_call_t *call);
void tg_task_call_on_tool(tg_task_call_t *call);
void tg_task_call_begin_submit(tg_task_call_t *call);
void tg_task_call_begin_chat(tg_task_call_t *call);
void tg_task_call_on_chat(tg_task_call_t *call);
void tg_task_call_on_submit(tg_task_call_t *call);
void tg_task_call_begin_cancel(tg_task_call_t *call);
void tg_task_call_on_cancel(tg_task_call_t *call);
void tg_task_resume_cancel_calls(tg_task_t *task);
void tg_task_call_begin_get(tg_task_call_t *call);
void tg_task_call_begin_list(tg_task_call_t *call);
void tg_task_call_on_list(tg_task_call_t *call);
void tg_task_call_begin_stats(tg_task_call_t *call);
void tg_task_call_begin_output(tg_task_call_t *call);
void tg_task_call_on_output(tg_task_call_t *call);
void tg_task_call_begin_wait(tg_task_call_t *call);
void tg_task_call_on_wait(tg_task_call_t *call);
int tg_task_call_is_wait_over(const tg_task_call_t *call);
void tg_task_call_send_wait_progress(tg_task_call_t *call);
void tg_engine_resume_following_calls(tg_engine_t *engine, int64_t id);
void tg_engine_tick_following_calls(tg_engine_t *engine);
void tg_task_call_begin_status(tg_task_call_t *call);
void tg_task_call_on_status(tg_task_call_t *call);
void tg_task_call_begin_stop(tg_task_call_t *call);

#endif
