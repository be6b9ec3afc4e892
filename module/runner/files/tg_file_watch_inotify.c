/* The folders of watched files, and the events of inotify about them. */
#include "runner/files/tg_file_watch_impl.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static tg_file_watch_folder_t **
tg_file_watch_find_folder(tg_files_t *files, int wd)
{
    tg_file_watch_folder_t **folder;

    folder = &files->folders;

    while (*folder != NULL && (*folder)->wd != wd) {
        folder = &(*folder)->next;
    }

    return folder;
}

/* Handles an event of a folder. An absent name means all files. */
static void
tg_files_on_folder_event(tg_files_t *files,
                         const tg_file_watch_folder_t *folder, const char *name)
{
    tg_file_watch_t *watch;

    LIST_FOREACH(watch, &files->watches, link)
    {
        if ((folder == NULL || watch->watched == folder)
            && (name == NULL || strcmp(watch->name, name) == 0))
        {
            tg_file_watch_schedule(watch, TG_FILE_WATCH_DELAY_MS);
        }
    }
}

/* Forgets a folder that inotify does not watch any more. */
static void
tg_files_forget_folder(tg_files_t *files, tg_file_watch_folder_t **at)
{
    tg_file_watch_folder_t *folder;
    tg_file_watch_t *watch;

    folder = *at;
    tg_files_on_folder_event(files, folder, NULL);

    LIST_FOREACH(watch, &files->watches, link)
    {
        if (watch->watched == folder) {
            watch->watched = NULL;
        }
    }

    *at = folder->next;
    free(folder);
}

static void
tg_files_on_inotify_event(tg_files_t *files, const struct inotify_event *event)
{
    tg_file_watch_folder_t **folder;

    files->nevents++;

    if (event->mask & IN_Q_OVERFLOW) {
        tg_files_on_folder_event(files, NULL, NULL);
        return;
    }

    folder = tg_file_watch_find_folder(files, event->wd);

    if (*folder == NULL) {
        return;
    }

    if (event->mask & IN_IGNORED) {
        tg_files_forget_folder(files, folder);
    } else {
        tg_files_on_folder_event(files, *folder,
                                 event->len != 0 ? event->name : NULL);
    }

    /* The folder has another path now, at which nothing may be watched. */
    if (event->mask & IN_MOVE_SELF) {
        (void) inotify_rm_watch(files->inotify->fd, event->wd);
    }
}

static void
tg_files_on_inotify(uv_poll_t *poll, int status, int events)
{
    const struct inotify_event *event;
    tg_file_inotify_t *inotify;
    ssize_t n, at;
    union {
        struct inotify_event event; /* aligns the buffer */
        char bytes[16384];
    } room;

    inotify = poll->data;
    n = read(inotify->fd, room.bytes, sizeof(room.bytes));

    for (at = 0; at < n; at += (ssize_t) (sizeof(*event) + event->len)) {
        event = (const struct inotify_event *) (const void *) (room.bytes + at);
        tg_files_on_inotify_event(inotify->files, event);
    }
}

void
tg_files_open_inotify(tg_files_t *files)
{
    tg_file_inotify_t *inotify;

    inotify = files->inotify == NULL ? calloc(1, sizeof(*inotify)) : NULL;

    if (inotify == NULL) {
        return;
    }

    inotify->files = files;
    inotify->poll.data = inotify;
    inotify->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (inotify->fd == -1
        || uv_poll_init(files->loop, &inotify->poll, inotify->fd) != 0)
    {
        if (inotify->fd != -1) {
            (void) close(inotify->fd);
        }

        free(inotify);
        return;
    }

    files->inotify = inotify;
    uv_poll_start(&inotify->poll, UV_READABLE, tg_files_on_inotify);
}

static void
tg_files_on_inotify_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void
tg_files_sweep_watches(tg_files_t *files)
{
    tg_file_watch_folder_t **at, *folder;

    if (files->nchecks != 0 || files->inotify == NULL) {
        return;
    }

    for (at = &files->folders; *at != NULL;) {
        folder = *at;

        if (folder->refs != 0) {
            at = &folder->next;
            continue;
        }

        (void) inotify_rm_watch(files->inotify->fd, folder->wd);
        *at = folder->next;
        free(folder);
    }

    if (files->nwatches == 0) {
        uv_poll_stop(&files->inotify->poll);
        (void) close(files->inotify->fd);
        uv_close((uv_handle_t *) &files->inotify->poll,
                 tg_files_on_inotify_closed);
        files->inotify = NULL;
    }
}

void
tg_file_watch_set_folder(tg_file_watch_t *watch, int wd)
{
    tg_file_watch_folder_t **at, *folder;

    folder = NULL;

    if (wd != -1) {
        at = tg_file_watch_find_folder(watch->files, wd);

        if (*at == NULL) {
            *at = calloc(1, sizeof(**at));
        }

        folder = *at;
    }

    if (folder != NULL) {
        folder->wd = wd;
        folder->refs++;
    }

    if (watch->watched != NULL) {
        watch->watched->refs--;
    }

    watch->watched = folder;
}
