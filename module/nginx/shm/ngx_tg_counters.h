/*
 * What all workers of one NGINX have counted: memory that the master makes
 * once.  Workers of all cycles inherit it, a new binary too, so that a reload
 * changes no number.
 *
 * It has an entry for each server, tool and method that was ever counted; and
 * for each worker a place, with a row of counters for each entry, which nobody
 * else writes: to count takes no lock.  A sum is that of all places.  Who
 * takes a place goes on counting where the one before ended; what that one had
 * not ended was ended with it.
 *
 *   ngx_tg_counters.c  the memory, entries, places and sums
 *   ngx_tg_running_calls.c  the calls in flight, by number
 */
#ifndef _NGX_TG_COUNTERS_H_INCLUDED_
#define _NGX_TG_COUNTERS_H_INCLUDED_

#include "nginx/shm/ngx_tg_client_identity.h"

/* Servers, tools and methods; what comes later counts as one entry. */
#define NGX_TG_COUNTED_ENTRIES_MAX 1024
/* Workers at once, with old ones; one that has no place counts nothing. */
#define NGX_TG_COUNTED_WORKERS_MAX 512
/* Calls in flight of a worker that have a number; others cannot be named. */
#define NGX_TG_RUNNING_CALLS_MAX 1024
/* Of a server's address. */
#define NGX_TG_SERVER_LABEL_MAX 128

/*
 * In ms, up to these a call took; the rest took longer.  What most calls take
 * is in the first cache line, with all else that is written of them.
 */
#define NGX_TG_DURATION_BUCKETS                                                \
    {                                                                          \
        1, 5, 10, 50, 100, 500, 1000, 5000, 10000, 60000                       \
    }

enum {
    NGX_TG_COUNTER_STARTED = 0,
    NGX_TG_COUNTER_BYTES_IN,
    NGX_TG_COUNTER_BYTES_OUT,
    NGX_TG_COUNTER_DURATION_MS, /* of all that ended */
    /* so many took up to this: each end is one here */
    NGX_TG_COUNTER_DURATION_BUCKET,
    NGX_TG_COUNTER_END_STATUS = NGX_TG_COUNTER_DURATION_BUCKET
                                + 11, /* but `ok`, the rest */
    NGX_TG_COUNTER_MOVED = NGX_TG_COUNTER_END_STATUS + 12,
    NGX_TG_COUNTER_KILLED, /* with their worker */
    NGX_TG_COUNTERS_N = 32,

    /* Of a server. */
    NGX_TG_COUNTER_ACCEPTED = 0,
    NGX_TG_COUNTER_UNKNOWN_CALLS,   /* calls of what there is not */
    NGX_TG_COUNTER_OPEN_CONNECTIONS /* by dialect */
};

/* A worker's counters of an entry. */
struct ngx_tg_counters_s {
    uint64_t n[NGX_TG_COUNTERS_N];
};

/* Nobody else writes them, so that this is no locked instruction. */
static ngx_inline void
ngx_tg_counters_add(ngx_tg_counters_t *counters, ngx_uint_t i, uint64_t n)
{
    __atomic_store_n(&counters->n[i], counters->n[i] + n, __ATOMIC_RELAXED);
}

/* In the master, once a cycle's config is settled: makes or finds it. */
void ngx_tg_counters_init(ngx_cycle_t *cycle);

/* This worker counts; listeners of tools are known by their handler. */
void ngx_tg_counters_start_worker(ngx_cycle_t *cycle,
                                  ngx_connection_handler_pt listener_handler);

/* What a server is called here: an address that it listens on. */
tg_str_t ngx_tg_server_get_label(ngx_tg_srv_conf_t *scf);

/*
 * This worker's counters of a tool or method, or of the server itself where
 * entry is NULL; never NULL: where nothing can be counted, nobody looks.
 */
ngx_tg_counters_t *ngx_tg_counters_find(ngx_tg_srv_conf_t *scf,
                                        const tg_catalog_entry_t *entry);

/* What nobody looks at. */
extern ngx_tg_counters_t ngx_tg_counters_dummy;

/* All workers' numbers of an entry; its texts live as long as the worker. */
typedef struct {
    tg_str_t server; /* empty: what had no room, of all servers */
    tg_str_t name;   /* empty: the server itself */
    tg_catalog_entry_type_t kind;
    uint64_t n[NGX_TG_COUNTERS_N];
    uint64_t in_flight;
} ngx_tg_counters_sum_t;

/* Calls see for each entry of a server. */
typedef void (*ngx_tg_counters_visit_pt)(void *data,
                                         const ngx_tg_counters_sum_t *sum);
void ngx_tg_counters_visit(tg_str_t server, ngx_tg_counters_visit_pt visit,
                           void *data);

/* Workers that are there. */
ngx_uint_t ngx_tg_counters_count_workers(void);

/* --- calls in flight: ngx_tg_running_calls.c --- */

/* A number that no other call has, from 1; 0: there is no memory. */
uint64_t ngx_tg_running_call_next_number(void);

typedef struct {
    uint64_t number;
    uint64_t start; /* as ngx_current_msec */
    pid_t pid;      /* of the client; 0: it came over TCP */
    uid_t uid;
    ngx_uint_t runs_in_worker; /* the worker itself runs it */
    const tg_peer_t *peer;     /* the client's */
    const ngx_tg_counters_t *counters;
} ngx_tg_running_call_t;

/*
 * A call of this worker is under way: its place + 1; 0: there is no room, and
 * nobody knows of it.  data is what end is called with, not from within
 * anything else, when somebody wants it to be ended.
 */
ngx_uint_t ngx_tg_running_call_add(const ngx_tg_running_call_t *running,
                                   void *data, void (*end)(void *data));
void ngx_tg_running_call_remove(ngx_uint_t slot);

typedef struct {
    uint64_t number;
    uint64_t age; /* ms */
    pid_t pid;
    uid_t uid;
    pid_t worker;
    ngx_uint_t runs_in_worker;
    tg_catalog_entry_type_t kind;
    tg_str_t server;
    tg_str_t name;
    ngx_tg_client_identity_t identity;
} ngx_tg_running_call_info_t;

/* Calls see for each of them, of all workers; nonzero: no more. */
typedef ngx_uint_t (*ngx_tg_running_call_visit_pt)(
    void *data, const ngx_tg_running_call_info_t *info);
void ngx_tg_running_calls_visit(ngx_tg_running_call_visit_pt visit, void *data);

/* Has its worker end it, soon; 0: there is no such call now. */
ngx_uint_t ngx_tg_running_call_order_end(uint64_t number);

#endif
