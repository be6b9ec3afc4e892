/*
 * Output of the command line.  Text from a server is written to a terminal
 * only with its control characters made visible.
 */
#ifndef TG_CLI_OUTPUT_H
#define TG_CLI_OUTPUT_H

#include "base/tg_buf.h"

#include <stdio.h>

/*
 * Writes "toolgate: ...", followed by a newline, to standard error.  Returns
 * TG_CLI_EXIT_FAILED, so that a function can return the result.
 */
int tg_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes text unchanged, except to a terminal: there, characters that move the
 * cursor, change colours or change the direction of writing are written as
 * \u001b, for instance.
 */
void tg_cli_print(FILE *file, tg_str_t text);

/*
 * Appends text in lines of at most width characters, each indented by indent
 * blanks.  width 0 keeps the lines.
 */
void tg_cli_append_wrapped_text(tg_buf_t *buf, tg_str_t text, unsigned indent,
                                unsigned width);

/* Appends a newline if the last line has none; an empty buffer stays empty. */
void tg_cli_append_missing_newline(tg_buf_t *buf);

/*
 * Writes out to a file and frees it.  On a terminal or standard error, adds a
 * missing newline at the end.  Returns status, or the exit status of a
 * failure.
 */
int tg_cli_print_and_free(FILE *file, tg_buf_t *out, int status);

/*
 * Returns the width of the terminal on standard output, limited to a range
 * that is easy to read.  Returns 0 if standard output is not a terminal, and
 * 80 if the terminal does not know its width.
 */
unsigned tg_cli_terminal_get_width(void);

/*
 * Checks whether a stream is a terminal that can move its cursor: TERM is not
 * "dumb".
 */
int tg_cli_terminal_has_cursor(FILE *file);

/*
 * Prepares the terminal on standard output for the next output of --watch:
 * clears the screen, or writes an empty line if the terminal cannot.
 */
void tg_cli_terminal_clear(void);

/*
 * Flushes standard output.  Returns status, or the exit status of a failed
 * write.
 */
int tg_cli_flush_stdout(int status);

/* Reports a lack of memory.  Returns TG_CLI_EXIT_FAILED. */
int tg_cli_error_nomem(void);

#endif
