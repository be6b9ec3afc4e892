/* Input that the user names: files, or - for standard input. */
#ifndef TG_CLI_INPUT_H
#define TG_CLI_INPUT_H

#include "base/tg_buf.h"

/* Largest input in bytes, at least as large as a message to a tool. */
#define TG_CLI_INPUT_MAX 67108864u

const char *tg_cli_input_get_label(const char *path);

/*
 * Reads fd to its end. Returns TG_OK, TG_LIMIT, TG_NOMEM, or TG_INVALID with
 * errno.
 */
int tg_cli_input_read_fd(int fd, size_t max, tg_buf_t *text);

/* fd is -1 if open() failed, with errno set. */
int tg_cli_input_read_open_file(int fd, const char *name, size_t max,
                                tg_buf_t *text);

/* Reads a file of up to TG_CLI_INPUT_MAX bytes. */
int tg_cli_input_read(const char *path, tg_buf_t *text);
int tg_cli_input_read_json(const char *path, tg_buf_t *text);

#endif
