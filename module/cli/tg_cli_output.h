/*
 * Output of the command line. A terminal gets no control characters of a
 * server.
 */
#ifndef TG_CLI_OUTPUT_H
#define TG_CLI_OUTPUT_H

#include "cli/tg_cli_json.h"
#include "base/tg_buf.h"

#include <stdio.h>

/* Writes "toolgate: ..." to standard error. Returns TG_CLI_EXIT_FAILED. */
int tg_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes text; to a terminal, with control characters as \u001b. */
void tg_cli_print(FILE *file, tg_str_t text);

/* Indents text, and wraps it unless width is 0. */
void tg_cli_append_wrapped_text(tg_buf_t *buf, tg_str_t text, unsigned indent,
                                unsigned width);

/* Appends a newline if the last line has none; an empty buffer stays empty. */
void tg_cli_append_missing_newline(tg_buf_t *buf);

/* Writes and frees out. Returns status, or the status of a failure. */
int tg_cli_print_and_free(FILE *file, tg_buf_t *out, int status);

/* Returns the columns of standard output; 0: not a terminal. */
unsigned tg_cli_terminal_get_width(void);
int tg_cli_terminal_has_cursor(FILE *file);

/* Clears the screen before the next output of --watch. */
void tg_cli_terminal_clear(void);

/* Returns status, or the exit status of a failed write. */
int tg_cli_flush_stdout(int status);
int tg_cli_error_nomem(void);

/* --- tg_cli_progress.c --- */

void tg_cli_progress_show(json_object *params);

/* Shows text in the progress line, until the next change. */
void tg_cli_progress_show_text(tg_str_t text);
void tg_cli_progress_clear(void);

#endif
