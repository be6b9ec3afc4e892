/*
 * Counters of all workers of one NGINX, in shared memory that the master
 * creates once. Workers of all cycles and binaries inherit it, so that a reload
 * changes no number. It has an entry per server, tool and method, and a slot
 * per worker with one row of counters per entry. Only the worker writes its
 * row, so that counting needs no lock; a sum adds all rows. A worker continues
 * with the counters of the slot's previous owner, whose open calls are counted
 * as killed.
 */
#ifndef _NGX_TG_COUNTERS_H_INCLUDED_
#define _NGX_TG_COUNTERS_H_INCLUDED_

#include "nginx/shm/ngx_tg_client_identity.h"

/* Maximum number of servers, tools and methods; others share one entry. */
#define NGX_TG_COUNTED_ENTRIES_MAX 1024
/* Maximum number of names of clients per server; others are counted as one. */
#define NGX_TG_COUNTED_CLIENTS_MAX 32
/* Maximum number of workers, including old ones; others count nothing. */
#define NGX_TG_COUNTED_WORKERS_MAX 512
/* Maximum number of running calls per worker that have a number. */
#define NGX_TG_RUNNING_CALLS_MAX 1024
/* Maximum length of a server's address. */
#define NGX_TG_SERVER_LABEL_MAX 128
/* Longest name or URI that is counted by itself, in bytes. */
#define NGX_TG_COUNTED_NAME_MAX 255

/*
 * Upper bounds of the duration buckets, in ms; the last one has none. The
 * buckets of most calls share the first cache line with other hot counters.
 */
#define NGX_TG_DURATION_BUCKETS                                                \
    {                                                                          \
        1, 5, 10, 50, 100, 500, 1000, 5000, 10000, 60000                       \
    }

enum {
    NGX_TG_COUNTER_STARTED = 0,
    NGX_TG_COUNTER_BYTES_IN,
    NGX_TG_COUNTER_BYTES_OUT,
    NGX_TG_COUNTER_DURATION_MS, /* total duration of ended calls */
    /* first of 11 duration buckets; each ended call is in one */
    NGX_TG_COUNTER_DURATION_BUCKET,
    /* one counter per end reason, without `ok`, which is the rest */
    NGX_TG_COUNTER_END_STATUS = NGX_TG_COUNTER_DURATION_BUCKET + 11,
    NGX_TG_COUNTER_MOVED = NGX_TG_COUNTER_END_STATUS + 12,
    NGX_TG_COUNTER_KILLED, /* ended by the death of their worker */
    NGX_TG_COUNTERS_N = 32,

    /* calls of a client, lost lines of a log */
    NGX_TG_COUNTER_COUNT = 0,

    /* counters of a server */
    NGX_TG_COUNTER_ACCEPTED = 0,
    NGX_TG_COUNTER_UNKNOWN_CALLS,   /* calls of unknown tools or methods */
    NGX_TG_COUNTER_OPEN_CONNECTIONS /* one counter per dialect */
};

/* One worker's counters of an entry. */
struct ngx_tg_counters_s {
    uint64_t n[NGX_TG_COUNTERS_N];
};

/* What is counted under a name that no catalog has. */
typedef enum {
    NGX_TG_COUNTED_CLIENT = 64, /* calls of the clients with this name */
    NGX_TG_COUNTED_LOG          /* lost lines of the log with this path */
} ngx_tg_counted_type_t;

/* Adds n without a locked instruction, because only one process writes. */
static ngx_inline void
ngx_tg_counters_add(ngx_tg_counters_t *counters, ngx_uint_t i, uint64_t n)
{
    __atomic_store_n(&counters->n[i], counters->n[i] + n, __ATOMIC_RELAXED);
}

/* Creates or finds the counters in the master, once a config is valid. */
void ngx_tg_counters_init(ngx_cycle_t *cycle);

/* Starts counting; listener_handler identifies listeners with tools. */
void ngx_tg_counters_start_worker(ngx_cycle_t *cycle,
                                  ngx_connection_handler_pt listener_handler);

