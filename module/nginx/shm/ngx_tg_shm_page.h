/*
 * Layout of the page, only for this folder. Change NGX_TG_SHM_PAGE_MAGIC with
 * it: another shared object or binary may find the old layout.
 */
#ifndef _NGX_TG_SHM_PAGE_H_INCLUDED_
#define _NGX_TG_SHM_PAGE_H_INCLUDED_

#include "nginx/shm/ngx_tg_shm.h"

/* "TGpage" and the version of this layout. */
#define NGX_TG_SHM_PAGE_MAGIC UINT64_C(0x5447706167650003)

/* Size of the broadcast log, in bytes, ten times the usual backlog. */
#define NGX_TG_BROADCAST_LOG_SIZE 16777216
/* Time, in ms, after which a slow worker or client may miss broadcasts. */
#define NGX_TG_BROADCAST_READER_TIMEOUT 10000
/* Time after which a client in transit is considered lost, in ms. */
#define NGX_TG_CLIENT_MOVE_TIMEOUT 60000

typedef enum {
    NGX_TG_CLIENT_ROW_FREE = 0,
    NGX_TG_CLIENT_ROW_IN_USE,
    NGX_TG_CLIENT_ROW_MOVING /* in transit between two workers */
} ngx_tg_client_row_state_t;

typedef struct {
    uint64_t number;
    uint64_t address;
    uint64_t since;
    /* position in the broadcast log, while the client is in transit */
    uint64_t read_position;
    uint64_t moved_at; /* start of the transit, in ms */
    uint32_t state;
    uint32_t worker; /* slot of its worker */
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
    /* position read; NGX_TG_BROADCAST_READER_IDLE: reads no broadcasts */
    uint64_t read;
    uint64_t since; /* time since when it has unread broadcasts, in ms */
    int32_t pid;
    uint32_t unused;
} ngx_tg_broadcast_reader_t;

#define NGX_TG_BROADCAST_READER_IDLE UINT64_MAX

typedef struct {
    uint64_t magic;
    pthread_mutex_t lock;
    uint64_t last_client_number; /* last number assigned to a client */
    uint64_t head;          /* end of the log: number of bytes ever written */
    uint64_t tail;          /* start of the log; earlier broadcasts are lost */
    uint64_t displacements; /* number of displacements so far */
    uint32_t nreaders;
    uint32_t nrows; /* number of rows that were ever used */
    ngx_tg_broadcast_reader_t readers[NGX_TG_WORKERS_MAX];
    ngx_tg_client_row_t rows[NGX_TG_CLIENTS_MAX];
    char broadcast[NGX_TG_BROADCAST_LOG_SIZE];
} ngx_tg_shm_page_t;

/* NULL: this process does not use the page. */
extern ngx_tg_shm_page_t *ngx_tg_shm_page;

ngx_tg_broadcast_reader_t *ngx_tg_shm_page_get_reader(void);
ngx_uint_t ngx_tg_shm_page_get_worker_slot(void);
ngx_uint_t ngx_tg_shm_page_is_worker_alive(ngx_uint_t slot);

/* Locks the page. The lock of a killed worker is recovered. */
void ngx_tg_shm_page_lock(void);
void ngx_tg_shm_page_unlock(void);

/* Wakes all workers after a change of the page. */
void ngx_tg_shm_page_wake_workers(void);

/* Returns the time since `since`, in ms; negative if that clock is ahead. */
static ngx_inline ngx_msec_int_t
ngx_tg_shm_page_get_age(uint64_t since)
{
    return (ngx_msec_int_t) (ngx_current_msec - (ngx_msec_t) since);
}

/* Frees the rows of killed workers. The page must be locked. */
void ngx_tg_shm_page_sweep(void);

#endif
