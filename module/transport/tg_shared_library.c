/* Loads shared libraries with dlopen(). */
#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <string.h>

static int
tg_shared_library_resolve(const tg_shared_library_t *library, void *handle)
{
    void *symbol;
    size_t i;

    for (i = 0; i < library->n; i++) {
        symbol = dlsym(handle, library->functions[i].name);

        if (symbol == NULL) {
            return 0;
        }

        /* ISO C does not convert object pointers to function pointers. */
        memcpy((char *) library->table + library->functions[i].offset, &symbol,
               sizeof(symbol));
    }

    return library->is_usable == NULL || library->is_usable(handle);
}

static int
tg_shared_library_open(tg_shared_library_t *library, const char **why)
{
    void *handle;

    handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);

    if (handle == NULL) {
        *why = library->missing;
        return 0;
    }

    if (!tg_shared_library_resolve(library, handle)) {
        *why = library->unusable;
        (void) dlclose(handle);
        return 0;
    }

    return 1;
}

const void *
tg_shared_library_load(tg_shared_library_t *library, const char **why)
{
    int is_loaded;

    (void) pthread_mutex_lock(&library->mutex);
    is_loaded = library->is_loaded || tg_shared_library_open(library, why);
    library->is_loaded = is_loaded;
    (void) pthread_mutex_unlock(&library->mutex);

    return is_loaded ? library->table : NULL;
}
