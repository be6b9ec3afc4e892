#include "runner/spill/tg_spill.h"

#include "runner/tg_log.h"

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

#define TG_SPILL_DIR "spill"

static void tg_spills_on_timer(uv_timer_t *timer);

/* --- the folder --- */

static int
tg_spills_dir(tg_spills_t *spills)
{
    char path[4096];
    int n;

    if (spills->dir != -1 || spills->state_dir == NULL) {
        return spills->dir;
    }

    n = snprintf(path, sizeof(path), "%s/" TG_SPILL_DIR, spills->state_dir);

    if (n > 0 && (size_t) n < sizeof(path)) {
        (void) mkdir(path, 0700);
        spills->dir = open(path,
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }

    return spills->dir;
}

static uint64_t
tg_spills_now(void)
{
    return (uint64_t) time(NULL);
}

/* A file that is there, beside those that are being written. */
typedef struct {
    char name[TG_SPILL_NAME]; /* they are short enough */
    uint64_t expires;         /* ns */
    uint64_t size;
} tg_spills_file_t;

typedef struct {
    tg_spills_file_t *files; /* what expires first is first */
    size_t n;
    uint64_t size;
} tg_spills_list_t;

static uint64_t
tg_spills_ns(const struct stat *file)
{
    return (uint64_t) file->st_mtim.tv_sec * 1000000000
           + (uint64_t) file->st_mtim.tv_nsec;
}

static int
tg_spills_compare(const void *a, const void *b)
{
    uint64_t x, y;

    x = ((const tg_spills_file_t *) a)->expires;
    y = ((const tg_spills_file_t *) b)->expires;

    return (x > y) - (x < y);
}

static int
tg_spills_add(tg_spills_list_t *list, const char *name, const struct stat *file)
{
    tg_spills_file_t *files;

    /* Space for twice as many, whenever they are a power of two. */
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
    files->expires = tg_spills_ns(file);
    files->size = (uint64_t) file->st_size;
    list->size += files->size;

    return 0;
}

/* An entry of the folder: 0, or -1: no memory. */
static int
tg_spills_see(tg_spills_t *spills, tg_spills_list_t *list, const char *name,
              int is_first)
{
    struct stat file;

    if ((name[0] == '.' && !is_first)
        || fstatat(spills->dir, name, &file, AT_SYMLINK_NOFOLLOW) == -1
        || !S_ISREG(file.st_mode) || strlen(name) >= TG_SPILL_NAME)
    {
        return 0;
    }

    if (name[0] == '.' || (uint64_t) file.st_mtime <= tg_spills_now()) {
        (void) unlinkat(spills->dir, name, 0);
        return 0;
    }

    return tg_spills_add(list, name, &file);
}

/*
 * What there is; the caller frees the files.  Removes what has expired;
 * is_first: nothing is being written.  0, or -1: it cannot be known.
 */
static int
tg_spills_list(tg_spills_t *spills, tg_spills_list_t *list, int is_first)
{
    struct dirent *entry;
    DIR *dir;
    int fd, rc;

    memset(list, 0, sizeof(*list));
    fd = spills->dir != -1
             ? openat(spills->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
             : -1;
    dir = fd != -1 ? fdopendir(fd) : NULL;

    if (dir == NULL) {
        if (fd != -1) {
            (void) close(fd);
        }

        return -1;
    }

    for (rc = 0; rc == 0 && (entry = readdir(dir)) != NULL;) {
        rc = tg_spills_see(spills, list, entry->d_name, is_first);
    }

    (void) closedir(dir);

    if (list->n != 0) {
        qsort(list->files, list->n, sizeof(*list->files), tg_spills_compare);
    }

    return rc;
}

static void
tg_spills_set_timer(tg_spills_t *spills, const tg_spills_list_t *list)
{
    uint64_t now, first;

    if (list->n == 0) {
        uv_timer_stop(&spills->timer);
        return;
    }

    now = tg_spills_now();
    first = list->files[0].expires / 1000000000;
    uv_timer_start(&spills->timer, tg_spills_on_timer,
                   first > now ? (first - now) * 1000 : 1, 0);
    uv_unref((uv_handle_t *) &spills->timer);
}

static void
tg_spills_sweep(tg_spills_t *spills, int is_first)
{
    tg_spills_list_t list;

    (void) tg_spills_list(spills, &list, is_first);
    tg_spills_set_timer(spills, &list);
    free(list.files);
}

static void
tg_spills_on_timer(uv_timer_t *timer)
{
    tg_spills_sweep(timer->data, 0);
}

void
tg_spills_init(tg_spills_t *spills, uv_loop_t *loop, const char *state_dir)
{
    struct stat file;
    char path[4096];

    memset(spills, 0, sizeof(*spills));
    spills->state_dir = state_dir;
    spills->dir = -1;
    uv_timer_init(loop, &spills->timer);
    spills->timer.data = spills;

    if (state_dir != NULL
        && (size_t) snprintf(path, sizeof(path), "%s/" TG_SPILL_DIR, state_dir)
               < sizeof(path)
        && stat(path, &file) == 0)
    {
        (void) tg_spills_dir(spills);
        tg_spills_sweep(spills, 1);
    }
}

void
tg_spills_close(tg_spills_t *spills)
{
    uv_close((uv_handle_t *) &spills->timer, NULL);

    if (spills->threads != NULL) {
        tg_threads_close(spills->threads);
        spills->threads = NULL;
    }

    if (spills->dir != -1) {
        (void) close(spills->dir);
        spills->dir = -1;
    }
}

int
tg_spill_is_name(const char *text, size_t len, size_t most)
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
tg_spills_open(tg_spills_t *spills, const char *owner, const char *key)
{
    char name[TG_SPILL_NAME];

    if (!tg_spill_is_name(owner, strlen(owner), TG_SPILL_OWNER_MAX)
        || !tg_spill_is_name(key, strlen(key), TG_SPILL_KEY)
        || tg_spills_dir(spills) == -1)
    {
        return -1;
    }

    (void) snprintf(name, sizeof(name), "%s-%s", owner, key);

    return openat(spills->dir, name,
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* --- one that is written --- */

/* Removes the oldest until there is room for so many bytes in one more file. */
static int
tg_spills_make_room(tg_spills_t *spills, uint64_t need, uint64_t quota)
{
    tg_spills_list_t list;
    size_t i;
    int rc;

    rc = tg_spills_list(spills, &list, 0);

    for (i = 0;
         rc == 0 && i < list.n
         && (list.size + need > quota || list.n - i >= TG_SPILL_FILES_MAX);
         i++)
    {
        rc = unlinkat(spills->dir, list.files[i].name, 0);
        list.size -= list.files[i].size;
    }

    free(list.files);

    return rc;
}

/*
 * Room for another step: what is oldest goes, but one alone has half the quota
 * at most, and no disk becomes full.
 */
static int
tg_spill_reserve(tg_spill_t *spill)
{
    uint64_t most, step, need;
    tg_spills_t *spills;
    struct statvfs disk;

    spills = spill->spills;
    most = spill->quota / 2;
    step = most - spill->reserved < TG_SPILL_STEP ? most - spill->reserved
                                                  : TG_SPILL_STEP;
    need = spills->writing + step;

    if (step == 0 || need > spill->quota || fstatvfs(spill->fd, &disk) == -1
        || (uint64_t) disk.f_bavail * disk.f_frsize
               < TG_SPILL_FREE_MIN + TG_SPILL_STEP
        || tg_spills_make_room(spills, need, spill->quota) == -1)
    {
        return -1;
    }

    spills->writing += step;
    spill->reserved += step;

    return 0;
}

static int
tg_spill_make_name(char *name, const char *owner)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[TG_SPILL_KEY / 2];
    size_t i;
    int n;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return -1;
    }

    n = snprintf(name, TG_SPILL_NAME, ".%s-", owner);

    for (i = 0; i < sizeof(bytes); i++) {
        name[(size_t) n + 2 * i] = digits[bytes[i] >> 4];
        name[(size_t) n + 2 * i + 1] = digits[bytes[i] & 15];
    }

    name[(size_t) n + TG_SPILL_KEY] = '\0';

    return 0;
}

int
tg_spill_begin(tg_spill_t *spill, tg_spills_t *spills, const char *owner,
               uint64_t quota)
{
    memset(spill, 0, sizeof(*spill));
    spill->spills = spills;
    spill->quota = quota;
    spill->fd = -1;

    if (!tg_spill_is_name(owner, strlen(owner), TG_SPILL_OWNER_MAX)
        || tg_spills_dir(spills) == -1
        || tg_spill_make_name(spill->name, owner) == -1)
    {
        return -1;
    }

    spill->fd = openat(spills->dir, spill->name,
                       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                       0600);

    if (spill->fd == -1) {
        tg_log(TG_LOG_WARN,
               "%s/" TG_SPILL_DIR ": a large output cannot be "
               "kept: %s",
               spills->state_dir, strerror(errno));
        return -1;
    }

    return 0;
}

int
tg_spill_write(tg_spill_t *spill, const char *data, size_t len)
{
    const char *p, *end;
    ssize_t n;

    /* Of a buffer that has nothing there is no end. */
    if (len == 0) {
        return 0;
    }

    end = data + len;

    if (spill->size + len > spill->quota / 2) {
        return -1;
    }

    while (spill->size + len > spill->reserved) {
        if (tg_spill_reserve(spill) == -1) {
            return -1;
        }
    }

    spill->lines -= spill->is_open;
    spill->is_open = end[-1] != '\n';
    spill->lines += spill->is_open;

    for (p = data; p < end && (p = memchr(p, '\n', (size_t) (end - p))); p++) {
        spill->lines++;
    }

    while (data < end) {
        n = write(spill->fd, data, (size_t) (end - data));

        if (n == -1 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return -1;
        }

        data += n;
        spill->size += (size_t) n;
    }

    return 0;
}

const char *
tg_spill_keep(tg_spill_t *spill, uint64_t keep_ms)
{
    struct timespec times[2];

    /* To the ns, so that it is known which is older. */
    (void) clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec += (time_t) ((keep_ms + 999) / 1000);
    times[0].tv_sec = 0;
    times[0].tv_nsec = UTIME_NOW;

    if (futimens(spill->fd, times) == -1
        || renameat(spill->spills->dir, spill->name, spill->spills->dir,
                    spill->name + 1)
               == -1)
    {
        return NULL;
    }

    spill->is_kept = 1;
    spill->spills->writing -= spill->reserved;
    spill->reserved = 0;
    tg_spills_sweep(spill->spills, 0);

    return strchr(spill->name, '-') + 1;
}

size_t
tg_spill_read(const tg_spill_t *spill, uint64_t offset, char *data, size_t len)
{
    ssize_t n;
    size_t got;

    for (got = 0; got < len; got += (size_t) n) {
        n = pread(spill->fd, data + got, len - got, (off_t) (offset + got));

        if (n <= 0) {
            break;
        }
    }

    return got;
}

void
tg_spill_end(tg_spill_t *spill)
{
    if (spill->fd == -1) {
        return;
    }

    if (!spill->is_kept) {
        (void) unlinkat(spill->spills->dir, spill->name, 0);
    }

    spill->spills->writing -= spill->reserved;
    (void) close(spill->fd);
    spill->fd = -1;
}
