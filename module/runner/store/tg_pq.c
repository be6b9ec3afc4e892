#include "runner/store/tg_pq.h"

#include "uv/tg_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define TG_PQ_FILE "libpq.so.5"

static tg_pq_t tg_pq_functions;
static int tg_pq_is_loaded;
/* Each store connects in a thread of its own. */
static pthread_mutex_t tg_pq_mutex = PTHREAD_MUTEX_INITIALIZER;

static int
tg_pq_find(void *library)
{
    static const tg_function_t functions[] = {
#define TG_PQ_ROW(name) { "PQ" #name, offsetof(tg_pq_t, name) },
        TG_PQ_FUNCTIONS(TG_PQ_ROW)
    };

    return tg_library_find(library, functions,
                           sizeof(functions) / sizeof(functions[0]),
                           &tg_pq_functions);
}

static const tg_pq_t *
tg_pq_load(const char **why)
{
    void *library, *symbol;

    if (tg_pq_is_loaded) {
        return &tg_pq_functions;
    }

    library = dlopen(TG_PQ_FILE, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        *why = TG_PQ_FILE " cannot be loaded; install the package libpq5";
        return NULL;
    }

    if (tg_pq_find(library) != 0) {
        *why = TG_PQ_FILE " is older than version 14; upgrade the package "
                          "libpq5";
        (void) dlclose(library);
        return NULL;
    }

    symbol = dlsym(library, "OPENSSL_thread_stop");
    memcpy(&tg_pq_functions.thread_stop, &symbol, sizeof(symbol));
    tg_pq_is_loaded = 1;

    return &tg_pq_functions;
}

const tg_pq_t *
tg_pq(const char **why)
{
    const tg_pq_t *functions;

    (void) pthread_mutex_lock(&tg_pq_mutex);
    functions = tg_pq_load(why);
    (void) pthread_mutex_unlock(&tg_pq_mutex);

    return functions;
}
