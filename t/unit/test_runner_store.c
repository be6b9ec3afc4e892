/* The SQLite task store: its queries and results. */
#include "runner_store.h"

#include "tasks/store/tg_store_sqlite.h"

#include <sys/stat.h>

/* Of agent a and no owner, as the store reports a finished task. */
#define TEST_ENDED(number)                                                     \
    "{\"id\":\"task-" number "\",\"agent\":\"a\",\"owner\":null}"

HELP_TEST(ids, "only valid ids are accepted")
{
    static const char *const wrong[] = {
        "",           "task-",
        "task-1",     "task-00001",
        "task--001",  "job-0001",
        "task-000x",  "Task-0001",
        "task-0001 ", "task-99999999999999999999"
    };
    char room[32];
    tg_buf_t buf;

    CU_ASSERT(tg_task_parse_id(TG_STR("task-0000")) == 0);
    CU_ASSERT(tg_task_parse_id(TG_STR("task-0012")) == 12);
    CU_ASSERT(tg_task_parse_id(TG_STR("task-12345")) == 12345);

    HELP_EACH(row, wrong) {
        CU_ASSERT(tg_task_parse_id(tg_str_from_cstr(*row)) == -1);
    }

    buf = tg_buf_make_fixed(room, sizeof(room));
    tg_task_append_id(&buf, 10000);
    HELP_EQ(tg_buf_view(&buf), "task-10000");
}

HELP_TEST(order, "by priority and age, of agents with free slots")
{
    static const int64_t order[] = { 3, 1, 5, 0, 4, 2 };

    test_fresh("order");
    CU_ASSERT(test_claim("a") == -TG_END);
    CU_ASSERT(test_submit("a", 0, "0") == 0);
    CU_ASSERT(test_submit("a", 5, "1") == 1);
    CU_ASSERT(test_submit("b", -5, "2") == 2);
    CU_ASSERT(test_submit("b", 9, "3") == 3);
    CU_ASSERT(test_submit("a", 0, "4") == 4);
    CU_ASSERT(test_submit("b", 5, "5") == 5);
    CU_ASSERT(test_submit("c", 99, "6") == 6);

    HELP_EACH(row, order) {
        CU_ASSERT(test_claim("ab") == *row);
    }

    CU_ASSERT(test_claim("ab") == -TG_END);
    CU_ASSERT(test_claim("abc") == 6);
    test_close();
    test_remove("order");
}

HELP_TEST(states, "each state, its JSON, and the counts")
{
    tg_store_query_t query;

    test_fresh("states");
    (void) test_submit("a", 7, "say \"hi\"");
    (void) test_submit("a", 0, "two");
    (void) test_submit("b", 0, "three");
    QUERY_IS(
        TG_STORE_GET, 0, TG_STR_NONE,
        "{\"id\":\"task-0000\",\"prompt\":\"say \\\"hi\\\"\",\"agent\":\"a\","
        "\"priority\":7,\"state\":\"queued\",\"createdAt\":\"$string\","
        "\"startedAt\":null,\"completedAt\":null,\"pid\":null,\"error\":null,"
        "\"cwd\":null,\"owner\":null,"
        "\"metadata\":{},\"result\":null,\"output\":null}");
    CU_ASSERT(test_claim("a") == 0);
    CU_ASSERT(test_id(TG_STORE_CANCEL, 0, 0) == TG_AGAIN);
    CU_ASSERT(test_id(TG_STORE_CANCEL, 1, 0) == TG_OK);
    CU_ASSERT(test_id(TG_STORE_CANCEL, 1, 0) == TG_END);
    CU_ASSERT(test_id(TG_STORE_CANCEL, 9, 0) == TG_MISSING);
    CU_ASSERT(test_id(TG_STORE_GET, 9, 0) == TG_MISSING);

    test_begin(&query, TG_STORE_FINISH);
    query.state = TG_TASK_COMPLETED;
    query.pid = 42;
    query.result = TG_STR("r");
    query.error = TG_STR_NONE;
    query.output = TG_STR("o");
    CU_ASSERT(test_wait(&query) == TG_OK);
    tg_store_query_deinit(&query);
    QUERY_IS(
        TG_STORE_GET, 0, TG_STR_NONE,
        "{\"id\":\"task-0000\",\"prompt\":\"$string\",\"agent\":\"a\","
        "\"priority\":7,\"state\":\"completed\",\"createdAt\":\"$string\","
        "\"startedAt\":\"$string\",\"completedAt\":\"$string\",\"pid\":null,"
        "\"error\":null,\"cwd\":null,\"owner\":null,\"metadata\":{},\"result\":"
        "\"r\",\"output\":\"o\"}");

    /* A finished task does not finish again. */
    CU_ASSERT(test_id(TG_STORE_FINISH, 0, TG_TASK_FAILED) == TG_END);
    QUERY_IS(TG_STORE_STATS, 0, TG_STR_NONE,
             "{\"total\":3,\"queued\":1,\"running\":0,\"completed\":1,"
             "\"failed\":0,\"cancelled\":1}");
    QUERY_IS(
        TG_STORE_STATUS, 0, TG_STR_NONE,
        "{\"queued\":1,\"tasks\":[{\"id\":\"task-0002\",\"prompt\":\"three\","
        "\"agent\":\"b\",\"priority\":0}]}");

    test_begin(&query, TG_STORE_SUBMIT);
    query.prompt = TG_STR("p");
    query.agent = TG_STR("a");
    query.limit = 1;
    CU_ASSERT(test_wait(&query) == TG_LIMIT);
    tg_store_query_deinit(&query);
    test_close();
    test_remove("states");
}

