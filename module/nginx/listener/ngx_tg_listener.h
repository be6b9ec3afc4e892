/*
 * Socket files: creation under a temporary name, and renaming to the final
 * name. Used by the listener only.
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

/*
 * Returns a path with a suffix, in the cycle's pool, or NULL if there is no
 * memory.
 */
u_char *ngx_tg_path_append_suffix(ngx_cycle_t *cycle, u_char *path,
                                  const char *suffix);

/*
 * Sets names and owner from sock->ls and sock->scf. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_socket_file_init(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/* Checks whether the old cycle, or the old binary, has this address. */
ngx_uint_t ngx_tg_socket_file_is_inherited(ngx_cycle_t *cycle,
                                           ngx_tg_socket_file_t *sock);

/*
 * Checks a socket file under `nginx -t`, and sets an unbound socket, because
 * NGINX would bind the address otherwise. Returns NGX_OK, or NGX_ERROR after
 * logging.
 */
ngx_int_t ngx_tg_socket_file_test(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/*
 * Checks that the socket's directory exists. Creates the last directory of the
 * path if it is missing, but not under `nginx -t`, unless it is the directory
 * of a log file. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_socket_file_make_dir(ngx_cycle_t *cycle,
                                      ngx_tg_socket_file_t *sock);

/* Removes the directory if we created it and it is empty. */
void ngx_tg_socket_file_remove_dir(ngx_tg_socket_file_t *sock);

/*
 * Locks the name, binds and listens under sock->temp_path with the final mode
 * and owner, and sets sock->ls->fd unless it is inherited. The cycle's pool
 * removes the file again unless it is renamed. Returns NGX_OK; NGX_ERROR or
 * NGX_BUSY after logging. The lock is held until ngx_tg_socket_file_unlock(),
 * so that no other NGINX binds under the name.
 */
ngx_int_t ngx_tg_socket_file_open(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/*
 * Creates a new socket file for an inherited socket whose file is gone or was
 * replaced. If that fails, logs it and continues with the inherited socket.
 */
void ngx_tg_socket_file_replace(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock);

/* Releases the lock of the name. */
void ngx_tg_socket_file_unlock(ngx_tg_socket_file_t *sock);

/*
 * Renames the socket file to its final name, if nobody else has created a file
 * there. An inherited descriptor is replaced by the new socket. Returns NGX_OK;
 * NGX_ERROR or NGX_BUSY after logging.
 */
ngx_int_t ngx_tg_socket_file_rename(ngx_cycle_t *cycle,
                                    ngx_tg_socket_file_t *sock);

/*
 * Checks whether sock->path is still the file that we created, or any socket if
 * its identity is unknown.
 */
ngx_uint_t ngx_tg_socket_file_is_ours(const ngx_tg_socket_file_t *sock);

/*
 * Warns about servers that are accessible to more clients than probably
 * intended, or to none.
 */
void ngx_tg_lint_exposure(ngx_cycle_t *cycle);

/* --- `tool_schema_file` --- */

/*
 * Checks that each server with a schema file has exactly one socket. Returns
 * NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_schema_files_check(ngx_cycle_t *cycle,
                                    const ngx_array_t *servers,
                                    const ngx_array_t *sockets);

/*
 * Writes the schema files of the sockets, and removes those of old sockets that
 * are no longer used.
 */
void ngx_tg_schema_files_write(ngx_cycle_t *cycle, const ngx_array_t *sockets,
                               const ngx_array_t *old);
/* Removes a schema file, if it is a regular file. */
void ngx_tg_schema_file_remove(ngx_str_t *file);

#endif
