/*
 * JSON of the rows that the SQLite task store returns.
 */
#include "base/tg_json.h"
#include "tasks/store/tg_store_sqlite.h"

/* The columns of TG_SQLITE_SELECT_TASK. */
enum {
    TG_SQLITE_COLUMN_ID,
    TG_SQLITE_COLUMN_PROMPT,
    TG_SQLITE_COLUMN_AGENT,
    TG_SQLITE_COLUMN_PRIORITY,
    TG_SQLITE_COLUMN_STATE,
    TG_SQLITE_COLUMN_CREATED_AT,
    TG_SQLITE_COLUMN_STARTED_AT,
    TG_SQLITE_COLUMN_COMPLETED_AT,
    TG_SQLITE_COLUMN_PID,
    TG_SQLITE_COLUMN_ERROR,
    TG_SQLITE_COLUMN_CWD,
    TG_SQLITE_COLUMN_OWNER,
    TG_SQLITE_COLUMN_METADATA,
    TG_SQLITE_COLUMN_RESULT,
    TG_SQLITE_COLUMN_OUTPUT,
    TG_SQLITE_COLUMN_RESULT_FORMAT,
    TG_SQLITE_COLUMN_JOB
};

static void
tg_sqlite_append_text(tg_buf_t *json, const char *key, tg_str_t text)
{
    tg_json_begin_member(json, key);

    if (text.data != NULL) {
        tg_json_write_string(json, text);
    } else {
        tg_buf_append_cstr(json, "null");
    }
}

static void
tg_sqlite_append_time(tg_store_sqlite_t *db, sqlite3_stmt *statement,
                      int column, const char *key, tg_buf_t *json)
{
    tg_json_begin_member(json, key);

    if (db->sqlite->column_type(statement, column) == SQLITE_NULL) {
        tg_buf_append_cstr(json, "null");
        return;
    }

    tg_buf_append_char(json, '"');
    tg_buf_append_time(json,
                       (uint64_t) db->sqlite->column_int64(statement, column));
    tg_buf_append_char(json, '"');
}

static void
tg_sqlite_append_id(tg_buf_t *json, const char *before, int64_t id)
{
    tg_buf_append_cstr(json, before);
    tg_buf_append_char(json, '"');
    tg_task_append_id(json, id - 1);
    tg_buf_append_char(json, '"');
}

static void
tg_sqlite_append_pid(tg_buf_t *json, int64_t pid)
{
    tg_json_begin_member(json, "pid");

    if (pid != 0) {
        tg_buf_append_int(json, pid);
    } else {
        tg_buf_append_cstr(json, "null");
    }
}

void
tg_sqlite_write_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                     const tg_store_query_t *query, int is_whole,
                     tg_buf_t *json)
{
    tg_task_state_t state;
    tg_str_t text;

    state = (tg_task_state_t) db->sqlite->column_int64(row,
                                                       TG_SQLITE_COLUMN_STATE);
    tg_sqlite_append_id(json, "{\"id\":",
                        db->sqlite->column_int64(row, TG_SQLITE_COLUMN_ID));
    tg_sqlite_append_text(json, "prompt",
                          tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_PROMPT));
    tg_sqlite_append_text(json, "agent",
                          tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_AGENT));
    tg_json_add_int(json, "priority",
                    db->sqlite->column_int64(row, TG_SQLITE_COLUMN_PRIORITY));
    tg_sqlite_append_text(json, "state",
                          tg_str_from_cstr(tg_task_state_name(state)));
    tg_sqlite_append_time(db, row, TG_SQLITE_COLUMN_CREATED_AT, "createdAt",
                          json);
    tg_sqlite_append_time(db, row, TG_SQLITE_COLUMN_STARTED_AT, "startedAt",
                          json);
    tg_sqlite_append_time(db, row, TG_SQLITE_COLUMN_COMPLETED_AT, "completedAt",
                          json);
    tg_sqlite_append_pid(json, state == TG_TASK_RUNNING ? query->pid : 0);
    tg_sqlite_append_text(json, "error",
                          tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_ERROR));
    tg_sqlite_append_text(json, "cwd",
                          tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_CWD));
    tg_sqlite_append_text(json, "owner",
                          tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_OWNER));
    text = tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_METADATA);
    tg_json_add_raw(json, "metadata", text.data != NULL ? text : TG_STR("{}"));

    if (is_whole) {
        tg_sqlite_append_text(json, "result",
                              tg_sqlite_get_text(db, row,
                                                 TG_SQLITE_COLUMN_RESULT));
        tg_sqlite_append_text(
            json, "output",
            state == TG_TASK_RUNNING
                ? query->output
                : tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_OUTPUT));
    }

    /*
     * Only the runner that claims the task gets its job, as the job may contain
     * secrets.
     */
    if (query->op == TG_STORE_CLAIM) {
        text = tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_JOB);
        tg_json_add_raw(json, "job", text.data != NULL ? text : TG_STR("null"));
    }

    tg_buf_append_char(json, '}');
}

