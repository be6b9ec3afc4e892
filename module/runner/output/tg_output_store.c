/* Stored outputs: their directory, expiry and quota, and writing one output. */
#include "runner/output/tg_output_store.h"

#include "runner/logging/tg_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define TG_OUTPUT_STORE_DIR "spill"

static void tg_output_store_on_timer(uv_timer_t *timer);

/* --- directory --- */

static int
tg_output_store_open_dir(tg_output_store_t *output_store)
{
    char path[4096];
    int n;

    if (output_store->dir != -1 || output_store->state_dir == NULL) {
        return output_store->dir;
    }

    n = snprintf(path, sizeof(path), "%s/" TG_OUTPUT_STORE_DIR,
                 output_store->state_dir);

    if (n > 0 && (size_t) n < sizeof(path)) {
        (void) mkdir(path, 0700);
        output_store->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC
                                           | O_NOFOLLOW);
    }

    return output_store->dir;
}

static uint64_t
tg_output_store_now(void)
{
    return (uint64_t) time(NULL);
}

/* A published file. Unfinished files are not listed. */
typedef struct {
    /* Names of the store have this size at most. */
    char name[TG_STORED_OUTPUT_NAME_SIZE];

    uint64_t expires; /* expiry in ns since the epoch */
    uint64_t size;
} tg_output_store_file_t;

typedef struct {
    tg_output_store_file_t *files; /* sorted by expiry, the earliest first */
    size_t n;
    uint64_t size;
} tg_output_store_list_t;

static uint64_t
tg_output_store_get_mtime_ns(const struct stat *file)
{
    return (uint64_t) file->st_mtim.tv_sec * 1000000000
           + (uint64_t) file->st_mtim.tv_nsec;
}

static int
tg_output_store_compare_files(const void *a, const void *b)
{
    uint64_t x, y;

    x = ((const tg_output_store_file_t *) a)->expires;
    y = ((const tg_output_store_file_t *) b)->expires;

    return (x > y) - (x < y);
}

static int
tg_output_store_list_add(tg_output_store_list_t *list, const char *name,
                         const struct stat *file)
{
    tg_output_store_file_t *files;

    /* The allocated size doubles whenever n is a power of two. */
    if ((list->n & (list->n - 1)) == 0) {
        files = realloc(list->files,
                        (list->n != 0 ? 2 * list->n : 1) * sizeof(*files));

        if (files == NULL) {
            return -1;
        }

        list->files = files;
    }

    files = list->files + list->n++;
    memcpy(files->name, name, strlen(name) + 1);
    files->expires = tg_output_store_get_mtime_ns(file);
    files->size = (uint64_t) file->st_size;
    list->size += files->size;

    return 0;
}

/* Removes expired files, and unfinished ones if is_first. Returns 0 or -1. */
static int
tg_output_store_list_check_entry(tg_output_store_t *output_store,
                                 tg_output_store_list_t *list, const char *name,
                                 int is_first)
{
    struct stat file;

    if ((name[0] == '.' && !is_first)
        || fstatat(output_store->dir, name, &file, AT_SYMLINK_NOFOLLOW) == -1
        || !S_ISREG(file.st_mode) || strlen(name) >= TG_STORED_OUTPUT_NAME_SIZE)
    {
        return 0;
    }

    if (name[0] == '.' || (uint64_t) file.st_mtime <= tg_output_store_now()) {
        (void) unlinkat(output_store->dir, name, 0);
        return 0;
    }

    return tg_output_store_list_add(list, name, &file);
}

/*
 * Lists the published files; the caller frees list->files. Removes expired
 * files, and unfinished ones if is_first, when no file is being written.
 * Returns 0 or -1.
 */
