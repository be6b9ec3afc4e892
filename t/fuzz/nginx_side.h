/*
 * NGINX as far as the fuzzed files of module/nginx need it: time, timers,
 * posted events, and connections whose other end is the fuzzer. Nothing
 * happens by itself.
 *
 * A closed connection is freed, so that AddressSanitizer finds later accesses.
 */
#ifndef FUZZ_NGINX_SIDE_H
#define FUZZ_NGINX_SIDE_H

#include "nginx/ngx_tg.h"

#include "help.h"

#define SIDE_MAX 64

typedef struct {
    ngx_connection_t connection;
    ngx_event_t read;
    ngx_event_t write;
    tg_buf_t in;    /* sent by the other side, not read yet */
    tg_buf_t sent;  /* sent by NGINX */
    int is_pending; /* connect() is pending */
    int err;        /* result of connect() */
    int is_ended;   /* closed by the other side */
    int is_full;    /* accepts nothing for now */
} side_t;

/* The behavior of the next connect(). */
typedef enum {
    SIDE_CONNECTS = 0,
    SIDE_PENDS,
    SIDE_REFUSED
} side_how_t;

typedef struct {
    side_t *sides[SIDE_MAX]; /* by descriptor; NULL: closed */
    unsigned nsides;         /* created so far */
    side_how_t how;
    uint32_t seed;    /* decides how reads and writes are cut */
    unsigned fail_at; /* which of NGINX's allocations fails; 0: none */
    unsigned ntimers; /* timers that are set */
    unsigned nallocs;
} side_world_t;

extern side_world_t side_world;

void side_init(uint32_t seed);

/* Fails if a resource is left over, then frees the environment. */
void side_deinit(void);

/* Returns the newest open connection, or the n-th before it; or NULL. */
side_t *side_newest(unsigned n);

/* The other side sends, closes, accepts bytes again, or ends a connect(). */
void side_send(side_t *side, tg_str_t bytes);
void side_end(side_t *side);
void side_take(side_t *side);
void side_connected(side_t *side, int err);

/* Runs posted events, and events that these post. */
void side_run(void);

/* Lets the next timer expire; returns 0 if there is none. */
int side_tick(void);

/* Returns a pool for a call. */
ngx_pool_t *side_pool(void);
void side_pool_free(ngx_pool_t *pool);

#endif
