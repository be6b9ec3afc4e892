/*
 * toolgate config
 */
#include "client/tg_cli.h"
#include "client/tg_cli_file.h"
#include "client/tg_cli_merge.h"
#include "client/tg_cli_text.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define TG_CLI_BRIDGE "toolgate-bridge"
#define TG_CLI_SERVER "toolgate"
/* What the agents' own tools' names leave room for. */
#define TG_CLI_SERVER_MAX 64

typedef int (*tg_cli_merge_pt)(tg_str_t old, const tg_cli_entry_t *entry,
                               tg_buf_t *out, tg_buf_t *why);

typedef struct {
    const char *name;
    const char *title;
    tg_cli_merge_pt merge;
    /* Appends the path of its file: TG_CLI_DONE or TG_CLI_FAILED. */
    int (*path)(tg_buf_t *path);
    mode_t mode;        /* of a new file */
    int is_folder_ours; /* a folder that is not there is made */
} tg_cli_agent_t;

static int
tg_cli_config_claude_path(tg_buf_t *path)
{
    tg_buf_text(path, ".mcp.json");

    return TG_CLI_DONE;
}

static int
tg_cli_config_codex_path(tg_buf_t *path)
{
    const struct passwd *user;
    const char *home;

    home = getenv("CODEX_HOME");

    if (home != NULL && home[0] != '\0') {
        tg_buf_text(path, home);
        tg_buf_text(path, "/config.toml");
        return TG_CLI_DONE;
    }

    home = getenv("HOME");

    if (home == NULL || home[0] == '\0') {
        user = getpwuid(getuid());
        home = user != NULL ? user->pw_dir : NULL;
    }

    if (home == NULL) {
        tg_cli_error("where is your home? Set HOME, or name the file with "
                     "--file PATH");
        return TG_CLI_FAILED;
    }

    tg_buf_text(path, home);
    tg_buf_text(path, "/.codex/config.toml");

    return TG_CLI_DONE;
}

static const tg_cli_agent_t tg_cli_agents[] = {
    { "claude", "Claude Code", tg_cli_merge_json, tg_cli_config_claude_path,
      0666, 0 },
    { "codex", "Codex", tg_cli_merge_toml, tg_cli_config_codex_path, 0600, 1 },
};

/* --- what is registered --- */

static int
tg_cli_config_check_text(const char *what, tg_str_t text)
{
    size_t i;

    for (i = 0; i < text.len; i++) {
        if ((unsigned char) text.data[i] < 0x20 || text.data[i] == 0x7f) {
            break;
        }
    }

    if (i == text.len && tg_utf8_is_valid(text)) {
        return TG_CLI_DONE;
    }

    tg_cli_error("the path of the %s has control characters or is not valid "
                 "UTF-8, which agents cannot keep: %.*s",
                 what, (int) text.len, text.data);

    return TG_CLI_FAILED;
}

/* The bridge lies beside this program. */
static int
tg_cli_config_bridge(tg_buf_t *bridge)
{
    char path[PATH_MAX];
    ssize_t len;

    len = readlink("/proc/self/exe", path, sizeof(path));

    if (len <= 0 || (size_t) len == sizeof(path)) {
        tg_cli_error("cannot tell where this program is (/proc/self/exe): %s",
                     strerror(errno));
        return TG_CLI_FAILED;
    }

    while (path[len - 1] != '/') {
        len--;
    }

    tg_buf_put(bridge, path, (size_t) len);
    tg_buf_text(bridge, TG_CLI_BRIDGE);
    tg_buf_char(bridge, '\0');

    if (tg_buf_failed(bridge)) {
        return tg_cli_nomem();
    }

    bridge->len--;

    if (access(bridge->data, X_OK) != 0) {
        tg_cli_error("%s: %s; it belongs beside this program, and "
                     "./build.sh build or install puts it there",
                     bridge->data, strerror(errno));
        return TG_CLI_FAILED;
    }

    return tg_cli_config_check_text("bridge", tg_buf_view(bridge));
}

