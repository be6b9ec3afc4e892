/* Sealing and opening of bytes that a client keeps. */
#include "protocol/tg_seal.h"

#include "base/tg_base64.h"

#define TG_SEAL_VERSION 1
#define TG_SEAL_HEAD_SIZE 9

void
tg_seal_add_key(tg_seal_keys_t *keys, tg_str_t secret)
{
    tg_hmac_t hmac;

    /* The secret may have other uses. */
    tg_hmac_init(&hmac, secret);
    tg_hmac_update(&hmac, TG_STR("toolgate seal 1"));
    tg_hmac_final(&hmac, keys->keys[keys->n++]);
}

int
tg_digest_is_equal(const unsigned char *a, const unsigned char *b)
{
    volatile unsigned char differences;
    size_t i;

    for (i = 0, differences = 0; i < TG_SHA256_SIZE; i++) {
        differences |= a[i] ^ b[i];
    }

    return differences == 0;
}

/* Computes the code of head and bytes. The length separates the two parts. */
static void
tg_seal_compute_mac(const unsigned char *key, tg_str_t context, tg_str_t body,
                    unsigned char *mac)
{
    char len[8];
    tg_hmac_t hmac;
    int i;

    for (i = 0; i < 8; i++) {
        len[i] = (char) ((uint64_t) context.len >> (56 - 8 * i));
    }

    tg_hmac_init(&hmac, tg_str((const char *) key, TG_SHA256_SIZE));
    tg_hmac_update(&hmac, tg_str(len, sizeof(len)));
    tg_hmac_update(&hmac, context);
    tg_hmac_update(&hmac, body);
    tg_hmac_final(&hmac, mac);
}

int
tg_seal_write(const tg_seal_keys_t *keys, tg_str_t context, uint64_t expires_ms,
              tg_str_t bytes, tg_buf_t *out)
{
    unsigned char mac[TG_SHA256_SIZE];
    tg_buf_t sealed;
    int i;

    tg_buf_init(&sealed, out->alloc);
    tg_buf_append_char(&sealed, TG_SEAL_VERSION);

    for (i = 0; i < 8; i++) {
        tg_buf_append_char(&sealed, (char) (expires_ms >> (56 - 8 * i)));
    }

    tg_buf_append_str(&sealed, bytes);

    if (!tg_buf_has_failed(&sealed)) {
        tg_seal_compute_mac(keys->keys[0], context, tg_buf_view(&sealed), mac);
        tg_buf_append(&sealed, (const char *) mac, sizeof(mac));
    }

    if (tg_buf_has_failed(&sealed)) {
        out->failed = 1;
    } else {
        tg_base64url_encode(out, tg_buf_view(&sealed));
    }

    tg_buf_deinit(&sealed);

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
}

/* Checks the code and the expiry of decoded bytes. */
static int
tg_seal_check(const tg_seal_keys_t *keys, tg_str_t context, uint64_t now_ms,
              tg_str_t sealed)
{
    unsigned char mac[TG_SHA256_SIZE];
    uint64_t expires_ms;
    unsigned i, is_valid;
    tg_str_t body;

    if (sealed.len < TG_SEAL_HEAD_SIZE + TG_SHA256_SIZE
        || sealed.data[0] != TG_SEAL_VERSION)
    {
        return TG_INVALID;
    }

    body = tg_str(sealed.data, sealed.len - TG_SHA256_SIZE);

    for (i = 0, is_valid = 0; i < keys->n; i++) {
        tg_seal_compute_mac(keys->keys[i], context, body, mac);
        is_valid |= (unsigned) tg_digest_is_equal(
            mac, (const unsigned char *) tg_str_end(body));
    }

    for (i = 1, expires_ms = 0; i < TG_SEAL_HEAD_SIZE; i++) {
        expires_ms = expires_ms << 8 | (unsigned char) sealed.data[i];
    }

    return !is_valid ? TG_INVALID : now_ms >= expires_ms ? TG_END : TG_OK;
}

int
tg_seal_open(const tg_seal_keys_t *keys, tg_str_t context, uint64_t now_ms,
             tg_str_t text, tg_buf_t *out)
{
    tg_buf_t sealed;
    int rc;

    tg_buf_init(&sealed, out->alloc);
    rc = tg_base64url_decode(&sealed, text);

    if (tg_buf_has_failed(&sealed)) {
        rc = TG_NOMEM;
    }

    if (rc == TG_OK) {
        rc = tg_seal_check(keys, context, now_ms, tg_buf_view(&sealed));
    }

    if (rc == TG_OK) {
        tg_buf_append(out, sealed.data + TG_SEAL_HEAD_SIZE,
                      sealed.len - TG_SEAL_HEAD_SIZE - TG_SHA256_SIZE);
        rc = tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
    }

    tg_buf_deinit(&sealed);

    return rc;
}
