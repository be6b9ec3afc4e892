/* The text of `toolgate help TOOL`. */
#ifndef TG_CLI_TOOL_HELP_H
#define TG_CLI_TOOL_HELP_H

#include "cli/tg_cli_session.h"

/* Fetches the list of tools and explains one tool. Returns the exit status. */
int tg_cli_tool_help_print(const tg_cli_options_t *options, const char *name);

#endif
