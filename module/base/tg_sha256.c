/* SHA-256 and HMAC-SHA-256. */
#include "base/tg_sha256.h"

/* clang-format off */
static const uint32_t tg_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};
/* clang-format on */

static uint32_t
tg_sha256_rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void
tg_sha256_expand_block(const unsigned char *block, uint32_t *w)
{
    uint32_t a, b;
    int i;

    for (i = 0; i < 16; i++) {
        w[i] = (uint32_t) block[4 * i] << 24 | (uint32_t) block[4 * i + 1] << 16
               | (uint32_t) block[4 * i + 2] << 8 | block[4 * i + 3];
    }

    for (; i < 64; i++) {
        a = tg_sha256_rotate(w[i - 15], 7) ^ tg_sha256_rotate(w[i - 15], 18)
            ^ w[i - 15] >> 3;
        b = tg_sha256_rotate(w[i - 2], 17) ^ tg_sha256_rotate(w[i - 2], 19)
            ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void
tg_sha256_process_block(tg_sha256_t *sha)
{
    uint32_t w[64], s[8], a, b;
    int i;

    tg_sha256_expand_block(sha->block, w);
    memcpy(s, sha->state, sizeof(s));

    for (i = 0; i < 64; i++) {
        a = s[7]
            + (tg_sha256_rotate(s[4], 6) ^ tg_sha256_rotate(s[4], 11)
               ^ tg_sha256_rotate(s[4], 25))
            + ((s[4] & s[5]) ^ (~s[4] & s[6])) + tg_sha256_k[i] + w[i];
        b = (tg_sha256_rotate(s[0], 2) ^ tg_sha256_rotate(s[0], 13)
             ^ tg_sha256_rotate(s[0], 22))
            + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += a;
        s[0] = a + b;
    }

    for (i = 0; i < 8; i++) {
        sha->state[i] += s[i];
    }
}

void
tg_sha256_init(tg_sha256_t *sha)
{
    static const uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                       0xa54ff53a, 0x510e527f, 0x9b05688c,
                                       0x1f83d9ab, 0x5be0cd19 };

    memcpy(sha->state, state, sizeof(state));
    sha->len = 0;
}

void
tg_sha256_update(tg_sha256_t *sha, tg_str_t bytes)
{
    size_t at, n;

    while (bytes.len != 0) {
        at = sha->len % TG_SHA256_BLOCK_SIZE;
        n = TG_SHA256_BLOCK_SIZE - at < bytes.len ? TG_SHA256_BLOCK_SIZE - at
                                                  : bytes.len;
        memcpy(sha->block + at, bytes.data, n);
        sha->len += n;
        bytes = tg_str_skip(bytes, n);

        if (at + n == TG_SHA256_BLOCK_SIZE) {
            tg_sha256_process_block(sha);
        }
    }
}

void
tg_sha256_final(tg_sha256_t *sha, unsigned char *digest)
{
    static const char zeros[TG_SHA256_BLOCK_SIZE] = { (char) 0x80 };
    char bits[8];
    size_t at;
    int i;

    for (i = 0; i < 8; i++) {
        bits[i] = (char) (unsigned char) (sha->len * 8 >> (56 - 8 * i));
    }

    at = sha->len % TG_SHA256_BLOCK_SIZE;
    tg_sha256_update(sha, tg_str(zeros, at < 56 ? 56 - at : 120 - at));
    tg_sha256_update(sha, tg_str(bits, sizeof(bits)));

    for (i = 0; i < TG_SHA256_SIZE; i++) {
        digest[i] = (unsigned char) (sha->state[i / 4] >> (24 - i % 4 * 8));
    }
}

/* --- HMAC --- */

void
tg_hmac_init(tg_hmac_t *hmac, tg_str_t key)
{
    unsigned char pad[TG_SHA256_BLOCK_SIZE];
    int i;

    memset(pad, 0, sizeof(pad));

    if (key.len > sizeof(pad)) {
        tg_sha256_init(&hmac->inner);
        tg_sha256_update(&hmac->inner, key);
        tg_sha256_final(&hmac->inner, pad);
    } else if (key.len != 0) {
        memcpy(pad, key.data, key.len);
    }

    for (i = 0; i < TG_SHA256_BLOCK_SIZE; i++) {
        pad[i] ^= 0x36;
    }

    tg_sha256_init(&hmac->inner);
    tg_sha256_update(&hmac->inner, tg_str((char *) pad, sizeof(pad)));

    for (i = 0; i < TG_SHA256_BLOCK_SIZE; i++) {
        pad[i] ^= 0x36 ^ 0x5c;
    }

    tg_sha256_init(&hmac->outer);
    tg_sha256_update(&hmac->outer, tg_str((char *) pad, sizeof(pad)));
}

void
tg_hmac_update(tg_hmac_t *hmac, tg_str_t bytes)
{
    tg_sha256_update(&hmac->inner, bytes);
}

void
tg_hmac_final(tg_hmac_t *hmac, unsigned char *digest)
{
    tg_sha256_final(&hmac->inner, digest);
    tg_sha256_update(&hmac->outer, tg_str((char *) digest, TG_SHA256_SIZE));
    tg_sha256_final(&hmac->outer, digest);
}
