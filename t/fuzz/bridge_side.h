/*
 * A whole bridge without a process, a socket or time: its loop does nothing
 * but end it, and what would come from outside is done by the functions
 * below.  Connections are those of module/transport, on ends that move bytes to and
 * from buffers, in pieces that a seed has it.
 */
#ifndef FUZZ_BRIDGE_SIDE_H
#define FUZZ_BRIDGE_SIDE_H

#include "help.h"

#include "bridge/tg_bridge.h"

/* The timers: the bridge's own, and that of its parent's client. */
#define SIDE_TIMER_RETRY TG_BRIDGE_TIMER_COUNT
#define SIDE_TIMERS (TG_BRIDGE_TIMER_COUNT + 1)

typedef struct {
    tg_uv_conn_t *conn;
    tg_buf_t sent; /* what the bridge wrote and nobody took */
    int is_reading;
    int is_writing; /* a write is under way */
    int is_closed;  /* its last callback is due */
} side_t;

typedef struct {
    tg_bridge_t *bridge;
    side_t agent;
    side_t parent;
    uv_connect_t *connect; /* under way */
    uv_connect_cb connected;
    uint32_t seed; /* of how writes are cut; 0: not at all */
    int readable;  /* what poll() says of stdin */
    uint64_t now;  /* of the loop */
    uint64_t waits[SIDE_TIMERS];
    void (*script)(void *ctx);
    void *ctx;
} side_world_t;

extern side_world_t side_world;

/*
 * Runs a bridge: script(ctx) is its loop.  Afterwards it is ended, if it was
 * not, and everything is freed.
 */
void side_run(const tg_bridge_options_t *options, uint32_t seed,
              void (*script)(void *ctx), void *ctx);

/* Has it come to its end? */
int side_is_over(void);

/* What the loop would do now: prepare, writes, last callbacks. */
void side_turn(void);

/* Bytes or a libuv error for one that reads; 0 when it does not. */
int side_read(side_t *side, tg_str_t bytes);
int side_read_error(side_t *side, int err);

/* A connect ends with this: 0 when there is none. */
int side_connect(int err);

/* A timer that runs comes to its end; 0 when it does not run. */
int side_fire(unsigned number);

#endif
