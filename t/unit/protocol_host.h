/*
 * A peer with a host that implements the common tool set of the transcripts
 * (t/transcripts/README.md), in memory.  Time does not pass by itself: calls
 * that end later end when host_fire() says so.
 */
#ifndef PROTOCOL_HOST_H
#define PROTOCOL_HOST_H

#include "protocol_memory.h"

#include "protocol/tg_peer.h"

#define HOST_CALLS 128

typedef struct {
    tg_peer_t peer;
    tg_dialect_t dialect; /* of the listener */
    tg_server_info_t info;
    tg_catalog_t *catalog;
    tg_catalog_entry_t *entries; /* the catalogue borrows them; one block */
    const char *const *names;    /* of what is offered; NULL: everything */
    size_t big;                  /* the size of what `big` puts out */
    int is_wild;  /* states may be anything, and progress precedes an end */
    tg_buf_t in;  /* not consumed yet */
    tg_buf_t out; /* what host_collect() took */
    tg_buf_t log;
    int rc;          /* of the last tg_peer_handle_input() */
    int is_hiding;   /* is_visible says no to the tool `fail` */
    const char *why; /* not to serve it, or NULL */
    int is_reworded; /* from the next move on: `fail` has another description */
    const char *dropped; /* likewise: this tool or method is gone */
    int is_apart;        /* the last move was one with replies apart */
    int has_changed;     /* of the last move: for this client */
    int is_yielding;     /* each request ends a turn */
    int is_moving;       /* the peer moves between turns */
    unsigned nturns;     /* that ended so */
    int is_copying;      /* input comes in blocks of exactly its size */
    unsigned ncalls;     /* calls that reached the host */
    unsigned ncancelled;
    unsigned nasked;                 /* requests to the client */
    tg_call_t *deferred[HOST_CALLS]; /* oldest first */
    size_t ndeferred;
} host_t;

/* The output of tool `big`: more than any dialect carries. */
#define HOST_BIG 11000000

/* What hosts read and keep is libc's; alloc is the peer's. */
void host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
               size_t max_frame, unsigned max_calls);

/* Likewise, a wild one that offers some of the tools. */
void host_init_wild(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
                    size_t max_frame, unsigned max_calls,
                    const char *const *names);
void host_deinit(host_t *host);

/* Hands bytes to the peer, after those that it did not consume. */
void host_feed(host_t *host, tg_str_t bytes);

/* Ends the oldest call that ends by itself; 0 when there is none. */
int host_fire(host_t *host);

/* The deferred call of a raw id, or NULL. */
tg_call_t *host_call(const host_t *host, const char *id);

/* Moves what the peer wrote to out. */
void host_collect(host_t *host);

/* Loads a state: what tg_peer_load() says. */
int host_load(host_t *host, tg_str_t state);

/* Forgets a deferred call, which the test answers itself. */
void host_forget(host_t *host, tg_call_t *call);

/*
 * Saves the peer, forgets it, and loads it into a new one in its place, with
 * a catalogue built anew; what was not consumed and not written stays.  What
 * tg_peer_load() said.
 */
int host_move(host_t *host);

/* Nothing in flight, and nothing to write. */
#define HOST_IS_IDLE(host)                                                     \
    ((host)->peer.ncalls == 0 && (host)->peer.out.len == 0)

/* Appends a frame with its prefix. */
void host_put_ipc(tg_buf_t *buf, tg_str_t payload);

#endif
