/* Stores a large stdout in a file. The response has its begin and end. */
#ifndef TG_EXEC_OUTPUT_STORE_H
#define TG_EXEC_OUTPUT_STORE_H

#include "runner/exec/tg_exec_output.h"

int tg_exec_output_is_stored(const tg_exec_output_t *output);

/* Checks whether stdout with `more` bytes is too large and can be stored. */
int tg_exec_output_is_large(const tg_exec_output_t *output, size_t more);

/* Moves stdout to a file. Returns 0, or -1 if that fails. */
int tg_exec_output_store(tg_exec_output_t *output);

/* Appends to the file. TG_LIMIT: no space, and the file is removed. */
int tg_exec_output_store_more(tg_exec_output_t *output, const char *data,
                              size_t len);

/* Publishes the file and appends its preview. Returns -1 if that fails. */
int tg_exec_output_append_preview(tg_exec_output_t *output, tg_buf_t *text);

#endif
