#include "uv/tg_uv_address.h"

#include "base/tg_base.h"

#include <netdb.h>

#define TG_UV_HOST_MAX 255

/* HOST, without the brackets of IPv6; the port, or NULL: it is a path. */
static const char *
tg_uv_address_split(const char *text, char host[TG_UV_HOST_MAX + 1])
{
    const char *colon, *end;

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
tg_uv_is_address(const char *text)
{
    char host[TG_UV_HOST_MAX + 1];

    return tg_uv_address_split(text, host) != NULL;
}

int
tg_uv_address(const char *text, struct sockaddr_storage *address,
              const char **why)
{
    char host[TG_UV_HOST_MAX + 1];
    struct addrinfo hints, *found;
    const char *port;
    int rc;

    port = tg_uv_address_split(text, host);

    if (port == NULL) {
        return TG_MISSING;
    }

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    rc = getaddrinfo(host, port, &hints, &found);

    if (rc != 0) {
        *why = gai_strerror(rc);
        return TG_BAD;
    }

    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);

    return TG_OK;
}
