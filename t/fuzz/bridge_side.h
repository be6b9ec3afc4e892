/*
 * A whole bridge without a process, a socket or time. Its loop only ends it;
 * the functions below do what would come from outside. Its connections are
 * those of module/transport, on endpoints that move bytes to and from buffers
 * in pieces whose sizes follow a seed.
 */
#ifndef FUZZ_BRIDGE_SIDE_H
#define FUZZ_BRIDGE_SIDE_H

#include "help.h"

#include "bridge/tg_bridge.h"

/* The timers: the bridge's own, and its parent client's. */
#define SIDE_TIMER_RETRY TG_BRIDGE_TIMER_COUNT
#define SIDE_TIMERS (TG_BRIDGE_TIMER_COUNT + 1)

typedef struct {
    tg_uv_conn_t *conn;
    tg_buf_t sent; /* bytes that the bridge wrote and the test has not taken */
    int is_reading;
    int is_writing; /* a write is pending */
    int is_closed;  /* its last callback is pending */
} side_t;

typedef struct {
    tg_bridge_t *bridge;
    side_t agent;
    side_t parent;
    uv_connect_t *connect; /* pending */
    uv_connect_cb connected;
    uint32_t seed; /* decides how writes are cut; 0: not at all */
    int readable;  /* the result of poll() for stdin */
    uint64_t now;  /* time of the loop */
    uint64_t waits[SIDE_TIMERS];
    void (*script)(void *ctx);
    void *ctx;
} side_world_t;

extern side_world_t side_world;

/*
 * Runs a bridge with script(ctx) as its loop, then ends the bridge if it still
 * runs and frees everything. The input begins with the dialect and the seed.
 */
void side_run(fuzz_in_t *in, tg_dialect_t *dialect, void (*script)(void *ctx),
              void *ctx);

/* Returns 1 after the bridge has ended. */
int side_is_over(void);

/* Runs one loop iteration: prepare callbacks, writes, last callbacks. */
void side_iterate(void);

/* Passes bytes or a libuv error to a reader; returns 0 when there is none. */
int side_read(side_t *side, tg_str_t bytes);
int side_read_error(side_t *side, int err);

/* Completes a connect with `err`; returns 0 when none is pending. */
int side_connect(int err);

/* Lets a timer expire; returns 0 when it does not run. */
int side_fire(unsigned number);

#endif
