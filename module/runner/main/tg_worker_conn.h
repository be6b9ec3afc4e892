/* The connections of NGINX's workers, and their methods. */
#ifndef TG_WORKER_CONN_H
#define TG_WORKER_CONN_H

#include "runner/files/tg_files.h"
#include "runner/http/tg_http.h"
#include "runner/mcp/tg_mcp_server.h"
#include "tasks/tg_tasks.h"
#include "runner/jobs/tg_jobs.h"
#include "runner/logging/tg_log.h"
#include "transport/tg_transport.h"

/* Maximum number of connections, including old workers. */
#define TG_WORKERS_MAX 1024

/* Unread bytes at which no queued call of a worker is started. */
#define TG_WORKER_START_BACKLOG 67108864

/* Unread bytes at which no large response is written. */
#define TG_WORKER_RESPONSE_BACKLOG 262144

/*
 * Unread bytes at which no progress is sent; fewer than those at which a peer
 * accepts no requests, such as a cancellation.
 */
#define TG_WORKER_NOTIFY_BACKLOG 65536

/* Maximum calls of a worker, so many that the queue rejects others as busy. */
#define TG_WORKER_CALLS_MAX 2048

/* Upper bound of the number of methods. */
#define TG_WORKER_METHODS_MAX 32

typedef struct tg_worker_conn_s tg_worker_conn_t;
typedef LIST_HEAD(tg_worker_conn_list_s,
                  tg_worker_conn_s) tg_worker_conn_list_t;

typedef struct {
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_http_pool_t http;
    tg_files_t files;
    tg_output_store_t output_store; /* storage of large outputs */
    tg_mcp_servers_t servers;
    tg_tasks_t tasks;
    tg_catalog_t *catalog;
    tg_catalog_entry_t entries[TG_WORKER_METHODS_MAX];
    tg_server_info_t info;
    tg_worker_conn_list_t list;
    unsigned n;
    void (*idle)(void *host); /* called when no worker and no job is left */
    void *host;
} tg_workers_t;

/* Initializes the workers' state. Returns 0 or a libuv error. */
int tg_workers_init(tg_workers_t *workers, uv_loop_t *loop,
                    const char *state_dir, void (*idle)(void *host),
                    void *host);

/* Accepts a connection. Returns -1: no memory; the listener stops accepting. */
int tg_workers_accept(tg_workers_t *workers, uv_stream_t *listener);

/* Checks whether there is no worker and no job. */
int tg_workers_is_idle(const tg_workers_t *workers);

/* Checks whether there is no worker, no job, no MCP server and no task. */
int tg_workers_is_empty(const tg_workers_t *workers);

/* Closes all connections and ends all jobs, MCP servers and tasks. */
void tg_workers_close_all(tg_workers_t *workers);

/* Sends a log message to a worker, or returns -1. A tg_log_sink_pt. */
int tg_workers_log(void *ctx, tg_log_level_t level, const char *text);

/* Closes the handles. No worker and no job may be left. */
void tg_workers_close(tg_workers_t *workers);

/* Frees the memory, after the end of the loop. */
void tg_workers_deinit(tg_workers_t *workers);

#endif
