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
 *   …_numbers.c  the memory, entries, places and sums
 *   …_running.c  the calls in flight, by number
 */
#ifndef _NGX_TOOLGATE_NUMBERS_H_INCLUDED_
#define _NGX_TOOLGATE_NUMBERS_H_INCLUDED_

#include "nginx/share/ngx_toolgate_identity.h"

/* Servers, tools and methods; what comes later counts as one entry. */
#define NGX_TOOLGATE_ENTRIES_MAX 1024
/* Workers at once, with old ones; one that has no place counts nothing. */
#define NGX_TOOLGATE_COUNTING_MAX 512
/* Calls in flight of a worker that have a number; others cannot be named. */
#define NGX_TOOLGATE_RUNNING_MAX 1024
/* Of a server's address. */
#define NGX_TOOLGATE_SERVER_MAX 128

/*
 * In ms, up to these a call took; the rest took longer.  What most calls take
 * is in the first cache line, with all else that is written of them.
 */
#define NGX_TOOLGATE_TIMES                                                     \
    {                                                                          \
        1, 5, 10, 50, 100, 500, 1000, 5000, 10000, 60000                       \
    }

enum {
    NGX_TOOLGATE_N_BEGUN = 0,
    NGX_TOOLGATE_N_BYTES_IN,
    NGX_TOOLGATE_N_BYTES_OUT,
    NGX_TOOLGATE_N_MS,   /* of all that ended */
    NGX_TOOLGATE_N_TIME, /* so many took up to this: each end is one here */
    NGX_TOOLGATE_N_END = NGX_TOOLGATE_N_TIME + 11, /* but `ok`, the rest */
    NGX_TOOLGATE_N_MOVED = NGX_TOOLGATE_N_END + 12,
    NGX_TOOLGATE_N_KILLED, /* with their worker */
    NGX_TOOLGATE_N_ALL = 32,

    /* Of a server. */
    NGX_TOOLGATE_N_ACCEPTED = 0,
    NGX_TOOLGATE_N_UNKNOWN, /* calls of what there is not */
    NGX_TOOLGATE_N_OPEN     /* by dialect */
};

/* A worker's counters of an entry. */
struct ngx_toolgate_counters_s {
    uint64_t n[NGX_TOOLGATE_N_ALL];
};

/* Nobody else writes them, so that this is no locked instruction. */
static ngx_inline void
ngx_toolgate_count(ngx_toolgate_counters_t *counters, ngx_uint_t i, uint64_t n)
{
    __atomic_store_n(&counters->n[i], counters->n[i] + n, __ATOMIC_RELAXED);
}

/* In the master, once a cycle's config is settled: makes or finds it. */
void ngx_toolgate_numbers_init(ngx_cycle_t *cycle);

/* This worker counts; listeners of tools are known by their handler. */
void ngx_toolgate_numbers_start(ngx_cycle_t *cycle,
                                ngx_connection_handler_pt ours);

/* What a server is called here: an address that it listens on. */
tg_str_t ngx_toolgate_server_name(ngx_toolgate_srv_conf_t *scf);

/*
 * This worker's counters of a tool or method, or of the server itself where
 * entry is NULL; never NULL: where nothing can be counted, nobody looks.
 */
ngx_toolgate_counters_t *ngx_toolgate_counters(ngx_toolgate_srv_conf_t *scf,
                                               const tg_entry_t *entry);

/* What nobody looks at. */
extern ngx_toolgate_counters_t ngx_toolgate_uncounted;

/* All workers' numbers of an entry; its texts live as long as the worker. */
typedef struct {
    tg_str_t server; /* empty: what had no room, of all servers */
    tg_str_t name;   /* empty: the server itself */
    tg_entry_kind_t kind;
    uint64_t n[NGX_TOOLGATE_N_ALL];
    uint64_t in_flight;
} ngx_toolgate_sum_t;

/* Calls see for each entry of a server. */
typedef void (*ngx_toolgate_sum_pt)(void *data, const ngx_toolgate_sum_t *sum);
void ngx_toolgate_numbers_see(tg_str_t server, ngx_toolgate_sum_pt see,
                              void *data);

/* Workers that are there. */
ngx_uint_t ngx_toolgate_numbers_workers(void);

/* --- calls in flight: …_running.c --- */

/* A number that no other call has, from 1; 0: there is no memory. */
uint64_t ngx_toolgate_running_number(void);

typedef struct {
    uint64_t number;
    uint64_t start; /* as ngx_current_msec */
    pid_t pid;      /* of the client; 0: it came over TCP */
    uid_t uid;
    ngx_uint_t is_here;    /* the worker itself runs it */
    const tg_peer_t *peer; /* the client's */
    const ngx_toolgate_counters_t *counters;
} ngx_toolgate_running_t;

/*
 * A call of this worker is under way: its place + 1; 0: there is no room, and
 * nobody knows of it.  data is what end is called with, not from within
 * anything else, when somebody wants it to be ended.
 */
ngx_uint_t ngx_toolgate_running_add(const ngx_toolgate_running_t *running,
                                    void *data, void (*end)(void *data));
void ngx_toolgate_running_remove(ngx_uint_t place);

typedef struct {
    uint64_t number;
    uint64_t age; /* ms */
    pid_t pid;
    uid_t uid;
    pid_t worker;
    ngx_uint_t is_here;
    tg_entry_kind_t kind;
    tg_str_t server;
    tg_str_t name;
    ngx_toolgate_identity_t identity;
} ngx_toolgate_running_about_t;

/* Calls see for each of them, of all workers; nonzero: no more. */
typedef ngx_uint_t (*ngx_toolgate_running_pt)(
    void *data, const ngx_toolgate_running_about_t *about);
void ngx_toolgate_running_see(ngx_toolgate_running_pt see, void *data);

/* Has its worker end it, soon; 0: there is no such call now. */
ngx_uint_t ngx_toolgate_running_end(uint64_t number);

#endif
