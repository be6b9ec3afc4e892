/* The command line of the bridge, and the agent's config that contains it. */
#include "lib/tg_bridge_command.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TG_BRIDGE_PROGRAM "toolgate-bridge"

/* Stores the absolute path of DIR/WHERE. Returns 0 if there is no program. */
static int
tg_bridge_path_find_at(const char *dir, size_t len, const char *where,
                       char path[PATH_MAX])
{
    char text[PATH_MAX];
    int n;

    n = snprintf(text, sizeof(text), "%.*s/%s", (int) len, dir, where);

    return n > 0 && (size_t) n < sizeof(text) && access(text, X_OK) == 0
           && realpath(text, path) != NULL;
}

/* Searches beside a program or library, or in the bin folder of its prefix. */
static int
tg_bridge_path_find_near(const char *object, char path[PATH_MAX])
{
    const char *slash;
    size_t len;

    slash = strrchr(object, '/');
    len = slash != NULL ? (size_t) (slash - object) : 0;

    return slash != NULL
           && (tg_bridge_path_find_at(object, len, TG_BRIDGE_PROGRAM, path)
               || tg_bridge_path_find_at(object, len,
                                         "../bin/" TG_BRIDGE_PROGRAM, path)
               || tg_bridge_path_find_at(object, len,
                                         "../../bin/" TG_BRIDGE_PROGRAM, path));
}

static int
tg_bridge_path_find_in_env(char path[PATH_MAX])
{
    const char *at, *end;

    for (at = getenv("PATH"); at != NULL && *at != '\0';
         at = *end != '\0' ? end + 1 : end)
    {
        end = strchrnul(at, ':');

        if (end != at
            && tg_bridge_path_find_at(at, (size_t) (end - at),
                                      TG_BRIDGE_PROGRAM, path))
        {
            return 1;
        }
    }

    return 0;
}

static int
tg_bridge_path_find(char path[PATH_MAX])
{
    char program[PATH_MAX];
    Dl_info info;
    ssize_t n;

    if (dladdr(TG_BRIDGE_LIBRARY_ADDRESS, &info) != 0 && info.dli_fname != NULL
        && info.dli_fname[0] == '/'
        && tg_bridge_path_find_near(info.dli_fname, path))
    {
        return 0;
    }

    n = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (n > 0) {
        program[n] = '\0';

        if (tg_bridge_path_find_near(program, path)) {
            return 0;
        }
    }

    return tg_bridge_path_find_in_env(path)
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_BRIDGE_STARTUP, TG_BRIDGE_PROGRAM
                                  " is neither in the folder of the library "
                                  "nor in PATH; set \"bridge\" to its path");
}

static int
tg_bridge_path_choose(const toolgate_server_t *server, char path[PATH_MAX])
{
    if (server->bridge == NULL) {
        return tg_bridge_path_find(path);
    }

    if (strlen(server->bridge) >= PATH_MAX) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "the path \"bridge\" is too long");
    }

    memcpy(path, server->bridge, strlen(server->bridge) + 1);

    return 0;
}

static int
tg_bridge_path_has_name(const char *path)
{
    const char *slash;

    slash = strrchr(path, '/');

    return strcmp(slash != NULL ? slash + 1 : path, TG_BRIDGE_PROGRAM) == 0;
}

/* Checks the name of a file or link: other bridges lack our options. */
static int
tg_bridge_path_is_toolgate(const char *path)
{
    char real[PATH_MAX];

    return tg_bridge_path_has_name(path)
           || (realpath(path, real) != NULL && tg_bridge_path_has_name(real));
}

int
tg_bridge_command_init(toolgate_server_t *server, tg_bridge_command_t *command)
{
    int rc;

    rc = tg_server_choose_files(server);

    if (rc != 0) {
        return rc;
    }

    memcpy(command->socket, server->files.socket, sizeof(command->socket));
    memcpy(command->schema, server->files.schema, sizeof(command->schema));
    rc = tg_bridge_path_choose(server, command->path);

    /* ipc lacks progress, instructions and changed lists: prefer JSON-RPC. */
    command->dialect = rc != 0 || !tg_bridge_path_is_toolgate(command->path)
                           ? NULL
                       : server->conf.dialect == TG_DIALECT_AUTO
                           ? tg_dialect_name(TG_DIALECT_JSONRPC)
                           : tg_dialect_name(server->conf.dialect);

    return rc;
}

void
tg_bridge_command_get_argv(const tg_bridge_command_t *command,
                           const char *words[TG_BRIDGE_ARGV_MAX])
{
    words[0] = command->path;
    words[1] = command->socket;
    words[2] = command->schema;
    words[3] = command->dialect != NULL ? "--dialect" : NULL;
    words[4] = command->dialect;
    words[5] = NULL;
}

static int
tg_agent_config_write_json(toolgate_server_t *server, tg_buf_t *json)
{
    tg_bridge_command_t command;
    const char *words[TG_BRIDGE_ARGV_MAX];
    size_t i;
    int rc;

    if (server->transport == TG_SERVER_TRANSPORT_SDK) {
        tg_buf_append_cstr(json, "{\"type\":\"sdk\",\"name\":");
        tg_json_write_string(json, tg_str_from_cstr(server->name));
        tg_buf_append_char(json, '}');
        return 0;
    }

    rc = tg_bridge_command_init(server, &command);

    if (rc != 0) {
        return rc;
    }

    tg_bridge_command_get_argv(&command, words);

    for (i = 0; words[i] != NULL; i++) {
        if (!tg_utf8_is_valid(tg_str_from_cstr(words[i]))) {
            return tg_lib_set_error(
                TOOLGATE_ERR_ARGUMENT,
                "\"%s\" is not UTF-8, which JSON requires; choose another "
                "path",
                words[i]);
        }

        tg_buf_append_cstr(json, i == 0   ? "{\"type\":\"stdio\",\"command\":"
                                 : i == 1 ? ",\"args\":["
                                          : ",");
        tg_json_write_string(json, tg_str_from_cstr(words[i]));
    }

    tg_buf_append_cstr(json, "]}");

    return 0;
}

char *
toolgate_agent_config(toolgate_server_t *server)
{
    tg_buf_t json;
    char *text;
    int rc;

    tg_buf_init(&json, tg_alloc_libc());
    tg_lib_lock();
    tg_buf_append_cstr(&json, "{\"mcpServers\":{");
    tg_json_write_string(&json, tg_str_from_cstr(server->name));
    tg_buf_append_char(&json, ':');
    rc = tg_agent_config_write_json(server, &json);
    tg_buf_append_cstr(&json, "}}");
    tg_lib_unlock();
    text = NULL;

    if (rc == 0) {
        text = tg_buf_has_failed(&json) ? NULL : tg_str_dup(tg_buf_view(&json));

        if (text == NULL) {
            (void) tg_lib_set_nomem_error();
        }
    }

    tg_buf_deinit(&json);

    return text;
}
