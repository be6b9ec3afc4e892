/*
 * Records of the SQLite task store: values that are stored beside the tasks.
 */
#include "tasks/store/tg_store_sqlite.h"

#include "base/tg_json.h"

/*
 * Checks that no record that must be new exists. Comes before the first write,
 * as a refused query must not change anything. TG_OK, TG_EXISTS or
 * TG_SQLITE_FAILED.
 */
static int
tg_sqlite_check_new_records(tg_store_sqlite_t *db,
                            const tg_store_query_t *query)
{
    sqlite3_stmt *row;
    unsigned i;
    int rc;

    for (i = 0; i < query->nrecords; i++) {
        if (!query->records[i].is_new) {
            continue;
        }

        row = tg_sqlite_bind(db, "SELECT 1 FROM note WHERE key=?1", "t",
                             query->records[i].key);
        rc = row != NULL ? tg_sqlite_step(db, row) : TG_SQLITE_FAILED;

        if (rc == TG_OK) {
            (void) db->sqlite->reset(row);
            return TG_EXISTS;
        }

        if (rc != TG_END) {
            return rc;
        }
    }

    return TG_OK;
}

int
tg_sqlite_do_write_records(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    const tg_store_record_t *record;
    unsigned i;
    int rc;

    rc = tg_sqlite_check_new_records(db, query);

    for (i = 0; rc == TG_OK && i < query->nrecords; i++) {
        record = &query->records[i];
        rc = tg_sqlite_run_statement(
            db, record->value.data != NULL
                    ? tg_sqlite_bind(db,
                                     "INSERT INTO note VALUES(?1,?2) ON "
                                     "CONFLICT(key) DO UPDATE SET value=?2",
                                     "tt", record->key, record->value)
                    : tg_sqlite_bind(db, "DELETE FROM note WHERE key=?1", "t",
                                     record->key));
    }

    return rc;
}

int
tg_sqlite_do_read_records(tg_store_sqlite_t *db, tg_store_query_t *query)
{
    sqlite3_stmt *rows;
    const char *before;
    int rc;

    rows = tg_sqlite_bind(db, "SELECT key,value FROM note", "");
    rc = rows != NULL ? TG_OK : TG_SQLITE_FAILED;
    before = "{";

    while (rc == TG_OK && (rc = tg_sqlite_step(db, rows)) == TG_OK) {
        tg_buf_append_cstr(&query->json, before);
        tg_json_write_string(&query->json, tg_sqlite_get_text(db, rows, 0));
        tg_buf_append_char(&query->json, ':');
        tg_buf_append_str(&query->json, tg_sqlite_get_text(db, rows, 1));
        before = ",";
    }

    tg_buf_append_cstr(&query->json, *before == '{' ? "{}" : "}");

    return rc == TG_END ? TG_OK : rc;
}
