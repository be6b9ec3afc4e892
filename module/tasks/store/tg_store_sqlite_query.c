/*
 * The operations of the SQLite task store, one function for each. Ids of tasks
 * begin at 0, ids of rows at 1.
 */
#include "base/tg_json.h"
#include "tasks/store/tg_store_sqlite.h"

/*
 * Interrupts tasks at the time ?1 with the error ?2: the beginning of an
 * UPDATE. A task is queued again, or fails when it has no retries left.
 */
#define TG_SQLITE_INTERRUPT_TASK                                               \
    "UPDATE task SET state=iif(tries<retry,0,3),tries=tries+1,"                \
    "started_at=iif(tries<retry,NULL,started_at),"                             \
    "completed_at=iif(tries<retry,NULL,?1),"                                   \
    "error=iif(tries<retry,NULL,?2),job=iif(tries<retry,job,NULL)"

static int
tg_sqlite_do_open(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int rc;

    tg_buf_append_cstr(&query->json, "{\"queued\":");
    rc = tg_sqlite_write_rows(db,
                              tg_sqlite_bind(db,
                                             "SELECT id,agent,owner FROM task "
                                             "WHERE state=1 "
                                             "AND tries<retry ORDER BY id",
                                             ""),
                              query, tg_sqlite_write_ended_task);

    if (rc == TG_OK) {
        tg_json_begin_member(&query->json, "failed");
        rc = tg_sqlite_write_rows(
            db,
            tg_sqlite_bind(db,
                           "SELECT id,agent,owner FROM task "
                           "WHERE state=1"
                           " AND tries>=retry ORDER BY id",
                           ""),
            query, tg_sqlite_write_ended_task);
        tg_buf_append_char(&query->json, '}');
    }

    return rc == TG_OK ? tg_sqlite_run_statement(
               db, tg_sqlite_bind(db, TG_SQLITE_INTERRUPT_TASK " WHERE state=1",
                                  "it", query->now, query->error))
                       : rc;
}

/*
 * Runs a statement and sets *n to the number in its first row, or to 0 if there
 * is no row. TG_OK or TG_SQLITE_FAILED.
 */
static int
tg_sqlite_fetch_number(tg_store_sqlite_t *db, sqlite3_stmt *row, int64_t *n)
{
    int rc;

    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;
    *n = 0;

    if (rc == TG_OK) {
        *n = db->sqlite->column_int64(row, 0);
        (void) db->sqlite->reset(row);
    }

    return rc == TG_END ? TG_OK : rc;
}

static int
tg_sqlite_count_tasks(tg_store_sqlite_t *db, tg_task_state_t state, int64_t *n)
{
    return tg_sqlite_fetch_number(
        db,
        tg_sqlite_bind(db, "SELECT n FROM count WHERE state=?1", "i",
                       (int64_t) state),
        n);
}

static int
tg_sqlite_count_owner_tasks(tg_store_sqlite_t *db, tg_str_t owner,
                            tg_task_state_t state, int64_t *n)
{
    return tg_sqlite_fetch_number(
        db,
        tg_sqlite_bind(db, "SELECT n FROM owned WHERE owner=?1 AND state=?2",
                       "ti", owner, (int64_t) state),
        n);
}

static int
tg_sqlite_do_submit(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int64_t n;
    int rc;

    rc = tg_sqlite_fetch_number(
        db,
        tg_sqlite_bind(db, "SELECT id FROM task WHERE token=?1", "t",
                       query->token),
        &n);

    if (rc != TG_OK || n != 0) {
        query->id = n - 1;
        return rc;
    }

    rc = tg_sqlite_count_tasks(db, TG_TASK_QUEUED, &n);

    if (rc != TG_OK || n >= query->limit) {
        return rc != TG_OK ? rc : TG_LIMIT;
    }

    rc = tg_sqlite_do_write_records(db, query);

    if (rc != TG_OK) {
        return rc;
    }

    rc = tg_sqlite_run_statement(
        db,
        tg_sqlite_bind(db,
                       "INSERT INTO task(prompt,agent,priority,cwd,metadata,"
                       "owner,job,state,created_at,token) "
                       "VALUES(?1,?2,?3,?4,?5,?6,?7,0,?8,?9)",
                       "ttittttit", query->prompt, query->agent,
                       query->priority, query->cwd, query->metadata,
                       query->owner, query->job, query->now, query->token));

    if (rc == TG_OK) {
        query->id = db->sqlite->last_insert_rowid(db->db) - 1;
    }

    return rc;
}

/*
 * Appends the names of the agents with a newline before and after each name, as
 * the query for the catch-all agent searches them.
 */
