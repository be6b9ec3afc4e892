/* The SQLite task store: key-value records beside the tasks. */
#include "runner_store.h"

static int
test_write_record(const char *key, const char *value, int is_new)
{
    tg_store_record_t records[2];
    tg_store_query_t query;

    test_begin(&query, TG_STORE_WRITE_RECORDS);
    records[0].key = TG_STR("first");
    records[0].value = tg_str_from_cstr(value != NULL ? value : "0");
    records[0].is_new = 0;
    records[1].key = tg_str_from_cstr(key);
    records[1].value = value != NULL ? tg_str_from_cstr(value) : TG_STR_NONE;
    records[1].is_new = is_new;
    query.records = records;
    query.nrecords = 2;
    (void) test_wait(&query);
    tg_store_query_deinit(&query);

    return query.rc;
}

HELP_TEST(records, "records are written together, with a task or alone")
{
    tg_store_record_t record;
    tg_store_query_t query;

    test_fresh("notes");
    QUERY_IS(TG_STORE_READ_RECORDS, 0, TG_STR_NONE, "{}");
    CU_ASSERT(test_write_record("a\"b", "{\"x\":1}", 1) == TG_OK);
    QUERY_IS(TG_STORE_READ_RECORDS, 0, TG_STR_NONE,
             "{\"first\":{\"x\":1},\"a\\\"b\":{\"x\":1}}");
    CU_ASSERT(test_write_record("a\"b", "[2]", 0) == TG_OK);
    CU_ASSERT(test_write_record("a\"b", "3", 1) == TG_EXISTS);
    QUERY_IS(TG_STORE_READ_RECORDS, 0, TG_STR_NONE,
             "{\"first\":[2],\"a\\\"b\":[2]}");
    CU_ASSERT(test_write_record("a\"b", NULL, 0) == TG_OK);
    QUERY_IS(TG_STORE_READ_RECORDS, 0, TG_STR_NONE, "{\"first\":0}");

    /* Neither of them. */
    test_begin(&query, TG_STORE_SUBMIT);
    query.prompt = TG_STR("p");
    query.agent = TG_STR("a");
    record.key = TG_STR("task");
    record.value = TG_STR("1");
    record.is_new = 1;
    query.records = &record;
    query.nrecords = 1;
    CU_ASSERT(test_wait(&query) == TG_OK);
    CU_ASSERT(test_wait(&query) == TG_EXISTS);
    record.key = TG_STR("other");
    query.limit = 1;
    CU_ASSERT(test_wait(&query) == TG_LIMIT);
    tg_store_query_deinit(&query);
    QUERY_IS(TG_STORE_READ_RECORDS, 0, TG_STR_NONE, "{\"first\":0,\"task\":1}");
    QUERY_IS(TG_STORE_STATS, 0, TG_STR_NONE,
             "{\"total\":1,\"queued\":1,\"running\":0,\"completed\":0,"
             "\"failed\":0,\"cancelled\":0}");
    test_close();
    test_remove("notes");
}

HELP_TEST(repeated, "a submission with a token is stored once")
{
    const char *tokens[] = { "x", "y", "x", "x", NULL };
    const int64_t ids[] = { 0, 1, 0, 0 };
    tg_store_query_t query;
    int i;

    test_fresh("repeated");

    for (i = 0; tokens[i] != NULL; i++) {
        test_begin(&query, TG_STORE_SUBMIT);
        query.prompt = TG_STR("p");
        query.agent = TG_STR("a");
        query.token = tg_str_from_cstr(tokens[i]);
        query.limit = i < 3 ? 100 : 0;
        CU_ASSERT(test_wait(&query) == TG_OK && query.id == ids[i]);
        tg_store_query_deinit(&query);
    }

    CU_ASSERT(test_submit("a", 0, "p") == 2);
    test_close();
    test_remove("repeated");
}
