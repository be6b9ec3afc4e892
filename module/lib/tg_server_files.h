/*
 * The socket and the schema file of a server, which no other user can ever
 * open. DIR is the option "directory", else $XDG_RUNTIME_DIR, else a private
 * directory that the server creates:
 *
 *     DIR/claudecode_ipc_UUID.sock
 *     DIR/claudecode_ipc_schema_UUID.json
 */
#ifndef TG_SERVER_FILES_H
#define TG_SERVER_FILES_H

#include "lib/tg_lib.h"

#include <sys/stat.h>
#include <sys/un.h>

#define TG_SOCKET_PREFIX "claudecode_ipc_"
#define TG_SOCKET_SUFFIX ".sock"
#define TG_SCHEMA_PREFIX "claudecode_ipc_schema_"
#define TG_SCHEMA_SUFFIX ".json"
/* Name of a private directory: TMPDIR/toolgate-0123456789ab. */
#define TG_SERVER_DIR_PREFIX "toolgate-"
#define TG_SERVER_DIR_DIGITS 12
/* Clients that can connect before the server accepts one. */
#define TG_SERVER_LISTEN_BACKLOG 128

#define TG_SOCKET_PATH_SIZE sizeof(((struct sockaddr_un *) 0)->sun_path)

/*
 * The identity of a file: another file at the same path is not removed. An
 * inode number may be reused, but hardly with the same modification time.
 */
typedef struct {
    dev_t dev;
    ino_t ino; /* 0: no file */
    struct timespec mtim;
} tg_file_id_t;

tg_file_id_t tg_file_id_make(const struct stat *st);
int tg_file_id_is_same(const tg_file_id_t *id, const struct stat *st);

typedef struct {
    char dir[TG_SOCKET_PATH_SIZE];
    char socket[TG_SOCKET_PATH_SIZE];
    char schema[TG_SOCKET_PATH_SIZE + 16];
    int is_private; /* dir is created by this server */
    int has_dir;    /* dir has been created */
    /* descriptor of dir that holds its lock while has_dir is set, or -1 */
    int lock_fd;
    tg_file_id_t socket_id;
    tg_file_id_t schema_id;
} tg_server_files_t;

/* Chooses unique names. directory NULL stands for the default one. */
int tg_server_files_choose_paths(tg_server_files_t *files,
                                 const char *directory);

/* Writes the file. After a failure call tg_server_files_remove(). */
int tg_server_files_write_schema(tg_server_files_t *files, tg_str_t schema);

/* Opens the listening socket. After a failure call tg_server_files_remove(). */
int tg_server_files_listen(tg_server_files_t *files, int *fd);

void tg_server_files_remove(tg_server_files_t *files);

/* Removes what this user's killed servers left in folder. */
void tg_server_files_remove_stale(const char *folder);

#endif
