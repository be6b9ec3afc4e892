/*
 * What a call gave back, written for people or, as it came, for programs.
 */
#ifndef TG_CLI_RESULT_H
#define TG_CLI_RESULT_H

#include "cli/tg_cli_session.h"

/*
 * Writes a tool's result (a raw CallToolResult): its text to standard
 * output, or where it says isError to standard error.  Returns the exit
 * status.
 */
int tg_cli_result_print(tg_str_t result);

/*
 * Writes what a result has into a file: the bytes of its image, sound or
 * embedded file, if it has one, else its text.  Returns the exit status.
 */
int tg_cli_result_save_file(tg_str_t result, const char *path);

/* Writes any JSON value: a string as its text, others a member a line. */
int tg_cli_result_print_value(tg_str_t value);

/* Writes a value as it came, on one line; status is the exit status. */
int tg_cli_result_print_json(tg_str_t value, int status);

/* Does a tool's result say isError? */
int tg_cli_result_is_error(tg_str_t result);

/*
 * Says what error the server answered with, with --json as {"error":{…}} on
 * standard output; returns the exit status.
 */
int tg_cli_response_print_error(const tg_cli_response_t *response,
                                const tg_cli_options_t *options);

#endif
