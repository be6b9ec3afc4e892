/*
 * The watched folders and their files, kept up to date by inotify.
 */
#include "tasks/watch/tg_watcher_impl.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_WATCHER_INOTIFY_MASK                                                \
    (IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM        \
     | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR                \
     | IN_DONT_FOLLOW | IN_EXCL_UNLINK)

static void tg_watcher_add_folder(tg_watcher_t *watcher, tg_str_t path);

static void
tg_watcher_post_error(tg_watcher_t *watcher, const char *what, tg_str_t path,
                      int err)
{
    char text[512];
    tg_buf_t buf;

    if (watcher->is_full) {
        return;
    }

    watcher->is_full = 1;
    buf = tg_buf_make_fixed(text, sizeof(text) - 1);
    tg_buf_printf(&buf,
                  "the files of automation rules cannot be watched: "
                  "%s%s%.*s%s",
                  what, path.len != 0 ? ": " : "", (int) path.len,
                  path.len != 0 ? path.data : "",
                  err == ENOSPC ? "; raise fs.inotify.max_user_watches" : "");
    tg_watcher_post_message(watcher, TG_STR(""), 0, tg_buf_view(&buf));
}

/* --- folders --- */

static tg_watched_folder_t **
tg_watcher_find_folder_slot(tg_watcher_t *watcher, int wd)
{
    tg_watched_folder_t **slot;

    slot = &watcher->slots[(unsigned) wd % TG_WATCHER_FOLDER_SLOTS];

    while (*slot != NULL && (*slot)->wd != wd) {
        slot = &(*slot)->next;
    }

    return slot;
}

/* Returns whether a folder is the path or lies below it. */
static int
tg_watched_folder_is_in(const tg_watched_folder_t *folder, tg_str_t path)
{
    return folder->len >= path.len
           && memcmp(folder->path, path.data, path.len) == 0
           && (folder->len == path.len || folder->path[path.len] == '/'
               || path.len == 1);
}

/* Version control changes files there with each of its commands. */
static int
tg_watcher_is_ignored_folder(tg_str_t name)
{
    return tg_str_eq(name, TG_STR(".git")) || tg_str_eq(name, TG_STR(".hg"))
           || tg_str_eq(name, TG_STR(".svn"));
}

/* Returns whether a rule needs the changes in this folder. */
static int
tg_watcher_has_rule_for(const tg_watcher_t *watcher, tg_str_t path)
{
    const tg_watcher_rule_t *rule;
    unsigned i;

    for (i = 0; i < watcher->nrules; i++) {
        rule = &watcher->rules[i];

        if (tg_str_eq(path, rule->root)
            || (rule->file_name.len == 0
                && tg_watcher_rule_strip_root(rule, path).data != NULL))
        {
            return 1;
        }
    }

    return 0;
}

/* Removes all files below a path, which no longer exist. */
static void
tg_watcher_remove_files(tg_watcher_t *watcher, tg_str_t path)
{
    tg_name_set_entry_t *name, *next;

    for (name = tg_name_set_next(&watcher->files, NULL); name != NULL;
         name = next) {
        next = tg_name_set_next(&watcher->files, name);

        if (name->len > path.len + 1
            && memcmp(name->text, path.data, path.len) == 0
            && name->text[path.len] == '/')
        {
            tg_watcher_mark_changed(watcher, tg_str(name->text, name->len), 1);
            (void) tg_name_set_remove(&watcher->files,
                                      tg_str(name->text, name->len));
        }
    }
}

