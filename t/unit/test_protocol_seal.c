/* Sealed texts: each change, context, key and time. */
#include "protocol_help.h"

#include "base/tg_base64.h"
#include "protocol/tg_seal.h"

static tg_seal_keys_t
keys_of(const char *current, const char *previous)
{
    tg_seal_keys_t keys;

    memset(&keys, 0, sizeof(keys));
    tg_seal_add_key(&keys, tg_str_from_cstr(current));

    if (previous != NULL) {
        tg_seal_add_key(&keys, tg_str_from_cstr(previous));
    }

    return keys;
}

HELP_TEST(base64url, "base64url has one text for each sequence of bytes")
{
    static const struct {
        const char *plain, *text;
    } vectors[] = {
        { "", "" },           { "f", "Zg" },
        { "fo", "Zm8" },      { "foo", "Zm9v" },
        { "foob", "Zm9vYg" }, { "\xfb\xff\xfe\xff", "-__-_w" },
    };
    static const char *const bad[] = { "A",  "Zh",    "Zm9",      "Zg==",
                                       "+/", "Zm9v!", "Zm9v\nZg", " Zg" };

    HELP_EACH(vector, vectors) {
        HELP_BUFFER(text);
        HELP_BUFFER(plain);

        tg_base64url_encode(&text, tg_str_from_cstr(vector->plain));
        HELP_EQ(tg_buf_view(&text), vector->text);
        CU_ASSERT(tg_base64url_decode(&plain, tg_buf_view(&text)) == TG_OK);
        HELP_EQ(tg_buf_view(&plain), vector->plain);
    }

    HELP_EACH(one, bad) {
        HELP_BUFFER(plain);

        CU_ASSERT(tg_base64url_decode(&plain, tg_str_from_cstr(*one))
                  == TG_INVALID);
    }
}

HELP_TEST(round_trip, "a text opens in its context until it expires")
{
    tg_seal_keys_t keys;
    HELP_BUFFER(text);
    HELP_BUFFER(bytes);

    keys = keys_of("first", NULL);
    CU_ASSERT(
        tg_seal_write(&keys, TG_STR("ask x"), 1000, TG_STR("payload"), &text)
        == TG_OK);
    CU_ASSERT(
        tg_seal_open(&keys, TG_STR("ask x"), 999, tg_buf_view(&text), &bytes)
        == TG_OK);
    HELP_EQ(tg_buf_view(&bytes), "payload");
    CU_ASSERT(
        tg_seal_open(&keys, TG_STR("ask x"), 1000, tg_buf_view(&text), &bytes)
        == TG_END);
    CU_ASSERT(
        tg_seal_open(&keys, TG_STR("ask y"), 999, tg_buf_view(&text), &bytes)
        == TG_INVALID);
    CU_ASSERT(tg_seal_open(&keys, TG_STR(""), 999, tg_buf_view(&text), &bytes)
              == TG_INVALID);
    HELP_EQ(tg_buf_view(&bytes), "payload");
}

HELP_TEST(rotation, "the previous key opens texts, but seals none")
{
    tg_seal_keys_t old, both, new;
    HELP_BUFFER(text);
    HELP_BUFFER(later);
    HELP_BUFFER(bytes);

    old = keys_of("old", NULL);
    both = keys_of("new", "old");
    new = keys_of("new", NULL);
    CU_ASSERT(tg_seal_write(&old, TG_STR("c"), 9, TG_STR("a"), &text) == TG_OK);
    CU_ASSERT(tg_seal_write(&both, TG_STR("c"), 9, TG_STR("b"), &later)
              == TG_OK);
    CU_ASSERT(tg_seal_open(&both, TG_STR("c"), 1, tg_buf_view(&text), &bytes)
              == TG_OK);
    CU_ASSERT(tg_seal_open(&new, TG_STR("c"), 1, tg_buf_view(&text), &bytes)
              == TG_INVALID);
    CU_ASSERT(tg_seal_open(&new, TG_STR("c"), 1, tg_buf_view(&later), &bytes)
              == TG_OK);
    CU_ASSERT(tg_seal_open(&old, TG_STR("c"), 1, tg_buf_view(&later), &bytes)
              == TG_INVALID);
    HELP_EQ(tg_buf_view(&bytes), "ab");
}

HELP_TEST(changes, "no changed, cut or longer text opens")
{
    static const char other[] = "Aa0-_+/= ";
    tg_seal_keys_t keys;
    char changed[128];
    size_t i, j, len;
    HELP_BUFFER(text);
    HELP_BUFFER(bytes);

    keys = keys_of("key", NULL);
    CU_ASSERT(tg_seal_write(&keys, TG_STR("c"), 9, TG_STR("a payload"), &text)
              == TG_OK);
    len = text.len;
    CU_ASSERT_FATAL(len + 9 <= sizeof(changed));

    for (i = 0; i < len; i++) {
        CU_ASSERT(
            tg_seal_open(&keys, TG_STR("c"), 1, tg_str(text.data, i), &bytes)
            == TG_INVALID);

        for (j = 0; j < sizeof(other) - 1; j++) {
            memcpy(changed, text.data, len);
            changed[i] = other[j];
            CU_ASSERT(other[j] == text.data[i]
                      || tg_seal_open(&keys, TG_STR("c"), 1,
                                      tg_str(changed, len), &bytes)
                             == TG_INVALID);
        }
    }

    memcpy(changed, text.data, len);
    memcpy(changed + len, "-TAMPERED", 9);

    for (i = 1; i <= 9; i++) {
        CU_ASSERT(tg_seal_open(&keys, TG_STR("c"), 1, tg_str(changed, len + i),
                               &bytes)
                  == TG_INVALID);
    }

    CU_ASSERT(bytes.len == 0);
}

HELP_TEST(equal, "digests are equal only if all of their bytes are")
{
    unsigned char a[TG_SHA256_SIZE], b[TG_SHA256_SIZE];
    int i;

    memset(a, 7, sizeof(a));
    memset(b, 7, sizeof(b));
    CU_ASSERT(tg_digest_is_equal(a, b));

    for (i = 0; i < TG_SHA256_SIZE; i++) {
        b[i] ^= 128;
        CU_ASSERT(!tg_digest_is_equal(a, b));
        b[i] ^= 128;
    }
}
