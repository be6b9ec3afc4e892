/* Writes a file as `contents`, text or base64. */
#include "runner/files/tg_file_contents.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "catalog/tg_mime_extension.h"
#include "catalog/tg_mime_type.h"

void
tg_file_contents_begin(tg_file_contents_t *contents, tg_str_t bytes,
                       tg_str_t uri, tg_str_t mime, tg_str_t path)
{
    memset(contents, 0, sizeof(*contents));
    contents->bytes = bytes;
    tg_buf_init(&contents->json, tg_alloc_libc());

    if (mime.len == 0) {
        mime = tg_mime_type_from_name(path);
    }

    contents->is_text = (mime.len == 0 || tg_mime_type_is_text(mime))
                        && tg_utf8_is_valid(bytes);

    if (mime.len == 0) {
        mime = contents->is_text ? TG_STR("text/plain")
                                 : TG_STR("application/octet-stream");
    }

    (void) tg_buf_reserve(
        &contents->json,
        uri.len + mime.len + bytes.len / 3 * (contents->is_text ? 3 : 4) + 128);
    tg_buf_append_cstr(&contents->json, "{\"contents\":[{\"uri\":");
    tg_json_write_string(&contents->json, uri);
    tg_json_add_string(&contents->json, "mimeType", mime);
    tg_buf_append_cstr(&contents->json,
                       contents->is_text ? ",\"text\":\"" : ",\"blob\":\"");
}

int
tg_file_contents_step(tg_file_contents_t *contents)
{
    tg_str_t part;

    part = tg_str_skip(contents->bytes, contents->at);

    if (!contents->is_text && part.len > TG_FILE_CONTENTS_STEP) {
        part.len = TG_FILE_CONTENTS_STEP;
    } else if (contents->is_text) {
        part.len = tg_utf8_truncated_len(part, TG_FILE_CONTENTS_STEP);
    }

    if (contents->is_text) {
        tg_json_write_escaped(&contents->json, part);
    } else {
        tg_base64_encode(&contents->base64, &contents->json, part.data,
                         part.len);
    }

    contents->at += part.len;

    if (contents->at != contents->bytes.len
        && !tg_buf_has_failed(&contents->json)) {
        return TG_AGAIN;
    }

    if (!contents->is_text) {
        tg_base64_encode_end(&contents->base64, &contents->json);
    }

    tg_buf_append_cstr(&contents->json, "\"}]}");

    return TG_OK;
}

void
tg_file_contents_end(tg_file_contents_t *contents)
{
    tg_buf_deinit(&contents->json);
}
