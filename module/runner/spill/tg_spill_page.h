/*
 * A page of a large output: lines, bytes, or the lines that match a pattern.
 */
#ifndef TG_SPILL_PAGE_H
#define TG_SPILL_PAGE_H

#include "base/tg_buf.h"

/* Bytes of a page: by default what a model reads well, and at most. */
#define TG_SPILL_PAGE 32768
#define TG_SPILL_PAGE_MAX 1048576
/* Of a pattern; longer ones are programs. */
#define TG_SPILL_PATTERN_MAX 256
/* Of it with its repetitions written out, as the C library does. */
#define TG_SPILL_SIZE_MAX 2048
/* Bytes of a line that are searched; the rest of it is not. */
#define TG_SPILL_LINE_MAX 16384
/* Bytes between two looks at the clock. */
#define TG_SPILL_LOOK 16384
/* How long it may be searched for a pattern: then it goes on from there. */
#define TG_SPILL_SEARCH_MS 2000

typedef struct {
    int64_t line;        /* the first, from 1 on */
    int64_t lines;       /* at most */
    int64_t offset;      /* -1: lines are asked for */
    int64_t bytes;       /* of the page, at most */
    const char *pattern; /* POSIX, extended; NULL: all lines */
} tg_spill_query_t;

/*
 * Appends the page of text, valid UTF-8 whatever that is, and a remark: what
 * it is, and how it goes on.  is_stopped is asked from time to time.  TG_OK,
 * or TG_BAD: remark says what is wrong with the query.
 */
int tg_spill_page(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
                  tg_buf_t *remark, int (*is_stopped)(void *ctx), void *ctx);

#endif
