/*
 * The job type `file_watch`: waits until a file has another version.
 *
 * inotify reports changes in the folder of the file; then a thread compares the
 * file's version, which is a hash of its identity, size and times. What inotify
 * cannot watch is compared every TG_FILE_WATCH_POLL_MS: a link, a folder that
 * does not exist, and files above the limits of inotify.
 */
#include "runner/files/tg_file_open.h"
#include "runner/files/tg_file_watch_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Maximum number of watched files; fewer than the calls of one worker. */
#define TG_FILE_WATCHES_MAX 1024

/* Maximum number of checks at once: threads must have room for reads. */
#define TG_FILE_WATCH_CHECKS_MAX 64

/* Attempts to read the version of a file that is being replaced. */
#define TG_FILE_WATCH_READS_MAX 3

/* Interval of comparing files that inotify does not watch, in ms. */
#define TG_FILE_WATCH_POLL_MS 5000

/* Interval for other files, as a folder above theirs may be renamed, in ms. */
#define TG_FILE_WATCH_RECHECK_MS 60000

static void tg_file_watch_check(tg_file_watch_t *watch);

/* --- functions of the threads --- */

static uint64_t
tg_file_watch_hash(const struct stat *info)
{
    uint64_t values[] = {
        (uint64_t) info->st_dev,          (uint64_t) info->st_ino,
        (uint64_t) info->st_size,         (uint64_t) info->st_mtim.tv_sec,
        (uint64_t) info->st_mtim.tv_nsec, (uint64_t) info->st_ctim.tv_sec,
        (uint64_t) info->st_ctim.tv_nsec,
    };

    return tg_hash_fast(TG_HASH_INIT,
                        tg_str((const char *) values, sizeof(values)))
           | 2;
}

static uint64_t
tg_file_watch_get_time(const struct stat *info)
{
    return (uint64_t) info->st_ctim.tv_sec * 1000000000
           + (uint64_t) info->st_ctim.tv_nsec;
}

/*
 * Returns the version of the file below root; 1: it does not exist. *nlinks is
 * 0 if the file was deleted or replaced after it was opened.
 */
