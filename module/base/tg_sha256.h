/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104). Simple rather than fast. */
#ifndef TG_SHA256_H
#define TG_SHA256_H

#include "base/tg_base.h"

#define TG_SHA256_SIZE 32
#define TG_SHA256_BLOCK_SIZE 64

typedef struct {
    uint32_t state[8];
    uint64_t len;
    unsigned char block[TG_SHA256_BLOCK_SIZE];
} tg_sha256_t;

typedef struct {
    tg_sha256_t inner;
    tg_sha256_t outer;
} tg_hmac_t;

void tg_sha256_init(tg_sha256_t *sha);
void tg_sha256_update(tg_sha256_t *sha, tg_str_t bytes);
/* The next use of sha needs tg_sha256_init(). */
void tg_sha256_final(tg_sha256_t *sha, unsigned char *digest);

void tg_hmac_init(tg_hmac_t *hmac, tg_str_t key);
void tg_hmac_update(tg_hmac_t *hmac, tg_str_t bytes);
/* The next use of hmac needs tg_hmac_init(). */
void tg_hmac_final(tg_hmac_t *hmac, unsigned char *digest);

#endif
