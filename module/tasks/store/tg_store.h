/*
 * Interface of the task store, which keeps tasks in SQLite or PostgreSQL.
 *
 *   QUEUED ──▶ RUNNING ──▶ COMPLETED, FAILED
 *     │  ▲        │ │
 *     │  └────────┘ │
 *     └─────────────┴────▶ CANCELLED
 *
 * A store executes queries asynchronously, in the order in which they are
 * added, and completes each one in the event loop. The change of a completed
 * query is as durable as the backend can make it. No function blocks the loop,
 * except tg_store_check(). The result of a query is one JSON text. A task has
 * this JSON:
 *
 *   {"id":"task-0000","prompt":"…","agent":"a","priority":0,"state":"queued",
 *    "createdAt":"…","startedAt":null,"completedAt":null,"pid":null,
 *    "result":null,"error":null,"output":null,"cwd":null,"owner":null,
 *    "metadata":{}}
 *
 * Each task belongs to its owner. A query without an owner covers the tasks of
 * all owners.
 */
#ifndef TG_STORE_H
#define TG_STORE_H

#include "base/tg_buf.h"
#include "tasks/store/tg_batch_thread.h"

/* Maximum number of agents of one config. */
#define TG_STORE_AGENTS_MAX 64
/* Maximum length of an agent's name in bytes. */
#define TG_STORE_AGENT_NAME_MAX 64
/* Maximum length of a prompt in TG_STORE_STATUS, in characters. */
#define TG_STORE_PROMPT_PREVIEW_MAX 80
/* Maximum number of tasks that one TG_STORE_PURGE removes. */
#define TG_STORE_PURGE_MAX 1000
/* Maximum size of a list of more than one task, in bytes. */
#define TG_STORE_LIST_BYTES_MAX 4194304
/* Maximum number of bytes that one TG_STORE_READ_OUTPUT returns. */
#define TG_STORE_OUTPUT_READ_MAX 65536
/* Error of tasks whose runner lost its lease (TG_STORE_RENEW_LEASE). */
#define TG_STORE_LEASE_LOST                                                    \
    "interrupted: the toolgate-runner that ran it lost its lease of the task " \
    "store, as it had not renewed it in time"
/* Maximum number of queued tasks that TG_STORE_STATUS returns. */
#define TG_STORE_STATUS_MAX 100

typedef enum {
    TG_TASK_QUEUED,
    TG_TASK_RUNNING,
    TG_TASK_COMPLETED,
    TG_TASK_FAILED,
    TG_TASK_CANCELLED,
    TG_TASK_STATES
} tg_task_state_t;

/* Returns a static text, such as "queued". */
const char *tg_task_state_name(tg_task_state_t state);

/* Parses "task-0012" to 12. Returns -1 if the text is not a task id. */
int64_t tg_task_parse_id(tg_str_t text);

/* Appends an id such as "task-0012". */
void tg_task_append_id(tg_buf_t *buf, int64_t id);

