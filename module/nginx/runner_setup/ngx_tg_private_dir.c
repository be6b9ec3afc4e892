/*
 * Directories that root makes for another user. No path is resolved twice: only
 * a new directory, opened in the directory where it was made, is given away.
 */
#include "nginx/ngx_tg.h"

#include <dirent.h>

#define NGX_TG_STATE_DIR_MODE 0700

int
ngx_tg_dir_open_child(int at, const char *name)
{
    return openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
ngx_tg_dir_open_parent(const u_char *path, const char **name)
{
    char above[NGX_MAX_PATH];
    char *slash;

    (void) ngx_cpystrn((u_char *) above, (u_char *) path, sizeof(above));
    slash = strrchr(above, '/');
    *name = (const char *) path + (slash - above) + 1;
    slash[slash == above ? 1 : 0] = '\0';

    return open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

ngx_uint_t
ngx_tg_dir_is_private(int fd)
{
    ngx_file_info_t fi;

    return ngx_fd_info(fd, &fi) != NGX_FILE_ERROR && fi.st_uid == geteuid()
           && (fi.st_mode & 022) == 0;
}

static ngx_uint_t
ngx_tg_dir_is_empty(int fd)
{
    ngx_uint_t n;
    DIR *dir;
    int own;

    own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = own != -1 ? fdopendir(own) : NULL;

    if (dir == NULL) {
        if (own != -1) {
            (void) close(own);
        }

        return 0;
    }

    n = 0;

    while (readdir(dir) != NULL) {
        n++;
    }

    (void) closedir(dir);

    /* "." and ".." */
    return n == 2;
}

/* Checks that it is not a replacement, maybe by another of our directories. */
static ngx_uint_t
ngx_tg_dir_is_new(int fd)
{
    ngx_file_info_t fi;

    return ngx_fd_info(fd, &fi) != NGX_FILE_ERROR && fi.st_uid == geteuid()
           && (fi.st_mode & 077) == 0 && ngx_tg_dir_is_empty(fd);
}

int
ngx_tg_dir_make_owned(int at, const char *name, uid_t uid, gid_t gid)
{
    ngx_err_t err;
    int fd;

    if (mkdirat(at, name, NGX_TG_STATE_DIR_MODE) == -1) {
        return -1;
    }

    fd = ngx_tg_dir_open_child(at, name);

    if (fd != -1 && !ngx_tg_dir_is_new(fd)) {
        (void) close(fd);
        fd = -1;
        ngx_set_errno(NGX_EPERM);
    }

    if (fd != -1 && uid != geteuid()
        && fchownat(fd, "", uid, gid, AT_EMPTY_PATH) == -1)
    {
        err = ngx_errno;
        (void) close(fd);
        fd = -1;
        ngx_set_errno(err);
    }

    return fd;
}
