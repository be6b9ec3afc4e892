#include "runner/store/tg_store_sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- opening --- */

static void
tg_sqlite_shut(tg_store_sqlite_t *db)
{
    unsigned i;

    if (db->db == NULL) {
        return;
    }

    for (i = 0; i < TG_SQLITE_STATEMENTS && db->texts[i] != NULL; i++) {
        (void) db->sqlite->finalize(db->statements[i]);
        db->texts[i] = NULL;
    }

    (void) db->sqlite->close(db->db);
    db->db = NULL;
}

/* What SQLite said last; a whole disk may have more to it than its words. */
static void
tg_sqlite_explain(tg_store_sqlite_t *db, tg_buf_t *why)
{
    tg_buf_printf(why, "%s: %s", db->path,
                  db->db != NULL ? db->sqlite->errmsg(db->db)
                                 : "it is not open");
}

/* TG_BAD: why says so; a file of somebody else's is not changed. */
static int
tg_sqlite_prepare(tg_store_sqlite_t *db, tg_buf_t *why)
{
    int64_t version;
    int rc;

    /*
     * Nobody else may have it: two runners would run each task twice.  The
     * kernel lets go of the lock when this process ends, however it does.
     */
    rc = tg_sqlite_exec(db, "PRAGMA locking_mode=EXCLUSIVE");

    if (rc == TG_OK) {
        rc = tg_sqlite_look(db, why, &version);
    }

    /* What a task had of secrets is to be gone when it is. */
    return rc == TG_OK
               ? tg_sqlite_exec(db, "PRAGMA journal_mode=WAL;"
                                    "PRAGMA synchronous=FULL;"
                                    "PRAGMA secure_delete=ON;"
                                    "PRAGMA journal_size_limit=16777216")
               : rc;
}

/* Did another process that has the database make this fail? */
static int
tg_sqlite_is_locked(const tg_store_sqlite_t *db)
{
    return db->db != NULL && db->sqlite->errcode(db->db) == SQLITE_BUSY;
}

static int
tg_sqlite_open(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    const char *text;
    tg_buf_t *why;
    int rc;

    why = &ask->json;
    db->sqlite = tg_sqlite(&text);

    if (db->sqlite == NULL) {
        tg_buf_text(why, text);
        return TG_BAD;
    }

    if (tg_sqlite_check_files(db->path, why) != TG_OK) {
        return TG_BAD;
    }

    rc = db->sqlite->open_v2(db->path, &db->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                 | SQLITE_OPEN_NOMUTEX,
                             NULL)
                 == SQLITE_OK
             ? tg_sqlite_prepare(db, why)
             : TG_SQLITE_FAILED;

    if (rc == TG_OK) {
        return TG_OK;
    }

    if (rc != TG_BAD) {
        ask->is_locked = tg_sqlite_is_locked(db);
        tg_sqlite_explain(db, why);
        tg_buf_text(why, "; it must be a file that this user can write, in a "
                         "directory likewise, and that no other "
                         "toolgate-runner has open");
    }

    tg_sqlite_shut(db);

    return TG_BAD;
}

/* --- batches --- */

static tg_store_ask_t *
tg_sqlite_asked(const tg_work_t *work)
{
    return (tg_store_ask_t *) (uintptr_t) work;
}

static void
tg_sqlite_failed(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    ask->rc = TG_BAD;
    tg_buf_reset(&ask->json, 0);
    tg_sqlite_explain(db, &ask->json);
}

static void
tg_sqlite_undo(tg_store_sqlite_t *db)
{
    if (!db->sqlite->get_autocommit(db->db)) {
        (void) tg_sqlite_exec(db, "ROLLBACK");
    }
}

/* In a transaction of its own, whatever becomes of the others. */
static void
tg_sqlite_alone(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    tg_buf_reset(&ask->json, 0);

    if (tg_sqlite_exec(db, "BEGIN IMMEDIATE") == TG_OK) {
        ask->rc = tg_sqlite_do(db, ask);

        if (ask->rc != TG_SQLITE_FAILED
            && tg_sqlite_exec(db, "COMMIT") == TG_OK) {
            return;
        }
    }

    tg_sqlite_failed(db, ask);
    tg_sqlite_undo(db);
}

