/*
 * What the command line writes.  Text from a server reaches a terminal only
 * with its control characters made visible.
 */
#ifndef TG_CLI_OUTPUT_H
#define TG_CLI_OUTPUT_H

#include "base/tg_json.h"

#include <stdio.h>

/*
 * "toolgate: …" and a newline on standard error; returns TG_CLI_EXIT_FAILED, so
 * that a function can end with it.
 */
int tg_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes text as it is; on a terminal, what could move the cursor, change
 * colours or turn the direction of writing becomes \u001b and the like.
 */
void tg_cli_print(FILE *file, tg_str_t text);

/* Takes a token off the front of valid JSON; an empty one at its end. */
tg_str_t tg_cli_json_read_token(tg_str_t *json);

/* Appends a validated JSON value, a member a line. */
void tg_cli_append_pretty_json(tg_buf_t *buf, tg_str_t raw);

/*
 * Appends text in lines of at most width characters, each behind indent
 * blanks; width 0 keeps the lines as they are.
 */
void tg_cli_append_wrapped_text(tg_buf_t *buf, tg_str_t text, unsigned indent,
                                unsigned width);

/* Ends its last line, unless that has an end or there is none. */
void tg_cli_append_missing_newline(tg_buf_t *buf);

/*
 * Prints out, whose last line ends where people read it, and frees it.
 * Returns status, or what became of it instead.
 */
int tg_cli_print_and_free(FILE *file, tg_buf_t *out, int status);

/*
 * Columns of the terminal on standard output, 0 when it is none; 80 where the
 * terminal does not know its size.
 */
unsigned tg_cli_terminal_get_width(void);

/* Is a stream a terminal that can move its cursor (TERM is not "dumb")? */
int tg_cli_terminal_has_cursor(FILE *file);

/*
 * Makes room on standard output for what --watch shows next: clears a terminal,
 * or writes an empty line after what was shown before where it cannot.
 */
void tg_cli_terminal_clear(void);

/*
 * Flushes standard output and turns status into one that says when that
 * failed: what was not written was not done.
 */
int tg_cli_flush_stdout(int status);

/* Reports that there is no memory; returns TG_CLI_EXIT_FAILED. */
int tg_cli_error_nomem(void);

#endif
