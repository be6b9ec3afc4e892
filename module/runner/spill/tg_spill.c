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

/* What is there, beside what is being written; names are short enough. */
typedef struct {
    uint64_t size;
    unsigned n;
    uint64_t first; /* expires next; 0: none */
    char oldest[TG_SPILL_NAME];
} tg_spills_sum_t;

static void
tg_spills_add(tg_spills_sum_t *sum, const char *name, const struct stat *file)
{
    sum->size += (uint64_t) file->st_size;
    sum->n++;

    if (sum->first == 0 || (uint64_t) file->st_mtime < sum->first) {
        sum->first = (uint64_t) file->st_mtime;
        memcpy(sum->oldest, name, strlen(name) + 1);
    }
}

/* Removes what has expired; is_first: nothing is being written. */
static void
tg_spills_sum(tg_spills_t *spills, tg_spills_sum_t *sum, int is_first)
{
    struct dirent *entry;
    struct stat file;
    DIR *list;
    int fd;

    memset(sum, 0, sizeof(*sum));
    fd = spills->dir != -1
             ? openat(spills->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
             : -1;
    list = fd != -1 ? fdopendir(fd) : NULL;

    if (list == NULL) {
        if (fd != -1) {
            (void) close(fd);
        }

        return;
    }

    while ((entry = readdir(list)) != NULL) {
        if ((entry->d_name[0] == '.' && !is_first)
            || fstatat(spills->dir, entry->d_name, &file, AT_SYMLINK_NOFOLLOW)
                   == -1
            || !S_ISREG(file.st_mode) || strlen(entry->d_name) >= TG_SPILL_NAME)
        {
            continue;
        }

        if (entry->d_name[0] == '.'
            || (uint64_t) file.st_mtime <= tg_spills_now()) {
            (void) unlinkat(spills->dir, entry->d_name, 0);
        } else {
            tg_spills_add(sum, entry->d_name, &file);
        }
    }

    (void) closedir(list);
}

static void
tg_spills_set_timer(tg_spills_t *spills, const tg_spills_sum_t *sum)
{
    uint64_t now;

    if (sum->first == 0) {
        uv_timer_stop(&spills->timer);
        return;
    }

    now = tg_spills_now();
    uv_timer_start(&spills->timer, tg_spills_on_timer,
                   sum->first > now ? (sum->first - now) * 1000 : 1, 0);
    uv_unref((uv_handle_t *) &spills->timer);
}

static void
tg_spills_sweep(tg_spills_t *spills, int is_first)
{
    tg_spills_sum_t sum;

    tg_spills_sum(spills, &sum, is_first);
    tg_spills_set_timer(spills, &sum);
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

/* Room for another step: what is oldest goes, but no disk becomes full. */
static int
tg_spill_reserve(tg_spill_t *spill)
{
    tg_spills_sum_t sum;
    tg_spills_t *spills;
    struct statvfs disk;
    uint64_t need;

    spills = spill->spills;
    need = spills->writing + TG_SPILL_STEP;

    if (fstatvfs(spill->fd, &disk) == -1
        || (uint64_t) disk.f_bavail * disk.f_frsize
               < TG_SPILL_FREE_MIN + TG_SPILL_STEP)
    {
        return -1;
    }

    for (tg_spills_sum(spills, &sum, 0);
         sum.n != 0
         && (sum.size + need > spill->quota || sum.n >= TG_SPILL_FILES_MAX);
         tg_spills_sum(spills, &sum, 0))
    {
        if (unlinkat(spills->dir, sum.oldest, 0) == -1) {
            return -1;
        }
    }

    if (need > spill->quota) {
        return -1;
    }

    spills->writing += TG_SPILL_STEP;
    spill->reserved += TG_SPILL_STEP;

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

    end = data + len;

    while (spill->size + len > spill->reserved) {
        if (tg_spill_reserve(spill) == -1) {
            return -1;
        }
    }

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

    memset(times, 0, sizeof(times));
    times[0].tv_nsec = UTIME_NOW;
    times[1].tv_sec = (time_t) (tg_spills_now() + (keep_ms + 999) / 1000);

    if (futimens(spill->fd, times) == -1
        || renameat(spill->spills->dir, spill->name, spill->spills->dir,
                    spill->name + 1)
               == -1)
    {
        return NULL;
    }

    spill->is_kept = 1;
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