static void
tg_sqlite_append_agent_names(tg_buf_t *names, const tg_store_agents_t *agents)
{
    unsigned i;

    tg_buf_append_char(names, '\n');

    for (i = 0; i < agents->n; i++) {
        tg_buf_append_cstr(names, agents->names[i]);
        tg_buf_append_char(names, '\n');
    }
}

/*
 * Finds the first queued task of the agent `i`. TG_OK: *id and *priority are
 * set; TG_END: the agent has no queued task; TG_SQLITE_FAILED.
 */
static int
tg_sqlite_find_next_of_agent(tg_store_sqlite_t *db,
                             const tg_store_agents_t *agents, unsigned i,
                             int64_t *id, int64_t *priority)
{
    sqlite3_stmt *row;
    tg_buf_t names;
    int rc;

    tg_buf_init(&names, tg_alloc_libc());

    if (strcmp(agents->names[i], TG_STORE_ANY_AGENT) != 0) {
        row = tg_sqlite_bind(db,
                             "SELECT id,priority FROM task WHERE state=0 AND "
                             "agent=?1 ORDER BY priority DESC,id LIMIT 1",
                             "t", tg_str_from_cstr(agents->names[i]));
    } else {
        tg_sqlite_append_agent_names(&names, agents);
        row = tg_buf_has_failed(&names)
                  ? NULL
                  : tg_sqlite_bind(
                      db,
                      "SELECT id,priority FROM task WHERE state=0 AND agent "
                      "NOT GLOB '*:*' AND "
                      "instr(?1,char(10)||agent||char(10))=0 "
                      "ORDER BY priority DESC,id LIMIT 1",
                      "t", tg_buf_view(&names));
    }

    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

    if (rc == TG_OK) {
        *id = db->sqlite->column_int64(row, 0) - 1;
        *priority = db->sqlite->column_int64(row, 1);
    }

    if (row != NULL) {
        (void) db->sqlite->reset(row);
    }

    tg_buf_deinit(&names);

    return rc;
}

/*
 * Finds the first queued task of all agents that take tasks: the highest
 * priority, then the lowest id. TG_OK: query->id, query->priority and *retry
 * are set; TG_END: no task is queued; TG_SQLITE_FAILED.
 */
static int
tg_sqlite_find_next_task(tg_store_sqlite_t *db, tg_store_query_t *query,
                         int64_t *retry)
{
    int64_t id, priority;
    unsigned i;
    int rc;

    query->id = -1;

    for (i = 0; i < query->agents->n; i++) {
        if (query->agents->is_full[i]) {
            continue;
        }

        rc = tg_sqlite_find_next_of_agent(db, query->agents, i, &id, &priority);

        if (rc == TG_SQLITE_FAILED) {
            return rc;
        }

        if (rc == TG_OK
            && (query->id == -1 || priority > query->priority
                || (priority == query->priority && id < query->id)))
        {
            query->id = id;
            query->priority = priority;
            *retry = query->agents->retries[i];
        }
    }

    return query->id == -1 ? TG_END : TG_OK;
}

static int
tg_sqlite_do_claim(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int64_t retry;
    int rc;

    retry = 0;
    rc = tg_sqlite_find_next_task(db, query, &retry);

    if (rc == TG_OK) {
        rc = tg_sqlite_run_statement(
            db, tg_sqlite_bind(db,
                               "UPDATE task SET state=1,started_at=?2,retry=?3 "
                               "WHERE id=?1",
                               "iii", query->id + 1, query->now, retry));
    }

    return rc == TG_OK ? tg_sqlite_fetch_task(db, query, &query->state) : rc;
}

static int
tg_sqlite_do_requeue(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    return tg_sqlite_run_statement(db, tg_sqlite_bind(db,
                                                      "UPDATE task SET state=0,"
                                                      "started_at=NULL "
                                                      "WHERE id=?1 AND state=1",
                                                      "i", query->id + 1));
}

static int
tg_sqlite_do_interrupt(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    sqlite3_stmt *row;
    int rc;

    rc = tg_sqlite_run_statement(
        db, tg_sqlite_bind(db,
                           TG_SQLITE_INTERRUPT_TASK
                           ",pid=iif(tries<retry,NULL,?4),"
                           "output=iif(tries<retry,NULL,?5) "
                           "WHERE id=?3 AND state=1",
                           "itiit", query->now, query->error, query->id + 1,
                           query->pid, query->output));

    if (rc == TG_OK && db->sqlite->changes(db->db) == 0) {
        return TG_END;
    }

    row = rc == TG_OK ? tg_sqlite_bind(db, "SELECT state FROM task WHERE id=?1",
                                       "i", query->id + 1)
                      : NULL;
    rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

    if (rc == TG_OK) {
        query->state = (tg_task_state_t) db->sqlite->column_int64(row, 0);
        (void) db->sqlite->reset(row);
    }

    return rc;
}

