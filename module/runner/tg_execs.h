/*
 * The method `exec`: which calls run, which wait, and which are refused.
 */
#ifndef TG_EXECS_H
#define TG_EXECS_H

#include "core/tg_peer.h"
#include "runner/tg_exec_params.h"
#include "runner/tg_limit.h"
#include "runner/tg_tree.h"

#include <uv.h>

/* The bound: enough to keep any machine busy. */
#define TG_EXEC_RUNNING_MAX 64
/* Calls that wait; beyond it an answer now is worth more than one later. */
#define TG_EXEC_QUEUE_MAX 1024
/* Bytes of parameters, standard inputs above all, of all calls together. */
#define TG_EXEC_BYTES_MAX 268435456
/* When to ask again for a peer that reads too slowly to be served. */
#define TG_EXEC_RETRY_MS 20

typedef struct tg_execs_s tg_execs_t;
typedef struct tg_exec_s tg_exec_t;
typedef struct tg_held_s tg_held_t;

typedef struct {
    /*
     * May a call of this peer be started, or has the peer too much unread?
     * It is asked again soon.
     */
    int (*may_start)(void *host, tg_peer_t *peer);

    /* May it be told of progress now?  If not, it is asked again soon. */
    int (*may_tell)(void *host, tg_peer_t *peer);

    /* An answer or progress was written to the peer outside its own input. */
    void (*told)(void *host, tg_peer_t *peer);

    /* The last exec is done, and nothing is held (tg_held.h). */
    void (*idle)(void *host);
} tg_execs_ops_t;

struct tg_execs_s {
    uv_loop_t *loop;
    const tg_execs_ops_t *ops;
    void *host;
    tg_exec_env_t env;
    int null_fd; /* the standard input of programs that get none */
    uv_signal_t sigchld;
    uv_timer_t retry; /* of calls that wait */
    tg_limit_t *limits;

    tg_exec_t *queue; /* first come */
    tg_exec_t *queue_last;
    tg_exec_t *slots;
    unsigned nqueued;
    unsigned nrunning; /* slots in use */
    unsigned nexecs;   /* all, those that only wait for their handles too */
    size_t bytes;
    uint64_t nstarted;

    tg_held_t *held; /* tg_held.c's; the oldest first */
    tg_held_t *held_last;
    unsigned nheld;
    size_t held_bytes; /* of answers */
    uint64_t held_ms;  /* how long; TG_HELD_MS */
    uv_timer_t expiry; /* of the oldest */

    tg_tree_t tree; /* below this process, as of tree_at */
    uint64_t tree_at;
    int has_tree;
    char chunk[65536]; /* what was just read; never outlives a callback */
};

/*
 * The calling process must be a subreaper and ignore SIGPIPE.  0 or a libuv
 * error, after which nothing needs to be freed.
 */
int tg_execs_init(tg_execs_t *execs, uv_loop_t *loop, const tg_execs_ops_t *ops,
                  void *host);

/* Closes the handles; only when there is no exec and nothing held any more. */
void tg_execs_close(tg_execs_t *execs);

/* Behind the loop's end. */
void tg_execs_deinit(tg_execs_t *execs);

/* Answers or takes the request; to be called from the peer's ops->call. */
void tg_execs_call(tg_execs_t *execs, tg_peer_t *peer, tg_request_t *request);

/* The caller wants no answer: ends the program.  From ops->cancel. */
void tg_execs_cancel(tg_call_t *call);

/* --- for tg_exec.c --- */

/* An exec with so many bytes of parameters is gone. */
void tg_execs_gone(tg_execs_t *execs, size_t bytes);

/* A place is free: the calls that wait are looked at soon, not from here. */
void tg_execs_wake(tg_execs_t *execs);

/* Appends "64 programs are running and 3 wait". */
void tg_execs_put_load(tg_buf_t *text, const tg_execs_t *execs);

#endif