HELP_TEST(returned, "a claimed task that did not start keeps its position")
{
    test_fresh("returned");
    (void) test_submit("a", 0, "one");
    (void) test_submit("a", 0, "two");
    CU_ASSERT(test_claim("a") == 0);
    CU_ASSERT(test_id(TG_STORE_REQUEUE, 0, 0) == TG_OK);
    QUERY_IS(
        TG_STORE_GET, 0, TG_STR_NONE,
        "{\"id\":\"task-0000\",\"prompt\":\"one\",\"agent\":\"a\",\"priority\":"
        "0,\"state\":\"queued\",\"createdAt\":\"$string\",\"startedAt\":null,"
        "\"completedAt\":null,\"pid\":null,\"error\":null,\"cwd\":null,"
        "\"owner\":null,\"metadata\":{},\"result\":null,\"output\":null}");
    CU_ASSERT(test_claim("a") == 0);
    test_close();
    test_remove("returned");
}

HELP_TEST(large, "a list is bounded, but has at least one task")
{
    tg_store_query_t query;
    char *prompt;

    prompt = malloc(TG_STORE_LIST_BYTES_MAX + 2);
    CU_ASSERT_FATAL(prompt != NULL);
    memset(prompt, 'x', TG_STORE_LIST_BYTES_MAX + 1);
    prompt[TG_STORE_LIST_BYTES_MAX + 1] = '\0';
    test_fresh("large");
    (void) test_submit("a", 0, prompt);
    (void) test_submit("b", 0, "p");
    test_begin(&query, TG_STORE_LIST);
    CU_ASSERT(test_wait(&query) == TG_LIMIT);
    CU_ASSERT(query.json.len == 0);
    tg_store_query_deinit(&query);
    test_begin(&query, TG_STORE_LIST);
    query.agent = TG_STR("a");
    CU_ASSERT(test_wait(&query) == TG_OK);
    CU_ASSERT(query.json.len > TG_STORE_LIST_BYTES_MAX);
    tg_store_query_deinit(&query);
    test_close();
    test_remove("large");
    free(prompt);
}

HELP_TEST(interrupted, "tasks that ran when the store was opened have failed")
{
    tg_store_query_t query;

    test_fresh("again");
    (void) test_submit("a", 0, "one");
    (void) test_submit("a", 0, "two");
    CU_ASSERT(test_claim("a") == 0);
    test_close();

    CU_ASSERT(test_open("again", &query) == TG_OK);
    HELP_EQ(tg_buf_view(&query.json),
            "{\"queued\":[],\"failed\":[" TEST_ENDED("0000") "]}");
    tg_store_query_deinit(&query);
    QUERY_IS(
        TG_STORE_LIST, 0, TG_STR("a"),
        "[{\"id\":\"task-0001\",\"prompt\":\"two\",\"agent\":\"a\","
        "\"priority\":0,\"state\":\"queued\",\"createdAt\":\"$string\","
        "\"startedAt\":null,\"completedAt\":null,\"pid\":null,\"error\":null,"
        "\"cwd\":null,\"owner\":null,\"metadata\":{}},{\"id\":\"task-0000\","
        "\"prompt\":\"one\",\"agent\":\"a\",\"priority\":0,\"state\":"
        "\"failed\",\"createdAt\":\"$string\",\"startedAt\":\"$string\","
        "\"completedAt\":\"$string\",\"pid\":null,\"error\":"
        "\"" ERROR "\",\"cwd\":null,\"owner\":null,"
        "\"metadata\":{}}]");
    CU_ASSERT(test_claim("a") == 1);
    test_close();
    test_remove("again");
}

