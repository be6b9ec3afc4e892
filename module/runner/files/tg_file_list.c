/* Finds the files of one page of a folder's list. */
#include "runner/files/tg_file_list.h"

#include "runner/files/tg_file_open.h"
#include "runner/files/tg_skill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

void
tg_file_list_begin(tg_file_list_t *list, const tg_file_filter_t *filter,
                   tg_str_t after, tg_str_t prefix, size_t limit)
{
    memset(list, 0, sizeof(*list));
    list->filter = filter;
    list->after = after;
    list->prefix = prefix;
    list->limit = limit;
    list->root = -1;
    list->inotify = -1;
}

void
tg_file_list_end(tg_file_list_t *list)
{
    while (list->depth != 0) {
        (void) closedir(list->folders[--list->depth]);
    }

    while (list->n != 0) {
        free((char *) list->paths[--list->n].data);
    }

    free(list->paths);
    list->paths = NULL;
    list->filter = NULL;

    if (list->root != -1) {
        (void) close(list->root);
        list->root = -1;
    }
}

/* --- the least paths, as a heap with the greatest one first --- */

static void
tg_file_list_sift_up(tg_file_list_t *list, size_t i)
{
    tg_str_t path;

    for (path = list->paths[i];
         i != 0 && tg_file_path_compare(path, list->paths[(i - 1) / 2]) > 0;
         i = (i - 1) / 2)
    {
        list->paths[i] = list->paths[(i - 1) / 2];
    }

    list->paths[i] = path;
}

static void
tg_file_list_sift_down(tg_file_list_t *list, size_t i)
{
    tg_str_t path;
    size_t child;

    path = list->paths[i];

    while ((child = 2 * i + 1) < list->n) {
        child += child + 1 < list->n
                 && tg_file_path_compare(list->paths[child + 1],
                                         list->paths[child])
                        > 0;

        if (tg_file_path_compare(path, list->paths[child]) >= 0) {
            break;
        }

        list->paths[i] = list->paths[child];
        i = child;
    }

    list->paths[i] = path;
}

/* Checks whether a path is greater than all of a full page. */
static int
tg_file_list_is_beyond_page(const tg_file_list_t *list, tg_str_t path)
{
    return list->limit != 0 && list->n == list->limit
           && tg_file_path_compare(path, list->paths[0]) > 0;
}

/* Adds a path to the hash of all. */
static void
tg_file_list_add_hash(tg_file_list_t *list, tg_str_t path)
{
    struct stat info;
    uint64_t hash, values[6];

    hash = tg_hash_fnv1a(TG_HASH_INIT, path);

    if (list->is_exact && tg_file_list_stat(list, path, &info) == 0) {
        values[0] = (uint64_t) info.st_size;
        values[1] = (uint64_t) info.st_ino;
        values[2] = (uint64_t) info.st_mtim.tv_sec;
        values[3] = (uint64_t) info.st_mtim.tv_nsec;
        values[4] = (uint64_t) info.st_ctim.tv_sec;
        values[5] = (uint64_t) info.st_ctim.tv_nsec;
        hash = tg_hash_fnv1a(hash,
                             tg_str((const char *) values, sizeof(values)));
    }

    /* The order of the entries is arbitrary, that of a sum is not. */
    list->hash += hash;
}

/* Adds a path to the page, which may push the greatest one out. */
static int
tg_file_list_add(tg_file_list_t *list, tg_str_t path)
{
    char *copy;

    if (list->limit == 0) {
        tg_file_list_add_hash(list, path);
        return TG_OK;
    }

    if (tg_file_list_is_beyond_page(list, path)) {
        list->has_more = 1;
        return TG_OK;
    }

    copy = malloc(path.len + 1);

    if (copy == NULL) {
        return TG_NOMEM;
    }

    memcpy(copy, path.data, path.len);
    copy[path.len] = '\0';

    if (list->n < list->limit) {
        list->paths[list->n++] = tg_str(copy, path.len);
        tg_file_list_sift_up(list, list->n - 1);
        return TG_OK;
    }

    list->has_more = 1;
    free((char *) list->paths[0].data);
    list->paths[0] = tg_str(copy, path.len);
    tg_file_list_sift_down(list, 0);

    return TG_OK;
}

