/*
 * The configured MCP servers: subscribers, tools and connections
 * (tg_mcp_conn.h). A server exists from its first subscription until it has had
 * no subscriber for a while; then its connections end, and it is freed with the
 * last one.
 */
#ifndef TG_MCP_SERVER_H
#define TG_MCP_SERVER_H

#include "base/tg_throttle.h"
#include "catalog/tg_catalog.h"
#include "runner/mcp/tg_mcp_conn.h"
#include "runner/mcp/tg_mcp_server_params.h"
#include "runner/jobs/tg_jobs.h"

/* Maximum number of servers. */
#define TG_MCP_SERVERS_MAX 256

/* Maximum connections of a server, for users or client connections. */
#define TG_MCP_SERVER_CONNS_MAX 256

/* Maximum list of tools in bytes, for each worker and a file. */
#define TG_MCP_SERVER_LIST_MAX 16777216

/* Number of known lists other than the server's. */
#define TG_MCP_SERVER_OTHER_LISTS_MAX 16

/* Time in ms without a subscriber until a server's end, above a reload's. */
#define TG_MCP_SERVER_UNSUBSCRIBED_MS 30000

/* Size of the buffer for the last error. */
#define TG_MCP_SERVER_ERROR_MAX 1024

/* The most active state of the server's connections. */
typedef enum {
    TG_MCP_SERVER_STOPPED,
    TG_MCP_SERVER_FAILED, /* the last start failed */
    TG_MCP_SERVER_STARTING,
    TG_MCP_SERVER_READY
} tg_mcp_server_state_t;

typedef struct {
    tg_mcp_server_state_t state;
    unsigned restarts;
    unsigned running;
} tg_mcp_server_summary_t;

/* A worker that is notified of changes. */
typedef struct tg_mcp_subscriber_s {
    TAILQ_ENTRY(tg_mcp_subscriber_s) link;
    tg_peer_t *peer;
    int is_list_due; /* the list must be sent to the worker */
    int is_state_due;
} tg_mcp_subscriber_t;

typedef TAILQ_HEAD(tg_mcp_subscriber_list_s,
                   tg_mcp_subscriber_s) tg_mcp_subscriber_list_t;
typedef TAILQ_HEAD(tg_mcp_server_list_s, tg_mcp_server_s) tg_mcp_server_list_t;
typedef TAILQ_HEAD(tg_mcp_conn_list_s, tg_mcp_conn_s) tg_mcp_conn_list_t;

struct tg_mcp_servers_s {
    tg_jobs_t *jobs;
    tg_programs_t *programs;
    tg_http_pool_t *http; /* set by the host after tg_mcp_servers_init() */
    tg_program_base_env_t env;
    const char *dir; /* state directory for the list cache; NULL: none */
    uint64_t seed;
    tg_mcp_server_list_t list;

    /* Servers that end and are hidden. */
    tg_mcp_server_list_t leaving;

    unsigned n; /* number of servers in `list` */

    /* Number of connections that run. */
    unsigned nrunning;

    uint64_t unsubscribed_ms;  /* TG_MCP_SERVER_UNSUBSCRIBED_MS by default */
    uint64_t nserver_requests; /* number of the last request of a server */
};

struct tg_mcp_server_s {
    TAILQ_ENTRY(tg_mcp_server_s) link;
    tg_mcp_servers_t *servers;
    tg_mcp_server_params_t spec;
    int is_leaving;
    tg_mcp_subscriber_list_t subscribers;
    tg_catalog_t *tools; /* list of tools; NULL: not known */

    /* A connection starts to fetch the list again. */
    int is_relisting;

    int is_legacy; /* the server rejects any request before initialize */

    /* Digests of other lists, seen most recently. */
    uint64_t other_digests[TG_MCP_SERVER_OTHER_LISTS_MAX];
    unsigned nother_digests;
    tg_mcp_conn_list_t mcp_conns;
    unsigned nmcp_conns;
    tg_mcp_server_summary_t notified;
    unsigned restarts;
    char error[TG_MCP_SERVER_ERROR_MAX];

    /* Limits of the server's and the runner's logs. */
    tg_throttle_t logs[2];

    uv_timer_t timer; /* removal of a server without subscribers */

    /* Retry of notifications. */
    uv_timer_t retry;

    tg_sched_source_t source; /* notifies workers and writes the list cache */
    unsigned cache_files_due; /* number of list cache files to be written */
    unsigned nhandles;
};

/* `dir` may be NULL and must outlive the servers. */
void tg_mcp_servers_init(tg_mcp_servers_t *servers, tg_jobs_t *jobs,
                         tg_programs_t *programs, const char *dir);

/* jobs->ops->idle() is called after the last one. */
void tg_mcp_servers_shutdown(tg_mcp_servers_t *servers);

/* Includes servers that are ending. */
int tg_mcp_servers_is_empty(const tg_mcp_servers_t *servers);

tg_mcp_server_t *tg_mcp_server_find(const tg_mcp_servers_t *servers,
                                    tg_str_t key);

/* Owns the content of `spec`. NULL: no memory, and `spec` is unchanged. */
tg_mcp_server_t *tg_mcp_server_new(tg_mcp_servers_t *servers,
                                   const tg_mcp_server_params_t *spec);

/* Logs a message, unless there are too many. */
void __attribute__((format(printf, 3, 4)))
tg_mcp_server_log(tg_mcp_server_t *server, int level, const char *format, ...);

/* Checks whether this level would be logged now. */
int tg_mcp_server_can_log(tg_mcp_server_t *server, int level);

/* Starts the server after a subscription, or if its list may have changed. */
void tg_mcp_server_start(tg_mcp_server_t *server);

/* Removes a server without subscribers after a while. */
void tg_mcp_server_check_subscribers(tg_mcp_server_t *server);

/* Passes on a call. Returns TG_FAILURE_NONE, or a failure with its `text`. */
tg_failure_t tg_mcp_server_add_call(tg_mcp_server_t *server, tg_mcp_job_t *call,
                                    tg_buf_t *text);

/* --- functions for connections --- */

/* Checks whether the connection must run without a call. */
int tg_mcp_server_is_conn_wanted(const tg_mcp_server_t *server,
                                 const tg_mcp_conn_t *mcp_conn);

/* Returns the loop time of an idle connection's end in ms; 0: never. */
uint64_t tg_mcp_server_get_idle_deadline(const tg_mcp_server_t *server,
                                         const tg_mcp_conn_t *mcp_conn);

/* Returns TG_OK, or TG_LIMIT if the list is too large. */
int tg_mcp_server_on_conn_list(tg_mcp_server_t *server,
                               const tg_mcp_conn_t *mcp_conn,
                               tg_catalog_t *tools);

/* Handles a failed start or unexpected end, for the reason `text`. */
void tg_mcp_server_on_conn_failed(tg_mcp_server_t *server,
                                  const tg_mcp_conn_t *mcp_conn, tg_str_t text);

void tg_mcp_server_on_conn_freed(tg_mcp_server_t *server);

#endif
