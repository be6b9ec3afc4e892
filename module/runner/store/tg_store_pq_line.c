#include "runner/store/tg_store_pq.h"

#include <stdlib.h>

/* --- in a thread: names are resolved and files read there --- */

static void
tg_pq_silent(void *data, const char *message)
{
}

/* What must work, and is freed: 0, or -1: why_not says why. */
static int
tg_pq_must(tg_store_pq_t *db, PGresult *result)
{
    const char *message;
    int is_good;

    is_good = db->pq->resultStatus(result) == PGRES_COMMAND_OK
              || db->pq->resultStatus(result) == PGRES_TUPLES_OK;

    if (!is_good) {
        message = db->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        tg_pq_say(&db->why_not,
                  message != NULL ? message : db->pq->errorMessage(db->made));
    }

    db->pq->clear(result);

    return is_good ? 0 : -1;
}

static int
tg_pq_run(tg_store_pq_t *db, const char *text, const char *value)
{
    return tg_pq_must(db, value == NULL
                              ? db->pq->exec(db->made, text)
                              : db->pq->execParams(db->made, text, 1, NULL,
                                                   &value, NULL, NULL, 0));
}

/* To plan one of them takes longer than to do it. */
static int
tg_pq_run_ready(tg_store_pq_t *db)
{
    int i, rc;

    for (i = 0, rc = 0; rc == 0 && i < TG_PQ_STATEMENTS; i++) {
        rc = tg_pq_is_ready(i) ? tg_pq_must(db, tg_pq_ready(db, i)) : 0;
    }

    return rc;
}

static int
tg_pq_prepare(tg_store_pq_t *db)
{
    if (db->pq->status(db->made) != CONNECTION_OK) {
        tg_pq_say(&db->why_not, db->pq->errorMessage(db->made));
        return -1;
    }

    return tg_pq_look(db->pq, db->made, &db->why_not) == TG_OK
                   && tg_pq_run(db, tg_pq_setup, NULL) == 0
                   && tg_pq_run(db, tg_pq_sign, db->runner) == 0
                   && tg_pq_run_ready(db) == 0
                   && db->pq->setnonblocking(db->made, 1) == 0
                   && db->pq->enterPipelineMode(db->made)
               ? 0
               : -1;
}

static void
tg_pq_dial(tg_store_pq_t *db)
{
    tg_pq_info_t info;
    const char *text;

    db->pq = tg_pq(&text);

    if (db->pq == NULL) {
        tg_buf_text(&db->why_not, text);
        return;
    }

    db->made = tg_pq_info_init(&info, db->where, db->secret) == TG_OK
                   ? db->pq->connectdbParams(info.names, info.values, 1)
                   : NULL;
    tg_pq_info_deinit(&info);

    if (db->made == NULL) {
        tg_buf_text(&db->why_not, "toolgate-runner has no memory left");
        return;
    }

    (void) db->pq->setNoticeProcessor(db->made, tg_pq_silent, NULL);

    if (tg_pq_prepare(db) != 0) {
        db->pq->finish(db->made);
        db->made = NULL;
    }
}

/* The thread has other things to do than to keep what OpenSSL needs in it. */
static void
tg_pq_on_connect(uv_work_t *req)
{
    tg_store_pq_t *db;

    db = req->data;
    tg_pq_dial(db);

    if (db->pq != NULL && db->pq->thread_stop != NULL) {
        db->pq->thread_stop();
    }
}

/* --- in the loop --- */

static void tg_pq_on_poll(uv_poll_t *poll, int status, int events);

static void
tg_pq_on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

void
tg_pq_shut(tg_store_pq_t *db)
{
    if (db->poll != NULL) {
        uv_close((uv_handle_t *) db->poll, tg_pq_on_poll_closed);
        db->poll = NULL;
    }

    if (db->conn != NULL) {
        db->pq->finish(db->conn);
        db->conn = NULL;
    }
}

static void
tg_pq_break(tg_store_pq_t *db)
{
    tg_buf_reset(&db->why, 0);
    tg_pq_say(&db->why, db->pq->errorMessage(db->conn));
    tg_pq_shut(db);
    db->ops->lost(db);
}

/* Sends what there is, and listens. */
static void
tg_pq_listen(tg_store_pq_t *db)
{
    int left;

    left = db->pq->flush(db->conn);

    if (left < 0
        || uv_poll_start(db->poll, UV_READABLE | (left ? UV_WRITABLE : 0),
                         tg_pq_on_poll)
               != 0)
    {
        tg_pq_break(db);
    }
}

