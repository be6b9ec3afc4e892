/*
 * What the memory of counters looks like; for the files of this folder alone.
 *
 * Whatever changes here must change NGX_TOOLGATE_NUMBERS_MAGIC: another object
 * or binary finds the memory of its predecessor.
 */
#ifndef _NGX_TOOLGATE_COUNTING_H_INCLUDED_
#define _NGX_TOOLGATE_COUNTING_H_INCLUDED_

#include "nginx/share/ngx_toolgate_numbers.h"

#include <pthread.h>

/* "TGnumb" and the version of this layout. */
#define NGX_TOOLGATE_NUMBERS_MAGIC UINT64_C(0x54476e756d620002)

typedef struct {
    uint8_t kind; /* tg_entry_kind_t */
    uint8_t server_len;
    uint8_t name_len;
    char server[NGX_TOOLGATE_SERVER_MAX];
    char name[TG_NAME_MAX];
} ngx_toolgate_counted_t;

/* A call in flight; number is written last, and emptied first. */
typedef struct {
    uint64_t number; /* 0: none */
    uint64_t order;  /* the number of the one that somebody wants ended */
    uint64_t start;
    int32_t pid;
    uint32_t uid;
    uint32_t entry;
    uint32_t is_here;
    ngx_toolgate_identity_t identity;
} ngx_toolgate_running_line_t;

/* A worker's. */
typedef struct {
    ngx_toolgate_counters_t counters[NGX_TOOLGATE_ENTRIES_MAX];
    ngx_toolgate_running_line_t running[NGX_TOOLGATE_RUNNING_MAX];
    uint32_t nrunning; /* no line behind them was ever used */
    int32_t pid;
    uint8_t unused[4088];
} ngx_toolgate_counting_t;

typedef struct {
    uint64_t magic;
    uint64_t numbers;     /* given to calls */
    pthread_mutex_t lock; /* of entries, which are never taken back */
    uint32_t nentries;
    uint32_t nplaces; /* no place behind them was ever used */
    ngx_toolgate_counted_t entries[NGX_TOOLGATE_ENTRIES_MAX];
    ngx_toolgate_counting_t places[NGX_TOOLGATE_COUNTING_MAX]
        __attribute__((aligned(4096)));
} ngx_toolgate_numbers_t;

/* NULL: this process counts nothing. */
extern ngx_toolgate_numbers_t *ngx_toolgate_numbers;

/* This worker's. */
ngx_toolgate_counting_t *ngx_toolgate_counting(void);
ngx_uint_t ngx_toolgate_counting_is_alive(ngx_uint_t place);

#endif