/* Agents start the bridge in folders of their own. */
static int
tg_cli_config_socket(const tg_cli_options_t *options, tg_buf_t *socket)
{
    const char *path;
    char *folder;

    path = tg_cli_options_socket(options);

    if (path == NULL) {
        return TG_CLI_FAILED;
    }

    if (path[0] != '/') {
        folder = getcwd(NULL, 0);

        if (folder == NULL) {
            tg_cli_error("cannot tell the current folder: %s", strerror(errno));
            return TG_CLI_FAILED;
        }

        tg_buf_text(socket, folder);
        tg_buf_text(socket, strcmp(folder, "/") == 0 ? "" : "/");
        free(folder);

        while (strncmp(path, "./", 2) == 0) {
            path += 2;
        }
    }

    tg_buf_text(socket, path);

    if (tg_buf_failed(socket)) {
        return tg_cli_nomem();
    }

    return tg_cli_config_check_text("socket", tg_buf_view(socket));
}

static int
tg_cli_config_name(const tg_cli_options_t *options, tg_str_t *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789_-";
    const char *text;

    text = options->name != NULL ? options->name : TG_CLI_SERVER;
    *name = tg_str_c(text);

    if (name->len <= TG_CLI_SERVER_MAX && strspn(text, allowed) == name->len) {
        return TG_CLI_DONE;
    }

    tg_cli_error("--name wants at most %d letters, digits, - and _, not "
                 "\"%s\"",
                 TG_CLI_SERVER_MAX, text);

    return TG_CLI_FAILED;
}

/* --- where it goes --- */

/* Only the last one: what is above it is somebody else's. */
static int
tg_cli_config_make_folder(const char *path)
{
    const char *slash;
    char *folder;
    int rc;

    slash = strrchr(path, '/');

    if (slash == NULL || slash == path) {
        return TG_CLI_DONE;
    }

    folder = strndup(path, (size_t) (slash - path));

    if (folder == NULL) {
        return tg_cli_nomem();
    }

    rc = TG_CLI_DONE;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        tg_cli_error("cannot make the folder %s: %s", folder, strerror(errno));
        rc = TG_CLI_FAILED;
    }

    free(folder);

    return rc;
}

static int
tg_cli_config_merge(const tg_cli_agent_t *agent, const tg_cli_entry_t *entry,
                    tg_cli_file_t *file)
{
    tg_buf_t text, why;
    int rc;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());
    rc = agent->merge(tg_buf_view(&file->text), entry, &text, &why);

    if (rc == TG_EXISTS) {
        (void) printf("%s: nothing to change, %.*s is registered\n", file->path,
                      (int) entry->name.len, entry->name.data);
        rc = tg_cli_finish(TG_CLI_DONE);

    } else if (rc == TG_OK) {
        rc = tg_cli_file_replace(file, tg_buf_view(&text), agent->mode);

        if (rc == TG_CLI_DONE) {
            (void) printf("%s: %.*s is registered; %s reads it when it is "
                          "started anew\n",
                          file->path, (int) entry->name.len, entry->name.data,
                          agent->title);
            rc = tg_cli_finish(rc);
        }

    } else if (rc == TG_BAD) {
        tg_cli_error("%s was left as it is: %.*s", file->path, (int) why.len,
                     why.len != 0 ? why.data : "");
        rc = TG_CLI_FAILED;

    } else {
        rc = tg_cli_nomem();
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&why);

    return rc;
}

