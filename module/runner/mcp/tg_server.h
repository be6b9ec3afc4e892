/*
 * The MCP servers of the configs: who watches them, what tools they have,
 * and their instances (tg_instance.h).
 *
 * A server is there from the first worker that watches it until nobody has
 * for a while; then its instances end, and it is freed with the last one.
 */
#ifndef TG_SERVER_H
#define TG_SERVER_H

#include "base/tg_pace.h"
#include "core/tg_catalogue.h"
#include "runner/mcp/tg_instance.h"
#include "runner/mcp/tg_server_spec.h"
#include "runner/tg_jobs.h"

/* More than any config has. */
#define TG_SERVERS_MAX 256
/* Users or connections of one server that have an instance of their own. */
#define TG_SERVER_INSTANCES_MAX 256
/* Bytes of its list, which goes to each worker and into a file. */
#define TG_SERVER_LIST_MAX 16777216
/* Lists of instances that differ, of which it is known that they do. */
#define TG_SERVER_OTHERS 16
/* How long a reload may take until somebody watches it again. */
#define TG_SERVER_UNWATCHED_MS 30000
/* Of the last error, which workers are told. */
#define TG_SERVER_ERROR_MAX 1024

/* What is told of one; that of its instances that is most alive. */
typedef enum {
    TG_SERVER_STOPPED,
    TG_SERVER_FAILED, /* the last start */
    TG_SERVER_STARTING,
    TG_SERVER_READY
} tg_server_state_t;

typedef struct {
    tg_server_state_t state;
    unsigned restarts;
    unsigned running;
} tg_server_summary_t;

/* A worker that wants to hear of it. */
typedef struct tg_watch_s {
    TAILQ_ENTRY(tg_watch_s) place;
    tg_peer_t *peer;
    int is_list_due; /* what it has to be told yet */
    int is_state_due;
} tg_watch_t;

typedef TAILQ_HEAD(tg_watch_list_s, tg_watch_s) tg_watch_list_t;
typedef TAILQ_HEAD(tg_server_list_s, tg_server_s) tg_server_list_t;
typedef TAILQ_HEAD(tg_instance_list_s, tg_instance_s) tg_instance_list_t;

struct tg_servers_s {
    tg_jobs_t *jobs;
    tg_programs_t *programs;
    tg_http_pool_t *http; /* of the host; set after tg_servers_init() */
    tg_program_env_t env;
    const char *dir; /* where lists are kept; NULL: nowhere */
    uint64_t seed;
    tg_server_list_t list;
    tg_server_list_t leaving; /* nobody finds these any more */
    unsigned n;               /* of list */
    unsigned nrunning;        /* instances */
    uint64_t unwatched_ms;    /* TG_SERVER_UNWATCHED_MS */
    uint64_t nquestions;      /* that were ever asked */
};

struct tg_server_s {
    TAILQ_ENTRY(tg_server_s) place;
    tg_servers_t *servers;
    tg_server_spec_t spec;
    int is_leaving;
    tg_watch_list_t watches;
    tg_catalogue_t *tools; /* NULL: not known */
    int is_relisting;      /* one is started to see whether it changed */
    int is_greeted;        /* it takes nothing before initialize */
    uint64_t others[TG_SERVER_OTHERS]; /* digests of others, seen last */
    unsigned nothers;
    tg_instance_list_t instances;
    unsigned ninstances;
    tg_server_summary_t told;
    unsigned restarts;
    char error[TG_SERVER_ERROR_MAX];
    tg_pace_t logs[2];  /* its own lines, and ours about it */
    uv_timer_t timer;   /* until it leaves, as nobody watches it */
    uv_timer_t retry;   /* until workers take what is due */
    tg_source_t source; /* tells workers, and writes the list down */
    unsigned kept_due;  /* files of the list that are not written yet */
    unsigned nhandles;
};

/* dir may be NULL, and outlives them. */
void tg_servers_init(tg_servers_t *servers, tg_jobs_t *jobs,
                     tg_programs_t *programs, const char *dir);

/* Ends all, now; jobs->ops->idle follows with the last. */
void tg_servers_drop(tg_servers_t *servers);
int tg_servers_is_empty(const tg_servers_t *servers);

tg_server_t *tg_server_find(const tg_servers_t *servers, tg_str_t key);

/* A new one, which takes the spec over; NULL: no memory. */
tg_server_t *tg_server_new(tg_servers_t *servers, const tg_server_spec_t *spec);

/* Logs a line about a server, unless there are too many; and would it? */
void __attribute__((format(printf, 3, 4)))
tg_server_log(tg_server_t *server, int level, const char *format, ...);
int tg_server_may_log(tg_server_t *server, int level);

/* Somebody watches it: starts it, if that is wanted. */
void tg_server_start(tg_server_t *server);

/* When nobody watches it any more, it ends after a while. */
void tg_server_unwatched(tg_server_t *server);

/*
 * Takes a call: TG_FAILURE_NONE, or why not is appended to text.
 */
tg_failure_t tg_server_call(tg_server_t *server, tg_mcp_job_t *call,
                            tg_buf_t *text);

#endif
