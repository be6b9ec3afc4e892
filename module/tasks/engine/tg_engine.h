/*
 * Tasks: programs that outlive whoever asked for them.  A store writes them
 * down (tasks/store/tg_store.h), and one of these runs them.
 *
 *   tg_task_config.c  what may be run, as a worker says it
 *   tg_engine_notify.c    what clients hear
 *   tg_engine_broadcast.c  what other runners are told
 *   tg_task_output.c  what tasks put out, in files
 *   tg_task_run.c     a task that runs
 *   tg_task_json.c  what a task of a tool's has come to
 *   tg_engine_retention.c   old ones go
 *   tg_engine.c       its states, and which task is next
 *   tg_engine_orphans.c  agents, and tasks whose agents are no more
 *   tg_engine_open.c  its store is opened
 *   tg_engine_lease.c its store is shared: the lease, and what others tell
 *   tg_engine_list.c        an engine a store
 *   tg_task_call.h    the methods
 *
 *   OPENING ──▶ OPEN ──▶ STOPPING
 *      ▲  │      ▲  └──────┘
 *      │  ▼      └ a new config
 *     FAILED
 *
 * It is there for each store that a worker has named.  STOPPING, it starts
 * nothing, and what runs has time to end.  It stops when it is told to, until
 * NGINX was started or reloaded, and when NGINX ends, or there has been no
 * worker for a while, until there is one.
 *
 * Where the store is shared, it has a lease of what it runs.  When it cannot
 * renew that in time, it is fenced: it ends what runs, and opens it anew.
 */
#ifndef TG_ENGINE_H
#define TG_ENGINE_H

#include "protocol/tg_peer.h"
#include "runner/exec/tg_exec.h"
#include "tasks/store/tg_store.h"
#include "tasks/engine/tg_task_output.h"

/* How often it looks at what is due. */
#define TG_TASK_TICK_MS 1000
/* Without a worker: a reload has one, a new binary soon. */
#define TG_TASK_NO_WORKER_MS 5000
/* What runs has so long to end when it stops. */
#define TG_TASK_STOP_TIMEOUT_MS 30000
/* Between two looks for tasks that are to be removed. */
#define TG_TASK_PURGE_INTERVAL_MS 600000
/* Until a store that could not be opened is tried again. */
#define TG_TASK_OPEN_RETRY_MS 5000
/*
 * A runner that exits may have the store still.  How often the next runner
 * tries to open it, and for how long calls wait for that.
 */
#define TG_TASK_LOCKED_RETRY_MS 100
#define TG_TASK_LOCKED_TIMEOUT_MS 10000
/* Output that waits for the disk; beyond it the program waits. */
#define TG_TASK_PENDING_OUTPUT_MAX 1048576
/* How long a call that follows an output waits for more of it. */
#define TG_TASK_FOLLOW_TIMEOUT_MS 25000
/* An owner of what all clients may know. */
#define TG_TASK_OWNER_ALL "*"
/* Of what a runner runs in a store that is shared, when it was not said. */
#define TG_TASK_LEASE_DEFAULT_MS 30000
/* Of a lease of so long ms: when it is renewed, and when it is given up. */
#define TG_TASK_LEASE_RENEW_MS(ms) ((ms) / 6)
#define TG_TASK_LEASE_FENCE_MS(ms) ((ms) *2 / 3)
/* Bytes that others are told at once. */
#define TG_ENGINE_BROADCAST_MAX 7900
/* How often a cancellation looks whether another runner has done it. */
#define TG_TASK_CANCEL_POLL_MS 2000
/* Of the slots that all programs share. */
#define TG_TASK_CONCURRENCY_MAX 32

typedef struct tg_engine_s tg_engine_t;
typedef struct tg_task_s tg_task_t;
typedef struct tg_task_call_s tg_task_call_t;
typedef TAILQ_HEAD(tg_task_list_s, tg_task_s) tg_task_list_t;
typedef TAILQ_HEAD(tg_task_calls_s, tg_task_call_s) tg_task_calls_t;
typedef LIST_HEAD(tg_engines_s, tg_engine_s) tg_engines_t;

