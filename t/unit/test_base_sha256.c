/* SHA-256 and HMAC: the vectors of FIPS 180-4 and RFC 4231. */
#include "protocol_help.h"

#include "base/tg_sha256.h"

static const char *
hex(const unsigned char *digest)
{
    static char text[2 * TG_SHA256_SIZE + 1];
    int i;

    for (i = 0; i < TG_SHA256_SIZE; i++) {
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }

    return text;
}

/* Hashes a repeated text in pieces of this size. */
static const char *
sha(const char *text, int times, size_t size)
{
    unsigned char digest[TG_SHA256_SIZE];
    tg_sha256_t state;
    tg_str_t rest;

    tg_sha256_init(&state);

    for (; times > 0; times--) {
        for (rest = tg_str_from_cstr(text); rest.len > size; rest.len -= size) {
            tg_sha256_update(&state, tg_str(rest.data, size));
            rest.data += size;
        }

        tg_sha256_update(&state, rest);
    }

    tg_sha256_final(&state, digest);

    return hex(digest);
}

HELP_TEST(sha256, "SHA-256")
{
    static const char *const two =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    size_t size;

    HELP_EQ(tg_str_from_cstr(sha("", 1, 99)),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    HELP_EQ(tg_str_from_cstr(sha("abc", 1, 99)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    HELP_EQ(tg_str_from_cstr(sha("a", 1000000, 99)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");

    for (size = 1; size < 60; size++) {
        HELP_EQ(tg_str_from_cstr(sha(two, 1, size)),
                "248d6a61d20638b8e5c026930c3e6039"
                "a33ce45964ff2167f6ecedd419db06c1");
    }
}

static const char *
hmac(tg_str_t key, tg_str_t text)
{
    unsigned char digest[TG_SHA256_SIZE];
    tg_hmac_t state;

    tg_hmac_init(&state, key);
    tg_hmac_update(&state, tg_str(text.data, text.len / 2));
    tg_hmac_update(&state,
                   tg_str(text.data + text.len / 2, text.len - text.len / 2));
    tg_hmac_final(&state, digest);

    return hex(digest);
}

HELP_TEST(hmac, "HMAC-SHA-256, also with a key longer than a block")
{
    char key[131];

    memset(key, 0x0b, 20);
    HELP_EQ(tg_str_from_cstr(hmac(tg_str(key, 20), TG_STR("Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    HELP_EQ(tg_str_from_cstr(
                hmac(TG_STR("Jefe"), TG_STR("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    HELP_EQ(tg_str_from_cstr(
                hmac(tg_str(key, sizeof(key)),
                     TG_STR("Test Using Larger Than Block-Size Key - "
                            "Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    HELP_EQ(tg_str_from_cstr(hmac(TG_STR(""), TG_STR(""))),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}
