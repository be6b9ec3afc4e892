/*
 * An agent's registration of the bridge, merged into its own config file:
 * every byte that is not about the registration stays as it is.
 */
#ifndef TG_CLI_MERGE_H
#define TG_CLI_MERGE_H

#include "base/tg_buf.h"

/* Plain text without control characters; name is of [A-Za-z0-9_-]. */
typedef struct {
    tg_str_t name;
    tg_str_t command; /* the bridge */
    tg_str_t socket;  /* its only argument */
} tg_cli_entry_t;

/*
 * Both append the new text of a file to out.  TG_OK; TG_EXISTS when there is
 * nothing to change; TG_NOMEM; TG_BAD when the file is not what it should
 * be: what is wrong goes to why, for a person, and out is of no use.
 */

/* .mcp.json: {"mcpServers":{NAME:{"command":…,"args":[…]}}} */
int tg_cli_merge_json(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                      tg_buf_t *why);

/* config.toml: [mcp_servers.NAME] command = "…" args = ["…"] */
int tg_cli_merge_toml(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                      tg_buf_t *why);

#endif
