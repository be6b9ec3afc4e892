#include "base/tg_json.h"
#include "runner/store/tg_store_sqlite.h"

/* The columns of TG_SQLITE_TASK. */
enum {
    TG_SQLITE_ID,
    TG_SQLITE_PROMPT,
    TG_SQLITE_AGENT,
    TG_SQLITE_PRIORITY,
    TG_SQLITE_STATE,
    TG_SQLITE_CREATED,
    TG_SQLITE_STARTED,
    TG_SQLITE_COMPLETED,
    TG_SQLITE_PID,
    TG_SQLITE_ERROR,
    TG_SQLITE_CWD,
    TG_SQLITE_OWNER,
    TG_SQLITE_METADATA,
    TG_SQLITE_RESULT,
    TG_SQLITE_OUTPUT,
    TG_SQLITE_FORM,
    TG_SQLITE_JOB
};

static void
tg_sqlite_put_text(tg_buf_t *json, const char *key, tg_str_t text)
{
    tg_buf_text(json, key);

    if (text.data != NULL) {
        tg_json_put_string(json, text);
    } else {
        tg_buf_text(json, "null");
    }
}

static void
tg_sqlite_put_time(tg_store_sqlite_t *db, sqlite3_stmt *statement, int column,
                   const char *key, tg_buf_t *json)
{
    tg_buf_text(json, key);

    if (db->sqlite->column_type(statement, column) == SQLITE_NULL) {
        tg_buf_text(json, "null");
        return;
    }

    tg_buf_char(json, '"');
    tg_buf_time(json, (uint64_t) db->sqlite->column_int64(statement, column));
    tg_buf_char(json, '"');
}

static void
tg_sqlite_put_id(tg_buf_t *json, const char *before, int64_t id)
{
    tg_buf_text(json, before);
    tg_buf_char(json, '"');
    tg_task_put_id(json, id - 1);
    tg_buf_char(json, '"');
}

static void
tg_sqlite_put_pid(tg_buf_t *json, int64_t pid)
{
    tg_buf_text(json, ",\"pid\":");

    if (pid != 0) {
        tg_buf_int(json, pid);
    } else {
        tg_buf_text(json, "null");
    }
}

void
tg_sqlite_put(tg_store_sqlite_t *db, sqlite3_stmt *row,
              const tg_store_ask_t *ask, int is_whole, tg_buf_t *json)
{
    tg_task_state_t state;
    tg_str_t text;

    state = (tg_task_state_t) db->sqlite->column_int64(row, TG_SQLITE_STATE);
    tg_sqlite_put_id(json,
                     "{\"id\":", db->sqlite->column_int64(row, TG_SQLITE_ID));
    tg_sqlite_put_text(json, ",\"prompt\":",
                       tg_sqlite_text(db, row, TG_SQLITE_PROMPT));
    tg_sqlite_put_text(json,
                       ",\"agent\":", tg_sqlite_text(db, row, TG_SQLITE_AGENT));
    tg_buf_text(json, ",\"priority\":");
    tg_buf_int(json, db->sqlite->column_int64(row, TG_SQLITE_PRIORITY));
    tg_sqlite_put_text(json,
                       ",\"state\":", tg_str_c(tg_task_state_name(state)));
    tg_sqlite_put_time(db, row, TG_SQLITE_CREATED, ",\"createdAt\":", json);
    tg_sqlite_put_time(db, row, TG_SQLITE_STARTED, ",\"startedAt\":", json);
    tg_sqlite_put_time(db, row, TG_SQLITE_COMPLETED, ",\"completedAt\":", json);
    tg_sqlite_put_pid(json, state == TG_TASK_RUNNING ? ask->pid : 0);
    tg_sqlite_put_text(json,
                       ",\"error\":", tg_sqlite_text(db, row, TG_SQLITE_ERROR));
    tg_sqlite_put_text(json,
                       ",\"cwd\":", tg_sqlite_text(db, row, TG_SQLITE_CWD));
    tg_sqlite_put_text(json,
                       ",\"owner\":", tg_sqlite_text(db, row, TG_SQLITE_OWNER));
    text = tg_sqlite_text(db, row, TG_SQLITE_METADATA);
    tg_buf_text(json, ",\"metadata\":");
    tg_buf_str(json, text.data != NULL ? text : TG_STR("{}"));

    if (is_whole) {
        tg_sqlite_put_text(json, ",\"result\":",
                           tg_sqlite_text(db, row, TG_SQLITE_RESULT));
        tg_sqlite_put_text(json, ",\"output\":",
                           state == TG_TASK_RUNNING
                               ? ask->output
                               : tg_sqlite_text(db, row, TG_SQLITE_OUTPUT));
    }

    /* Nobody else is told: there may be secrets in it. */
    if (ask->op == TG_STORE_CLAIM) {
        text = tg_sqlite_text(db, row, TG_SQLITE_JOB);
        tg_buf_text(json, ",\"job\":");
        tg_buf_str(json, text.data != NULL ? text : TG_STR("null"));
    }

    tg_buf_char(json, '}');
}

