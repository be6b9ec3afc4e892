/* Identity that a client has sent, stored in shared memory. */
#ifndef _NGX_TG_CLIENT_IDENTITY_H_INCLUDED_
#define _NGX_TG_CLIENT_IDENTITY_H_INCLUDED_

#include "nginx/ngx_tg.h"

/* Name, version and via of a client (see tg_peer_t), concatenated in text. */
typedef struct {
    uint8_t name_len;
    uint8_t version_len;
    uint8_t via_len;
    char text[TG_CLIENT_NAME_MAX + TG_CLIENT_VERSION_MAX + TG_CLIENT_VIA_MAX];
} ngx_tg_client_identity_t;

void ngx_tg_client_identity_set(ngx_tg_client_identity_t *identity,
                                const tg_peer_t *peer);

/* Appends the known ones of `name`, `version` and `via`, each after a comma. */
void ngx_tg_client_identity_write_json(
    tg_buf_t *json, const ngx_tg_client_identity_t *identity);

#endif
