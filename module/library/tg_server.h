/*
 * A server as the program has it.  Locked, all of it.
 */
#ifndef TG_SERVER_H
#define TG_SERVER_H

#include "library/tg_run.h"

typedef enum {
    TG_TRANSPORT_STDIO, /* a bridge, at the socket */
    TG_TRANSPORT_SDK    /* the program carries messages */
} tg_transport_t;

struct toolgate_server_s {
    toolgate_server_t *next; /* of all that were started */
    toolgate_server_t *prev;
    int is_known; /* it is among them */

    char *name;
    char *version;
    char *instructions;
    char *directory; /* NULL: found */
    char *bridge;    /* likewise */
    tg_transport_t transport;
    tg_loop_t loop;
    uv_loop_t *uv; /* of TG_LOOP_UV */
    tg_conf_t conf;
    tg_offers_t offers;

    int state;
    int has_files; /* their names were chosen */
    tg_files_t files;
    pid_t pid;       /* who started it */
    tg_run_t *run;   /* NULL: it is not started */
    tg_run_t *ended; /* of TG_LOOP_THREAD: its thread was not waited for yet */
};

/* --- tg_server.c --- */

/* Chooses names for its files, where there are none: 0 or an error, told. */
int tg_server_names(toolgate_server_t *server);

/* Writes its schema file, where it has one: likewise. */
int tg_server_write(toolgate_server_t *server, const tg_catalogue_t *catalogue);

/* It is not this process's that started it: an error, told; or 0. */
int tg_server_is_foreign(const toolgate_server_t *server);

/* Frees one that is stopped. */
void tg_server_release(toolgate_server_t *server);

/* --- tg_fork.c --- */

/* From now on exit() and fork() are heard of. */
void tg_server_watch(void);

/* It has files and a run, or is about to; and has not. */
void tg_server_know(toolgate_server_t *server);
void tg_server_forget(toolgate_server_t *server);

/* --- tg_life.c --- */

/* Its loop, if it has one still, ends; unlocked, and not in a callback. */
void tg_server_end(toolgate_server_t *server);

#endif
