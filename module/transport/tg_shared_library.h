/* Loads a shared library only when it is needed. */
#ifndef TG_SHARED_LIBRARY_H
#define TG_SHARED_LIBRARY_H

#include <pthread.h>
#include <stddef.h>

typedef struct {
    const char *name; /* name in the library */
    size_t offset;    /* offset of the function pointer in the table */
} tg_shared_library_symbol_t;

typedef struct {
    const char *file;
    const char *missing;  /* message if the file cannot be loaded */
    const char *unusable; /* message if the library is too old */
    const tg_shared_library_symbol_t *functions;
    size_t n;
    void *table; /* gets the pointers to the functions */
    /* Checks the library, whose functions are in the table. NULL: no check. */
    int (*is_usable)(void *library);
    int is_loaded;
    pthread_mutex_t mutex;
} tg_shared_library_t;

/*
 * Loads the library once and returns its table; thread-safe. NULL: *why says
 * what to install, and the next call tries again.
 */
const void *tg_shared_library_load(tg_shared_library_t *library,
                                   const char **why);

#endif