static void
test_reopen(const char *name, const char *told)
{
    tg_store_query_t query;

    test_close();
    CU_ASSERT(test_open(name, &query) == TG_OK);
    HELP_EQ(tg_buf_view(&query.json), told);
    tg_store_query_deinit(&query);
}

static tg_task_state_t
test_interrupt(int64_t id)
{
    tg_store_query_t query;

    test_begin(&query, TG_STORE_INTERRUPT);
    query.id = id;
    query.state = TG_TASK_QUEUED;
    query.output = TG_STR("o");
    CU_ASSERT(test_wait(&query) == TG_OK);
    tg_store_query_deinit(&query);

    return query.state;
}

HELP_TEST(retried, "interrupted tasks are retried up to their limit")
{
    test_fresh("retried");
    (void) test_submit("a", 0, "one");
    (void) test_submit("a", 0, "two");
    test_retry = 2;
    CU_ASSERT(test_claim("a") == 0);
    test_retry = 0;
    CU_ASSERT(test_claim("a") == 1);
    test_reopen("retried",
                "{\"queued\":[" TEST_ENDED("0000") "],\"failed\":[" TEST_ENDED(
                    "0001") "]}");
    QUERY_IS(TG_STORE_STATS, 0, TG_STR_NONE,
             "{\"total\":2,\"queued\":1,\"running\":0,\"completed\":0,"
             "\"failed\":1,\"cancelled\":0}");

    /* The agent's current setting counts. */
    test_retry = 2;
    CU_ASSERT(test_claim("a") == 0);
    CU_ASSERT(test_interrupt(0) == TG_TASK_QUEUED);
    QUERY_IS(
        TG_STORE_GET, 0, TG_STR_NONE,
        "{\"id\":\"task-0000\",\"prompt\":\"one\",\"agent\":\"a\",\"priority\":"
        "0,\"state\":\"queued\",\"createdAt\":\"$string\",\"startedAt\":null,"
        "\"completedAt\":null,\"pid\":null,\"error\":null,\"cwd\":null,"
        "\"owner\":null,\"metadata\":{},\"result\":null,\"output\":null}");
    CU_ASSERT(test_claim("a") == 0);
    CU_ASSERT(test_interrupt(0) == TG_TASK_FAILED);
    QUERY_IS(
        TG_STORE_GET, 0, TG_STR_NONE,
        "{\"id\":\"task-0000\",\"prompt\":\"one\",\"agent\":\"a\","
        "\"priority\":0,\"state\":\"failed\",\"createdAt\":\"$string\","
        "\"startedAt\":\"$string\",\"completedAt\":\"$string\",\"pid\":null,"
        "\"error\":\"" ERROR "\",\"cwd\":null,\"owner\":null,"
        "\"metadata\":{},\"result\":null,\"output\":\"o\"}");
    test_retry = 0;
    test_close();
    test_remove("retried");
}

HELP_TEST(orphans, "tasks of removed agents fail, old tasks are removed")
{
    tg_store_query_t query;

    test_fresh("orphans");
    (void) test_submit("a", 0, "0");
    (void) test_submit("b", 0, "1");
    (void) test_submit("c", 0, "2");
    test_agents.n = 1;
    strcpy(test_agents.names[0], "b");
    QUERY_IS(TG_STORE_FAIL_ORPHANS, 0, TG_STR_NONE,
             "[{\"id\":\"task-0000\",\"agent\":\"a\",\"owner\":null},"
             "{\"id\":\"task-0002\",\"agent\":\"c\",\"owner\":null}]");
    QUERY_IS(TG_STORE_STATS, 0, TG_STR_NONE,
             "{\"total\":3,\"queued\":1,\"running\":0,\"completed\":0,"
             "\"failed\":2,\"cancelled\":0}");

    test_begin(&query, TG_STORE_PURGE);
    CU_ASSERT(test_wait(&query) == TG_OK);
    HELP_EQ(tg_buf_view(&query.json), "[]");
    tg_store_query_deinit(&query);
    test_begin(&query, TG_STORE_PURGE);
    query.limit = 0;
    CU_ASSERT(test_wait(&query) == TG_OK);
    HELP_EQ(tg_buf_view(&query.json), "[\"task-0000\",\"task-0002\"]");
    tg_store_query_deinit(&query);

    /* No id is reused, whichever tasks are removed. */
    CU_ASSERT(test_id(TG_STORE_CANCEL, 1, 0) == TG_OK);
    test_begin(&query, TG_STORE_PURGE);
    query.limit = 0;
    CU_ASSERT(test_wait(&query) == TG_OK);
    tg_store_query_deinit(&query);
    CU_ASSERT(test_submit("b", 0, "3") == 3);
    QUERY_IS(TG_STORE_STATS, 0, TG_STR_NONE,
             "{\"total\":1,\"queued\":1,\"running\":0,\"completed\":0,"
             "\"failed\":0,\"cancelled\":0}");
    test_close();
    test_remove("orphans");
}

