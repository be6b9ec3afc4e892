#include "base/tg_json.h"
#include "runner/store/tg_store_sqlite.h"

/* A task, in the order of tg_sqlite_put(). */
#define TG_SQLITE_TASK                                                         \
    "SELECT id,prompt,agent,priority,state,created_at,started_at,"             \
    "completed_at,pid,error,cwd,metadata,result,output FROM task "

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
    TG_SQLITE_METADATA,
    TG_SQLITE_RESULT,
    TG_SQLITE_OUTPUT
};

/* --- what is told --- */

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

/* The row that a statement is at; ask knows more of one that runs. */
static void
tg_sqlite_put(tg_store_sqlite_t *db, sqlite3_stmt *row,
              const tg_store_ask_t *ask, int is_whole, tg_buf_t *json)
{
    tg_task_state_t state;
    tg_str_t text;
    int64_t pid;

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
    pid = db->sqlite->column_int64(row, TG_SQLITE_PID);
    tg_sqlite_put_pid(json, state == TG_TASK_RUNNING ? ask->pid : pid);
    tg_sqlite_put_text(json,
                       ",\"error\":", tg_sqlite_text(db, row, TG_SQLITE_ERROR));
    tg_sqlite_put_text(json,
                       ",\"cwd\":", tg_sqlite_text(db, row, TG_SQLITE_CWD));
    text = tg_sqlite_text(db, row, TG_SQLITE_METADATA);
    tg_buf_text(json, ",\"metadata\":");
    tg_buf_str(json, text.data != NULL ? text : TG_STR("null"));

    if (is_whole) {
        tg_sqlite_put_text(json, ",\"result\":",
                           tg_sqlite_text(db, row, TG_SQLITE_RESULT));
        tg_sqlite_put_text(json, ",\"output\":",
                           state == TG_TASK_RUNNING
                               ? ask->output
                               : tg_sqlite_text(db, row, TG_SQLITE_OUTPUT));
    }

    tg_buf_char(json, '}');
}

/* All rows of a statement, as an array of what put() writes of each. */
static int
tg_sqlite_put_all(tg_store_sqlite_t *db, sqlite3_stmt *rows,
                  tg_store_ask_t *ask,
                  void (*put)(tg_store_sqlite_t *db, sqlite3_stmt *row,
                              const tg_store_ask_t *ask, int is_whole,
                              tg_buf_t *json))
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

static void
tg_sqlite_put_only_id(tg_store_sqlite_t *db, sqlite3_stmt *row,
                      const tg_store_ask_t *ask, int is_whole, tg_buf_t *json)
{
    tg_sqlite_put_id(json, "", db->sqlite->column_int64(row, TG_SQLITE_ID));
}

/* id, prompt, agent, priority */
static void
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

/* --- what is asked --- */

static int
tg_sqlite_do_open(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int rc;

    rc = tg_sqlite_put_all(
        db,
        tg_sqlite_ask(db, "SELECT id FROM task WHERE state=1 ORDER BY id", ""),
        ask, tg_sqlite_put_only_id);

    return rc == TG_OK
               ? tg_sqlite_run(db, tg_sqlite_ask(db,
                                                 "UPDATE task SET state=3,"
                                                 "completed_at=?1,error=?2 "
                                                 "WHERE state=1",
                                                 "it", ask->now, ask->error))
               : rc;
}

static int
tg_sqlite_count(tg_store_sqlite_t *db, tg_task_state_t state, int64_t *n)
{
    sqlite3_stmt *row;
    int rc;

    row = tg_sqlite_ask(db, "SELECT n FROM count WHERE state=?1", "i",
                        (int64_t) state);
    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

    if (rc == TG_OK) {
        *n = db->sqlite->column_int64(row, 0);
        (void) db->sqlite->reset(row);
    }

    return rc;
}

static int
tg_sqlite_do_submit(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int64_t n;
    int rc;

    rc = tg_sqlite_count(db, TG_TASK_QUEUED, &n);

    if (rc != TG_OK || n >= ask->limit) {
        return rc != TG_OK ? rc : TG_LIMIT;
    }

    rc = tg_sqlite_run(
        db, tg_sqlite_ask(db,
                          "INSERT INTO task(prompt,agent,priority,cwd,metadata,"
                          "state,created_at) VALUES(?1,?2,?3,?4,?5,0,?6)",
                          "ttitti", ask->prompt, ask->agent, ask->priority,
                          ask->cwd, ask->metadata, ask->now));

    if (rc == TG_OK) {
        ask->id = db->sqlite->last_insert_rowid(db->db) - 1;
    }

    return rc;
}

