/*
 * Registers the bridge in agents' config files and keeps all their other
 * bytes. A file is replaced as a whole or not at all, through symbolic links.
 */
#ifndef TG_CLI_AGENT_CONFIG_H
#define TG_CLI_AGENT_CONFIG_H

#include "base/tg_buf.h"

#include <limits.h>
#include <sys/stat.h>

/* --- tg_cli_agent_config_json.c, _toml.c and _yaml.c: formats --- */

/* Format of a server entry in an agent's JSON. */
typedef enum {
    TG_CLI_ENTRY_FORMAT_PLAIN, /* {"command":...,"args":[...]} */
    /* {"type":"stdio","command":...,"args":[...]} */
    TG_CLI_ENTRY_FORMAT_STDIO,
    /* {"type":"local","command":...,"args":...,"tools":["*"]} */
    TG_CLI_ENTRY_FORMAT_COPILOT,
    /* {"type":"local","command":[...],"enabled":true} */
    TG_CLI_ENTRY_FORMAT_OPENCODE,
    /* {"type":"local","command":[...]}, below "servers" */
    TG_CLI_ENTRY_FORMAT_OPENCODE2
} tg_cli_entry_format_t;

/* Four options with their values, and the socket. */
#define TG_CLI_BRIDGE_ARGS_MAX 9

/* All strings are UTF-8 without control characters; name: [A-Za-z0-9_-]. */
typedef struct {
    const char *name;
    char command[PATH_MAX]; /* path of the bridge */
    char socket[PATH_MAX];  /* last argument of the bridge */
    char tls_files[3][PATH_MAX];
    /* arguments of the bridge, terminated by NULL */
    const char *args[TG_CLI_BRIDGE_ARGS_MAX + 1];
    /* JSON member that contains the servers; NULL: mcpServers. */
    const char *servers_key;
    tg_cli_entry_format_t format;
    int is_removed; /* remove the entry */
} tg_cli_server_entry_t;

/*
 * Formats: append a file's new text to out, which is empty. Return TG_OK,
 * TG_EXISTS if nothing changes, TG_NOMEM, or TG_INVALID with the message in
 * out.
 */

/* {"mcpServers":{NAME:{"command":...,"args":[...]}}}, with comments. */
int tg_cli_agent_config_merge_json(const char *old,
                                   const tg_cli_server_entry_t *entry,
                                   tg_buf_t *out);

/* config.toml: [mcp_servers.NAME] with command and args. */
int tg_cli_agent_config_merge_toml(const char *old,
                                   const tg_cli_server_entry_t *entry,
                                   tg_buf_t *out);

/* Goose's config.yaml: extensions.NAME with cmd and args. */
int tg_cli_agent_config_merge_yaml(const char *old,
                                   const tg_cli_server_entry_t *entry,
                                   tg_buf_t *out);

/* --- tg_cli_agent_config_file.c: files --- */

/* Copies a byte order mark and returns the text after it. */
const char *tg_cli_agent_config_copy_bom(const char *old, tg_buf_t *out);

/* Returns the number of the line that contains at. */
unsigned tg_cli_agent_config_get_line_number(const char *text, const char *at);

/* Replaces out by an error message.  Returns TG_INVALID, or TG_NOMEM. */
int tg_cli_agent_config_set_error(tg_buf_t *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Creates a folder and its missing parents. Returns 0, or -1 with errno set. */
int tg_cli_folder_create_all(const char *folder);

/* Largest size of a config file in bytes, far above real files. */
#define TG_CLI_CONFIG_FILE_MAX 16777216u

typedef struct {
    char path[PATH_MAX]; /* path with symbolic links resolved */
    struct stat st;      /* state when the file was read; all 0: new file */
    tg_buf_t text;       /* C string, or empty; the caller frees it */
} tg_cli_config_file_t;


/* Reads a file, if it exists, into a zeroed struct with an empty text. */
int tg_cli_config_file_read(tg_cli_config_file_t *file, const char *path);

/*
 * Replaces a file, unless it is read-only or was changed since it was read.
 * mode: of a new file, reduced by the umask.
 */
int tg_cli_config_file_replace(tg_cli_config_file_t *file, tg_str_t text,
                               mode_t mode);

#endif
