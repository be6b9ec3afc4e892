/*
 * Internal header of the SQLite task store.
 *
 *   tg_store_sqlite.c            opening and closing, batches, transactions
 *   tg_store_sqlite_query.c      one function for each operation
 *   tg_store_sqlite_json.c       JSON of result rows
 *   tg_store_sqlite_record.c     records
 *   tg_store_sqlite_file.c       checks of the database files
 *   tg_store_sqlite_schema.c     versions and migration of the tables
 *   tg_store_sqlite_statement.c  prepared statements
 */
#ifndef TG_STORE_SQLITE_H
#define TG_STORE_SQLITE_H

#include "tasks/store/tg_libsqlite.h"
#include "tasks/store/tg_store.h"

/* A call of SQLite failed; SQLite has the error message. */
#define TG_SQLITE_FAILED (-2)
/* Version of the tables. */
#define TG_SQLITE_VERSION 5
/* Size of the cache of prepared statements, more than the store has. */
#define TG_SQLITE_STATEMENTS_MAX 48

typedef struct {
    tg_store_t store;
    tg_work_queue_t work_queue;
    int is_closing; /* close was called and is pending */
    uv_timer_t timer;
    void (*closed)(void *host);
    void *host;

    /* Used only in the thread of the work queue. */
    const tg_libsqlite_t *sqlite;
    sqlite3 *db; /* NULL: not open */
    const char *texts[TG_SQLITE_STATEMENTS_MAX];
    sqlite3_stmt *statements[TG_SQLITE_STATEMENTS_MAX];
    char path[];
} tg_store_sqlite_t;

/* --- functions shared by the files --- */

/*
 * Checks the file type of the database and of SQLite's files beside it. TG_OK:
 * each is a regular file or missing; TG_INVALID: one is not, and `why` names
 * it.
 */
int tg_sqlite_check_files(const char *path, tg_buf_t *why);

/* Runs statements without values. TG_OK or TG_SQLITE_FAILED. */
int tg_sqlite_exec(tg_store_sqlite_t *db, const char *text);

/*
 * Returns the prepared statement of a static text, with its values bound.
 * `values` has a letter for each value: i an int64_t, t a tg_str_t, which must
 * live until the statement is reset. NULL: SQLite failed (TG_SQLITE_FAILED).
 */
sqlite3_stmt *tg_sqlite_bind(tg_store_sqlite_t *db, const char *text,
                             const char *values, ...);

/*
 * Fetches the next row. TG_OK: there is a row; TG_END: there is none;
 * TG_SQLITE_FAILED. The last two reset the statement.
 */
int tg_sqlite_step(tg_store_sqlite_t *db, sqlite3_stmt *statement);

/*
 * Runs a statement that returns no rows. TG_OK, or TG_SQLITE_FAILED, also if
 * the statement is NULL.
 */
int tg_sqlite_run_statement(tg_store_sqlite_t *db, sqlite3_stmt *statement);

/*
 * Returns the text of a column; absent if the column is NULL. The slice is
 * valid until the next step or reset.
 */
tg_str_t tg_sqlite_get_text(tg_store_sqlite_t *db, sqlite3_stmt *statement,
                            int column);

/*
 * Checks that the database is empty or a task store, and reads its version.
 * TG_OK; TG_INVALID: the database belongs to another program or to a newer
 * Toolgate, and `why` has the reason; TG_SQLITE_FAILED.
 */
int tg_sqlite_check_version(tg_store_sqlite_t *db, tg_buf_t *why,
                            int64_t *version);

/*
 * Creates or migrates the tables, within a transaction. TG_OK; TG_INVALID:
 * tg_sqlite_check_version() refused the database, and `why` has the reason;
 * TG_SQLITE_FAILED.
 */
int tg_sqlite_migrate(tg_store_sqlite_t *db, tg_buf_t *why);

/* Columns and table of a SELECT for tg_sqlite_write_task(). */
#define TG_SQLITE_SELECT_TASK                                                  \
    "SELECT id,prompt,agent,priority,state,created_at,started_at,"             \
    "completed_at,pid,error,cwd,owner,metadata,result,output,form,job "        \
    "FROM task "

/*
 * Appends the JSON of the current row of a statement. The columns must have the
 * order that the function expects. `is_whole` adds result and output of a task;
 * `query` has pid and output of a running task.
 */
typedef void (*tg_sqlite_write_row_pt)(tg_store_sqlite_t *db, sqlite3_stmt *row,
                                       const tg_store_query_t *query,
                                       int is_whole, tg_buf_t *json);

/* Appends a task; the columns are those of TG_SQLITE_SELECT_TASK. */
void tg_sqlite_write_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                          const tg_store_query_t *query, int is_whole,
                          tg_buf_t *json);

/* Appends the id of a task as a JSON string; the column is id. */
void tg_sqlite_write_task_id(tg_store_sqlite_t *db, sqlite3_stmt *row,
                             const tg_store_query_t *query, int is_whole,
                             tg_buf_t *json);

/* Appends an ended task; the columns are id, agent and owner. */
void tg_sqlite_write_ended_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                                const tg_store_query_t *query, int is_whole,
                                tg_buf_t *json);

/* Appends a queued task; the columns are id, prompt, agent and priority. */
void tg_sqlite_write_queued_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                                 const tg_store_query_t *query, int is_whole,
                                 tg_buf_t *json);

/*
 * Appends all rows of a statement to query->json, as an array of the values
 * that put() writes. TG_OK; TG_LIMIT: the array is too long; TG_SQLITE_FAILED,
 * also if `rows` is NULL.
 */
int tg_sqlite_write_rows(tg_store_sqlite_t *db, sqlite3_stmt *rows,
                         tg_store_query_t *query, tg_sqlite_write_row_pt put);

/*
 * Appends the whole task query->id of query->owner to query->json and sets
 * *state and query->result_format. TG_OK; TG_MISSING: there is no such task;
 * TG_SQLITE_FAILED.
 */
int tg_sqlite_fetch_task(tg_store_sqlite_t *db, tg_store_query_t *query,
                         tg_task_state_t *state);

/* --- tg_store_sqlite_record.c --- */

/*
 * Writes the records of a query. TG_OK; TG_EXISTS: a record that must be new
 * exists; TG_SQLITE_FAILED.
 */
int tg_sqlite_do_write_records(tg_store_sqlite_t *db, tg_store_query_t *query);

/*
 * Appends all records to query->json as one object. TG_OK or TG_SQLITE_FAILED.
 */
int tg_sqlite_do_read_records(tg_store_sqlite_t *db, tg_store_query_t *query);

/*
 * Executes a query within a transaction. Returns the value for query->rc, or
 * TG_SQLITE_FAILED.
 */
int tg_sqlite_do_query(tg_store_sqlite_t *db, tg_store_query_t *query);

#endif
