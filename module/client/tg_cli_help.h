/*
 * What `toolgate help` says of a tool of the server.
 */
#ifndef TG_CLI_HELP_H
#define TG_CLI_HELP_H

#include "client/tg_cli_session.h"

/* Asks the server for it, and explains it: the exit status. */
int tg_cli_help_tool(const tg_cli_options_t *options, const char *name);

#endif
