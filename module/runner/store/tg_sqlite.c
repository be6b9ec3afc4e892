#include "runner/store/tg_sqlite.h"

#include "uv/tg_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define TG_SQLITE_FILE "libsqlite3.so.0"
/* 3.35: what this has been tried with is newer. */
#define TG_SQLITE_LEAST 3035000

static tg_sqlite_t tg_sqlite_functions;
static int tg_sqlite_is_loaded;
/* Each store asks from a thread of its own. */
static pthread_mutex_t tg_sqlite_mutex = PTHREAD_MUTEX_INITIALIZER;

static int
tg_sqlite_find(void *library)
{
    static const tg_function_t functions[] = {
#define TG_SQLITE_ROW(name) { "sqlite3_" #name, offsetof(tg_sqlite_t, name) },
        TG_SQLITE_FUNCTIONS(TG_SQLITE_ROW)
    };

    return tg_library_find(library, functions,
                           sizeof(functions) / sizeof(functions[0]),
                           &tg_sqlite_functions);
}

static const tg_sqlite_t *
tg_sqlite_load(const char **why)
{
    void *library;

    if (tg_sqlite_is_loaded) {
        return &tg_sqlite_functions;
    }

    library = dlopen(TG_SQLITE_FILE, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        *why = TG_SQLITE_FILE " cannot be loaded; install the package "
                              "libsqlite3-0";
        return NULL;
    }

    if (tg_sqlite_find(library) != 0
        || tg_sqlite_functions.libversion_number() < TG_SQLITE_LEAST)
    {
        *why = TG_SQLITE_FILE " is older than 3.35 or cannot be used; upgrade "
                              "the package libsqlite3-0";
        (void) dlclose(library);
        return NULL;
    }

    tg_sqlite_is_loaded = 1;

    return &tg_sqlite_functions;
}

const tg_sqlite_t *
tg_sqlite(const char **why)
{
    const tg_sqlite_t *functions;

    (void) pthread_mutex_lock(&tg_sqlite_mutex);
    functions = tg_sqlite_load(why);
    (void) pthread_mutex_unlock(&tg_sqlite_mutex);

    return functions;
}
