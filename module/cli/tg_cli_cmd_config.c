/* The command `toolgate config`: registers the bridge with an agent. */
#include "cli/tg_cli.h"
#include "cli/tg_cli_agent_config.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define TG_CLI_BRIDGE_PROGRAM "toolgate-bridge"
#define TG_CLI_SERVER_NAME_DEFAULT "toolgate"
/* Longest server name, which agents put before the names of tools. */
#define TG_CLI_SERVER_NAME_MAX 64

/* FOLDER/FILE, in the current folder or below BASE. */
typedef struct {
    /* environment variable that replaces base, or NULL */
    const char *base_env;
    const char *base;   /* user scope: folder below the home folder */
    const char *folder; /* empty: none */
    const char *file;   /* NULL: the agent has no such file */
} tg_cli_config_location_t;

typedef struct {
    const char *name;
    const char *title;
    int (*merge)(const char *old, const tg_cli_server_entry_t *entry,
                 tg_buf_t *out);
    const char *servers_key; /* JSON member with the servers */
    tg_cli_entry_format_t format;
    int is_user_scope; /* default of --scope is user */
    tg_cli_config_location_t project;
    tg_cli_config_location_t user;
} tg_cli_agent_t;

/* clang-format off */
static const tg_cli_agent_t tg_cli_agents[] = {
    { "claude", "Claude Code", tg_cli_agent_config_merge_json, "mcpServers",
      TG_CLI_ENTRY_FORMAT_PLAIN, 0,
      { NULL, "", "", ".mcp.json" },
      { "CLAUDE_CONFIG_DIR", "", "", "/.claude.json" } },
    { "codex", "Codex", tg_cli_agent_config_merge_toml, NULL,
      TG_CLI_ENTRY_FORMAT_PLAIN, 1,
      { NULL, "", ".codex", "/config.toml" },
      { "CODEX_HOME", "/.codex", "", "/config.toml" } },
    { "cursor", "Cursor", tg_cli_agent_config_merge_json, "mcpServers",
      TG_CLI_ENTRY_FORMAT_PLAIN, 0,
      { NULL, "", ".cursor", "/mcp.json" },
      { NULL, "", "/.cursor", "/mcp.json" } },
    { "vscode", "VS Code", tg_cli_agent_config_merge_json, "servers",
      TG_CLI_ENTRY_FORMAT_STDIO, 0,
      { NULL, "", ".vscode", "/mcp.json" },
      { "XDG_CONFIG_HOME", "/.config", "/Code/User", "/mcp.json" } },
    { "gemini", "Gemini CLI", tg_cli_agent_config_merge_json, "mcpServers",
      TG_CLI_ENTRY_FORMAT_PLAIN, 0,
      { NULL, "", ".gemini", "/settings.json" },
      { NULL, "", "/.gemini", "/settings.json" } },
    { "opencode", "OpenCode", tg_cli_agent_config_merge_json, "mcp",
      TG_CLI_ENTRY_FORMAT_OPENCODE, 0,
      { NULL, "", "", "opencode.json" },
      { "XDG_CONFIG_HOME", "/.config", "/opencode", "/opencode.json" } },
    { "opencode2", "OpenCode 2", tg_cli_agent_config_merge_json, "mcp",
      TG_CLI_ENTRY_FORMAT_OPENCODE2, 0,
      { NULL, "", "", "opencode.json" },
      { "XDG_CONFIG_HOME", "/.config", "/opencode", "/opencode.json" } },
    { "copilot", "Copilot CLI", tg_cli_agent_config_merge_json, "mcpServers",
      TG_CLI_ENTRY_FORMAT_COPILOT, 1,
      { NULL, "", ".github", "/mcp.json" },
      { "COPILOT_HOME", "/.copilot", "", "/mcp-config.json" } },
    { "claude-desktop", "Claude Desktop", tg_cli_agent_config_merge_json,
      "mcpServers",
      TG_CLI_ENTRY_FORMAT_PLAIN, 1, { NULL, "", "", NULL },
      { "XDG_CONFIG_HOME", "/.config", "/Claude",
      "/claude_desktop_config.json" } },
    { "windsurf", "Windsurf", tg_cli_agent_config_merge_json, "mcpServers",
      TG_CLI_ENTRY_FORMAT_PLAIN, 1,
      { NULL, "", "", NULL },
      { NULL, "", "/.codeium/windsurf", "/mcp_config.json" } },
    { "zed", "Zed", tg_cli_agent_config_merge_json, "context_servers",
      TG_CLI_ENTRY_FORMAT_PLAIN, 1,
      { NULL, "", ".zed", "/settings.json" },
      { "XDG_CONFIG_HOME", "/.config", "/zed", "/settings.json" } },
    { "goose", "Goose", tg_cli_agent_config_merge_yaml, NULL,
      TG_CLI_ENTRY_FORMAT_PLAIN, 1,
      { NULL, "", "", NULL },
      { "XDG_CONFIG_HOME", "/.config", "/goose", "/config.yaml" } },
};
/* clang-format on */

