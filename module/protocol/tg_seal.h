/*
 * Sealed text: bytes that a client keeps for the server and sends back later.
 * The client can read the bytes, but not change them, use them after their
 * expiry, or use them in another context.
 *
 * Text: base64url of version (1), expiry (8, Unix time in ms), bytes, and
 * HMAC-SHA-256 (32) over all of these and the context.
 */
#ifndef TG_SEAL_H
#define TG_SEAL_H

#include "base/tg_buf.h"
#include "base/tg_sha256.h"

/* Smallest secret in bytes: as much as the keys have. */
#define TG_SEAL_SECRET_MIN 32

/* Keys: texts are sealed with the first one and opened with any. */
typedef struct {
    unsigned char keys[2][TG_SHA256_SIZE];
    unsigned n;
} tg_seal_keys_t;

/*
 * Adds a key derived from a secret. The first key is the current one, the
 * second the previous one, whose texts stay valid until they expire.
 */
void tg_seal_add_key(tg_seal_keys_t *keys, tg_str_t secret);

/*
 * Appends the sealed text of bytes. context is what the text is bound to: its
 * purpose, and all that must be equal when it is opened. expires_ms is a Unix
 * time. TG_OK or TG_NOMEM.
 */
int tg_seal_write(const tg_seal_keys_t *keys, tg_str_t context,
                  uint64_t expires_ms, tg_str_t bytes, tg_buf_t *out);

/*
 * Opens a text and appends its bytes. TG_OK; TG_INVALID: changed, sealed with
 * another key or in another context; TG_END: it has expired; TG_NOMEM. Without
 * TG_OK out stays unchanged.
 */
int tg_seal_open(const tg_seal_keys_t *keys, tg_str_t context, uint64_t now_ms,
                 tg_str_t text, tg_buf_t *out);

/* Compares two digests in a time that does not depend on their bytes. */
int tg_digest_is_equal(const unsigned char *a, const unsigned char *b);

#endif