/* Adds a path with its rank if it contains what was typed. */
static int
tg_file_list_add_typed(tg_file_list_t *list, tg_str_t path)
{
    char ranked[TG_FILE_PATH_MAX + 1];
    size_t i;

    for (i = 0; i + list->typed.len <= path.len; i++) {
        if (tg_str_has_prefix_nocase(tg_str_skip(path, i), list->typed)) {
            ranked[0] = i == 0 ? '1' : '2';
            memcpy(ranked + 1, path.data, path.len);
            return tg_file_list_add(list, tg_str(ranked, path.len + 1));
        }
    }

    return TG_OK;
}

static int
tg_file_list_compare(const void *a, const void *b)
{
    return tg_file_path_compare(*(const tg_str_t *) a, *(const tg_str_t *) b);
}

/* --- folders --- */

static int
tg_file_path_has_prefix(tg_str_t path, tg_str_t prefix)
{
    return path.len >= prefix.len
           && memcmp(path.data, prefix.data, prefix.len) == 0;
}

/* Checks whether a path is below a folder, or is the folder. */
static int
tg_file_path_is_below(tg_str_t path, tg_str_t folder)
{
    return tg_file_path_has_prefix(path, folder)
           && (path.len == folder.len || path.data[folder.len] == '/');
}

/* Checks whether files of the page can be below a folder. */
static int
tg_file_list_needs_folder(tg_file_list_t *list, tg_str_t path)
{
    if (!tg_file_filter_has_folder(list->filter, path)
        || (!tg_file_path_has_prefix(path, list->prefix)
            && !tg_file_path_is_below(list->prefix, path))
        || (tg_file_path_compare(path, list->after) <= 0
            && !tg_file_path_is_below(list->after, path)))
    {
        return 0;
    }

    /* Maybe there are files: then the next page is not empty. */
    if (list->typed.data == NULL && tg_file_list_is_beyond_page(list, path)) {
        list->has_more = 1;
        return 0;
    }

    return 1;
}

/* Has inotify watch an open folder, if that is wanted. */
static void
tg_file_list_watch_folder(tg_file_list_t *list, int fd)
{
    char path[64];

    if (list->inotify == -1) {
        return;
    }

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

    if (list->nwatched == TG_FILE_LIST_WATCHED_MAX
        || inotify_add_watch(list->inotify, path,
                             list->is_exact ? TG_FILE_LIST_WATCH_EXACT_MASK
                                            : TG_FILE_LIST_WATCH_MASK)
               == -1)
    {
        list->is_unwatched = 1;
    } else {
        list->nwatched++;
    }
}

/* Checks for an error that says nothing about a folder. */
static int
tg_file_list_is_shortage(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOMEM;
}

/* Adds a folder at list->path to the page, with a slash at its end. */
static int
tg_file_list_add_folder(tg_file_list_t *list, size_t len)
{
    if (len >= TG_FILE_PATH_MAX) {
        return TG_OK;
    }

    list->path[len] = '/';

    return tg_file_path_compare(tg_str(list->path, len + 1), list->after) > 0
               ? tg_file_list_add(list, tg_str(list->path, len + 1))
               : TG_OK;
}

