/*
 * toolgate config
 */
#include "client/tg_cli.h"
#include "client/tg_cli_config.h"
#include "client/tg_cli_text.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define TG_CLI_BRIDGE "toolgate-bridge"
#define TG_CLI_SERVER "toolgate"
/* What the agents' own tools' names leave room for. */
#define TG_CLI_SERVER_MAX 64

/* Where a file is: FOLDER/FILE, in the current folder or below BASE. */
typedef struct {
    const char *above;  /* environment that names the base instead, or NULL */
    const char *base;   /* of the user's: below the home */
    const char *folder; /* empty: no folder of its own */
    const char *file;   /* NULL: the agent has no such file */
} tg_cli_place_t;

typedef struct {
    const char *name;
    const char *title;
    int (*merge)(const char *old, const tg_cli_entry_t *entry, tg_buf_t *out);
    const char *servers; /* of JSON */
    tg_cli_form_t form;
    int is_users; /* unless --scope says otherwise */
    tg_cli_place_t project;
    tg_cli_place_t user;
} tg_cli_agent_t;

static const tg_cli_agent_t tg_cli_agents[] = {
    { "claude",
      "Claude Code",
      tg_cli_merge_json,
      "mcpServers",
      TG_CLI_FORM_PLAIN,
      0,
      { NULL, "", "", ".mcp.json" },
      { "CLAUDE_CONFIG_DIR", "", "", "/.claude.json" } },
    { "codex",
      "Codex",
      tg_cli_merge_toml,
      NULL,
      TG_CLI_FORM_PLAIN,
      1,
      { NULL, "", ".codex", "/config.toml" },
      { "CODEX_HOME", "/.codex", "", "/config.toml" } },
    { "cursor",
      "Cursor",
      tg_cli_merge_json,
      "mcpServers",
      TG_CLI_FORM_PLAIN,
      0,
      { NULL, "", ".cursor", "/mcp.json" },
      { NULL, "", "/.cursor", "/mcp.json" } },
    { "vscode",
      "VS Code",
      tg_cli_merge_json,
      "servers",
      TG_CLI_FORM_STDIO,
      0,
      { NULL, "", ".vscode", "/mcp.json" },
      { "XDG_CONFIG_HOME", "/.config", "/Code/User", "/mcp.json" } },
    { "gemini",
      "Gemini CLI",
      tg_cli_merge_json,
      "mcpServers",
      TG_CLI_FORM_PLAIN,
      0,
      { NULL, "", ".gemini", "/settings.json" },
      { NULL, "", "/.gemini", "/settings.json" } },
    { "opencode",
      "OpenCode",
      tg_cli_merge_json,
      "mcp",
      TG_CLI_FORM_LOCAL,
      0,
      { NULL, "", "", "opencode.json" },
      { "XDG_CONFIG_HOME", "/.config", "/opencode", "/opencode.json" } },
    { "opencode2",
      "OpenCode 2",
      tg_cli_merge_json,
      "mcp",
      TG_CLI_FORM_LOCAL2,
      0,
      { NULL, "", "", "opencode.json" },
      { "XDG_CONFIG_HOME", "/.config", "/opencode", "/opencode.json" } },
    { "copilot",
      "Copilot CLI",
      tg_cli_merge_json,
      "mcpServers",
      TG_CLI_FORM_TOOLS,
      1,
      { NULL, "", ".github", "/mcp.json" },
      { "COPILOT_HOME", "/.copilot", "", "/mcp-config.json" } },
    { "claude-desktop",
      "Claude Desktop",
      tg_cli_merge_json,
      "mcpServers",
      TG_CLI_FORM_PLAIN,
      1,
      { NULL, "", "", NULL },
      { "XDG_CONFIG_HOME", "/.config", "/Claude",
        "/claude_desktop_config.json" } },
    { "windsurf",
      "Windsurf",
      tg_cli_merge_json,
      "mcpServers",
      TG_CLI_FORM_PLAIN,
      1,
      { NULL, "", "", NULL },
      { NULL, "", "/.codeium/windsurf", "/mcp_config.json" } },
    { "zed",
      "Zed",
      tg_cli_merge_json,
      "context_servers",
      TG_CLI_FORM_PLAIN,
      1,
      { NULL, "", ".zed", "/settings.json" },
      { "XDG_CONFIG_HOME", "/.config", "/zed", "/settings.json" } },
    { "goose",
      "Goose",
      tg_cli_merge_yaml,
      NULL,
      TG_CLI_FORM_PLAIN,
      1,
      { NULL, "", "", NULL },
      { "XDG_CONFIG_HOME", "/.config", "/goose", "/config.yaml" } },
};

