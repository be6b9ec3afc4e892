/*
 * Prepared statements of the SQLite task store.
 */
#include "tasks/store/tg_store_sqlite.h"

#include <stdarg.h>

int
tg_sqlite_exec(tg_store_sqlite_t *db, const char *text)
{
    return db->sqlite->exec(db->db, text, NULL, NULL, NULL) == SQLITE_OK
               ? TG_OK
               : TG_SQLITE_FAILED;
}

/*
 * Returns the prepared statement of a text from the cache, which it prepares
 * first if necessary. The key of the cache is the address of the text. NULL:
 * SQLite failed, or the cache is full.
 */
static sqlite3_stmt *
tg_sqlite_get_statement(tg_store_sqlite_t *db, const char *text)
{
    unsigned i;

    for (i = 0; i < TG_SQLITE_STATEMENTS_MAX && db->texts[i] != NULL; i++) {
        if (db->texts[i] == text) {
            return db->statements[i];
        }
    }

    if (i == TG_SQLITE_STATEMENTS_MAX
        || db->sqlite->prepare_v2(db->db, text, -1, &db->statements[i], NULL)
               != SQLITE_OK)
    {
        return NULL;
    }

    db->texts[i] = text;

    return db->statements[i];
}

sqlite3_stmt *
tg_sqlite_bind(tg_store_sqlite_t *db, const char *text, const char *values, ...)
{
    sqlite3_stmt *statement;
    va_list args;
    tg_str_t str;
    int i, rc;

    statement = tg_sqlite_get_statement(db, text);

    if (statement == NULL) {
        return NULL;
    }

    (void) db->sqlite->reset(statement);
    rc = SQLITE_OK;
    va_start(args, values);

    for (i = 1; rc == SQLITE_OK && *values != '\0'; i++, values++) {
        if (*values == 'i') {
            rc = db->sqlite->bind_int64(statement, i, va_arg(args, int64_t));
            continue;
        }

        str = va_arg(args, tg_str_t);
        rc = str.data != NULL
                 ? db->sqlite->bind_text(statement, i, str.data, (int) str.len,
                                         SQLITE_STATIC)
                 : db->sqlite->bind_null(statement, i);
    }

    va_end(args);

    return rc == SQLITE_OK ? statement : NULL;
}

int
tg_sqlite_step(tg_store_sqlite_t *db, sqlite3_stmt *statement)
{
    int rc;

    rc = db->sqlite->step(statement);

    if (rc == SQLITE_ROW) {
        return TG_OK;
    }

    (void) db->sqlite->reset(statement);

    return rc == SQLITE_DONE ? TG_END : TG_SQLITE_FAILED;
}

int
tg_sqlite_run_statement(tg_store_sqlite_t *db, sqlite3_stmt *statement)
{
    return statement != NULL && tg_sqlite_step(db, statement) == TG_END
               ? TG_OK
               : TG_SQLITE_FAILED;
}

tg_str_t
tg_sqlite_get_text(tg_store_sqlite_t *db, sqlite3_stmt *statement, int column)
{
    const unsigned char *text;

    text = db->sqlite->column_text(statement, column);

    return text != NULL
               ? tg_str((const char *) text,
                        (size_t) db->sqlite->column_bytes(statement, column))
               : TG_STR_NONE;
}
