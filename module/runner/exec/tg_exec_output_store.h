/*
 * Stores a large stdout in a file. The response then contains its beginning,
 * its end, and how to read the rest.
 */
#ifndef TG_EXEC_OUTPUT_STORE_H
#define TG_EXEC_OUTPUT_STORE_H

#include "runner/exec/tg_exec_output.h"

/* Checks whether stdout is stored in a file. */
int tg_exec_output_is_stored(const tg_exec_output_t *output);

/*
 * Checks whether stdout with `more` bytes exceeds the response and can be
 * stored.
 */
int tg_exec_output_is_large(const tg_exec_output_t *output, size_t more);

/* Moves stdout to a file. Returns 0, or -1 if it cannot be stored. */
int tg_exec_output_store(tg_exec_output_t *output);

/*
 * Appends data to the file. Returns TG_OK, or TG_LIMIT if there is no more
 * space; then the file is removed.
 */
int tg_exec_output_store_more(tg_exec_output_t *output, const char *data,
                              size_t len);

/*
 * Publishes the file and appends its preview. Returns 0, or -1 if it could not
 * be stored.
 */
int tg_exec_output_append_preview(tg_exec_output_t *output, tg_buf_t *text);

#endif
