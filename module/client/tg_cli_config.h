/*
 * Registering the bridge in the config files of agents: everything in them
 * that is not about the registration stays.  A file is replaced whole or not
 * at all, with its mode and owner, through symbolic links.
 */
#ifndef TG_CLI_CONFIG_H
#define TG_CLI_CONFIG_H

#include "base/tg_buf.h"

#include <limits.h>
#include <sys/stat.h>

/* --- tg_cli_merge_json.c, tg_cli_merge_toml.c --- */

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

/* --- tg_cli_file.c --- */

/* No config file that people write comes near it. */
#define TG_CLI_FILE_MAX 16777216u

typedef struct {
    char path[PATH_MAX]; /* where it really is */
    struct stat st;      /* as it was when it was read; 0: it is to be made */
    tg_buf_t text;       /* the caller frees it */
} tg_cli_file_t;

/*
 * All return TG_CLI_DONE, or TG_CLI_FAILED when they have said on standard
 * error what is wrong.
 */

/* Reads it, if it is there, into one that is all 0 and has an empty text. */
int tg_cli_file_read(tg_cli_file_t *file, const char *path);

/*
 * Puts text in its place; mode is for a new file, less the umask.  Fails,
 * and changes nothing, when it is read-only, or when somebody else changed it
 * since it was read.
 */
int tg_cli_file_replace(tg_cli_file_t *file, tg_str_t text, mode_t mode);

#endif