/* Removes a folder and everything below it, because it was deleted or moved. */
static void
tg_watcher_remove_folder(tg_watcher_t *watcher, tg_str_t path)
{
    tg_watched_folder_t *folder, **slot;
    size_t i, nfiles;

    nfiles = 0;

    for (i = 0; i < TG_WATCHER_FOLDER_SLOTS; i++) {
        for (slot = &watcher->slots[i]; *slot != NULL;) {
            folder = *slot;

            if (!tg_watched_folder_is_in(folder, path)) {
                slot = &folder->next;
                continue;
            }

            *slot = folder->next;
            nfiles += folder->nfiles;
            (void) inotify_rm_watch(watcher->fd, folder->wd);
            watcher->nfolders--;
            free(folder);
        }
    }

    if (nfiles != 0) {
        tg_watcher_remove_files(watcher, path);
    }
}

/* --- files --- */

static void
tg_watcher_update_file(tg_watcher_t *watcher, tg_watched_folder_t *folder,
                       tg_str_t path, int is_there)
{
    int was_there;

    was_there = tg_name_set_find(&watcher->files, path) != NULL;

    if (!was_there && !is_there) {
        return;
    }

    tg_watcher_mark_changed(watcher, path, was_there);

    if (was_there && !is_there) {
        (void) tg_name_set_remove(&watcher->files, path);
        folder->nfiles--;

    } else if (!was_there) {
        if (watcher->files.n >= TG_WATCHER_FILES_MAX
            || tg_name_set_add(&watcher->files, path, 0) == NULL)
        {
            tg_watcher_post_error(watcher, "there are too many files", path, 0);
            return;
        }

        folder->nfiles++;
    }
}

/* Returns the path FOLDER/NAME, which the caller frees; absent: no memory. */
static tg_str_t
tg_watcher_join_path(tg_str_t folder, const char *name)
{
    size_t len;
    char *text;

    len = strlen(name);
    text = malloc(folder.len + len + 2);

    if (text == NULL) {
        return TG_STR_NONE;
    }

    memcpy(text, folder.data, folder.len);
    text[folder.len] = '/';
    folder.len += folder.len != 1; /* the root folder ends with its slash */
    memcpy(text + folder.len, name, len + 1);

    return tg_str(text, folder.len + len);
}

/* --- scan of folders --- */

/*
 * Adds a file of a folder. A folder is added to `folders`, to be scanned later.
 */
static void
tg_watcher_scan_entry(tg_watcher_t *watcher, tg_watched_folder_t *folder,
                      const struct dirent *entry, tg_name_set_t *folders)
{
    struct stat info;
    tg_str_t path;
    int is_dir;

    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
        return;
    }

    path = tg_watcher_join_path(tg_str(folder->path, folder->len),
                                entry->d_name);

    if (path.data == NULL) {
        return;
    }

    is_dir = entry->d_type == DT_DIR;

    if (entry->d_type == DT_UNKNOWN) {
        is_dir = lstat(path.data, &info) == 0 && S_ISDIR(info.st_mode);
    }

    if (!is_dir) {
        tg_watcher_update_file(watcher, folder, path, 1);
    } else if (!tg_watcher_is_ignored_folder(tg_str_from_cstr(entry->d_name))) {
        (void) tg_name_set_add(folders, path, 0);
    }

    free((char *) path.data);
}

/*
 * Scans a folder after its watch was added, as inotify reports only later
 * changes. Only one folder is open at a time, whatever the depth.
 */
static void
tg_watcher_scan_folder(tg_watcher_t *watcher, tg_watched_folder_t *folder)
{
    const tg_name_set_entry_t *name;
    struct dirent *entry;
    tg_name_set_t folders;
    DIR *dir;

    dir = opendir(folder->path);

    if (dir == NULL) {
        return;
    }

    memset(&folders, 0, sizeof(folders));

    while (!tg_watcher_is_ending(watcher) && (entry = readdir(dir)) != NULL) {
        tg_watcher_scan_entry(watcher, folder, entry, &folders);
    }

    (void) closedir(dir);

    for (name = tg_name_set_next(&folders, NULL);
         name != NULL && !tg_watcher_is_ending(watcher);
         name = tg_name_set_next(&folders, name))
    {
        tg_watcher_add_folder(watcher, tg_str(name->text, name->len));
    }

    tg_name_set_free(&folders);
}

