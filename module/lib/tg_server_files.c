/* The socket and the schema file of a server, accessible to this user only. */
#include "lib/tg_server_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Suffix of the temporary file that replaces a schema file. */
#define TG_SCHEMA_TEMP_SUFFIX "~"
#define TG_UUID_LEN 36

tg_file_id_t
tg_file_id_make(const struct stat *st)
{
    tg_file_id_t id;

    memset(&id, 0, sizeof(id));
    id.dev = st->st_dev;
    id.ino = st->st_ino;

    /* Each write changes a pipe's mtime, so it cannot identify the pipe. */
    if (!S_ISFIFO(st->st_mode)) {
        id.mtim = st->st_mtim;
    }

    return id;
}

int
tg_file_id_is_same(const tg_file_id_t *id, const struct stat *st)
{
    tg_file_id_t other;

    other = tg_file_id_make(st);

    return id->ino != 0 && id->ino == other.ino && id->dev == other.dev
           && id->mtim.tv_sec == other.mtim.tv_sec
           && id->mtim.tv_nsec == other.mtim.tv_nsec;
}

static int
tg_uuid_generate(char text[TG_UUID_LEN + 1])
{
    uint8_t bytes[16];
    int n, i;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return tg_lib_set_errno_error("getrandom()");
    }

    /* Version 4 (random) and the variant of RFC 4122. */
    bytes[6] = (uint8_t) ((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t) ((bytes[8] & 0x3f) | 0x80);

    for (i = 0, n = 0; i < 16; i++) {
        n += snprintf(text + n, TG_UUID_LEN + 1 - (size_t) n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                      bytes[i]);
    }

    return 0;
}

/* Sets the paths, or returns -1 if they are too long for a socket. */
static int
tg_server_files_set_paths(tg_server_files_t *files, const char *dir,
                          const char *uuid)
{
    size_t n;

    if (strlen(dir) >= sizeof(files->dir)) {
        return -1;
    }

    memcpy(files->dir, dir, strlen(dir) + 1);
    n = (size_t) snprintf(files->socket, sizeof(files->socket),
                          "%s/" TG_SOCKET_PREFIX "%s" TG_SOCKET_SUFFIX, dir,
                          uuid);
    (void) snprintf(files->schema, sizeof(files->schema),
                    "%s/" TG_SCHEMA_PREFIX "%s" TG_SCHEMA_SUFFIX, dir, uuid);

    return n < sizeof(files->socket) ? 0 : -1;
}

/* Checks that only this user can create or replace files in a directory. */
static int
tg_server_files_is_dir_private(const char *dir)
{
    struct stat st;

    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid()
           && (st.st_mode & 022) == 0;
}

static int
tg_server_files_choose_private_dir(tg_server_files_t *files, const char *uuid)
{
    char dir[TG_SOCKET_PATH_SIZE];
    const char *temp;
    size_t n;

    files->is_private = 1;
    temp = secure_getenv("TMPDIR");
    n = temp != NULL && temp[0] == '/'
            ? (size_t) snprintf(dir, sizeof(dir),
                                "%s/" TG_SERVER_DIR_PREFIX "%.12s", temp,
                                uuid + TG_UUID_LEN - 12)
            : sizeof(dir);

    if (n < sizeof(dir) && tg_server_files_set_paths(files, dir, uuid) == 0) {
        return 0;
    }

    (void) snprintf(dir, sizeof(dir), "/tmp/" TG_SERVER_DIR_PREFIX "%.12s",
                    uuid + TG_UUID_LEN - 12);

    return tg_server_files_set_paths(files, dir, uuid) == 0
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_SYSTEM,
                                  "the name %s is too long", dir);
}

int
tg_server_files_choose_paths(tg_server_files_t *files, const char *directory)
{
    char uuid[TG_UUID_LEN + 1];
    const char *dir;
    int rc;

    memset(files, 0, sizeof(*files));
    rc = tg_uuid_generate(uuid);

    if (rc != 0) {
        return rc;
    }

    if (directory != NULL) {
        return tg_server_files_set_paths(files, directory, uuid) == 0
                   ? 0
                   : tg_lib_set_error(
                       TOOLGATE_ERR_ARGUMENT,
                       "the path of the directory \"%s\" is too long for a "
                       "socket in it; choose another",
                       directory);
    }

    dir = secure_getenv("XDG_RUNTIME_DIR");

    return dir != NULL && dir[0] == '/' && tg_server_files_is_dir_private(dir)
                   && tg_server_files_set_paths(files, dir, uuid) == 0
               ? 0
               : tg_server_files_choose_private_dir(files, uuid);
}

