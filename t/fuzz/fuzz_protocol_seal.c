/*
 * Seals bytes and opens texts: a sealed text opens to its bytes, and no other
 * text does.
 *
 * Input: a text to open, newline, bytes to seal.
 */
#include "help.h"

#include "base/tg_base64.h"
#include "protocol/tg_seal.h"

FUZZ_TARGET(in)
{
    tg_seal_keys_t keys;
    tg_str_t text, bytes;
    tg_buf_t sealed, opened;

    text = fuzz_until_newline(&in);
    bytes = fuzz_rest(&in);
    memset(&keys, 0, sizeof(keys));
    tg_seal_add_key(&keys, TG_STR("a key of the fuzz target"));
    tg_buf_init(&sealed, tg_alloc_libc());
    tg_buf_init(&opened, tg_alloc_libc());
    FUZZ(tg_seal_open(&keys, text, 0, text, &opened) == TG_INVALID);

    if (tg_base64url_decode(&opened, text) == TG_OK) {
        tg_base64url_encode(&sealed, tg_buf_view(&opened));
        FUZZ_EQ(tg_buf_view(&sealed), text);
    }

    tg_buf_truncate(&sealed, 0);
    tg_buf_truncate(&opened, 0);
    FUZZ(tg_seal_write(&keys, text, 2, bytes, &sealed) == TG_OK);
    FUZZ(tg_seal_open(&keys, text, 1, tg_buf_view(&sealed), &opened) == TG_OK);
    FUZZ_EQ(tg_buf_view(&opened), bytes);
    FUZZ(tg_seal_open(&keys, text, 2, tg_buf_view(&sealed), &opened) == TG_END);
    FUZZ(tg_seal_open(&keys, bytes, 1, tg_buf_view(&sealed), &opened)
         == (tg_str_eq(text, bytes) ? TG_OK : TG_INVALID));
    tg_buf_deinit(&sealed);
    tg_buf_deinit(&opened);
}
