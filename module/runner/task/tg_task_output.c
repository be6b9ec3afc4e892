#include "runner/task/tg_task_output.h"

#include "runner/store/tg_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_OUTPUT_SUFFIX ".output"

/* --- in the lane's thread --- */

/* The folder of a task, or one of its pieces. */
static void
tg_output_path(const tg_outputs_t *outputs, int64_t id, int64_t piece,
               char path[PATH_MAX])
{
    tg_buf_t text;

    text = tg_buf_fixed(path, PATH_MAX - 1);
    tg_buf_text(&text, outputs->dir);
    tg_buf_char(&text, '/');
    tg_task_put_id(&text, id);

    if (piece >= 0) {
        tg_buf_char(&text, '/');
        tg_buf_int(&text, piece);
    }

    path[text.len] = '\0';
}

/* The first and the last piece that there are; 0: none. */
static int
tg_output_range(const char *path, int64_t *first, int64_t *last)
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

/* Of all pieces of a folder. */
static uint64_t
tg_output_size(const tg_outputs_t *outputs, int64_t id)
{
    char path[PATH_MAX];
    struct stat st;
    int64_t first, last;

    tg_output_path(outputs, id, -1, path);

    if (tg_output_range(path, &first, &last) == 0) {
        return 0;
    }

    tg_output_path(outputs, id, last, path);

    return (uint64_t) (last - first) * TG_OUTPUT_PIECE
           + (stat(path, &st) == 0 ? (uint64_t) st.st_size : 0);
}

/* A piece, which counts no more. */
static int
tg_output_unlink(tg_outputs_t *outputs, const char *path)
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
tg_output_remove(tg_outputs_t *outputs, int64_t id)
{
    char folder[PATH_MAX], path[PATH_MAX];
    int64_t first, last;

    tg_output_path(outputs, id, -1, folder);

    if (tg_output_range(folder, &first, &last) == 0) {
        (void) rmdir(folder);
        return 0;
    }

    for (; first <= last; first++) {
        tg_output_path(outputs, id, first, path);
        (void) tg_output_unlink(outputs, path);
    }

    return rmdir(folder) == -1 ? errno : 0;
}

static int
tg_output_make(tg_outputs_t *outputs, const tg_output_ask_t *ask)
{
    char path[PATH_MAX];

    /* Of a task of this id whose store was removed, or that was killed. */
    (void) tg_output_remove(outputs, ask->id);
    tg_output_path(outputs, ask->id, -1, path);

    if ((mkdir(outputs->dir, 0700) == -1 && errno != EEXIST)
        || (mkdir(path, 0700) == -1 && errno != EEXIST))
    {
        return errno;
    }

    return 0;
}

/* As much as fits the piece at the offset: how much, or -1. */
static ssize_t
tg_output_write(const tg_outputs_t *outputs, const tg_output_ask_t *ask,
                uint64_t offset, const char *data, size_t len)
{
    char path[PATH_MAX];
    size_t room;
    ssize_t n;
    int fd;

    room = TG_OUTPUT_PIECE - offset % TG_OUTPUT_PIECE;
    tg_output_path(outputs, ask->id, (int64_t) (offset / TG_OUTPUT_PIECE),
                   path);
    /* Whatever is there instead, the loop does not wait for it. */
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
              0600);

    if (fd == -1) {
        return -1;
    }

    n = pwrite(fd, data, len < room ? len : room,
               (off_t) (offset % TG_OUTPUT_PIECE));
    (void) close(fd);

    return n;
}

/* Pieces that are wholly before the last most bytes. */
static void
tg_output_drop(tg_outputs_t *outputs, const tg_output_ask_t *ask, uint64_t most,
               uint64_t end)
{
    char path[PATH_MAX];
    uint64_t piece;

    if (end <= most + TG_OUTPUT_PIECE) {
        return;
    }

    piece = (end - most) / TG_OUTPUT_PIECE;

    do {
        tg_output_path(outputs, ask->id, (int64_t) --piece, path);
    } while (tg_output_unlink(outputs, path) == 0 && piece > 0);
}

/* --- the quota --- */

/* Outputs of tasks that have ended, by when they did. */
typedef struct {
    struct {
        int64_t id;
        int64_t at; /* ns */
    } items[TG_OUTPUT_OLDEST];
    unsigned n;
} tg_output_old_t;