/* --- owners --- */

static void
test_submit_of(const char *owner, const char *agent)
{
    tg_store_query_t query;

    test_begin(&query, TG_STORE_SUBMIT);
    query.prompt = TG_STR("p");
    query.agent = tg_str_from_cstr(agent);
    query.owner = owner != NULL ? tg_str_from_cstr(owner) : TG_STR_NONE;
    query.job = TG_STR("{\"secret\":1}");
    CU_ASSERT(test_wait(&query) == TG_OK);
    tg_store_query_deinit(&query);
}

/* Compares the tasks of an owner, agent and state, or of all. */
#define OWNER_QUERY_IS(op, owner, agent, state, pattern)                       \
    test_owner_query_is(op, owner, agent, state, pattern, __FILE__, __LINE__)
static void
test_owner_query_is(tg_store_op_t op, const char *owner, tg_str_t agent,
                    tg_task_state_t state, const char *pattern,
                    const char *file, int line)
{
    tg_store_query_t query;
    tg_json_cursor_t each;
    HELP_BUFFER(ids);
    tg_str_t task, id;

    test_begin(&query, op);
    query.owner = tg_str_from_cstr(owner);
    query.agent = agent;
    query.state = state;
    CU_ASSERT(test_wait(&query) == TG_OK);

    if (op != TG_STORE_LIST) {
        help_json(tg_buf_view(&query.json), pattern, file, line);
        tg_store_query_deinit(&query);
        return;
    }

    for (tg_json_iter_init(&each, tg_buf_view(&query.json));
         tg_json_iter_next(&each, &task);)
    {
        CU_ASSERT(tg_json_get_member(task, TG_STR("id"), &id) == TG_OK);
        tg_buf_append(&ids, id.data + id.len - 2, 1);
    }

    help_eq(tg_buf_view(&ids), pattern, file, line);
    tg_store_query_deinit(&query);
}

static int
test_id_of(tg_store_op_t op, int64_t id, const char *owner)
{
    tg_store_query_t query;

    test_begin(&query, op);
    query.id = id;
    query.owner = tg_str_from_cstr(owner);
    (void) test_wait(&query);
    tg_store_query_deinit(&query);

    return query.rc;
}

