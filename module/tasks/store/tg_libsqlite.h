/*
 * Functions of SQLite. The library is loaded when the first SQLite store is
 * opened, as most runners need none.
 */
#ifndef TG_LIBSQLITE_H
#define TG_LIBSQLITE_H

#include <sqlite3.h>

/* The functions; the struct and the loader are generated from this list. */
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
    X(bind_parameter_count)                                                    \
    X(bind_parameter_name)                                                     \
    X(column_count)                                                            \
    X(get_autocommit)                                                          \
    X(libversion_number)

#define TG_LIBSQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;

typedef struct {
    TG_LIBSQLITE_FUNCTIONS(TG_LIBSQLITE_MEMBER)
} tg_libsqlite_t;

/*
 * Loads SQLite once. Thread-safe. NULL: *why, a static text, says what to
 * install; the next call tries again.
 */
const tg_libsqlite_t *tg_libsqlite_load(const char **why);

#endif