static void
tg_watcher_add_folder(tg_watcher_t *watcher, tg_str_t path)
{
    tg_watched_folder_t *folder, **slot;
    int wd;

    if (!tg_watcher_has_rule_for(watcher, path)) {
        return;
    }

    if (watcher->nfolders >= TG_WATCHER_FOLDERS_MAX) {
        tg_watcher_post_error(watcher, "there are too many folders", path, 0);
        return;
    }

    wd = inotify_add_watch(watcher->fd, path.data, TG_WATCHER_INOTIFY_MASK);

    if (wd == -1) {
        if (errno != ENOENT && errno != ENOTDIR) {
            tg_watcher_post_error(watcher, strerror(errno), path, errno);
        }

        return;
    }

    slot = tg_watcher_find_folder_slot(watcher, wd);

    if (*slot != NULL) {
        return; /* the folder was found in two ways */
    }

    folder = calloc(1, sizeof(*folder) + path.len + 1);

    if (folder == NULL) {
        (void) inotify_rm_watch(watcher->fd, wd);
        return;
    }

    folder->wd = wd;
    folder->len = path.len;
    memcpy(folder->path, path.data, path.len);
    *slot = folder;
    watcher->nfolders++;
    tg_watcher_scan_folder(watcher, folder);
}

int
tg_watcher_add_missing_roots(tg_watcher_t *watcher)
{
    tg_watcher_rule_t *rule;
    struct stat info;
    unsigned i;
    int is_missing;

    if (watcher->fd == -1) {
        watcher->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    }

    if (watcher->fd == -1) {
        tg_watcher_post_error(watcher, strerror(errno), TG_STR(""), 0);
        return 1;
    }

    for (i = 0, is_missing = 0; i < watcher->nrules; i++) {
        rule = &watcher->rules[i];

        if (rule->is_missing && lstat(rule->root.data, &info) == 0
            && S_ISDIR(info.st_mode))
        {
            rule->is_missing = 0;
            tg_watcher_add_folder(watcher, rule->root);
        }

        is_missing |= rule->is_missing;
    }

    return is_missing;
}

/* --- inotify events --- */

/* Records a change of each file that is in one set and not in the other. */
static void
tg_watcher_mark_difference(tg_watcher_t *watcher, const tg_name_set_t *these,
                           const tg_name_set_t *those, int was_there)
{
    const tg_name_set_entry_t *name;
    tg_str_t path;

    for (name = tg_name_set_next(these, NULL); name != NULL;
         name = tg_name_set_next(these, name))
    {
        path = tg_str(name->text, name->len);

        if (tg_name_set_find(those, path) == NULL) {
            tg_watcher_mark_changed(watcher, path, was_there);
        }
    }
}

/*
 * Scans all folders again, as inotify lost events. This finds created and
 * deleted files only, so the rules get the flag `lost`.
 */
static void
tg_watcher_rescan(tg_watcher_t *watcher)
{
    tg_name_set_t before;
    unsigned i;

    tg_watcher_mark_events_lost(watcher);
    before = watcher->files;
    memset(&watcher->files, 0, sizeof(watcher->files));
    watcher->is_scanning = 1;

    for (i = 0; i < watcher->nrules; i++) {
        tg_watcher_remove_folder(watcher, watcher->rules[i].root);
        watcher->rules[i].is_missing = 1;
    }

    (void) tg_watcher_add_missing_roots(watcher);
    watcher->is_scanning = 0;
    tg_watcher_mark_difference(watcher, &before, &watcher->files, 1);
    tg_watcher_mark_difference(watcher, &watcher->files, &before, 0);
    tg_name_set_free(&before);
}

/*
 * Removes a deleted or moved folder; the folder of a rule is looked for again.
 */
