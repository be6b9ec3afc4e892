/*
 * NGINX, as far as the files of module/nginx that are fuzzed need it: its
 * time, timers and posted events, and connections of which the fuzzer is the
 * other side.  Nothing happens by itself.
 *
 * A connection that is closed is freed, so that whoever touches it is found
 * out.
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
    tg_buf_t in;    /* on its way to us */
    tg_buf_t sent;  /* by us */
    int is_pending; /* connect() goes on */
    int err;        /* what became of it */
    int is_ended;   /* by the other side */
    int is_full;    /* takes nothing for now */
} side_t;

/* How the next connect() goes. */
typedef enum {
    SIDE_CONNECTS = 0,
    SIDE_PENDS,
    SIDE_REFUSED
} side_how_t;

typedef struct {
    side_t *sides[SIDE_MAX]; /* by descriptor; NULL: closed */
    unsigned nsides;         /* that there have ever been */
    side_how_t how;
    uint32_t seed;    /* how reads and writes are cut */
    unsigned fail_at; /* the allocation of NGINX's that fails; 0: none */
    unsigned ntimers; /* set */
    unsigned nallocs;
} side_world_t;

extern side_world_t side_world;

void side_init(uint32_t seed);

/* Nothing may be left but what was never freed here; ends the world. */
void side_deinit(void);

/* The newest connection that is there, or the n-th before it; or NULL. */
side_t *side_newest(unsigned n);

/* The other side sends, ends it, takes more, or its connect() is over. */
void side_send(side_t *side, tg_str_t bytes);
void side_end(side_t *side);
void side_take(side_t *side);
void side_connected(side_t *side, int err);

/* Runs what was posted, and what that posts. */
void side_run(void);

/* The time of the next timer comes; 0: there is none. */
int side_tick(void);

/* A pool for a call. */
ngx_pool_t *side_pool(void);
void side_pool_free(ngx_pool_t *pool);

#endif
