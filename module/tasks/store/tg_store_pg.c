/*
 * The PostgreSQL task store in the event loop: its queue of queries, its
 * states, timeouts and reconnects.
 */
#include "tasks/store/tg_store_pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static void tg_pg_send_waiting(tg_store_pg_t *db);
static void tg_pg_on_tick(uv_timer_t *timer);

/* --- results --- */

/* Takes the queries off the list first, as callbacks may add new ones to it. */
static void
tg_pg_complete_queries(tg_work_list_t *works)
{
    tg_work_list_t list;
    tg_work_item_t *work;

    TAILQ_INIT(&list);
    TAILQ_CONCAT(&list, works, next);

    while ((work = TAILQ_FIRST(&list)) != NULL) {
        TAILQ_REMOVE(&list, work, next);
        tg_store_query_complete(tg_pg_get_query(work));
    }
}

static void
tg_pg_requeue_sent(tg_store_pg_t *db)
{
    TAILQ_CONCAT(&db->sent, &db->waiting, next);
    TAILQ_CONCAT(&db->waiting, &db->sent, next);
}

/*
 * Fails all waiting queries; the error says if a query may have been executed.
 */
static void
tg_pg_fail_waiting(tg_store_pg_t *db)
{
    tg_store_query_t *query;
    tg_work_item_t *work;

    TAILQ_FOREACH(work, &db->waiting, next)
    {
        query = tg_pg_get_query(work);
        query->rc = TG_INVALID;
        tg_buf_reset(&query->json, 0);
        tg_buf_append_cstr(&query->json,
                           query->op != TG_STORE_OPEN
                               ? "the database cannot be reached: "
                               : "");
        tg_buf_append_str(&query->json, tg_buf_view(&db->why));

        if (query->serial != 0) {
            tg_buf_append_cstr(&query->json,
                               "; it may already have executed the statement");
        }
    }

    tg_pg_complete_queries(&db->waiting);
}

void
tg_pg_on_answered(tg_store_pg_t *db)
{
    tg_work_list_t done;

    db->state = TG_PG_READY;

    /*
     * Each query gets its own transaction, so that only the faulty one fails.
     */
    if (db->has_failed && db->nsent > 1) {
        db->nsingle = db->nsent;
        tg_pg_requeue_sent(db);
        tg_pg_send_waiting(db);
        return;
    }

    if (db->has_failed) {
        tg_pg_get_query(TAILQ_FIRST(&db->sent))->rc = TG_INVALID;
    }

    TAILQ_INIT(&done);
    TAILQ_CONCAT(&done, &db->sent, next);
    tg_pg_complete_queries(&done);
    tg_pg_send_waiting(db);
}

/* --- sending --- */

static void
tg_pg_send_waiting(tg_store_pg_t *db)
{
    tg_store_query_t *query;
    tg_work_item_t *work;
    unsigned max;

    if (db->state != TG_PG_READY || TAILQ_EMPTY(&db->waiting)) {
        return;
    }

    max = db->nsingle != 0 ? 1 : TG_BATCH_THREAD_BATCH_MAX;
    db->nsingle -= db->nsingle != 0;

    for (db->nsent = 0; db->nsent < max; db->nsent++) {
        work = TAILQ_FIRST(&db->waiting);

        if (work == NULL) {
            break;
        }

        query = tg_pg_get_query(work);
        query->serial = query->serial != 0 ? query->serial : ++db->serial;
        TAILQ_REMOVE(&db->waiting, work, next);
        TAILQ_INSERT_TAIL(&db->sent, work, next);
    }

    db->sent_at = uv_now(db->loop);
    tg_pg_send_batch(db);
}

static void
tg_pg_queue_query(tg_store_t *store, tg_store_query_t *query)
{
    tg_store_pg_t *db;

    db = (tg_store_pg_t *) store;
    query->serial = 0;
    TAILQ_INSERT_TAIL(&db->waiting, &query->work, next);
    tg_pg_send_waiting(db);
}

static void
tg_pg_stop_waiting(tg_store_t *store)
{
    tg_store_pg_t *db;

    db = (tg_store_pg_t *) store;
    db->is_exiting = 1;
    (void) uv_timer_start(&db->timer, tg_pg_on_tick, 0, TG_PG_TICK_MS);
}

/* --- states --- */

static void
tg_pg_on_closed(uv_handle_t *handle)
{
    tg_store_pg_t *db;

    db = handle->data;
    tg_buf_deinit(&db->why);

    if (db->closed != NULL) {
        db->closed(db->host);
    }

    free(db->password);
    free(db->name);
    free(db->location);
    free(db);
}

