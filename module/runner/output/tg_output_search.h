/*
 * A search for the lines of a large output that match a pattern: a regular
 * expression of ECMA-262, as in schemas and rules.
 *
 * The pattern is whatever a client sends, so nothing of it is without a bound:
 * its length, its size when it is compiled, the steps on one line, and the
 * time of a search, which is done in time slices.
 */
#ifndef TG_OUTPUT_SEARCH_H
#define TG_OUTPUT_SEARCH_H

#include "runner/output/tg_output_page.h"

/* Bytes of a pattern; longer ones are programs. */
#define TG_OUTPUT_SEARCH_PATTERN_MAX 256
/* Steps of a pattern on one line: some 20 ms. */
#define TG_OUTPUT_SEARCH_LINE_STEPS 1000000
/*
 * The same in the first time slice, which is short; a line that needs more is
 * searched again in the second one.
 */
#define TG_OUTPUT_SEARCH_FIRST_STEPS 20000
/* Characters that are compared for one step. */
#define TG_OUTPUT_SEARCH_CHARS_PER_STEP 16
/*
 * Bytes of a line that are searched: a pattern takes a step for each of them,
 * and a few more.
 */
#define TG_OUTPUT_SEARCH_LINE_MAX 262144
/* Bytes between two looks at the clock. */
#define TG_OUTPUT_SEARCH_CLOCK_BYTES 65536
/* A time slice of a search, after which other searches have theirs. */
#define TG_OUTPUT_SEARCH_SLICE_MS 10
/* The first one; see tg_thread_pool.h. */
#define TG_OUTPUT_SEARCH_FIRST_MS 1
/* All time slices of a page, then the page says how the search goes on. */
#define TG_OUTPUT_SEARCH_TOTAL_MS 2000
/* The same for the time since its first slice, with those of others. */
#define TG_OUTPUT_SEARCH_ELAPSED_MS 10000

typedef struct tg_output_search_s tg_output_search_t;

/*
 * A search in text, which appends to page and remark as tg_spill_page() does;
 * all of them outlive it, and the query.  NULL: remark says what is wrong with
 * the pattern, or is empty where there is no memory.
 */
tg_output_search_t *tg_output_search_new(tg_str_t text,
                                         const tg_output_page_query_t *query,
                                         tg_buf_t *page, tg_buf_t *remark);

/*
 * Searches for a time slice.  TG_AGAIN: it is over, there is more; TG_OK: the
 * page is ready; TG_INVALID: remark says why there is none; TG_NOMEM.
 */
int tg_output_search_run(tg_output_search_t *search);

void tg_output_search_free(tg_output_search_t *search);

#endif
