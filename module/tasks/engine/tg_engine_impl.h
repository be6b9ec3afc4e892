/* Private state of an engine and its tasks, for the files of tasks/engine/. */
#ifndef TG_ENGINE_IMPL_H
#define TG_ENGINE_IMPL_H

#include "runner/exec/tg_exec.h"
#include "tasks/engine/tg_engine.h"
#include "tasks/engine/tg_task_output.h"

/* Interval of the engine's timer, in ms. */
#define TG_TASK_TICK_MS 1000

/*
 * Time without a worker after which the engine stops, longer than a reload or a
 * new binary takes, in ms.
 */
#define TG_TASK_NO_WORKER_MS 5000

/* Time that running tasks have to end when the engine stops, in ms. */
#define TG_TASK_STOP_TIMEOUT_MS 30000

/* Interval between removals of old tasks, in ms. */
#define TG_TASK_PURGE_INTERVAL_MS 600000

/* Time after which a store that failed is opened again, in ms. */
#define TG_TASK_OPEN_RETRY_MS 5000

/* Interval of opening a store that an exiting runner may have locked, in ms. */
#define TG_TASK_LOCKED_RETRY_MS 100

/* Time for which calls wait for a locked store, in ms. */
#define TG_TASK_LOCKED_TIMEOUT_MS 10000

/* Size of unwritten output, in bytes, above which the program is not read. */
#define TG_TASK_PENDING_OUTPUT_MAX 1048576

/* Time for which a call waits for more output, in ms. */
#define TG_TASK_FOLLOW_TIMEOUT_MS 25000

/* Time after which a lease of `ms` is renewed. */
#define TG_TASK_LEASE_RENEW_MS(ms) ((ms) / 6)

/* Time after which a lease of `ms` that was not renewed is given up. */
#define TG_TASK_LEASE_FENCE_MS(ms) ((ms) *2 / 3)

/* Maximum size of a broadcast in bytes. */
#define TG_ENGINE_BROADCAST_MAX 7900

/* Interval at which task.cancel checks a task of another runner, in ms. */
#define TG_TASK_CANCEL_POLL_MS 2000

typedef TAILQ_HEAD(tg_task_list_s, tg_task_s) tg_task_list_t;

/* Prefix of the name of a tool's agent. */
#define TG_TASK_TOOL_PREFIX "tool:"

static inline int
tg_agent_is_tool(const tg_agent_t *agent)
{
    return agent->argv.data == NULL;
}

/* Returns whether the agent takes tasks of names that no other agent has. */
static inline int
tg_agent_is_catch_all(const tg_agent_t *agent)
{
    return tg_str_eq(agent->name, TG_STR(TG_STORE_ANY_AGENT));
}

/* Values of result_format in tg_store_query_t. */
enum {
    TG_TASK_RESULT_TEXT,
    /* JSON: a CallToolResult of MCP */
    TG_TASK_RESULT_TOOL
};

/* A connection to a worker that relays notifications; the newest is first. */
typedef struct tg_task_subscriber_s {
    TAILQ_ENTRY(tg_task_subscriber_s) link;
    tg_peer_t *peer;
} tg_task_subscriber_t;

