/*
 * The job type `files_watch`: waits until other files are on offer in folders.
 *
 * A thread reads the folders, has inotify watch each of them, and makes a hash
 * of the paths on offer, so the memory does not depend on their number. An
 * event has it read them again. What inotify cannot watch is read again every
 * TG_FILE_LIST_WATCH_POLL_MS.
 */
#include "runner/files/tg_file_list_page.h"
#include "runner/files/tg_files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Maximum number of watched lists; a worker has one for a server. */
#define TG_FILE_LIST_WATCHES_MAX 256

/* Interval of reading folders that inotify does not watch, in ms. */
#define TG_FILE_LIST_WATCH_POLL_MS 10000

/* Interval for other folders, as one above them may be renamed, in ms. */
#define TG_FILE_LIST_WATCH_RECHECK_MS 300000

/* Time from a change until the folders are read: most come in bursts. */
#define TG_FILE_LIST_WATCH_DELAY_MS 500

/* An inotify of one reading of the folders. */
typedef struct {
    uv_poll_t poll;
    int fd;
} tg_file_list_inotify_t;

typedef struct {
    tg_thread_work_t work; /* must be first: the work is cast to its watch */
    tg_job_t *job;
    tg_files_t *files;
    char *memory;
    tg_file_list_page_t page; /* only its folders and its list */
    uint64_t version;         /* version that the caller knows; 0: none */
    uv_timer_t timer;
    int is_checking; /* a thread reads the folders */
    int is_ending;
    tg_file_list_inotify_t *inotify; /* of the last reading, or NULL */

    /* Of the thread. */
    int fd; /* inotify for this reading, or -1 */
    int has_list;
    int rc;
    int is_unwatched; /* a folder is not watched */
    int has_moved;    /* a root is not at its path any more */
    unsigned nwatched;
    uint64_t found; /* version of the list */
} tg_file_list_watch_t;

/* --- functions of the threads --- */

/* Checks whether another folder has the path of the root that was read. */
static int
tg_file_list_watch_has_moved(const tg_file_list_t *list)
{
    struct stat read, now;

    return fstat(list->root, &read) == -1
           || stat(list->filter->root, &now) == -1 || read.st_dev != now.st_dev
           || read.st_ino != now.st_ino;
}

/* Adds the hash of a folder's paths to the version. */
static void
tg_file_list_watch_end_folder(tg_file_list_watch_t *watch, int rc)
{
    tg_file_list_t *list;
    uint64_t values[2];

    list = &watch->page.list;
    values[0] = rc == TG_OK ? list->hash : 0;
    values[1] = (uint64_t) rc;
    watch->found = tg_hash_fnv1a(watch->found,
                                 tg_str((const char *) values, sizeof(values)));
    watch->is_unwatched |= list->is_unwatched || rc != TG_OK;

    /* If it moved before it was watched, there is no event. */
    watch->has_moved |= rc == TG_OK && tg_file_list_watch_has_moved(list);
    watch->nwatched = list->nwatched;
    tg_file_list_end(list);
    watch->has_list = 0;
    watch->page.folder++;
}

static int
tg_file_list_watch_on_work(tg_thread_work_t *work)
{
    tg_file_list_watch_t *watch;
    tg_file_list_page_t *page;
    int rc;

    watch = (tg_file_list_watch_t *) work;
    page = &watch->page;

    if (page->folder == page->nfolders) {
        watch->found |= 2;
        return 0;
    }

    if (!watch->has_list) {
        tg_file_list_begin(&page->list, &page->folders[page->folder].filter,
                           TG_STR(""), TG_STR(""), 0);
        page->list.is_exact = page->folders[page->folder].has_skills;
        page->list.inotify = watch->fd;
        page->list.nwatched = watch->nwatched;
        watch->has_list = 1;
        return 1;
    }

    rc = tg_file_list_step(&page->list);

    /* The list is unknown, not another one. */
    if (rc == TG_NOMEM) {
        tg_file_list_end(&page->list);
        watch->has_list = 0;
        watch->is_unwatched = 1;
        watch->has_moved = 0;
        watch->found = watch->version;
        return 0;
    }

    if (rc != TG_AGAIN) {
        tg_file_list_watch_end_folder(watch, rc);
    }

    return 1;
}