static int
tg_cli_config_write(const tg_cli_options_t *options,
                    const tg_cli_agent_t *agent, const tg_cli_entry_t *entry)
{
    tg_cli_file_t file;
    tg_buf_t path;
    int rc;

    tg_buf_init(&path, tg_alloc_libc());
    rc = TG_CLI_DONE;

    if (options->file != NULL) {
        tg_buf_text(&path, options->file);
    } else {
        rc = agent->path(&path);
    }

    tg_buf_char(&path, '\0');

    if (rc == TG_CLI_DONE && tg_buf_failed(&path)) {
        rc = tg_cli_nomem();
    }

    if (rc == TG_CLI_DONE && options->file == NULL && agent->is_folder_ours) {
        rc = tg_cli_config_make_folder(path.data);
    }

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_file_read(&file, path.data);

        if (rc == TG_CLI_DONE) {
            rc = tg_cli_config_merge(agent, entry, &file);
        }

        tg_cli_file_free(&file);
    }

    tg_buf_deinit(&path);

    return rc;
}

/* What a new file would have in it. */
static int
tg_cli_config_print(const tg_cli_agent_t *agent, const tg_cli_entry_t *entry)
{
    tg_buf_t text, why;
    int rc;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());

    if (agent->merge(TG_STR(""), entry, &text, &why) == TG_OK) {
        tg_cli_print(stdout, tg_buf_view(&text));
        rc = tg_cli_finish(TG_CLI_DONE);

        if (isatty(STDOUT_FILENO)) {
            tg_cli_error("nothing was changed; --write puts this where %s "
                         "reads it",
                         agent->title);
        }
    } else {
        rc = tg_cli_nomem();
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&why);

    return rc;
}

/* --- the command --- */

static const tg_cli_agent_t *
tg_cli_config_agent(const tg_cli_options_t *options)
{
    size_t i;

    if (options->nargs > 1) {
        tg_cli_error("config is about one agent, and \"%s\" is more",
                     options->args[1]);
        return NULL;
    }

    for (i = 0; i < sizeof(tg_cli_agents) / sizeof(tg_cli_agents[0]); i++) {
        if (options->nargs != 0
            && strcmp(options->args[0], tg_cli_agents[i].name) == 0) {
            return &tg_cli_agents[i];
        }
    }

    tg_cli_error("config for which agent: claude or codex?");

    return NULL;
}

static int
tg_cli_config_run(const tg_cli_options_t *options)
{
    const tg_cli_agent_t *agent;
    tg_cli_entry_t entry;
    tg_buf_t bridge, socket;
    int rc;

    agent = tg_cli_config_agent(options);

    if (agent == NULL) {
        return TG_CLI_FAILED;
    }

    if (options->file != NULL && !(options->given & TG_CLI_WRITE)) {
        tg_cli_error("--file goes with --write");
        return TG_CLI_FAILED;
    }

    tg_buf_init(&bridge, tg_alloc_libc());
    tg_buf_init(&socket, tg_alloc_libc());
    rc = tg_cli_config_name(options, &entry.name);

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_config_socket(options, &socket);
    }

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_config_bridge(&bridge);
    }

    if (rc == TG_CLI_DONE) {
        entry.command = tg_buf_view(&bridge);
        entry.socket = tg_buf_view(&socket);
        rc = options->given & TG_CLI_WRITE
                 ? tg_cli_config_write(options, agent, &entry)
                 : tg_cli_config_print(agent, &entry);
    }

    tg_buf_deinit(&bridge);
    tg_buf_deinit(&socket);

    return rc;
}

const tg_cli_command_t tg_cli_config = {
    .name = "config",
    .synopsis = "config claude|codex [--write [--file PATH]] [--name NAME]\n"
                "                [--socket PATH]",
    .summary = "register the tools with an agent",
    .help = "Prints what registers the server with an agent; with --write, "
            "merges it into\nthe agent's own file and leaves everything else "
            "there as it is.\n\n"
            "  claude         .mcp.json in the current folder\n"
            "  codex          config.toml in $CODEX_HOME or ~/.codex\n\n"
            "  --write        change the file\n"
            "  --file PATH    another file\n"
            "  --name NAME    what the agent calls the server; default "
            "toolgate\n"
            "  --socket PATH  the server's socket; else TOOLGATE_SOCKET\n",
    .options = TG_CLI_SOCKET | TG_CLI_WRITE | TG_CLI_NAME | TG_CLI_FILE,
    .run = tg_cli_config_run,
};