/* Operations, with the members of tg_store_query_t that they read or set. */
typedef enum {
    /*
     * Opens the store and creates or migrates the tables; the first query.
     * Interrupts running tasks with `error` at `now`. Returns
     * {"queued":[…],"failed":[…]}: the interrupted tasks by their new state,
     * each with id, agent and owner. A shared store gives this runner a lease
     * of `limit` ms for its `agents`; the runner opens the store again after it
     * has lost the lease and its last task has ended.
     */
    TG_STORE_OPEN,

    /*
     * Adds a task with prompt, agent, priority, cwd, metadata, owner, job and
     * the records, in one transaction. Sets `id`, to that of an existing task
     * if one has the token. TG_LIMIT: `limit` tasks are queued; TG_MISSING: no
     * runner of the store has the agent; TG_EXISTS: a record that must be new
     * exists.
     */
    TG_STORE_SUBMIT,

    /*
     * Marks the first queued task of `agents` as running and saves its agent's
     * number of retries. Sets `id` and returns the task with its "job". TG_END:
     * no task is queued; TG_AGAIN: another runner is taking the task.
     */
    TG_STORE_CLAIM,

    /*
     * Queues the running task `id`, which did not start, at its old position.
     */
    TG_STORE_REQUEUE,

    /*
     * Ends the running task `id` at `now` with state, pid, result,
     * result_format, error and output. TG_END: the task is not running.
     */
    TG_STORE_FINISH,

    /*
     * Ends an attempt of the running task `id` at `now` with pid, error and
     * output. Sets `state` to queued, failed or cancelled. TG_END: the task is
     * not running.
     */
    TG_STORE_INTERRUPT,

    /*
     * Cancels the queued task `id` of `owner` and returns it. TG_AGAIN: the
     * task is running, and a shared store asks its runner to cancel it; TG_END:
     * it has ended; TG_MISSING: there is no such task.
     */
    TG_STORE_CANCEL,

    /*
     * Returns the task `id` of `owner`; the caller sets pid and output of a
     * running task. TG_MISSING: there is no such task.
     */
    TG_STORE_GET,

    /*
     * Returns the newest `limit` tasks of `owner` with `state` (TG_TASK_STATES:
     * any) and `agent` (absent: any). TG_LIMIT: the list is too long.
     */
    TG_STORE_LIST,

    /* Counts the owner's tasks by state: {"total":0,"queued":0,…}. */
    TG_STORE_STATS,

    /*
     * Returns {"queued":0,"tasks":[…]}: the number of all queued tasks, and
     * those of the owner with id, prompt, agent and priority.
     */
    TG_STORE_STATUS,

    /*
     * Fails the queued tasks whose agent neither `agents` nor another runner of
     * the store has, with `error` at `now`. Returns these tasks with id, agent
     * and owner.
     */
    TG_STORE_FAIL_ORPHANS,

    /* Removes tasks that ended more than `limit` ms ago. Returns their ids. */
    TG_STORE_PURGE,

    /* Writes all `records`. TG_EXISTS: one that must be new exists. */
    TG_STORE_WRITE_RECORDS,

    /*
     * Returns {"KEY":VALUE,…}; in a shared store, the records of this runner's
     * name.
     */
    TG_STORE_READ_RECORDS,

    /* --- operations of shared stores --- */

    /*
     * Renews the lease of this runner for `limit` ms. Interrupts the tasks of
     * runners whose lease has expired and returns them as TG_STORE_OPEN does,
     * with "cancel":[…]: ids of this runner's tasks to cancel. TG_END: this
     * runner's lease has expired.
     */
    TG_STORE_RENEW_LEASE,

    /* Broadcasts `metadata` to the other runners of the store. */
    TG_STORE_NOTIFY,

    /*
     * Appends `bytes` at `offset` to the output of the running task `id`; the
     * last `limit` bytes are kept.
     */
    TG_STORE_WRITE_OUTPUT,

    /*
     * Returns output of the task `id` from `offset` in `json`. Sets `offset` to
     * the first byte that is still stored, `size` to that after the last byte.
     */
    TG_STORE_READ_OUTPUT,
    TG_STORE_OPS
} tg_store_op_t;

/* A JSON value that is stored by key beside the tasks. */
typedef struct {
    tg_str_t key;
    tg_str_t value; /* raw JSON; absent: removes the record */
    /* TG_EXISTS if the key exists */
    int is_new;
} tg_store_record_t;

/* The catch-all agent takes tasks of valid names that no other agent has. */
#define TG_STORE_ANY_AGENT "*"

typedef struct {
    char names[TG_STORE_AGENTS_MAX][TG_STORE_AGENT_NAME_MAX + 1];
    int64_t retries[TG_STORE_AGENTS_MAX];
    /* the agent takes no tasks at present */
    unsigned char is_full[TG_STORE_AGENTS_MAX];
    unsigned n;
} tg_store_agents_t;

