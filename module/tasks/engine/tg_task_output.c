/*
 * Output of tasks in files, see tg_task_output.h.
 */
#include "tasks/engine/tg_task_output.h"

#include "tasks/store/tg_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_TASK_OUTPUT_SUFFIX ".output"

/* --- in the thread of batches --- */

/* Formats the path of a task's folder, or of a piece if it is not negative. */
static void
tg_task_output_format_path(const tg_task_outputs_t *outputs, int64_t id,
                           int64_t piece, char path[PATH_MAX])
{
    tg_buf_t text;

    text = tg_buf_make_fixed(path, PATH_MAX - 1);
    tg_buf_append_cstr(&text, outputs->dir);
    tg_buf_append_char(&text, '/');
    tg_task_append_id(&text, id);

    if (piece >= 0) {
        tg_buf_append_char(&text, '/');
        tg_buf_append_int(&text, piece);
    }

    path[text.len] = '\0';
}

/*
 * Finds the first and the last piece in a folder. Returns the number of pieces;
 * 0: *first and *last are not set.
 */
static int
tg_task_output_find_pieces(const char *path, int64_t *first, int64_t *last)
{
    struct dirent *entry;
    int64_t piece;
    DIR *dir;
    int n;

    dir = opendir(path);
    n = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (!tg_is_digit(entry->d_name[0])) {
            continue;
        }

        piece = strtoll(entry->d_name, NULL, 10);
        *first = n == 0 || piece < *first ? piece : *first;
        *last = n == 0 || piece > *last ? piece : *last;
        n++;
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }

    return n;
}

/* Returns the size of a task's output in bytes. */
static uint64_t
tg_task_output_measure(const tg_task_outputs_t *outputs, int64_t id)
{
    char path[PATH_MAX];
    struct stat st;
    int64_t first, last;

    tg_task_output_format_path(outputs, id, -1, path);

    if (tg_task_output_find_pieces(path, &first, &last) == 0) {
        return 0;
    }

    tg_task_output_format_path(outputs, id, last, path);

    return (uint64_t) (last - first) * TG_TASK_OUTPUT_PIECE_SIZE
           + (stat(path, &st) == 0 ? (uint64_t) st.st_size : 0);
}

/*
 * Removes a piece and subtracts its size from outputs->used. Returns 0 or -1.
 */
static int
tg_task_output_unlink_piece(tg_task_outputs_t *outputs, const char *path)
{
    struct stat st;

    if (stat(path, &st) == -1 || unlink(path) == -1) {
        return -1;
    }

    outputs->used -= (uint64_t) st.st_size < outputs->used
                         ? (uint64_t) st.st_size
                         : outputs->used;

    return 0;
}

static int
tg_task_output_remove(tg_task_outputs_t *outputs, int64_t id)
{
    char folder[PATH_MAX], path[PATH_MAX];
    int64_t first, last;

    tg_task_output_format_path(outputs, id, -1, folder);

    if (tg_task_output_find_pieces(folder, &first, &last) == 0) {
        (void) rmdir(folder);
        return 0;
    }

    for (; first <= last; first++) {
        tg_task_output_format_path(outputs, id, first, path);
        (void) tg_task_output_unlink_piece(outputs, path);
    }

    return rmdir(folder) == -1 ? errno : 0;
}

static int
tg_task_output_create(tg_task_outputs_t *outputs,
                      const tg_task_output_request_t *request)
{
    char path[PATH_MAX];

    /* It may be left from an earlier run, or from a store that was removed. */
    (void) tg_task_output_remove(outputs, request->id);
    tg_task_output_format_path(outputs, request->id, -1, path);

    if ((mkdir(outputs->dir, 0700) == -1 && errno != EEXIST)
        || (mkdir(path, 0700) == -1 && errno != EEXIST))
    {
        return errno;
    }

    return 0;
}

/*
 * Writes data up to the end of the piece at this offset. Returns the number of
 * bytes written, or -1 and errno.
 */
