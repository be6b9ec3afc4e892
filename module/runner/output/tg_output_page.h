/* Pages of a large output: lines or bytes. See also tg_output_search.h. */
#ifndef TG_OUTPUT_PAGE_H
#define TG_OUTPUT_PAGE_H

#include "base/tg_buf.h"

/* Default size of a page in bytes, which a model can read well. */
#define TG_OUTPUT_PAGE_BYTES 32768

/* Maximum size of a page in bytes. */
#define TG_OUTPUT_PAGE_BYTES_MAX 1048576

typedef struct {
    int64_t line;     /* number of the first line, from 1 */
    int64_t lines;    /* maximum number of lines */
    int64_t offset;   /* first byte; -1: the query is for lines, not bytes */
    int64_t bytes;    /* maximum size of the page */
    tg_str_t pattern; /* ECMA-262 regular expression, or TG_STR_NONE */
} tg_output_page_query_t;

/*
 * Appends a page of `text` in valid UTF-8, and a remark that describes it and
 * how to read the next one. Ignores the query's pattern.
 */
void tg_output_page_append(tg_str_t text, const tg_output_page_query_t *query,
                           tg_buf_t *page, tg_buf_t *remark);

/* Returns the end of the line at p, after its newline, if any. */
const char *tg_output_find_line_end(const char *p, const char *end);

/* Cuts p..end to at most `most` bytes without dividing a character. */
const char *tg_output_cut_at_char(const char *p, const char *end, size_t most);

#endif
