/*
 * What the user names to be read: files, or - for standard input.
 */
#ifndef TG_CLI_INPUT_H
#define TG_CLI_INPUT_H

#include "base/tg_buf.h"

/* As much as can be sent to a tool, or more. */
#define TG_CLI_INPUT_MAX 67108864u

/* What messages call it. */
const char *tg_cli_input_get_label(const char *path);

/*
 * Appends all that fd has, up to max bytes: TG_OK, TG_LIMIT when that is
 * more, TG_INVALID with errno, TG_NOMEM.
 */
int tg_cli_input_read_fd(int fd, size_t max, tg_buf_t *text);

/*
 * The same of an open file, or of one that open() failed for: TG_CLI_EXIT_OK,
 * or TG_CLI_EXIT_FAILED when it has said what is wrong.
 */
int tg_cli_input_read_open_file(int fd, const char *name, size_t max,
                                tg_buf_t *text);

/*
 * Appends the whole of a file, up to TG_CLI_INPUT_MAX; the second one wants it
 * to be one JSON text.  TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED when they have
 * said what is wrong.
 */
int tg_cli_input_read(const char *path, tg_buf_t *text);
int tg_cli_input_read_json(const char *path, tg_buf_t *text);

#endif
