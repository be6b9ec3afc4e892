/* The socket file: lock, checks of an existing file, binding, renaming. */
#include "nginx/listener/ngx_tg_listener.h"

#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Attempts to lock, and delay in ms. The master blocks meanwhile. */
#define NGX_TG_LOCK_TRIES_MAX 50
#define NGX_TG_LOCK_RETRY_DELAY 10
/* Number of checks whether the socket's exiting owner is gone. */
#define NGX_TG_EXITING_OWNER_TRIES_MAX 200

/* --- lock of the name --- */

/* Checks whether fd is still at path, and only we can access it. */
static ngx_uint_t
ngx_tg_lock_file_is_ours(ngx_fd_t fd, u_char *path)
{
    ngx_file_info_t fi, named;

    return ngx_fd_info(fd, &fi) != NGX_FILE_ERROR && ngx_is_file(&fi)
           && fi.st_uid == geteuid() && (fi.st_mode & 077) == 0
           && ngx_link_info(path, &named) != NGX_FILE_ERROR
           && named.st_ino == fi.st_ino && named.st_dev == fi.st_dev;
}

/*
 * Locks the lock file, which only we can open. The holder removes it at the
 * unlock, so the name is checked again after locking.
 */
static ngx_int_t
ngx_tg_socket_file_lock(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    ngx_uint_t i;
    ngx_err_t err;
    ngx_fd_t fd;

    err = 0;

    for (i = 0; i < NGX_TG_LOCK_TRIES_MAX; i++) {
        fd = open((char *) sock->lock_path,
                  O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

        if (fd == -1) {
            err = ngx_errno;
            break;
        }

        if (flock(fd, LOCK_EX | LOCK_NB) == 0
            && ngx_tg_lock_file_is_ours(fd, sock->lock_path))
        {
            sock->lock_fd = fd;
            return NGX_OK;
        }

        err = ngx_errno;
        (void) close(fd);
        ngx_msleep(NGX_TG_LOCK_RETRY_DELAY);
    }

    ngx_log_error(NGX_LOG_EMERG, cycle->log, err,
                  "\"%s\" cannot be locked; if no other NGINX is starting "
                  "there, remove it",
                  sock->lock_path);

    return NGX_ERROR;
}

void
ngx_tg_socket_file_unlock(ngx_tg_socket_file_t *sock)
{
    if (sock->lock_fd != -1) {
        (void) unlink((char *) sock->lock_path);
        (void) close(sock->lock_fd);
        sock->lock_fd = -1;
    }
}

/* --- existing file --- */

/* Reads a process's name and parent from /proc. Returns 0 if it is gone. */
static ngx_uint_t
ngx_tg_process_read_stat(ngx_pid_t pid, u_char *name, size_t size,
                         ngx_pid_t *parent)
{
    u_char file[sizeof("/proc//stat") + NGX_INT64_LEN], stat[512], *open_p;
    u_char *close_p;
    ssize_t n;
    int fd;

    (void) ngx_sprintf(file, "/proc/%P/stat%Z", pid);
    fd = open((char *) file, O_RDONLY | O_CLOEXEC);

    if (fd == -1) {
        return 0;
    }

    n = read(fd, stat, sizeof(stat) - 1);
    (void) close(fd);

    if (n <= 0) {
        return 0;
    }

    /* "8291 (nginx) S 1 ..."; the name may contain ")" */
    stat[n] = '\0';
    open_p = (u_char *) strchr((char *) stat, '(');
    close_p = (u_char *) strrchr((char *) stat, ')');

    if (open_p == NULL || close_p == NULL || close_p < open_p
        || ngx_strlen(close_p) < sizeof(") S 1") - 1)
    {
        return 0;
    }

    (void) ngx_cpystrn(name, open_p + 1,
                       ngx_min(size, (size_t) (close_p - open_p)));
    *parent = (ngx_pid_t) strtol((char *) close_p + 4, NULL, 10);

    return 1;
}

/* The process that called listen() last, according to the kernel. */
typedef struct {
    ngx_pid_t pid; /* 0: unknown or gone */
    u_char name[64];
    unsigned is_leaving:1;
} ngx_tg_socket_server_t;

/*
 * Finds the process that listens; for an NGINX worker the master, which an
 * administrator would stop. A worker without a master, or a missing process, is
 * leaving: its socket will be free soon.
 */
static void
ngx_tg_socket_server_find(int fd, ngx_tg_socket_server_t *owner)
{
    u_char own[sizeof(owner->name)], above[sizeof(owner->name)];
    ngx_pid_t parent, ignored;
    struct ucred cred;
    socklen_t len;

    ngx_memzero(owner, sizeof(ngx_tg_socket_server_t));
    owner->is_leaving = 1;
    len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1
        || !ngx_tg_process_read_stat(cred.pid, owner->name, sizeof(owner->name),
                                     &parent))
    {
        return;
    }

    owner->pid = cred.pid;

    if (!ngx_tg_process_read_stat(ngx_getpid(), own, sizeof(own), &ignored)
        || ngx_strcmp(owner->name, own) != 0)
    {
        owner->is_leaving = 0;

    } else if (ngx_tg_process_read_stat(parent, above, sizeof(above), &ignored)
               && ngx_strcmp(above, own) == 0)
    {
        owner->is_leaving = 0;
        owner->pid = parent;
    }
}

