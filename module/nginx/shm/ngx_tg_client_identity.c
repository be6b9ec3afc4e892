#include "nginx/shm/ngx_tg_client_identity.h"
#include "protocol/tg_peer.h"

void
ngx_tg_client_identity_set(ngx_tg_client_identity_t *identity,
                           const tg_peer_t *peer)
{
    char *p;

    p = identity->text;
    identity->name_len = (uint8_t) peer->client.len;
    identity->version_len = (uint8_t) peer->client_version.len;
    identity->via_len = (uint8_t) peer->client_via.len;
    (void) tg_str_copy_to(&p, peer->client);
    (void) tg_str_copy_to(&p, peer->client_version);
    (void) tg_str_copy_to(&p, peer->client_via);
}

void
ngx_tg_client_identity_write_json(tg_buf_t *json,
                                  const ngx_tg_client_identity_t *identity)
{
    const struct {
        const char *key;
        uint8_t len;
    } members[] = { { "name", identity->name_len },
                    { "version", identity->version_len },
                    { "via", identity->via_len } };
    const char *p;
    ngx_uint_t i;

    p = identity->text;

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].len != 0) {
            tg_json_add_string(json, members[i].key, tg_str(p, members[i].len));
        }

        p += members[i].len;
    }
}
