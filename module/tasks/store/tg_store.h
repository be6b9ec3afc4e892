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
#include "tasks/store/tg_work_queue.h"

/* Maximum number of agents of one config; nobody can tell more apart. */
#define TG_STORE_AGENTS_MAX 64
/* Maximum length of an agent's name in bytes. */
#define TG_STORE_AGENT_NAME_MAX 64
/* Maximum number of characters of a prompt in results of TG_STORE_STATUS. */
#define TG_STORE_PROMPT_PREVIEW_MAX 80
/* Maximum number of tasks that one TG_STORE_PURGE removes. */
#define TG_STORE_PURGE_MAX 1000
/* Maximum size of a task list in bytes; a list of one task may be longer. */
#define TG_STORE_LIST_BYTES_MAX 4194304
/* Maximum number of bytes that one TG_STORE_READ_OUTPUT returns. */
#define TG_STORE_OUTPUT_READ_MAX 65536
/*
 * Error of a task that was interrupted because its runner lost the lease, see
 * TG_STORE_RENEW_LEASE.
 */
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

/* Returns the name of a state, such as "queued"; the text is static. */
const char *tg_task_state_name(tg_task_state_t state);

/*
 * Parses an id of the form "task-0012". Returns 12, or -1 if the text is not a
 * task id.
 */
int64_t tg_task_parse_id(tg_str_t text);

/* Appends an id in the form "task-0012". */
void tg_task_append_id(tg_buf_t *buf, int64_t id);

/*
 * Operations of a store, with the members of tg_store_query_t that each one
 * reads or sets.
 */
typedef enum {
    /*
     * Opens the store; must be the first query. Creates or migrates the tables.
     * Interrupts the tasks that were running, with `error` at time `now`.
     * Returns {"queued":[…],"failed":[…]}: the interrupted tasks that are
     * queued again and those that failed, each with id, agent and owner.
     *
     * A shared store gives this runner a lease of `limit` ms for its `agents`.
     * The runner opens the store again after it has lost the lease and none of
     * its tasks runs any more.
     */
    TG_STORE_OPEN,

    /*
     * Adds a task with prompt, agent, priority, cwd, metadata, owner and job at
     * time `now`. Sets `id`; a task that already has the same token is not
     * added again, and `id` is its id. TG_LIMIT: `limit` tasks are already
     * queued; TG_MISSING: no runner that shares the store has the agent;
     * TG_EXISTS: a record that must be new exists. The records are written in
     * the same transaction.
     */
    TG_STORE_SUBMIT,

    /*
     * Takes the first queued task of one of `agents` and marks it as running.
     * Saves the agent's number of retries with the task. Sets `id` and returns
     * the task, with its "job". TG_END: no task is queued; TG_AGAIN: another
     * runner is taking the task.
     */
    TG_STORE_CLAIM,

    /*
     * Queues the running task `id` again at its old position, because it did
     * not start.
     */
    TG_STORE_REQUEUE,

    /*
     * Ends the running task `id` at time `now` with state, pid, result,
     * result_format, error and output. The state TG_TASK_QUEUED means that the
     * task was interrupted: `state` is then set to the new state of the task:
     * queued again, failed, or cancelled. TG_END: the task is not running.
     */
    TG_STORE_FINISH,

    /*
     * Cancels the queued task `id` of `owner` at time `now` and returns it like
     * TG_STORE_GET. TG_AGAIN: the task is running; a shared store then asks its
     * runner to cancel it. TG_END: the task has ended; TG_MISSING: there is no
     * such task.
     */
    TG_STORE_CANCEL,

    /*
     * Returns the task `id` of `owner`. The caller supplies pid and output of a
     * running task. TG_MISSING: there is no such task.
     */
    TG_STORE_GET,

    /*
     * Returns the newest `limit` tasks of `owner`, with the state `state`
     * (TG_TASK_STATES: any) and the agent `agent` (absent: any). TG_LIMIT: the
     * list is longer than TG_STORE_LIST_BYTES_MAX.
     */
    TG_STORE_LIST,

    /*
     * Returns the number of the owner's tasks of each state:
     * {"total":0,"queued":0,…}.
     */
    TG_STORE_STATS,

    /*
     * Returns {"queued":0,"tasks":[…]}: the number of all queued tasks, and id,
     * prompt, agent and priority of the owner's queued tasks.
     */
    TG_STORE_STATUS,

    /*
     * Fails the queued tasks whose agent is not in `agents`, with `error` at
     * time `now`. In a shared store the agents of the other runners count, too.
     * Returns an array of the failed tasks with id, agent and owner.
     */
    TG_STORE_FAIL_ORPHANS,

    /*
     * Removes tasks that ended more than `limit` ms before `now`. Returns an
     * array of their ids.
     */
    TG_STORE_PURGE,

    /*
     * Writes `records`: all of them or none. TG_EXISTS: a record that must be
     * new exists.
     */
    TG_STORE_WRITE_RECORDS,

    /*
     * Returns all records as {"KEY":VALUE,…}; in a shared store, only those of
     * this runner's name.
     */
    TG_STORE_READ_RECORDS,

    /* --- operations of shared stores --- */

    /*
     * Renews the lease of this runner for `limit` ms. Interrupts the running
     * tasks of runners whose lease has expired. Returns these tasks as
     * TG_STORE_OPEN does, and in "cancel":[…] this runner's running tasks
     * that are to be cancelled. TG_END: the lease of this runner has
     * expired.
     */
    TG_STORE_RENEW_LEASE,

    /* Broadcasts `metadata` to the other runners that share the store. */
    TG_STORE_NOTIFY,

    /*
     * Appends `bytes` at `offset` to the output of the running task `id`. Only
     * the last `limit` bytes of the output are kept.
     */
    TG_STORE_WRITE_OUTPUT,

    /*
     * Reads the output of the task `id` from `offset`. If older output is gone,
     * `offset` becomes the first byte that is left. Returns the bytes in
     * `json`; `size` becomes the offset after the last byte of the output.
     */
    TG_STORE_READ_OUTPUT,
    TG_STORE_OPS
} tg_store_op_t;