/*
 * What runs a task.  Slices of the config's text.  Of a tool whose calls become
 * tasks, which is called tool:NAME, it has no argv: each task brings along the
 * job that is run (the params of `exec`).
 */
typedef struct {
    tg_str_t name; /* letters, digits, _ and -; or TG_STORE_ANY_AGENT */
    tg_str_t argv; /* raw: an array of values, see tg_agent_append_template() */
    tg_str_t env;  /* the same, of NAME=VALUE */
    tg_str_t cwd;  /* a raw value */
    tg_str_t input;
    tg_str_t success;
    tg_str_t memory;
    tg_str_t pids;
    int64_t timeout_ms;
    int64_t concurrency;
    int64_t max_output;
    int64_t retry; /* so often it may be interrupted, and is tried again */
} tg_agent_t;

/* Of such a tool. */
#define TG_TASK_TOOL_PREFIX "tool:"

static inline int
tg_agent_is_tool(const tg_agent_t *agent)
{
    return agent->argv.data == NULL;
}

/* Has it the tasks of all names that no other agent has? */
static inline int
tg_agent_is_catch_all(const tg_agent_t *agent)
{
    return tg_str_eq(agent->name, TG_STR(TG_STORE_ANY_AGENT));
}

/* What a task's result is: tg_store_query_t has it as form. */
enum {
    TG_TASK_RESULT_TEXT,
    TG_TASK_RESULT_TOOL /* JSON: a tool's whole result (MCP CallToolResult) */
};

typedef struct {
    char *text; /* owned */
    tg_str_t store;
    tg_str_t generation;
    tg_str_t default_agent; /* the agent of tasks that name none; or empty */
    tg_str_t password;      /* raw, or absent */
    int64_t lease_ms;
    int64_t concurrency;
    int64_t queue_max;
    int64_t keep_ms;
    int64_t output_quota;
    tg_agent_t agents[TG_STORE_AGENTS_MAX];
    unsigned nagents;
    tg_str_t rules; /* of automation, raw; absent: there are none */
} tg_task_config_t;

/* A connection that passes on what clients are told; the newest first. */
typedef struct tg_task_subscriber_s {
    TAILQ_ENTRY(tg_task_subscriber_s) link;
    tg_peer_t *peer;
} tg_task_subscriber_t;

/* What calls want to know. */
typedef struct {
    /* The store is open, or could not be opened. */
    void (*on_opened)(tg_engine_t *engine);

    /* There is more output of a task, or it has ended. */
    void (*on_task_changed)(tg_engine_t *engine, int64_t id);

    /* How a task that ran has ended is written down. */
    void (*on_task_ended)(tg_task_t *task);

    /* Another TG_TASK_TICK_MS. */
    void (*tick)(tg_engine_t *engine);

    /* A config was taken. */
    void (*on_configured)(tg_engine_t *engine);

    /* What clients are told. */
    void (*on_notification)(tg_engine_t *engine, const char *method,
                            tg_str_t params);

    /* It ends; and it is freed. */
    void (*on_shutdown)(tg_engine_t *engine);
    void (*on_freed)(tg_engine_t *engine);

    /* The list that calls wait in is about to be gone; they may outlive it. */
    void (*abandon)(tg_task_calls_t *calls);
} tg_engine_ops_t;

typedef struct {
    tg_jobs_t *jobs;
    tg_programs_t *programs;
    struct tg_http_pool_s *http; /* for webhooks */
    const tg_engine_ops_t *ops;
    const char *state_dir;
    tg_engines_t engines;
} tg_tasks_t;

typedef enum {
    TG_ENGINE_OPENING, /* or there is no config of it yet */
    TG_ENGINE_FAILED,
    TG_ENGINE_OPEN,
    TG_ENGINE_STOPPING
} tg_engine_state_t;