HELP_TEST(owners, "owners see their own tasks, the unnamed owner all")
{
    tg_store_query_t query;

    test_fresh("owners");
    test_submit_of("7", "a");
    test_submit_of("8", "a");
    test_submit_of(NULL, "b");
    test_submit_of("7", "b");
    test_submit_of("8", "b");
    OWNER_QUERY_IS(TG_STORE_LIST, "7", TG_STR_NONE, TG_TASK_STATES, "30");
    OWNER_QUERY_IS(TG_STORE_LIST, "8", TG_STR("b"), TG_TASK_STATES, "4");
    OWNER_QUERY_IS(TG_STORE_LIST, "9", TG_STR_NONE, TG_TASK_STATES, "");
    CU_ASSERT(test_id_of(TG_STORE_GET, 1, "7") == TG_MISSING);
    CU_ASSERT(test_id_of(TG_STORE_GET, 2, "7") == TG_MISSING);
    CU_ASSERT(test_id_of(TG_STORE_GET, 3, "7") == TG_OK);
    CU_ASSERT(test_id_of(TG_STORE_CANCEL, 1, "7") == TG_MISSING);
    CU_ASSERT(test_id_of(TG_STORE_CANCEL, 3, "7") == TG_OK);
    CU_ASSERT(test_id_of(TG_STORE_CANCEL, 3, "7") == TG_END);
    CU_ASSERT(test_claim("a") == 0);
    CU_ASSERT(test_id_of(TG_STORE_CANCEL, 0, "8") == TG_MISSING);
    CU_ASSERT(test_id_of(TG_STORE_CANCEL, 0, "7") == TG_AGAIN);
    OWNER_QUERY_IS(TG_STORE_LIST, "7", TG_STR_NONE, TG_TASK_RUNNING, "0");
    OWNER_QUERY_IS(TG_STORE_LIST, "8", TG_STR("b"), TG_TASK_QUEUED, "4");
    OWNER_QUERY_IS(TG_STORE_STATS, "7", TG_STR_NONE, TG_TASK_STATES,
                   "{\"total\":2,\"queued\":0,\"running\":1,\"completed\":0,"
                   "\"failed\":0,\"cancelled\":1}");
    OWNER_QUERY_IS(
        TG_STORE_STATUS, "8", TG_STR_NONE, TG_TASK_STATES,
        "{\"queued\":3,\"tasks\":[{\"id\":\"task-0001\",\"prompt\":\"p\","
        "\"agent\":\"a\",\"priority\":0},{\"id\":\"task-0004\","
        "\"prompt\":\"p\",\"agent\":\"b\",\"priority\":0}]}");
    OWNER_QUERY_IS(TG_STORE_STATUS, "9", TG_STR_NONE, TG_TASK_STATES,
                   "{\"queued\":3,\"tasks\":[]}");

    /* Only its owner can see a running task. */
    QUERY_IS(
        TG_STORE_GET, 1, TG_STR_NONE,
        "{\"id\":\"task-0001\",\"prompt\":\"p\",\"agent\":\"a\",\"priority\":0,"
        "\"state\":\"queued\",\"createdAt\":\"$string\",\"startedAt\":null,"
        "\"completedAt\":null,\"pid\":null,\"error\":null,\"cwd\":null,"
        "\"owner\":\"8\",\"metadata\":{},\"result\":null,\"output\":null}");
    test_agents.n = 1;
    strcpy(test_agents.names[0], "b");
    test_begin(&query, TG_STORE_CLAIM);
    CU_ASSERT(test_wait(&query) == TG_OK);
    CU_ASSERT(query.id == 2);
    CU_ASSERT(strstr(help_text(tg_buf_view(&query.json)),
                     ",\"owner\":null,\"metadata\":{},\"result\":null,"
                     "\"output\":null,\"job\":{\"secret\":1}}")
              != NULL);
    tg_store_query_deinit(&query);
    test_close();
    test_remove("owners");
}

/* --- versions --- */

static void
test_refused(const char *name, const char *why)
{
    tg_store_query_t query;

    CU_ASSERT(test_open(name, &query) == TG_INVALID);
    CU_ASSERT(strstr(help_text(tg_buf_view(&query.json)), why) != NULL);
    tg_store_query_deinit(&query);

    /* Other operations fail too. */
    CU_ASSERT(test_submit("a", 0, "p") == -TG_INVALID);
    test_close();
}

/* Reads the header, as another program's file must stay unchanged. */
static int
test_is_wal(const char *name)
{
    char header[20];
    FILE *file;

    file = fopen(help_path(name), "rb");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fread(header, 1, sizeof(header), file) == sizeof(header));
    (void) fclose(file);

    return header[18] == 2;
}

HELP_TEST(versions, "a newer version and another program's file are refused")
{
    test_fresh("newer");
    (void) test_submit("a", 0, "p");
    test_close();
    test_sql("newer", "PRAGMA user_version=99");
    test_refused("newer", "has version 99 of a newer Toolgate");

    /* The file is unchanged. */
    {
        char text[64];

        snprintf(text, sizeof(text), "PRAGMA user_version=%d",
                 TG_SQLITE_VERSION);
        test_sql("newer", text);
    }

    {
        tg_store_query_t query;

        CU_ASSERT(test_open("newer", &query) == TG_OK);
        tg_store_query_deinit(&query);
    }
    CU_ASSERT(test_claim("a") == 0);

    test_sql("other", "CREATE TABLE notes(text)");
    test_close();
    test_refused("other", "is a database of another program");
    CU_ASSERT(!test_is_wal("other"));

    /* An empty database, version 0, is upgraded to this version. */
    test_sql("empty", "VACUUM");
    test_fresh("empty");
    CU_ASSERT(test_submit("a", 0, "p") == 0);
    test_close();
    test_remove("newer");
    test_remove("other");
    test_remove("empty");
}

