/* Reads a file whole, or not at all. */
#include "runner/files/tg_file_read.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define TG_FILE_TICK_NS 20000000

void
tg_file_read_begin(tg_file_read_t *reader, int fd, size_t max)
{
    memset(reader, 0, sizeof(*reader));
    reader->fd = fd;
    reader->max = max;
    tg_buf_init(&reader->data, tg_alloc_libc());
}

void
tg_file_read_end(tg_file_read_t *reader)
{
    if (reader->fd != -1) {
        (void) close(reader->fd);
        reader->fd = -1;
    }

    tg_buf_deinit(&reader->data);
}

static int
tg_file_read_fail(tg_file_read_t *reader, int err)
{
    reader->err = err;

    return TG_INVALID;
}

static int
tg_file_is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static int
tg_file_is_unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size
           && tg_file_is_same_time(&a->st_mtim, &b->st_mtim)
           && tg_file_is_same_time(&a->st_ctim, &b->st_ctim);
}

/*
 * Checks whether a later change could leave the file's times as they are: the
 * kernel's clock for these has not advanced since the last change.
 */
static int
tg_file_is_of_this_tick(const struct stat *info)
{
    struct timespec now;
    int64_t ahead;

    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) == -1) {
        return 0;
    }

    ahead = (int64_t) (info->st_ctim.tv_sec - now.tv_sec);

    if (ahead < -1 || ahead > 1) {
        return 0;
    }

    ahead = ahead * 1000000000 + info->st_ctim.tv_nsec - now.tv_nsec;

    return ahead >= 0 && ahead < TG_FILE_TICK_NS;
}

/* Waits, then lets the next step begin another attempt, or fails with `err`. */
static int
tg_file_read_retry(tg_file_read_t *reader, int err)
{
    static const struct timespec wait = { .tv_nsec = TG_FILE_READ_WAIT_MS
                                                     * 1000000L };

    if (++reader->ntries == TG_FILE_READ_TRIES) {
        return tg_file_read_fail(reader, err);
    }

    reader->has_begun = 0;
    (void) nanosleep(&wait, NULL);

    return TG_AGAIN;
}

/* Begins an attempt. TG_OK: read the content now. */
static int
tg_file_read_begin_attempt(tg_file_read_t *reader)
{
    if (fstat(reader->fd, &reader->before) == -1) {
        return tg_file_read_fail(reader, errno);
    }

    if (reader->before.st_size < 0
        || (uint64_t) reader->before.st_size > reader->max)
    {
        return TG_LIMIT;
    }

    if (tg_file_is_of_this_tick(&reader->before)) {
        return tg_file_read_retry(reader, ESTALE);
    }

    tg_buf_truncate(&reader->data, 0);

    /* One byte more, to notice a file that has grown. */
    if (tg_buf_reserve(&reader->data, (size_t) reader->before.st_size + 1)
        != TG_OK) {
        return TG_NOMEM;
    }

    reader->has_begun = 1;

    return TG_OK;
}

/* Compares the file with its state before the attempt. */
static int
tg_file_read_end_attempt(tg_file_read_t *reader)
{
    struct stat after;

    if (fstat(reader->fd, &after) == -1) {
        return tg_file_read_fail(reader, errno);
    }

    if (!tg_file_is_unchanged(&reader->before, &after)) {
        return tg_file_read_retry(reader, ESTALE);
    }

    return reader->data.len == (size_t) reader->before.st_size
               ? TG_OK
               : tg_file_read_retry(reader, EOVERFLOW);
}

int
tg_file_read_step(tg_file_read_t *reader)
{
    size_t len, max;
    ssize_t n;
    int rc;

    rc = reader->has_begun ? TG_OK : tg_file_read_begin_attempt(reader);

    if (rc != TG_OK) {
        return rc;
    }

    max = reader->data.len == 0 ? TG_FILE_READ_FIRST_STEP : TG_FILE_READ_STEP;
    len = (size_t) reader->before.st_size + 1 - reader->data.len;

    n = pread(reader->fd, reader->data.data + reader->data.len,
              len < max ? len : max, (off_t) reader->data.len);

    if (n == -1) {
        return errno == EINTR ? TG_AGAIN : tg_file_read_fail(reader, errno);
    }

    reader->data.len += (size_t) n;

    return n == 0 || (size_t) n == len ? tg_file_read_end_attempt(reader)
                                       : TG_AGAIN;
}
