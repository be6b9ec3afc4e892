/* The socket file's directory, created if missing, for the owner only. */
#include "nginx/listener/ngx_tg_listener.h"

#include <sys/fsuid.h>
#include <sys/un.h>

#define NGX_TG_SOCKET_DIR_MODE 0700

/* Removes the last part of a path. NGX_DECLINED: the rest is "/". */
static ngx_int_t
ngx_tg_path_cut_last(u_char *path)
{
    u_char *slash;

    slash = (u_char *) strrchr((char *) path, '/');
    slash[slash == path ? 1 : 0] = '\0';

    return slash == path ? NGX_DECLINED : NGX_OK;
}

/* Reads a directory's status. NGX_DECLINED sets errno: it is no directory. */
static ngx_int_t
ngx_tg_dir_stat(u_char *path, ngx_file_info_t *fi)
{
    if (ngx_file_info(path, fi) == NGX_FILE_ERROR) {
        return NGX_DECLINED;
    }

    ngx_set_errno(NGX_ENOTDIR);

    return ngx_is_dir(fi) ? NGX_OK : NGX_DECLINED;
}

/* Checks whether only the last directory is missing, after a failed stat. */
static ngx_uint_t
ngx_tg_dir_is_only_missing(u_char *path)
{
    u_char above[sizeof(((struct sockaddr_un *) 0)->sun_path)];
    ngx_file_info_t fi;

    if (ngx_errno != NGX_ENOENT) {
        return 0;
    }

    (void) ngx_cpystrn(above, path, sizeof(above));
    (void) ngx_tg_path_cut_last(above);

    return ngx_tg_dir_stat(above, &fi) == NGX_OK;
}

/*
 * Opens the missing directory's parent, if only we can create files in it or a
 * link to it, such as /var/run. Returns -1 otherwise.
 */
static int
ngx_tg_dir_open_safe_parent(u_char *path)
{
    u_char above[sizeof(((struct sockaddr_un *) 0)->sun_path)];
    const char *name;
    int at, fd;

    (void) ngx_cpystrn(above, path, sizeof(above));

    if (ngx_tg_path_cut_last(above) != NGX_OK) {
        fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    } else {
        at = ngx_tg_dir_open_parent(above, &name);
        fd = ngx_tg_dir_open_child(at, name);

        if (fd == -1 && ngx_tg_dir_is_private(at)) {
            fd = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        }

        if (at != -1) {
            (void) close(at);
        }
    }

    if (fd != -1 && !ngx_tg_dir_is_private(fd)) {
        (void) close(fd);
        fd = -1;
    }

    return fd;
}

static ngx_int_t
ngx_tg_dir_make_for_owner(const ngx_tg_socket_file_t *sock, int at,
                          const u_char *path)
{
    ngx_err_t err;
    int fd;

    fd = ngx_tg_dir_make_owned(at, strrchr((const char *) path, '/') + 1,
                               sock->uid, sock->gid);
    err = ngx_errno;
    (void) close(at);

    if (fd == -1) {
        ngx_set_errno(err);
        return NGX_ERROR;
    }

    (void) close(fd);

    return NGX_OK;
}

/*
 * Creates the directory: in a parent that only we can write to, gives it to the
 * socket's owner; elsewhere, where another user could replace it meanwhile,
 * creates it with the owner's rights.
 */
static ngx_int_t
ngx_tg_dir_make_last(const ngx_tg_socket_file_t *sock, u_char *path)
{
    int at, rc;

    if (sock->uid == geteuid()) {
        return mkdir((char *) path, NGX_TG_SOCKET_DIR_MODE) == 0 ? NGX_OK
                                                                 : NGX_ERROR;
    }

    at = ngx_tg_dir_open_safe_parent(path);

    if (at != -1) {
        return ngx_tg_dir_make_for_owner(sock, at, path);
    }

    (void) setfsgid(sock->gid);
    (void) setfsuid(sock->uid);
    rc = mkdir((char *) path, NGX_TG_SOCKET_DIR_MODE);
    (void) setfsuid(geteuid());
    (void) setfsgid(getegid());

    return rc == 0 ? NGX_OK : NGX_ERROR;
}

/* Checks for a log file in the directory: `nginx -t` opens log files. */
static ngx_uint_t
ngx_tg_dir_contains_log(ngx_cycle_t *cycle, const u_char *dir)
{
    ngx_list_part_t *part;
    ngx_open_file_t *file;
    ngx_uint_t i;
    size_t len;

    len = ngx_strlen(dir);

    for (part = &cycle->open_files.part; part != NULL; part = part->next) {
        file = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (file[i].name.len > len + 1
                && ngx_strncmp(file[i].name.data, dir, len) == 0
                && file[i].name.data[len] == '/'
                && ngx_strchr(file[i].name.data + len + 1, '/') == NULL)
            {
                return 1;
            }
        }
    }

    return 0;
}

ngx_int_t
ngx_tg_socket_file_make_dir(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    u_char dir[sizeof(((struct sockaddr_un *) 0)->sun_path)];
    ngx_file_info_t fi;

    (void) ngx_cpystrn(dir, sock->path, sizeof(dir));

    if (ngx_tg_path_cut_last(dir) != NGX_OK
        || ngx_tg_dir_stat(dir, &fi) == NGX_OK) {
        return NGX_OK;
    }

    if (!ngx_tg_dir_is_only_missing(dir)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "the directory of unix:%s cannot be opened; create it, "
                      "or choose another path",
                      sock->path);
        return NGX_ERROR;
    }

    if (ngx_test_config && !ngx_tg_dir_contains_log(cycle, dir)) {
        return NGX_OK;
    }

    sock->has_dir = ngx_tg_dir_make_last(sock, dir) == NGX_OK;

    if (!sock->has_dir) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "the directory of unix:%s is missing and cannot be "
                      "created; create it, for user %d, or choose another path",
                      sock->path, (int) sock->uid);
        return NGX_ERROR;
    }

    return NGX_OK;
}

void
ngx_tg_socket_file_remove_dir(ngx_tg_socket_file_t *sock)
{
    u_char dir[sizeof(((struct sockaddr_un *) 0)->sun_path)];

    if (sock->has_dir) {
        (void) ngx_cpystrn(dir, sock->path, sizeof(dir));
        (void) ngx_tg_path_cut_last(dir);
        (void) rmdir((char *) dir);
        sock->has_dir = 0;
    }
}
