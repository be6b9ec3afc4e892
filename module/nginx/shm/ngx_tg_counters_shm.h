/*
 * What the memory of counters looks like; for the files of this folder alone.
 *
 * Whatever changes here must change NGX_TG_COUNTERS_SHM_MAGIC: another object
 * or binary finds the memory of its predecessor.
 */
#ifndef _NGX_TG_COUNTERS_SHM_H_INCLUDED_
#define _NGX_TG_COUNTERS_SHM_H_INCLUDED_

#include "nginx/shm/ngx_tg_counters.h"

#include <pthread.h>

/* "TGnumb" and the version of this layout. */
#define NGX_TG_COUNTERS_SHM_MAGIC UINT64_C(0x54476e756d620002)

typedef struct {
    uint8_t kind; /* tg_catalog_entry_type_t */
    uint8_t server_len;
    uint8_t name_len;
    char server[NGX_TG_SERVER_LABEL_MAX];
    char name[TG_NAME_MAX];
} ngx_tg_counted_entry_t;

/* A call in flight; number is written last, and emptied first. */
typedef struct {
    uint64_t number; /* 0: none */
    /* the number of the one that somebody wants ended */
    uint64_t end_requested;
    uint64_t start;
    int32_t pid;
    uint32_t uid;
    uint32_t entry;
    uint32_t runs_in_worker;
    ngx_tg_client_identity_t identity;
} ngx_tg_running_call_row_t;

/* A worker's. */
typedef struct {
    ngx_tg_counters_t counters[NGX_TG_COUNTED_ENTRIES_MAX];
    ngx_tg_running_call_row_t running[NGX_TG_RUNNING_CALLS_MAX];
    uint32_t nrunning; /* no line behind them was ever used */
    int32_t pid;
    uint8_t unused[4088];
} ngx_tg_worker_counters_t;

typedef struct {
    uint64_t magic;
    uint64_t last_call_number; /* given to calls */
    pthread_mutex_t lock;      /* of entries, which are never taken back */
    uint32_t nentries;
    uint32_t nworkers; /* no place behind them was ever used */
    ngx_tg_counted_entry_t entries[NGX_TG_COUNTED_ENTRIES_MAX];
    ngx_tg_worker_counters_t workers[NGX_TG_COUNTED_WORKERS_MAX]
        __attribute__((aligned(4096)));
} ngx_tg_counters_shm_t;

/* NULL: this process counts nothing. */
extern ngx_tg_counters_shm_t *ngx_tg_counters_shm;

/* This worker's. */
ngx_tg_worker_counters_t *ngx_tg_worker_counters_get(void);
ngx_uint_t ngx_tg_worker_counters_is_alive(ngx_uint_t slot);

#endif