static ssize_t
tg_task_output_write_piece(const tg_task_outputs_t *outputs,
                           const tg_task_output_request_t *request,
                           uint64_t offset, const char *data, size_t len)
{
    char path[PATH_MAX];
    size_t room;
    ssize_t n;
    int fd;

    room = TG_TASK_OUTPUT_PIECE_SIZE - offset % TG_TASK_OUTPUT_PIECE_SIZE;
    tg_task_output_format_path(outputs, request->id,
                               (int64_t) (offset / TG_TASK_OUTPUT_PIECE_SIZE),
                               path);
    /* If the path is a FIFO or a link, the thread must not wait or follow. */
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
              0600);

    if (fd == -1) {
        return -1;
    }

    n = pwrite(fd, data, len < room ? len : room,
               (off_t) (offset % TG_TASK_OUTPUT_PIECE_SIZE));
    (void) close(fd);

    return n;
}

/* Removes the pieces that lie completely before the last `max` bytes. */
static void
tg_task_output_drop_pieces(tg_task_outputs_t *outputs,
                           const tg_task_output_request_t *request,
                           uint64_t max, uint64_t end)
{
    char path[PATH_MAX];
    uint64_t piece;

    if (end <= max + TG_TASK_OUTPUT_PIECE_SIZE) {
        return;
    }

    piece = (end - max) / TG_TASK_OUTPUT_PIECE_SIZE;

    do {
        tg_task_output_format_path(outputs, request->id, (int64_t) --piece,
                                   path);
    } while (tg_task_output_unlink_piece(outputs, path) == 0 && piece > 0);
}

/* --- quota --- */

/* The outputs of the tasks that ended first, sorted by that time. */
typedef struct {
    struct {
        int64_t id;
        int64_t at; /* Unix time in ns */
    } items[TG_TASK_OUTPUT_OLDEST_MAX];
    unsigned n;
} tg_task_output_oldest_t;

static void
tg_task_output_add_oldest(tg_task_output_oldest_t *old, int64_t id, int64_t at)
{
    unsigned i;

    if (old->n < TG_TASK_OUTPUT_OLDEST_MAX) {
        old->n++;
    } else if (at >= old->items[old->n - 1].at) {
        return;
    }

    for (i = old->n - 1; i > 0 && at < old->items[i - 1].at; i--) {
        old->items[i] = old->items[i - 1];
    }

    old->items[i].id = id;
    old->items[i].at = at;
}

static int
tg_task_output_is_running(const tg_task_output_request_t *request, int64_t id)
{
    unsigned i;

    for (i = 0; i < request->nrunning; i++) {
        if (request->running[i] == id) {
            return 1;
        }
    }

    return 0;
}

/*
 * Finds the outputs of the tasks that ended first, by the times of their
 * folders. The first scan also measures the size of all outputs.
 */
