/*
 * Output of the result of a call: as text for people, or as JSON for programs.
 */
#ifndef TG_CLI_RESULT_H
#define TG_CLI_RESULT_H

#include "cli/tg_cli_session.h"

/*
 * Writes a tool's result, a CallToolResult: its text to standard output,
 * or with isError to standard error.  Returns the exit status.
 */
int tg_cli_result_print(json_object *result);

/*
 * Writes a result to a file: the bytes of its image, audio or embedded file,
 * if there is one, else its text.  Returns the exit status.
 */
int tg_cli_result_save_file(json_object *result, const char *path);

/*
 * Writes any JSON value: a string as its text, other values with one member
 * per line.  Returns the exit status.
 */
int tg_cli_result_print_value(json_object *value);

/*
 * Writes a JSON value on one line, and frees it.  Returns status, or the exit
 * status of a failure.
 */
int tg_cli_result_print_json(json_object *value, int status);

/* Checks whether a tool's result has isError. */
int tg_cli_result_is_error(json_object *result);

/*
 * Reports an error response of the server, with --json as {"error":{...}} on
 * standard output.  Returns the exit status.
 */
int tg_cli_response_print_error(const tg_cli_response_t *response,
                                const tg_cli_options_t *options);

#endif
