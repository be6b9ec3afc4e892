/*
 * A store in a test process: it is asked, and the loop runs until it has
 * answered.
 */
#ifndef RUNNER_STORE_H
#define RUNNER_STORE_H

#include "core_help.h"

#include "base/tg_json.h"
#include "runner/store/tg_sqlite.h"
#include "runner/store/tg_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ERROR "it was interrupted"

static uv_loop_t test_loop;
static tg_store_t *test_store;
static tg_store_agents_t test_agents;
static int64_t test_retry;   /* of all of them */
static unsigned test_nasked; /* and not answered */
static int64_t test_now;

static inline void
test_done(tg_store_ask_t *ask)
{
    test_nasked--;
}

static inline void
test_ask(tg_store_ask_t *ask)
{
    ask->now = ++test_now;
    test_nasked++;
    test_store->kind->ask(test_store, ask);
}

static inline int
test_wait(tg_store_ask_t *ask)
{
    test_ask(ask);

    while (test_nasked != 0) {
        uv_run(&test_loop, UV_RUN_ONCE);
    }

    return ask->rc;
}

static inline void
test_begin(tg_store_ask_t *ask, tg_store_op_t op)
{
    tg_store_ask_init(ask, op, test_done, NULL);
    ask->state = TG_TASK_STATES;
    ask->limit = 1000;
    ask->error = TG_STR(ERROR);
    ask->agents = &test_agents;
}

static inline int
test_open(const char *name, tg_store_ask_t *ask)
{
    char where[128];

    uv_loop_init(&test_loop);
    snprintf(where, sizeof(where), "sqlite:%s", help_path(name));
    test_store = tg_store_new(&test_loop, tg_str_c(where), "here");
    CU_ASSERT_FATAL(test_store != NULL);
    test_begin(ask, TG_STORE_OPEN);

    return test_wait(ask);
}

static inline void
test_close(void)
{
    test_store->kind->close(test_store, NULL, NULL);
    uv_run(&test_loop, UV_RUN_DEFAULT);
    CU_ASSERT(uv_loop_close(&test_loop) == 0);
}

static inline void
test_fresh(const char *name)
{
    tg_store_ask_t ask;

    CU_ASSERT_FATAL(test_open(name, &ask) == TG_OK);
    HELP_EQ(tg_buf_view(&ask.json), "{\"queued\":[],\"failed\":[]}");
    tg_store_ask_deinit(&ask);
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
    tg_store_ask_t ask;
    int64_t id;

    test_begin(&ask, TG_STORE_SUBMIT);
    ask.prompt = tg_str_c(prompt);
    ask.agent = tg_str_c(agent);
    ask.priority = priority;
    id = test_wait(&ask) == TG_OK ? ask.id : -ask.rc;
    tg_store_ask_deinit(&ask);

    return id;
}

/* Of agents, one letter each; or -rc. */
static inline int64_t
test_claim(const char *agents)
{
    tg_store_ask_t ask;
    int64_t id;

    for (test_agents.n = 0; *agents != '\0'; agents++) {
        test_agents.retries[test_agents.n] = test_retry;
        snprintf(test_agents.names[test_agents.n++], 2, "%c", *agents);
    }

    test_begin(&ask, TG_STORE_CLAIM);
    id = test_wait(&ask) == TG_OK ? ask.id : -ask.rc;
    tg_store_ask_deinit(&ask);

    return id;
}

static inline int
test_id(tg_store_op_t op, int64_t id, tg_task_state_t state)
{
    tg_store_ask_t ask;

    test_begin(&ask, op);
    ask.id = id;
    ask.state = state;
    (void) test_wait(&ask);
    tg_store_ask_deinit(&ask);

    return ask.rc;
}

#define TOLD(op, id, agent, pattern)                                           \
    test_told(op, id, agent, pattern, __FILE__, __LINE__)
static inline void
test_told(tg_store_op_t op, int64_t id, tg_str_t agent, const char *pattern,
          const char *file, int line)
{
    tg_store_ask_t ask;

    test_begin(&ask, op);
    ask.id = id;
    ask.agent = agent;
    CU_ASSERT(test_wait(&ask) == TG_OK);
    help_json(tg_buf_view(&ask.json), pattern, file, line);
    tg_store_ask_deinit(&ask);
}

static inline void
test_sql(const char *name, const char *text)
{
    const tg_sqlite_t *sqlite;
    const char *why;
    sqlite3 *db;

    sqlite = tg_sqlite(&why);
    CU_ASSERT_FATAL(sqlite->open_v2(help_path(name), &db,
                                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                    NULL)
                    == SQLITE_OK);
    CU_ASSERT(sqlite->exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    (void) sqlite->close(db);
}

#endif
