/*
 * The SQLite task store: opens the database, and runs queries in batches in a
 * thread of libuv's pool.
 */
#include "tasks/store/tg_store_sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- opening --- */

static void
tg_sqlite_close_db(tg_store_sqlite_t *db)
{
    if (db->db == NULL) {
        return;
    }

    tg_sqlite_finalize_statements(db);
    (void) db->sqlite->close(db->db);
    db->db = NULL;
}

/* Appends the path and SQLite's last error. */
static void
tg_sqlite_append_error(tg_store_sqlite_t *db, tg_buf_t *why)
{
    tg_buf_printf(why, "%s: %s", db->path,
                  db->db != NULL ? db->sqlite->errmsg(db->db)
                                 : "it is not open");
}

/*
 * Checks the database before setting its modes, so that another program's is
 * not changed. TG_OK; TG_INVALID and `why`; TG_SQLITE_FAILED.
 */
static int
tg_sqlite_configure_db(tg_store_sqlite_t *db, tg_buf_t *why)
{
    int64_t version;
    int rc;

    /*
     * Two runners would run each task twice. The kernel releases the lock when
     * this process ends, even after a crash.
     */
    rc = tg_sqlite_exec(db, "PRAGMA locking_mode=EXCLUSIVE");

    if (rc == TG_OK) {
        rc = tg_sqlite_check_version(db, why, &version);
    }

    /* secure_delete: secrets of a task must disappear with the task. */
    return rc == TG_OK
               ? tg_sqlite_exec(db, "PRAGMA journal_mode=WAL;"
                                    "PRAGMA synchronous=FULL;"
                                    "PRAGMA secure_delete=ON;"
                                    "PRAGMA journal_size_limit=16777216")
               : rc;
}

/* Returns whether another process has locked the database. */
static int
tg_sqlite_is_locked(const tg_store_sqlite_t *db)
{
    return db->db != NULL && db->sqlite->errcode(db->db) == SQLITE_BUSY;
}

static int
tg_sqlite_open_db(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    const char *text;
    tg_buf_t *why;
    int rc;

    why = &query->json;
    db->sqlite = tg_libsqlite_load(&text);

    if (db->sqlite == NULL) {
        tg_buf_append_cstr(why, text);
        return TG_INVALID;
    }

    if (tg_sqlite_check_files(db->path, why) != TG_OK) {
        return TG_INVALID;
    }

    rc = db->sqlite->open_v2(db->path, &db->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                 | SQLITE_OPEN_NOMUTEX,
                             NULL)
                 == SQLITE_OK
             ? tg_sqlite_configure_db(db, why)
             : TG_SQLITE_FAILED;

    if (rc == TG_OK) {
        return TG_OK;
    }

    if (rc != TG_INVALID) {
        query->is_locked = tg_sqlite_is_locked(db);
        tg_sqlite_append_error(db, why);
        tg_buf_append_cstr(why, "; this user must be able to write to the file "
                                "and to its directory, and no other "
                                "toolgate-runner may have the file open");
    }

    tg_sqlite_close_db(db);

    return TG_INVALID;
}

/* --- batches --- */

static tg_store_query_t *
tg_sqlite_get_query(const tg_work_item_t *work)
{
    return (tg_store_query_t *) (uintptr_t) work;
}

static void
tg_sqlite_set_error(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    query->rc = TG_INVALID;
    tg_buf_reset(&query->json, 0);
    tg_sqlite_append_error(db, &query->json);
}

static void
tg_sqlite_rollback(tg_store_sqlite_t *db)
{
    if (!db->sqlite->get_autocommit(db->db)) {
        (void) tg_sqlite_exec(db, "ROLLBACK");
    }
}

/* Executes one query in a transaction of its own. */
static void
tg_sqlite_do_single(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    if (tg_sqlite_exec(db, "BEGIN IMMEDIATE") == TG_OK) {
        query->rc = tg_sqlite_do_query(db, query);

        if (query->rc != TG_SQLITE_FAILED
            && tg_sqlite_exec(db, "COMMIT") == TG_OK) {
            return;
        }
    }

    tg_sqlite_set_error(db, query);
    tg_sqlite_rollback(db);
}

static void
tg_sqlite_open_store(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    query->rc = tg_sqlite_open_db(db, query);

    if (query->rc != TG_OK) {
        return;
    }

    if (tg_sqlite_exec(db, "BEGIN IMMEDIATE") == TG_OK) {
        query->rc = tg_sqlite_migrate(db, &query->json);

        if (query->rc == TG_OK) {
            query->rc = tg_sqlite_do_query(db, query);
        }

        if (query->rc == TG_OK && tg_sqlite_exec(db, "COMMIT") == TG_OK) {
            return;
        }
    } else {
        query->rc = TG_SQLITE_FAILED;
    }

    if (query->rc != TG_INVALID) {
        query->is_locked = tg_sqlite_is_locked(db);
        tg_sqlite_set_error(db, query);
    }

    tg_sqlite_rollback(db);
    tg_sqlite_close_db(db);
}

/*
 * Executes a batch in one transaction, as a commit is expensive.
 * TG_SQLITE_FAILED: the caller rolls back and executes each query alone.
 */
static int
tg_sqlite_do_batch(tg_store_sqlite_t *db, const tg_work_list_t *batch)
{
    tg_store_query_t *query;
    tg_work_item_t *work;

    if (tg_sqlite_exec(db, "BEGIN IMMEDIATE") != TG_OK) {
        return TG_SQLITE_FAILED;
    }

    TAILQ_FOREACH(work, batch, next)
    {
        query = tg_sqlite_get_query(work);
        query->rc = tg_sqlite_do_query(db, query);

        if (query->rc == TG_SQLITE_FAILED) {
            return query->rc;
        }
    }

    return tg_sqlite_exec(db, "COMMIT");
}

