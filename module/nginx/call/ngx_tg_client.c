/* Who the client of a session is: by the kernel, or by NGINX's HTTP modules. */
#include "nginx/call/ngx_tg_call_impl.h"

#include "base/tg_sha256.h"
#include "nginx/shm/ngx_tg_shm.h"

#include <sys/socket.h>

/* Maximum number of supplementary groups; Linux allows no more. */
#define NGX_TG_PEER_GROUPS_MAX 65536

/* Number of bytes of the hash in the key of a named user. */
#define NGX_TG_USER_KEY_BYTES 15

static void
ngx_tg_session_base_read_groups(ngx_tg_session_base_t *base)
{
#ifdef SO_PEERGROUPS
    socklen_t len;
    gid_t *groups;

    len = 0;

    if (getsockopt(base->connection->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len)
            != -1
        || ngx_socket_errno != ERANGE
        || len > NGX_TG_PEER_GROUPS_MAX * sizeof(gid_t))
    {
        return;
    }

    groups = ngx_palloc(base->connection->pool, len);

    if (groups != NULL
        && getsockopt(base->connection->fd, SOL_SOCKET, SO_PEERGROUPS, groups,
                      &len)
               != -1)
    {
        base->client.groups = groups;
        base->client.ngroups = len / sizeof(gid_t);
    }
#endif
}

ngx_int_t
ngx_tg_connection_get_peer_cred(ngx_connection_t *c, ngx_tg_peer_cred_t *client)
{
    struct ucred cred;
    socklen_t len;

    len = sizeof(cred);

    if (c->sockaddr->sa_family != AF_UNIX
        || getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1)
    {
        return NGX_DECLINED;
    }

    client->pid = cred.pid;
    client->uid = cred.uid;
    client->gid = cred.gid;

    return NGX_OK;
}

const ngx_tg_peer_cred_t *
ngx_tg_session_base_get_peer_cred(ngx_tg_session_base_t *base)
{
    /* The connection of a request is that of a proxy, or of anybody. */
    if (base->http_client != NULL) {
        return NULL;
    }

    if (!base->has_client) {
        if (ngx_tg_connection_get_peer_cred(base->connection, &base->client)
            != NGX_OK) {
            return NULL;
        }

        ngx_tg_session_base_read_groups(base);
        base->has_client = 1;
    }

    return &base->client;
}

ngx_tg_client_t
ngx_tg_session_base_get_client(ngx_tg_session_base_t *base)
{
    ngx_tg_client_t client;

    client.http = base->http_client;
    client.cred = ngx_tg_session_base_get_peer_cred(base);

    return client;
}

tg_str_t
ngx_tg_session_base_get_owner(ngx_tg_session_base_t *base, char *room)
{
    unsigned char digest[TG_SHA256_SIZE];
    ngx_tg_client_t client;
    tg_sha256_t sha;
    u_char *p;

    client = ngx_tg_session_base_get_client(base);
    p = (u_char *) room;

    if (client.cred != NULL) {
        p = ngx_sprintf(p, "%uL", (uint64_t) client.cred->uid);

    } else if (client.http != NULL && client.http->user.len != 0) {
        tg_sha256_init(&sha);
        tg_sha256_update(&sha, client.http->user);
        tg_sha256_final(&sha, digest);
        *p++ = 'u';
        p = ngx_hex_dump(p, digest, NGX_TG_USER_KEY_BYTES);

    } else {
        p = ngx_cpymem(p, "nobody", 6);
    }

    return tg_str(room, (size_t) (p - (u_char *) room));
}

uint64_t
ngx_tg_owner_get_audience(tg_str_t owner)
{
    uint64_t audience, digit;
    int64_t uid;
    size_t i;

    if (tg_json_parse_int64(owner, &uid) == TG_OK) {
        return (uint64_t) uid;
    }

    if (owner.len != 1 + 2 * NGX_TG_USER_KEY_BYTES || owner.data[0] != 'u') {
        return NGX_TG_AUDIENCE_TCP_CLIENTS;
    }

    /* 60 bits of the hash, apart from all uids and the special audiences. */
    audience = 1;

    for (i = 1; i <= 15; i++) {
        digit = (uint64_t) (tg_hex_value(owner.data[i]) & 15);
        audience = audience << 4 | digit;
    }

    return audience;
}