static void
tg_pg_close_handles(tg_store_pg_t *db)
{
    tg_pg_close_conn(db);
    uv_close((uv_handle_t *) &db->timer, tg_pg_on_closed);
}

void
tg_pg_on_connected(tg_store_pg_t *db)
{
    db->state = TG_PG_READY;
    tg_buf_reset(&db->why, 0);
    tg_pg_send_waiting(db);
}

/*
 * Queues the sent queries again. If the first query is TG_STORE_OPEN, all fail
 * at once instead of waiting.
 */
void
tg_pg_on_lost(tg_store_pg_t *db)
{
    const tg_work_item_t *first;

    if (db->state > TG_PG_CONNECTING) {
        db->lost_at = uv_now(db->loop);
    }

    db->state = TG_PG_CLOSED;
    tg_pg_requeue_sent(db);
    first = TAILQ_FIRST(&db->waiting);

    if (db->is_closing) {
        tg_pg_close_handles(db);
    } else if (db->is_exiting
               || (first != NULL
                   && tg_pg_get_query(first)->op == TG_STORE_OPEN))
    {
        tg_pg_fail_waiting(db);
    }
}

static void
tg_pg_on_tick(uv_timer_t *timer)
{
    tg_store_pg_t *db;
    uint64_t now;

    db = timer->data;
    now = uv_now(db->loop);

    if (db->state == TG_PG_BUSY
        && now - db->sent_at > (db->is_exiting ? TG_PG_EXIT_TIMEOUT_MS
                                               : TG_PG_ANSWER_TIMEOUT_MS))
    {
        tg_buf_reset(&db->why, 0);
        tg_buf_append_cstr(&db->why, "it did not answer");
        tg_pg_close_conn(db);
        tg_pg_on_lost(db);
    }

    /* The callback of a failed query may have closed the store. */
    if (db->state == TG_PG_CLOSED && !db->is_exiting && !db->is_closing) {
        tg_pg_connect(db);
    }

    if (db->state <= TG_PG_CONNECTING
        && (db->is_exiting || now - db->lost_at > TG_PG_RECONNECT_WAIT_MS))
    {
        tg_pg_fail_waiting(db);
    }
}

static void
tg_pg_close_store(tg_store_t *store, void (*closed)(void *host), void *host)
{
    tg_store_pg_t *db;

    db = (tg_store_pg_t *) store;
    db->closed = closed;
    db->host = host;
    db->is_closing = 1;

    if (db->state != TG_PG_CONNECTING) {
        tg_pg_close_handles(db);
    }
}

static void
tg_pg_set_password(tg_store_t *store, tg_str_t password)
{
    tg_store_pg_t *db;

    db = (tg_store_pg_t *) store;
    free(db->password);
    db->password = password.len != 0 ? strndup(password.data, password.len)
                                     : NULL;
}

static const tg_store_backend_t tg_store_pg_backend = {
    .query = tg_pg_queue_query,
    .close = tg_pg_close_store,
    .set_password = tg_pg_set_password,
    .abandon = tg_pg_stop_waiting,
    .is_shared = 1,
};

/* Generates the runner's id, which nobody can guess. Returns 0 or -1. */
static int
tg_pg_generate_runner_id(tg_store_pg_t *db)
{
    unsigned char bytes[TG_PG_RUNNER_ID_LEN / 2];
    tg_buf_t text;
    size_t i;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return -1;
    }

    text = tg_buf_make_fixed(db->runner, sizeof(db->runner));

    for (i = 0; i < sizeof(bytes); i++) {
        tg_buf_printf(&text, "%02x", bytes[i]);
    }

    return 0;
}

tg_store_t *
tg_store_pg_new(uv_loop_t *loop, tg_str_t location, const char *name)
{
    tg_store_pg_t *db;

    db = calloc(1, sizeof(*db));

    if (db == NULL) {
        return NULL;
    }

    db->location = strndup(location.data, location.len);
    db->name = strdup(name);

    if (db->location == NULL || db->name == NULL
        || tg_pg_generate_runner_id(db) != 0)
    {
        free(db->location);
        free(db->name);
        free(db);
        return NULL;
    }

    db->store.backend = &tg_store_pg_backend;
    db->loop = loop;
    db->lost_at = uv_now(loop);
    tg_buf_init(&db->why, tg_alloc_libc());
    TAILQ_INIT(&db->waiting);
    TAILQ_INIT(&db->sent);
    (void) uv_timer_init(loop, &db->timer);
    db->timer.data = db;
    (void) uv_timer_start(&db->timer, tg_pg_on_tick, 0, TG_PG_TICK_MS);

    return &db->store;
}