/* --- watches --- */

static void tg_file_list_watch_check(tg_file_list_watch_t *watch);

static void
tg_file_list_watch_on_timer(uv_timer_t *timer)
{
    tg_file_list_watch_check(timer->data);
}

static void
tg_file_list_watch_on_event(uv_poll_t *poll, int status, int events)
{
    tg_file_list_watch_t *watch;

    watch = poll->data;

    uv_poll_stop(poll);

    /* A reading that runs has an inotify of its own, which replaces this. */
    if (watch->is_checking || watch->is_ending) {
        return;
    }

    uv_timer_start(&watch->timer, tg_file_list_watch_on_timer,
                   TG_FILE_LIST_WATCH_DELAY_MS, 0);
}

static void
tg_file_list_watch_on_inotify_closed(uv_handle_t *handle)
{
    free(TG_CONTAINER_OF(handle, tg_file_list_inotify_t, poll));
}

static void
tg_file_list_watch_close_inotify(tg_file_list_watch_t *watch)
{
    tg_file_list_inotify_t *inotify;

    inotify = watch->inotify;

    if (inotify != NULL) {
        watch->inotify = NULL;
        uv_poll_stop(&inotify->poll);
        (void) close(inotify->fd);
        uv_close((uv_handle_t *) &inotify->poll,
                 tg_file_list_watch_on_inotify_closed);
    }
}

/* Waits for events of the folders that were read. */
static void
tg_file_list_watch_set_inotify(tg_file_list_watch_t *watch)
{
    tg_file_list_inotify_t *inotify;

    tg_file_list_watch_close_inotify(watch);

    if (watch->fd == -1) {
        return;
    }

    inotify = calloc(1, sizeof(*inotify));

    if (inotify == NULL
        || uv_poll_init(watch->files->loop, &inotify->poll, watch->fd) != 0)
    {
        free(inotify);
        (void) close(watch->fd);
        watch->fd = -1;
        watch->is_unwatched = 1;
        return;
    }

    inotify->fd = watch->fd;
    inotify->poll.data = watch;
    watch->fd = -1;
    watch->inotify = inotify;
    uv_poll_start(&inotify->poll, UV_READABLE, tg_file_list_watch_on_event);
}

static void
tg_file_list_watch_on_closed(uv_handle_t *handle)
{
    tg_file_list_watch_t *watch;

    watch = handle->data;
    tg_job_unref_handle(watch->job);
}

/* Ends a watch whose folders no thread reads. */
static void
tg_file_list_watch_end(tg_file_list_watch_t *watch)
{
    watch->is_ending = 1;
    watch->files->nlist_watches--;
    tg_file_list_watch_close_inotify(watch);
    uv_close((uv_handle_t *) &watch->timer, tg_file_list_watch_on_closed);
    tg_job_set_done(watch->job);
}

static void
tg_file_list_watch_on_done(tg_thread_work_t *work)
{
    tg_file_list_watch_t *watch;
    tg_job_t *job;

    watch = (tg_file_list_watch_t *) work;
    job = watch->job;
    watch->is_checking = 0;
    tg_file_list_watch_set_inotify(watch);

    if (watch->is_ending) {
        tg_file_list_watch_end(watch);
    } else if (watch->found != watch->version) {
        tg_files_respond_version(job, watch->found, 0);
        tg_file_list_watch_end(watch);
    } else {
        uv_timer_start(&watch->timer, tg_file_list_watch_on_timer,
                       watch->has_moved      ? TG_FILE_LIST_WATCH_DELAY_MS
                       : watch->is_unwatched ? TG_FILE_LIST_WATCH_POLL_MS
                                             : TG_FILE_LIST_WATCH_RECHECK_MS,
                       0);
    }

    tg_job_unref_handle(job);
}

