/*
 * Input that the user names: files, or - for standard input.
 */
#ifndef TG_CLI_INPUT_H
#define TG_CLI_INPUT_H

#include "base/tg_buf.h"

/* Largest input in bytes, at least as large as a message to a tool. */
#define TG_CLI_INPUT_MAX 67108864u

/* Returns the name of an input for messages. */
const char *tg_cli_input_get_label(const char *path);

/*
 * Appends the whole input of fd, up to max bytes.  Returns TG_OK, TG_LIMIT if
 * the input is larger, TG_INVALID with errno set, or TG_NOMEM.
 */
int tg_cli_input_read_fd(int fd, size_t max, tg_buf_t *text);

/*
 * Appends the whole input of fd, up to max bytes; fd is -1 if open() failed,
 * with errno set.  Returns TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED after
 * reporting the error.
 */
int tg_cli_input_read_open_file(int fd, const char *name, size_t max,
                                tg_buf_t *text);

/*
 * Appends a whole file, up to TG_CLI_INPUT_MAX bytes.  Returns TG_CLI_EXIT_OK,
 * or TG_CLI_EXIT_FAILED after reporting the error.
 */
int tg_cli_input_read(const char *path, tg_buf_t *text);

/*
 * Appends a whole file, and checks that it is one JSON text.  Returns
 * TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED after reporting the error.
 */
int tg_cli_input_read_json(const char *path, tg_buf_t *text);

#endif