static uint64_t
tg_file_watch_read_version(tg_file_watch_t *watch, int root, nlink_t *nlinks)
{
    struct stat info;
    uint64_t version;
    int fd;

    *nlinks = 1;
    version = 1;
    fd = tg_file_open_path(root, watch->path);

    if (fd != -1 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *nlinks = info.st_nlink;
        version = tg_file_watch_hash(&info);
        watch->changed = tg_file_watch_get_time(&info);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return version;
}

/* Returns the version of the file; 1: it does not exist. */
static uint64_t
tg_file_watch_find_version(tg_file_watch_t *watch)
{
    uint64_t version;
    nlink_t nlinks;
    int root, i;

    root = -1;
    version = 1;

    if (watch->filter.root != NULL) {
        root = tg_file_open_root(watch->filter.root);

        if (root == -1) {
            return version;
        }
    }

    /* Replacing a file changes the times of the former one, too. */
    for (i = 0, nlinks = 0; nlinks == 0 && i < TG_FILE_WATCH_READS_MAX; i++) {
        version = tg_file_watch_read_version(watch, root, &nlinks);
    }

    if (root != -1) {
        (void) close(root);
    }

    return version;
}

static int
tg_file_watch_on_work(tg_thread_work_t *work)
{
    tg_file_watch_t *watch;
    struct stat info;
    char *slash;

    watch = (tg_file_watch_t *) work;
    watch->wd = -1;
    watch->is_link = 0;

    /* First: a change after it has an event. */
    if (watch->inotify != -1) {
        watch->wd = inotify_add_watch(watch->inotify, watch->folder,
                                      TG_FILE_WATCH_MASK);
    }

    watch->changed = 0;
    watch->found = tg_file_watch_find_version(watch);

    /* The time at which a file was deleted is that of its folder. */
    if (watch->found == 1) {
        watch->changed = stat(watch->folder, &info) == 0
                             ? tg_file_watch_get_time(&info)
                             : 0;
    }

    slash = watch->folder + strlen(watch->folder);
    *slash = '/';
    watch->is_link = lstat(watch->folder, &info) == 0 && S_ISLNK(info.st_mode);
    *slash = '\0';

    /* Another link to an old file is a change, too. */
    if (watch->is_link && watch->changed < tg_file_watch_get_time(&info)) {
        watch->changed = tg_file_watch_get_time(&info);
    }

    return 0;
}

/* --- watches --- */

static void
tg_file_watch_on_timer(uv_timer_t *timer)
{
    tg_file_watch_check(timer->data);
}

void
tg_file_watch_schedule(tg_file_watch_t *watch, uint64_t delay)
{
    if (!watch->is_checking && !watch->is_ending
        && (!uv_is_active((uv_handle_t *) &watch->timer)
            || uv_timer_get_due_in(&watch->timer) > delay))
    {
        uv_timer_start(&watch->timer, tg_file_watch_on_timer, delay, 0);
    }
}

static void
tg_file_watch_on_closed(uv_handle_t *handle)
{
    tg_file_watch_t *watch;

    watch = handle->data;
    tg_job_unref_handle(watch->job);
}

/* Ends a watch that no thread checks. */
static void
tg_file_watch_end(tg_file_watch_t *watch)
{
    tg_files_t *files;

    files = watch->files;
    watch->is_ending = 1;
    tg_file_watch_set_folder(watch, -1);
    LIST_REMOVE(watch, link);
    files->nwatches--;
    uv_close((uv_handle_t *) &watch->timer, tg_file_watch_on_closed);
    tg_job_set_done(watch->job);
    tg_files_sweep_watches(files);
}

static void
tg_file_watch_on_done(tg_thread_work_t *work)
{
    tg_file_watch_t *watch;
    tg_job_t *job;

    watch = (tg_file_watch_t *) work;
    job = watch->job;
    watch->is_checking = 0;
    watch->files->nchecks--;
    tg_file_watch_set_folder(watch, watch->wd);

    if (watch->is_ending) {
        tg_file_watch_end(watch);
    } else if (watch->found != watch->version) {
        tg_files_respond_version(job, watch->found, watch->changed);
        tg_file_watch_end(watch);
    } else {
        tg_file_watch_schedule(watch, watch->nevents != watch->files->nevents
                                          ? TG_FILE_WATCH_DELAY_MS
                                      : watch->watched == NULL || watch->is_link
                                          ? TG_FILE_WATCH_POLL_MS
                                          : TG_FILE_WATCH_RECHECK_MS);
        tg_files_sweep_watches(watch->files);
    }

    tg_job_unref_handle(job);
}

/* Has a thread compare the file. Returns -1 after it has failed the call. */
static int
tg_file_watch_begin_check(tg_file_watch_t *watch)
{
    tg_files_t *files;

    files = watch->files;
    tg_files_open_inotify(files);
    watch->inotify = files->inotify != NULL ? files->inotify->fd : -1;
    watch->nevents = files->nevents;
    watch->work.run = tg_file_watch_on_work;
    watch->work.done = tg_file_watch_on_done;

    if (tg_files_add_work(files, watch->job, &watch->work) != 0) {
        return -1;
    }

    watch->is_checking = 1;
    files->nchecks++;

    return 0;
}

static void
tg_file_watch_check(tg_file_watch_t *watch)
{
    if (watch->files->nchecks >= TG_FILE_WATCH_CHECKS_MAX) {
        tg_file_watch_schedule(watch, TG_FILE_WATCH_DELAY_MS);
    } else if (tg_file_watch_begin_check(watch) != 0) {
        tg_job_set_ending(watch->job);
        tg_file_watch_end(watch);
    }
}

/* --- functions of the job type --- */

static void
tg_file_watch_free(tg_job_t *job)
{
    tg_file_watch_t *watch;

    watch = job->work;
    tg_file_filter_free(&watch->filter);
    free(watch->folder);
    free(watch->memory);
    free(watch);
}

/* Makes the path of the file's folder, with room for the name. */
static int
tg_file_watch_make_folder(tg_file_watch_t *watch)
{
    const char *root;
    char *slash;

    root = watch->filter.root != NULL ? watch->filter.root : "";
    watch->folder = malloc(strlen(root) + strlen(watch->path) + 2);

    if (watch->folder == NULL) {
        return TG_NOMEM;
    }

    (void) sprintf(watch->folder, "%s/%s", root, watch->path);
    slash = strrchr(watch->folder, '/');
    *slash = '\0';
    slash = strrchr(watch->path, '/');
    watch->name = slash != NULL ? slash + 1 : watch->path;

    return TG_OK;
}

static int
tg_file_watch_read_spec(tg_file_watch_t *watch,
                        const tg_file_watch_spec_t *spec, const char **why)
{
    char *at;
    int rc;

    *why = "version must have 16 hexadecimal digits";

    if (tg_files_read_version(spec->version, &watch->version) != TG_OK) {
        return TG_INVALID;
    }

    rc = tg_file_filter_read(&watch->filter, &spec->file.folder, why);

    if (rc != TG_OK) {
        return rc;
    }

    watch->memory = malloc(spec->file.path.len + 1);

    if (watch->memory == NULL) {
        return TG_NOMEM;
    }

    at = watch->memory;
    rc = tg_files_read_path(&at, &spec->file, &watch->path, why);

    if (rc != TG_OK) {
        return rc;
    }

    *why = "has a path that is not on offer";

    if (watch->filter.root != NULL
        && (!tg_file_is_safe_path(tg_str_from_cstr(watch->path))
            || !tg_file_filter_has_file(&watch->filter,
                                        tg_str_from_cstr(watch->path))))
    {
        return TG_LIMIT;
    }

    return tg_file_watch_make_folder(watch);
}

static int
tg_file_watch_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_file_watch_spec_t spec;
    tg_file_watch_t *watch;
    int rc;

    memset(&spec, 0, sizeof(spec));

    if (tg_json_store_fields(tg_file_watch_fields, values, &spec, why) != TG_OK)
    {
        return TG_INVALID;
    }

    watch = calloc(1, sizeof(*watch));

    if (watch == NULL) {
        return TG_NOMEM;
    }

    watch->job = job;
    job->work = watch;
    rc = tg_file_watch_read_spec(watch, &spec, why);

    if (rc != TG_OK) {
        tg_file_watch_free(job);
        job->work = NULL;
    }

    return rc;
}

