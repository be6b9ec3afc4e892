/*
 * Searches a large output for lines that match an ECMA-262 pattern. Clients
 * choose it, so its length, compiled size, steps per line, and the time, in
 * slices, are limited.
 */
#ifndef TG_OUTPUT_SEARCH_H
#define TG_OUTPUT_SEARCH_H

#include "runner/output/tg_output_page.h"

/* Maximum length of a pattern in bytes. */
#define TG_OUTPUT_SEARCH_PATTERN_MAX 256

/* Maximum number of steps per line, about 20 ms. */
#define TG_OUTPUT_SEARCH_LINE_STEPS 1000000

/* Maximum number of steps in the first slice; then the line is retried. */
#define TG_OUTPUT_SEARCH_FIRST_STEPS 20000

/* Number of characters whose comparison counts as one step. */
#define TG_OUTPUT_SEARCH_CHARS_PER_STEP 16

/* Maximum number of bytes of a line that are searched. */
#define TG_OUTPUT_SEARCH_LINE_MAX 262144

/* Number of bytes that are searched between two readings of the clock. */
#define TG_OUTPUT_SEARCH_CLOCK_BYTES 65536

/* Time slice of a search in ms. Other searches run after it. */
#define TG_OUTPUT_SEARCH_SLICE_MS 10

/* First time slice in ms; see tg_thread_pool.h. */
#define TG_OUTPUT_SEARCH_FIRST_MS 1

/* Maximum run time of a search in ms; then the page says how to continue. */
#define TG_OUTPUT_SEARCH_TOTAL_MS 2000

/* Maximum time since the first slice in ms, including other searches. */
#define TG_OUTPUT_SEARCH_ELAPSED_MS 10000

typedef struct tg_output_search_s tg_output_search_t;

/*
 * Creates a search in `text`, which appends to `page` and `remark` as
 * tg_output_page_append() does. All arguments must outlive it. NULL: an invalid
 * pattern, with a `remark`, or no memory.
 */
tg_output_search_t *tg_output_search_new(tg_str_t text,
                                         const tg_output_page_query_t *query,
                                         tg_buf_t *page, tg_buf_t *remark);

/*
 * Searches for a slice. Returns TG_AGAIN, TG_OK for a complete page, TG_INVALID
 * with a `remark`, or TG_NOMEM.
 */
int tg_output_search_run(tg_output_search_t *search);

void tg_output_search_free(tg_output_search_t *search);

#endif
