/* Output of the result of a call. */
#ifndef TG_CLI_RESULT_H
#define TG_CLI_RESULT_H

#include "cli/tg_cli_session.h"

/* Writes the text of a CallToolResult; with isError to standard error. */
int tg_cli_result_print(json_object *result);

/* Writes the result's image, audio or file, or else its text, to a file. */
int tg_cli_result_save_file(json_object *result, const char *path);

/* Writes the text of a string, or JSON with one member per line. */
int tg_cli_result_print_value(json_object *value);

/* Writes JSON on one line, and frees it. Returns status, or a failure's. */
int tg_cli_result_print_json(json_object *value, int status);
int tg_cli_result_is_error(json_object *result);

/* Reports an error response, with --json as {"error":{...}}. */
int tg_cli_response_print_error(const tg_cli_response_t *response,
                                const tg_cli_options_t *options);

#endif