static int
tg_file_watch_start(tg_job_t *job)
{
    tg_file_watch_t *watch;
    tg_files_t *files;

    watch = job->work;
    files = job->host;
    watch->files = files;

    if (files->nwatches >= TG_FILE_WATCHES_MAX) {
        tg_job_fail(job, TG_FAILURE_BUSY, "%d files are being watched already.",
                    TG_FILE_WATCHES_MAX);
        return -1;
    }

    /* A caller that knows a version has just received it. */
    if (watch->version == 0 && files->nchecks < TG_FILE_WATCH_CHECKS_MAX
        && tg_file_watch_begin_check(watch) != 0)
    {
        tg_files_sweep_watches(files);
        return -1;
    }

    /* The job lasts as long as the subscription, and holds up no read. */
    uv_timer_stop(&job->timer);
    tg_job_release_limits(job);
    uv_timer_init(files->loop, &watch->timer);
    watch->timer.data = watch;
    tg_job_ref_handle(job);
    LIST_INSERT_HEAD(&files->watches, watch, link);
    files->nwatches++;
    tg_file_watch_schedule(watch, TG_FILE_WATCH_DELAY_MS);

    return 0;
}

static void
tg_file_watch_stop(tg_job_t *job)
{
    tg_file_watch_t *watch;

    watch = job->work;
    watch->is_ending = 1;

    if (!watch->is_checking) {
        tg_file_watch_end(watch);
    }
}

const tg_job_type_t tg_file_watch_job_type = {
    .name = "file_watch",
    .fields = tg_file_watch_fields,
    .timeout_ms = TG_JOB_TIMEOUT_MAX,
    .needs_no_slot = 1,
    .read = tg_file_watch_read,
    .start = tg_file_watch_start,
    .stop = tg_file_watch_stop,
    .free = tg_file_watch_free,
};