/* Returns an address at which a server listens. */
tg_str_t ngx_tg_server_get_label(ngx_tg_srv_conf_t *scf);

/*
 * Returns this worker's counters of a tool or method, or of the server if entry
 * is NULL; ngx_tg_counters_dummy if nothing can be counted, never NULL.
 */
ngx_tg_counters_t *ngx_tg_counters_find(ngx_tg_srv_conf_t *scf,
                                        const tg_catalog_entry_t *entry);

/*
 * Returns this worker's counters of a name, with NGX_TG_COUNTER_COUNT as the
 * only one. Beyond NGX_TG_COUNTED_CLIENTS_MAX the name of a client is `other`.
 * ngx_tg_counters_dummy: nothing can be counted.
 */
ngx_tg_counters_t *ngx_tg_counters_find_named(tg_str_t server,
                                              ngx_tg_counted_type_t type,
                                              tg_str_t name);

/* Counters that are never read. */
extern ngx_tg_counters_t ngx_tg_counters_dummy;

/* Sum of all workers' counters of an entry; its texts are never freed. */
typedef struct {
    tg_str_t server; /* empty: the shared entry of all servers */
    tg_str_t name;   /* empty: the server itself */
    tg_catalog_entry_type_t kind;
    uint64_t n[NGX_TG_COUNTERS_N];
    uint64_t in_flight;
} ngx_tg_counters_sum_t;

typedef void (*ngx_tg_counters_visit_pt)(void *data,
                                         const ngx_tg_counters_sum_t *sum);
/*
 * Calls visit for each tool, method, prompt and resource of a server, given by
 * its label, and for the server itself.
 */
void ngx_tg_counters_visit(tg_str_t server, ngx_tg_counters_visit_pt visit,
                           void *data);
/* Calls visit for each name of this type. */
void ngx_tg_counters_visit_named(tg_str_t server, ngx_tg_counted_type_t type,
                                 ngx_tg_counters_visit_pt visit, void *data);

ngx_uint_t ngx_tg_counters_count_workers(void);

/* --- running calls: ngx_tg_running_calls.c --- */

/* Returns a number unique among all workers, or 0 without shared memory. */
uint64_t ngx_tg_running_call_next_number(void);

typedef struct {
    uint64_t number;
    uint64_t start; /* start time, a value of ngx_current_msec */
    pid_t pid;      /* process of the client; 0: a TCP client */
    uid_t uid;
    ngx_uint_t runs_in_worker; /* the worker itself executes it */
    const tg_peer_t *peer;     /* peer of the client */
    const ngx_tg_counters_t *counters;
} ngx_tg_running_call_t;

/*
 * Publishes a running call of this worker. end is called from the event loop
 * when another process requests the end. Returns the slot plus 1, or 0 if none
 * is free.
 */
ngx_uint_t ngx_tg_running_call_add(const ngx_tg_running_call_t *running,
                                   void *data, void (*end)(void *data));
/* Removes a call that has ended; slot is as returned by …_add(). */
void ngx_tg_running_call_remove(ngx_uint_t slot);

typedef struct {
    uint64_t number;
    uint64_t age; /* in ms */
    pid_t pid;
    uid_t uid;
    pid_t worker;
    ngx_uint_t runs_in_worker;
    tg_catalog_entry_type_t kind;
    tg_str_t server;
    tg_str_t name;
    ngx_tg_client_identity_t identity;
} ngx_tg_running_call_info_t;

typedef ngx_uint_t (*ngx_tg_running_call_visit_pt)(
    void *data, const ngx_tg_running_call_info_t *info);
/* Calls visit for the running calls of all workers until it returns nonzero. */
void ngx_tg_running_calls_visit(ngx_tg_running_call_visit_pt visit, void *data);

/* Requests the end of a call from its worker. Returns 0 if there is none. */
ngx_uint_t ngx_tg_running_call_order_end(uint64_t number);

#endif