/*
 * A record: a JSON value that is stored by key beside the tasks. All records
 * are read when the store is opened.
 */
typedef struct {
    tg_str_t key;
    tg_str_t value; /* raw JSON; absent: removes the record */
    /* The key must not exist yet; otherwise the query fails with TG_EXISTS. */
    int is_new;
} tg_store_record_t;

/*
 * Name of the catch-all agent: it takes tasks of all agent names that no other
 * agent has.
 */
#define TG_STORE_ANY_AGENT "*"

typedef struct {
    char names[TG_STORE_AGENTS_MAX][TG_STORE_AGENT_NAME_MAX + 1];
    int64_t retries[TG_STORE_AGENTS_MAX];
    /* the agent takes no tasks at present */
    unsigned char is_full[TG_STORE_AGENTS_MAX];
    unsigned n;
} tg_store_agents_t;

/*
 * Checks whether a name is a valid agent name. TG_STORE_ANY_AGENT takes tasks
 * of valid names only.
 */
int tg_store_is_agent_name(tg_str_t name);

typedef struct tg_store_query_s tg_store_query_t;

/*
 * A query. The memory of its texts stays with the caller and must live until
 * done() is called. All texts are valid UTF-8.
 */
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
     * Result: TG_OK or a code that the operation names. TG_INVALID: the store
     * failed, and `json` is an error text. tg_store_query_deinit() frees
     * `json`.
     */
    int rc;
    tg_buf_t json;

    /*
     * With TG_INVALID of TG_STORE_OPEN: another process has locked the store,
     * for example a runner that is about to exit.
     */
    int is_locked;
};

/* Initializes a query; all members that are not arguments become 0. */
void tg_store_query_init(tg_store_query_t *query, tg_store_op_t op,
                         void (*done)(tg_store_query_t *query), void *data);

/* Frees the result of a query. */
void tg_store_query_deinit(tg_store_query_t *query);

/*
 * Completes a query: calls done(). For backends only. Turns a failed allocation
 * of the result into TG_INVALID.
 */
void tg_store_query_complete(tg_store_query_t *query);

typedef struct tg_store_s tg_store_t;

/* Functions of a store backend. */
typedef struct {
    /* Adds a query. SQLite and PostgreSQL complete it in the event loop. */
    void (*query)(tg_store_t *store, tg_store_query_t *query);

    /*
     * Closes and frees the store, then calls closed(host), unless `closed` is
     * NULL. No query may be pending.
     */
    void (*close)(tg_store_t *store, void (*closed)(void *host), void *host);

    /*
     * Sets the password for later connections. NULL: the backend needs no
     * password.
     */
    void (*set_password)(tg_store_t *store, tg_str_t password);

    /*
     * Fails, from now on, queries that cannot be done at once, because the
     * runner exits. NULL: not needed.
     */
    void (*abandon)(tg_store_t *store);

    /*
     * Several runners share the store, which also stores the output of tasks.
     */
    int is_shared;
} tg_store_backend_t;

struct tg_store_s {
    const tg_store_backend_t *backend;

    /* Receives a broadcast (TG_STORE_NOTIFY) of another runner. May be NULL. */
    void (*on_broadcast)(void *host, tg_str_t text);
    void *host;
};

/*
 * Creates the store at "sqlite:/PATH" or "postgresql:SERVICE-or-URI" without
 * opening it. `name` identifies this runner in a shared store. Returns NULL if
 * there is no memory or the scheme is unknown.
 */
tg_store_t *tg_store_new(uv_loop_t *loop, tg_str_t location, const char *name);

/* --- backends: tg_store_sqlite.c, tg_store_pg.c --- */
int tg_store_sqlite_check(tg_str_t path, tg_buf_t *why);
int tg_store_pg_check(tg_str_t location, const char *password, tg_buf_t *why);
tg_store_t *tg_store_sqlite_new(uv_loop_t *loop, tg_str_t path);
tg_store_t *tg_store_pg_new(uv_loop_t *loop, tg_str_t location,
                            const char *name);

#endif