static int
tg_sqlite_do_finish(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int rc;

    if (query->state == TG_TASK_QUEUED) {
        return tg_sqlite_do_interrupt(db, query);
    }

    rc = tg_sqlite_run_statement(
        db, tg_sqlite_bind(db,
                           "UPDATE task SET state=?2,completed_at=?3,pid=?4,"
                           "result=?5,error=?6,output=?7,form=?8,job=NULL "
                           "WHERE id=?1 AND state=1",
                           "iiiittti", query->id + 1, (int64_t) query->state,
                           query->now, query->pid, query->result, query->error,
                           query->output, query->result_format));

    return rc == TG_OK && db->sqlite->changes(db->db) == 0 ? TG_END : rc;
}

static int
tg_sqlite_do_cancel(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int rc;

    rc = tg_sqlite_fetch_task(db, query, &query->state);

    if (rc != TG_OK || query->state != TG_TASK_QUEUED) {
        return rc != TG_OK                       ? rc
               : query->state == TG_TASK_RUNNING ? TG_AGAIN
                                                 : TG_END;
    }

    rc = tg_sqlite_run_statement(
        db, tg_sqlite_bind(db,
                           "UPDATE task SET state=4,completed_at=?2,"
                           "job=NULL WHERE id=?1",
                           "ii", query->id + 1, query->now));
    tg_buf_reset(&query->json, 0);

    return rc == TG_OK ? tg_sqlite_fetch_task(db, query, &query->state) : rc;
}

static int
tg_sqlite_do_get(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    return tg_sqlite_fetch_task(db, query, &query->state);
}

/* Filters of a list; their sum is an index into lists[]. */
#define TG_SQLITE_FILTER_AGENT 1
#define TG_SQLITE_FILTER_STATE 2
#define TG_SQLITE_FILTER_OWNER 4

static int
tg_sqlite_do_list(tg_store_sqlite_t *db, tg_store_query_t *query)
{
#define TG_SQLITE_LIST_QUERY(where, values)                                    \
    {                                                                          \
        TG_SQLITE_SELECT_TASK where " ORDER BY id DESC LIMIT ?1", values       \
    }
    static const struct {
        const char *text;
        /* types of the values, up to the last one that the text uses */
        const char *values;
    } lists[] = {
        TG_SQLITE_LIST_QUERY("", "i"),
        TG_SQLITE_LIST_QUERY("WHERE agent=?2", "it"),
        TG_SQLITE_LIST_QUERY("WHERE state=?3", "iti"),
        TG_SQLITE_LIST_QUERY("WHERE agent=?2 AND state=?3", "iti"),
        TG_SQLITE_LIST_QUERY("WHERE owner=?4", "itit"),
        TG_SQLITE_LIST_QUERY("WHERE owner=?4 AND agent=?2", "itit"),
        TG_SQLITE_LIST_QUERY("WHERE owner=?4 AND state=?3", "itit"),
        TG_SQLITE_LIST_QUERY("WHERE owner=?4 AND agent=?2 AND state=?3",
                             "itit"),
    };
    unsigned i;

    i = (query->agent.data != NULL ? TG_SQLITE_FILTER_AGENT : 0)
        | (query->state != TG_TASK_STATES ? TG_SQLITE_FILTER_STATE : 0)
        | (query->owner.data != NULL ? TG_SQLITE_FILTER_OWNER : 0);

    return tg_sqlite_write_rows(
        db,
        tg_sqlite_bind(db, lists[i].text, lists[i].values, query->limit,
                       query->agent, (int64_t) query->state, query->owner),
        query, tg_sqlite_write_task);
}

static int
tg_sqlite_do_stats(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int64_t n[TG_TASK_STATES], total;
    int state, rc;

    total = 0;

    for (state = 0; state < TG_TASK_STATES; state++) {
        rc = query->owner.data != NULL
                 ? tg_sqlite_count_owner_tasks(db, query->owner,
                                               (tg_task_state_t) state,
                                               &n[state])
                 : tg_sqlite_count_tasks(db, (tg_task_state_t) state,
                                         &n[state]);

        if (rc != TG_OK) {
            return TG_SQLITE_FAILED;
        }

        total += n[state];
    }

    tg_buf_append_char(&query->json, '{');
    tg_json_add_int(&query->json, "total", total);

    for (state = 0; state < TG_TASK_STATES; state++) {
        tg_buf_printf(&query->json, ",\"%s\":%lld",
                      tg_task_state_name((tg_task_state_t) state),
                      (long long) n[state]);
    }

    tg_buf_append_char(&query->json, '}');

    return TG_OK;
}

