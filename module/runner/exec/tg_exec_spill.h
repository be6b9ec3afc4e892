/*
 * What of stdout is more than an answer should have: it goes to a file, and
 * the answer has its beginning, its end, and how to read the rest.
 */
#ifndef TG_EXEC_SPILL_H
#define TG_EXEC_SPILL_H

#include "runner/exec/tg_exec_output.h"

/* What is shown where the tool does not say; of max_output at most. */
#define TG_EXEC_PREVIEW 16384

/* The tool that reads the rest. */
#define TG_EXEC_READER "toolgate_output"

/* Is stdout in a file? */
int tg_exec_is_spilled(const tg_exec_output_t *output);

/* Would so much more be too much for the answer alone? */
int tg_exec_is_large(const tg_exec_output_t *output, size_t more);

/* All that came goes there from now on: 0; -1: it cannot. */
int tg_exec_spill(tg_exec_output_t *output);

/* TG_OK, or TG_LIMIT: there is no more room, and nothing is left of it. */
int tg_exec_spill_more(tg_exec_output_t *output, const char *data, size_t len);

/* It has ended: appends what the answer shows of it.  0, or -1: it is lost. */
int tg_exec_spill_text(tg_exec_output_t *output, tg_buf_t *text);

/* Has the end of it in output->out, of so many bytes. */
void tg_exec_spill_tail(tg_exec_output_t *output, size_t most);

/* Appends where all of it is to be read. */
void tg_exec_spill_put_where(tg_exec_output_t *output, tg_buf_t *text);

/*
 * Of the beginning of a text, or of its end: whole lines, unless less than half
 * of it would be left by that.
 */
tg_str_t tg_exec_lines(tg_str_t text, int is_head);

#endif
