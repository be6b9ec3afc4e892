/*
 * Layout of the counters, only for this folder. Change
 * NGX_TG_COUNTERS_SHM_MAGIC with it: another shared object or binary may find
 * the old layout.
 */
#ifndef _NGX_TG_COUNTERS_SHM_H_INCLUDED_
#define _NGX_TG_COUNTERS_SHM_H_INCLUDED_

#include "nginx/shm/ngx_tg_counters.h"

#include <pthread.h>

/* "TGnumb" and the version of this layout. */
#define NGX_TG_COUNTERS_SHM_MAGIC UINT64_C(0x54476e756d620004)

typedef struct {
    uint8_t kind; /* tg_catalog_entry_type_t, or ngx_tg_counted_type_t */
    uint8_t server_len;
    uint8_t name_len;
    char server[NGX_TG_SERVER_LABEL_MAX];
    char name[NGX_TG_COUNTED_NAME_MAX];
} ngx_tg_counted_entry_t;

/* Running call, read without a lock: number is written last, cleared first. */
typedef struct {
    uint64_t number; /* 0: the row is free */
    /* number of the call whose end is requested */
    uint64_t end_requested;
    uint64_t start;
    int32_t pid;
    uint32_t uid;
    uint32_t entry;
    uint32_t runs_in_worker;
    ngx_tg_client_identity_t identity;
} ngx_tg_running_call_row_t;

/* Counters and running calls of one worker. */
typedef struct {
    ngx_tg_counters_t counters[NGX_TG_COUNTED_ENTRIES_MAX];
    ngx_tg_running_call_row_t running[NGX_TG_RUNNING_CALLS_MAX];
    uint32_t nrunning; /* number of rows that were ever used */
    int32_t pid;
    uint8_t unused[4088];
} ngx_tg_worker_counters_t;

typedef struct {
    uint64_t magic;
    uint64_t last_call_number; /* last number assigned to a call */
    pthread_mutex_t lock;      /* protects entries, which are never removed */
    uint32_t nentries;
    uint32_t nworkers; /* number of worker slots that were ever used */
    ngx_tg_counted_entry_t entries[NGX_TG_COUNTED_ENTRIES_MAX];
    ngx_tg_worker_counters_t workers[NGX_TG_COUNTED_WORKERS_MAX]
        __attribute__((aligned(4096)));
} ngx_tg_counters_shm_t;

/* NULL: this process counts nothing. */
extern ngx_tg_counters_shm_t *ngx_tg_counters_shm;

ngx_tg_worker_counters_t *ngx_tg_worker_counters_get(void);
ngx_uint_t ngx_tg_worker_counters_is_alive(ngx_uint_t slot);

#endif