static void
ngx_tg_socket_server_log(ngx_cycle_t *cycle, u_char *path,
                         const ngx_tg_socket_server_t *owner)
{
    if (owner->pid == 0) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "unix:%s is already served by another process; stop that "
                      "process, or choose another path",
                      path);
        return;
    }

    ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                  "unix:%s is already served by process %P (%s); stop that "
                  "process, or choose another path",
                  path, owner->pid, owner->name);
}

/* Connects to a socket. Returns 0 and the listening process, or an errno. */
static ngx_err_t
ngx_tg_socket_server_connect(u_char *path, ngx_tg_socket_server_t *owner)
{
    struct sockaddr_un saun;
    ngx_err_t err;
    int fd;

    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd == -1) {
        return ngx_errno;
    }

    ngx_memzero(&saun, sizeof(saun));
    saun.sun_family = AF_UNIX;
    (void) ngx_cpystrn((u_char *) saun.sun_path, path, sizeof(saun.sun_path));
    err = connect(fd, (struct sockaddr *) &saun, sizeof(saun)) == -1 ? ngx_errno
                                                                     : 0;

    if (err == 0) {
        ngx_tg_socket_server_find(fd, owner);
    }

    (void) close(fd);

    return err;
}

/* Checks for a serving process: NGX_OK: none; NGX_BUSY; NGX_ERROR: unknown. */
static ngx_int_t
ngx_tg_probe_socket_server(ngx_cycle_t *cycle, u_char *path)
{
    ngx_tg_socket_server_t owner;
    ngx_uint_t i;
    ngx_err_t err;

    ngx_memzero(&owner, sizeof(owner));
    err = ngx_tg_socket_server_connect(path, &owner);

    for (i = 0;
         err == 0 && owner.is_leaving && i < NGX_TG_EXITING_OWNER_TRIES_MAX;
         i++)
    {
        ngx_msleep(NGX_TG_LOCK_RETRY_DELAY);
        err = ngx_tg_socket_server_connect(path, &owner);
    }

    switch (err) {

    case NGX_ECONNREFUSED:
    case NGX_ENOENT:
        return NGX_OK;

    case 0:
        ngx_tg_socket_server_log(cycle, path, &owner);
        return NGX_BUSY;

    case NGX_EAGAIN:
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "unix:%s is served by a process with a full backlog; "
                      "stop that process, or choose another path",
                      path);
        return NGX_BUSY;

    default:
        ngx_log_error(NGX_LOG_EMERG, cycle->log, err,
                      "connect() to unix:%s failed, so it is not known whether "
                      "a process serves it",
                      path);
        return NGX_ERROR;
    }
}

/*
 * Checks a path. NGX_OK: nothing or an unused socket; NGX_BUSY: a socket in
 * use; NGX_ERROR: the file must not be replaced.
 */
