/*
 * Counters of all workers of one NGINX, in shared memory that the master
 * creates once. Workers of all cycles inherit it, including those of a new
 * binary, so that a reload changes no number.
 *
 * It has an entry for each server, tool and method ever counted, and a slot for
 * each worker with one row of counters per entry. Only the worker writes its
 * row, so that counting needs no lock. A sum adds the rows of all slots. A
 * worker continues with the counters of the slot's previous owner; calls that
 * the previous owner left open are counted as killed.
 *
 *   ngx_tg_counters.c       memory, entries, worker slots and sums
 *   ngx_tg_running_calls.c  running calls by number
 */
#ifndef _NGX_TG_COUNTERS_H_INCLUDED_
#define _NGX_TG_COUNTERS_H_INCLUDED_

#include "nginx/shm/ngx_tg_client_identity.h"

/*
 * Maximum number of servers, tools and methods; all further ones share one
 * entry.
 */
#define NGX_TG_COUNTED_ENTRIES_MAX 1024
/*
 * Maximum number of simultaneous workers, including old ones. A worker without
 * a slot counts nothing.
 */
#define NGX_TG_COUNTED_WORKERS_MAX 512
/*
 * Maximum number of running calls per worker that have a number; others cannot
 * be addressed.
 */
#define NGX_TG_RUNNING_CALLS_MAX 1024
/* Maximum length of a server's address. */
#define NGX_TG_SERVER_LABEL_MAX 128

/*
 * Upper bounds of the duration buckets, in ms; the last bucket has no bound.
 * The order puts the buckets of most calls into the first cache line, with the
 * other frequently written counters.
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

    /* counters of a server */
    NGX_TG_COUNTER_ACCEPTED = 0,
    NGX_TG_COUNTER_UNKNOWN_CALLS,   /* calls of unknown tools or methods */
    NGX_TG_COUNTER_OPEN_CONNECTIONS /* one counter per dialect */
};

/* One worker's counters of an entry. */
struct ngx_tg_counters_s {
    uint64_t n[NGX_TG_COUNTERS_N];
};

/*
 * Adds n to a counter. Only one process writes it, so that no locked
 * instruction is needed.
 */
static ngx_inline void
ngx_tg_counters_add(ngx_tg_counters_t *counters, ngx_uint_t i, uint64_t n)
{
    __atomic_store_n(&counters->n[i], counters->n[i] + n, __ATOMIC_RELAXED);
}

/*
 * Creates or finds the counters in the master, once a cycle's config is valid.
 */
void ngx_tg_counters_init(ngx_cycle_t *cycle);

/*
 * Starts counting in this worker. listener_handler identifies listeners with
 * tools.
 */
void ngx_tg_counters_start_worker(ngx_cycle_t *cycle,
                                  ngx_connection_handler_pt listener_handler);

/* Returns the label of a server: an address at which it listens. */
tg_str_t ngx_tg_server_get_label(ngx_tg_srv_conf_t *scf);

/*
 * Returns this worker's counters of a tool or method, or of the server if entry
 * is NULL. Never returns NULL: if nothing can be counted, it returns
 * ngx_tg_counters_dummy.
 */
ngx_tg_counters_t *ngx_tg_counters_find(ngx_tg_srv_conf_t *scf,
                                        const tg_catalog_entry_t *entry);

/* Counters that are never read. */
extern ngx_tg_counters_t ngx_tg_counters_dummy;

/*
 * Sum of all workers' counters of an entry; its texts are valid as long as the
 * worker exists.
 */
typedef struct {
    tg_str_t server; /* empty: the shared entry of all servers */
    tg_str_t name;   /* empty: the server itself */
    tg_catalog_entry_type_t kind;
    uint64_t n[NGX_TG_COUNTERS_N];
    uint64_t in_flight;
} ngx_tg_counters_sum_t;

/* Callback for one entry. */
typedef void (*ngx_tg_counters_visit_pt)(void *data,
                                         const ngx_tg_counters_sum_t *sum);
/* Calls visit for each entry of a server, given by its label. */
void ngx_tg_counters_visit(tg_str_t server, ngx_tg_counters_visit_pt visit,
                           void *data);

/* Returns the number of live workers. */
ngx_uint_t ngx_tg_counters_count_workers(void);

/* --- running calls: ngx_tg_running_calls.c --- */

/*
 * Returns a call number that is unique among all workers, from 1; 0 if there is
 * no shared memory.
 */
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
 * with data when another process requests the end of the call. Returns the slot
 * plus 1, or 0 if there is no free slot and the call is not published.
 */
ngx_uint_t ngx_tg_running_call_add(const ngx_tg_running_call_t *running,
                                   void *data, void (*end)(void *data));
/*
 * Removes the row of a call that has ended; slot is the value from
 * ngx_tg_running_call_add().
 */
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

/* Callback for one running call. Returns nonzero to end the visit. */
typedef ngx_uint_t (*ngx_tg_running_call_visit_pt)(
    void *data, const ngx_tg_running_call_info_t *info);
/*
 * Calls visit for each running call of all workers, until visit returns
 * nonzero.
 */
void ngx_tg_running_calls_visit(ngx_tg_running_call_visit_pt visit, void *data);

/*
 * Requests the end of a running call from its worker, which ends it soon.
 * Returns 1, or 0 if there is no such call.
 */
ngx_uint_t ngx_tg_running_call_order_end(uint64_t number);

#endif
