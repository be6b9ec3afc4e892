/* Base64 with padding, and base64url without padding (RFC 4648). */
#ifndef TG_BASE64_H
#define TG_BASE64_H

#include "base/tg_buf.h"

/* State of an encoder: the bytes of an incomplete group. Starts zeroed. */
typedef struct {
    unsigned char bytes[3];
    size_t n;
} tg_base64_encoder_t;

/* Appends the complete groups to out; up to two bytes stay in the encoder. */
void tg_base64_encode(tg_base64_encoder_t *base64, tg_buf_t *out,
                      const char *data, size_t len);
/* Appends the bytes left in the encoder, with padding. */
void tg_base64_encode_end(tg_base64_encoder_t *base64, tg_buf_t *out);

/* Decodes a whole text. On TG_INVALID out may have a part of its bytes. */
int tg_base64_decode(tg_buf_t *out, tg_str_t text);

void tg_base64url_encode(tg_buf_t *out, tg_str_t bytes);

/*
 * Decodes a whole text. Each sequence of bytes has one text: TG_INVALID for
 * padding and unused bits. On TG_INVALID out may have a part of the bytes.
 */
int tg_base64url_decode(tg_buf_t *out, tg_str_t text);

#endif