/* Opens a folder in the innermost one. Skips one that cannot be opened. */
static int
tg_file_list_enter(tg_file_list_t *list, const char *name, size_t len)
{
    DIR *folder;
    int fd;

    if (list->depth > TG_FILE_DEPTH_MAX) {
        return TG_OK;
    }

    if (list->is_shallow && len >= list->prefix.len) {
        return tg_file_list_add_folder(list, len);
    }

    fd = openat(dirfd(list->folders[list->depth - 1]), name,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    folder = fd != -1 ? fdopendir(fd) : NULL;

    if (fd == -1) {
        list->is_unwatched = 1;
        return tg_file_list_is_shortage(errno) ? TG_NOMEM : TG_OK;
    }

    if (folder == NULL) {
        (void) close(fd);
        return TG_NOMEM;
    }

    tg_file_list_watch_folder(list, fd);
    list->has_folder |= len + 1 == list->prefix.len;
    list->folders[list->depth] = folder;
    list->lens[list->depth++] = len;

    return TG_OK;
}

int
tg_file_list_stat(const tg_file_list_t *list, tg_str_t path, struct stat *info)
{
    int fd, rc;

    fd = tg_file_open_path(list->root, path.data);

    if (fd == -1) {
        return -1;
    }

    rc = fstat(fd, info);
    (void) close(fd);

    return rc == 0 && S_ISREG(info->st_mode) ? 0 : -1;
}

/* Returns the type of an entry, DT_REG for a link to a file below the root. */
static int
tg_file_list_get_type(const tg_file_list_t *list, const struct dirent *entry)
{
    struct stat info;
    int type;

    type = entry->d_type;

    if (type == DT_UNKNOWN
        && fstatat(dirfd(list->folders[list->depth - 1]), entry->d_name, &info,
                   AT_SYMLINK_NOFOLLOW)
               == 0)
    {
        type = (int) IFTODT(info.st_mode);
    }

    if (type == DT_LNK
        && tg_file_list_stat(list, tg_str_from_cstr(list->path), &info) == 0)
    {
        return DT_REG;
    }

    return type;
}

static int
tg_file_list_on_entry(tg_file_list_t *list, const struct dirent *entry)
{
    size_t start, len;
    tg_str_t path;

    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
        return TG_OK;
    }

    start = list->lens[list->depth - 1];
    start += start != 0;
    len = strlen(entry->d_name);

    if (start + len > TG_FILE_PATH_MAX) {
        return TG_OK;
    }

    if (start != 0) {
        list->path[start - 1] = '/';
    }

    memcpy(list->path + start, entry->d_name, len + 1);
    path = tg_str(list->path, start + len);

    /* A folder, or what may be one. */
    if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
        && tg_file_list_needs_folder(list, path)
        && tg_file_list_get_type(list, entry) == DT_DIR)
    {
        return tg_file_list_enter(list, entry->d_name, path.len);
    }

    if (entry->d_type == DT_DIR || !tg_file_path_has_prefix(path, list->prefix)
        || (list->has_skills && !tg_skill_is_path(path))
        || tg_file_path_compare(path, list->after) <= 0
        || !tg_file_filter_has_file(list->filter, path))
    {
        return TG_OK;
    }

    if (tg_file_list_get_type(list, entry) != DT_REG) {
        return TG_OK;
    }

    return list->typed.data != NULL ? tg_file_list_add_typed(list, path)
                                    : tg_file_list_add(list, path);
}

static int
tg_file_list_open(tg_file_list_t *list)
{
    int fd;

    list->paths = calloc(list->limit + 1, sizeof(*list->paths));

    if (list->paths == NULL) {
        return TG_NOMEM;
    }

    fd = open(list->filter->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list->folders[0] = fd != -1 ? fdopendir(fd) : NULL;

    if (list->folders[0] == NULL) {
        list->err = errno;

        if (fd != -1) {
            (void) close(fd);
        }

        return tg_file_list_is_shortage(list->err) ? TG_NOMEM : TG_INVALID;
    }

    tg_file_list_watch_folder(list, fd);
    list->depth = 1;
    list->root = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (list->root == -1) {
        list->err = errno;
        return tg_file_list_is_shortage(list->err) ? TG_NOMEM : TG_INVALID;
    }

    return TG_AGAIN;
}

int
tg_file_list_step(tg_file_list_t *list)
{
    struct dirent *entry;
    unsigned i;
    int rc;

    if (list->paths == NULL) {
        return tg_file_list_open(list);
    }

    for (i = 0, rc = TG_OK; rc == TG_OK && i < TG_FILE_LIST_STEP; i++) {
        if (list->depth == 0) {
            qsort(list->paths, list->n, sizeof(*list->paths),
                  tg_file_list_compare);
            return TG_OK;
        }

        if (++list->nscanned > TG_FILE_LIST_SCAN_MAX) {
            return TG_LIMIT;
        }

        entry = readdir(list->folders[list->depth - 1]);

        if (entry != NULL) {
            rc = tg_file_list_on_entry(list, entry);
        } else {
            (void) closedir(list->folders[--list->depth]);
        }
    }

    return rc == TG_OK ? TG_AGAIN : rc;
}
