/*
 * Loads libpq with dlopen().
 */
#include "tasks/store/tg_libpq.h"

#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <string.h>

#define TG_LIBPQ_FILE "libpq.so.5"

static tg_libpq_t tg_libpq_functions;

/* Also finds a function that libpq need not have. */
static int
tg_libpq_is_usable(void *library)
{
    void *symbol;

    symbol = dlsym(library, "OPENSSL_thread_stop");
    memcpy(&tg_libpq_functions.thread_stop, &symbol, sizeof(symbol));

    return 1;
}

const tg_libpq_t *
tg_libpq_load(const char **why)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_LIBPQ_FUNCTION(name) { "PQ" #name, offsetof(tg_libpq_t, name) },
        TG_LIBPQ_FUNCTIONS(TG_LIBPQ_FUNCTION)
    };
    static tg_shared_library_t library = {
        .file = TG_LIBPQ_FILE,
        .missing = TG_LIBPQ_FILE
        " cannot be loaded; install the package libpq5",
        .unusable = TG_LIBPQ_FILE " is older than version 14; upgrade the "
                                  "package libpq5",
        .functions = functions,
        .n = sizeof(functions) / sizeof(functions[0]),
        .table = &tg_libpq_functions,
        .is_usable = tg_libpq_is_usable,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };

    return tg_shared_library_load(&library, why);
}