static int
tg_cli_config_join(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s%s", folder, name) < PATH_MAX
               ? TG_CLI_DONE
               : tg_cli_error("a path that starts with %.80s is too long",
                              path);
}

static int
tg_cli_config_is_users(const tg_cli_options_t *options,
                       const tg_cli_agent_t *agent)
{
    return options->scope != NULL ? strcmp(options->scope, "user") == 0
                                  : agent->is_users;
}

/* The folder of a place of the user's. */
static int
tg_cli_config_home(const tg_cli_place_t *place, char folder[PATH_MAX])
{
    const char *above;
    char base[PATH_MAX];
    int rc;

    above = place->above != NULL ? getenv(place->above) : NULL;

    if (above != NULL && above[0] != '\0') {
        return tg_cli_config_join(folder, above, place->folder);
    }

    above = getenv("HOME");

    if (above == NULL || above[0] == '\0') {
        return tg_cli_error("where is your home? Set HOME, or name the file "
                            "with --file PATH");
    }

    rc = tg_cli_config_join(base, above, place->base);

    return rc == TG_CLI_DONE ? tg_cli_config_join(folder, base, place->folder)
                             : rc;
}

/* OpenCode reads opencode.jsonc, too: the one of both that is there. */
static int
tg_cli_config_named(char path[PATH_MAX], const char *folder, const char *file,
                    const tg_cli_agent_t *agent)
{
    char other[PATH_MAX];

    if (tg_cli_config_join(path, folder, file) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    if ((agent->form == TG_CLI_FORM_LOCAL || agent->form == TG_CLI_FORM_LOCAL2)
        && access(path, F_OK) != 0
        && tg_cli_config_join(other, path, "c") == TG_CLI_DONE
        && access(other, F_OK) == 0)
    {
        (void) strcpy(path, other);
    }

    return TG_CLI_DONE;
}

/* To write, its folders are made when they are not there. */
static int
tg_cli_config_path(const tg_cli_options_t *options, const tg_cli_agent_t *agent,
                   char path[PATH_MAX])
{
    const tg_cli_place_t *place;
    char folder[PATH_MAX] = "";
    int is_users;

    if (options->file != NULL) {
        return tg_cli_config_join(path, "", options->file);
    }

    is_users = tg_cli_config_is_users(options, agent);
    place = is_users ? &agent->user : &agent->project;

    if (place->file == NULL) {
        return tg_cli_error("%s has no such file of a project; leave --scope "
                            "out, or name a file with --file PATH",
                            agent->title);
    }

    if ((is_users ? tg_cli_config_home(place, folder)
                  : tg_cli_config_join(folder, "", place->folder))
        != TG_CLI_DONE)
    {
        return TG_CLI_FAILED;
    }

    return folder[0] == '\0' || (options->given & TG_CLI_REMOVE)
                   || tg_cli_file_folder(folder) == 0
               ? tg_cli_config_named(path, folder, place->file, agent)
               : tg_cli_error("cannot make the folder %s: %s", folder,
                              strerror(errno));
}

/* --- what is registered --- */

static int
tg_cli_config_check(const char *what, const char *path)
{
    const char *p;

    for (p = path; (unsigned char) *p >= 0x20 && *p != 0x7f; p++) { /* void */
    }

    return *p == '\0' && tg_utf8_is_valid(tg_str_c(path))
               ? TG_CLI_DONE
               : tg_cli_error("the %s has control characters or is "
                              "not valid UTF-8, which agents cannot keep: %s",
                              what, path);
}

/* The bridge lies beside this program. */
static int
tg_cli_config_bridge(char path[PATH_MAX])
{
    char self[PATH_MAX];

    if (realpath("/proc/self/exe", self) == NULL) {
        return tg_cli_error("cannot tell where this program is "
                            "(/proc/self/exe): %s",
                            strerror(errno));
    }

    strrchr(self, '/')[1] = '\0';

    if (tg_cli_config_join(path, self, TG_CLI_BRIDGE) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    return access(path, X_OK) == 0
               ? tg_cli_config_check("bridge", path)
               : tg_cli_error("%s: %s; it belongs beside this program, and "
                              "./build.sh build or install puts it there",
                              path, strerror(errno));
}

/* Agents start the bridge in folders of their own. */
static int
tg_cli_config_absolute(const char *what, const char *path, char whole[PATH_MAX])
{
    char folder[PATH_MAX];

    folder[0] = '\0';

    if (path[0] != '/') {
        if (getcwd(folder, sizeof(folder) - 1) == NULL) {
            return tg_cli_error("cannot tell the current folder: %s",
                                strerror(errno));
        }

        (void) strcat(folder, "/");
    }

    return tg_cli_config_join(whole, folder, path) == TG_CLI_DONE
               ? tg_cli_config_check(what, whole)
               : TG_CLI_FAILED;
}

static int
tg_cli_config_socket(const tg_cli_options_t *options, char socket[PATH_MAX])
{
    const char *path;

    path = tg_cli_options_socket(options);

    if (path == NULL) {
        return TG_CLI_FAILED;
    }

    path += strncmp(path, "unix:", 5) == 0 ? 5 : 0;

    if (tg_uv_is_path(path)) {
        return tg_cli_config_absolute("socket", path, socket);
    }

    return tg_cli_config_join(socket, "", path) == TG_CLI_DONE
               ? tg_cli_config_check("address", socket)
               : TG_CLI_FAILED;
}

/* What the bridge is started with: what is said about TLS, and the socket. */
static int
tg_cli_config_args(const tg_cli_options_t *options, tg_cli_entry_t *entry)
{
    tg_uv_tls_options_t tls;
    size_t i, n;

    if (tg_cli_config_socket(options, entry->socket) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    tls = options->tls;

    if (tg_uv_is_tls(entry->socket)) {
        tg_uv_place_env(&tls);
    }

    const struct {
        const char *option;
        const char *file;
    } files[] = {
        { "--ca", tls.ca },
        { "--cert", tls.certificate },
        { "--key", tls.key },
    };

    for (i = n = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i].file == NULL) {
            continue;
        }

        if (tg_cli_config_absolute("file", files[i].file, entry->files[i])
            != TG_CLI_DONE)
        {
            return TG_CLI_FAILED;
        }

        entry->args[n++] = files[i].option;
        entry->args[n++] = entry->files[i];
    }

    if (tls.name != NULL) {
        entry->args[n++] = "--tls-name";
        entry->args[n++] = tls.name;
    }

    if (n != 0 && !tg_uv_is_tls(entry->socket)) {
        return tg_cli_error("%s: certificates are for TLS; write "
                            "tls:HOST:PORT",
                            entry->socket);
    }

    entry->args[n] = entry->socket;

    return tls.name != NULL ? tg_cli_config_check("name", tls.name)
                            : TG_CLI_DONE;
}

static int
tg_cli_config_name(const tg_cli_options_t *options, const char **name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t len;

    *name = options->name != NULL ? options->name : TG_CLI_SERVER;
    len = strspn(*name, allowed);

    return len <= TG_CLI_SERVER_MAX && (*name)[len] == '\0'
               ? TG_CLI_DONE
               : tg_cli_error("--name wants at most %d letters, digits, - and "
                              "_, not \"%s\"",
                              TG_CLI_SERVER_MAX, *name);
}

/* --- where it goes --- */

/* Into what the file has, or, without --write, into a file of nothing. */
static int
tg_cli_config_merge(const tg_cli_options_t *options,
                    const tg_cli_agent_t *agent, const tg_cli_entry_t *entry,
                    tg_cli_file_t *file, tg_buf_t *out)
{
    switch (agent->merge(tg_buf_view(&file->text).data, entry, out)) {
    case TG_OK:
        break;
    case TG_EXISTS:
        (void) printf("%s: nothing to change, %s is %sregistered\n", file->path,
                      entry->name, entry->is_removed ? "not " : "");
        return TG_CLI_DONE;
    case TG_BAD:
        return tg_cli_error("%s was left as it is: %.*s", file->path,
                            (int) out->len, tg_buf_view(out).data);
    default:
        return tg_cli_nomem();
    }

    if (!(options->given & (TG_CLI_WRITE | TG_CLI_REMOVE))) {
        tg_cli_print(stdout, tg_buf_view(out));
        return TG_CLI_DONE;
    }

    if (tg_cli_file_replace(file, tg_buf_view(out),
                            tg_cli_config_is_users(options, agent) ? 0600
                                                                   : 0666)
        != TG_CLI_DONE)
    {
        return TG_CLI_FAILED;
    }

    (void) printf("%s: %s is %s; %s reads it when it is started anew\n",
                  file->path, entry->name,
                  entry->is_removed ? "removed" : "registered", agent->title);

    return TG_CLI_DONE;
}

/* --- the command --- */

static const tg_cli_agent_t *
tg_cli_config_agent(const tg_cli_options_t *options)
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

/* What the options say of the entry. */
static int
tg_cli_config_entry(const tg_cli_options_t *options,
                    const tg_cli_agent_t *agent, tg_cli_entry_t *entry)
{
    memset(entry, 0, sizeof(*entry));
    entry->servers = agent->servers;
    entry->form = agent->form;
    entry->is_removed = (options->given & TG_CLI_REMOVE) != 0;

    if (options->file != NULL
        && !(options->given & (TG_CLI_WRITE | TG_CLI_REMOVE))) {
        return tg_cli_error("--file goes with --write or --remove");
    }

    if ((options->given & TG_CLI_WRITE) && entry->is_removed) {
        return tg_cli_error("either --write or --remove");
    }

    if (options->scope != NULL && strcmp(options->scope, "user") != 0
        && strcmp(options->scope, "project") != 0)
    {
        return tg_cli_error("--scope is project or user, not \"%s\"",
                            options->scope);
    }

    if (tg_cli_config_name(options, &entry->name) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    return entry->is_removed
                   || (tg_cli_config_args(options, entry) == TG_CLI_DONE
                       && tg_cli_config_bridge(entry->command) == TG_CLI_DONE)
               ? TG_CLI_DONE
               : TG_CLI_FAILED;
}

static int
tg_cli_config_run(const tg_cli_options_t *options)
{
    const tg_cli_agent_t *agent;
    tg_cli_entry_t entry;
    char path[PATH_MAX];
    tg_cli_file_t file;
    tg_buf_t out;
    int rc;

    if (options->nargs > 1) {
        return tg_cli_error("config is about one agent, and \"%s\" is more",
                            options->args[1]);
    }

    agent = tg_cli_config_agent(options);

    if (agent == NULL) {
        return tg_cli_error("config for which agent: claude or codex, cursor, "
                            "vscode, gemini, opencode, opencode2, copilot, "
                            "claude-desktop, windsurf, zed or goose?");
    }

    if (tg_cli_config_entry(options, agent, &entry) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    memset(&file, 0, sizeof(file));
    tg_buf_init(&file.text, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());
    rc = TG_CLI_DONE;

    if (options->given & (TG_CLI_WRITE | TG_CLI_REMOVE)) {
        rc = tg_cli_config_path(options, agent, path);
        rc = rc == TG_CLI_DONE ? tg_cli_file_read(&file, path) : rc;
    }

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_config_merge(options, agent, &entry, &file, &out);
    }

    tg_buf_deinit(&file.text);
    tg_buf_deinit(&out);

    return tg_cli_finish(rc);
}

const tg_cli_command_t tg_cli_config = {
    .name = "config",
    .synopsis = "config AGENT [--write | --remove] [--scope project|user]\n"
                "                [--file PATH] [--name NAME] [--socket PATH]",
    .summary = "register the tools with an agent",
    .help =
        "Prints what registers the server with an agent; with --write, "
        "merges it into\nthe agent's own file and leaves everything else "
        "there as it is.\n\n"
        "  AGENT     of a project         of the user\n"
        "  claude    .mcp.json            ~/.claude.json\n"
        "  codex     .codex/config.toml   ~/.codex/config.toml\n"
        "  cursor    .cursor/mcp.json     ~/.cursor/mcp.json\n"
        "  vscode    .vscode/mcp.json     ~/.config/Code/User/mcp.json\n"
        "  gemini    .gemini/settings.json  ~/.gemini/settings.json\n"
        "  opencode  opencode.json        "
        "~/.config/opencode/opencode.json\n"
        "  opencode2 opencode.json        "
        "~/.config/opencode/opencode.json\n"
        "  copilot   .github/mcp.json     ~/.copilot/mcp-config.json\n"
        "  claude-desktop                 "
        "~/.config/Claude/claude_desktop_config.json\n"
        "  windsurf                       "
        "~/.codeium/windsurf/mcp_config.json\n"
        "  zed       .zed/settings.json   ~/.config/zed/settings.json\n"
        "  goose                          ~/.config/goose/config.yaml\n\n"
        "CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME and XDG_CONFIG_HOME "
        "(~/.config) name\nother folders where they are set. Codex reads "
        "a project's file where it trusts the\nproject. Comments in JSON "
        "stay. OpenCode 1 and 2 differ in the shape of their file;\none "
        "with \"mcp\": {\"servers\": ...} keeps that.\n\n"
        "  --write        change the file\n"
        "  --remove       take the server out of the file\n"
        "  --scope SCOPE  project or user; default user for codex, copilot, "
        "claude-desktop,\n"
        "                 windsurf, zed and goose, project for others\n"
        "  --file PATH    another file\n"
        "  --name NAME    what the agent calls the server; default "
        "toolgate\n"
        "  --socket PATH  the server's socket, or HOST:PORT, or "
        "tls:HOST:PORT with --ca,\n"
        "                 --cert, --key and --tls-name; else "
        "TOOLGATE_SOCKET\n",
    .options = TG_CLI_SOCKET | TG_CLI_WRITE | TG_CLI_NAME | TG_CLI_FILE
               | TG_CLI_SCOPE | TG_CLI_REMOVE,
    .run = tg_cli_config_run,
};
