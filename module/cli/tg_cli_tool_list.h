/*
 * What the commands read out of a list of tools: {"tools":[…]}, validated.
 */
#ifndef TG_CLI_TOOL_LIST_H
#define TG_CLI_TOOL_LIST_H

#include "base/tg_json.h"

/* Is raw this string (an escaped body), or an array that has it? */
int tg_cli_json_has_string(tg_str_t raw, tg_str_t body);

/* The array of tools of a list, or nothing. */
tg_str_t tg_cli_tool_list_get_tools(tg_str_t list);

/* The body of a tool's string member: TG_OK or TG_MISSING. */
int tg_cli_tool_get_text(tg_str_t tool, tg_str_t key, tg_str_t *body);

/* name is plain text: TG_OK or TG_MISSING. */
int tg_cli_tool_list_find(tg_str_t list, tg_str_t name, tg_str_t *tool);

/*
 * The one of a value's schemas that says what it is: schema itself, or the
 * alternative of its anyOf or oneOf that is about texts, else the first that
 * is not about null.  root is the tool's inputSchema.
 */
tg_str_t tg_cli_schema_pick_alternative(tg_str_t root, tg_str_t schema);

/* What a schema says of a keyword, raw, also by $ref; or absent. */
tg_str_t tg_cli_schema_get_keyword(tg_str_t root, tg_str_t schema,
                                   const char *keyword);

/*
 * Says on standard error that there is no such tool, and which names are
 * near; returns TG_CLI_EXIT_REFUSED.
 */
int tg_cli_tool_list_report_unknown(tg_str_t list, tg_str_t name);

/*
 * Appends `; did you mean path?`, or nothing: of the members of a schema's
 * properties.
 */
void tg_cli_append_key_suggestion(tg_buf_t *text, tg_str_t key,
                                  tg_str_t properties);

#endif