static int
tg_cli_config_join_path(char path[PATH_MAX], const char *folder,
                        const char *name)
{
    return snprintf(path, PATH_MAX, "%s%s", folder, name) < PATH_MAX
               ? TG_CLI_EXIT_OK
               : tg_cli_error("a path that starts with %.80s is too long",
                              path);
}

static int
tg_cli_config_is_user_scope(const tg_cli_options_t *options,
                            const tg_cli_agent_t *agent)
{
    return options->scope != NULL ? strcmp(options->scope, "user") == 0
                                  : agent->is_user_scope;
}

static int
tg_cli_config_find_user_folder(const tg_cli_config_location_t *location,
                               char folder[PATH_MAX])
{
    const char *base_env;
    char base[PATH_MAX];
    int rc;

    base_env = location->base_env != NULL ? getenv(location->base_env) : NULL;

    if (base_env != NULL && base_env[0] != '\0') {
        return tg_cli_config_join_path(folder, base_env, location->folder);
    }

    base_env = getenv("HOME");

    if (base_env == NULL || base_env[0] == '\0') {
        return tg_cli_error("HOME is not set; set it, or name the file with "
                            "--file PATH");
    }

    rc = tg_cli_config_join_path(base, base_env, location->base);

    return rc == TG_CLI_EXIT_OK
               ? tg_cli_config_join_path(folder, base, location->folder)
               : rc;
}

/* OpenCode reads opencode.jsonc, too. */
static int
tg_cli_config_find_file(char path[PATH_MAX], const char *folder,
                        const char *file, const tg_cli_agent_t *agent)
{
    char other[PATH_MAX];

    if (tg_cli_config_join_path(path, folder, file) != TG_CLI_EXIT_OK) {
        return TG_CLI_EXIT_FAILED;
    }

    if ((agent->format == TG_CLI_ENTRY_FORMAT_OPENCODE
         || agent->format == TG_CLI_ENTRY_FORMAT_OPENCODE2)
        && access(path, F_OK) != 0
        && tg_cli_config_join_path(other, path, "c") == TG_CLI_EXIT_OK
        && access(other, F_OK) == 0)
    {
        (void) strcpy(path, other);
    }

    return TG_CLI_EXIT_OK;
}