static void
tg_sqlite_begin(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    ask->rc = tg_sqlite_open(db, ask);

    if (ask->rc != TG_OK) {
        return;
    }

    if (tg_sqlite_exec(db, "BEGIN IMMEDIATE") == TG_OK) {
        ask->rc = tg_sqlite_migrate(db, &ask->json);

        if (ask->rc == TG_OK) {
            ask->rc = tg_sqlite_do(db, ask);
        }

        if (ask->rc == TG_OK && tg_sqlite_exec(db, "COMMIT") == TG_OK) {
            return;
        }
    } else {
        ask->rc = TG_SQLITE_FAILED;
    }

    if (ask->rc != TG_BAD) {
        ask->is_locked = tg_sqlite_is_locked(db);
        tg_sqlite_failed(db, ask);
    }

    tg_sqlite_undo(db);
    tg_sqlite_shut(db);
}

/* All at once, as one commit serves them all; or each for itself. */
static int
tg_sqlite_together(tg_store_sqlite_t *db, const tg_works_t *batch)
{
    tg_store_ask_t *ask;
    tg_work_t *work;

    if (tg_sqlite_exec(db, "BEGIN IMMEDIATE") != TG_OK) {
        return TG_SQLITE_FAILED;
    }

    for (work = TAILQ_FIRST(batch); work != NULL; work = TAILQ_NEXT(work, next))
    {
        ask = tg_sqlite_asked(work);
        ask->rc = tg_sqlite_do(db, ask);

        if (ask->rc == TG_SQLITE_FAILED) {
            return ask->rc;
        }
    }

    return tg_sqlite_exec(db, "COMMIT");
}

static void
tg_sqlite_on_batch(void *host, const tg_works_t *batch)
{
    tg_store_sqlite_t *db;
    tg_store_ask_t *ask;
    tg_work_t *work;

    db = host;

    if (db->db != NULL && tg_sqlite_together(db, batch) == TG_OK) {
        return;
    }

    if (db->db != NULL) {
        tg_sqlite_undo(db);
    }

    for (work = TAILQ_FIRST(batch); work != NULL; work = TAILQ_NEXT(work, next))
    {
        ask = tg_sqlite_asked(work);

        if (db->db != NULL) {
            tg_sqlite_alone(db, ask);
        } else if (ask->op == TG_STORE_OPEN) {
            tg_sqlite_begin(db, ask);
        } else {
            tg_sqlite_failed(db, ask);
        }
    }
}

/* --- from the loop --- */

static void
tg_sqlite_on_done(tg_work_t *work)
{
    tg_store_answer(tg_sqlite_asked(work));
}

static void
tg_sqlite_store_ask(tg_store_t *store, tg_store_ask_t *ask)
{
    ask->work.done = tg_sqlite_on_done;
    tg_lane_add(&((tg_store_sqlite_t *) store)->lane, &ask->work);
}

static void
tg_sqlite_on_closed(uv_handle_t *handle)
{
    tg_store_sqlite_t *db;

    db = handle->data;
    tg_sqlite_shut(db);

    if (db->closed != NULL) {
        db->closed(db->host);
    }

    free(db);
}

static void
tg_sqlite_on_idle(void *host)
{
    tg_store_sqlite_t *db;

    db = host;

    if (db->is_closing) {
        db->is_closing = 0;
        uv_close((uv_handle_t *) &db->timer, tg_sqlite_on_closed);
    }
}

static void
tg_sqlite_store_close(tg_store_t *store, void (*closed)(void *host), void *host)
{
    tg_store_sqlite_t *db;

    db = (tg_store_sqlite_t *) store;
    db->closed = closed;
    db->host = host;
    db->is_closing = 1;

    if (tg_lane_is_idle(&db->lane)) {
        tg_sqlite_on_idle(db);
    }
}

static const tg_store_kind_t tg_store_sqlite_kind = {
    .ask = tg_sqlite_store_ask,
    .close = tg_sqlite_store_close,
};