static int
tg_output_store_list_files(tg_output_store_t *output_store,
                           tg_output_store_list_t *list, int is_first)
{
    struct dirent *entry;
    DIR *dir;
    int fd, rc;

    memset(list, 0, sizeof(*list));
    fd = output_store->dir != -1 ? openat(output_store->dir, ".",
                                          O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                 : -1;
    dir = fd != -1 ? fdopendir(fd) : NULL;

    if (dir == NULL) {
        if (fd != -1) {
            (void) close(fd);
        }

        return -1;
    }

    for (rc = 0; rc == 0 && (entry = readdir(dir)) != NULL;) {
        rc = tg_output_store_list_check_entry(output_store, list, entry->d_name,
                                              is_first);
    }

    (void) closedir(dir);

    if (list->n != 0) {
        qsort(list->files, list->n, sizeof(*list->files),
              tg_output_store_compare_files);
    }

    return rc;
}

static void
tg_output_store_set_timer(tg_output_store_t *output_store,
                          const tg_output_store_list_t *list)
{
    uint64_t now, first;

    if (list->n == 0) {
        uv_timer_stop(&output_store->timer);
        return;
    }

    now = tg_output_store_now();
    first = list->files[0].expires / 1000000000;
    uv_timer_start(&output_store->timer, tg_output_store_on_timer,
                   first > now ? (first - now) * 1000 : 1, 0);
    uv_unref((uv_handle_t *) &output_store->timer);
}

static void
tg_output_store_remove_expired(tg_output_store_t *output_store, int is_first)
{
    tg_output_store_list_t list;

    (void) tg_output_store_list_files(output_store, &list, is_first);
    tg_output_store_set_timer(output_store, &list);
    free(list.files);
}

static void
tg_output_store_on_timer(uv_timer_t *timer)
{
    tg_output_store_remove_expired(timer->data, 0);
}

void
tg_output_store_init(tg_output_store_t *output_store, uv_loop_t *loop,
                     const char *state_dir)
{
    struct stat file;
    char path[4096];

    memset(output_store, 0, sizeof(*output_store));
    output_store->state_dir = state_dir;
    output_store->dir = -1;
    uv_timer_init(loop, &output_store->timer);
    output_store->timer.data = output_store;

    if (state_dir != NULL
        && (size_t) snprintf(path, sizeof(path), "%s/" TG_OUTPUT_STORE_DIR,
                             state_dir)
               < sizeof(path)
        && stat(path, &file) == 0)
    {
        (void) tg_output_store_open_dir(output_store);
        tg_output_store_remove_expired(output_store, 1);
    }
}

void
tg_output_store_close(tg_output_store_t *output_store)
{
    uv_close((uv_handle_t *) &output_store->timer, NULL);

    if (output_store->threads != NULL) {
        tg_thread_pool_close(output_store->threads);
        output_store->threads = NULL;
    }

    if (output_store->dir != -1) {
        (void) close(output_store->dir);
        output_store->dir = -1;
    }
}

int
tg_stored_output_is_name(const char *text, size_t len, size_t most)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (!((text[i] >= '0' && text[i] <= '9')
              || (text[i] >= 'a' && text[i] <= 'z'))) {
            return 0;
        }
    }

    return len != 0 && len <= most;
}

int
tg_output_store_open_output(tg_output_store_t *output_store, const char *owner,
                            const char *key)
{
    char name[TG_STORED_OUTPUT_NAME_SIZE];

    if (!tg_stored_output_is_name(owner, strlen(owner),
                                  TG_STORED_OUTPUT_OWNER_MAX)
        || !tg_stored_output_is_name(key, strlen(key), TG_STORED_OUTPUT_KEY_LEN)
        || tg_output_store_open_dir(output_store) == -1)
    {
        return -1;
    }

    (void) snprintf(name, sizeof(name), "%s-%s", owner, key);

    return openat(output_store->dir, name,
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* --- writing an output --- */

/* Removes the oldest files until `need` bytes fit. Returns -1 on failure. */
static int
tg_output_store_make_room(tg_output_store_t *output_store, uint64_t need,
                          uint64_t quota)
{
    tg_output_store_list_t list;
    size_t i;
    int rc;

    rc = tg_output_store_list_files(output_store, &list, 0);

    for (i = 0; rc == 0 && i < list.n
                && (list.size + need > quota
                    || list.n - i >= TG_OUTPUT_STORE_FILES_MAX);
         i++)
    {
        rc = unlinkat(output_store->dir, list.files[i].name, 0);
        list.size -= list.files[i].size;
    }

    free(list.files);

    return rc;
}

/*
 * Reserves space for the next step. One output may take half the quota, and the
 * disk must not become full. Returns 0, or -1: no space.
 */
static int
tg_stored_output_reserve(tg_stored_output_t *stored_output)
{
    uint64_t most, step, need;
    tg_output_store_t *output_store;
    struct statvfs disk;

    output_store = stored_output->output_store;
    most = stored_output->quota / 2;
    step = most - stored_output->reserved < TG_OUTPUT_STORE_RESERVE_STEP
               ? most - stored_output->reserved
               : TG_OUTPUT_STORE_RESERVE_STEP;
    need = output_store->writing + step;

    if (step == 0 || need > stored_output->quota
        || fstatvfs(stored_output->fd, &disk) == -1
        || (uint64_t) disk.f_bavail * disk.f_frsize
               < TG_OUTPUT_STORE_DISK_FREE_MIN + TG_OUTPUT_STORE_RESERVE_STEP
        || tg_output_store_make_room(output_store, need, stored_output->quota)
               == -1)
    {
        return -1;
    }

    output_store->writing += step;
    stored_output->reserved += step;

    return 0;
}

static int
tg_stored_output_make_name(char *name, const char *owner)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[TG_STORED_OUTPUT_KEY_LEN / 2];
    size_t i;
    int n;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return -1;
    }

    n = snprintf(name, TG_STORED_OUTPUT_NAME_SIZE, ".%s-", owner);

    for (i = 0; i < sizeof(bytes); i++) {
        name[(size_t) n + 2 * i] = digits[bytes[i] >> 4];
        name[(size_t) n + 2 * i + 1] = digits[bytes[i] & 15];
    }

    name[(size_t) n + TG_STORED_OUTPUT_KEY_LEN] = '\0';

    return 0;
}

