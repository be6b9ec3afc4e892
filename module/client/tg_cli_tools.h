/*
 * What the commands read out of a list of tools: {"tools":[…]}, validated.
 */
#ifndef TG_CLI_TOOLS_H
#define TG_CLI_TOOLS_H

#include "base/tg_json.h"

/* Enters the array; walk on with tg_cli_tools_next(). */
void tg_cli_tools_init(tg_json_t *json, tg_str_t list);

/* The next tool, a raw object: TG_OK or TG_END. */
int tg_cli_tools_next(tg_json_t *json, tg_str_t *tool);

/* The body of a tool's string member: TG_OK or TG_MISSING. */
int tg_cli_tool_text(tg_str_t tool, tg_str_t key, tg_str_t *body);

/* name is plain text: TG_OK or TG_MISSING. */
int tg_cli_tools_find(tg_str_t list, tg_str_t name, tg_str_t *tool);

/*
 * Says on standard error that there is no such tool, and which names are
 * near; returns TG_CLI_REFUSED.
 */
int tg_cli_tools_unknown(tg_str_t list, tg_str_t name);

#endif
