/*
 * Socket files: creation under a temporary name, and renaming to the final
 * name. Functions that return ngx_int_t return NGX_OK, or NGX_ERROR after
 * logging; some also NGX_BUSY after logging.
 */
#ifndef _NGX_TG_LISTENER_H_INCLUDED_
#define _NGX_TG_LISTENER_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* Suffixes of the temporary name and of the lock file. */
#define NGX_TG_TEMP_SUFFIX "~"
#define NGX_TG_LOCK_SUFFIX "~lock"

typedef struct {
    ngx_listening_t *ls;
    ngx_tg_srv_conf_t *scf;
    u_char *path;
    u_char *temp_path;
    u_char *lock_path;
    uid_t uid;
    gid_t gid;
    /* identity of the file that we created; st_ino 0: unknown */
    ngx_file_info_t id;
    ngx_socket_t fd;  /* bound to temp_path */
    ngx_fd_t lock_fd; /* -1: not locked */
    unsigned is_inherited:1;
    unsigned is_bound:1;   /* temp_path exists */
    unsigned is_renamed:1; /* path is our socket */
    unsigned has_dir:1;    /* we created its directory */
} ngx_tg_socket_file_t;

/* Returns a path with a suffix, in the cycle's pool, or NULL. */
u_char *ngx_tg_path_append_suffix(ngx_cycle_t *cycle, u_char *path,
                                  const char *suffix);

/* Sets names and owner from sock->ls and sock->scf. */
ngx_int_t ngx_tg_socket_file_init(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/* Checks whether the old cycle, or the old binary, has this address. */
ngx_uint_t ngx_tg_socket_file_is_inherited(ngx_cycle_t *cycle,
                                           ngx_tg_socket_file_t *sock);

/* For `nginx -t`: checks the file, and keeps NGINX from binding the address. */
ngx_int_t ngx_tg_socket_file_test(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/*
 * Creates the last directory of the socket's path if it is missing; under
 * `nginx -t` only the directory of a log file.
 */
ngx_int_t ngx_tg_socket_file_make_dir(ngx_cycle_t *cycle,
                                      ngx_tg_socket_file_t *sock);

/* Removes the directory if we created it and it is empty. */
void ngx_tg_socket_file_remove_dir(ngx_tg_socket_file_t *sock);

/*
 * Binds and listens under sock->temp_path with the final mode and owner, and
 * sets sock->ls->fd unless it is inherited. The cycle's pool removes the file
 * unless it is renamed. Locks the name until ngx_tg_socket_file_unlock(), so
 * that no other NGINX binds it. May return NGX_BUSY.
 */
ngx_int_t ngx_tg_socket_file_open(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/*
 * Creates the file of an inherited socket again if it is gone or was replaced.
 * After a logged error the inherited socket is used.
 */
void ngx_tg_socket_file_replace(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock);

void ngx_tg_socket_file_unlock(ngx_tg_socket_file_t *sock);

/*
 * Renames the file to its final name, if nobody else's file is there. The new
 * socket replaces an inherited descriptor. May return NGX_BUSY.
 */
ngx_int_t ngx_tg_socket_file_rename(ngx_cycle_t *cycle,
                                    ngx_tg_socket_file_t *sock);

/* Checks whether sock->path is our file, or any socket if that is unknown. */
ngx_uint_t ngx_tg_socket_file_is_ours(const ngx_tg_socket_file_t *sock);

/* Warns about servers that probably too many clients can access, or none. */
void ngx_tg_lint_exposure(ngx_cycle_t *cycle);

/* --- `tool_schema_file` --- */

/* Checks that each server with a schema file has exactly one socket. */
ngx_int_t ngx_tg_schema_files_check(ngx_cycle_t *cycle,
                                    const ngx_array_t *servers,
                                    const ngx_array_t *sockets);

/* Writes the schema files of the sockets, and removes unused old ones. */
void ngx_tg_schema_files_write(ngx_cycle_t *cycle, const ngx_array_t *sockets,
                               const ngx_array_t *old);
/* Removes a schema file, if it is a regular file. */
void ngx_tg_schema_file_remove(ngx_str_t *file);

#endif