static void
tg_pq_on_connected(uv_work_t *req, int status)
{
    tg_store_pq_t *db;

    db = req->data;
    free(db->secret);
    db->secret = NULL;
    db->conn = db->made;
    db->made = NULL;
    tg_buf_reset(&db->why, 0);
    tg_buf_str(&db->why, tg_buf_view(&db->why_not));
    tg_buf_deinit(&db->why_not);

    if (db->conn != NULL && !db->is_closing) {
        db->poll = malloc(sizeof(*db->poll));

        if (db->poll == NULL
            || uv_poll_init(db->loop, db->poll, db->pq->socket(db->conn)) != 0)
        {
            free(db->poll);
            db->poll = NULL;
            tg_buf_text(&db->why, "its socket cannot be watched");
        }
    }

    if (db->poll == NULL) {
        tg_pq_shut(db);
        db->ops->lost(db);
        return;
    }

    db->poll->data = db;
    db->ops->connected(db);

    if (db->conn != NULL) {
        tg_pq_listen(db);
    }
}

void
tg_pq_connect(tg_store_pq_t *db)
{
    db->state = TG_PQ_CONNECTING;
    db->connect.data = db;
    db->secret = db->password != NULL ? strdup(db->password) : NULL;
    tg_buf_init(&db->why_not, tg_alloc_libc());
    (void) uv_queue_work(db->loop, &db->connect, tg_pq_on_connect,
                         tg_pq_on_connected);
}

void
tg_pq_send(tg_store_pq_t *db)
{
    tg_work_t *work;

    db->state = TG_PQ_BUSY;
    db->at = TAILQ_FIRST(&db->sent);
    db->has_failed = 0;

    for (work = db->at; work != NULL; work = TAILQ_NEXT(work, next)) {
        if (!tg_pq_send_ask(db, tg_pq_asked(work))) {
            tg_pq_break(db);
            return;
        }
    }

    if (!db->pq->pipelineSync(db->conn)) {
        tg_pq_break(db);
        return;
    }

    tg_pq_listen(db);
}

/*
 * The server is ending, or cannot write any more: not the question's fault, and
 * another one may do it.
 */
static int
tg_pq_is_leaving(const tg_store_pq_t *db, const PGresult *result)
{
    const char *state;

    state = db->pq->resultErrorField(result, PG_DIAG_SQLSTATE);

    return state == NULL || strncmp(state, "57P", 3) == 0
           || strncmp(state, "08", 2) == 0 || strcmp(state, "25006") == 0;
}

/* One result; 0, or -1: the connection is lost. */
static int
tg_pq_on_result(tg_store_pq_t *db, const PGresult *result)
{
    tg_store_ask_t *ask;

    switch (db->pq->resultStatus(result)) {
    case PGRES_TUPLES_OK:
        tg_pq_read(db, result, tg_pq_asked(db->at));
        break;

    case PGRES_FATAL_ERROR:
        if (tg_pq_is_leaving(db, result)) {
            return -1;
        }

        /* That of all: the commit. */
        ask = tg_pq_asked(db->at != NULL ? db->at : TAILQ_FIRST(&db->sent));
        db->has_failed = 1;
        tg_buf_reset(&ask->json, 0);
        tg_pq_say(&ask->json,
                  db->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
        break;

    default:
        break;
    }

    return 0;
}

/* 1: all was answered; 0: more will come; -1: the connection is lost. */
static int
tg_pq_take(tg_store_pq_t *db)
{
    PGresult *result;
    int rc;

    while (!db->pq->isBusy(db->conn)) {
        result = db->pq->getResult(db->conn);

        if (result == NULL) {
            /* The end of one. */
            db->at = db->at != NULL ? TAILQ_NEXT(db->at, next) : NULL;
            continue;
        }

        rc = db->pq->resultStatus(result) == PGRES_PIPELINE_SYNC
                 ? 1
                 : tg_pq_on_result(db, result);

        db->pq->clear(result);

        if (rc != 0) {
            return rc;
        }
    }

    return 0;
}

static void
tg_pq_hear(tg_store_pq_t *db)
{
    PGnotify *notice;

    while (db->conn != NULL && (notice = db->pq->notifies(db->conn)) != NULL) {
        if (notice->be_pid != db->pq->backendPID(db->conn)
            && db->store.heard != NULL) {
            db->store.heard(db->store.host, tg_str_c(notice->extra));
        }

        db->pq->freemem(notice);
    }
}

static void
tg_pq_on_poll(uv_poll_t *poll, int status, int events)
{
    tg_store_pq_t *db;
    int rc;

    db = poll->data;

    if (status != 0 || !db->pq->consumeInput(db->conn)) {
        tg_pq_break(db);
        return;
    }

    rc = db->state == TG_PQ_BUSY ? tg_pq_take(db) : 0;

    if (rc < 0) {
        tg_pq_break(db);
        return;
    }

    tg_pq_hear(db);

    if (rc > 0) {
        db->ops->answered(db);
    }

    if (db->poll == poll && db->conn != NULL) {
        tg_pq_listen(db);
    }
}
