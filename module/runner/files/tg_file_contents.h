/*
 * Writes the bytes of a file as the result of MCP's resources/read, in steps:
 *
 *   {"contents":[{"uri":"…","mimeType":"text/markdown","text":"…"}]}
 *
 * with "blob", in base64, in place of "text" if the bytes are not UTF-8 or the
 * type is not textual.
 */
#ifndef TG_FILE_CONTENTS_H
#define TG_FILE_CONTENTS_H

#include "base/tg_base64.h"

/* Bytes of a file that one step writes. */
#define TG_FILE_CONTENTS_STEP 1048576

typedef struct {
    tg_str_t bytes;
    size_t at; /* offset of the next byte */
    int is_text;
    tg_base64_encoder_t base64;
    tg_buf_t json;
} tg_file_contents_t;

/*
 * Begins with the bytes, which must outlive the steps. `uri` is valid UTF-8;
 * an absent `mime` is derived from the path.
 */
void tg_file_contents_begin(tg_file_contents_t *contents, tg_str_t bytes,
                            tg_str_t uri, tg_str_t mime, tg_str_t path);

/* Writes a part. TG_AGAIN, or TG_OK at the end: contents->json is complete. */
int tg_file_contents_step(tg_file_contents_t *contents);

void tg_file_contents_end(tg_file_contents_t *contents);

#endif