tg_store_t *
tg_store_sqlite_new(uv_loop_t *loop, tg_str_t path)
{
    tg_store_sqlite_t *db;

    db = calloc(1, sizeof(*db) + path.len + 1);

    if (db == NULL) {
        return NULL;
    }

    memcpy(db->path, path.data, path.len);
    db->store.kind = &tg_store_sqlite_kind;
    tg_lane_init(&db->lane, loop, tg_sqlite_on_batch, tg_sqlite_on_idle, db);

    /* For an end that is told from the loop. */
    (void) uv_timer_init(loop, &db->timer);
    db->timer.data = db;

    return &db->store;
}

/* --- is it one that can be opened? --- */

/* As SQLite takes it, which then writes nothing and locks nothing. */
static void
tg_sqlite_put_uri(tg_buf_t *uri, const char *path)
{
    tg_buf_text(uri, "file:");

    for (; *path != '\0'; path++) {
        if (tg_is_alpha(*path) || tg_is_digit(*path) || *path == '/') {
            tg_buf_char(uri, *path);
        } else {
            tg_buf_printf(uri, "%%%02x", (unsigned char) *path);
        }
    }

    tg_buf_text(uri, "?immutable=1");
    tg_buf_char(uri, '\0');
}

static int
tg_sqlite_check(tg_store_sqlite_t *db, tg_buf_t *why)
{
    const char *text;
    int64_t version;
    tg_buf_t uri;
    int rc;

    db->sqlite = tg_sqlite(&text);

    if (db->sqlite == NULL) {
        tg_buf_text(why, text);
        return TG_BAD;
    }

    tg_buf_init(&uri, tg_alloc_libc());
    tg_sqlite_put_uri(&uri, db->path);
    rc = !tg_buf_failed(&uri)
                 && db->sqlite->open_v2(uri.data, &db->db,
                                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                            | SQLITE_OPEN_NOMUTEX,
                                        NULL)
                        == SQLITE_OK
             ? tg_sqlite_look(db, why, &version)
             : TG_SQLITE_FAILED;
    tg_buf_deinit(&uri);

    if (rc == TG_SQLITE_FAILED) {
        tg_sqlite_explain(db, why);
    }

    tg_sqlite_shut(db);

    return rc == TG_OK ? TG_OK : TG_BAD;
}

/* Its directory and, where there is one, the file must be this user's. */
static int
tg_sqlite_may(const char *path, int is_there, tg_buf_t *why)
{
    char dir[PATH_MAX];
    size_t len;

    len = (size_t) (strrchr(path, '/') - path);

    if (len >= sizeof(dir)) {
        tg_buf_text(why, "its path is too long");
        return TG_BAD;
    }

    memcpy(dir, path, len == 0 ? ++len : len);
    dir[len] = '\0';

    /* It will be made, as the state directory is. */
    if (!is_there && access(dir, F_OK) == -1 && errno == ENOENT) {
        return TG_OK;
    }

    if (access(dir, W_OK | X_OK) == -1
        || (is_there && access(path, R_OK | W_OK) == -1))
    {
        tg_buf_printf(why,
                      "%s: %s; it must be a file that this user can write, in "
                      "a directory likewise",
                      path, strerror(errno));
        return TG_BAD;
    }

    return TG_OK;
}

int
tg_store_sqlite_check(tg_str_t path, tg_buf_t *why)
{
    tg_store_sqlite_t *db;
    struct stat st;
    int is_there, rc;

    db = calloc(1, sizeof(*db) + path.len + 1);

    if (db == NULL) {
        return TG_NOMEM;
    }

    memcpy(db->path, path.data, path.len);
    is_there = stat(db->path, &st) == 0;
    rc = tg_sqlite_check_files(db->path, why);

    if (rc == TG_OK) {
        rc = tg_sqlite_may(db->path, is_there, why);
    }

    /* What is in an empty one may be in its log alone. */
    if (rc == TG_OK && is_there && st.st_size != 0) {
        rc = tg_sqlite_check(db, why);
    }

    free(db);

    return rc;
}
