/*
 * What the files of the store in SQLite share.
 *
 *   …_sqlite.c            opening, batches, transactions
 *   tg_store_sqlite_query.c        what is asked, a function each
 *   tg_store_sqlite_json.c       what is told
 *   tg_store_sqlite_record.c       notes
 *   tg_store_sqlite_file.c       what its files must be
 *   tg_store_sqlite_schema.c     versions of its tables
 *   tg_store_sqlite_statement.c  SQL
 */
#ifndef TG_STORE_SQLITE_H
#define TG_STORE_SQLITE_H

#include "tasks/store/tg_libsqlite.h"
#include "tasks/store/tg_store.h"

/* What SQLite itself said no to, of which it knows more. */
#define TG_SQLITE_FAILED (-2)
/* The version of the tables. */
#define TG_SQLITE_VERSION 5
/* Statements that are kept; more than there are. */
#define TG_SQLITE_STATEMENTS_MAX 48

typedef struct {
    tg_store_t store;
    tg_work_queue_t work_queue;
    int is_closing; /* …_close() was called, and is to be done */
    uv_timer_t timer;
    void (*closed)(void *host);
    void *host;

    /* Of the lane's thread. */
    const tg_libsqlite_t *sqlite;
    sqlite3 *db; /* NULL: it could not be opened */
    const char *texts[TG_SQLITE_STATEMENTS_MAX];
    sqlite3_stmt *statements[TG_SQLITE_STATEMENTS_MAX];
    char path[];
} tg_store_sqlite_t;

/* --- for the other files --- */

/*
 * TG_OK if the database at path, and the files that SQLite has beside it, are
 * regular files or missing; else TG_INVALID, and why names the one that is not.
 */
int tg_sqlite_check_files(const char *path, tg_buf_t *why);

/* Runs statements without values: TG_OK or TG_SQLITE_FAILED. */
int tg_sqlite_exec(tg_store_sqlite_t *db, const char *text);

/*
 * The statement of this text, which is static, with its values: i an int64_t,
 * t a tg_str_t.  NULL: as TG_SQLITE_FAILED.
 */
sqlite3_stmt *tg_sqlite_bind(tg_store_sqlite_t *db, const char *text,
                             const char *values, ...);

/* TG_OK: there is a row; TG_END: no more; TG_SQLITE_FAILED. */
int tg_sqlite_step(tg_store_sqlite_t *db, sqlite3_stmt *statement);

/* Runs one that has no rows. */
int tg_sqlite_run_statement(tg_store_sqlite_t *db, sqlite3_stmt *statement);

/* A column, absent when it is NULL; lives until the next step. */
tg_str_t tg_sqlite_get_text(tg_store_sqlite_t *db, sqlite3_stmt *statement,
                            int column);

/* Whose it is, and of which version; as tg_sqlite_migrate(). */
int tg_sqlite_check_version(tg_store_sqlite_t *db, tg_buf_t *why,
                            int64_t *version);

/*
 * Makes or migrates the tables, within a transaction.  TG_OK, or
 * TG_SQLITE_FAILED; TG_INVALID: why says what is wrong with the file.
 */
int tg_sqlite_migrate(tg_store_sqlite_t *db, tg_buf_t *why);

/* Tasks, for tg_sqlite_write_task(). */
#define TG_SQLITE_SELECT_TASK                                                  \
    "SELECT id,prompt,agent,priority,state,created_at,started_at,"             \
    "completed_at,pid,error,cwd,owner,metadata,result,output,form,job "        \
    "FROM task "

/*
 * Writes the row that a statement is at, in which order its function says;
 * ask knows more of a task that runs.
 */
typedef void (*tg_sqlite_write_row_pt)(tg_store_sqlite_t *db, sqlite3_stmt *row,
                                       const tg_store_query_t *query,
                                       int is_whole, tg_buf_t *json);

void tg_sqlite_write_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                          const tg_store_query_t *query, int is_whole,
                          tg_buf_t *json);

/* id */
void tg_sqlite_write_task_id(tg_store_sqlite_t *db, sqlite3_stmt *row,
                             const tg_store_query_t *query, int is_whole,
                             tg_buf_t *json);

/* id, agent, owner */
void tg_sqlite_write_ended_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                                const tg_store_query_t *query, int is_whole,
                                tg_buf_t *json);

/* id, prompt, agent, priority */
void tg_sqlite_write_queued_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                                 const tg_store_query_t *query, int is_whole,
                                 tg_buf_t *json);

/*
 * Appends all rows of a statement, as an array of what put() writes of each:
 * as ask->rc, or TG_SQLITE_FAILED, also for no statement.
 */
int tg_sqlite_write_rows(tg_store_sqlite_t *db, sqlite3_stmt *rows,
                         tg_store_query_t *query, tg_sqlite_write_row_pt put);

/* The task ask->id of ask->owner as a whole: TG_OK, TG_MISSING or as above. */
int tg_sqlite_fetch_task(tg_store_sqlite_t *db, tg_store_query_t *query,
                         tg_task_state_t *state);

/* --- tg_store_sqlite_record.c --- */

/* Writes the notes of ask: TG_OK, TG_EXISTS or TG_SQLITE_FAILED. */
int tg_sqlite_do_write_records(tg_store_sqlite_t *db, tg_store_query_t *query);
int tg_sqlite_do_read_records(tg_store_sqlite_t *db, tg_store_query_t *query);

/* Does what is asked, within a transaction: as ask->rc, or TG_SQLITE_FAILED. */
int tg_sqlite_do_query(tg_store_sqlite_t *db, tg_store_query_t *query);

#endif