static void
tg_watcher_on_folder_gone(tg_watcher_t *watcher,
                          const tg_watched_folder_t *folder)
{
    tg_str_t path;
    char *copy;
    unsigned i;

    copy = strdup(folder->path);

    if (copy == NULL) {
        return;
    }

    path = tg_str_from_cstr(copy);

    for (i = 0; i < watcher->nrules; i++) {
        if (tg_watched_folder_is_in(folder, watcher->rules[i].root)
            && folder->len == watcher->rules[i].root.len)
        {
            watcher->rules[i].is_missing = 1;
        }
    }

    tg_watcher_remove_folder(watcher, path);
    free(copy);
}

/*
 * Returns whether a folder still has its path. A move is reported by the new
 * parent first, then by IN_MOVE_SELF, which also reaches a watch that was added
 * in between at the new path.
 */
static int
tg_watcher_is_folder_in_place(tg_watcher_t *watcher,
                              const tg_watched_folder_t *folder)
{
    int wd;

    wd = inotify_add_watch(watcher->fd, folder->path, TG_WATCHER_INOTIFY_MASK);

    /* Another folder at this path has an event of its own. */
    if (wd != -1 && *tg_watcher_find_folder_slot(watcher, wd) == NULL) {
        (void) inotify_rm_watch(watcher->fd, wd);
    }

    return wd == folder->wd;
}

static void
tg_watcher_on_inotify_event(tg_watcher_t *watcher,
                            const struct inotify_event *event)
{
    tg_watched_folder_t *folder;
    tg_str_t path;
    int is_there;

    if (event->mask & IN_Q_OVERFLOW) {
        tg_watcher_rescan(watcher);
        return;
    }

    folder = *tg_watcher_find_folder_slot(watcher, event->wd);

    if (folder == NULL
        || ((event->mask & IN_MOVE_SELF)
            && tg_watcher_is_folder_in_place(watcher, folder)))
    {
        return; /* the folder is not watched any more, or is still in place */
    }

    if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED))
    {
        tg_watcher_on_folder_gone(watcher, folder);
        return;
    }

    path = event->len != 0
               ? tg_watcher_join_path(tg_str(folder->path, folder->len),
                                      event->name)
               : TG_STR_NONE;

    if (path.data == NULL) {
        return;
    }

    is_there = !(event->mask & (IN_DELETE | IN_MOVED_FROM));

    if (!(event->mask & IN_ISDIR)) {
        tg_watcher_update_file(watcher, folder, path, is_there);

    } else if (!is_there) {
        tg_watcher_remove_folder(watcher, path);

    } else if (!tg_watcher_is_ignored_folder(tg_str_from_cstr(event->name))) {
        tg_watcher_add_folder(watcher, path);
    }

    free((char *) path.data);
}

void
tg_watcher_read_events(tg_watcher_t *watcher)
{
    const struct inotify_event *event;
    ssize_t n, at;
    union {
        struct inotify_event event; /* aligns the buffer */
        char bytes[65536];
    } room;

    while (!tg_watcher_is_ending(watcher)
           && (n = read(watcher->fd, room.bytes, sizeof(room.bytes))) > 0)
    {
        for (at = 0; at < n; at += (ssize_t) (sizeof(*event) + event->len)) {
            event = (const struct inotify_event *) (const void *) (room.bytes
                                                                   + at);
            tg_watcher_on_inotify_event(watcher, event);
        }
    }
}

void
tg_watcher_close_tree(tg_watcher_t *watcher)
{
    tg_watched_folder_t *folder, *next;
    size_t i;

    for (i = 0; i < TG_WATCHER_FOLDER_SLOTS; i++) {
        for (folder = watcher->slots[i]; folder != NULL; folder = next) {
            next = folder->next;
            free(folder);
        }
    }

    tg_name_set_free(&watcher->files);

    if (watcher->fd != -1) {
        (void) close(watcher->fd);
    }
}
