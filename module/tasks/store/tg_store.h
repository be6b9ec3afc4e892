/*
 * Where tasks are written down.
 *
 *   QUEUED ──▶ RUNNING ──▶ COMPLETED, FAILED
 *     │  ▲        │ │
 *     │  └────────┘ │
 *     └─────────────┴────▶ CANCELLED
 *
 * A store answers what it is asked later, in the loop, in the order of
 * asking, and when the answer comes it is as durable as the store makes it.
 * Nothing of it waits within the loop.  What is told is one JSON text, a task
 * as in
 *
 *   {"id":"task-0000","prompt":"…","agent":"a","priority":0,"state":"queued",
 *    "createdAt":"…","startedAt":null,"completedAt":null,"pid":null,
 *    "result":null,"error":null,"output":null,"cwd":null,"owner":null,
 *    "metadata":{}}
 *
 * Each task is its owner's: who has named none may see those of all.
 */
#ifndef TG_STORE_H
#define TG_STORE_H

#include "base/tg_buf.h"
#include "tasks/store/tg_work_queue.h"

/* Agents of one config: more than anybody tells apart. */
#define TG_STORE_AGENTS_MAX 64
#define TG_STORE_AGENT_NAME_MAX 64
/* Bytes of a prompt where tasks are only told about. */
#define TG_STORE_PROMPT_PREVIEW_MAX 80
/* Tasks that one look for old ones removes. */
#define TG_STORE_PURGE_MAX 1000
/* Bytes of a list, unless it is of one task. */
#define TG_STORE_LIST_BYTES_MAX 4194304
/* Bytes that one read of an output tells. */
#define TG_STORE_OUTPUT_READ_MAX 65536
/*
 * Why a task was interrupted that somebody else ran: see TG_STORE_RENEW_LEASE.
 */
#define TG_STORE_LEASE_LOST                                                    \
    "interrupted: the toolgate-runner that ran it lost its lease of the task " \
    "store, which it had not renewed in time"
/* Waiting tasks that the status tells about. */
#define TG_STORE_STATUS_MAX 100

typedef enum {
    TG_TASK_QUEUED,
    TG_TASK_RUNNING,
    TG_TASK_COMPLETED,
    TG_TASK_FAILED,
    TG_TASK_CANCELLED,
    TG_TASK_STATES
} tg_task_state_t;

const char *tg_task_state_name(tg_task_state_t state);

/* Of "task-0012": 12, or -1: it is no such id.  And appends it. */
int64_t tg_task_parse_id(tg_str_t text);
void tg_task_append_id(tg_buf_t *buf, int64_t id);

/* What is asked, with the members of tg_store_query_t that it reads. */
typedef enum {
    /*
     * The first: makes or migrates the store.  Tasks that ran are interrupted
     * with error at now.  Told: those that wait again and the others, each
     * with id, agent and owner, {"queued":[…],"failed":[…]}.
     *
     * A store that is shared is opened for limit ms, for who runs agents, and
     * again when that lease is over and nothing runs any more.
     */
    TG_STORE_OPEN,

    /*
     * A new task of prompt, agent, priority, cwd, metadata, owner, job at now:
     * id; or the id of the task that has the token already.  TG_LIMIT: there
     * are limit that wait already; TG_MISSING: nobody who shares the store has
     * that agent.  Notes are written with it, or neither.
     */
    TG_STORE_SUBMIT,

    /*
     * The first that waits, of one of agents, runs from now on, and is tried
     * again when it is interrupted as often as agents says: id, and it is
     * told, with "job" besides.  TG_END: none waits; TG_AGAIN: somebody is
     * just taking it.
     */
    TG_STORE_CLAIM,

    /* The running task id did not start: it waits again, in its old place. */
    TG_STORE_REQUEUE,

    /*
     * The running task id has ended at now: state, pid, result, form, error,
     * output.  TG_TASK_QUEUED: it was interrupted; state is what becomes of
     * it, which is to wait again, or to have failed.  TG_END: it runs no more.
     */
    TG_STORE_FINISH,

    /*
     * The waiting task id of owner is cancelled at now, told as a get.
     * TG_AGAIN: it runs; TG_END: it has ended; TG_MISSING.
     */
    TG_STORE_CANCEL,

    /*
     * The task id of owner; pid and output are those of one that runs.
     * TG_MISSING.
     */
    TG_STORE_GET,

    /*
     * The newest limit tasks of owner, of state or TG_TASK_STATES, of agent or
     * any.  TG_LIMIT: that is more than TG_STORE_LIST_BYTES_MAX.
     */
    TG_STORE_LIST,

    /* Of owner: {"total":0,"queued":0,…} */
    TG_STORE_STATS,

    /*
     * {"queued":0,"tasks":[…]}: how many wait, and of those of owner each id,
     * prompt, agent and priority.
     */
    TG_STORE_STATUS,

    /*
     * Waiting tasks of other agents than these have failed with error at now.
     * Told: an array of them, id, agent and owner.
     */
    TG_STORE_FAIL_ORPHANS,

    /* Removes tasks that ended limit ms before now.  Told: their ids. */
    TG_STORE_PURGE,

    /* Writes notes: all, or none.  TG_EXISTS: one is there that must be new. */
    TG_STORE_WRITE_RECORDS,

    /* All notes, {"KEY":VALUE,…}; where it is shared, of this place. */
    TG_STORE_READ_RECORDS,

    /* --- of one that is shared --- */

    /*
     * The lease begins anew, as with TG_STORE_OPEN.  What those ran whose
     * lease is over is interrupted, and told likewise, besides the ids of own
     * tasks that somebody wants cancelled, "cancel":[…].  TG_END: it was over.
     */
    TG_STORE_RENEW_LEASE,

    /* The others hear metadata. */
    TG_STORE_NOTIFY,

    /*
     * The running task id put out bytes, which stand at offset; of all of them
     * the last limit are kept.
     */
    TG_STORE_WRITE_OUTPUT,

    /*
     * What the task id put out from offset on, or from what there is behind
     * it, which it becomes: json has the bytes, size is behind the last one.
     */
    TG_STORE_READ_OUTPUT
} tg_store_op_t;

