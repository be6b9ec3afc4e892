/*
 * What the page looks like; for the files of this folder alone.
 *
 * Whatever changes here must change NGX_TG_SHM_PAGE_MAGIC: another object
 * or binary finds the page of its predecessor.
 */
#ifndef _NGX_TG_SHM_PAGE_H_INCLUDED_
#define _NGX_TG_SHM_PAGE_H_INCLUDED_

#include "nginx/shm/ngx_tg_shm.h"

/* "TGpage" and the version of this layout. */
#define NGX_TG_SHM_PAGE_MAGIC UINT64_C(0x5447706167650003)

/* What workers have not read yet; a tenth of it is more than usual. */
#define NGX_TG_BROADCAST_LOG_SIZE 16777216
/* A worker, or a client on its way, that takes longer misses what was told. */
#define NGX_TG_BROADCAST_READER_TIMEOUT 10000
/* No client is on its way between two workers for so long. */
#define NGX_TG_CLIENT_MOVE_TIMEOUT 60000

typedef enum {
    NGX_TG_CLIENT_ROW_FREE = 0,
    NGX_TG_CLIENT_ROW_IN_USE,
    NGX_TG_CLIENT_ROW_MOVING /* no worker has it */
} ngx_tg_client_row_state_t;

typedef struct {
    uint64_t number;
    uint64_t address;
    uint64_t since;
    uint64_t read_position; /* while it moves */
    uint64_t moved_at;      /* since when; ms */
    uint32_t state;
    uint32_t worker; /* its place */
    int32_t pid;
    uint32_t uid;
    uint32_t calls;
    uint8_t dialect;
    uint8_t receives_broadcasts;
    uint8_t is_bridge;
    uint8_t is_displaced;
    ngx_tg_client_identity_t identity;
} ngx_tg_client_row_t;

typedef struct {
    uint64_t read;  /* NGX_TG_BROADCAST_READER_IDLE: it reads no news */
    uint64_t since; /* it has had something to read; ms */
    int32_t pid;
    uint32_t unused;
} ngx_tg_broadcast_reader_t;

#define NGX_TG_BROADCAST_READER_IDLE UINT64_MAX

typedef struct {
    uint64_t magic;
    pthread_mutex_t lock;
    uint64_t last_client_number; /* given to clients */
    uint64_t head;               /* of the news: bytes that were ever written */
    uint64_t tail;               /* what is older is lost */
    uint64_t displacements;      /* to clients that are to go */
    uint32_t nreaders;
    uint32_t nrows; /* no line behind them was ever used */
    ngx_tg_broadcast_reader_t readers[NGX_TG_WORKERS_MAX];
    ngx_tg_client_row_t rows[NGX_TG_CLIENTS_MAX];
    char broadcast[NGX_TG_BROADCAST_LOG_SIZE];
} ngx_tg_shm_page_t;

/* NULL: this process does not use it. */
extern ngx_tg_shm_page_t *ngx_tg_shm_page;

/* This worker's among the readers. */
ngx_tg_broadcast_reader_t *ngx_tg_shm_page_get_reader(void);
ngx_uint_t ngx_tg_shm_page_get_worker_slot(void);
ngx_uint_t ngx_tg_shm_page_is_worker_alive(ngx_uint_t slot);

/* A worker that was killed holds nothing for ever. */
void ngx_tg_shm_page_lock(void);
void ngx_tg_shm_page_unlock(void);

/* Something changed that workers want to know. */
void ngx_tg_shm_page_wake_workers(void);

/* ms since then: another process may be ahead of this one's clock. */
static ngx_inline ngx_msec_int_t
ngx_tg_shm_page_get_age(uint64_t since)
{
    return (ngx_msec_int_t) (ngx_current_msec - (ngx_msec_t) since);
}

/* Frees the lines of workers that were killed.  The page is locked. */
void ngx_tg_shm_page_sweep(void);

#endif