static ngx_int_t
ngx_tg_probe_socket_path(ngx_cycle_t *cycle, u_char *path)
{
    ngx_file_info_t fi;

    if (ngx_link_info(path, &fi) == NGX_FILE_ERROR) {
        if (ngx_errno == NGX_ENOENT) {
            return NGX_OK;
        }

        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      ngx_link_info_n " \"%s\" failed", path);
        return NGX_ERROR;
    }

    if (!S_ISSOCK(fi.st_mode)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%s\" exists and is not a socket, so it is not "
                      "replaced; move it away, or choose another path",
                      path);
        return NGX_ERROR;
    }

    return ngx_tg_probe_socket_server(cycle, path);
}

/* --- binding --- */

/*
 * Opens the file at path (O_PATH) if it is ours. The directory's owner may
 * replace it, so checks use the descriptor, without links. An inode may be
 * reused, but not with the same mtime. Returns -1 with errno.
 */
static ngx_fd_t
ngx_tg_socket_file_open_path(const ngx_tg_socket_file_t *sock, u_char *path,
                             ngx_file_info_t *fi)
{
    const ngx_file_info_t *id;
    ngx_fd_t fd;

    id = &sock->id;
    fd = open((char *) path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd != -1
        && (ngx_fd_info(fd, fi) == NGX_FILE_ERROR || !S_ISSOCK(fi->st_mode)
            || fi->st_nlink != 1
            || (id->st_ino != 0
                && (id->st_ino != fi->st_ino || id->st_dev != fi->st_dev
                    || id->st_mtim.tv_sec != fi->st_mtim.tv_sec
                    || id->st_mtim.tv_nsec != fi->st_mtim.tv_nsec))))
    {
        (void) close(fd);
        fd = -1;
        ngx_set_errno(NGX_ENOENT);
    }

    return fd;
}

ngx_uint_t
ngx_tg_socket_file_is_ours(const ngx_tg_socket_file_t *sock)
{
    ngx_file_info_t fi;
    ngx_fd_t fd;

    fd = ngx_tg_socket_file_open_path(sock, sock->path, &fi);

    if (fd != -1) {
        (void) close(fd);
    }

    return fd != -1;
}

/* Sets the final mode and owner of the file at path. */
static ngx_int_t
ngx_tg_socket_file_set_owner(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock,
                             u_char *path)
{
    char name[sizeof("/proc/self/fd/") + NGX_INT_T_LEN];
    ngx_file_info_t fi;
    ngx_int_t rc;
    ngx_fd_t fd;

    fd = ngx_tg_socket_file_open_path(sock, path, &fi);

    if (fd == -1) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%s\" is not the socket that this NGINX created; its "
                      "mode and owner are not changed",
                      path);
        return NGX_ERROR;
    }

    sock->id = fi;

    /* fchmod() rejects an O_PATH descriptor. */
    (void) ngx_sprintf((u_char *) name, "/proc/self/fd/%d%Z", fd);

    /* Never allow more access meanwhile than before or after. */
    rc = chmod(name, fi.st_mode & sock->scf->socket_mode) != -1
                 && ((fi.st_uid == sock->uid && fi.st_gid == sock->gid)
                     || fchownat(fd, "", sock->uid, sock->gid, AT_EMPTY_PATH)
                            != -1)
                 && chmod(name, sock->scf->socket_mode) != -1
             ? NGX_OK
             : NGX_ERROR;

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "the mode or owner of \"%s\" cannot be set to "
                      "%d%d%d%d, %d:%d (tool_socket_mode, tool_socket_owner)",
                      path, NGX_TG_OCTAL_DIGITS(sock->scf->socket_mode),
                      (int) sock->uid, (int) sock->gid);
    }

    (void) close(fd);

    return rc;
}

