/* Loads a shared library only when it is needed. */
#ifndef TG_SHARED_LIBRARY_H
#define TG_SHARED_LIBRARY_H

#include <stddef.h>

typedef struct {
    const char *name; /* name in the library */
    size_t offset;    /* offset of the function pointer in the table */
} tg_shared_library_symbol_t;

/* Fills a table of function pointers. Returns -1 if a symbol is missing. */
int tg_shared_library_resolve(void *library,
                              const tg_shared_library_symbol_t *functions,
                              size_t n, void *table);

#endif
