/*
 * The connection of the PostgreSQL task store: it is opened in a thread and
 * then used without blocking in the event loop (pipeline mode).
 */
#include "tasks/store/tg_store_pg.h"

#include <stdlib.h>

/* --- opening, in a thread: it resolves names and reads files --- */

static void
tg_pg_ignore_notice(void *data, const char *message)
{
}

/* Frees a result. Returns 0, or -1 and appends to db->connect_error. */
static int
tg_pg_check_result(tg_store_pg_t *db, PGresult *result)
{
    const char *message;
    int is_good;

    is_good = db->pq->resultStatus(result) == PGRES_COMMAND_OK
              || db->pq->resultStatus(result) == PGRES_TUPLES_OK;

    if (!is_good) {
        message = db->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        tg_pg_append_message(&db->connect_error,
                             message != NULL
                                 ? message
                                 : db->pq->errorMessage(db->new_conn));
    }

    db->pq->clear(result);

    return is_good ? 0 : -1;
}

static int
tg_pg_run_sql(tg_store_pg_t *db, const char *text, const char *value)
{
    return tg_pg_check_result(db, value == NULL
                                      ? db->pq->exec(db->new_conn, text)
                                      : db->pq->execParams(db->new_conn, text,
                                                           1, NULL, &value,
                                                           NULL, NULL, 0));
}

/* Prepares statements, as planning takes longer than execution. 0 or -1. */
static int
tg_pg_prepare_statements(tg_store_pg_t *db)
{
    int i, rc;

    for (i = 0, rc = 0; rc == 0 && i < TG_STORE_OPS; i++) {
        rc = tg_pg_is_prepared(i)
                 ? tg_pg_check_result(db, tg_pg_prepare_statement(db, i))
                 : 0;
    }

    return rc;
}

static int
tg_pg_setup_conn(tg_store_pg_t *db)
{
    if (db->pq->status(db->new_conn) != CONNECTION_OK) {
        tg_pg_append_message(&db->connect_error,
                             db->pq->errorMessage(db->new_conn));
        return -1;
    }

    return tg_pg_check_database(db->pq, db->new_conn, &db->connect_error)
                       == TG_OK
                   && tg_pg_run_sql(db, tg_pg_setup_sql, NULL) == 0
                   && tg_pg_run_sql(db, tg_pg_lock_runner_sql, db->runner) == 0
                   && tg_pg_prepare_statements(db) == 0
                   && db->pq->setnonblocking(db->new_conn, 1) == 0
                   && db->pq->enterPipelineMode(db->new_conn)
               ? 0
               : -1;
}

static void
tg_pg_open_conn(tg_store_pg_t *db)
{
    tg_pg_conninfo_t info;
    const char *text;

    db->pq = tg_libpq_load(&text);

    if (db->pq == NULL) {
        tg_buf_append_cstr(&db->connect_error, text);
        return;
    }

    db->new_conn = tg_pg_conninfo_init(&info, db->location,
                                       db->connect_password)
                           == TG_OK
                       ? db->pq->connectdbParams(info.names, info.values, 1)
                       : NULL;
    tg_pg_conninfo_deinit(&info);

    if (db->new_conn == NULL) {
        tg_buf_append_cstr(&db->connect_error,
                           "toolgate-runner has no memory left");
        return;
    }

    (void) db->pq->setNoticeProcessor(db->new_conn, tg_pg_ignore_notice, NULL);

    if (tg_pg_setup_conn(db) != 0) {
        db->pq->finish(db->new_conn);
        db->new_conn = NULL;
    }
}

/* Frees OpenSSL's data of the thread, which then does other work. */
static void
tg_pg_run_connect(uv_work_t *req)
{
    tg_store_pg_t *db;

    db = req->data;
    tg_pg_open_conn(db);

    if (db->pq != NULL && db->pq->thread_stop != NULL) {
        db->pq->thread_stop();
    }
}

/* --- in the loop --- */

static void tg_pg_on_poll(uv_poll_t *poll, int status, int events);

static void
tg_pg_on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

void
tg_pg_close_conn(tg_store_pg_t *db)
{
    if (db->poll != NULL) {
        uv_close((uv_handle_t *) db->poll, tg_pg_on_poll_closed);
        db->poll = NULL;
    }

    if (db->conn != NULL) {
        db->pq->finish(db->conn);
        db->conn = NULL;
    }
}

static void
tg_pg_drop_conn(tg_store_pg_t *db)
{
    tg_buf_reset(&db->why, 0);
    tg_pg_append_message(&db->why, db->pq->errorMessage(db->conn));
    tg_pg_close_conn(db);
    tg_pg_on_lost(db);
}

/* Sends output and polls the socket; drops the connection on an error. */
static void
tg_pg_flush_and_poll(tg_store_pg_t *db)
{
    int left;

    left = db->pq->flush(db->conn);

    if (left < 0
        || uv_poll_start(db->poll, UV_READABLE | (left ? UV_WRITABLE : 0),
                         tg_pg_on_poll)
               != 0)
    {
        tg_pg_drop_conn(db);
    }
}

