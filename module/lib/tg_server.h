/*
 * A server as the program has it.  Locked, all of it.
 */
#ifndef TG_SERVER_H
#define TG_SERVER_H

#include "lib/tg_runtime.h"

typedef enum {
    TG_SERVER_TRANSPORT_STDIO, /* a bridge, at the socket */
    TG_SERVER_TRANSPORT_SDK    /* the program carries messages */
} tg_server_transport_t;

struct toolgate_server_s {
    toolgate_server_t *next; /* of all that were started */
    toolgate_server_t *prev;
    int is_registered; /* it is among them */

    char *name;
    char *version;
    char *instructions;
    char *directory; /* NULL: found */
    char *bridge;    /* likewise */
    tg_server_transport_t transport;
    tg_loop_type_t loop;
    uv_loop_t *uv; /* of TG_LOOP_UV */
    tg_server_config_t conf;
    tg_server_tools_t tools;

    int state;
    int has_files; /* their names were chosen */
    tg_server_files_t files;
    pid_t pid;             /* who started it */
    tg_runtime_t *runtime; /* NULL: it is not started */
    tg_runtime_t
        *ended; /* of TG_LOOP_THREAD: its thread was not waited for yet */
};

/* --- tg_server.c --- */

/* Chooses names for its files, where there are none: 0 or an error, told. */
int tg_server_choose_files(toolgate_server_t *server);

/* Writes its schema file, where it has one: likewise. */
int tg_server_write_schema_file(toolgate_server_t *server,
                                const tg_catalog_t *catalog);

/* It is not this process's that started it: an error, told; or 0. */
int tg_server_check_process(const toolgate_server_t *server);

/* Frees one that is stopped. */
void tg_server_free_stopped(toolgate_server_t *server);

/* --- tg_fork.c --- */

/* From now on exit() and fork() are heard of. */
void tg_server_install_fork_handlers(void);

/* It has files and a run, or is about to; and has not. */
void tg_server_register(toolgate_server_t *server);
void tg_server_unregister(toolgate_server_t *server);

/* --- tg_server_lifecycle.c --- */

/* Its loop, if it has one still, ends; unlocked, and not in a callback. */
void tg_server_join_runtime(toolgate_server_t *server);

#endif
