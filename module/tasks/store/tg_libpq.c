/*
 * Loads libpq with dlopen().
 */
#include "tasks/store/tg_libpq.h"

#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define TG_LIBPQ_FILE "libpq.so.5"

static tg_libpq_t tg_libpq_functions;
static int tg_libpq_is_loaded;
/* Protects the loader: each store connects in its own thread. */
static pthread_mutex_t tg_libpq_mutex = PTHREAD_MUTEX_INITIALIZER;

static int
tg_libpq_find_functions(void *library)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_LIBPQ_FUNCTION(name) { "PQ" #name, offsetof(tg_libpq_t, name) },
        TG_LIBPQ_FUNCTIONS(TG_LIBPQ_FUNCTION)
    };

    return tg_shared_library_resolve(library, functions,
                                     sizeof(functions) / sizeof(functions[0]),
                                     &tg_libpq_functions);
}

static const tg_libpq_t *
tg_libpq_load_locked(const char **why)
{
    void *library, *symbol;

    if (tg_libpq_is_loaded) {
        return &tg_libpq_functions;
    }

    library = dlopen(TG_LIBPQ_FILE, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        *why = TG_LIBPQ_FILE " cannot be loaded; install the package libpq5";
        return NULL;
    }

    if (tg_libpq_find_functions(library) != 0) {
        *why = TG_LIBPQ_FILE " is older than version 14; upgrade the package "
                             "libpq5";
        (void) dlclose(library);
        return NULL;
    }

    symbol = dlsym(library, "OPENSSL_thread_stop");
    memcpy(&tg_libpq_functions.thread_stop, &symbol, sizeof(symbol));
    tg_libpq_is_loaded = 1;

    return &tg_libpq_functions;
}

const tg_libpq_t *
tg_libpq_load(const char **why)
{
    const tg_libpq_t *functions;

    (void) pthread_mutex_lock(&tg_libpq_mutex);
    functions = tg_libpq_load_locked(why);
    (void) pthread_mutex_unlock(&tg_libpq_mutex);

    return functions;
}
