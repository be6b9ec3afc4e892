/*
 * How the bridge of a server is started.
 */
#ifndef TG_BRIDGE_COMMAND_H
#define TG_BRIDGE_COMMAND_H

#include "lib/tg_server.h"

#include <limits.h>

/* An address in the object that the library is in. */
#define TG_BRIDGE_LIBRARY_ADDRESS ((void *) (uintptr_t) toolgate_agent_config)

typedef struct {
    char path[PATH_MAX];
    char socket[TG_SOCKET_PATH_SIZE];
    char schema[sizeof(((tg_server_files_t *) 0)->schema)];
    const char *dialect; /* that it speaks with the server; NULL: its own */
} tg_bridge_command_t;

/* Its words at most, and NULL behind them. */
#define TG_BRIDGE_ARGV_MAX 6

/* Locked: 0, or an error, told. */
int tg_bridge_command_init(toolgate_server_t *server,
                           tg_bridge_command_t *command);

/*
 * The words, which live as long as the command: socket and schema file come
 * first, as other bridges take them, too.
 */
void tg_bridge_command_get_argv(const tg_bridge_command_t *command,
                                const char *words[TG_BRIDGE_ARGV_MAX]);

#endif