static int
tg_sqlite_do_status(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    int64_t n;
    int rc;

    rc = tg_sqlite_count_tasks(db, TG_TASK_QUEUED, &n);

    if (rc != TG_OK) {
        return rc;
    }

    tg_buf_append_char(&query->json, '{');
    tg_json_add_int(&query->json, "queued", n);
    tg_json_begin_member(&query->json, "tasks");
    rc = tg_sqlite_write_rows(
        db,
        tg_sqlite_bind(db,
                       "SELECT id,substr(prompt,1,?1),agent,priority FROM task "
                       "WHERE state=0 AND (?3 IS NULL OR owner=?3) "
                       "ORDER BY priority DESC,id LIMIT ?2",
                       "iit", (int64_t) TG_STORE_PROMPT_PREVIEW_MAX,
                       (int64_t) TG_STORE_STATUS_MAX, query->owner),
        query, tg_sqlite_write_queued_task);
    tg_buf_append_char(&query->json, '}');

    return rc;
}

/* Returns whether the agents of the query include this agent. */
static int
tg_sqlite_is_known_agent(const tg_store_query_t *query, tg_str_t agent)
{
    unsigned i;

    for (i = 0; i < query->agents->n; i++) {
        if (tg_str_eq(tg_str_from_cstr(query->agents->names[i]), agent)
            || (strcmp(query->agents->names[i], TG_STORE_ANY_AGENT) == 0
                && tg_store_is_agent_name(agent)))
        {
            return 1;
        }
    }

    return 0;
}

static int
tg_sqlite_do_fail_orphans(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    sqlite3_stmt *rows;
    int64_t id;
    int rc;

    rows = tg_sqlite_bind(db,
                          "SELECT id,agent,owner FROM task WHERE state=0 "
                          "ORDER BY id",
                          "");
    rc = rows != NULL ? TG_OK : TG_SQLITE_FAILED;
    tg_buf_append_char(&query->json, '[');

    while (rc == TG_OK && (rc = tg_sqlite_step(db, rows)) == TG_OK) {
        if (tg_sqlite_is_known_agent(query, tg_sqlite_get_text(db, rows, 1))) {
            continue;
        }

        id = db->sqlite->column_int64(rows, 0);
        tg_buf_append_cstr(&query->json, query->json.len > 1 ? "," : "");
        tg_sqlite_write_ended_task(db, rows, query, 0, &query->json);
        rc = tg_sqlite_run_statement(
            db, tg_sqlite_bind(db,
                               "UPDATE task SET state=3,"
                               "completed_at=?2,error=?3,"
                               "job=NULL "
                               "WHERE id=?1",
                               "iit", id, query->now, query->error));
    }

    tg_buf_append_char(&query->json, ']');

    return rc == TG_END ? TG_OK : rc;
}

static int
tg_sqlite_do_purge(tg_store_sqlite_t *db, tg_store_query_t *query)
{
#define TG_SQLITE_FROM_EXPIRED                                                 \
    "FROM task WHERE completed_at<?1 ORDER BY completed_at,id LIMIT ?2"
    int64_t before, max;
    int rc;

    before = query->now - query->limit;
    max = TG_STORE_PURGE_MAX;
    rc = tg_sqlite_write_rows(
        db,
        tg_sqlite_bind(db, "SELECT id " TG_SQLITE_FROM_EXPIRED, "ii", before,
                       max),
        query, tg_sqlite_write_task_id);

    return rc == TG_OK ? tg_sqlite_run_statement(
               db, tg_sqlite_bind(db,
                                  "DELETE FROM task WHERE id IN "
                                  "(SELECT id " TG_SQLITE_FROM_EXPIRED ")",
                                  "ii", before, max))
                       : rc;
}

int
tg_sqlite_do_query(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    static int (*const functions[])(tg_store_sqlite_t * db,
                                    tg_store_query_t * query) = {
        [TG_STORE_OPEN] = tg_sqlite_do_open,
        [TG_STORE_SUBMIT] = tg_sqlite_do_submit,
        [TG_STORE_CLAIM] = tg_sqlite_do_claim,
        [TG_STORE_REQUEUE] = tg_sqlite_do_requeue,
        [TG_STORE_FINISH] = tg_sqlite_do_finish,
        [TG_STORE_CANCEL] = tg_sqlite_do_cancel,
        [TG_STORE_GET] = tg_sqlite_do_get,
        [TG_STORE_LIST] = tg_sqlite_do_list,
        [TG_STORE_STATS] = tg_sqlite_do_stats,
        [TG_STORE_STATUS] = tg_sqlite_do_status,
        [TG_STORE_FAIL_ORPHANS] = tg_sqlite_do_fail_orphans,
        [TG_STORE_PURGE] = tg_sqlite_do_purge,
        [TG_STORE_WRITE_RECORDS] = tg_sqlite_do_write_records,
        [TG_STORE_READ_RECORDS] = tg_sqlite_do_read_records,
    };

    return functions[query->op](db, query);
}
