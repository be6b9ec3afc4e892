/*
 * Loads SQLite with dlopen().
 */
#include "tasks/store/tg_libsqlite.h"

#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define TG_LIBSQLITE_FILE "libsqlite3.so.0"
/* 3.35, the oldest version that may be used. */
#define TG_LIBSQLITE_VERSION_MIN 3035000

static tg_libsqlite_t tg_libsqlite_functions;
static int tg_libsqlite_is_loaded;
/* Protects the loader: each store opens its database in its own thread. */
static pthread_mutex_t tg_libsqlite_mutex = PTHREAD_MUTEX_INITIALIZER;

static int
tg_libsqlite_find_functions(void *library)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_LIBSQLITE_FUNCTION(name)                                            \
    { "sqlite3_" #name, offsetof(tg_libsqlite_t, name) },
        TG_LIBSQLITE_FUNCTIONS(TG_LIBSQLITE_FUNCTION)
    };

    return tg_shared_library_resolve(library, functions,
                                     sizeof(functions) / sizeof(functions[0]),
                                     &tg_libsqlite_functions);
}

static const tg_libsqlite_t *
tg_libsqlite_load_locked(const char **why)
{
    void *library;

    if (tg_libsqlite_is_loaded) {
        return &tg_libsqlite_functions;
    }

    library = dlopen(TG_LIBSQLITE_FILE, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        *why = TG_LIBSQLITE_FILE " cannot be loaded; install the package "
                                 "libsqlite3-0";
        return NULL;
    }

    if (tg_libsqlite_find_functions(library) != 0
        || tg_libsqlite_functions.libversion_number()
               < TG_LIBSQLITE_VERSION_MIN)
    {
        *why = TG_LIBSQLITE_FILE
            " is older than 3.35 or cannot be used; upgrade "
            "the package libsqlite3-0";
        (void) dlclose(library);
        return NULL;
    }

    tg_libsqlite_is_loaded = 1;

    return &tg_libsqlite_functions;
}

const tg_libsqlite_t *
tg_libsqlite_load(const char **why)
{
    const tg_libsqlite_t *functions;

    (void) pthread_mutex_lock(&tg_libsqlite_mutex);
    functions = tg_libsqlite_load_locked(why);
    (void) pthread_mutex_unlock(&tg_libsqlite_mutex);

    return functions;
}
