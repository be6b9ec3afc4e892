/*
 * From the command line to a tool's arguments: key=value, JSON, or standard
 * input.
 */
#ifndef TG_CLI_TOOL_ARGS_H
#define TG_CLI_TOOL_ARGS_H

#include "base/tg_json.h"

/* Do the arguments need the tool's schema to be understood? */
int tg_cli_tool_args_need_schema(char **args, int nargs);

/*
 * Appends the arguments as JSON: an object, with allow_array an array too,
 * `{}` for none.  schema is the tool's inputSchema, raw, or absent: a value
 * of a property that is no string is JSON; all others are strings.
 * TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED when it has said what is wrong.
 */
int tg_cli_tool_args_write_json(char **args, int nargs, tg_str_t schema,
                                int allow_array, tg_buf_t *json);

#endif