/* Returns whether a task of the catch-all agent may have this agent name. */
int tg_store_is_agent_name(tg_str_t name);

typedef struct tg_store_query_s tg_store_query_t;

/* A query. Its texts are valid UTF-8 and must live until done() is called. */
struct tg_store_query_s {
    tg_work_item_t work; /* internal to the store */
    tg_store_op_t op;
    void (*done)(tg_store_query_t *query); /* may free the query */
    void *data;                            /* for the caller */
    /* for tg_engine_query_store() */
    void (*on_result)(tg_store_query_t *query);
    void *engine;

    int64_t now; /* Unix time in ms */
    int64_t id;
    int64_t priority;
    int64_t limit;
    int64_t pid; /* 0: no process */
    int64_t offset;
    int64_t size;
    uint64_t serial; /* internal to the store */
    tg_task_state_t state;
    tg_str_t prompt;
    tg_str_t agent;
    tg_str_t cwd;
    tg_str_t metadata; /* raw JSON */
    tg_str_t owner;    /* absent: no owner for a new task, else any owner */
    /* raw JSON: the job to run if the agent has no command */
    tg_str_t job;
    /* identifies a submission that may be repeated; or absent */
    tg_str_t token;
    tg_str_t result;
    int64_t result_format; /* meaning of `result`, defined by the caller */
    tg_str_t error;
    tg_str_t output;
    tg_str_t bytes;
    const tg_store_agents_t *agents;
    const tg_store_record_t *records;
    unsigned nrecords;

    /*
     * TG_OK or a code of the operation. TG_INVALID: the store failed, and
     * `json` is an error text.
     */
    int rc;
    tg_buf_t json;

    /* TG_STORE_OPEN failed because another process has the store open. */
    int is_locked;
};

/* Initializes a query; its arguments become 0. */
void tg_store_query_init(tg_store_query_t *query, tg_store_op_t op,
                         void (*done)(tg_store_query_t *query), void *data);

void tg_store_query_deinit(tg_store_query_t *query);

/*
 * For backends: calls done(). A failed allocation of the result becomes
 * TG_INVALID.
 */
void tg_store_query_complete(tg_store_query_t *query);

typedef struct tg_store_s tg_store_t;

typedef struct {
    /* Adds a query, which is completed in the event loop. */
    void (*query)(tg_store_t *store, tg_store_query_t *query);

    /*
     * Frees the store, then calls closed(host), unless it is NULL. No query may
     * be pending.
     */
    void (*close)(tg_store_t *store, void (*closed)(void *host), void *host);

    /* Sets the password of later connections. NULL: none is needed. */
    void (*set_password)(tg_store_t *store, tg_str_t password);

    /*
     * Fails queries that would have to wait, as the runner exits. May be NULL.
     */
    void (*abandon)(tg_store_t *store);

    /* Several runners share the store, which keeps output of tasks, too. */
    int is_shared;
} tg_store_backend_t;

struct tg_store_s {
    const tg_store_backend_t *backend;

    /* Receives a broadcast of another runner. May be NULL. */
    void (*on_broadcast)(void *host, tg_str_t text);
    void *host;
};

/*
 * Creates the store at "sqlite:/PATH" or "postgresql:SERVICE-or-URI" for the
 * runner `name`, without opening it. NULL: no memory, or unknown scheme.
 */
tg_store_t *tg_store_new(uv_loop_t *loop, tg_str_t location, const char *name);

/* --- backends: tg_store_sqlite.c, tg_store_pg.c --- */
int tg_store_sqlite_check(tg_str_t path, tg_buf_t *why);
int tg_store_pg_check(tg_str_t location, const char *password, tg_buf_t *why);
tg_store_t *tg_store_sqlite_new(uv_loop_t *loop, tg_str_t path);
tg_store_t *tg_store_pg_new(uv_loop_t *loop, tg_str_t location,
                            const char *name);

#endif
