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
#include "runner/mcp/tg_mcp_lists.h"
#include "runner/mcp/tg_mcp_server_params.h"
#include "runner/jobs/tg_jobs.h"

/* Maximum number of servers, more than any config has. */
#define TG_MCP_SERVERS_MAX 256

/* Maximum connections of a server, for users or client connections. */
#define TG_MCP_SERVER_CONNS_MAX 256

/* Maximum size of all lists of a server in bytes. */
#define TG_MCP_SERVER_LIST_MAX 16777216

/* Maximum number of remembered lists that differ from the server's. */
#define TG_MCP_SERVER_OTHER_LISTS_MAX 16

/* Time in ms without a subscriber after which a server is removed. */
#define TG_MCP_SERVER_UNSUBSCRIBED_MS 30000

/* Size of the buffer for the last error, which workers receive. */
#define TG_MCP_SERVER_ERROR_MAX 1024

/* State of a server: the most active state of its connections. */
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

/* A worker that is notified of changes of the server. */
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

    /* Servers that end and cannot be found any more. */
    tg_mcp_server_list_t leaving;

    unsigned n; /* number of servers in `list` */

    /* Number of connections that are not stopped. */
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
    tg_mcp_lists_t lists;

    /* A connection starts in order to fetch the list again. */
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

    /* Limits of the server's and the runner's log messages. */
    tg_throttle_t logs[2];

    uv_timer_t timer; /* removal of a server without subscribers */

    /* Retry of notifications that workers could not take. */
    uv_timer_t retry;

    tg_sched_source_t source; /* notifies workers and writes the list cache */
    unsigned cache_files_due; /* number of list cache files to be written */
    unsigned nhandles;
};

/* Initializes the servers. `dir` may be NULL and must outlive them. */
void tg_mcp_servers_init(tg_mcp_servers_t *servers, tg_jobs_t *jobs,
                         tg_programs_t *programs, const char *dir);

/* Ends all servers now. jobs->ops->idle() is called after the last one. */
void tg_mcp_servers_shutdown(tg_mcp_servers_t *servers);

/* Checks whether there is no server, not even one that is ending. */
int tg_mcp_servers_is_empty(const tg_mcp_servers_t *servers);

tg_mcp_server_t *tg_mcp_server_find(const tg_mcp_servers_t *servers,
                                    tg_str_t key);

/* Creates a server, which owns the content of `spec`, or returns NULL. */
tg_mcp_server_t *tg_mcp_server_new(tg_mcp_servers_t *servers,
                                   const tg_mcp_server_params_t *spec);

/* Logs a message about a server, unless there are too many. */
void __attribute__((format(printf, 3, 4)))
tg_mcp_server_log(tg_mcp_server_t *server, int level, const char *format, ...);

/* Checks whether a message of this level would be logged now. */
int tg_mcp_server_can_log(tg_mcp_server_t *server, int level);

/* Starts the server after a subscription, or if its list may have changed. */
void tg_mcp_server_start(tg_mcp_server_t *server);

/* Removes the server after a while if it has no subscriber any more. */
void tg_mcp_server_check_subscribers(tg_mcp_server_t *server);

/*
 * Finds or creates the connection of an owner. Returns TG_FAILURE_NONE, or a
 * failure with its `text`.
 */
tg_failure_t tg_mcp_server_ensure_conn(tg_mcp_server_t *server,
                                       const tg_mcp_conn_owner_t *owner,
                                       tg_mcp_conn_t **mcp_conn,
                                       tg_buf_t *text);

/* Passes on a call. Returns TG_FAILURE_NONE, or a failure with its `text`. */
tg_failure_t tg_mcp_server_add_call(tg_mcp_server_t *server, tg_mcp_job_t *call,
                                    tg_buf_t *text);

/* --- functions for connections --- */

/* Checks whether the connection must run without a call. */
int tg_mcp_server_is_conn_wanted(const tg_mcp_server_t *server,
                                 const tg_mcp_conn_t *mcp_conn);

/* Returns the loop time at which an idle connection ends, in ms; 0: never. */
uint64_t tg_mcp_server_get_idle_deadline(const tg_mcp_server_t *server,
                                         const tg_mcp_conn_t *mcp_conn);

/* Receives a connection's lists. TG_LIMIT: its tools are too large. */
int tg_mcp_server_on_conn_lists(tg_mcp_server_t *server,
                                tg_mcp_conn_t *mcp_conn);

/* Handles a connection's failed start or unexpected end, with its reason. */
void tg_mcp_server_on_conn_failed(tg_mcp_server_t *server,
                                  const tg_mcp_conn_t *mcp_conn, tg_str_t text);

void tg_mcp_server_on_conn_freed(tg_mcp_server_t *server);

#endif
