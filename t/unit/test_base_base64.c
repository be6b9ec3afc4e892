/* Base64: the vectors of RFC 4648, in pieces of every size. */
#include "protocol_help.h"

#include "base/tg_base64.h"

static const struct {
    const char *plain, *text;
} vectors[] = {
    { "", "" },
    { "f", "Zg==" },
    { "fo", "Zm8=" },
    { "foo", "Zm9v" },
    { "foob", "Zm9vYg==" },
    { "fooba", "Zm9vYmE=" },
    { "foobar", "Zm9vYmFy" },
    { "\xfb\xff\xfe\xff", "+//+/w==" },
};

HELP_TEST(vectors, "vectors, both ways")
{
    tg_base64_encoder_t base64;
    size_t at, n, len, portion;
    tg_buf_t text, plain;

    HELP_EACH(vector, vectors) {
        len = strlen(vector->plain);

        for (portion = 1; portion <= 7; portion++) {
            tg_buf_init(&text, tg_alloc_libc());
            tg_buf_init(&plain, tg_alloc_libc());
            memset(&base64, 0, sizeof(base64));

            for (at = 0; at < len; at += n) {
                n = portion < len - at ? portion : len - at;
                tg_base64_encode(&base64, &text, vector->plain + at, n);
            }

            tg_base64_encode_end(&base64, &text);
            HELP_EQ(tg_buf_view(&text), vector->text);
            CU_ASSERT(tg_base64_decode(&plain, tg_buf_view(&text)) == TG_OK);
            HELP_EQ(tg_buf_view(&plain), vector->plain);
            tg_buf_deinit(&text);
            tg_buf_deinit(&plain);
        }
    }
}

HELP_TEST(all_bytes, "every byte survives encoding and decoding")
{
    tg_base64_encoder_t base64;
    HELP_BUFFER(text);
    HELP_BUFFER(plain);
    char bytes[256];
    int i;

    for (i = 0; i < 256; i++) {
        bytes[i] = (char) i;
    }

    memset(&base64, 0, sizeof(base64));
    tg_base64_encode(&base64, &text, bytes, sizeof(bytes));
    tg_base64_encode_end(&base64, &text);
    CU_ASSERT(text.len == 344);
    CU_ASSERT(tg_base64_decode(&plain, tg_buf_view(&text)) == TG_OK);
    CU_ASSERT(tg_str_eq(tg_buf_view(&plain), tg_str(bytes, sizeof(bytes))));
}

HELP_TEST(none, "invalid text")
{
    static const char *const texts[] = { "Z",    "Zg",   "Zg=",      "Z===",
                                         "====", "Zm9-", "Zg==Zg==", "Zm 9" };

    HELP_EACH(text, texts) {
        HELP_BUFFER(plain);

        CU_ASSERT(tg_base64_decode(&plain, tg_str_from_cstr(*text))
                  == TG_INVALID);
    }
}
