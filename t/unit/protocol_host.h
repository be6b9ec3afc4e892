/*
 * A peer with a host that implements the common tools of the transcripts
 * (t/transcripts/README.md) in memory. Time stands still: delayed calls end
 * when host_fire() says so.
 */
#ifndef PROTOCOL_HOST_H
#define PROTOCOL_HOST_H

#include "protocol_memory.h"

#include "protocol/tg_peer.h"

#define HOST_CALLS 128

typedef struct {
    tg_peer_t peer;
    tg_dialect_t dialect; /* dialect of the listener */
    tg_server_info_t info;
    tg_catalog_t *catalog;
    tg_catalog_entry_t *entries; /* borrowed by the catalog; one block */
    const char *const *names;    /* of the tools on offer; NULL: all */
    size_t big;                  /* size of the output of `big` */
    int is_wild;  /* states may be anything; progress precedes each end */
    tg_buf_t in;  /* not consumed yet */
    tg_buf_t out; /* output taken by host_collect() */
    tg_buf_t log;
    int rc;              /* result of the last tg_peer_handle_input() */
    int is_offering;     /* prompts, resources and templates as well */
    int is_hiding;       /* is_visible() hides the tool `fail` */
    const char *why;     /* reason to refuse the client, or NULL */
    int is_reworded;     /* `fail` has a new description after the next move */
    const char *dropped; /* a tool or method that is missing after a move */
    int is_apart;        /* the last move kept replies outside of the state */
    /* kinds whose entries the last move changed for this client */
    unsigned changes;
    int is_yielding;  /* each request ends a time slice */
    int is_moving;    /* the peer moves between time slices */
    unsigned nslices; /* time slices that ended early */
    int is_copying;   /* input comes in blocks of exactly its size */
    unsigned ncalls;  /* calls that reached the host */
    unsigned ncancelled;
    unsigned nrequests;              /* requests to the client */
    tg_call_t *deferred[HOST_CALLS]; /* oldest first */
    size_t ndeferred;
} host_t;

/* The output of tool `big`: too large for any dialect. */
#define HOST_BIG 11000000

/* The peer uses `alloc`; the host's own memory comes from libc. */
void host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
               size_t max_frame, unsigned max_calls);

/* Creates a host that also offers prompts, resources and templates. */
void host_init_offering(host_t *host, const tg_alloc_t *alloc,
                        tg_dialect_t dialect, size_t max_frame,
                        unsigned max_calls);

/* Creates a wild host with some of the tools, prompts, resources, templates. */
void host_init_wild(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
                    size_t max_frame, unsigned max_calls,
                    const char *const *names);
void host_deinit(host_t *host);

/* Passes bytes to the peer, after those that it did not consume. */
void host_feed(host_t *host, tg_str_t bytes);

/* Completes the oldest delayed call; returns 0 if there is none. */
int host_fire(host_t *host);

/* Returns the deferred call with a raw id, or NULL. */
tg_call_t *host_call(const host_t *host, const char *id);

/* Moves the peer's output to `out`. */
void host_collect(host_t *host);

/* Loads a state and returns the result of tg_peer_load(). */
int host_load(host_t *host, tg_str_t state);

/* Appends the peer's state. */
void host_save(host_t *host, tg_buf_t *state);

/* Loads the state of a host without output into a new one. */
void host_copy_state(host_t *copy, host_t *host);

/* Drops a deferred call, which the test completes itself. */
void host_forget(host_t *host, tg_call_t *call);

/*
 * Saves the peer and loads it into a new one with a new catalog; unread and
 * unwritten bytes are kept. Returns the result of tg_peer_load().
 */
int host_move(host_t *host);

/* True if no call and no output is pending. */
#define HOST_IS_IDLE(host)                                                     \
    ((host)->peer.ncalls + (host)->peer.nrounds == 0                           \
     && (host)->peer.out.len == 0)

/* Appends a frame with its length prefix. */
void host_put_ipc(tg_buf_t *buf, tg_str_t payload);

#endif