static void
tg_sqlite_on_batch(void *host, const tg_work_list_t *batch)
{
    tg_store_sqlite_t *db;
    tg_store_query_t *query;
    tg_work_item_t *work;

    db = host;

    if (db->db != NULL && tg_sqlite_do_batch(db, batch) == TG_OK) {
        return;
    }

    if (db->db != NULL) {
        tg_sqlite_rollback(db);
    }

    TAILQ_FOREACH(work, batch, next)
    {
        query = tg_sqlite_get_query(work);

        if (db->db != NULL) {
            tg_sqlite_do_single(db, query);
        } else if (query->op == TG_STORE_OPEN) {
            tg_sqlite_open_store(db, query);
        } else {
            tg_sqlite_set_error(db, query);
        }
    }
}

/* --- interface, in the event loop --- */

static void
tg_sqlite_on_done(tg_work_item_t *work)
{
    tg_store_query_complete(tg_sqlite_get_query(work));
}

static void
tg_sqlite_queue_query(tg_store_t *store, tg_store_query_t *query)
{
    query->work.done = tg_sqlite_on_done;
    tg_batch_thread_add(&((tg_store_sqlite_t *) store)->thread, &query->work);
}

static void
tg_sqlite_on_closed(uv_handle_t *handle)
{
    tg_store_sqlite_t *db;

    db = handle->data;
    tg_sqlite_close_db(db);

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
tg_sqlite_close_store(tg_store_t *store, void (*closed)(void *host), void *host)
{
    tg_store_sqlite_t *db;

    db = (tg_store_sqlite_t *) store;
    db->closed = closed;
    db->host = host;
    db->is_closing = 1;

    if (tg_batch_thread_is_idle(&db->thread)) {
        tg_sqlite_on_idle(db);
    }
}

static const tg_store_backend_t tg_store_sqlite_backend = {
    .query = tg_sqlite_queue_query,
    .close = tg_sqlite_close_store,
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
    db->store.backend = &tg_store_sqlite_backend;
    tg_batch_thread_init(&db->thread, loop, tg_sqlite_on_batch,
                         tg_sqlite_on_idle, db);

    /* The timer never runs; its closing calls tg_sqlite_on_closed() later. */
    (void) uv_timer_init(loop, &db->timer);
    db->timer.data = db;

    return &db->store;
}

/* --- check without opening --- */

/* With immutable=1, SQLite neither writes nor locks files. */
static void
tg_sqlite_append_uri(tg_buf_t *uri, const char *path)
{
    tg_buf_append_cstr(uri, "file:");

    for (; *path != '\0'; path++) {
        if (tg_is_alpha(*path) || tg_is_digit(*path) || *path == '/') {
            tg_buf_append_char(uri, *path);
        } else {
            tg_buf_printf(uri, "%%%02x", (unsigned char) *path);
        }
    }

    tg_buf_append_cstr(uri, "?immutable=1");
    tg_buf_append_char(uri, '\0');
}

static int
tg_sqlite_check_db(tg_store_sqlite_t *db, tg_buf_t *why)
{
    const char *text;
    int64_t version;
    tg_buf_t uri;
    int rc;

    db->sqlite = tg_libsqlite_load(&text);

    if (db->sqlite == NULL) {
        tg_buf_append_cstr(why, text);
        return TG_INVALID;
    }

    tg_buf_init(&uri, tg_alloc_libc());
    tg_sqlite_append_uri(&uri, db->path);
    rc = !tg_buf_has_failed(&uri)
                 && db->sqlite->open_v2(uri.data, &db->db,
                                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                            | SQLITE_OPEN_NOMUTEX,
                                        NULL)
                        == SQLITE_OK
             ? tg_sqlite_check_version(db, why, &version)
             : TG_SQLITE_FAILED;
    tg_buf_deinit(&uri);

    if (rc == TG_SQLITE_FAILED) {
        tg_sqlite_append_error(db, why);
    }

    tg_sqlite_close_db(db);

    return rc == TG_OK ? TG_OK : TG_INVALID;
}

/*
 * Checks that this user can write the directory and the file. TG_OK, or
 * TG_INVALID and `why`.
 */
static int
tg_sqlite_check_access(const char *path, int is_there, tg_buf_t *why)
{
    char dir[PATH_MAX];
    size_t len;

    len = (size_t) (strrchr(path, '/') - path);

    if (len >= sizeof(dir)) {
        tg_buf_append_cstr(why, "its path is too long");
        return TG_INVALID;
    }

    memcpy(dir, path, len == 0 ? ++len : len);
    dir[len] = '\0';

    /* A missing directory is created later, as the state directory is. */
    if (!is_there && access(dir, F_OK) == -1 && errno == ENOENT) {
        return TG_OK;
    }

    if (access(dir, W_OK | X_OK) == -1
        || (is_there && access(path, R_OK | W_OK) == -1))
    {
        tg_buf_printf(why,
                      "%s: %s; this user must be able to write to the file "
                      "and to its directory",
                      path, strerror(errno));
        return TG_INVALID;
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
        rc = tg_sqlite_check_access(db->path, is_there, why);
    }

    /*
     * immutable=1 ignores the write-ahead log, which may have all of the
     * content.
     */
    if (rc == TG_OK && is_there && st.st_size != 0) {
        rc = tg_sqlite_check_db(db, why);
    }

    free(db);

    return rc;
}
