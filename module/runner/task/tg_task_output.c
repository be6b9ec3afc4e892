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
tg_output_path(const tg_outputs_t *outputs, const tg_output_ask_t *ask,
               int64_t piece, char path[PATH_MAX])
{
    tg_buf_t text;

    text = tg_buf_fixed(path, PATH_MAX - 1);
    tg_buf_text(&text, outputs->dir);
    tg_buf_char(&text, '/');
    tg_task_put_id(&text, ask->id);

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

static int
tg_output_remove(const tg_outputs_t *outputs, const tg_output_ask_t *ask)
{
    char folder[PATH_MAX], path[PATH_MAX];
    int64_t first, last;

    tg_output_path(outputs, ask, -1, folder);

    if (tg_output_range(folder, &first, &last) == 0) {
        return 0;
    }

    for (; first <= last; first++) {
        tg_output_path(outputs, ask, first, path);
        (void) unlink(path);
    }

    return rmdir(folder) == -1 ? errno : 0;
}

static int
tg_output_make(const tg_outputs_t *outputs, const tg_output_ask_t *ask)
{
    char path[PATH_MAX];

    /* Of a task of this id whose store was removed, or that was killed. */
    (void) tg_output_remove(outputs, ask);
    tg_output_path(outputs, ask, -1, path);

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
    tg_output_path(outputs, ask, (int64_t) (offset / TG_OUTPUT_PIECE), path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

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
tg_output_drop(const tg_outputs_t *outputs, const tg_output_ask_t *ask,
               uint64_t end)
{
    char path[PATH_MAX];
    uint64_t piece;

    if (end <= ask->most + TG_OUTPUT_PIECE) {
        return;
    }

    piece = (end - ask->most) / TG_OUTPUT_PIECE;

    do {
        tg_output_path(outputs, ask, (int64_t) --piece, path);
    } while (unlink(path) == 0 && piece > 0);
}

static int
tg_output_append(const tg_outputs_t *outputs, const tg_output_ask_t *ask)
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
    }

    tg_output_drop(outputs, ask, end);

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

    tg_output_path(outputs, ask, (int64_t) (offset / TG_OUTPUT_PIECE), path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

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

    tg_output_path(outputs, ask, -1, path);

    if (tg_output_range(path, &first, &last) == 0) {
        ask->size = 0;
        ask->offset = 0;
        return 0;
    }

    tg_output_path(outputs, ask, last, path);
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
        case TG_OUTPUT_READ_ON:
            ask->err = tg_output_read(outputs, ask);
            break;
        case TG_OUTPUT_REMOVE:
            ask->err = tg_output_remove(outputs, ask);
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