/* What others than tasks keep here, by name; all of it is read in the end. */
typedef struct {
    tg_str_t key;
    tg_str_t value; /* raw JSON; absent: the note is removed */
    int is_new;
} tg_store_record_t;

/* The agent that has tasks of all names which no other agent has. */
#define TG_STORE_ANY_AGENT "*"

typedef struct {
    char names[TG_STORE_AGENTS_MAX][TG_STORE_AGENT_NAME_MAX + 1];
    int64_t retries[TG_STORE_AGENTS_MAX];
    unsigned char is_full[TG_STORE_AGENTS_MAX]; /* it takes none now */
    unsigned n;
} tg_store_agents_t;

/* May an agent have this name, and so TG_STORE_ANY_AGENT its tasks? */
int tg_store_is_agent_name(tg_str_t name);

typedef struct tg_store_query_s tg_store_query_t;

/* Memory of whoever asks, until done; all texts are valid UTF-8. */
struct tg_store_query_s {
    tg_work_item_t work; /* the store's */
    tg_store_op_t op;
    void (*done)(tg_store_query_t *query); /* may free it */
    void *data;                            /* of whoever asks */

    int64_t now; /* ms of Unix time */
    int64_t id;
    int64_t priority;
    int64_t limit;
    int64_t pid; /* 0: none */
    int64_t offset;
    int64_t size;
    uint64_t serial; /* the store's */
    tg_task_state_t state;
    tg_str_t prompt;
    tg_str_t agent;
    tg_str_t cwd;
    tg_str_t metadata; /* raw JSON */
    tg_str_t owner;    /* absent: nobody's; or any */
    tg_str_t job;      /* raw JSON: what is run, where no agent says it */
    tg_str_t token;    /* of a submission that may be repeated, or absent */
    tg_str_t result;
    int64_t result_format; /* of the result; whoever asks knows what it means */
    tg_str_t error;
    tg_str_t output;
    tg_str_t bytes;
    const tg_store_agents_t *agents;
    const tg_store_record_t *records;
    unsigned nrecords;

    /*
     * What is told: TG_OK or as op says; TG_INVALID: the store could not do it,
     * and json is a text that says why.  tg_store_query_deinit() frees it.
     */
    int rc;
    tg_buf_t json;

    /*
     * With TG_INVALID of TG_STORE_OPEN: another process has the store, such as
     * a runner that is about to exit.
     */
    int is_locked;
};

void tg_store_query_init(tg_store_query_t *query, tg_store_op_t op,
                         void (*done)(tg_store_query_t *query), void *data);
void tg_store_query_deinit(tg_store_query_t *query);

/* For stores: what it asks is known. */
void tg_store_query_complete(tg_store_query_t *query);

typedef struct tg_store_s tg_store_t;

/* A kind of store. */
typedef struct {
    void (*query)(tg_store_t *store, tg_store_query_t *query);

    /* Frees it once what was asked is answered; closed follows then. */
    void (*close)(tg_store_t *store, void (*closed)(void *host), void *host);

    /* From now on, the password; NULL: it needs none. */
    void (*set_password)(tg_store_t *store, tg_str_t password);

    /* What cannot be done at once is refused from now on; or NULL. */
    void (*abandon)(tg_store_t *store);

    /* Several runners share it; it keeps outputs, too. */
    int is_shared;
} tg_store_backend_t;

struct tg_store_s {
    const tg_store_backend_t *backend;

    /* Another one that shares it has told that (TG_STORE_NOTIFY). */
    void (*on_broadcast)(void *host, tg_str_t text);
    void *host;
};

/*
 * The store at "sqlite:/PATH" or "postgresql:SERVICE-or-URI", of which nothing
 * is asked yet; where it is shared, this runner is called name.  NULL: no
 * memory, or there is no such kind.
 */
tg_store_t *tg_store_new(uv_loop_t *loop, tg_str_t location, const char *name);

/*
 * Could it be opened?  Nothing there is changed.  TG_OK; TG_INVALID: why says
 * why not; TG_AGAIN: it cannot be reached, likewise.  It may take some seconds.
 */
int tg_store_check(tg_str_t location, const char *password, tg_buf_t *why);

/* tg_store_sqlite.c, tg_store_pg.c */
int tg_store_sqlite_check(tg_str_t path, tg_buf_t *why);
int tg_store_pg_check(tg_str_t location, const char *password, tg_buf_t *why);
tg_store_t *tg_store_sqlite_new(uv_loop_t *loop, tg_str_t path);
tg_store_t *tg_store_pg_new(uv_loop_t *loop, tg_str_t location,
                            const char *name);

#endif
