/*
 * SQLite, loaded when the first store is opened: most runners have none.
 */
#ifndef TG_LIBSQLITE_H
#define TG_LIBSQLITE_H

#include <sqlite3.h>

/* What is used of it; a function is named once. */
#define TG_LIBSQLITE_FUNCTIONS(X)                                              \
    X(open_v2)                                                                 \
    X(close)                                                                   \
    X(errmsg)                                                                  \
    X(errcode)                                                                 \
    X(exec)                                                                    \
    X(prepare_v2)                                                              \
    X(step)                                                                    \
    X(reset)                                                                   \
    X(finalize)                                                                \
    X(bind_int64)                                                              \
    X(bind_null)                                                               \
    X(bind_text)                                                               \
    X(column_int64)                                                            \
    X(column_text)                                                             \
    X(column_bytes)                                                            \
    X(column_type)                                                             \
    X(changes)                                                                 \
    X(last_insert_rowid)                                                       \
    X(get_autocommit)                                                          \
    X(libversion_number)

#define TG_LIBSQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;

typedef struct {
    TG_LIBSQLITE_FUNCTIONS(TG_LIBSQLITE_MEMBER)
} tg_libsqlite_t;

/*
 * Loads it, once.  NULL: it cannot be had, and *why says what to install; it
 * is tried again next time.  One thread at a time.
 */
const tg_libsqlite_t *tg_libsqlite_load(const char **why);

#endif