/* Locks the directory until the process ends; others only test the lock. */
static void
tg_server_files_lock_dir(tg_server_files_t *files)
{
    static atomic_flag was_done = ATOMIC_FLAG_INIT;
    char folder[TG_SOCKET_PATH_SIZE];

    files->lock_fd = open(files->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    while (files->lock_fd != -1 && flock(files->lock_fd, LOCK_EX) != 0
           && errno == EINTR)
    {
    }

    /* Stale directories are removed once per process. */
    if (!atomic_flag_test_and_set(&was_done)) {
        memcpy(folder, files->dir, sizeof(folder));
        *strrchr(folder, '/') = '\0';
        tg_server_files_remove_stale(folder);
    }
}

static int
tg_server_files_create_dir(tg_server_files_t *files)
{
    if (!files->is_private) {
        return tg_server_files_is_dir_private(files->dir)
                   ? 0
                   : tg_lib_set_error(
                       TOOLGATE_ERR_SYSTEM,
                       "\"%s\" must be a directory that is owned by this "
                       "user and that no other user can write to; chmod 0700 "
                       "it, or choose another",
                       files->dir);
    }

    if (!files->has_dir && mkdir(files->dir, 0700) != 0) {
        return tg_lib_set_errno_error("cannot create the directory \"%s\"",
                                      files->dir);
    }

    if (!files->has_dir) {
        tg_server_files_lock_dir(files);
    }

    files->has_dir = 1;

    return 0;
}

static int
tg_server_files_write_fd(int fd, tg_str_t text)
{
    ssize_t n;

    while (text.len != 0) {
        n = write(fd, text.data, text.len);

        if (n == -1 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return -1;
        }

        text.data += n;
        text.len -= (size_t) n;
    }

    return 0;
}

/* Writes and renames a temporary file, so that readers see a complete one. */
static int
tg_server_files_replace_schema(tg_server_files_t *files, const char *temp,
                               tg_str_t schema)
{
    struct stat st;
    int fd, rc;

    (void) unlink(temp);
    fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd == -1) {
        return -1;
    }

    /* The umask may have removed permissions of the owner. */
    rc = fchmod(fd, 0600) == 0 && tg_server_files_write_fd(fd, schema) == 0
                 && fstat(fd, &st) == 0 && rename(temp, files->schema) == 0
             ? 0
             : -1;

    if (rc == 0) {
        files->schema_id = tg_file_id_make(&st);
    } else {
        (void) unlink(temp);
    }

    (void) close(fd);

    return rc;
}

int
tg_server_files_write_schema(tg_server_files_t *files, tg_str_t schema)
{
    char temp[sizeof(files->schema) + sizeof(TG_SCHEMA_TEMP_SUFFIX)];
    int rc;

    rc = tg_server_files_create_dir(files);

    if (rc != 0) {
        return rc;
    }

    (void) snprintf(temp, sizeof(temp), "%s" TG_SCHEMA_TEMP_SUFFIX,
                    files->schema);

    return tg_server_files_replace_schema(files, temp, schema) == 0
               ? 0
               : tg_lib_set_errno_error("cannot write the schema file \"%s\"",
                                        files->schema);
}

/*
 * The kernel gives the file the mode of the socket, so it never has another
 * one; umask() would change all threads.
 */
static int
tg_server_files_bind_socket(tg_server_files_t *files, int fd)
{
    struct sockaddr_un addr;
    struct stat st;

    memset(&addr, 0, sizeof(addr));
    addr.sun_family = AF_UNIX;
    memcpy(addr.sun_path, files->socket, sizeof(addr.sun_path));

    if (fchmod(fd, 0600) != 0
        || bind(fd, (struct sockaddr *) &addr, sizeof(addr)) != 0
        || lstat(files->socket, &st) != 0)
    {
        return -1;
    }

    files->socket_id = tg_file_id_make(&st);

    /* The umask may have removed permissions of the owner. */
    return (st.st_mode & 07777) == 0600 || chmod(files->socket, 0600) == 0
               ? listen(fd, TG_SERVER_LISTEN_BACKLOG)
               : -1;
}

int
tg_server_files_listen(tg_server_files_t *files, int *fd)
{
    int rc, sock;

    rc = tg_server_files_create_dir(files);

    if (rc != 0) {
        return rc;
    }

    sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (sock == -1 || tg_server_files_bind_socket(files, sock) != 0) {
        rc = tg_lib_set_errno_error("cannot open the socket \"%s\"",
                                    files->socket);

        if (sock != -1) {
            (void) close(sock);
        }

        return rc;
    }

    *fd = sock;

    return 0;
}

static void
tg_server_files_unlink(const char *path, tg_file_id_t *id)
{
    struct stat st;

    if (lstat(path, &st) == 0 && tg_file_id_is_same(id, &st)) {
        (void) unlink(path);
    }

    id->ino = 0;
}

void
tg_server_files_remove(tg_server_files_t *files)
{
    tg_server_files_unlink(files->socket, &files->socket_id);
    tg_server_files_unlink(files->schema, &files->schema_id);

    if (files->has_dir) {
        (void) rmdir(files->dir);

        if (files->lock_fd != -1) {
            (void) close(files->lock_fd);
        }

        files->has_dir = 0;
    }
}
