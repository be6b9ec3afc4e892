/*
 * The socket and the schema file of a server: what they are called, and that
 * nobody else can open them, from their first moment on.
 *
 *     DIR/claudecode_ipc_UUID.sock
 *     DIR/claudecode_ipc_schema_UUID.json
 *
 * DIR is the program's choice, or $XDG_RUNTIME_DIR, or a directory that is
 * made for them.
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
/* A directory of its own: TMPDIR/toolgate-0123456789ab. */
#define TG_SERVER_DIR_PREFIX "toolgate-"
#define TG_SERVER_DIR_DIGITS 12
/* Clients that connect at the same moment. */
#define TG_SERVER_LISTEN_BACKLOG 128

#define TG_SOCKET_PATH_SIZE sizeof(((struct sockaddr_un *) 0)->sun_path)

/*
 * Which file it is: what else may come to stand there is not ours.  A number
 * of a file is used again, but not within the same moment.
 */
typedef struct {
    dev_t dev;
    ino_t ino; /* 0: there is none */
    struct timespec mtim;
} tg_file_id_t;

tg_file_id_t tg_file_id_make(const struct stat *st);
int tg_file_id_is_same(const tg_file_id_t *id, const struct stat *st);

typedef struct {
    char dir[TG_SOCKET_PATH_SIZE];
    char socket[TG_SOCKET_PATH_SIZE];
    char schema[TG_SOCKET_PATH_SIZE + 16];
    int is_private; /* dir is made for them */
    int has_dir;    /* it was */
    int lock_fd;    /* then its lock, for as long as it is there; or -1 */
    tg_file_id_t socket_id;
    tg_file_id_t schema_id;
} tg_server_files_t;

/* All return 0 or a TOOLGATE_ERR_..., told. */

/* Other names than ever before.  directory: NULL is as above. */
int tg_server_files_choose_paths(tg_server_files_t *files,
                                 const char *directory);

/*
 * Writes the schema file, or writes it anew; and opens the socket, *fd.  Who
 * fails calls tg_server_files_remove().
 */
int tg_server_files_write_schema(tg_server_files_t *files, tg_str_t schema);
int tg_server_files_listen(tg_server_files_t *files, int *fd);

/* Removes what of it is there. */
void tg_server_files_remove(tg_server_files_t *files);

/* --- tg_server_files_stale.c --- */

/* Removes what killed servers of this user have left in a folder. */
void tg_server_files_remove_stale(const char *folder);

#endif
