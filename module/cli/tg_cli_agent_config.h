/*
 * Registering the bridge in the config files of agents: everything in them
 * that is not about the registration stays.  A file is replaced whole or not
 * at all, with its mode and owner, through symbolic links.
 */
#ifndef TG_CLI_AGENT_CONFIG_H
#define TG_CLI_AGENT_CONFIG_H

#include "base/tg_buf.h"

#include <limits.h>
#include <sys/stat.h>

/* --- tg_cli_agent_config_json.c, tg_cli_agent_config_toml.c --- */

/* How an agent has a server in JSON. */
typedef enum {
    TG_CLI_ENTRY_FORMAT_PLAIN, /* {"command":…,"args":[…]} */
    TG_CLI_ENTRY_FORMAT_STDIO, /* the same, with "type":"stdio" */
    /* {"type":"local","command":…,"args":…,"tools":["*"]} */
    TG_CLI_ENTRY_FORMAT_COPILOT,
    /* {"type":"local","command":[…],"enabled":true} */
    TG_CLI_ENTRY_FORMAT_OPENCODE,
    /* {"type":"local","command":[…]}, below "servers" */
    TG_CLI_ENTRY_FORMAT_OPENCODE2
} tg_cli_entry_format_t;

/* Of the bridge: four options with their values, and the socket. */
#define TG_CLI_BRIDGE_ARGS_MAX 9

/* Valid UTF-8 without control characters; name is of [A-Za-z0-9_-]. */
typedef struct {
    const char *name;
    char command[PATH_MAX]; /* the bridge */
    char socket[PATH_MAX];  /* its last argument */
    char tls_files[3][PATH_MAX];
    const char *args[TG_CLI_BRIDGE_ARGS_MAX + 1]; /* all of them, to a NULL */
    const char *servers_key; /* the member that has them; NULL: mcpServers */
    tg_cli_entry_format_t format;
    int is_removed; /* it is to be there no more */
} tg_cli_server_entry_t;

/*
 * Both append the new text of a file to out, which is empty.  TG_OK; TG_EXISTS
 * when there is nothing to change; TG_NOMEM; TG_INVALID when the file is not
 * what it should be: then out says for a person what is wrong.
 */

/*
 * .mcp.json: {"mcpServers":{NAME:{"command":…,"args":[…]}}}, with comments and
 * with commas at the end
 */
int tg_cli_agent_config_merge_json(const char *old,
                                   const tg_cli_server_entry_t *entry,
                                   tg_buf_t *out);

/* config.toml: [mcp_servers.NAME] command = "…" args = ["…"] */
int tg_cli_agent_config_merge_toml(const char *old,
                                   const tg_cli_server_entry_t *entry,
                                   tg_buf_t *out);

/* config.yaml of Goose: extensions.NAME with cmd and args */
int tg_cli_agent_config_merge_yaml(const char *old,
                                   const tg_cli_server_entry_t *entry,
                                   tg_buf_t *out);

/* --- tg_cli_agent_config_file.c --- */

/* Copies the byte order mark that some editors write; what is behind it. */
const char *tg_cli_agent_config_copy_bom(const char *old, tg_buf_t *out);

/* The number of the line that at is in. */
unsigned tg_cli_agent_config_get_line_number(const char *text, const char *at);

/* Makes out say what is wrong: TG_INVALID. */
int tg_cli_agent_config_set_error(tg_buf_t *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes a folder, and those above it that are not there: 0, or -1 (errno). */
int tg_cli_folder_create_all(const char *folder);

/* No config file that people write comes near it. */
#define TG_CLI_CONFIG_FILE_MAX 16777216u

typedef struct {
    char path[PATH_MAX]; /* where it really is */
    struct stat st;      /* as it was when it was read; 0: it is to be made */
    tg_buf_t text;       /* C text, or none; the caller frees it */
} tg_cli_config_file_t;

/*
 * All return TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED when they have said on
 * standard error what is wrong.
 */

/* Reads it, if it is there, into one that is all 0 and has an empty text. */
int tg_cli_config_file_read(tg_cli_config_file_t *file, const char *path);

/*
 * Puts text in its place; mode is for a new file, less the umask.  Fails,
 * and changes nothing, when it is read-only, or when somebody else changed it
 * since it was read.
 */
int tg_cli_config_file_replace(tg_cli_config_file_t *file, tg_str_t text,
                               mode_t mode);

#endif
