/* Reads, writes and expires the files of the list cache. */
#include "runner/mcp/tg_list_cache.h"

#include "runner/mcp/tg_mcp_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TG_LIST_CACHE_PATH_MAX 4096
#define TG_LIST_CACHE_LIST_SUFFIX ".json"
#define TG_LIST_CACHE_LAST_SUFFIX ".last"
#define TG_LIST_CACHE_NAME_SUFFIX ".name"
#define TG_LIST_CACHE_SESSIONS_SUFFIX ".sessions"
#define TG_LIST_CACHE_TEMP_SUFFIX ".new"

/* Size of a file: the lists and the object around them. */
#define TG_LIST_CACHE_FILE_MAX (TG_MCP_SERVER_LIST_MAX + 64)

/* Writes a file's path, or returns NULL: no directory, or it is too long. */
static const char *
tg_list_cache_make_path(char path[TG_LIST_CACHE_PATH_MAX], const char *dir,
                        const char *key, const char *end)
{
    int n;

    if (dir == NULL) {
        return NULL;
    }

    n = snprintf(path, TG_LIST_CACHE_PATH_MAX, "%s/mcp/%s%s", dir, key, end);

    return n > 0 && n < TG_LIST_CACHE_PATH_MAX ? path : NULL;
}

/* --- reading --- */

static int
tg_list_cache_read_fd(int fd, tg_buf_t *text)
{
    struct stat file;
    ssize_t n;

    if (fstat(fd, &file) == -1 || !S_ISREG(file.st_mode)
        || file.st_size > TG_LIST_CACHE_FILE_MAX
        || tg_buf_reserve(text, (size_t) file.st_size + 1) != TG_OK)
    {
        return -1;
    }

    while ((n = read(fd, text->data + text->len, text->cap - text->len)) > 0) {
        text->len += (size_t) n;

        if (text->len == text->cap) {
            return -1;
        }
    }

    return n == 0 ? 0 : -1;
}

/* Appends a file's content. Returns 0, or -1 if it cannot be read. */
static int
tg_list_cache_read_file(const char *dir, const char *key, const char *end,
                        tg_buf_t *text)
{
    char room[TG_LIST_CACHE_PATH_MAX];
    const char *path;
    int fd, rc;

    path = tg_list_cache_make_path(room, dir, key, end);
    fd = path != NULL
             ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
             : -1;

    if (fd == -1) {
        return -1;
    }

    rc = tg_list_cache_read_fd(fd, text);
    (void) close(fd);

    return rc;
}

void
tg_list_cache_read(const char *dir, const char *key, uint64_t seed,
                   tg_mcp_lists_t *lists)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (tg_list_cache_read_file(dir, key, TG_LIST_CACHE_LIST_SUFFIX, &text)
        == 0) {
        (void) tg_mcp_lists_parse(lists, tg_buf_view(&text), seed);
    }

    tg_buf_deinit(&text);
}

void
tg_list_cache_read_sessions(const char *dir, const char *key, tg_buf_t *text)
{
    if (tg_list_cache_read_file(dir, key, TG_LIST_CACHE_SESSIONS_SUFFIX, text)
        != 0) {
        tg_buf_reset(text, 0);
    }
}

/* --- writing --- */

static int
tg_list_cache_write_fd(int fd, tg_str_t text)
{
    ssize_t n;

    while (text.len != 0) {
        n = write(fd, text.data, text.len);

        if (n == -1 && errno != EINTR) {
            return errno;
        }

        if (n > 0) {
            text.data += n;
            text.len -= (size_t) n;
        }
    }

    return 0;
}

static int
tg_list_cache_replace_file(const char *dir, const char *key, const char *end,
                           tg_str_t text)
{
    char temp_room[TG_LIST_CACHE_PATH_MAX], room[TG_LIST_CACHE_PATH_MAX];
    const char *temp, *path;
    int fd, err;

    temp = tg_list_cache_make_path(temp_room, dir, "", "");

    if (temp == NULL) {
        return dir == NULL ? 0 : ENAMETOOLONG;
    }

    if (mkdir(temp, 0700) == -1 && errno != EEXIST) {
        return errno;
    }

    temp = tg_list_cache_make_path(temp_room, dir, key,
                                   TG_LIST_CACHE_TEMP_SUFFIX);
    path = tg_list_cache_make_path(room, dir, key, end);

    if (temp == NULL || path == NULL) {
        return ENAMETOOLONG;
    }

    fd = open(temp,
              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
                  | O_NONBLOCK,
              0600);

    if (fd == -1) {
        return errno;
    }

    err = tg_list_cache_write_fd(fd, text);

    if (close(fd) == -1 && err == 0) {
        err = errno;
    }

    if (err == 0 && rename(temp, path) == -1) {
        err = errno;
    }

    if (err != 0) {
        (void) unlink(temp);
    }

    return err;
}

