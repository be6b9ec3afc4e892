/*
 * What of stdout is more than an answer should have: it goes to a file, and
 * the answer has its beginning, its end, and how to read the rest.
 */
#ifndef TG_EXEC_OUTPUT_STORE_H
#define TG_EXEC_OUTPUT_STORE_H

#include "runner/exec/tg_exec_output.h"

/* Is stdout in a file? */
int tg_exec_output_is_stored(const tg_exec_output_t *output);

/* Would so much more be too much for the answer alone? */
int tg_exec_output_is_large(const tg_exec_output_t *output, size_t more);

/* All that came goes there from now on: 0; -1: it cannot. */
int tg_exec_output_store(tg_exec_output_t *output);

/* TG_OK, or TG_LIMIT: there is no more room, and nothing is left of it. */
int tg_exec_output_store_more(tg_exec_output_t *output, const char *data,
                              size_t len);

/* It has ended: appends what the answer shows of it.  0, or -1: it is lost. */
int tg_exec_output_append_preview(tg_exec_output_t *output, tg_buf_t *text);

#endif
