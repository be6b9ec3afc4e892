/*
 * What `toolgate help` says of a tool of the server.
 */
#ifndef TG_CLI_TOOL_HELP_H
#define TG_CLI_TOOL_HELP_H

#include "cli/tg_cli_session.h"

/* Asks the server for it, and explains it: the exit status. */
int tg_cli_tool_help_print(const tg_cli_options_t *options, const char *name);

#endif
