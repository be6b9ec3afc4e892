#include "uv/tg_uv_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#define TG_UV_TLS "tls:"
#define TG_UV_MACHINE_SOCKET "/run/toolgate/tools.sock"

/* --- the parts of an address --- */

int
tg_uv_is_tls(const char *text)
{
    return strncmp(text, TG_UV_TLS, sizeof(TG_UV_TLS) - 1) == 0;
}

/* HOST, without the brackets of IPv6; the port, or NULL: it is a path. */
static const char *
tg_uv_place_split(const char *text, char host[TG_UV_HOST_MAX + 1])
{
    const char *colon, *end;

    text += tg_uv_is_tls(text) ? sizeof(TG_UV_TLS) - 1 : 0;
    colon = strrchr(text, ':');

    if (strchr(text, '/') != NULL || colon == NULL || colon == text
        || colon[1] == '\0' || strspn(colon + 1, "0123456789") > 5
        || colon[1 + strspn(colon + 1, "0123456789")] != '\0')
    {
        return NULL;
    }

    end = colon;

    if (text[0] == '[' && end[-1] == ']') {
        text++;
        end--;
    }

    if (end - text > TG_UV_HOST_MAX) {
        return NULL;
    }

    memcpy(host, text, (size_t) (end - text));
    host[end - text] = '\0';

    return colon + 1;
}

int
tg_uv_is_path(const char *text)
{
    char host[TG_UV_HOST_MAX + 1];

    return !tg_uv_is_tls(text) && tg_uv_place_split(text, host) == NULL;
}

/* --- what is said of it --- */

void
tg_uv_place_env(tg_uv_tls_options_t *options)
{
    const struct {
        const char **option;
        const char *name;
    } rows[] = {
        { &options->ca, "TOOLGATE_CA" },
        { &options->certificate, "TOOLGATE_CERT" },
        { &options->key, "TOOLGATE_KEY" },
        { &options->name, "TOOLGATE_TLS_NAME" },
    };
    const char *value;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        value = getenv(rows[i].name);

        if (*rows[i].option == NULL && value != NULL && value[0] != '\0') {
            *rows[i].option = value;
        }
    }
}

static int
tg_uv_place_secure(tg_uv_place_t *place, const tg_uv_tls_options_t *options,
                   char why[TG_UV_WHY])
{
    tg_uv_tls_options_t all;

    all = *options;
    tg_uv_place_env(&all);
    place->tls = tg_uv_tls_new(&all, place->host, why, TG_UV_WHY);

    return place->tls != NULL ? TG_OK : TG_BAD;
}

/* What does not go together: NULL, or what to write. */
static const char *
tg_uv_place_mistake(const tg_uv_place_t *place,
                    const tg_uv_tls_options_t *options)
{
    if (tg_uv_is_tls(place->text)) {
        return place->port != NULL ? NULL
                                   : "TLS needs a host and a port; write "
                                     "tls:HOST:PORT";
    }

    if (options->ca != NULL || options->certificate != NULL
        || options->key != NULL || options->name != NULL)
    {
        return "certificates are for TLS; write tls:HOST:PORT";
    }

    return place->port == NULL
                   && strlen(place->text)
                          >= sizeof(((struct sockaddr_un *) NULL)->sun_path)
               ? "the path of a Unix socket has at most 107 bytes"
               : NULL;
}

int
tg_uv_place_find(tg_uv_place_t *place, const char *text,
                 const tg_uv_tls_options_t *options, char why[TG_UV_WHY])
{
    const char *mistake;

    /* As `listen` in nginx.conf has it. */
    text += strncmp(text, "unix:", 5) == 0 ? 5 : 0;
    memset(place, 0, sizeof(*place));
    place->text = text;
    place->port = tg_uv_place_split(text, place->host);
    mistake = tg_uv_place_mistake(place, options);

    if (mistake != NULL) {
        (void) snprintf(why, TG_UV_WHY, "%s", mistake);
        return TG_BAD;
    }

    return tg_uv_is_tls(text) ? tg_uv_place_secure(place, options, why) : TG_OK;
}

void
tg_uv_place_free(tg_uv_place_t *place)
{
    tg_uv_tls_free(place->tls);
    place->tls = NULL;
}

const char *
tg_uv_place_default(int *is_there)
{
    static char room[sizeof(((struct sockaddr_un *) NULL)->sun_path)];
    const char *dir;
    int n;

    dir = getenv("XDG_RUNTIME_DIR");
    n = dir != NULL && dir[0] == '/'
            ? snprintf(room, sizeof(room), "%s/toolgate.sock", dir)
            : -1;
    *is_there = n > 0 && (size_t) n < sizeof(room) && access(room, F_OK) == 0;

    if (*is_there) {
        return room;
    }

    *is_there = access(TG_UV_MACHINE_SOCKET, F_OK) == 0;

    return TG_UV_MACHINE_SOCKET;
}