/* Has a thread read the folders. Returns -1 after it has failed the call. */
static int
tg_file_list_watch_begin_check(tg_file_list_watch_t *watch)
{
    watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watch->is_unwatched = watch->fd == -1;
    watch->nwatched = 0;
    watch->has_moved = 0;
    watch->page.folder = 0;
    watch->found = TG_HASH_INIT;
    watch->work.run = tg_file_list_watch_on_work;
    watch->work.done = tg_file_list_watch_on_done;

    if (tg_files_add_work(watch->files, watch->job, &watch->work) == 0) {
        watch->is_checking = 1;
        return 0;
    }

    if (watch->fd != -1) {
        (void) close(watch->fd);
        watch->fd = -1;
    }

    return -1;
}

static void
tg_file_list_watch_check(tg_file_list_watch_t *watch)
{
    if (tg_file_list_watch_begin_check(watch) != 0) {
        tg_job_set_ending(watch->job);
        tg_file_list_watch_end(watch);
    }
}

/* --- functions of the job type --- */

static void
tg_file_list_watch_free(tg_job_t *job)
{
    tg_file_list_watch_t *watch;

    watch = job->work;
    tg_file_list_page_end(&watch->page);
    free(watch->memory);
    free(watch);
}

static int
tg_file_list_watch_read_spec(tg_file_list_watch_t *watch,
                             const tg_file_list_watch_spec_t *spec,
                             const char **why)
{
    char *at;

    *why = "version must have 16 hexadecimal digits";

    if (tg_files_read_version(spec->version, &watch->version) != TG_OK) {
        return TG_INVALID;
    }

    watch->memory = malloc(spec->folders.len + 1);

    if (watch->memory == NULL) {
        return TG_NOMEM;
    }

    at = watch->memory;

    return tg_file_list_read_folders(&watch->page, spec->folders, &at, why);
}

static int
tg_file_list_watch_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_file_list_watch_spec_t spec;
    tg_file_list_watch_t *watch;
    int rc;

    memset(&spec, 0, sizeof(spec));

    if (tg_json_store_fields(tg_file_list_watch_fields, values, &spec, why)
        != TG_OK)
    {
        return TG_INVALID;
    }

    watch = calloc(1, sizeof(*watch));

    if (watch == NULL) {
        return TG_NOMEM;
    }

    watch->job = job;
    tg_file_list_page_begin(&watch->page);
    job->work = watch;
    rc = tg_file_list_watch_read_spec(watch, &spec, why);

    if (rc != TG_OK) {
        tg_file_list_watch_free(job);
        job->work = NULL;
    }

    return rc;
}

static int
tg_file_list_watch_start(tg_job_t *job)
{
    tg_file_list_watch_t *watch;
    tg_files_t *files;

    watch = job->work;
    files = job->host;
    watch->files = files;

    if (files->nlist_watches >= TG_FILE_LIST_WATCHES_MAX) {
        tg_job_fail(job, TG_FAILURE_BUSY,
                    "%d lists of files are being watched already.",
                    TG_FILE_LIST_WATCHES_MAX);
        return -1;
    }

    /* A caller that knows a version has just received it. */
    if (watch->version == 0 && tg_file_list_watch_begin_check(watch) != 0) {
        return -1;
    }

    /* The job lasts as long as somebody listens. */
    uv_timer_stop(&job->timer);
    uv_timer_init(files->loop, &watch->timer);
    watch->timer.data = watch;
    tg_job_ref_handle(job);
    files->nlist_watches++;

    if (!watch->is_checking) {
        uv_timer_start(&watch->timer, tg_file_list_watch_on_timer,
                       TG_FILE_LIST_WATCH_DELAY_MS, 0);
    }

    return 0;
}

static void
tg_file_list_watch_stop(tg_job_t *job)
{
    tg_file_list_watch_t *watch;

    watch = job->work;
    watch->is_ending = 1;

    if (!watch->is_checking) {
        tg_file_list_watch_end(watch);
    }
}

const tg_job_type_t tg_file_list_watch_job_type = {
    .name = "files_watch",
    .fields = tg_file_list_watch_fields,
    .timeout_ms = TG_JOB_TIMEOUT_MAX,
    .needs_no_slot = 1,
    .read = tg_file_list_watch_read,
    .start = tg_file_list_watch_start,
    .stop = tg_file_list_watch_stop,
    .free = tg_file_list_watch_free,
};
