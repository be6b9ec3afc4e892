/*
 * Loads SQLite with dlopen().
 */
#include "tasks/store/tg_libsqlite.h"

#include "transport/tg_shared_library.h"

#define TG_LIBSQLITE_FILE "libsqlite3.so.0"
/* 3.35, the oldest version that may be used. */
#define TG_LIBSQLITE_VERSION_MIN 3035000

static tg_libsqlite_t tg_libsqlite_functions;

static int
tg_libsqlite_is_usable(void *library)
{
    return tg_libsqlite_functions.libversion_number()
           >= TG_LIBSQLITE_VERSION_MIN;
}

const tg_libsqlite_t *
tg_libsqlite_load(const char **why)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_LIBSQLITE_FUNCTION(name)                                            \
    { "sqlite3_" #name, offsetof(tg_libsqlite_t, name) },
        TG_LIBSQLITE_FUNCTIONS(TG_LIBSQLITE_FUNCTION)
    };
    static tg_shared_library_t library = {
        .file = TG_LIBSQLITE_FILE,
        .missing = TG_LIBSQLITE_FILE " cannot be loaded; install the package "
                                     "libsqlite3-0",
        .unusable = TG_LIBSQLITE_FILE
        " is older than 3.35 or cannot be used; upgrade the package "
        "libsqlite3-0",
        .functions = functions,
        .n = sizeof(functions) / sizeof(functions[0]),
        .table = &tg_libsqlite_functions,
        .is_usable = tg_libsqlite_is_usable,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };

    return tg_shared_library_load(&library, why);
}
