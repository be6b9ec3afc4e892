/*
 * A page of a large output: lines or bytes.  The lines that match a pattern
 * are found by tg_output_search.h.
 */
#ifndef TG_OUTPUT_PAGE_H
#define TG_OUTPUT_PAGE_H

#include "base/tg_buf.h"

/* Bytes of a page: by default what a model reads well, and at most. */
#define TG_OUTPUT_PAGE_BYTES 32768
#define TG_OUTPUT_PAGE_BYTES_MAX 1048576

typedef struct {
    int64_t line;     /* the first, from 1 on */
    int64_t lines;    /* at most */
    int64_t offset;   /* -1: lines are asked for */
    int64_t bytes;    /* of the page, at most */
    tg_str_t pattern; /* of ECMA-262; TG_STR_NONE: all lines */
} tg_output_page_query_t;

/*
 * Appends the page of text, valid UTF-8 whatever that is, and a remark: what
 * it is, and how it goes on.  The query's pattern is not read.
 */
void tg_output_page_append(tg_str_t text, const tg_output_page_query_t *query,
                           tg_buf_t *page, tg_buf_t *remark);

/* The end of the line at p, behind its newline if it has one. */
const char *tg_output_find_line_end(const char *p, const char *end);

/* The end of the first bytes of p..end, most at most, of whole characters. */
const char *tg_output_cut_at_char(const char *p, const char *end, size_t most);

#endif