static void
tg_task_outputs_scan(tg_task_outputs_t *outputs,
                     const tg_task_output_request_t *request,
                     tg_task_output_oldest_t *old)
{
    char path[PATH_MAX];
    struct dirent *entry;
    struct stat st;
    int64_t id;
    DIR *dir;

    old->n = 0;
    dir = opendir(outputs->dir);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        id = tg_task_parse_id(tg_str_from_cstr(entry->d_name));

        if (id == -1) {
            continue;
        }

        if (!outputs->is_counted) {
            outputs->used += tg_task_output_measure(outputs, id);
        }

        tg_task_output_format_path(outputs, id, -1, path);

        if (!tg_task_output_is_running(request, id) && stat(path, &st) == 0) {
            tg_task_output_add_oldest(old, id,
                                      (int64_t) st.st_mtim.tv_sec * 1000000000
                                          + st.st_mtim.tv_nsec);
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}

/* Removes old outputs above the quota, down to 7/8 of it, as a scan is slow. */
static void
tg_task_output_enforce_quota(tg_task_outputs_t *outputs,
                             const tg_task_output_request_t *request,
                             uint64_t end)
{
    tg_task_output_oldest_t old;
    uint64_t before;
    unsigned i;

    if (!outputs->is_counted) {
        outputs->used = 0;
        tg_task_outputs_scan(outputs, request, &old);
        outputs->is_counted = 1;
    }

    do {
        before = outputs->used;

        if (before <= request->quota) {
            return;
        }

        tg_task_outputs_scan(outputs, request, &old);

        for (i = 0;
             i < old.n && outputs->used > request->quota - request->quota / 8;
             i++)
        {
            (void) tg_task_output_remove(outputs, old.items[i].id);
        }
    } while (outputs->used < before);

    /* Only outputs of running tasks are left. */
    tg_task_output_drop_pieces(outputs, request, 1, end);
}

/* Sets the modification time of a task's folder, for the quota. */
static int
tg_task_output_mark_ended(const tg_task_outputs_t *outputs,
                          const tg_task_output_request_t *request)
{
    char path[PATH_MAX];

    tg_task_output_format_path(outputs, request->id, -1, path);
    (void) utimensat(AT_FDCWD, path, NULL, 0);

    return 0;
}

static int
tg_task_output_append(tg_task_outputs_t *outputs,
                      const tg_task_output_request_t *request)
{
    uint64_t offset, end;
    const char *p;
    ssize_t n;

    offset = request->offset;
    end = offset + request->bytes.len;
    n = offset == 0 ? -tg_task_output_create(outputs, request) : 0;

    for (p = request->bytes.data; n >= 0 && offset < end;
         offset += (uint64_t) n) {
        n = tg_task_output_write_piece(outputs, request, offset, p,
                                       (size_t) (end - offset));

        if (n <= 0) {
            return n == 0 ? EIO : errno;
        }

        p += n;
        outputs->used += (uint64_t) n;
    }

    tg_task_output_drop_pieces(outputs, request, request->max, end);
    tg_task_output_enforce_quota(outputs, request, end);

    return n < 0 ? (int) -n : 0;
}

static int
tg_task_output_read_piece(const tg_task_outputs_t *outputs,
                          tg_task_output_request_t *request, uint64_t offset,
                          size_t max)
{
    char path[PATH_MAX];
    ssize_t n;
    int fd, err;

    if (tg_buf_reserve(&request->bytes, max) != TG_OK) {
        return ENOMEM;
    }

    tg_task_output_format_path(outputs, request->id,
                               (int64_t) (offset / TG_TASK_OUTPUT_PIECE_SIZE),
                               path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd == -1) {
        return errno;
    }

    n = pread(fd, request->bytes.data + request->bytes.len, max,
              (off_t) (offset % TG_TASK_OUTPUT_PIECE_SIZE));
    err = n == -1 ? errno : 0;
    (void) close(fd);
    request->bytes.len += n > 0 ? (size_t) n : 0;

    return err;
}

static int
tg_task_output_read(const tg_task_outputs_t *outputs,
                    tg_task_output_request_t *request)
{
    char path[PATH_MAX];
    struct stat st;
    int64_t first, last;
    size_t room, max;
    uint64_t at;
    int err;

    tg_task_output_format_path(outputs, request->id, -1, path);
    errno = 0;

    if (tg_task_output_find_pieces(path, &first, &last) == 0) {
        request->size = 0;
        request->offset = 0;
        return errno == ENOENT ? 0 : errno;
    }

    tg_task_output_format_path(outputs, request->id, last, path);
    request->size = (uint64_t) last * TG_TASK_OUTPUT_PIECE_SIZE
                    + (stat(path, &st) == 0 ? (uint64_t) st.st_size : 0);
    at = (uint64_t) first * TG_TASK_OUTPUT_PIECE_SIZE;
    at = request->offset > at ? request->offset : at;
    at = at > request->size ? request->size : at;
    request->offset = at;

    /* A read that crosses the end of a piece needs two pieces. */
    for (err = 0, max = TG_STORE_OUTPUT_READ_MAX;
         err == 0 && max > 0 && at < request->size;)
    {
        room = TG_TASK_OUTPUT_PIECE_SIZE - at % TG_TASK_OUTPUT_PIECE_SIZE;
        room = room < max ? room : max;
        room = room < request->size - at ? room : (size_t) (request->size - at);
        err = tg_task_output_read_piece(outputs, request, at, room);
        at += room;
        max -= room;
    }

    return err;
}

static void
tg_task_outputs_on_batch(void *host, const tg_work_list_t *batch)
{
    tg_task_outputs_t *outputs;
    tg_task_output_request_t *request;
    tg_work_item_t *work;

    outputs = host;

    TAILQ_FOREACH(work, batch, next)
    {
        request = (tg_task_output_request_t *) work;

        switch (request->op) {
        case TG_TASK_OUTPUT_APPEND:
            request->err = tg_task_output_append(outputs, request);
            break;
        case TG_TASK_OUTPUT_MARK_ENDED:
            request->err = tg_task_output_mark_ended(outputs, request);
            break;
        case TG_TASK_OUTPUT_READ:
            request->err = tg_task_output_read(outputs, request);
            break;
        case TG_TASK_OUTPUT_REMOVE:
            request->err = tg_task_output_remove(outputs, request->id);
        }
    }
}

/* --- in the loop --- */

static void
tg_task_outputs_on_done(tg_work_item_t *work)
{
    tg_task_output_request_t *request;

    request = (tg_task_output_request_t *) work;
    request->done(request);
}

static void
tg_task_outputs_on_store_result(tg_store_query_t *query)
{
    tg_task_output_request_t *request;

    request = query->data;
    request->err = query->rc == TG_INVALID ? EIO : 0;

    if (request->op == TG_TASK_OUTPUT_READ) {
        request->offset = (uint64_t) query->offset;
        request->size = (uint64_t) query->size;
        tg_buf_append_str(&request->bytes, tg_buf_view(&query->json));
    }

    tg_store_query_deinit(query);
    request->done(request);
}

static void
tg_task_outputs_query_store(tg_task_outputs_t *outputs,
                            tg_task_output_request_t *request)
{
    tg_store_query_t *query;

    query = &request->query;
    tg_store_query_init(query,
                        request->op == TG_TASK_OUTPUT_APPEND
                            ? TG_STORE_WRITE_OUTPUT
                            : TG_STORE_READ_OUTPUT,
                        tg_task_outputs_on_store_result, request);
    query->id = request->id;
    query->offset = (int64_t) request->offset;
    query->limit = (int64_t) request->max;
    query->bytes = tg_buf_view(&request->bytes);
    outputs->store->backend->query(outputs->store, query);
}

void
tg_task_outputs_submit(tg_task_outputs_t *outputs,
                       tg_task_output_request_t *request)
{
    if (outputs->store != NULL) {
        tg_task_outputs_query_store(outputs, request);
        return;
    }

    request->work.done = tg_task_outputs_on_done;
    tg_batch_thread_add(&outputs->thread, &request->work);
}

int
tg_task_outputs_init(tg_task_outputs_t *outputs, uv_loop_t *loop, tg_str_t path)
{
    tg_batch_thread_init(&outputs->thread, loop, tg_task_outputs_on_batch, NULL,
                         outputs);
    outputs->dir = malloc(path.len + sizeof(TG_TASK_OUTPUT_SUFFIX));

    if (outputs->dir == NULL) {
        return TG_NOMEM;
    }

    memcpy(outputs->dir, path.data, path.len);
    strcpy(outputs->dir + path.len, TG_TASK_OUTPUT_SUFFIX);

    return TG_OK;
}

void
tg_task_outputs_deinit(tg_task_outputs_t *outputs)
{
    free(outputs->dir);
}