static void
tg_pg_on_connect_done(uv_work_t *req, int status)
{
    tg_store_pg_t *db;

    db = req->data;
    free(db->connect_password);
    db->connect_password = NULL;
    db->conn = db->new_conn;
    db->new_conn = NULL;
    tg_buf_reset(&db->why, 0);
    tg_buf_append_str(&db->why, tg_buf_view(&db->connect_error));
    tg_buf_deinit(&db->connect_error);

    if (db->conn != NULL && !db->is_closing) {
        db->poll = malloc(sizeof(*db->poll));

        if (db->poll == NULL
            || uv_poll_init(db->loop, db->poll, db->pq->socket(db->conn)) != 0)
        {
            free(db->poll);
            db->poll = NULL;
            tg_buf_append_cstr(&db->why, "its socket cannot be watched");
        }
    }

    if (db->poll == NULL) {
        tg_pg_close_conn(db);
        tg_pg_on_lost(db);
        return;
    }

    db->poll->data = db;
    tg_pg_on_connected(db);

    if (db->conn != NULL) {
        tg_pg_flush_and_poll(db);
    }
}

void
tg_pg_connect(tg_store_pg_t *db)
{
    db->state = TG_PG_CONNECTING;
    db->connect.data = db;
    db->connect_password = db->password != NULL ? strdup(db->password) : NULL;
    tg_buf_init(&db->connect_error, tg_alloc_libc());
    (void) uv_queue_work(db->loop, &db->connect, tg_pg_run_connect,
                         tg_pg_on_connect_done);
}

void
tg_pg_send_batch(tg_store_pg_t *db)
{
    tg_work_item_t *work;

    db->state = TG_PG_BUSY;
    db->current = TAILQ_FIRST(&db->sent);
    db->has_failed = 0;

    for (work = db->current; work != NULL; work = TAILQ_NEXT(work, next)) {
        if (!tg_pg_send_query(db, tg_pg_get_query(work))) {
            tg_pg_drop_conn(db);
            return;
        }
    }

    if (!db->pq->pipelineSync(db->conn)) {
        tg_pg_drop_conn(db);
        return;
    }

    tg_pg_flush_and_poll(db);
}

/*
 * Returns whether the server exits, is unreachable or became read-only: the
 * query is not at fault, and another server may execute it.
 */
static int
tg_pg_is_server_leaving(const tg_store_pg_t *db, const PGresult *result)
{
    const char *state;

    state = db->pq->resultErrorField(result, PG_DIAG_SQLSTATE);

    return state == NULL || strncmp(state, "57P", 3) == 0
           || strncmp(state, "08", 2) == 0 || strcmp(state, "25006") == 0;
}

/* Handles one result. Returns 0, or -1: the connection is lost. */
static int
tg_pg_on_result(tg_store_pg_t *db, const PGresult *result)
{
    tg_store_query_t *query;

    switch (db->pq->resultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
        tg_pg_read_result(db, result, tg_pg_get_query(db->current));
        break;

    case PGRES_FATAL_ERROR:
        if (tg_pg_is_server_leaving(db, result)) {
            return -1;
        }

        /* An error of the commit goes to the first query of the batch. */
        query = tg_pg_get_query(db->current != NULL ? db->current
                                                    : TAILQ_FIRST(&db->sent));
        db->has_failed = 1;
        tg_buf_reset(&query->json, 0);
        tg_pg_append_message(&query->json,
                             db->pq->resultErrorField(result,
                                                      PG_DIAG_MESSAGE_PRIMARY));
        break;

    default:
        break;
    }

    return 0;
}

/*
 * Reads available results. Returns 1: all are read; 0: more will follow; -1:
 * the connection is lost.
 */
static int
tg_pg_read_results(tg_store_pg_t *db)
{
    PGresult *result;
    int rc;

    while (!db->pq->isBusy(db->conn)) {
        result = db->pq->getResult(db->conn);

        if (result == NULL) {
            /* NULL ends the results of a query. */
            db->current = db->current != NULL ? TAILQ_NEXT(db->current, next)
                                              : NULL;
            continue;
        }

        rc = db->pq->resultStatus(result) == PGRES_PIPELINE_SYNC
                 ? 1
                 : tg_pg_on_result(db, result);

        db->pq->clear(result);

        if (rc != 0) {
            return rc;
        }
    }

    return 0;
}

static void
tg_pg_read_notifications(tg_store_pg_t *db)
{
    PGnotify *notice;

    while (db->conn != NULL && (notice = db->pq->notifies(db->conn)) != NULL) {
        if (notice->be_pid != db->pq->backendPID(db->conn)
            && db->store.on_broadcast != NULL)
        {
            db->store.on_broadcast(db->store.host,
                                   tg_str_from_cstr(notice->extra));
        }

        db->pq->freemem(notice);
    }
}

static void
tg_pg_on_poll(uv_poll_t *poll, int status, int events)
{
    tg_store_pg_t *db;
    int rc;

    db = poll->data;

    if (status != 0 || !db->pq->consumeInput(db->conn)) {
        tg_pg_drop_conn(db);
        return;
    }

    rc = db->state == TG_PG_BUSY ? tg_pg_read_results(db) : 0;

    if (rc < 0) {
        tg_pg_drop_conn(db);
        return;
    }

    tg_pg_read_notifications(db);

    if (rc > 0) {
        tg_pg_on_answered(db);
    }

    if (db->poll == poll && db->conn != NULL) {
        tg_pg_flush_and_poll(db);
    }
}
