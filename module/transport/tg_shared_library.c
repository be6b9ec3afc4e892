#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <string.h>

int
tg_shared_library_resolve(void *library,
                          const tg_shared_library_symbol_t *functions, size_t n,
                          void *table)
{
    void *symbol;
    size_t i;

    for (i = 0; i < n; i++) {
        symbol = dlsym(library, functions[i].name);

        if (symbol == NULL) {
            return -1;
        }

        /* ISO C does not convert object pointers to function pointers. */
        memcpy((char *) table + functions[i].offset, &symbol, sizeof(symbol));
    }

    return 0;
}
