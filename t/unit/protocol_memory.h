/*
 * What unit tests and fuzz targets share: an allocator that keeps account and
 * fails on demand, copies, and a word for what must hold.
 */
#ifndef PROTOCOL_MEMORY_H
#define PROTOCOL_MEMORY_H

#include "base/tg_buf.h"

/*
 * Every resize moves the block, so that a stale pointer is found by the
 * sanitizer.  The allocation number fail_at (from 1) fails, and with
 * is_lasting all after it too.
 */
typedef struct {
    tg_alloc_t alloc;
    size_t live;    /* blocks that were not freed */
    size_t count;   /* allocations asked for so far */
    size_t fail_at; /* 0: never */
    int is_lasting;
    int has_failed;
} help_alloc_t;

void help_alloc_init(help_alloc_t *help);

/* A copy of exactly its size: a read beyond it is found. */
char *help_copy(tg_str_t text);

/* An assertion of CUnit's that ends the test, or the end of a fuzz target. */
#define HELP_HOLDS(cond) help_holds((cond) != 0, #cond, __FILE__, __LINE__)
void help_holds(int is_so, const char *what, const char *file, int line);

#endif
