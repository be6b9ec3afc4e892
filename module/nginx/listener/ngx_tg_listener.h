/*
 * A socket file on its way into place.  Used by the listener alone.
 */
#ifndef _NGX_TG_LISTENER_H_INCLUDED_
#define _NGX_TG_LISTENER_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* Appended while the socket is not in place yet; and of the lock. */
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
    ngx_file_info_t id; /* of the file that we made; st_ino 0: not known */
    ngx_socket_t fd;    /* bound to temp */
    ngx_fd_t lock_fd;   /* -1: not held */
    unsigned is_inherited:1;
    unsigned is_bound:1;   /* temp exists */
    unsigned is_renamed:1; /* path is ours */
    unsigned has_dir:1;    /* its directory was made */
} ngx_tg_socket_file_t;

/* A path with a suffix, in the cycle's pool; NULL: no memory. */
u_char *ngx_tg_path_append_suffix(ngx_cycle_t *cycle, u_char *path,
                                  const char *suffix);

/* Names and owner, of sock->ls and sock->scf.  NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_socket_file_init(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/* Does the old cycle have this address, or the old binary? */
ngx_uint_t ngx_tg_socket_file_is_inherited(ngx_cycle_t *cycle,
                                           ngx_tg_socket_file_t *sock);

/*
 * Under `nginx -t`: a socket of no name, or NGINX would bind for a trial.
 * NGX_OK or NGX_ERROR, logged.
 */
ngx_int_t ngx_tg_socket_file_test(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/*
 * Is there a directory for it, or can there be?  The last one of its path is
 * made, but for `nginx -t`.  NGX_OK or NGX_ERROR, logged.
 */
ngx_int_t ngx_tg_socket_file_make_dir(ngx_cycle_t *cycle,
                                      ngx_tg_socket_file_t *sock);

/* Removes one that was made, and is empty. */
void ngx_tg_socket_file_remove_dir(ngx_tg_socket_file_t *sock);

/*
 * Binds and listens under sock->temp, with the final mode and owner, and sets
 * sock->ls->fd, unless that is inherited.  The cycle's pool takes it back
 * unless it was placed.  NGX_OK, or NGX_ERROR or NGX_BUSY, logged.
 *
 * The name is locked until ngx_tg_socket_file_unlock(), so that nobody else
 * of us binds under it.
 */
ngx_int_t ngx_tg_socket_file_open(ngx_cycle_t *cycle,
                                  ngx_tg_socket_file_t *sock);

/*
 * The same for an inherited one whose name is gone, or somebody else's.  Where
 * that cannot be, what works goes on, and it was logged.
 */
void ngx_tg_socket_file_replace(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock);

void ngx_tg_socket_file_unlock(ngx_tg_socket_file_t *sock);

/*
 * Renames it into place, when nobody came between; an inherited descriptor is
 * that socket's from then on.  As above.
 */
ngx_int_t ngx_tg_socket_file_rename(ngx_cycle_t *cycle,
                                    ngx_tg_socket_file_t *sock);

/* Is at sock->path what we put there?  Where that is not known, a socket. */
ngx_uint_t ngx_tg_socket_file_is_ours(const ngx_tg_socket_file_t *sock);

/* Warns of servers that are open to others than is meant, or to nobody. */
void ngx_tg_lint_exposure(ngx_cycle_t *cycle);

/* --- `tool_schema_file` --- */

/* Has each server's file one socket?  NGX_OK, or NGX_ERROR, logged. */
ngx_int_t ngx_tg_schema_files_check(ngx_cycle_t *cycle,
                                    const ngx_array_t *servers,
                                    const ngx_array_t *sockets);

/* Writes the sockets' files; removes those of old ones that have none now. */
void ngx_tg_schema_files_write(ngx_cycle_t *cycle, const ngx_array_t *sockets,
                               const ngx_array_t *old);
void ngx_tg_schema_file_remove(ngx_str_t *file);

#endif
