/*
 * Shared libraries that are loaded when they are needed first: a program that
 * needs none neither starts slower for them nor keeps them in memory.
 */
#ifndef TG_SHARED_LIBRARY_H
#define TG_SHARED_LIBRARY_H

#include <stddef.h>

typedef struct {
    const char *name; /* in the library */
    size_t offset;    /* of its pointer in the table */
} tg_shared_library_symbol_t;

/* Fills a table of pointers to functions: 0, or -1: one is not there. */
int tg_shared_library_resolve(void *library,
                              const tg_shared_library_symbol_t *functions,
                              size_t n, void *table);

#endif
