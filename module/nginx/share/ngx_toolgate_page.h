/*
 * What the page looks like; for the files of this folder alone.
 *
 * Whatever changes here must change NGX_TOOLGATE_PAGE_MAGIC: another object
 * or binary finds the page of its predecessor.
 */
#ifndef _NGX_TOOLGATE_PAGE_H_INCLUDED_
#define _NGX_TOOLGATE_PAGE_H_INCLUDED_

#include "nginx/share/ngx_toolgate_share.h"

/* "TGpage" and the version of this layout. */
#define NGX_TOOLGATE_PAGE_MAGIC UINT64_C(0x5447706167650003)

/* What workers have not read yet; a tenth of it is more than usual. */
#define NGX_TOOLGATE_NEWS_ROOM 16777216
/* A worker, or a client on its way, that takes longer misses what was told. */
#define NGX_TOOLGATE_NEWS_LATE 10000
/* No client is on its way between two workers for so long. */
#define NGX_TOOLGATE_CLIENT_LOST 60000

typedef enum {
    NGX_TOOLGATE_CLIENT_LINE_FREE = 0,
    NGX_TOOLGATE_CLIENT_LINE_HERE,
    NGX_TOOLGATE_CLIENT_LINE_MOVING /* no worker has it */
} ngx_toolgate_client_line_state_t;

typedef struct {
    uint64_t number;
    uint64_t address;
    uint64_t since;
    uint64_t heard; /* while it moves */
    uint64_t moved; /* since when; ms */
    uint32_t state;
    uint32_t worker; /* its place */
    int32_t pid;
    uint32_t uid;
    uint32_t calls;
    uint8_t dialect;
    uint8_t is_told;
    uint8_t is_bridge;
    uint8_t is_displaced;
    ngx_toolgate_identity_t identity;
} ngx_toolgate_client_line_t;

typedef struct {
    uint64_t read;  /* NGX_TOOLGATE_NOTHING: it reads no news */
    uint64_t since; /* it has had something to read; ms */
    int32_t pid;
    uint32_t unused;
} ngx_toolgate_reader_t;

#define NGX_TOOLGATE_NOTHING UINT64_MAX

typedef struct {
    uint64_t magic;
    pthread_mutex_t lock;
    uint64_t numbers; /* given to clients */
    uint64_t head;    /* of the news: bytes that were ever written */
    uint64_t tail;    /* what is older is lost */
    uint64_t orders;  /* to clients that are to go */
    uint32_t nreaders;
    uint32_t nlines; /* no line behind them was ever used */
    ngx_toolgate_reader_t readers[NGX_TOOLGATE_WORKERS_MAX];
    ngx_toolgate_client_line_t lines[NGX_TOOLGATE_CLIENTS_MAX];
    char news[NGX_TOOLGATE_NEWS_ROOM];
} ngx_toolgate_page_t;

/* NULL: this process does not use it. */
extern ngx_toolgate_page_t *ngx_toolgate_page;

/* This worker's among the readers. */
ngx_toolgate_reader_t *ngx_toolgate_page_reader(void);
ngx_uint_t ngx_toolgate_page_place(void);
ngx_uint_t ngx_toolgate_page_is_alive(ngx_uint_t place);

/* A worker that was killed holds nothing for ever. */
void ngx_toolgate_page_lock(void);
void ngx_toolgate_page_unlock(void);

/* Something changed that workers want to know. */
void ngx_toolgate_page_wake(void);

/* ms since then: another process may be ahead of this one's clock. */
static ngx_inline ngx_msec_int_t
ngx_toolgate_page_age(uint64_t since)
{
    return (ngx_msec_int_t) (ngx_current_msec - (ngx_msec_t) since);
}

/* Frees the lines of workers that were killed.  The page is locked. */
void ngx_toolgate_page_sweep(void);

#endif
