/* Arguments of a tool: key=value, JSON, or standard input. */
#ifndef TG_CLI_TOOL_ARGS_H
#define TG_CLI_TOOL_ARGS_H

#include "cli/tg_cli_json.h"

int tg_cli_tool_args_need_schema(char **args, int nargs);

/*
 * Appends a JSON object, or with allow_array an array. schema: inputSchema, or
 * NULL; it decides whether the value of key=value is a string or JSON.
 */
int tg_cli_tool_args_write_json(char **args, int nargs, json_object *schema,
                                int allow_array, tg_buf_t *json);

#endif
