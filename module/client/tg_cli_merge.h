/*
 * An agent's registration of the bridge, merged into its own config file:
 * everything that is not about the registration stays.
 */
#ifndef TG_CLI_MERGE_H
#define TG_CLI_MERGE_H

#include "base/tg_buf.h"

/* Valid UTF-8 without control characters; name is of [A-Za-z0-9_-]. */
typedef struct {
    const char *name;
    const char *command; /* the bridge */
    const char *socket;  /* its only argument */
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

/* Bytes of a byte order mark in front of a text. */
static inline size_t
tg_cli_merge_mark(tg_str_t text)
{
    return text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Appends "line N" of where at stands in a text, and what: TG_BAD. */
int tg_cli_merge_bad(tg_buf_t *why, tg_str_t text, const char *at,
                     const char *what);

#endif
