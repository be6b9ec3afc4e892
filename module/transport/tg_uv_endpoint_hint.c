/*
 * Hints for a server that cannot be reached: which service is installed, and
 * who owns the socket.
 */
#include "transport/tg_uv_endpoint.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_UV_USER_UNIT "systemd/user/toolgate.service"

static int
tg_uv_has_file(const char *folder, const char *below)
{
    char path[PATH_MAX];

    return folder != NULL && folder[0] == '/'
           && snprintf(path, sizeof(path), "%s/%s", folder, below)
                  < (int) sizeof(path)
           && access(path, F_OK) == 0;
}

static int
tg_uv_has_user_unit(void)
{
    return tg_uv_has_file(getenv("XDG_CONFIG_HOME"), TG_UV_USER_UNIT)
           || tg_uv_has_file(getenv("HOME"), ".config/" TG_UV_USER_UNIT);
}

static int
tg_uv_has_system_unit(void)
{
    static const char *const folders[] = { "/etc", "/usr/local/lib", "/lib",
                                           "/usr/lib" };
    size_t i;

    for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (tg_uv_has_file(folders[i], "systemd/system/toolgate.service")) {
            return 1;
        }
    }

    return 0;
}

/* Returns where this program was built if its server uses the path, or NULL. */
static const char *
tg_uv_find_source_folder(const char *path, char folder[PATH_MAX])
{
    char *slash;
    size_t len;

    if (realpath("/proc/self/exe", folder) == NULL
        || (slash = strrchr(folder, '/')) == NULL)
    {
        return NULL;
    }

    *slash = '\0';
    len = strlen(folder);

    if (strncmp(path, folder, len) != 0
        || strcmp(path + len, "/run/tools.sock") != 0
        || (slash = strrchr(folder, '/')) == NULL)
    {
        return NULL;
    }

    *slash = '\0';

    return tg_uv_has_file(folder, "build.sh") ? folder : NULL;
}

/* Makes a path absolute, as NGINX does. */
static void
tg_uv_path_make_absolute(const char *path, char whole[PATH_MAX])
{
    size_t len;

    if (path[0] == '/' || getcwd(whole, PATH_MAX) == NULL) {
        whole[0] = '\0';
    }

    len = strlen(whole);
    (void) snprintf(whole + len, PATH_MAX - len, "%s%s", len != 0 ? "/" : "",
                    path);
}

void
tg_uv_endpoint_write_start_hint(const tg_uv_endpoint_t *endpoint,
                                char text[TG_UV_ERROR_SIZE])
{
    char folder[PATH_MAX], path[PATH_MAX];
    const char *sources;

    if (endpoint->port != NULL) {
        (void) snprintf(text, TG_UV_ERROR_SIZE,
                        "Start NGINX there, with `listen` for this port in a "
                        "server with tools.");
        return;
    }

    tg_uv_path_make_absolute(endpoint->text, path);
    sources = tg_uv_find_source_folder(path, folder);

    if (sources != NULL) {
        (void) snprintf(text, TG_UV_ERROR_SIZE,
                        "Start it with ./build.sh run in %.400s.", sources);

    } else if (tg_uv_has_user_unit()) {
        (void) snprintf(text, TG_UV_ERROR_SIZE,
                        "Start it with `systemctl --user start toolgate`.");

    } else if (tg_uv_has_system_unit()) {
        (void) snprintf(text, TG_UV_ERROR_SIZE,
                        "Start it with `systemctl start toolgate`.");

    } else {
        (void) snprintf(text, TG_UV_ERROR_SIZE,
                        "Start NGINX with the configuration that has `listen "
                        "unix:%.400s;`.",
                        path);
    }
}

/* Finds the first folder that may not be searched, or returns 0. */
static int
tg_uv_find_unsearchable_folder(const char *path, char folder[PATH_MAX])
{
    size_t len;

    for (len = 1; len < PATH_MAX && path[len] != '\0'; len++) {
        if (path[len] != '/') {
            continue;
        }

        memcpy(folder, path, len);
        folder[len] = '\0';

        if (access(folder, X_OK) != 0) {
            return errno == EACCES;
        }
    }

    return 0;
}

