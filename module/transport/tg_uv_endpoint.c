/* Parsing of addresses, TLS options, and the default socket. */
#include "transport/tg_uv_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#define TG_UV_TLS_PREFIX "tls:"
#define TG_UV_SYSTEM_SOCKET "/run/toolgate/tools.sock"

int
tg_uv_address_is_tls(const char *text)
{
    return strncmp(text, TG_UV_TLS_PREFIX, sizeof(TG_UV_TLS_PREFIX) - 1) == 0;
}

/* Sets host without the brackets of IPv6 and returns the port; NULL: a path. */
static const char *
tg_uv_address_split(const char *text, char host[TG_UV_HOST_MAX + 1])
{
    const char *colon, *end;

    text += tg_uv_address_is_tls(text) ? sizeof(TG_UV_TLS_PREFIX) - 1 : 0;
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
tg_uv_address_is_path(const char *text)
{
    char host[TG_UV_HOST_MAX + 1];

    return !tg_uv_address_is_tls(text)
           && tg_uv_address_split(text, host) == NULL;
}

void
tg_uv_tls_options_read_env(tg_uv_tls_options_t *options)
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
tg_uv_endpoint_init_tls(tg_uv_endpoint_t *endpoint,
                        const tg_uv_tls_options_t *options,
                        char why[TG_UV_ERROR_SIZE])
{
    tg_uv_tls_options_t all;

    all = *options;
    tg_uv_tls_options_read_env(&all);
    endpoint->tls = tg_uv_tls_ctx_new(&all, endpoint->host, why,
                                      TG_UV_ERROR_SIZE);

    return endpoint->tls != NULL ? TG_OK : TG_INVALID;
}

/* Returns what to write if address and options do not match, or NULL. */
static const char *
tg_uv_endpoint_find_error(const tg_uv_endpoint_t *endpoint,
                          const tg_uv_tls_options_t *options)
{
    if (tg_uv_address_is_tls(endpoint->text)) {
        return endpoint->port != NULL ? NULL
                                      : "TLS needs a host and a port; write "
                                        "tls:HOST:PORT";
    }

    if (options->ca != NULL || options->certificate != NULL
        || options->key != NULL || options->name != NULL)
    {
        return "certificates are for TLS; write tls:HOST:PORT";
    }

    return endpoint->port == NULL
                   && strlen(endpoint->text)
                          >= sizeof(((struct sockaddr_un *) NULL)->sun_path)
               ? "the path of a Unix socket may have at most 107 bytes"
               : NULL;
}

int
tg_uv_endpoint_parse(tg_uv_endpoint_t *endpoint, const char *text,
                     const tg_uv_tls_options_t *options,
                     char why[TG_UV_ERROR_SIZE])
{
    const char *error;

    /* `unix:` as in NGINX's `listen`. */
    text += strncmp(text, "unix:", 5) == 0 ? 5 : 0;
    memset(endpoint, 0, sizeof(*endpoint));
    endpoint->text = text;
    endpoint->port = tg_uv_address_split(text, endpoint->host);
    error = tg_uv_endpoint_find_error(endpoint, options);

    if (error != NULL) {
        (void) snprintf(why, TG_UV_ERROR_SIZE, "%s", error);
        return TG_INVALID;
    }

    return tg_uv_address_is_tls(text)
               ? tg_uv_endpoint_init_tls(endpoint, options, why)
               : TG_OK;
}

void
tg_uv_endpoint_free(tg_uv_endpoint_t *endpoint)
{
    tg_uv_tls_ctx_free(endpoint->tls);
    endpoint->tls = NULL;
}

const char *
tg_uv_endpoint_get_default(int *is_there)
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

    *is_there = access(TG_UV_SYSTEM_SOCKET, F_OK) == 0;

    return TG_UV_SYSTEM_SOCKET;
}
