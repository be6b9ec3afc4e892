/* For unit tests and fuzz targets: a failing allocator, and assertions. */
#ifndef PROTOCOL_MEMORY_H
#define PROTOCOL_MEMORY_H

#include "base/tg_buf.h"

#include <stdio.h>
#include <stdlib.h>

/* Initializes a tg_buf_t where it is declared. */
#define HELP_BUF                                                               \
    {                                                                          \
        .alloc = tg_alloc_libc()                                               \
    }

/* Declares an empty buffer, which is freed at the end of its block. */
#define HELP_BUFFER(name)                                                      \
    tg_buf_t name __attribute__((cleanup(tg_buf_deinit))) = HELP_BUF

#define HELP_COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Visits the rows of a table in order: HELP_EACH(row, table) { row->text } */
#define HELP_EACH(row, table)                                                  \
    for (__typeof__(&(table)[0]) row = (table);                                \
         row < (table) + HELP_COUNT(table); row++)

/*
 * Each resize moves the block, so that the sanitizer finds stale pointers. The
 * allocation with the number fail_at (from 1) fails, and with is_lasting all
 * later ones too.
 */
typedef struct {
    tg_alloc_t alloc;
    size_t live;    /* blocks that were not freed */
    size_t count;   /* allocations requested so far */
    size_t fail_at; /* 0: never */
    int is_lasting;
    int has_failed;
} help_alloc_t;

void help_alloc_init(help_alloc_t *help);

/* Copies a text to a block of its size, to find reads beyond its end. */
char *help_copy(tg_str_t text);

/* An assertion that ends a CUnit test or a fuzz target. */
#define HELP_HOLDS(cond) help_holds((cond) != 0, #cond, __FILE__, __LINE__)
void help_holds(int is_so, const char *what, const char *file, int line);

#endif