/* Opening a FIFO would block forever; it may appear at any time. */
HELP_TEST(fifos, "a FIFO in the place of a file is refused at once")
{
    static const char *const names[] = { "fifo", "fifo-wal", "fifo-shm",
                                         "fifo-journal" };

    HELP_EACH(name, names) {
        CU_ASSERT_FATAL(mkfifo(help_path(*name), 0600) == 0);
        test_refused("fifo", "is a FIFO; a task store must be a regular file");
        (void) unlink(help_path(*name));
    }

    CU_ASSERT_FATAL(symlink("elsewhere", help_path("link")) == 0);
    test_refused("link", "is a symbolic link");
    (void) unlink(help_path("link"));
}

/* As written by version 1, with a task in each state. */
static const char test_first[] =
    "CREATE TABLE task("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " prompt TEXT NOT NULL, agent TEXT NOT NULL,"
    " priority INTEGER NOT NULL, state INTEGER NOT NULL,"
    " created_at INTEGER NOT NULL, started_at INTEGER, completed_at INTEGER,"
    " pid INTEGER, result TEXT, error TEXT, output TEXT, cwd TEXT,"
    " metadata TEXT);"
    "CREATE INDEX task_queue ON task(agent,priority DESC,id) WHERE state=0;"
    "CREATE INDEX task_next ON task(priority DESC,id) WHERE state=0;"
    "CREATE INDEX task_state ON task(state,id);"
    "CREATE INDEX task_agent ON task(agent,id);"
    "CREATE INDEX task_agent_state ON task(agent,state,id);"
    "CREATE INDEX task_ended ON task(completed_at)"
    " WHERE completed_at IS NOT NULL;"
    "CREATE TABLE count(state INTEGER PRIMARY KEY, n INTEGER NOT NULL);"
    "INSERT INTO count VALUES(0,0),(1,0),(2,0),(3,0),(4,0);"
    "CREATE TRIGGER task_added AFTER INSERT ON task BEGIN"
    " UPDATE count SET n=n+1 WHERE state=new.state; END;"
    "CREATE TRIGGER task_removed AFTER DELETE ON task BEGIN"
    " UPDATE count SET n=n-1 WHERE state=old.state; END;"
    "CREATE TRIGGER task_changed AFTER UPDATE OF state ON task BEGIN"
    " UPDATE count SET n=n-1 WHERE state=old.state;"
    " UPDATE count SET n=n+1 WHERE state=new.state; END;"
    "PRAGMA application_id=1413960779;PRAGMA user_version=1;"
    "INSERT INTO task(prompt,agent,priority,state,created_at) VALUES"
    " ('q','a',0,0,1),('r','a',0,1,1),('c','a',0,2,1),('f','a',0,3,1),"
    " ('x','a',0,4,1);";

HELP_TEST(migrated, "a store of an older version is upgraded with all tasks")
{
    tg_store_query_t query;

    test_sql("older", test_first);
    CU_ASSERT(test_open("older", &query) == TG_OK);
    HELP_EQ(tg_buf_view(&query.json),
            "{\"queued\":[],\"failed\":[" TEST_ENDED("0001") "]}");
    tg_store_query_deinit(&query);
    QUERY_IS(TG_STORE_STATS, 0, TG_STR_NONE,
             "{\"total\":5,\"queued\":1,\"running\":0,\"completed\":1,"
             "\"failed\":2,\"cancelled\":1}");
    CU_ASSERT(test_submit("a", 0, "p") == 5);
    test_retry = 1;
    CU_ASSERT(test_claim("a") == 0);
    test_retry = 0;
    test_reopen("older", "{\"queued\":[" TEST_ENDED("0000") "],\"failed\":[]}");
    CU_ASSERT(test_claim("a") == 0);
    test_close();
    test_remove("older");
}

HELP_TEST(two, "only one process can open the store")
{
    tg_store_query_t query;
    tg_store_t *store;
    char location[128];

    test_fresh("two");
    store = test_store;
    snprintf(location, sizeof(location), "sqlite:%s", help_path("two"));
    test_store = tg_store_new(&test_loop, tg_str_from_cstr(location), "here");
    test_begin(&query, TG_STORE_OPEN);
    CU_ASSERT(test_wait(&query) == TG_INVALID);
    CU_ASSERT(strstr(help_text(tg_buf_view(&query.json)), "locked") != NULL);
    tg_store_query_deinit(&query);
    test_store->backend->close(test_store, NULL, NULL);
    test_store = store;
    CU_ASSERT(test_submit("a", 0, "p") == 0);
    test_close();
    test_remove("two");
}