int
tg_sqlite_write_rows(tg_store_sqlite_t *db, sqlite3_stmt *rows,
                     tg_store_query_t *query, tg_sqlite_write_row_pt put)
{
    const char *comma;
    int rc;

    if (rows == NULL) {
        return TG_SQLITE_FAILED;
    }

    comma = "[";

    while ((rc = tg_sqlite_step(db, rows)) == TG_OK) {
        tg_buf_append_cstr(&query->json, comma);
        put(db, rows, query, 0, &query->json);

        if (*comma == ',' && query->json.len > TG_STORE_LIST_BYTES_MAX) {
            (void) db->sqlite->reset(rows);
            tg_buf_reset(&query->json, 0);
            return TG_LIMIT;
        }

        comma = ",";
    }

    tg_buf_append_cstr(&query->json, *comma == '[' ? "[]" : "]");

    return rc == TG_END ? TG_OK : rc;
}

void
tg_sqlite_write_task_id(tg_store_sqlite_t *db, sqlite3_stmt *row,
                        const tg_store_query_t *query, int is_whole,
                        tg_buf_t *json)
{
    tg_sqlite_append_id(json, "",
                        db->sqlite->column_int64(row, TG_SQLITE_COLUMN_ID));
}

void
tg_sqlite_write_ended_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                           const tg_store_query_t *query, int is_whole,
                           tg_buf_t *json)
{
    tg_sqlite_append_id(json, "{\"id\":", db->sqlite->column_int64(row, 0));
    tg_sqlite_append_text(json, "agent", tg_sqlite_get_text(db, row, 1));
    tg_sqlite_append_text(json, "owner", tg_sqlite_get_text(db, row, 2));
    tg_buf_append_char(json, '}');
}

void
tg_sqlite_write_queued_task(tg_store_sqlite_t *db, sqlite3_stmt *row,
                            const tg_store_query_t *query, int is_whole,
                            tg_buf_t *json)
{
    tg_sqlite_append_id(json, "{\"id\":", db->sqlite->column_int64(row, 0));
    tg_sqlite_append_text(json, "prompt", tg_sqlite_get_text(db, row, 1));
    tg_sqlite_append_text(json, "agent", tg_sqlite_get_text(db, row, 2));
    tg_json_add_int(json, "priority", db->sqlite->column_int64(row, 3));
    tg_buf_append_char(json, '}');
}

int
tg_sqlite_fetch_task(tg_store_sqlite_t *db, tg_store_query_t *query,
                     tg_task_state_t *state)
{
    sqlite3_stmt *row;
    int rc;

    row = tg_sqlite_bind(db, TG_SQLITE_SELECT_TASK "WHERE id=?1", "i",
                         query->id + 1);
    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

    if (rc != TG_OK) {
        return rc == TG_END ? TG_MISSING : rc;
    }

    if (query->owner.data != NULL
        && !tg_str_eq(tg_sqlite_get_text(db, row, TG_SQLITE_COLUMN_OWNER),
                      query->owner))
    {
        rc = TG_MISSING;

    } else {
        tg_sqlite_write_task(db, row, query, 1, &query->json);
        *state = (tg_task_state_t) db->sqlite->column_int64(
            row, TG_SQLITE_COLUMN_STATE);
        query->result_format = db->sqlite->column_int64(
            row, TG_SQLITE_COLUMN_RESULT_FORMAT);
    }

    (void) db->sqlite->reset(row);

    return rc;
}
