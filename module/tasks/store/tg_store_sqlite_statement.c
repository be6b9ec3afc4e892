/*
 * Runs the statements of an operation of the SQLite task store.
 */
#include "tasks/store/tg_store_sqlite.h"

int
tg_sqlite_exec(tg_store_sqlite_t *db, const char *text)
{
    return db->sqlite->exec(db->db, text, NULL, NULL, NULL) == SQLITE_OK
               ? TG_OK
               : TG_SQLITE_FAILED;
}

/* --- prepared statements --- */

static void
tg_sqlite_finalize_steps(tg_store_sqlite_t *db, tg_sqlite_step_t *step)
{
    for (; step->statement != NULL; step++) {
        (void) db->sqlite->finalize(step->statement);
        step->statement = NULL;
    }
}

void
tg_sqlite_finalize_statements(tg_store_sqlite_t *db)
{
    size_t i;

    for (i = 0; i < sizeof(db->steps) / sizeof(db->steps[0]); i++) {
        tg_sqlite_finalize_steps(db, db->steps[i]);
    }
}

/* Looks up the parameters of a new statement. */
static void
tg_sqlite_find_params(tg_store_sqlite_t *db, tg_sqlite_step_t *step)
{
    const tg_store_param_t *param;
    size_t len;
    int i;

    step->nparams = db->sqlite->bind_parameter_count(step->statement);
    step->is_for_each_record = 0;

    for (i = 0; i < step->nparams; i++) {
        param = &tg_store_params[tg_store_find_param(
            db->sqlite->bind_parameter_name(step->statement, i + 1) + 1, &len)];
        step->params[i] = param;
        step->is_for_each_record |= param->type == TG_STORE_PARAM_KEY;
    }
}

/*
 * Returns the statements of a query, which are prepared when they are first
 * used. NULL: SQLite failed.
 */
static const tg_sqlite_step_t *
tg_sqlite_get_steps(tg_store_sqlite_t *db, const tg_store_query_t *query)
{
    tg_sqlite_step_t *steps, *step;
    const char *text;
    int i;

    i = (int) query->op;
    text = tg_store_operations[i].sqlite;

    if (query->op == TG_STORE_LIST) {
        i = (query->agent.data != NULL ? TG_STORE_FILTER_AGENT : 0)
            | (query->state != TG_TASK_STATES ? TG_STORE_FILTER_STATE : 0)
            | (query->owner.data != NULL ? TG_STORE_FILTER_OWNER : 0);
        text = tg_store_sqlite_lists[i];
        i += TG_STORE_OPS;
    }

    steps = db->steps[i];

    if (steps->statement != NULL) {
        return steps;
    }

    for (step = steps; *text != '\0'; step++) {
        if (db->sqlite->prepare_v2(db->db, text, -1, &step->statement, &text)
            != SQLITE_OK)
        {
            tg_sqlite_finalize_steps(db, steps);
            return NULL;
        }

        tg_sqlite_find_params(db, step);
    }

    return steps;
}

/* --- running --- */

/* Binds the values of a query. TG_OK or TG_SQLITE_FAILED. */
static int
tg_sqlite_bind(tg_store_sqlite_t *db, const tg_sqlite_step_t *step,
               const tg_store_query_t *query, const tg_store_record_t *record)
{
    tg_store_value_t value;
    tg_buf_t room;
    int i, rc;

    tg_buf_init(&room, tg_alloc_libc());

    for (i = 0, rc = SQLITE_OK; rc == SQLITE_OK && i < step->nparams; i++) {
        value = tg_store_get_param(query, step->params[i], record, &room);

        if (value.is_number) {
            rc = db->sqlite->bind_int64(
                step->statement, i + 1,
                value.number + (step->params[i]->type == TG_STORE_PARAM_ID));
        } else if (value.text.data != NULL) {
            rc = db->sqlite->bind_text(step->statement, i + 1, value.text.data,
                                       (int) value.text.len,
                                       value.text.data == room.data
                                           ? SQLITE_TRANSIENT
                                           : SQLITE_STATIC);
        } else {
            rc = db->sqlite->bind_null(step->statement, i + 1);
        }
    }

    if (tg_buf_has_failed(&room)) {
        rc = SQLITE_NOMEM;
    }

    tg_buf_deinit(&room);

    return rc == SQLITE_OK ? TG_OK : TG_SQLITE_FAILED;
}

static tg_store_value_t
tg_sqlite_get_text(tg_store_sqlite_t *db, sqlite3_stmt *row, int column)
{
    tg_store_value_t value;

    memset(&value, 0, sizeof(value));
    value.text.data = (const char *) db->sqlite->column_text(row, column);
    value.text.len = value.text.data != NULL
                         ? (size_t) db->sqlite->column_bytes(row, column)
                         : 0;

    return value;
}

/* Adds the current row to the result. TG_OK or TG_END. */
static int
tg_sqlite_add_row(tg_store_sqlite_t *db, sqlite3_stmt *row,
                  tg_store_result_t *result)
{
    const tg_store_column_t *columns = result->operation->columns;
    tg_store_value_t values[TG_STORE_COLUMNS_MAX];
    int i, n;

    n = db->sqlite->column_count(row);

    for (i = 0; i < n; i++) {
        if (i == 0 || columns[i - 1].type >= TG_STORE_COLUMN_TEXT) {
            values[i] = tg_sqlite_get_text(db, row, i);
            continue;
        }

        memset(&values[i], 0, sizeof(values[i]));

        if (db->sqlite->column_type(row, i) != SQLITE_NULL) {
            values[i].is_number = 1;
            values[i].number = db->sqlite->column_int64(row, i)
                               - (columns[i - 1].type == TG_STORE_COLUMN_ID);
        }
    }

    return tg_store_result_add_row(result, values, (unsigned) n);
}

/*
 * Runs a statement and adds its rows. TG_OK; TG_END: a row has ended the
 * operation; TG_SQLITE_FAILED.
 */
static int
tg_sqlite_run_step(tg_store_sqlite_t *db, const tg_sqlite_step_t *step,
                   tg_store_result_t *result, const tg_store_record_t *record)
{
    int rc, status;

    rc = tg_sqlite_bind(db, step, result->query, record);

    if (rc != TG_OK) {
        return rc;
    }

    /* The first step makes all changes, even of a statement with RETURNING. */
    while (rc == TG_OK
           && (status = db->sqlite->step(step->statement)) == SQLITE_ROW)
    {
        rc = tg_sqlite_add_row(db, step->statement, result);
    }

    (void) db->sqlite->reset(step->statement);

    return rc == TG_END || status == SQLITE_DONE ? rc : TG_SQLITE_FAILED;
}

int
tg_sqlite_do_query(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    const tg_sqlite_step_t *step;
    tg_store_result_t result;
    unsigned i;
    int rc;

    step = tg_sqlite_get_steps(db, query);
    tg_store_result_begin(&result, query, 0);
    rc = step != NULL ? TG_OK : TG_SQLITE_FAILED;

    for (; rc == TG_OK && step->statement != NULL; step++) {
        if (!step->is_for_each_record) {
            rc = tg_sqlite_run_step(db, step, &result, NULL);
            continue;
        }

        for (i = 0; rc == TG_OK && i < query->nrecords; i++) {
            rc = tg_sqlite_run_step(db, step, &result, &query->records[i]);
        }
    }

    tg_store_result_end(&result);

    return rc == TG_SQLITE_FAILED ? rc : query->rc;
}
