/* A server of the public API. All members are guarded by the lock. */
#ifndef TG_SERVER_H
#define TG_SERVER_H

#include "lib/tg_runtime.h"

typedef enum {
    TG_SERVER_TRANSPORT_STDIO, /* a bridge connects to the socket */
    TG_SERVER_TRANSPORT_SDK    /* the program passes the messages */
} tg_server_transport_t;

struct toolgate_server_s {
    toolgate_server_t *next; /* list of all started servers */
    toolgate_server_t *prev;
    int is_registered; /* member of that list */

    char *name;
    char *version;
    char *instructions;
    char *directory; /* NULL: default */
    char *bridge;    /* NULL: default */
    tg_server_transport_t transport;
    tg_loop_type_t loop;
    uv_loop_t *uv; /* for TG_LOOP_UV */
    tg_server_config_t conf;
    tg_server_tools_t tools;

    int state;
    int has_files; /* the names of the files are chosen */
    tg_server_files_t files;
    pid_t pid;             /* process that started the server */
    tg_runtime_t *runtime; /* NULL: the server is not started */
    /* With TG_LOOP_THREAD: a stopped runtime whose thread must be joined. */
    tg_runtime_t *ended;
};

/* Chooses the files' names, unless they are chosen already. */
int tg_server_choose_files(toolgate_server_t *server);

/* Adds a tool of any kind; texts are the values of its options. */
int tg_server_create_tool(toolgate_server_t *server,
                          tg_catalog_entry_type_t kind, const char *name,
                          const char *const *texts, toolgate_call_pt handler,
                          void *data);

/*
 * Adds a tool and takes over the reference to it. Must be called with
 * tg_lib_lock().
 */
int tg_server_insert_tool(toolgate_server_t *server, tg_tool_t *tool);

int tg_server_set_tool_option(toolgate_server_t *server,
                              tg_catalog_entry_type_t kind, const char *name,
                              const char *option, const char *value);
int tg_server_remove_tool(toolgate_server_t *server,
                          tg_catalog_entry_type_t kind, const char *name);

/* Declares the capabilities that the catalog needs; none is ever withdrawn. */
void tg_runtime_declare_capabilities(tg_runtime_t *runtime);

/*
 * Posts a command to the server, or frees it on failure. Must not be called
 * with tg_lib_lock().
 */
int tg_server_post_command(toolgate_server_t *server,
                           tg_runtime_command_t *command);

/*
 * Returns 1 if a client may be sent a notification of about `bytes` bytes, or 0
 * after closing it, as it does not read them. Frees no other session.
 */
int tg_session_begin_notification(tg_session_t *session, size_t bytes);

/* Counts a notification; before: the length of the output before it. */
void tg_session_end_notification(tg_session_t *session, size_t before);

/* Writes the schema file, unless the transport is "sdk". */
int tg_server_write_schema_file(toolgate_server_t *server,
                                const tg_catalog_t *catalog);

/* Returns TOOLGATE_ERR_STATE if another process started the server. */
int tg_server_check_process(const toolgate_server_t *server);

void tg_server_free_stopped(toolgate_server_t *server);

/* Installs the handlers for exit() and fork(), once. */
void tg_server_install_fork_handlers(void);

/* Adds a server with files or a runtime. Requires tg_lib_lock(). */
void tg_server_register(toolgate_server_t *server);

/* Requires tg_lib_lock(). */
void tg_server_unregister(toolgate_server_t *server);

#endif
