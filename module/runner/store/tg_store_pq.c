#include "runner/store/tg_store_pq.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static void tg_pq_go_on(tg_store_pq_t *db);
static void tg_pq_on_tick(uv_timer_t *timer);

/* --- answers --- */

/* What is asked by those who are told waits. */
static void
tg_pq_answer_all(tg_works_t *works)
{
    tg_works_t list;
    tg_work_t *work;

    TAILQ_INIT(&list);
    TAILQ_CONCAT(&list, works, next);

    while ((work = TAILQ_FIRST(&list)) != NULL) {
        TAILQ_REMOVE(&list, work, next);
        tg_store_answer(tg_pq_asked(work));
    }
}

static void
tg_pq_put_back(tg_store_pq_t *db)
{
    TAILQ_CONCAT(&db->sent, &db->waiting, next);
    TAILQ_CONCAT(&db->waiting, &db->sent, next);
}

/* It is not known whether what was sent was done: it may be that it was. */
static void
tg_pq_refuse(tg_store_pq_t *db)
{
    tg_store_ask_t *ask;
    tg_work_t *work;

    for (work = TAILQ_FIRST(&db->waiting); work != NULL;
         work = TAILQ_NEXT(work, next))
    {
        ask = tg_pq_asked(work);
        ask->rc = TG_BAD;
        tg_buf_reset(&ask->json, 0);
        tg_buf_text(&ask->json, ask->op != TG_STORE_OPEN
                                    ? "the database cannot be reached: "
                                    : "");
        tg_buf_str(&ask->json, tg_buf_view(&db->why));

        if (ask->serial != 0) {
            tg_buf_text(&ask->json, "; it was asked before, and may have done "
                                    "it");
        }
    }

    tg_pq_answer_all(&db->waiting);
}

static void
tg_pq_answered(tg_store_pq_t *db)
{
    tg_works_t done;

    db->state = TG_PQ_READY;

    /* None of it was done: each has its own chance, and its own mistake. */
    if (db->has_failed && db->nsent > 1) {
        db->nalone = db->nsent;
        tg_pq_put_back(db);
        tg_pq_go_on(db);
        return;
    }

    if (db->has_failed) {
        tg_pq_asked(TAILQ_FIRST(&db->sent))->rc = TG_BAD;
    }

    TAILQ_INIT(&done);
    TAILQ_CONCAT(&done, &db->sent, next);
    tg_pq_answer_all(&done);
    tg_pq_go_on(db);
}

/* --- questions --- */

static void
tg_pq_go_on(tg_store_pq_t *db)
{
    tg_store_ask_t *ask;
    tg_work_t *work;
    unsigned most;

    if (db->state != TG_PQ_READY || TAILQ_EMPTY(&db->waiting)) {
        return;
    }

    most = db->nalone != 0 ? 1 : TG_LANE_BATCH;
    db->nalone -= db->nalone != 0;

    for (db->nsent = 0; db->nsent < most; db->nsent++) {
        work = TAILQ_FIRST(&db->waiting);

        if (work == NULL) {
            break;
        }

        ask = tg_pq_asked(work);
        ask->serial = ask->serial != 0 ? ask->serial : ++db->serial;
        TAILQ_REMOVE(&db->waiting, work, next);
        TAILQ_INSERT_TAIL(&db->sent, work, next);
    }

    db->sent_at = uv_now(db->loop);
    tg_pq_send(db);
}

static void
tg_pq_store_ask(tg_store_t *store, tg_store_ask_t *ask)
{
    tg_store_pq_t *db;

    db = (tg_store_pq_t *) store;
    ask->serial = 0;
    TAILQ_INSERT_TAIL(&db->waiting, &ask->work, next);
    tg_pq_go_on(db);
}

static void
tg_pq_store_leave(tg_store_t *store)
{
    tg_store_pq_t *db;

    db = (tg_store_pq_t *) store;
    db->is_left = 1;
    (void) uv_timer_start(&db->timer, tg_pq_on_tick, 0, TG_PQ_TICK_MS);
}

/* --- its states --- */

static void
tg_pq_on_closed(uv_handle_t *handle)
{
    tg_store_pq_t *db;

    db = handle->data;
    tg_buf_deinit(&db->why);

    if (db->closed != NULL) {
        db->closed(db->host);
    }

    free(db->password);
    free(db->name);
    free(db->where);
    free(db);
}

