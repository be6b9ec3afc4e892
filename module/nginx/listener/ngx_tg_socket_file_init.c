/* Names and owner of a listener's socket file; whether it is inherited. */
#include "nginx/listener/ngx_tg_listener.h"

#include <sys/un.h>

u_char *
ngx_tg_path_append_suffix(ngx_cycle_t *cycle, u_char *path, const char *suffix)
{
    u_char *name;

    name = ngx_pnalloc(cycle->pool, ngx_strlen(path) + ngx_strlen(suffix) + 1);

    if (name != NULL) {
        (void) ngx_sprintf(name, "%s%s%Z", path, suffix);
    }

    return name;
}

ngx_int_t
ngx_tg_socket_file_init(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    struct sockaddr_un *saun;
    size_t len;

    sock->lock_fd = -1;
    saun = (struct sockaddr_un *) sock->ls->sockaddr;
    sock->path = (u_char *) saun->sun_path;
    len = ngx_strlen(saun->sun_path);

    /* A relative path would depend on NGINX's working directory. */
    if (sock->path[0] != '/') {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"listen unix:%s\" needs an absolute path", sock->path);
        return NGX_ERROR;
    }

    if (len + sizeof(NGX_TG_TEMP_SUFFIX) > sizeof(saun->sun_path)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "the path of unix:%s is too long; use at most %uz bytes",
                      sock->path,
                      sizeof(saun->sun_path) - sizeof(NGX_TG_TEMP_SUFFIX));
        return NGX_ERROR;
    }

    sock->temp_path = ngx_tg_path_append_suffix(cycle, sock->path,
                                                NGX_TG_TEMP_SUFFIX);
    sock->lock_path = ngx_tg_path_append_suffix(cycle, sock->path,
                                                NGX_TG_LOCK_SUFFIX);

    if (sock->temp_path == NULL || sock->lock_path == NULL) {
        return NGX_ERROR;
    }

    ngx_tg_server_get_socket_owner(cycle, sock->scf, &sock->uid, &sock->gid);

    return NGX_OK;
}

/*
 * Gives inherited sockets, which a new binary knows by temporary names, their
 * final names before NGINX compares them.
 */
ngx_uint_t
ngx_tg_socket_file_is_inherited(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    struct sockaddr_un *saun;
    ngx_listening_t *ls;
    ngx_uint_t i;

    ls = cycle->old_cycle->listening.elts;

    for (i = 0; i < cycle->old_cycle->listening.nelts; i++) {
        if (ls[i].ignore || ls[i].sockaddr->sa_family != AF_UNIX) {
            continue;
        }

        saun = (struct sockaddr_un *) ls[i].sockaddr;

        if (ngx_strcmp(saun->sun_path, sock->temp_path) == 0) {
            ls[i].sockaddr = sock->ls->sockaddr;
            ls[i].socklen = sock->ls->socklen;
            ls[i].addr_text = sock->ls->addr_text;
            return 1;
        }

        if (ngx_strcmp(saun->sun_path, sock->path) == 0) {
            return 1;
        }
    }

    return 0;
}

ngx_int_t
ngx_tg_socket_file_test(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    ngx_file_info_t fi;

    if (ngx_tg_socket_file_make_dir(cycle, sock) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_link_info(sock->path, &fi) != NGX_FILE_ERROR
        && !S_ISSOCK(fi.st_mode)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%s\" exists and is not a socket; move it away, or "
                      "choose another path",
                      sock->path);
        return NGX_ERROR;
    }

    sock->ls->fd = socket(AF_UNIX, sock->ls->type, 0);

    return sock->ls->fd != (ngx_socket_t) -1 ? NGX_OK : NGX_ERROR;
}
