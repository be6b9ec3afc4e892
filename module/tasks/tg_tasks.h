/*
 * Durable tasks and automation: what the runner knows of them. A task is a
 * program that continues after its caller has disconnected. Tasks are saved in
 * a task store; there is one engine for each store.
 */
#ifndef TG_TASKS_H
#define TG_TASKS_H

#include "protocol/tg_request.h"
#include "runner/http/tg_http.h"
#include "runner/jobs/tg_job.h"
#include "runner/process/tg_programs.h"

typedef struct tg_engine_s tg_engine_t;
typedef LIST_HEAD(tg_engines_s, tg_engine_s) tg_engines_t;

typedef struct {
    tg_jobs_t *jobs;
    tg_programs_t *programs;
    tg_http_pool_t *http; /* for webhooks */
    const char *state_dir;
    tg_engines_t engines;
} tg_tasks_t;

/* Initializes the list of engines; `state_dir` must live as long. */
void tg_tasks_init(tg_tasks_t *tasks, tg_jobs_t *jobs, tg_programs_t *programs,
                   tg_http_pool_t *http, const char *state_dir);

/*
 * Handles the method task_open {"store":"sqlite:/PATH","generation":"…",
 * "concurrency":3,"queue":1000,"keep_ms":1,"output_quota":1,"default":"a",
 * "agents":[…]}: sets the config of the store's engine. From then on the peer,
 * a worker, receives notifications and relays them to clients:
 *
 *   task_event {"store":"…","owner":"1000","method":"task.queued",
 *               "params":{…}}
 *
 * The worker relays the event to the clients of this owner and to the clients
 * that see all tasks. Without an owner, only the latter receive the event; with
 * the owner "*", all clients receive it.
 */
void tg_tasks_configure(tg_tasks_t *tasks, tg_peer_t *peer,
                        tg_request_t *request);

/*
 * Handles task_stop {"store":"…","force":true}: NGINX has exited. The engine
 * stops when the last worker has disconnected, unless another NGINX uses the
 * store. `force` interrupts running tasks at once.
 */
void tg_tasks_on_nginx_exit(tg_tasks_t *tasks, tg_peer_t *peer,
                            tg_request_t *request);

/* Removes a connection that was closed from all engines. */
void tg_tasks_on_peer_closed(tg_tasks_t *tasks, const tg_peer_t *peer);

/*
 * Shuts all engines down, as the runner exits, and then calls
 * jobs->ops->idle(). The next runner finds the running tasks interrupted.
 */
void tg_tasks_shutdown(tg_tasks_t *tasks);

int tg_tasks_is_empty(const tg_tasks_t *tasks);

unsigned tg_tasks_count_running(const tg_tasks_t *tasks);

/*
 * Appends elements {"store":"sqlite:/PATH","rules":N,"stats":[…]}, see
 * tg_engine_stats.h.
 */
void tg_tasks_write_json(tg_buf_t *json, const tg_tasks_t *tasks);

/* The job type `task`; its host is a tg_tasks_t. See tg_task_call_methods.c. */
extern const tg_job_type_t tg_task_job_type;

/*
 * Checks a store without changing it; may block for seconds. TG_OK, TG_NOMEM;
 * TG_INVALID: it cannot be opened, TG_AGAIN: its server cannot be reached; both
 * append a reason to `why`.
 */
int tg_store_check(tg_str_t location, const char *password, tg_buf_t *why);

#endif
