/* A PostgreSQL store that does not respond is given up. */
#include "protocol_help.h"

#include "tasks/store/tg_store_pg.h"

static tg_store_t *test_store;
static unsigned test_nanswers;
static unsigned test_nclosed;

static void
test_on_closed(void *host)
{
    test_nclosed++;
}

/* Works like tasks whose store cannot be opened. */
static void
test_on_open(tg_store_query_t *query)
{
    test_nanswers++;
    CU_ASSERT(query->rc == TG_INVALID);
    HELP_EQ(tg_buf_view(&query->json),
            "it did not answer; it may already have executed the statement");
    test_store->backend->close(test_store, test_on_closed, NULL);
}

HELP_TEST(mute, "a store that was given up is closed and not reopened")
{
    tg_store_query_t query;
    tg_store_pg_t *db;
    uv_loop_t loop;

    uv_loop_init(&loop);
    test_store = tg_store_new(&loop, TG_STR("postgresql:nobody"), "here");
    CU_ASSERT_FATAL(test_store != NULL);
    db = (tg_store_pg_t *) test_store;
    tg_store_query_init(&query, TG_STORE_OPEN, test_on_open, NULL);
    test_store->backend->query(test_store, &query);

    /* The query was sent long ago. */
    TAILQ_CONCAT(&db->sent, &db->waiting, next);
    query.serial = ++db->serial;
    db->nsent = 1;
    db->state = TG_PG_BUSY;
    db->sent_at = uv_now(&loop) - TG_PG_ANSWER_TIMEOUT_MS - 1;
    uv_run(&loop, UV_RUN_DEFAULT);
    CU_ASSERT(test_nanswers == 1);
    CU_ASSERT(test_nclosed == 1);
    CU_ASSERT(uv_loop_close(&loop) == 0);
    tg_store_query_deinit(&query);
}
