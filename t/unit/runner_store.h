/* A store in a test process: each query runs the loop until it is completed. */
#ifndef RUNNER_STORE_H
#define RUNNER_STORE_H

#include "protocol_help.h"

#include "base/tg_json.h"
#include "tasks/store/tg_libsqlite.h"
#include "tasks/store/tg_store.h"

#include <unistd.h>

#define ERROR "it was interrupted"

static uv_loop_t test_loop;
static tg_store_t *test_store;
static tg_store_agents_t test_agents;
static int64_t test_retry;   /* of all agents */
static unsigned test_nasked; /* queries that are not completed */
static int64_t test_now;

static inline void
test_done(tg_store_query_t *query)
{
    test_nasked--;
}

static inline void
test_run_query(tg_store_query_t *query)
{
    query->now = ++test_now;
    test_nasked++;
    test_store->backend->query(test_store, query);
}

static inline int
test_wait(tg_store_query_t *query)
{
    test_run_query(query);

    while (test_nasked != 0) {
        uv_run(&test_loop, UV_RUN_ONCE);
    }

    return query->rc;
}

static inline void
test_begin(tg_store_query_t *query, tg_store_op_t op)
{
    tg_store_query_init(query, op, test_done, NULL);
    query->state = TG_TASK_STATES;
    query->limit = 1000;
    query->error = TG_STR(ERROR);
    query->agents = &test_agents;
}

static inline int
test_open(const char *name, tg_store_query_t *query)
{
    char location[128];

    uv_loop_init(&test_loop);
    snprintf(location, sizeof(location), "sqlite:%s", help_path(name));
    test_store = tg_store_new(&test_loop, tg_str_from_cstr(location), "here");
    CU_ASSERT_FATAL(test_store != NULL);
    test_begin(query, TG_STORE_OPEN);

    return test_wait(query);
}

static inline void
test_close(void)
{
    test_store->backend->close(test_store, NULL, NULL);
    uv_run(&test_loop, UV_RUN_DEFAULT);
    CU_ASSERT(uv_loop_close(&test_loop) == 0);
}

static inline void
test_fresh(const char *name)
{
    tg_store_query_t query;

    CU_ASSERT_FATAL(test_open(name, &query) == TG_OK);
    HELP_EQ(tg_buf_view(&query.json), "{\"queued\":[],\"failed\":[]}");
    tg_store_query_deinit(&query);
}

static inline void
test_remove(const char *name)
{
    char path[160];

    (void) unlink(help_path(name));
    snprintf(path, sizeof(path), "%s-wal", help_path(name));
    (void) unlink(path);
    snprintf(path, sizeof(path), "%s-shm", help_path(name));
    (void) unlink(path);
}

static inline int64_t
test_submit(const char *agent, int64_t priority, const char *prompt)
{
    tg_store_query_t query;
    int64_t id;

    test_begin(&query, TG_STORE_SUBMIT);
    query.prompt = tg_str_from_cstr(prompt);
    query.agent = tg_str_from_cstr(agent);
    query.priority = priority;
    id = test_wait(&query) == TG_OK ? query.id : -query.rc;
    tg_store_query_deinit(&query);

    return id;
}

/* Claims a task of these agents, one letter each; returns its id or -rc. */
static inline int64_t
test_claim(const char *agents)
{
    tg_store_query_t query;
    int64_t id;

    for (test_agents.n = 0; *agents != '\0'; agents++) {
        test_agents.retries[test_agents.n] = test_retry;
        snprintf(test_agents.names[test_agents.n++], 2, "%c", *agents);
    }

    test_begin(&query, TG_STORE_CLAIM);
    id = test_wait(&query) == TG_OK ? query.id : -query.rc;
    tg_store_query_deinit(&query);

    return id;
}

static inline int
test_id(tg_store_op_t op, int64_t id, tg_task_state_t state)
{
    tg_store_query_t query;

    test_begin(&query, op);
    query.id = id;
    query.state = state;
    (void) test_wait(&query);
    tg_store_query_deinit(&query);

    return query.rc;
}

#define QUERY_IS(op, id, agent, pattern)                                       \
    test_query_is(op, id, agent, pattern, __FILE__, __LINE__)
static inline void
test_query_is(tg_store_op_t op, int64_t id, tg_str_t agent, const char *pattern,
              const char *file, int line)
{
    tg_store_query_t query;

    test_begin(&query, op);
    query.id = id;
    query.agent = agent;
    CU_ASSERT(test_wait(&query) == TG_OK);
    help_json(tg_buf_view(&query.json), pattern, file, line);
    tg_store_query_deinit(&query);
}

static inline void
test_sql(const char *name, const char *text)
{
    const tg_libsqlite_t *sqlite;
    const char *why;
    sqlite3 *db;

    sqlite = tg_libsqlite_load(&why);
    CU_ASSERT_FATAL(sqlite->open_v2(help_path(name), &db,
                                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                    NULL)
                    == SQLITE_OK);
    CU_ASSERT(sqlite->exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    (void) sqlite->close(db);
}

#endif