struct tg_engine_s {
    LIST_ENTRY(tg_engine_s) link;
    tg_tasks_t *tasks;
    void (*advance)(tg_engine_t *engine); /* tg_engine_advance() */
    tg_engine_state_t state;
    tg_task_config_t config;
    char *location; /* as for tg_store_new(), owned */
    tg_store_t *db; /* NULL: none was asked to open */
    tg_task_outputs_t outputs;
    tg_buf_t why; /* FAILED */
    tg_store_query_t open;
    tg_store_query_t claim;
    tg_store_agents_t claim_agents;
    tg_store_query_t orphan;
    tg_store_agents_t known_agents;
    tg_store_query_t purge;
    tg_store_query_t renew_lease;
    uv_timer_t tick;
    uint64_t created_at;   /* Unix time */
    uint64_t no_worker_at; /* of the loop's clock: the last worker went; or 0 */
    uint64_t nginx_exit_at; /* likewise, NGINX ended; or 0 */
    uint64_t locked_at;     /* likewise, the store was found locked; or 0 */
    /* STOPPING: what runs is ended; FAILED: it is tried */
    uint64_t deadline_at;
    uint64_t purge_at;
    uint64_t lease_at; /* of the machine's clock: it was renewed */
    uint64_t lease_ms;
    /* the same, asked to be; 0: to be asked soon */
    uint64_t renewal_requested_at;
    /* the same, when that which is under way was asked */
    uint64_t renewal_sent_at;

    tg_task_list_t running;
    unsigned nrunning;
    tg_task_calls_t waiting;   /* for the store to be open */
    tg_task_calls_t following; /* for output */
    uint64_t nended;           /* tasks, since it was made */
    TAILQ_HEAD(tg_task_subscribers_s, tg_task_subscriber_s) subscribers;
    struct tg_automation_s *automation; /* NULL: it has no rules */
    unsigned nwork_pending; /* what is asked, of the store and of outputs */
    char stopped_generation
        [64];             /* the generation that was told to stop; or "" */
    unsigned can_claim:1; /* there may be a task that can start */
    unsigned is_claiming:1;
    unsigned is_returning:1; /* what was claimed cannot be given back yet */
    unsigned must_check_orphans:1;
    unsigned is_checking_orphans:1; /* agents that are no more are looked for */
    unsigned is_purging:1;
    unsigned is_renewing_lease:1;
    unsigned is_opening:1;
    unsigned is_fenced:1;
    unsigned has_store_error:1;  /* the store said no, which was logged */
    unsigned is_shutting_down:1; /* the runner ends */
    unsigned is_forced:1;        /* NGINX ended at once */
    unsigned is_closing:1;
};

/* One that runs, until its end is written down. */
struct tg_task_s {
    TAILQ_ENTRY(tg_task_s) link;
    tg_engine_t *engine;
    int64_t id;
    int64_t priority;
    uint64_t started_at; /* Unix time */
    int64_t max_output;
    tg_buf_t agent;
    tg_buf_t owner;  /* or empty: nobody's */
    tg_buf_t prompt; /* the beginning */
    tg_job_t *job;   /* NULL: nothing is left of it */
    pid_t pid;
    tg_output_tail_t stdout_tail;
    tg_output_tail_t combined_tail;
    tg_buf_t output; /* what waits to be written to the file */
    tg_task_output_request_t write_request;
    uint64_t size;         /* of its output */
    uint64_t reported;     /* of that, what clients know */
    tg_task_state_t state; /* QUEUED: it was interrupted */
    tg_buf_t result;
    tg_buf_t error;
    tg_buf_t tail;
    tg_store_query_t finish;
    tg_task_calls_t cancel_calls; /* calls that wait for its end */
    unsigned is_tool:1;           /* result is of TG_TASK_RESULT_TOOL */
    unsigned is_timed_out:1;      /* its time was over */
    unsigned has_ended:1;         /* state is what it ends as */
    unsigned is_writing:1;
    unsigned has_lost_output:1; /* its output cannot be written any more */
    unsigned is_paused:1;
    unsigned is_finishing:1;
    unsigned is_finished:1; /* that is written down */
};

/* --- from the runner --- */

/* state_dir outlives it. */
void tg_tasks_init(tg_tasks_t *tasks, tg_jobs_t *jobs, tg_programs_t *programs,
                   const char *state_dir, const tg_engine_ops_t *ops);

/*
 * The method task_open {"store":"sqlite:/PATH","generation":"…",
 * "concurrency":3,"queue":1000,"keep_ms":1,"output_quota":1,"default":"a",
 * "agents":[…]}: from now on this is its config, and the peer passes on what
 * clients are told,
 *
 *   task_event {"store":"…","owner":"1000","method":"task.queued",
 *               "params":{…}}
 *
 * without an owner those who see all tasks, of TG_TASK_OWNER_ALL all.
 */
