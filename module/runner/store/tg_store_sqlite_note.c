/*
 * Notes: what others than tasks keep beside them.
 */
#include "runner/store/tg_store_sqlite.h"

#include "base/tg_json.h"

/* Before anything is written: what is refused has changed nothing. */
static int
tg_sqlite_look_notes(tg_store_sqlite_t *db, const tg_store_ask_t *ask)
{
    sqlite3_stmt *row;
    unsigned i;
    int rc;

    for (i = 0; i < ask->nnotes; i++) {
        if (!ask->notes[i].is_new) {
            continue;
        }

        row = tg_sqlite_ask(db, "SELECT 1 FROM note WHERE key=?1", "t",
                            ask->notes[i].key);
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
tg_sqlite_do_note(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    const tg_store_note_t *note;
    unsigned i;
    int rc;

    rc = tg_sqlite_look_notes(db, ask);

    for (i = 0; rc == TG_OK && i < ask->nnotes; i++) {
        note = &ask->notes[i];
        rc = tg_sqlite_run(
            db, note->value.data != NULL
                    ? tg_sqlite_ask(db,
                                    "INSERT INTO note VALUES(?1,?2) ON "
                                    "CONFLICT(key) DO UPDATE SET value=?2",
                                    "tt", note->key, note->value)
                    : tg_sqlite_ask(db, "DELETE FROM note WHERE key=?1", "t",
                                    note->key));
    }

    return rc;
}

int
tg_sqlite_do_notes(tg_store_sqlite_t *db, tg_store_ask_t *ask)
{
    sqlite3_stmt *rows;
    const char *before;
    int rc;

    rows = tg_sqlite_ask(db, "SELECT key,value FROM note", "");
    rc = rows != NULL ? TG_OK : TG_SQLITE_FAILED;
    before = "{";

    while (rc == TG_OK && (rc = tg_sqlite_step(db, rows)) == TG_OK) {
        tg_buf_text(&ask->json, before);
        tg_json_put_string(&ask->json, tg_sqlite_text(db, rows, 0));
        tg_buf_char(&ask->json, ':');
        tg_buf_str(&ask->json, tg_sqlite_text(db, rows, 1));
        before = ",";
    }

    tg_buf_text(&ask->json, *before == '{' ? "{}" : "}");

    return rc == TG_END ? TG_OK : rc;
}