void
tg_uv_endpoint_write_access_hint(const tg_uv_endpoint_t *endpoint,
                                 char text[TG_UV_ERROR_SIZE])
{
    const struct passwd *user;
    const struct group *group;
    char folder[PATH_MAX];
    char name[64];
    struct stat st;

    if (stat(endpoint->text, &st) != 0) {
        if (tg_uv_find_unsearchable_folder(endpoint->text, folder)) {
            (void) snprintf(text, TG_UV_ERROR_SIZE,
                            "You have no permission to enter the folder "
                            "%.400s.",
                            folder);
        } else {
            (void) snprintf(text, TG_UV_ERROR_SIZE,
                            "You have no permission to enter a folder above "
                            "it.");
        }

        return;
    }

    user = getpwuid(st.st_uid);
    (void) snprintf(name, sizeof(name), "%s",
                    user != NULL ? user->pw_name : "a user without a name");
    group = getgrgid(st.st_gid);
    (void) snprintf(text, TG_UV_ERROR_SIZE,
                    "It belongs to %s:%s and has mode 0%o; run this as a "
                    "user with write permission, or change owner or mode "
                    "(tool_socket_owner, tool_socket_mode).",
                    name, group != NULL ? group->gr_name : "-",
                    (unsigned) st.st_mode & 0777);
}

/* Checks the file: connect() returns ECONNREFUSED for other files, too. */
static int
tg_uv_endpoint_is_not_socket(const tg_uv_endpoint_t *endpoint)
{
    struct stat st;

    return endpoint->port == NULL && stat(endpoint->text, &st) == 0
           && !S_ISSOCK(st.st_mode);
}

static void
tg_uv_endpoint_explain_no_listener(const tg_uv_endpoint_t *endpoint,
                                   const char *why,
                                   char text[TG_UV_EXPLAIN_SIZE])
{
    char hint[TG_UV_ERROR_SIZE];

    tg_uv_endpoint_write_start_hint(endpoint, hint);
    (void) snprintf(text, TG_UV_EXPLAIN_SIZE,
                    "nothing listens on %s: is Toolgate running? %s%s",
                    endpoint->text, why, hint);
}

/* Explains that the server closes connections: it may not be Toolgate. */
static void
tg_uv_endpoint_explain_not_toolgate(const tg_uv_endpoint_t *endpoint,
                                    char text[TG_UV_EXPLAIN_SIZE])
{
    if (endpoint->tls == NULL) {
        (void) snprintf(text, TG_UV_EXPLAIN_SIZE,
                        "the server on %s closes every connection: is it a "
                        "Toolgate socket?%s",
                        endpoint->text,
                        endpoint->port == NULL
                            ? ""
                            : " If it speaks TLS, write tls:HOST:PORT");
        return;
    }

    (void) snprintf(text, TG_UV_EXPLAIN_SIZE,
                    "the server on %s closes every connection: does it speak "
                    "TLS, and does it require a client certificate (--cert "
                    "FILE, --key FILE)?",
                    endpoint->text);
}

void
tg_uv_endpoint_explain_error(const tg_uv_endpoint_t *endpoint, int err,
                             char text[TG_UV_EXPLAIN_SIZE])
{
    char hint[TG_UV_ERROR_SIZE];
    const char *what;

    what = NULL;

    if (tg_uv_endpoint_is_not_socket(endpoint)) {
        (void) snprintf(text, TG_UV_EXPLAIN_SIZE, "%s is not a socket",
                        endpoint->text);
        return;
    }

    if (tg_uv_tls_ctx_get_error(endpoint->tls)[0] != '\0') {
        (void) snprintf(text, TG_UV_EXPLAIN_SIZE, "no connection to %s: %s",
                        endpoint->text, tg_uv_tls_ctx_get_error(endpoint->tls));
        return;
    }

    switch (err) {
    case UV_ENOENT:
    case UV_ENOTDIR:
        tg_uv_endpoint_explain_no_listener(endpoint, "There is no such file. ",
                                           text);
        return;
    case UV_ECONNREFUSED:
        tg_uv_endpoint_explain_no_listener(
            endpoint,
            endpoint->port != NULL
                ? ""
                : "The socket was left behind by a server that was killed; "
                  "the next server replaces it. ",
            text);
        return;
    case UV_EACCES:
    case UV_EPERM:
        tg_uv_endpoint_write_access_hint(endpoint, hint);
        (void) snprintf(text, TG_UV_EXPLAIN_SIZE,
                        "you may not connect to %s. %s", endpoint->text, hint);
        return;
    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        tg_uv_endpoint_explain_not_toolgate(endpoint, text);
        return;
    case UV_EPROTOTYPE:
        what = "is not a stream socket";
        break;
    case UV_EAGAIN:
        what = ": the server does not accept connections fast enough; try "
               "again";
        break;
    default:
        (void) snprintf(text, TG_UV_EXPLAIN_SIZE, "cannot connect to %s: %s",
                        endpoint->text, uv_strerror(err));
        return;
    }

    (void) snprintf(text, TG_UV_EXPLAIN_SIZE, "%s%s%s", endpoint->text,
                    what[0] == ':' ? "" : " ", what);
}