/* The task id as a whole: TG_OK or TG_MISSING. */
static int
tg_sqlite_tell(tg_store_sqlite_t *db, tg_store_ask_t *ask,
               tg_task_state_t *state)
{
    sqlite3_stmt *row;
    int rc;

    row = tg_sqlite_ask(db, TG_SQLITE_TASK "WHERE id=?1", "i", ask->id + 1);
    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

    if (rc == TG_OK) {
        tg_sqlite_put(db, row, ask, 1, &ask->json);
        *state = (tg_task_state_t) db->sqlite->column_int64(row,
                                                            TG_SQLITE_STATE);
        (void) db->sqlite->reset(row);
    }

    return rc == TG_END ? TG_MISSING : rc;
}

/* Of each agent the first; of those the one that comes first. */
static int
tg_sqlite_first(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int64_t id, priority;
    sqlite3_stmt *row;
    unsigned i;
    int rc;

    ask->id = -1;

    for (i = 0; i < ask->agents->n; i++) {
        row = tg_sqlite_ask(db,
                            "SELECT id,priority FROM task WHERE state=0 AND "
                            "agent=?1 ORDER BY priority DESC,id LIMIT 1",
                            "t", tg_str_c(ask->agents->names[i]));
        rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

        if (rc == TG_SQLITE_FAILED) {
            return rc;
        }

        if (rc == TG_END) {
            continue;
        }

        id = db->sqlite->column_int64(row, 0) - 1;
        priority = db->sqlite->column_int64(row, 1);
        (void) db->sqlite->reset(row);

        if (ask->id == -1 || priority > ask->priority
            || (priority == ask->priority && id < ask->id))
        {
            ask->id = id;
            ask->priority = priority;
        }
    }

    return ask->id == -1 ? TG_END : TG_OK;
}

static int
tg_sqlite_do_claim(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int rc;

    rc = tg_sqlite_first(db, ask);

    if (rc == TG_OK) {
        rc = tg_sqlite_run(
            db, tg_sqlite_ask(db,
                              "UPDATE task SET state=1,started_at=?2 "
                              "WHERE id=?1",
                              "ii", ask->id + 1, ask->now));
    }

    return rc == TG_OK ? tg_sqlite_tell(db, ask, &ask->state) : rc;
}

static int
tg_sqlite_do_return(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    return tg_sqlite_run(db, tg_sqlite_ask(db,
                                           "UPDATE task SET state=0,"
                                           "started_at=NULL "
                                           "WHERE id=?1 AND state=1",
                                           "i", ask->id + 1));
}

static int
tg_sqlite_do_finish(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    return tg_sqlite_run(
        db,
        tg_sqlite_ask(db,
                      "UPDATE task SET state=?2,completed_at=?3,pid=?4,"
                      "result=?5,error=?6,output=?7 "
                      "WHERE id=?1 AND state=1",
                      "iiiittt", ask->id + 1, (int64_t) ask->state, ask->now,
                      ask->pid, ask->result, ask->error, ask->output));
}

static int
tg_sqlite_do_cancel(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int rc;

    rc = tg_sqlite_run(db,
                       tg_sqlite_ask(db,
                                     "UPDATE task SET state=4,completed_at=?2 "
                                     "WHERE id=?1 AND state=0",
                                     "ii", ask->id + 1, ask->now));

    if (rc != TG_OK) {
        return rc;
    }

    if (db->sqlite->changes(db->db) != 0) {
        return tg_sqlite_tell(db, ask, &ask->state);
    }

    rc = tg_sqlite_tell(db, ask, &ask->state);

    return rc != TG_OK ? rc : ask->state == TG_TASK_RUNNING ? TG_AGAIN : TG_END;
}

static int
tg_sqlite_do_get(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    return tg_sqlite_tell(db, ask, &ask->state);
}

static int
tg_sqlite_do_list(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
#define TG_SQLITE_NEWEST "ORDER BY id DESC LIMIT ?1"
    sqlite3_stmt *rows;
    int64_t state;

    state = ask->state;

    if (ask->agent.data == NULL && state == TG_TASK_STATES) {
        rows = tg_sqlite_ask(db, TG_SQLITE_TASK TG_SQLITE_NEWEST, "i",
                             ask->limit);
    } else if (ask->agent.data == NULL) {
        rows = tg_sqlite_ask(db,
                             TG_SQLITE_TASK "WHERE state=?2 " TG_SQLITE_NEWEST,
                             "ii", ask->limit, state);
    } else if (state == TG_TASK_STATES) {
        rows = tg_sqlite_ask(db,
                             TG_SQLITE_TASK "WHERE agent=?2 " TG_SQLITE_NEWEST,
                             "it", ask->limit, ask->agent);
    } else {
        rows = tg_sqlite_ask(db,
                             TG_SQLITE_TASK
                             "WHERE agent=?2 AND state=?3 " TG_SQLITE_NEWEST,
                             "iti", ask->limit, ask->agent, state);
    }

    return tg_sqlite_put_all(db, rows, ask, tg_sqlite_put);
}

