/*
 * The task engine: runs durable tasks, programs that continue after their
 * caller has disconnected. A store (tasks/store/tg_store.h) saves the tasks;
 * there is one engine for each store.
 *
 *   tg_engine.c            states of the engine, choice of the next task
 *   tg_engine_open.c       opening of the store
 *   tg_engine_query.c      store queries, clocks
 *   tg_engine_lease.c      lease and broadcasts of a shared store
 *   tg_engine_broadcast.c  broadcasts to the other runners of a shared store
 *   tg_engine_notify.c     notifications to clients
 *   tg_engine_orphans.c    agents, and tasks whose agent was removed
 *   tg_engine_retention.c  removal of old tasks
 *   tg_engine_stats.h      numbers of tasks, firings and webhooks
 *   tg_task_config.c       config of an engine, as a worker sends it
 *   tg_task_run.c          running tasks
 *   tg_task_output.c       output of tasks, in files
 *   tg_task_json.c         results of tools as tasks
 *   tg_task_call.h         methods
 *
 *   OPENING ──▶ OPEN ──▶ STOPPING
 *      ▲  │      ▲  └──────┘
 *      │  ▼      └ new config
 *     FAILED
 *
 * In the state STOPPING, no task is started, and running tasks have time to
 * end. An engine stops after daemon.stop, until NGINX is started or reloaded,
 * and when NGINX has exited or no worker has been connected for some time,
 * until a worker connects.
 *
 * In a shared store, the engine has a lease for its running tasks. If the
 * engine cannot renew the lease in time, it is fenced: it interrupts its
 * running tasks and opens the store again.
 */
#ifndef TG_ENGINE_H
#define TG_ENGINE_H

#include "spec/tg_task_spec.h"
#include "tasks/engine/tg_engine_stats.h"
#include "tasks/store/tg_store.h"
#include "tasks/tg_tasks.h"

/* Owner in notifications that all clients may receive. */
#define TG_TASK_OWNER_ALL "*"

typedef struct tg_task_s tg_task_t;

typedef struct tg_task_call_s tg_task_call_t;

typedef TAILQ_HEAD(tg_task_calls_s, tg_task_call_s) tg_task_calls_t;

/*
 * An agent; its texts are slices of the config's. The agent of a tool whose
 * calls become tasks is tool:NAME without argv; each of its tasks has its own
 * job (the params of `exec`).
 */
typedef tg_agent_spec_t tg_agent_t;

/* The config of an engine; its texts are slices of `text`. */
typedef struct {
    char *text; /* owned */
    tg_task_spec_t spec;
    tg_agent_t agents[TG_STORE_AGENTS_MAX];
    unsigned nagents;
} tg_task_config_t;

typedef enum {
    TG_ENGINE_OPENING, /* also without a config */
    TG_ENGINE_FAILED,
    TG_ENGINE_OPEN,
    TG_ENGINE_STOPPING
} tg_engine_state_t;

typedef struct tg_engine_private_s tg_engine_private_t;

struct tg_engine_s {
    LIST_ENTRY(tg_engine_s) link;
    tg_engine_private_t *priv;
    tg_tasks_t *tasks;
    tg_engine_state_t state;
    tg_task_config_t config;
    char *location; /* location for tg_store_new(), owned */
    unsigned nrunning;
    struct tg_automation_s *automation; /* NULL: the config has no rules */
    tg_engine_stats_t stats;
    unsigned nwork_pending; /* number of pending queries and output requests */
    unsigned can_claim:1;   /* the store may have a task that can start */
    unsigned is_shutting_down:1; /* the runner exits */
};

/* Returns the engine of a store, which it creates first. NULL: no memory. */
tg_engine_t *tg_tasks_get_engine(tg_tasks_t *tasks, tg_str_t location);

/*
 * Parses the params of task_open. TG_OK; TG_NOMEM; TG_INVALID and *why, static.
 */
int tg_task_config_parse(tg_task_config_t *config, tg_str_t raw,
                         const char **why);

void tg_task_config_free(tg_task_config_t *config);

/* Returns the agent of this name, or the catch-all agent; or NULL. */
const tg_agent_t *tg_task_config_find_agent(const tg_task_config_t *config,
                                            tg_str_t name);

int64_t tg_engine_get_unix_time_ms(void); /* in ms */

/*
 * Sends a query and counts it as pending work. The engine advances after
 * query->done, which may free the query.
 */
void tg_engine_query_store(tg_engine_t *engine, tg_store_query_t *query);

/* Counts one output request less as pending. */
void tg_engine_end_work(tg_engine_t *engine);

/* Logs the first store error since a query succeeded, as ticks retry. */
void tg_engine_log_store_error(tg_engine_t *engine,
                               const tg_store_query_t *query);

/*
 * Initializes `params` with {"taskId":"…","agent":"…"; without an empty agent.
 * The caller closes the object.
 */
void tg_task_begin_params(tg_buf_t *params, int64_t id, tg_str_t agent);

/*
 * Closes and frees the object `params`, and notifies automation, clients and
 * other runners.
 */
void tg_engine_notify(tg_engine_t *engine, tg_str_t owner, const char *method,
                      tg_buf_t *params);

/*
 * Appends a query's task as clients receive it: a text result is a string, the
 * result of a tool an object.
 */
void tg_task_append_json(tg_buf_t *json, const tg_store_query_t *query);

/* Creates the engine of a store. NULL: no memory. */
tg_engine_t *tg_engine_new(tg_tasks_t *tasks, tg_str_t location);

/* Adds a worker's connection, which becomes the newest. TG_OK or TG_NOMEM. */
int tg_engine_add_subscriber(tg_engine_t *engine, tg_peer_t *peer);

/* Sets a new config; the engine owns it. The first config opens the store. */
void tg_engine_configure(tg_engine_t *engine, tg_task_config_t *config);

/* Stops the engine when NGINX has exited and no worker is connected. */
void tg_engine_on_nginx_exit(tg_engine_t *engine, int is_forced);

/* Removes the connection to a worker, or all if NULL. */
void tg_engine_remove_subscriber(tg_engine_t *engine, const tg_peer_t *peer);

/* Shuts an engine down and frees it when no work is pending. */
void tg_engine_shutdown(tg_engine_t *engine);

/*
 * Starts the next task, or frees an engine that is shutting down. Called after
 * each change that may allow it.
 */
void tg_engine_advance(tg_engine_t *engine);

/* Error of tasks whose agent was removed from the config. */
extern const char tg_engine_orphan_error[];

#endif