struct tg_engine_private_s {
    tg_store_t *db; /* NULL: there is no store */
    tg_task_outputs_t outputs;
    tg_buf_t why; /* FAILED: the reason */
    tg_store_query_t open;
    tg_store_query_t claim;
    tg_store_agents_t claim_agents;
    tg_store_query_t orphan;
    tg_store_agents_t known_agents;
    tg_store_query_t purge;
    tg_store_query_t renew_lease;
    uv_timer_t tick;
    uint64_t created_at; /* Unix time in ms */
    /* loop time of the last worker's disconnection, in ms; or 0 */
    uint64_t no_worker_at;
    /* loop time of NGINX's exit, in ms; or 0 */
    uint64_t nginx_exit_at;
    /* loop time at which the store was first found locked, in ms; or 0 */
    uint64_t locked_at;
    /*
     * loop time in ms at which running tasks are interrupted (STOPPING) or the
     * store is opened again (FAILED)
     */
    uint64_t deadline_at;
    uint64_t purge_at;
    /* boot time of the current lease's request, in ms */
    uint64_t lease_at;
    uint64_t lease_ms;
    /* boot time of the next lease's request, in ms; 0: request it soon */
    uint64_t renewal_requested_at;
    /* boot time at which the pending request was sent, in ms */
    uint64_t renewal_sent_at;
    tg_task_list_t running;
    tg_task_calls_t waiting; /* calls that wait for the store to open */
    /* calls that wait for output or the end of a task */
    tg_task_calls_t following;
    /* number of tasks that have ended so far */
    uint64_t nended;
    TAILQ_HEAD(tg_task_subscribers_s, tg_task_subscriber_s) subscribers;
    /* config generation of daemon.stop; or "" */
    char stopped_generation[64];
    unsigned is_claiming:1;
    /* a claimed task is still to be queued again after a store error */
    unsigned is_returning:1;
    unsigned must_check_orphans:1;
    /* a query for tasks without an agent is pending */
    unsigned is_checking_orphans:1;
    unsigned is_purging:1;
    unsigned is_renewing_lease:1;
    unsigned is_opening:1;
    unsigned is_fenced:1;
    unsigned has_store_error:1; /* the store failed, which was logged */
    unsigned is_forced:1;       /* NGINX exited without waiting for calls */
    unsigned is_closing:1;
};

/* An engine, as it is allocated. */
typedef struct {
    tg_engine_t engine;
    tg_engine_private_t priv;
} tg_engine_block_t;

/* A running task. It exists until its end is stored. */
struct tg_task_s {
    TAILQ_ENTRY(tg_task_s) link;
    tg_engine_t *engine;
    int64_t id;
    int64_t priority;
    uint64_t started_at; /* Unix time in ms */
    int64_t max_output;
    tg_buf_t agent;
    tg_buf_t owner;  /* empty: no owner */
    tg_buf_t prompt; /* the first characters of the prompt */
    tg_job_t *job;   /* NULL: the job has ended and its processes are gone */
    pid_t pid;
    tg_output_tail_t stdout_tail;
    tg_output_tail_t combined_tail;
    tg_buf_t output; /* output that waits to be written */
    tg_task_output_request_t write_request;
    uint64_t size;          /* number of bytes of output */
    uint64_t notified_size; /* the value of `size` that clients know */
    tg_task_state_t state;  /* QUEUED: the task was interrupted */
    tg_buf_t result;
    tg_buf_t error;
    tg_buf_t tail;
    tg_store_query_t finish;
    /* calls of task.cancel that wait for its end */
    tg_task_calls_t cancel_calls;
    /* result has the format TG_TASK_RESULT_TOOL */
    unsigned is_tool:1;
    unsigned is_timed_out:1; /* the task ran longer than its timeout */
    unsigned has_ended:1;    /* `state` is the final state */
    unsigned is_writing:1;
    unsigned has_lost_output:1; /* the output cannot be written any more */
    unsigned is_paused:1;
    unsigned is_finishing:1;
    unsigned is_finished:1; /* the end is stored */
};

/* Appends the params of the job `exec` of a task, given as the store's JSON. */
void tg_agent_write_exec_params(tg_buf_t *json, const tg_agent_t *agent,
                                tg_str_t task);

tg_task_t *tg_engine_find_task(const tg_engine_t *engine, int64_t id);

/* Appends the last bytes of the output, as valid UTF-8. */
void tg_task_append_tail(tg_buf_t *text, const tg_output_tail_t *tail);

uint64_t tg_engine_get_loop_time_ms(const tg_engine_t *engine);

/* Returns whether several runners share the engine's store. */
int tg_engine_is_shared(const tg_engine_t *engine);