void tg_tasks_configure(tg_tasks_t *tasks, tg_peer_t *peer,
                        tg_request_t *request);

/*
 * The method task_stop {"store":"…","force":true}: NGINX has ended.  The tasks
 * stop as soon as its last worker is gone, unless there is another NGINX.
 */
void tg_tasks_on_nginx_exit(tg_tasks_t *tasks, tg_peer_t *peer,
                            tg_request_t *request);

/* A connection is gone. */
void tg_tasks_on_peer_closed(tg_tasks_t *tasks, const tg_peer_t *peer);

/*
 * The runner ends: what runs is ended, and found interrupted by the next one.
 * jobs->ops->idle follows, once tg_tasks_is_empty().
 */
void tg_tasks_shutdown(tg_tasks_t *tasks);
int tg_tasks_is_empty(const tg_tasks_t *tasks);

/* How many run. */
unsigned tg_tasks_count_running(const tg_tasks_t *tasks);

/* The kind `task`, whose host is a tg_tasks_t: tg_task_call_methods.c. */
extern const tg_job_type_t tg_task_job_type;
extern const tg_engine_ops_t tg_task_engine_ops;

/* That of a store, made where there is none; NULL: no memory. */
tg_engine_t *tg_tasks_get_engine(tg_tasks_t *tasks, tg_str_t location);

/* --- tg_task_config.c --- */

/* TG_OK, TG_NOMEM; TG_INVALID: why, static. */
int tg_task_config_parse(tg_task_config_t *config, tg_str_t raw,
                         const char **why);
void tg_task_config_free(tg_task_config_t *config);

/* The agent of this name, or the one that has all other names; or NULL. */
const tg_agent_t *tg_task_config_find_agent(const tg_task_config_t *config,
                                            tg_str_t name);

/*
 * Appends the params of the job `exec` for a task as the store tells it.
 */
void tg_agent_write_exec_params(tg_buf_t *json, const tg_agent_t *agent,
                                tg_str_t task);

/* --- tg_engine_query.c --- */

int64_t tg_engine_get_unix_time_ms(void); /* ms of Unix time */

/* Asks the store, and counts that; tg_engine_end_work() in its done. */
void tg_engine_query_store(tg_engine_t *engine, tg_store_query_t *query);
void tg_engine_end_work(tg_engine_t *engine);

/*
 * What must be written down could not be, or could again: logged once, as it
 * is tried again with each tick.
 */
void tg_engine_log_store_error(tg_engine_t *engine,
                               const tg_store_query_t *query);

/* One that runs; or NULL. */
tg_task_t *tg_engine_find_task(const tg_engine_t *engine, int64_t id);

/* Appends the end of what it put out so far. */
void tg_task_append_tail(tg_buf_t *text, const tg_output_tail_t *tail);

/* As the loop has it. */
uint64_t tg_engine_get_loop_time_ms(const tg_engine_t *engine);

/* --- tg_engine_broadcast.c --- */

int tg_engine_is_shared(const tg_engine_t *engine);

/* Others hear that text, JSON. */
void tg_engine_broadcast(tg_engine_t *engine, tg_str_t text);

/* --- tg_engine_notify.c --- */

/* {"taskId":"…","agent":"…", is left open. */
void tg_task_begin_params(tg_buf_t *params, int64_t id, tg_str_t agent);

/* Ends the object, tells the owner's clients of it, and frees it. */
void tg_engine_notify(tg_engine_t *engine, tg_str_t owner, const char *method,
                      tg_buf_t *params);

/*
 * Tells of a task's end by one of AIWG's events, which name the task alone;
 * error is a raw JSON string, or absent.
 */
void tg_engine_notify_aiwg_event(tg_engine_t *engine, tg_str_t owner,
                                 const char *method, int64_t id,
                                 tg_str_t error);

/* Tells that a task was cancelled. */
void tg_engine_notify_cancelled(tg_engine_t *engine, tg_str_t owner, int64_t id,
                                tg_str_t agent);