/* Creates the folder of the file unless --remove is given. */
static int
tg_cli_config_get_path(const tg_cli_options_t *options,
                       const tg_cli_agent_t *agent, char path[PATH_MAX])
{
    const tg_cli_config_location_t *location;
    char folder[PATH_MAX] = "";
    int is_user_scope;

    if (options->file != NULL) {
        return tg_cli_config_join_path(path, "", options->file);
    }

    is_user_scope = tg_cli_config_is_user_scope(options, agent);
    location = is_user_scope ? &agent->user : &agent->project;

    if (location->file == NULL) {
        return tg_cli_error("%s has no config file for a project; omit "
                            "--scope, or name a file with --file PATH",
                            agent->title);
    }

    if ((is_user_scope ? tg_cli_config_find_user_folder(location, folder)
                       : tg_cli_config_join_path(folder, "", location->folder))
        != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    return folder[0] == '\0' || options->is_remove
                   || tg_cli_folder_create_all(folder) == 0
               ? tg_cli_config_find_file(path, folder, location->file, agent)
               : tg_cli_error("cannot create the folder %s: %s", folder,
                              strerror(errno));
}

/* --- server entry --- */

static int
tg_cli_config_check_text(const char *what, const char *path)
{
    const char *p;

    for (p = path; (unsigned char) *p >= 0x20 && *p != 0x7f; p++) { /* void */
    }

    return *p == '\0' && tg_utf8_is_valid(tg_str_from_cstr(path))
               ? TG_CLI_EXIT_OK
               : tg_cli_error("the %s contains control characters or is not "
                              "valid UTF-8, so that it cannot be written to "
                              "an agent's file: %s",
                              what, path);
}

static int
tg_cli_config_find_bridge(char path[PATH_MAX])
{
    char self[PATH_MAX];

    if (realpath("/proc/self/exe", self) == NULL) {
        return tg_cli_error("cannot find the path of this program "
                            "(/proc/self/exe): %s",
                            strerror(errno));
    }

    strrchr(self, '/')[1] = '\0';

    if (tg_cli_config_join_path(path, self, TG_CLI_BRIDGE_PROGRAM)
        != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    return access(path, X_OK) == 0
               ? tg_cli_config_check_text("bridge", path)
               : tg_cli_error("%s: %s; it must be in the same folder as this "
                              "program, where ./build.sh build or install "
                              "puts it",
                              path, strerror(errno));
}

/* Makes a path absolute, since agents start the bridge in other folders. */
static int
tg_cli_config_make_absolute(const char *what, const char *path,
                            char whole[PATH_MAX])
{
    char folder[PATH_MAX];

    folder[0] = '\0';

    if (path[0] != '/') {
        if (getcwd(folder, sizeof(folder) - 1) == NULL) {
            return tg_cli_error("cannot find the current folder: %s",
                                strerror(errno));
        }

        (void) strcat(folder, "/");
    }

    return tg_cli_config_join_path(whole, folder, path) == TG_CLI_EXIT_OK
               ? tg_cli_config_check_text(what, whole)
               : TG_CLI_EXIT_FAILED;
}

static int
tg_cli_config_get_socket(const tg_cli_options_t *options, char socket[PATH_MAX])
{
    const char *path;

    path = tg_cli_options_get_socket(options);

    if (path == NULL) {
        return TG_CLI_EXIT_FAILED;
    }

    path += strncmp(path, "unix:", 5) == 0 ? 5 : 0;

    if (tg_uv_address_is_path(path)) {
        return tg_cli_config_make_absolute("socket", path, socket);
    }

    return tg_cli_config_join_path(socket, "", path) == TG_CLI_EXIT_OK
               ? tg_cli_config_check_text("address", socket)
               : TG_CLI_EXIT_FAILED;
}

static int
tg_cli_config_set_bridge_args(const tg_cli_options_t *options,
                              tg_cli_server_entry_t *entry)
{
    tg_uv_tls_options_t tls;
    size_t i, n;

    if (tg_cli_config_get_socket(options, entry->socket) != TG_CLI_EXIT_OK) {
        return TG_CLI_EXIT_FAILED;
    }

    tls = options->tls;

    if (tg_uv_address_is_tls(entry->socket)) {
        tg_uv_tls_options_read_env(&tls);
    }

    const struct {
        const char *option;
        const char *file;
    } tls_files[] = {
        { "--ca", tls.ca },
        { "--cert", tls.certificate },
        { "--key", tls.key },
    };

    for (i = n = 0; i < sizeof(tls_files) / sizeof(tls_files[0]); i++) {
        if (tls_files[i].file == NULL) {
            continue;
        }

        if (tg_cli_config_make_absolute("file", tls_files[i].file,
                                        entry->tls_files[i])
            != TG_CLI_EXIT_OK)
        {
            return TG_CLI_EXIT_FAILED;
        }

        entry->args[n++] = tls_files[i].option;
        entry->args[n++] = entry->tls_files[i];
    }

    if (tls.name != NULL) {
        entry->args[n++] = "--tls-name";
        entry->args[n++] = tls.name;
    }

    if (n != 0 && !tg_uv_address_is_tls(entry->socket)) {
        return tg_cli_error("%s: certificates are only for TLS; write "
                            "tls:HOST:PORT",
                            entry->socket);
    }

    entry->args[n] = entry->socket;

    return tls.name != NULL ? tg_cli_config_check_text("name", tls.name)
                            : TG_CLI_EXIT_OK;
}

static int
tg_cli_config_get_server_name(const tg_cli_options_t *options,
                              const char **name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t len;

    *name = options->name != NULL ? options->name : TG_CLI_SERVER_NAME_DEFAULT;
    len = strspn(*name, allowed);

    return len <= TG_CLI_SERVER_NAME_MAX && (*name)[len] == '\0'
               ? TG_CLI_EXIT_OK
               : tg_cli_error("--name must be at most %d letters, digits, - "
                              "and _, not \"%s\"",
                              TG_CLI_SERVER_NAME_MAX, *name);
}

/* --- output --- */

/* Without --write and --remove, prints the entry as a file of its own. */
static int
tg_cli_config_apply(const tg_cli_options_t *options,
                    const tg_cli_agent_t *agent,
                    const tg_cli_server_entry_t *entry,
                    tg_cli_config_file_t *file, tg_buf_t *out)
{
    switch (agent->merge(tg_buf_view(&file->text).data, entry, out)) {
    case TG_OK:
        break;
    case TG_EXISTS:
        (void) printf("%s: nothing to change, %s is %sregistered\n", file->path,
                      entry->name, entry->is_removed ? "not " : "");
        return TG_CLI_EXIT_OK;
    case TG_INVALID:
        return tg_cli_error("%s was not changed: %.*s", file->path,
                            (int) out->len, tg_buf_view(out).data);
    default:
        return tg_cli_error_nomem();
    }

    if (!(options->is_write || options->is_remove)) {
        tg_cli_print(stdout, tg_buf_view(out));
        return TG_CLI_EXIT_OK;
    }

    if (tg_cli_config_file_replace(
            file, tg_buf_view(out),
            tg_cli_config_is_user_scope(options, agent) ? 0600 : 0666)
        != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    (void) printf("%s: %s is %s; restart %s to apply the change\n", file->path,
                  entry->name, entry->is_removed ? "removed" : "registered",
                  agent->title);

    return TG_CLI_EXIT_OK;
}

/* --- command --- */

static const tg_cli_agent_t *
tg_cli_config_find_agent(const tg_cli_options_t *options)
{
    size_t i;

    for (i = 0; i < sizeof(tg_cli_agents) / sizeof(tg_cli_agents[0]); i++) {
        if (options->nargs != 0
            && strcmp(options->args[0], tg_cli_agents[i].name) == 0) {
            return &tg_cli_agents[i];
        }
    }

    return NULL;
}

static int
tg_cli_config_init_entry(const tg_cli_options_t *options,
                         const tg_cli_agent_t *agent,
                         tg_cli_server_entry_t *entry)
{
    memset(entry, 0, sizeof(*entry));
    entry->servers_key = agent->servers_key;
    entry->format = agent->format;
    entry->is_removed = options->is_remove;

    if (options->file != NULL && !(options->is_write || options->is_remove)) {
        return tg_cli_error("--file needs --write or --remove");
    }

    if (options->is_write && entry->is_removed) {
        return tg_cli_error("give either --write or --remove, "
                            "not both");
    }

    if (options->scope != NULL && strcmp(options->scope, "user") != 0
        && strcmp(options->scope, "project") != 0)
    {
        return tg_cli_error("--scope must be project or user, not \"%s\"",
                            options->scope);
    }

    if (tg_cli_config_get_server_name(options, &entry->name) != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    return entry->is_removed
                   || (tg_cli_config_set_bridge_args(options, entry)
                           == TG_CLI_EXIT_OK
                       && tg_cli_config_find_bridge(entry->command)
                              == TG_CLI_EXIT_OK)
               ? TG_CLI_EXIT_OK
               : TG_CLI_EXIT_FAILED;
}

static int
tg_cli_config_run(const tg_cli_options_t *options)
{
    const tg_cli_agent_t *agent;
    tg_cli_server_entry_t entry;
    char path[PATH_MAX];
    tg_cli_config_file_t file;
    tg_buf_t out;
    int rc;

    agent = tg_cli_config_find_agent(options);

    if (agent == NULL) {
        return tg_cli_error("config for which agent: claude, codex, cursor, "
                            "vscode, gemini, opencode, opencode2, copilot, "
                            "claude-desktop, windsurf, zed or goose?");
    }

    if (tg_cli_config_init_entry(options, agent, &entry) != TG_CLI_EXIT_OK) {
        return TG_CLI_EXIT_FAILED;
    }

    memset(&file, 0, sizeof(file));
    tg_buf_init(&file.text, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());
    rc = TG_CLI_EXIT_OK;

    if (options->is_write || options->is_remove) {
        rc = tg_cli_config_get_path(options, agent, path);
        rc = rc == TG_CLI_EXIT_OK ? tg_cli_config_file_read(&file, path) : rc;
    }

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_config_apply(options, agent, &entry, &file, &out);
    }

    tg_buf_deinit(&file.text);
    tg_buf_deinit(&out);

    return tg_cli_flush_stdout(rc);
}

static const tg_cli_option_t tg_cli_config_options[] = {
    TG_CLI_FLAG("--write", 'w', is_write, "change the agent's file"),
    TG_CLI_FLAG("--remove", '\0', is_remove,
                "remove the server from the agent's file"),
    TG_CLI_VALUE("--scope", '\0', "SCOPE", scope,
                 "project or user; the default is user for codex, copilot, "
                 "claude-desktop, windsurf, zed and goose, and project for "
                 "others"),
    TG_CLI_VALUE("--file", 'f', "PATH", file, "change another file"),
    TG_CLI_VALUE("--name", 'n', "NAME", name,
                 "the agent's name for the server (default: toolgate)"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_config = {
    .name = "config",
    .synopsis = "config AGENT [--write | --remove] [--scope project|user]\n"
                "                [--file PATH] [--name NAME] [--socket PATH]",
    .summary = "register the server with an agent",
    .help =
        "Prints the configuration that registers the server with an agent; "
        "with --write, merges it into the agent's file and keeps the rest of "
        "the file, including comments.\n\n"
        "  AGENT           project scope          user scope\n"
        "  claude          .mcp.json              ~/.claude.json\n"
        "  codex           .codex/config.toml     ~/.codex/config.toml\n"
        "  cursor          .cursor/mcp.json       ~/.cursor/mcp.json\n"
        "  vscode          .vscode/mcp.json       "
        "~/.config/Code/User/mcp.json\n"
        "  gemini          .gemini/settings.json  ~/.gemini/settings.json\n"
        "  opencode        opencode.json          "
        "~/.config/opencode/opencode.json\n"
        "  opencode2       opencode.json          "
        "~/.config/opencode/opencode.json\n"
        "  copilot         .github/mcp.json       "
        "~/.copilot/mcp-config.json\n"
        "  claude-desktop  "
        "~/.config/Claude/claude_desktop_config.json (user scope)\n"
        "  windsurf                               "
        "~/.codeium/windsurf/mcp_config.json\n"
        "  zed             .zed/settings.json     ~/.config/zed/settings.json\n"
        "  goose                                  "
        "~/.config/goose/config.yaml",
    .note =
        "CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME and XDG_CONFIG_HOME "
        "(~/.config) replace these folders if they are set. Codex reads a "
        "project's file only if it trusts the project. The files of OpenCode 1 "
        "and 2 differ; a file with \"mcp\": {\"servers\": ...} keeps that "
        "form.",
    .options = tg_cli_config_options,
    .max_args = 1,
    .run = tg_cli_config_run,
};