/* Broadcasts a JSON text to the other runners of the store. */
void tg_engine_broadcast(tg_engine_t *engine, tg_str_t text);

/* Notifies clients that a task was cancelled. */
void tg_engine_notify_cancelled(tg_engine_t *engine, tg_str_t owner, int64_t id,
                                tg_str_t agent);

/* Notifies the clients of this runner through one worker. */
void tg_engine_notify_subscriber(tg_engine_t *engine, tg_str_t owner,
                                 tg_str_t method, tg_str_t params);

/* Error of tasks that were interrupted because their runner exited. */
extern const char tg_task_interrupted_error[];

/*
 * Notifies clients of interrupted tasks of other or earlier runners; `result`
 * is that of TG_STORE_OPEN or TG_STORE_RENEW_LEASE.
 */
void tg_engine_notify_interrupted(tg_engine_t *engine, tg_str_t result);

/* Notifies clients of the end of a task. */
void tg_task_notify_end(tg_task_t *task);

/*
 * Notifies clients of each task in an array with id, agent and owner. The tasks
 * have failed, with the array's error or `error`; without, they are queued
 * again.
 */
void tg_engine_notify_each_task(tg_engine_t *engine, tg_str_t tasks,
                                const char *error);

/* Starts a claimed task; `task_json` is its JSON from the store. */
void tg_engine_run_task(tg_engine_t *engine, int64_t id, tg_str_t task_json);

/*
 * Kills the job of a task and stores its end with `state` and the error `why`,
 * unless it has ended. TG_TASK_QUEUED: it is interrupted.
 */
void tg_task_end(tg_task_t *task, tg_task_state_t state, const char *why);

/* Writes the waiting output, unless a write is pending. */
void tg_task_write_output(tg_task_t *task);

/* Stores the end of a task, also again after an error. */
void tg_task_store_end(tg_task_t *task);

/* Kills the job of a task, as the runner exits; its end is not stored. */
void tg_task_abandon(tg_task_t *task);

/* Appends the result of a tool as a CallToolResult of MCP. */
void tg_task_append_tool_result(tg_buf_t *json, const tg_outcome_t *outcome);

/* Adds an agent, with a copy of its name, as the config may change. */
void tg_store_agents_add(tg_store_agents_t *agents, const tg_agent_t *agent);

/* Lists all agents of the config; valid until the next call. */
const tg_store_agents_t *tg_engine_list_agents(tg_engine_t *engine);

/* Fails queued tasks without an agent, if a check is due. */
void tg_engine_check_orphans(tg_engine_t *engine);

/* Sets the state OPEN; tasks may start. */
void tg_engine_set_open(tg_engine_t *engine);

/* Creates the store and opens it. */
void tg_engine_open_store(tg_engine_t *engine);

/* Opens the store, also again after its lease was lost. */
void tg_engine_query_open(tg_engine_t *engine);

/* Sets the store's password, which the config may have changed. */
void tg_engine_set_password(const tg_engine_t *engine);

/* Returns the boot time in ms, which continues while the machine sleeps. */
uint64_t tg_engine_get_boot_time_ms(void);

/*
 * Renews the lease when due, or fences the engine if that is late. Returns 1 if
 * the store must be opened again.
 */
int tg_engine_tick_lease(tg_engine_t *engine);

/* Sends a query that requests a lease: TG_STORE_OPEN or _RENEW_LEASE. */
void tg_engine_query_lease(tg_engine_t *engine, tg_store_query_t *query);

/* Records a lease that the store has granted. */
void tg_engine_on_lease(tg_engine_t *engine, const tg_store_query_t *query);

/* Handles a broadcast; on_broadcast of tg_store_t. */
void tg_engine_on_broadcast(void *host, tg_str_t text);

/* Removes old tasks and their output when that is due. */
void tg_engine_purge(tg_engine_t *engine);

/* Starts no more tasks; running tasks have time to end unless `is_forced`. */
void tg_engine_stop(tg_engine_t *engine, int is_forced);

#endif
