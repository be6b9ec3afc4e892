/*
 * Converts the arguments of a command line to a tool's arguments: key=value,
 * JSON, or standard input.
 */
#ifndef TG_CLI_TOOL_ARGS_H
#define TG_CLI_TOOL_ARGS_H

#include "cli/tg_cli_json.h"

/*
 * Checks whether the arguments are key=value, which requires the tool's
 * schema.
 */
int tg_cli_tool_args_need_schema(char **args, int nargs);

/*
 * Appends the arguments as JSON: an object, or with allow_array an array; `{}`
 * if there are none.  schema is the tool's inputSchema, or NULL.  The
 * value of key=value is JSON if the schema of the property does not allow
 * strings, else a string.  Returns TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED after
 * reporting the error.
 */
int tg_cli_tool_args_write_json(char **args, int nargs, json_object *schema,
                                int allow_array, tg_buf_t *json);

#endif
