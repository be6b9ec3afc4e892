/*
 * What to do when nobody is reached, as far as it can be seen from here: what
 * is installed, and whose the socket is.
 */
#include "uv/tg_uv_place.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_UV_UNIT "systemd/user/toolgate.service"

/* --- who could start it --- */

static int
tg_uv_is_below(const char *folder, const char *below)
{
    char path[PATH_MAX];

    return folder != NULL && folder[0] == '/'
           && snprintf(path, sizeof(path), "%s/%s", folder, below)
                  < (int) sizeof(path)
           && access(path, F_OK) == 0;
}

static int
tg_uv_has_users_unit(void)
{
    return tg_uv_is_below(getenv("XDG_CONFIG_HOME"), TG_UV_UNIT)
           || tg_uv_is_below(getenv("HOME"), ".config/" TG_UV_UNIT);
}

static int
tg_uv_has_machines_unit(void)
{
    static const char *const folders[] = { "/etc", "/usr/local/lib", "/lib",
                                           "/usr/lib" };
    size_t i;

    for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (tg_uv_is_below(folders[i], "systemd/system/toolgate.service")) {
            return 1;
        }
    }

    return 0;
}

/* The sources that we were built in, where they serve this very path. */
static const char *
tg_uv_sources(const char *path, char folder[PATH_MAX])
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

    return tg_uv_is_below(folder, "build.sh") ? folder : NULL;
}

/* As NGINX has it: from the root on. */
static void
tg_uv_absolute(const char *path, char whole[PATH_MAX])
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
tg_uv_place_start(const tg_uv_place_t *place, char text[TG_UV_WHY])
{
    char folder[PATH_MAX], path[PATH_MAX];
    const char *sources;

    if (place->port != NULL) {
        (void) snprintf(text, TG_UV_WHY,
                        "Start the NGINX there, with a `listen` of this port "
                        "in a server with tools.");
        return;
    }

    tg_uv_absolute(place->text, path);
    sources = tg_uv_sources(path, folder);

    if (sources != NULL) {
        (void) snprintf(text, TG_UV_WHY,
                        "Start it by ./build.sh run in %.400s.", sources);

    } else if (tg_uv_has_users_unit()) {
        (void) snprintf(text, TG_UV_WHY,
                        "Start it by `systemctl --user start toolgate`.");

    } else if (tg_uv_has_machines_unit()) {
        (void) snprintf(text, TG_UV_WHY,
                        "Start it by `systemctl start toolgate`.");

    } else {
        (void) snprintf(text, TG_UV_WHY,
                        "Start NGINX with the configuration that has `listen "
                        "unix:%.400s;`.",
                        path);
    }
}

/* --- whose it is --- */

/* The first folder on the way that we may not search, without its slash. */
static int
tg_uv_closed_folder(const char *path, char folder[PATH_MAX])
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
tg_uv_place_rights(const tg_uv_place_t *place, char text[TG_UV_WHY])
{
    const struct passwd *user;
    const struct group *group;
    char folder[PATH_MAX];
    char name[64];
    struct stat st;

    if (stat(place->text, &st) != 0) {
        if (tg_uv_closed_folder(place->text, folder)) {
            (void) snprintf(text, TG_UV_WHY,
                            "You may not search the folder %.400s.", folder);
        } else {
            (void) snprintf(text, TG_UV_WHY,
                            "You may not search a folder above it.");
        }

        return;
    }

    user = getpwuid(st.st_uid);
    (void) snprintf(name, sizeof(name), "%s",
                    user != NULL ? user->pw_name : "a user without name");
    group = getgrgid(st.st_gid);
    (void) snprintf(text, TG_UV_WHY,
                    "It belongs to %s:%s and has mode 0%o; run this as one "
                    "who may write to it, or change that (tool_socket_owner, "
                    "tool_socket_mode).",
                    name, group != NULL ? group->gr_name : "-",
                    (unsigned) st.st_mode & 0777);
}

/* --- why there is no connection --- */

/* connect() says "refused" for a plain file as well. */
static int
tg_uv_place_is_no_socket(const tg_uv_place_t *place)
{
    struct stat st;

    return place->port == NULL && stat(place->text, &st) == 0
           && !S_ISSOCK(st.st_mode);
}

/* Nobody is there. */
static void
tg_uv_place_nobody(const tg_uv_place_t *place, const char *why,
                   char text[TG_UV_EXPLAIN])
{
    char remedy[TG_UV_WHY];

    tg_uv_place_start(place, remedy);
    (void) snprintf(text, TG_UV_EXPLAIN,
                    "nothing listens on %s: is Toolgate running? %s%s",
                    place->text, why, remedy);
}

/* Somebody is, and speaks otherwise. */
static void
tg_uv_place_stranger(const tg_uv_place_t *place, char text[TG_UV_EXPLAIN])
{
    if (place->tls == NULL) {
        (void) snprintf(text, TG_UV_EXPLAIN,
                        "what listens on %s ends every connection: is it a "
                        "Toolgate socket?%s",
                        place->text,
                        place->port == NULL
                            ? ""
                            : " If it speaks TLS, write tls:HOST:PORT");
        return;
    }

    (void) snprintf(text, TG_UV_EXPLAIN,
                    "what listens on %s ends every connection: does it speak "
                    "TLS, and does it want a certificate of yours (--cert "
                    "FILE, --key FILE)?",
                    place->text);
}

void
tg_uv_place_explain(const tg_uv_place_t *place, int err,
                    char text[TG_UV_EXPLAIN])
{
    char rights[TG_UV_WHY];
    const char *what;

    what = NULL;

    if (tg_uv_place_is_no_socket(place)) {
        (void) snprintf(text, TG_UV_EXPLAIN, "%s is not a socket", place->text);
        return;
    }

    if (tg_uv_tls_why(place->tls)[0] != '\0') {
        (void) snprintf(text, TG_UV_EXPLAIN, "no connection to %s: %s",
                        place->text, tg_uv_tls_why(place->tls));
        return;
    }

    switch (err) {
    case UV_ENOENT:
    case UV_ENOTDIR:
        tg_uv_place_nobody(place, "There is no such file. ", text);
        return;
    case UV_ECONNREFUSED:
        tg_uv_place_nobody(place,
                           place->port != NULL
                               ? ""
                               : "The socket was left behind by a server that "
                                 "was killed, and the next one replaces it. ",
                           text);
        return;
    case UV_EACCES:
    case UV_EPERM:
        tg_uv_place_rights(place, rights);
        (void) snprintf(text, TG_UV_EXPLAIN, "you may not connect to %s. %s",
                        place->text, rights);
        return;
    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        tg_uv_place_stranger(place, text);
        return;
    case UV_EPROTOTYPE:
        what = "is a socket of another kind (no stream)";
        break;
    case UV_EAGAIN:
        what = ": the server does not take connections fast enough; try again";
        break;
    default:
        (void) snprintf(text, TG_UV_EXPLAIN, "cannot connect to %s: %s",
                        place->text, uv_strerror(err));
        return;
    }

    (void) snprintf(text, TG_UV_EXPLAIN, "%s%s%s", place->text,
                    what[0] == ':' ? "" : " ", what);
}