static int
tg_list_cache_write_list(const char *dir, const char *key, const char *end,
                         const tg_mcp_lists_t *lists)
{
    tg_buf_t text;
    int err;

    if (dir == NULL) {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_char(&text, '{');
    tg_mcp_lists_write(lists, &text);
    tg_buf_append(&text, "}\n", 2);
    err = tg_buf_has_failed(&text)
              ? ENOMEM
              : tg_list_cache_replace_file(dir, key, end, tg_buf_view(&text));
    tg_buf_deinit(&text);

    return err;
}

int
tg_list_cache_write(const char *dir, const char *key,
                    const tg_mcp_lists_t *lists)
{
    return tg_list_cache_write_list(dir, key, TG_LIST_CACHE_LIST_SUFFIX, lists);
}

int
tg_list_cache_write_last(const char *dir, const char *place,
                         const tg_mcp_lists_t *lists)
{
    return place[0] != '\0'
               ? tg_list_cache_write_list(dir, place, TG_LIST_CACHE_LAST_SUFFIX,
                                          lists)
               : 0;
}

int
tg_list_cache_write_name(const char *dir, const char *name, const char *key)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-_";

    return name[0] != '\0' && name[strspn(name, known)] == '\0'
               ? tg_list_cache_replace_file(dir, name,
                                            TG_LIST_CACHE_NAME_SUFFIX,
                                            tg_str_from_cstr(key))
               : 0;
}

int
tg_list_cache_write_sessions(const char *dir, const char *key, tg_str_t text)
{
    char room[TG_LIST_CACHE_PATH_MAX];
    const char *path;

    if (text.len != 0) {
        return tg_list_cache_replace_file(dir, key,
                                          TG_LIST_CACHE_SESSIONS_SUFFIX, text);
    }

    path = tg_list_cache_make_path(room, dir, key,
                                   TG_LIST_CACHE_SESSIONS_SUFFIX);

    return path == NULL || unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

/* --- expiry --- */

static void
tg_list_cache_touch_file(const char *dir, const char *key, const char *end)
{
    char room[TG_LIST_CACHE_PATH_MAX];
    const char *path;

    path = tg_list_cache_make_path(room, dir, key, end);

    if (path != NULL) {
        (void) utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    }
}

void
tg_list_cache_touch(const char *dir, const char *key, const char *place)
{
    tg_list_cache_touch_file(dir, key, TG_LIST_CACHE_LIST_SUFFIX);
    tg_list_cache_touch_file(dir, place, TG_LIST_CACHE_LAST_SUFFIX);
}

static int
tg_list_cache_is_suffix(const char *end)
{
    return strcmp(end, TG_LIST_CACHE_LIST_SUFFIX) == 0
           || strcmp(end, TG_LIST_CACHE_LAST_SUFFIX) == 0
           || strcmp(end, TG_LIST_CACHE_NAME_SUFFIX) == 0
           || strcmp(end, TG_LIST_CACHE_SESSIONS_SUFFIX) == 0;
}

static int
tg_list_cache_is_expired(int dir, const char *name)
{
    struct stat file;
    const char *dot;

    dot = strrchr(name, '.');

    if (dot == NULL || fstatat(dir, name, &file, AT_SYMLINK_NOFOLLOW) == -1
        || !S_ISREG(file.st_mode))
    {
        return 0;
    }

    return strcmp(dot, TG_LIST_CACHE_TEMP_SUFFIX) == 0
           || (tg_list_cache_is_suffix(dot)
               && file.st_mtime + TG_LIST_CACHE_DAYS * 86400 < time(NULL));
}

void
tg_list_cache_remove_expired(const char *dir)
{
    char room[TG_LIST_CACHE_PATH_MAX];
    struct dirent *entry;
    const char *path;
    DIR *list;

    path = tg_list_cache_make_path(room, dir, "", "");
    list = path != NULL ? opendir(path) : NULL;

    if (list == NULL) {
        return;
    }

    while ((entry = readdir(list)) != NULL) {
        if (tg_list_cache_is_expired(dirfd(list), entry->d_name)) {
            (void) unlinkat(dirfd(list), entry->d_name, 0);
        }
    }

    (void) closedir(list);
}
