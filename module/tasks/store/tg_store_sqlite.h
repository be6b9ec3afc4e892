/*
 * Internal header of the SQLite task store.
 *
 *   tg_store_sqlite.c            opening and closing, batches, transactions
 *   tg_store_sqlite_file.c       checks of the database files
 *   tg_store_sqlite_schema.c     versions and migration of the tables
 *   tg_store_sqlite_statement.c  runs the statements of an operation
 *
 * Ids of tasks begin at 0, ids of rows at 1.
 */
#ifndef TG_STORE_SQLITE_H
#define TG_STORE_SQLITE_H

#include "tasks/store/tg_libsqlite.h"
#include "tasks/store/tg_store_ops.h"

/* A call of SQLite failed; SQLite has the error message. */
#define TG_SQLITE_FAILED (-2)
/* Version of the tables. */
#define TG_SQLITE_VERSION 5
/* Maximum number of statements of an operation, with one to end the list. */
#define TG_SQLITE_STEPS_MAX 8
/* Maximum number of parameters of a statement. */
#define TG_SQLITE_PARAMS_MAX 16

/* A prepared statement; without a statement, the end of a list. */
typedef struct {
    sqlite3_stmt *statement;
    const tg_store_param_t *params[TG_SQLITE_PARAMS_MAX];
    int nparams;
    int is_for_each_record;
} tg_sqlite_step_t;

typedef struct {
    tg_store_t store;
    tg_batch_thread_t thread;
    int is_closing; /* close was called and is pending */
    uv_timer_t timer;
    void (*closed)(void *host);
    void *host;

    /* Used only in the thread of batches. */
    const tg_libsqlite_t *sqlite;
    sqlite3 *db; /* NULL: not open */
    /* Statements of the operations, then those of the lists by filter. */
    tg_sqlite_step_t steps[TG_STORE_OPS + TG_STORE_FILTERS]
                          [TG_SQLITE_STEPS_MAX];
    char path[];
} tg_store_sqlite_t;

/*
 * Checks that the database and SQLite's files beside it are regular or missing.
 * TG_OK, or TG_INVALID and `why`.
 */
int tg_sqlite_check_files(const char *path, tg_buf_t *why);

/* Runs statements without values. TG_OK or TG_SQLITE_FAILED. */
int tg_sqlite_exec(tg_store_sqlite_t *db, const char *text);

/*
 * Executes a query in the current transaction and sets its result. Returns the
 * value for query->rc, or TG_SQLITE_FAILED.
 */
int tg_sqlite_do_query(tg_store_sqlite_t *db, tg_store_query_t *query);

void tg_sqlite_finalize_statements(tg_store_sqlite_t *db);

/*
 * Checks that the database is empty or a task store, and reads its version.
 * TG_OK; TG_INVALID and `why`: it belongs to another program or a newer
 * Toolgate; TG_SQLITE_FAILED.
 */
int tg_sqlite_check_version(tg_store_sqlite_t *db, tg_buf_t *why,
                            int64_t *version);

/*
 * Creates or migrates the tables in the current transaction. Returns codes as
 * tg_sqlite_check_version().
 */
int tg_sqlite_migrate(tg_store_sqlite_t *db, tg_buf_t *why);

#endif
