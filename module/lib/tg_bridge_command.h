/* The command line that starts the bridge of a server. */
#ifndef TG_BRIDGE_COMMAND_H
#define TG_BRIDGE_COMMAND_H

#include "lib/tg_server.h"

#include <limits.h>

/* An address within the object that contains this library, for dladdr(). */
#define TG_BRIDGE_LIBRARY_ADDRESS ((void *) (uintptr_t) toolgate_agent_config)

typedef struct {
    char path[PATH_MAX];
    char socket[TG_SOCKET_PATH_SIZE];
    char schema[sizeof(((tg_server_files_t *) 0)->schema)];
    /* dialect to speak with the server; NULL: the bridge's default */
    const char *dialect;
} tg_bridge_command_t;

/* Largest number of arguments, with the terminating NULL. */
#define TG_BRIDGE_ARGV_MAX 6

/* Chooses the bridge program and its arguments. Requires tg_lib_lock(). */
int tg_bridge_command_init(toolgate_server_t *server,
                           tg_bridge_command_t *command);

/*
 * Fills words with the argv of the bridge, valid as long as the command. Socket
 * and schema file come first, as bridges of other projects expect.
 */
void tg_bridge_command_get_argv(const tg_bridge_command_t *command,
                                const char *words[TG_BRIDGE_ARGV_MAX]);

#endif