/* Tells those of this runner. */
void tg_engine_notify_subscriber(tg_engine_t *engine, tg_str_t owner,
                                 tg_str_t method, tg_str_t params);

extern const char tg_task_interrupted_error[];

/* What was told of tasks that others ran, or a runner before. */
void tg_engine_notify_interrupted(tg_engine_t *engine, tg_str_t reported);

/* How a task that ran has ended. */
void tg_task_notify_end(tg_task_t *task);

/*
 * Each of an array of tasks, of which the store tells id, agent and owner, has
 * failed, with the error that the store tells or else this one; error is NULL:
 * it waits again.
 */
void tg_engine_notify_each_task(tg_engine_t *engine, tg_str_t tasks,
                                const char *error);

/* --- tg_task_run.c --- */

/* Starts what the store tells of a claimed task. */
void tg_engine_run_task(tg_engine_t *engine, int64_t id, tg_str_t reported);

/* It is to end as that, at once; TG_TASK_QUEUED: it is interrupted. */
void tg_task_end(tg_task_t *task, tg_task_state_t state, const char *why);

/* Writes what it put out, unless that is being done. */
void tg_task_write_output(tg_task_t *task);

/* Tries again to write down how it ended. */
void tg_task_store_end(tg_task_t *task);

/* The runner ends: nothing more is written down. */
void tg_task_abandon(tg_task_t *task);

/* --- tg_task_json.c --- */

/* Appends a tool's result, as a call that is answered at once has it. */
void tg_task_append_tool_result(tg_buf_t *json, const tg_outcome_t *outcome);

/*
 * Appends a task as clients see it, of an ask that told one: its result is a
 * text, or that of a tool.
 */
void tg_task_append_json(tg_buf_t *json, const tg_store_query_t *query);

/* --- tg_engine_orphans.c --- */

/* Adds one: a copy, as another config may come before the store answers. */
void tg_store_agents_add(tg_store_agents_t *agents, const tg_agent_t *agent);

/* All agents of the config, for a question. */
const tg_store_agents_t *tg_engine_list_agents(tg_engine_t *engine);

extern const char tg_engine_orphan_error[];

/* Tasks that nobody can run any more are not left to wait for ever. */
void tg_engine_check_orphans(tg_engine_t *engine);

/* --- tg_engine_open.c --- */

/* It is open: tasks may start. */
void tg_engine_set_open(tg_engine_t *engine);

/* A new store. */
void tg_engine_open_store(tg_engine_t *engine);

/* Asks to open it; also when it is open, with a lease that was lost. */
void tg_engine_query_open(tg_engine_t *engine);

/* The password may be another one by now. */
void tg_engine_set_password(const tg_engine_t *engine);

/* --- tg_engine_lease.c --- */

/* ms; it goes on while the machine sleeps, as the database's clock does. */
uint64_t tg_engine_get_boot_time_ms(void);

/*
 * The lease is renewed, or given up, when it is time for it.  1: the store is
 * to be opened again.
 */
int tg_engine_tick_lease(tg_engine_t *engine);

/* It was asked for, and given. */
void tg_engine_on_lease(tg_engine_t *engine, const tg_store_query_t *query);

/* For tg_store_t. */
void tg_engine_on_broadcast(void *host, tg_str_t text);

/* --- tg_engine_retention.c --- */

/* Looks for old ones, when that is due. */
void tg_engine_purge(tg_engine_t *engine);

/* --- tg_engine.c --- */

/* With tasks and where set. */
void tg_engine_init(tg_engine_t *engine);

/* Takes the config over. */
void tg_engine_configure(tg_engine_t *engine, tg_task_config_t *config);

/* NGINX has ended. */
void tg_engine_on_nginx_exit(tg_engine_t *engine, int is_forced);

/* A peer watches no more; NULL: none does. */
void tg_engine_remove_subscriber(tg_engine_t *engine, const tg_peer_t *peer);

/* Ends and frees it. */
void tg_engine_shutdown(tg_engine_t *engine);

/* Is to be called after whatever may let a task start, or the engine end. */
void tg_engine_advance(tg_engine_t *engine);

/* Starts nothing more; what runs has time to end, unless is_forced. */
void tg_engine_stop(tg_engine_t *engine, int is_forced);

#endif
