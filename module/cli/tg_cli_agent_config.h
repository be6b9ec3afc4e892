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

/* --- tg_cli_jsonc.c: JSON with comments and trailing commas --- */

/* A text, and plain JSON with blanks for comments and trailing commas. */
typedef struct {
    const char *text;
    tg_buf_t json;
} tg_cli_jsonc_t;

/* An object of the text. */
typedef struct {
    const char *open;      /* its { */
    const char *close;     /* its } */
    const char *first_key; /* key of its first member; NULL: empty object */
    const char *last_end;  /* end of its last value */
    const char *comma;     /* comma after the last value, or NULL */
} tg_cli_jsonc_object_t;

/* A member of an object; key NULL: no member of that name. */
typedef struct {
    const char *key;
    const char *value;
    const char *end;
    const char *comma_before; /* comma before the member, or NULL */
    const char *comma_after;  /* comma after the member, or NULL */
    int is_duplicate;
} tg_cli_jsonc_member_t;

/* text must be valid until tg_cli_jsonc_deinit(). TG_OK or TG_NOMEM. */
int tg_cli_jsonc_init(tg_cli_jsonc_t *jsonc, const char *text);
void tg_cli_jsonc_deinit(tg_cli_jsonc_t *jsonc);

/* Returns TG_INVALID, with the message in out, if text is no object. */
int tg_cli_jsonc_check(const tg_cli_jsonc_t *jsonc, tg_buf_t *out);

/* Returns the first character after white space and comments. */
const char *tg_cli_jsonc_skip_space(const char *p);

/* Parses the object at p in a valid text, and finds a member of it. */
void tg_cli_jsonc_find_member(const tg_cli_jsonc_t *jsonc, const char *p,
                              const char *name, tg_cli_jsonc_object_t *object,
                              tg_cli_jsonc_member_t *found);

/*
 * path: the names of nested members, and NULL. An absent value removes the
 * member. Returns TG_OK, TG_EXISTS if nothing changes, TG_NOMEM, or TG_INVALID
 * with the message in out.
 */
int tg_cli_jsonc_set_member(const tg_cli_jsonc_t *jsonc,
                            const char *const *path, tg_str_t value,
                            tg_buf_t *out);

#endif