static int
tg_sqlite_do_stats(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int64_t n[TG_TASK_STATES], total;
    int state;

    total = 0;

    for (state = 0; state < TG_TASK_STATES; state++) {
        if (tg_sqlite_count(db, (tg_task_state_t) state, &n[state]) != TG_OK) {
            return TG_SQLITE_FAILED;
        }

        total += n[state];
    }

    tg_buf_text(&ask->json, "{\"total\":");
    tg_buf_int(&ask->json, total);

    for (state = 0; state < TG_TASK_STATES; state++) {
        tg_buf_printf(&ask->json, ",\"%s\":%lld",
                      tg_task_state_name((tg_task_state_t) state),
                      (long long) n[state]);
    }

    tg_buf_char(&ask->json, '}');

    return TG_OK;
}

static int
tg_sqlite_do_status(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    int64_t n;
    int rc;

    rc = tg_sqlite_count(db, TG_TASK_QUEUED, &n);

    if (rc != TG_OK) {
        return rc;
    }

    tg_buf_text(&ask->json, "{\"queued\":");
    tg_buf_int(&ask->json, n);
    tg_buf_text(&ask->json, ",\"tasks\":");
    rc = tg_sqlite_put_all(
        db,
        tg_sqlite_ask(db,
                      "SELECT id,substr(prompt,1,?1),agent,priority FROM task "
                      "WHERE state=0 ORDER BY priority DESC,id LIMIT ?2",
                      "ii", (int64_t) TG_STORE_BRIEF,
                      (int64_t) TG_STORE_STATUS_MAX),
        ask, tg_sqlite_put_waiting);
    tg_buf_char(&ask->json, '}');

    return rc;
}

/* Is an agent one that there still is? */
static int
tg_sqlite_is_known(const tg_store_ask_t *ask, tg_str_t agent)
{
    unsigned i;

    for (i = 0; i < ask->agents->n; i++) {
        if (tg_str_eq(tg_str_c(ask->agents->names[i]), agent)) {
            return 1;
        }
    }

    return 0;
}

static int
tg_sqlite_do_orphan(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    sqlite3_stmt *rows;
    int64_t id;
    int rc;

    rows = tg_sqlite_ask(db,
                         "SELECT id,agent FROM task WHERE state=0 ORDER BY id",
                         "");
    rc = rows != NULL ? TG_OK : TG_SQLITE_FAILED;
    tg_buf_char(&ask->json, '[');

    while (rc == TG_OK && (rc = tg_sqlite_step(db, rows)) == TG_OK) {
        if (tg_sqlite_is_known(ask, tg_sqlite_text(db, rows, 1))) {
            continue;
        }

        id = db->sqlite->column_int64(rows, 0);
        tg_sqlite_put_id(&ask->json, ask->json.len > 1 ? "," : "", id);
        rc = tg_sqlite_run(db, tg_sqlite_ask(db,
                                             "UPDATE task SET state=3,"
                                             "completed_at=?2,error=?3 "
                                             "WHERE id=?1",
                                             "iit", id, ask->now, ask->error));
    }

    tg_buf_char(&ask->json, ']');

    return rc == TG_END ? TG_OK : rc;
}

static int
tg_sqlite_do_purge(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
#define TG_SQLITE_OLD                                                          \
    "FROM task WHERE completed_at<?1 ORDER BY completed_at,id LIMIT ?2"
    int64_t before, most;
    int rc;

    before = ask->now - ask->limit;
    most = TG_STORE_PURGE_MAX;
    rc = tg_sqlite_put_all(
        db, tg_sqlite_ask(db, "SELECT id " TG_SQLITE_OLD, "ii", before, most),
        ask, tg_sqlite_put_only_id);

    return rc == TG_OK
               ? tg_sqlite_run(db,
                               tg_sqlite_ask(db,
                                             "DELETE FROM task WHERE id IN "
                                             "(SELECT id " TG_SQLITE_OLD ")",
                                             "ii", before, most))
               : rc;
}

int
tg_sqlite_do(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    static int (*const functions[])(tg_store_sqlite_t * db,
                                    tg_store_ask_t * ask) = {
        [TG_STORE_OPEN] = tg_sqlite_do_open,
        [TG_STORE_SUBMIT] = tg_sqlite_do_submit,
        [TG_STORE_CLAIM] = tg_sqlite_do_claim,
        [TG_STORE_RETURN] = tg_sqlite_do_return,
        [TG_STORE_FINISH] = tg_sqlite_do_finish,
        [TG_STORE_CANCEL] = tg_sqlite_do_cancel,
        [TG_STORE_GET] = tg_sqlite_do_get,
        [TG_STORE_LIST] = tg_sqlite_do_list,
        [TG_STORE_STATS] = tg_sqlite_do_stats,
        [TG_STORE_STATUS] = tg_sqlite_do_status,
        [TG_STORE_ORPHAN] = tg_sqlite_do_orphan,
        [TG_STORE_PURGE] = tg_sqlite_do_purge,
    };

    return functions[ask->op](db, ask);
}
