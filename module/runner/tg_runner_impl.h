/*
 * What the files of the runner proper share; nobody else includes it.
 */
#ifndef TG_RUNNER_IMPL_H
#define TG_RUNNER_IMPL_H

#include "runner/tg_execs.h"
#include "runner/tg_held.h"
#include "runner/tg_listen.h"
#include "runner/tg_runner.h"
#include "uv/tg_uv.h"

typedef struct tg_runner_s tg_runner_t;
typedef struct tg_client_s tg_client_t;

/* The methods, by their place in entries. */
enum {
    TG_RUNNER_EXEC,
    TG_RUNNER_RELEASE,
    TG_RUNNER_ADOPT,
    TG_RUNNER_STATUS,
    TG_RUNNER_METHODS
};

/* A worker's connection. */
struct tg_client_s {
    tg_runner_t *runner;
    tg_client_t *next;
    tg_client_t *prev;
    tg_uv_conn_t conn;
    tg_peer_t peer;
};

struct tg_runner_s {
    const tg_runner_conf_t *conf;
    uv_loop_t loop;
    tg_listen_t place;
    uv_pipe_t listener;
    uv_signal_t sigterm;
    uv_signal_t sigint;
    uv_timer_t linger;
    uv_timer_t watch;
    tg_execs_t execs;
    tg_catalogue_t *catalogue;
    tg_entry_t entries[TG_RUNNER_METHODS];
    tg_info_t info;
    tg_client_t *clients;
    unsigned nclients;
    int has_served;  /* somebody has been connected */
    int is_stopping; /* the end was decided */
    int is_closed;   /* its own handles too */
};

/* Looks whether there is anything left to do; if not, ends after a while. */
void tg_runner_check(tg_runner_t *runner);

/* Ends every program, then itself. */
void tg_runner_stop(tg_runner_t *runner);

/* tg_client.c: for uv_listen(), and what exec asks for. */
void tg_client_on_connection(uv_stream_t *listener, int status);
int tg_client_may_start(void *host, tg_peer_t *peer);
int tg_client_may_tell(void *host, tg_peer_t *peer);
void tg_client_told(void *host, tg_peer_t *peer);

#endif
