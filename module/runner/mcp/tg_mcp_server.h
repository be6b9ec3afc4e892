/*
 * The MCP servers of the configs: who watches them, what tools they have,
 * and their instances (tg_mcp_conn.h).
 *
 * A server is there from the first worker that watches it until nobody has
 * for a while; then its instances end, and it is freed with the last one.
 */
#ifndef TG_MCP_SERVER_H
#define TG_MCP_SERVER_H

#include "base/tg_throttle.h"
#include "catalog/tg_catalog.h"
#include "runner/mcp/tg_mcp_conn.h"
#include "runner/mcp/tg_mcp_server_params.h"
#include "runner/jobs/tg_jobs.h"

/* More than any config has. */
#define TG_MCP_SERVERS_MAX 256
/* Users or connections of one server that have an instance of their own. */
#define TG_MCP_SERVER_CONNS_MAX 256
/* Bytes of its list, which goes to each worker and into a file. */
#define TG_MCP_SERVER_LIST_MAX 16777216
/* Lists of instances that differ, of which it is known that they do. */
#define TG_MCP_SERVER_OTHER_LISTS_MAX 16
/* How long a reload may take until somebody watches it again. */
#define TG_MCP_SERVER_UNSUBSCRIBED_MS 30000
/* Of the last error, which workers are told. */
#define TG_MCP_SERVER_ERROR_MAX 1024

/* What is told of one; that of its instances that is most alive. */
typedef enum {
    TG_MCP_SERVER_STOPPED,
    TG_MCP_SERVER_FAILED, /* the last start */
    TG_MCP_SERVER_STARTING,
    TG_MCP_SERVER_READY
} tg_mcp_server_state_t;

typedef struct {
    tg_mcp_server_state_t state;
    unsigned restarts;
    unsigned running;
} tg_mcp_server_summary_t;

/* A worker that wants to hear of it. */
typedef struct tg_mcp_subscriber_s {
    TAILQ_ENTRY(tg_mcp_subscriber_s) link;
    tg_peer_t *peer;
    int is_list_due; /* what it has to be told yet */
    int is_state_due;
} tg_mcp_subscriber_t;

typedef TAILQ_HEAD(tg_mcp_subscriber_list_s,
                   tg_mcp_subscriber_s) tg_mcp_subscriber_list_t;
typedef TAILQ_HEAD(tg_mcp_server_list_s, tg_mcp_server_s) tg_mcp_server_list_t;
typedef TAILQ_HEAD(tg_mcp_conn_list_s, tg_mcp_conn_s) tg_mcp_conn_list_t;

struct tg_mcp_servers_s {
    tg_jobs_t *jobs;
    tg_programs_t *programs;
    tg_http_pool_t *http; /* of the host; set after tg_mcp_servers_init() */
    tg_program_base_env_t env;
    const char *dir; /* where lists are kept; NULL: nowhere */
    uint64_t seed;
    tg_mcp_server_list_t list;
    tg_mcp_server_list_t leaving; /* nobody finds these any more */
    unsigned n;                   /* of list */
    unsigned nrunning;            /* instances */
    uint64_t unsubscribed_ms;     /* TG_MCP_SERVER_UNSUBSCRIBED_MS */
    uint64_t nserver_requests;    /* that were ever asked */
};

struct tg_mcp_server_s {
    TAILQ_ENTRY(tg_mcp_server_s) link;
    tg_mcp_servers_t *servers;
    tg_mcp_server_params_t spec;
    int is_leaving;
    tg_mcp_subscriber_list_t subscribers;
    tg_catalog_t *tools; /* NULL: not known */
    int is_relisting;    /* one is started to see whether it changed */
    int is_legacy;       /* it takes nothing before initialize */
    /* digests of others, seen last */
    uint64_t other_digests[TG_MCP_SERVER_OTHER_LISTS_MAX];
    unsigned nother_digests;
    tg_mcp_conn_list_t mcp_conns;
    unsigned nmcp_conns;
    tg_mcp_server_summary_t notified;
    unsigned restarts;
    char error[TG_MCP_SERVER_ERROR_MAX];
    tg_throttle_t logs[2];    /* its own lines, and ours about it */
    uv_timer_t timer;         /* until it leaves, as nobody watches it */
    uv_timer_t retry;         /* until workers take what is due */
    tg_sched_source_t source; /* tells workers, and writes the list down */
    unsigned cache_files_due; /* files of the list that are not written yet */
    unsigned nhandles;
};

/* dir may be NULL, and outlives them. */
void tg_mcp_servers_init(tg_mcp_servers_t *servers, tg_jobs_t *jobs,
                         tg_programs_t *programs, const char *dir);

/* Ends all, now; jobs->ops->idle follows with the last. */
void tg_mcp_servers_shutdown(tg_mcp_servers_t *servers);
int tg_mcp_servers_is_empty(const tg_mcp_servers_t *servers);

tg_mcp_server_t *tg_mcp_server_find(const tg_mcp_servers_t *servers,
                                    tg_str_t key);

/* A new one, which takes the spec over; NULL: no memory. */
tg_mcp_server_t *tg_mcp_server_new(tg_mcp_servers_t *servers,
                                   const tg_mcp_server_params_t *spec);

/* Logs a line about a server, unless there are too many; and would it? */
void __attribute__((format(printf, 3, 4)))
tg_mcp_server_log(tg_mcp_server_t *server, int level, const char *format, ...);
int tg_mcp_server_can_log(tg_mcp_server_t *server, int level);

/* Somebody watches it: starts it, if that is wanted. */
void tg_mcp_server_start(tg_mcp_server_t *server);

/* When nobody watches it any more, it ends after a while. */
void tg_mcp_server_check_subscribers(tg_mcp_server_t *server);

/*
 * Takes a call: TG_FAILURE_NONE, or why not is appended to text.
 */
tg_failure_t tg_mcp_server_add_call(tg_mcp_server_t *server, tg_mcp_job_t *call,
                                    tg_buf_t *text);

#endif
