/*
 * Versions and migration of the tables of the SQLite task store.
 */
#include "tasks/store/tg_store_sqlite.h"

/* "TGTK" marks a task store; a file of another program is not changed. */
#define TG_SQLITE_APPLICATION_ID 1413960779

/*
 * One step for each version; a released step never changes. The table `count`
 * has the number of tasks of each state, and `owned` the number for each owner
 * and state, so that no query counts tasks.
 */
static const char *const tg_sqlite_migrations[TG_SQLITE_VERSION] = {
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
    " UPDATE count SET n=n+1 WHERE state=new.state; END;",

    /* `tries` is the number of interruptions so far, `retry` the maximum. */
    "ALTER TABLE task ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE task ADD COLUMN retry INTEGER NOT NULL DEFAULT 0;",

    "ALTER TABLE task ADD COLUMN owner TEXT;"
    "ALTER TABLE task ADD COLUMN job TEXT;"
    "ALTER TABLE task ADD COLUMN form INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX task_owner ON task(owner,id);"
    "CREATE INDEX task_owner_state ON task(owner,state,id);"
    "CREATE TABLE owned(owner TEXT NOT NULL, state INTEGER NOT NULL,"
    " n INTEGER NOT NULL, PRIMARY KEY(owner,state)) WITHOUT ROWID;"
    "CREATE TRIGGER owned_added AFTER INSERT ON task"
    " WHEN new.owner IS NOT NULL BEGIN"
    " INSERT INTO owned VALUES(new.owner,new.state,1)"
    " ON CONFLICT DO UPDATE SET n=n+1; END;"
    "CREATE TRIGGER owned_removed AFTER DELETE ON task"
    " WHEN old.owner IS NOT NULL BEGIN"
    " UPDATE owned SET n=n-1 WHERE owner=old.owner AND state=old.state; END;"
    "CREATE TRIGGER owned_changed AFTER UPDATE OF state ON task"
    " WHEN new.owner IS NOT NULL BEGIN"
    " UPDATE owned SET n=n-1 WHERE owner=old.owner AND state=old.state;"
    " INSERT INTO owned VALUES(new.owner,new.state,1)"
    " ON CONFLICT DO UPDATE SET n=n+1; END;",

    "CREATE TABLE note(key TEXT PRIMARY KEY, value TEXT NOT NULL)"
    " WITHOUT ROWID;",

    "ALTER TABLE task ADD COLUMN token TEXT;"
    "CREATE UNIQUE INDEX task_token ON task(token) WHERE token IS NOT NULL;",
};

static int
tg_sqlite_query_number(tg_store_sqlite_t *db, const char *text, int64_t *value)
{
    sqlite3_stmt *statement;
    int rc;

    rc = TG_SQLITE_FAILED;

    if (db->sqlite->prepare_v2(db->db, text, -1, &statement, NULL) == SQLITE_OK
        && db->sqlite->step(statement) == SQLITE_ROW)
    {
        *value = db->sqlite->column_int64(statement, 0);
        rc = TG_OK;
    }

    (void) db->sqlite->finalize(statement);

    return rc;
}

int
tg_sqlite_check_version(tg_store_sqlite_t *db, tg_buf_t *why, int64_t *version)
{
    int64_t mark, objects;
    int rc;

    rc = tg_sqlite_query_number(db, "PRAGMA user_version", version);

    if (rc == TG_OK) {
        rc = tg_sqlite_query_number(db, "PRAGMA application_id", &mark);
    }

    if (rc == TG_OK) {
        rc = tg_sqlite_query_number(db, "SELECT count(*) FROM sqlite_schema",
                                    &objects);
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (objects != 0 && mark != TG_SQLITE_APPLICATION_ID) {
        tg_buf_printf(why,
                      "%s is a database of another program; choose another "
                      "file with task_store",
                      db->path);
        return TG_INVALID;
    }

    if (*version > TG_SQLITE_VERSION) {
        tg_buf_printf(why,
                      "%s has version %lld of a newer Toolgate, and this one "
                      "supports version %d; install the newer one again, or "
                      "choose another file with task_store",
                      db->path, (long long) *version, TG_SQLITE_VERSION);
        return TG_INVALID;
    }

    return TG_OK;
}

int
tg_sqlite_migrate(tg_store_sqlite_t *db, tg_buf_t *why)
{
    char room[128];
    tg_buf_t text;
    int64_t version;
    int rc;

    rc = tg_sqlite_check_version(db, why, &version);

    if (rc != TG_OK || version == TG_SQLITE_VERSION) {
        return rc;
    }

    for (; rc == TG_OK && version < TG_SQLITE_VERSION; version++) {
        rc = tg_sqlite_exec(db, tg_sqlite_migrations[version]);
    }

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&text, "PRAGMA application_id=%d;PRAGMA user_version=%d",
                  TG_SQLITE_APPLICATION_ID, TG_SQLITE_VERSION);
    tg_buf_append_char(&text, '\0');

    return rc == TG_OK ? tg_sqlite_exec(db, room) : rc;
}
