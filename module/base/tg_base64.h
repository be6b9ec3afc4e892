/*
 * Base64 (RFC 4648, with its padding), in pieces.
 */
#ifndef TG_BASE64_H
#define TG_BASE64_H

#include "base/tg_buf.h"

/* What waits for the rest of its three bytes; zeroed in the beginning. */
typedef struct {
    unsigned char bytes[3];
    size_t n;
} tg_base64_encoder_t;

/* Appends a piece; and what is left of all, with the padding. */
void tg_base64_encode(tg_base64_encoder_t *base64, tg_buf_t *out,
                      const char *data, size_t len);
void tg_base64_encode_end(tg_base64_encoder_t *base64, tg_buf_t *out);

/* Appends the bytes of a whole text: TG_OK, or TG_INVALID when it is none. */
int tg_base64_decode(tg_buf_t *out, tg_str_t text);

#endif