static void
tg_pq_end(tg_store_pq_t *db)
{
    tg_pq_shut(db);
    uv_close((uv_handle_t *) &db->timer, tg_pq_on_closed);
}

static void
tg_pq_connected(tg_store_pq_t *db)
{
    db->state = TG_PQ_READY;
    tg_buf_reset(&db->why, 0);
    tg_pq_go_on(db);
}

/* Asked to open, nobody waits for it to come up. */
static void
tg_pq_lost(tg_store_pq_t *db)
{
    const tg_work_t *first;

    if (db->state > TG_PQ_CONNECTING) {
        db->lost_at = uv_now(db->loop);
    }

    db->state = TG_PQ_CLOSED;
    tg_pq_put_back(db);
    first = TAILQ_FIRST(&db->waiting);

    if (db->is_closing) {
        tg_pq_end(db);
    } else if (db->is_left
               || (first != NULL && tg_pq_asked(first)->op == TG_STORE_OPEN))
    {
        tg_pq_refuse(db);
    }
}

static void
tg_pq_on_tick(uv_timer_t *timer)
{
    tg_store_pq_t *db;
    uint64_t now;

    db = timer->data;
    now = uv_now(db->loop);

    if (db->state == TG_PQ_BUSY
        && now - db->sent_at > (db->is_left ? TG_PQ_LEAVE_MS : TG_PQ_ANSWER_MS))
    {
        tg_buf_reset(&db->why, 0);
        tg_buf_text(&db->why, "it did not answer");
        tg_pq_shut(db);
        tg_pq_lost(db);
    }

    /* Who was refused just now may have closed it. */
    if (db->state == TG_PQ_CLOSED && !db->is_left && !db->is_closing) {
        tg_pq_connect(db);
    }

    if (db->state <= TG_PQ_CONNECTING
        && (db->is_left || now - db->lost_at > TG_PQ_WAIT_MS))
    {
        tg_pq_refuse(db);
    }
}

static void
tg_pq_store_close(tg_store_t *store, void (*closed)(void *host), void *host)
{
    tg_store_pq_t *db;

    db = (tg_store_pq_t *) store;
    db->closed = closed;
    db->host = host;
    db->is_closing = 1;

    if (db->state != TG_PQ_CONNECTING) {
        tg_pq_end(db);
    }
}

static void
tg_pq_store_let(tg_store_t *store, tg_str_t password)
{
    tg_store_pq_t *db;

    db = (tg_store_pq_t *) store;
    free(db->password);
    db->password = password.len != 0 ? strndup(password.data, password.len)
                                     : NULL;
}

static const tg_pq_ops_t tg_store_pq_ops = {
    .connected = tg_pq_connected,
    .lost = tg_pq_lost,
    .answered = tg_pq_answered,
};

static const tg_store_kind_t tg_store_pq_kind = {
    .ask = tg_pq_store_ask,
    .close = tg_pq_store_close,
    .let = tg_pq_store_let,
    .leave = tg_pq_store_leave,
    .is_shared = 1,
};

/* Hard to guess, so that no two are alike. */
static int
tg_pq_make_runner(tg_store_pq_t *db)
{
    unsigned char bytes[TG_PQ_RUNNER / 2];
    tg_buf_t text;
    size_t i;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return -1;
    }

    text = tg_buf_fixed(db->runner, sizeof(db->runner));

    for (i = 0; i < sizeof(bytes); i++) {
        tg_buf_printf(&text, "%02x", bytes[i]);
    }

    return 0;
}

tg_store_t *
tg_store_pq_new(uv_loop_t *loop, tg_str_t where, const char *name)
{
    tg_store_pq_t *db;

    db = calloc(1, sizeof(*db));

    if (db == NULL) {
        return NULL;
    }

    db->where = strndup(where.data, where.len);
    db->name = strdup(name);

    if (db->where == NULL || db->name == NULL || tg_pq_make_runner(db) != 0) {
        free(db->where);
        free(db->name);
        free(db);
        return NULL;
    }

    db->store.kind = &tg_store_pq_kind;
    db->ops = &tg_store_pq_ops;
    db->loop = loop;
    db->lost_at = uv_now(loop);
    tg_buf_init(&db->why, tg_alloc_libc());
    TAILQ_INIT(&db->waiting);
    TAILQ_INIT(&db->sent);
    (void) uv_timer_init(loop, &db->timer);
    db->timer.data = db;
    (void) uv_timer_start(&db->timer, tg_pq_on_tick, 0, TG_PQ_TICK_MS);

    return &db->store;
}