static void
tg_output_note_old(tg_output_old_t *old, int64_t id, int64_t at)
{
    unsigned i;

    if (old->n < TG_OUTPUT_OLDEST) {
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
tg_output_runs(const tg_output_ask_t *ask, int64_t id)
{
    unsigned i;

    for (i = 0; i < ask->nrunning; i++) {
        if (ask->running[i] == id) {
            return 1;
        }
    }

    return 0;
}

/* A folder changes for the last time when its task ends. */
static void
tg_outputs_look(tg_outputs_t *outputs, const tg_output_ask_t *ask,
                tg_output_old_t *old)
{
    char path[PATH_MAX];
    struct dirent *entry;
    struct stat st;
    int64_t id;
    DIR *dir;

    old->n = 0;
    dir = opendir(outputs->dir);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        id = tg_task_id(tg_str_c(entry->d_name));

        if (id == -1) {
            continue;
        }

        if (!outputs->is_counted) {
            outputs->used += tg_output_size(outputs, id);
        }

        tg_output_path(outputs, id, -1, path);

        if (!tg_output_runs(ask, id) && stat(path, &st) == 0) {
            tg_output_note_old(old, id,
                               (int64_t) st.st_mtim.tv_sec * 1000000000
                                   + st.st_mtim.tv_nsec);
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}

/* Some more than must go, as to look for them takes a while. */
static void
tg_output_bound(tg_outputs_t *outputs, const tg_output_ask_t *ask, uint64_t end)
{
    tg_output_old_t old;
    uint64_t before;
    unsigned i;

    if (!outputs->is_counted) {
        outputs->used = 0;
        tg_outputs_look(outputs, ask, &old);
        outputs->is_counted = 1;
    }

    do {
        before = outputs->used;

        if (before <= ask->quota) {
            return;
        }

        tg_outputs_look(outputs, ask, &old);

        for (i = 0; i < old.n && outputs->used > ask->quota - ask->quota / 8;
             i++) {
            (void) tg_output_remove(outputs, old.items[i].id);
        }
    } while (outputs->used < before);

    /* All that is left is of those that run. */
    tg_output_drop(outputs, ask, 1, end);
}

/* It has ended now, as far as the quota is concerned. */
static int
tg_output_end(const tg_outputs_t *outputs, const tg_output_ask_t *ask)
{
    char path[PATH_MAX];

    tg_output_path(outputs, ask->id, -1, path);
    (void) utimensat(AT_FDCWD, path, NULL, 0);

    return 0;
}

static int
tg_output_append(tg_outputs_t *outputs, const tg_output_ask_t *ask)
{
    uint64_t offset, end;
    const char *p;
    ssize_t n;

    offset = ask->offset;
    end = offset + ask->bytes.len;
    n = offset == 0 ? -tg_output_make(outputs, ask) : 0;

    for (p = ask->bytes.data; n >= 0 && offset < end; offset += (uint64_t) n) {
        n = tg_output_write(outputs, ask, offset, p, (size_t) (end - offset));

        if (n <= 0) {
            return n == 0 ? EIO : errno;
        }

        p += n;
        outputs->used += (uint64_t) n;
    }

    tg_output_drop(outputs, ask, ask->most, end);
    tg_output_bound(outputs, ask, end);

    return n < 0 ? (int) -n : 0;
}

static int
tg_output_read_piece(const tg_outputs_t *outputs, tg_output_ask_t *ask,
                     uint64_t offset, size_t most)
{
    char path[PATH_MAX];
    ssize_t n;
    int fd, err;

    if (tg_buf_reserve(&ask->bytes, most) != TG_OK) {
        return ENOMEM;
    }

    tg_output_path(outputs, ask->id, (int64_t) (offset / TG_OUTPUT_PIECE),
                   path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd == -1) {
        return errno;
    }

    n = pread(fd, ask->bytes.data + ask->bytes.len, most,
              (off_t) (offset % TG_OUTPUT_PIECE));
    err = n == -1 ? errno : 0;
    (void) close(fd);
    ask->bytes.len += n > 0 ? (size_t) n : 0;

    return err;
}

static int
tg_output_read(const tg_outputs_t *outputs, tg_output_ask_t *ask)
{
    char path[PATH_MAX];
    struct stat st;
    int64_t first, last;
    size_t room, most;
    uint64_t at;
    int err;

    tg_output_path(outputs, ask->id, -1, path);
    errno = 0;

    if (tg_output_range(path, &first, &last) == 0) {
        ask->size = 0;
        ask->offset = 0;
        return errno == ENOENT ? 0 : errno;
    }

    tg_output_path(outputs, ask->id, last, path);
    ask->size = (uint64_t) last * TG_OUTPUT_PIECE
                + (stat(path, &st) == 0 ? (uint64_t) st.st_size : 0);
    at = (uint64_t) first * TG_OUTPUT_PIECE;
    at = ask->offset > at ? ask->offset : at;
    at = at > ask->size ? ask->size : at;
    ask->offset = at;

    /* Two pieces, where it goes over an end. */
    for (err = 0, most = TG_STORE_READ_MAX;
         err == 0 && most > 0 && at < ask->size;) {
        room = TG_OUTPUT_PIECE - at % TG_OUTPUT_PIECE;
        room = room < most ? room : most;
        room = room < ask->size - at ? room : (size_t) (ask->size - at);
        err = tg_output_read_piece(outputs, ask, at, room);
        at += room;
        most -= room;
    }

    return err;
}

static void
tg_outputs_on_batch(void *host, const tg_works_t *batch)
{
    tg_outputs_t *outputs;
    tg_output_ask_t *ask;
    tg_work_t *work;

    outputs = host;

    for (work = TAILQ_FIRST(batch); work != NULL; work = TAILQ_NEXT(work, next))
    {
        ask = (tg_output_ask_t *) work;

        switch (ask->op) {
        case TG_OUTPUT_APPEND:
            ask->err = tg_output_append(outputs, ask);
            break;
        case TG_OUTPUT_END:
            ask->err = tg_output_end(outputs, ask);
            break;
        case TG_OUTPUT_READ_ON:
            ask->err = tg_output_read(outputs, ask);
            break;
        case TG_OUTPUT_REMOVE:
            ask->err = tg_output_remove(outputs, ask->id);
        }
    }
}

/* --- in the loop --- */

static void
tg_outputs_on_done(tg_work_t *work)
{
    tg_output_ask_t *ask;

    ask = (tg_output_ask_t *) work;
    ask->done(ask);
}

static void
tg_outputs_on_stored(tg_store_ask_t *asked)
{
    tg_output_ask_t *ask;

    ask = asked->data;
    ask->err = asked->rc == TG_BAD ? EIO : 0;

    if (ask->op == TG_OUTPUT_READ_ON) {
        ask->offset = (uint64_t) asked->offset;
        ask->size = (uint64_t) asked->size;
        tg_buf_str(&ask->bytes, tg_buf_view(&asked->json));
    }

    tg_store_ask_deinit(asked);
    ask->done(ask);
}

static void
tg_outputs_ask_store(tg_outputs_t *outputs, tg_output_ask_t *ask)
{
    tg_store_ask_t *asked;

    asked = &ask->asked;
    tg_store_ask_init(asked,
                      ask->op == TG_OUTPUT_APPEND ? TG_STORE_WRITE
                                                  : TG_STORE_READ,
                      tg_outputs_on_stored, ask);
    asked->id = ask->id;
    asked->offset = (int64_t) ask->offset;
    asked->limit = (int64_t) ask->most;
    asked->bytes = tg_buf_view(&ask->bytes);
    outputs->store->kind->ask(outputs->store, asked);
}

void
tg_outputs_ask(tg_outputs_t *outputs, tg_output_ask_t *ask)
{
    if (outputs->store != NULL) {
        tg_outputs_ask_store(outputs, ask);
        return;
    }

    ask->work.done = tg_outputs_on_done;
    tg_lane_add(&outputs->lane, &ask->work);
}

int
tg_outputs_init(tg_outputs_t *outputs, uv_loop_t *loop, tg_str_t path)
{
    tg_lane_init(&outputs->lane, loop, tg_outputs_on_batch, NULL, outputs);
    outputs->dir = malloc(path.len + sizeof(TG_OUTPUT_SUFFIX));

    if (outputs->dir == NULL) {
        return TG_NOMEM;
    }

    memcpy(outputs->dir, path.data, path.len);
    strcpy(outputs->dir + path.len, TG_OUTPUT_SUFFIX);

    return TG_OK;
}

void
tg_outputs_deinit(tg_outputs_t *outputs)
{
    free(outputs->dir);
}