int
tg_stored_output_create(tg_stored_output_t *stored_output,
                        tg_output_store_t *output_store, const char *owner,
                        uint64_t quota)
{
    memset(stored_output, 0, sizeof(*stored_output));
    stored_output->output_store = output_store;
    stored_output->quota = quota;
    stored_output->fd = -1;

    if (!tg_stored_output_is_name(owner, strlen(owner),
                                  TG_STORED_OUTPUT_OWNER_MAX)
        || tg_output_store_open_dir(output_store) == -1
        || tg_stored_output_make_name(stored_output->name, owner) == -1)
    {
        return -1;
    }

    stored_output->fd = openat(output_store->dir, stored_output->name,
                               O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
                                   | O_NOFOLLOW,
                               0600);

    if (stored_output->fd == -1) {
        tg_log(TG_LOG_WARN,
               "%s/" TG_OUTPUT_STORE_DIR ": a large output cannot be stored: "
               "%s",
               output_store->state_dir, strerror(errno));
        return -1;
    }

    return 0;
}

int
tg_stored_output_write(tg_stored_output_t *stored_output, const char *data,
                       size_t len)
{
    const char *p, *end;
    ssize_t n;

    /* An empty buffer may have no data, so that end[-1] would be invalid. */
    if (len == 0) {
        return 0;
    }

    end = data + len;

    if (stored_output->size + len > stored_output->quota / 2) {
        return -1;
    }

    while (stored_output->size + len > stored_output->reserved) {
        if (tg_stored_output_reserve(stored_output) == -1) {
            return -1;
        }
    }

    stored_output->lines -= stored_output->is_open;
    stored_output->is_open = end[-1] != '\n';
    stored_output->lines += stored_output->is_open;

    for (p = data; p < end && (p = memchr(p, '\n', (size_t) (end - p))); p++) {
        stored_output->lines++;
    }

    while (data < end) {
        n = write(stored_output->fd, data, (size_t) (end - data));

        if (n == -1 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return -1;
        }

        data += n;
        stored_output->size += (size_t) n;
        stored_output->output_store->nwritten += (uint64_t) n;
    }

    return 0;
}

const char *
tg_stored_output_publish(tg_stored_output_t *stored_output, uint64_t keep_ms)
{
    struct timespec times[2];

    /* Nanoseconds make the order of the files unique. */
    (void) clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec += (time_t) ((keep_ms + 999) / 1000);
    times[0].tv_sec = 0;
    times[0].tv_nsec = UTIME_NOW;

    if (futimens(stored_output->fd, times) == -1
        || renameat(stored_output->output_store->dir, stored_output->name,
                    stored_output->output_store->dir, stored_output->name + 1)
               == -1)
    {
        return NULL;
    }

    stored_output->is_published = 1;
    stored_output->output_store->writing -= stored_output->reserved;
    stored_output->reserved = 0;
    tg_output_store_remove_expired(stored_output->output_store, 0);

    return strchr(stored_output->name, '-') + 1;
}

size_t
tg_stored_output_read(const tg_stored_output_t *stored_output, uint64_t offset,
                      char *data, size_t len)
{
    ssize_t n;
    size_t got;

    for (got = 0; got < len; got += (size_t) n) {
        n = pread(stored_output->fd, data + got, len - got,
                  (off_t) (offset + got));

        if (n <= 0) {
            break;
        }
    }

    return got;
}

void
tg_stored_output_close(tg_stored_output_t *stored_output)
{
    if (stored_output->fd == -1) {
        return;
    }

    if (!stored_output->is_published) {
        (void) unlinkat(stored_output->output_store->dir, stored_output->name,
                        0);
    }

    stored_output->output_store->writing -= stored_output->reserved;
    (void) close(stored_output->fd);
    stored_output->fd = -1;
}
