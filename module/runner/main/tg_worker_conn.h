/*
 * The connections of NGINX's workers, and the methods that they can call.
 */
#ifndef TG_WORKER_CONN_H
#define TG_WORKER_CONN_H

#include "runner/http/tg_http.h"
#include "runner/mcp/tg_mcp_server.h"
#include "tasks/engine/tg_engine.h"
#include "runner/jobs/tg_jobs.h"
#include "runner/logging/tg_log.h"
#include "transport/tg_transport.h"

/* Connections; one a worker, and those of old workers after reloads. */
#define TG_WORKERS_MAX 1024
/* Unread answers at which none of a worker's waiting calls is started. */
#define TG_WORKER_START_BACKLOG 67108864
/* And at which no large one is written to it. */
#define TG_WORKER_RESPONSE_BACKLOG 262144
/*
 * And at which it hears of no more progress: less than the backlog at which
 * its peer takes no more requests, of which one may be a cancellation.
 */
#define TG_WORKER_NOTIFY_BACKLOG 65536
/*
 * Calls in flight of one worker: all that can run and wait, so that beyond
 * it is the queue that says "busy".
 */
#define TG_WORKER_CALLS_MAX 2048
/* Methods: more than there are. */
#define TG_WORKER_METHODS_MAX 24

typedef struct tg_worker_conn_s tg_worker_conn_t;
typedef LIST_HEAD(tg_worker_conn_list_s,
                  tg_worker_conn_s) tg_worker_conn_list_t;

typedef struct {
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_http_pool_t http;
    tg_output_store_t output_store; /* outputs that are kept */
    tg_mcp_servers_t servers;
    tg_tasks_t tasks;
    tg_catalog_t *catalog;
    tg_catalog_entry_t entries[TG_WORKER_METHODS_MAX];
    tg_server_info_t info;
    tg_worker_conn_list_t list;
    unsigned n;
    void (*idle)(void *host); /* there is no worker and no job any more */
    void *host;
} tg_workers_t;

/*
 * 0 or a libuv error, after which nothing needs to be freed.  state_dir
 * outlives them.
 */
int tg_workers_init(tg_workers_t *workers, uv_loop_t *loop,
                    const char *state_dir, void (*idle)(void *host),
                    void *host);

/* Takes a connection: 0; or -1: the listener stands still for want of memory.
 */
int tg_workers_accept(tg_workers_t *workers, uv_stream_t *listener);

/* Is there no worker and no job?  And no MCP server either? */
int tg_workers_is_idle(const tg_workers_t *workers);
int tg_workers_is_empty(const tg_workers_t *workers);

/*
 * Closes all connections, which ends their jobs, drops what is held, and ends
 * all MCP servers.
 */
void tg_workers_close_all(tg_workers_t *workers);

/* A tg_log_sink_pt: a worker that is there gets the line. */
int tg_workers_log(void *ctx, tg_log_level_t level, const char *text);

/* Closes the handles, once idle; and frees the rest, behind the loop's end. */
void tg_workers_close(tg_workers_t *workers);
void tg_workers_deinit(tg_workers_t *workers);

#endif
