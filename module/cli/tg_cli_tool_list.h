/*
 * Reads a list of tools: valid JSON, {"tools":[...]}.
 */
#ifndef TG_CLI_TOOL_LIST_H
#define TG_CLI_TOOL_LIST_H

#include "base/tg_json.h"

/* Appends a value: the text of a string, or other JSON without white space. */
void tg_cli_append_json_value(tg_buf_t *out, tg_str_t raw);

/*
 * Checks whether raw is a string with this escaped body, or an array that
 * contains such a string.
 */
int tg_cli_json_has_string(tg_str_t raw, tg_str_t body);

/* Returns the array of tools of a list, or an absent string. */
tg_str_t tg_cli_tool_list_get_tools(tg_str_t list);

/* Finds the body of a tool's string member.  Returns TG_OK or TG_MISSING. */
int tg_cli_tool_get_text(tg_str_t tool, tg_str_t key, tg_str_t *body);

/* Finds a tool by its name in plain text.  Returns TG_OK or TG_MISSING. */
int tg_cli_tool_list_find(tg_str_t list, tg_str_t name, tg_str_t *tool);

/*
 * Returns the schema to describe a value with: schema itself, or the
 * alternative of its anyOf or oneOf that allows strings, else the first
 * alternative that is not null.  root is the tool's inputSchema.
 */
tg_str_t tg_cli_schema_pick_alternative(tg_str_t root, tg_str_t schema);

/*
 * Returns the raw value of a schema's keyword, following $ref, or an absent
 * string.
 */
tg_str_t tg_cli_schema_get_keyword(tg_str_t root, tg_str_t schema,
                                   const char *keyword);

/*
 * Reports an unknown tool, and suggests similar names.  Returns
 * TG_CLI_EXIT_REFUSED.
 */
int tg_cli_tool_list_report_unknown(tg_str_t list, tg_str_t name);

/*
 * Appends the name of an object as a member, to an object for
 * tg_cli_append_key_suggestion().
 */
void tg_cli_append_name_key(tg_buf_t *names, tg_str_t object,
                            const char *member);

/*
 * Appends `; did you mean path?` with the most similar member of a schema's
 * properties, or nothing.
 */
void tg_cli_append_key_suggestion(tg_buf_t *text, tg_str_t key,
                                  tg_str_t properties);

#endif