int
tg_sqlite_put_all(tg_store_sqlite_t *db, sqlite3_stmt *rows,
                  tg_store_ask_t *ask, tg_sqlite_put_t put)
{
    const char *comma;
    int rc;

    if (rows == NULL) {
        return TG_SQLITE_FAILED;
    }

    comma = "[";

    while ((rc = tg_sqlite_step(db, rows)) == TG_OK) {
        tg_buf_text(&ask->json, comma);
        put(db, rows, ask, 0, &ask->json);

        if (*comma == ',' && ask->json.len > TG_STORE_TOLD_MAX) {
            (void) db->sqlite->reset(rows);
            tg_buf_reset(&ask->json, 0);
            return TG_LIMIT;
        }

        comma = ",";
    }

    tg_buf_text(&ask->json, *comma == '[' ? "[]" : "]");

    return rc == TG_END ? TG_OK : rc;
}

void
tg_sqlite_put_only_id(tg_store_sqlite_t *db, sqlite3_stmt *row,
                      const tg_store_ask_t *ask, int is_whole, tg_buf_t *json)
{
    tg_sqlite_put_id(json, "", db->sqlite->column_int64(row, TG_SQLITE_ID));
}

void
tg_sqlite_put_ended(tg_store_sqlite_t *db, sqlite3_stmt *row,
                    const tg_store_ask_t *ask, int is_whole, tg_buf_t *json)
{
    tg_sqlite_put_id(json, "{\"id\":", db->sqlite->column_int64(row, 0));
    tg_sqlite_put_text(json, ",\"agent\":", tg_sqlite_text(db, row, 1));
    tg_sqlite_put_text(json, ",\"owner\":", tg_sqlite_text(db, row, 2));
    tg_buf_char(json, '}');
}

void
tg_sqlite_put_waiting(tg_store_sqlite_t *db, sqlite3_stmt *row,
                      const tg_store_ask_t *ask, int is_whole, tg_buf_t *json)
{
    tg_sqlite_put_id(json, "{\"id\":", db->sqlite->column_int64(row, 0));
    tg_sqlite_put_text(json, ",\"prompt\":", tg_sqlite_text(db, row, 1));
    tg_sqlite_put_text(json, ",\"agent\":", tg_sqlite_text(db, row, 2));
    tg_buf_text(json, ",\"priority\":");
    tg_buf_int(json, db->sqlite->column_int64(row, 3));
    tg_buf_char(json, '}');
}

int
tg_sqlite_tell(tg_store_sqlite_t *db, tg_store_ask_t *ask,
               tg_task_state_t *state)
{
    sqlite3_stmt *row;
    int rc;

    row = tg_sqlite_ask(db, TG_SQLITE_TASK "WHERE id=?1", "i", ask->id + 1);
    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

    if (rc != TG_OK) {
        return rc == TG_END ? TG_MISSING : rc;
    }

    if (ask->owner.data != NULL
        && !tg_str_eq(tg_sqlite_text(db, row, TG_SQLITE_OWNER), ask->owner))
    {
        rc = TG_MISSING;

    } else {
        tg_sqlite_put(db, row, ask, 1, &ask->json);
        *state = (tg_task_state_t) db->sqlite->column_int64(row,
                                                            TG_SQLITE_STATE);
        ask->form = db->sqlite->column_int64(row, TG_SQLITE_FORM);
    }

    (void) db->sqlite->reset(row);

    return rc;
}
