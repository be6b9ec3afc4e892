/*
 * Base64 (RFC 4648, with padding): incremental encoding, decoding of a whole
 * text.
 */
#ifndef TG_BASE64_H
#define TG_BASE64_H

#include "base/tg_buf.h"

/*
 * State of an encoder: the bytes of an incomplete group of three. Starts
 * zeroed.
 */
typedef struct {
    unsigned char bytes[3];
    size_t n;
} tg_base64_encoder_t;

/*
 * Encodes the next piece of data and appends the complete groups to out. Up to
 * two bytes stay in the encoder.
 */
void tg_base64_encode(tg_base64_encoder_t *base64, tg_buf_t *out,
                      const char *data, size_t len);
/*
 * Encodes the bytes that are left in the encoder, with padding, and appends
 * them to out.
 */
void tg_base64_encode_end(tg_base64_encoder_t *base64, tg_buf_t *out);

/*
 * Decodes a whole text and appends its bytes to out. Returns TG_OK, or
 * TG_INVALID if text is not valid Base64; out may have a part of the bytes
 * then.
 */
int tg_base64_decode(tg_buf_t *out, tg_str_t text);

#endif