static ngx_int_t
ngx_tg_socket_file_bind(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    struct sockaddr_un saun;
    ngx_listening_t *ls;
    mode_t mask;
    int fd, rc;

    ls = sock->ls;
    fd = socket(AF_UNIX, ls->type, 0);

    if (fd == -1 || ngx_nonblocking(fd) == -1) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno, "socket() failed");
        goto failed;
    }

    ngx_memzero(&saun, sizeof(saun));
    saun.sun_family = AF_UNIX;
    (void) ngx_cpystrn((u_char *) saun.sun_path, sock->temp_path,
                       sizeof(saun.sun_path));

    /* A start that was killed left it: with the lock, no other is running. */
    (void) unlink((char *) sock->temp_path);

    mask = umask(0177);
    rc = bind(fd, (struct sockaddr *) &saun, sizeof(saun));
    (void) umask(mask);

    if (rc == -1) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "bind() to unix:%s failed", sock->temp_path);
        goto failed;
    }

    sock->is_bound = 1;

    if (ngx_tg_socket_file_set_owner(cycle, sock, sock->temp_path) != NGX_OK) {
        goto failed;
    }

    if (listen(fd, ls->backlog) == -1) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "listen() on unix:%s failed", sock->temp_path);
        goto failed;
    }

    sock->fd = fd;

    if (!sock->is_inherited) {
        ls->fd = fd;
    }

    return NGX_OK;

failed:

    if (fd != -1) {
        (void) close(fd);
    }

    return NGX_ERROR;
}

static void
ngx_tg_socket_file_cleanup(void *data)
{
    ngx_tg_socket_file_t *sock = data;

    if (sock->is_bound && !sock->is_renamed) {
        (void) unlink((char *) sock->temp_path);

        /* NGINX closes descriptors that it opened or marked as open. */
        if (sock->is_inherited) {
            (void) close(sock->fd);
        } else if (!sock->ls->open && sock->ls->fd != (ngx_socket_t) -1) {
            (void) close(sock->ls->fd);
            sock->ls->fd = (ngx_socket_t) -1;
        }
    }

    ngx_tg_socket_file_unlock(sock);

    if (!sock->is_renamed) {
        ngx_tg_socket_file_remove_dir(sock);
    }
}

ngx_int_t
ngx_tg_socket_file_open(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    ngx_pool_cleanup_t *cln;
    ngx_int_t rc;

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_tg_socket_file_cleanup;
    cln->data = sock;

    if (ngx_tg_socket_file_make_dir(cycle, sock) != NGX_OK
        || ngx_tg_socket_file_lock(cycle, sock) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_tg_probe_socket_path(cycle, sock->path);

    return rc == NGX_OK ? ngx_tg_socket_file_bind(cycle, sock) : rc;
}

void
ngx_tg_socket_file_replace(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    ngx_file_info_t id;

    ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                  "\"%s\" is no longer the socket that this NGINX created; it "
                  "is created again",
                  sock->path);

    id = sock->id;
    ngx_memzero(&sock->id, sizeof(ngx_file_info_t));

    if (ngx_tg_socket_file_open(cycle, sock) == NGX_OK) {
        return;
    }

    if (sock->is_bound) {
        (void) unlink((char *) sock->temp_path);
        sock->is_bound = 0;
    }

    /* A file that appears at the path later is not ours. */
    sock->id = id;
    sock->id.st_ino = id.st_ino != 0 ? id.st_ino : (ino_t) -1;
    ngx_tg_socket_file_unlock(sock);
}

ngx_int_t
ngx_tg_socket_file_rename(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    ngx_int_t rc;

    if (!sock->is_bound) {
        return ngx_tg_socket_file_set_owner(cycle, sock, sock->path);
    }

    /* Another process may have created a file without the lock. */
    rc = ngx_tg_probe_socket_path(cycle, sock->path);

    if (rc == NGX_OK
        && ngx_rename_file(sock->temp_path, sock->path) == NGX_FILE_ERROR)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      ngx_rename_file_n " \"%s\" to \"%s\" failed",
                      sock->temp_path, sock->path);
        rc = NGX_ERROR;
    }

    sock->is_renamed = rc == NGX_OK;

    /* Exiting workers keep the old socket without a file. */
    if (sock->is_renamed && sock->is_inherited) {
        (void) dup2(sock->fd, sock->ls->fd);
        (void) close(sock->fd);
    }

    return rc;
}
