/* The preview of a stored output, and the params that control it. */
#include "runner/output/tg_output_preview.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/jobs/tg_job_params.h"
#include "spec/tg_output_spec.h"

int
tg_output_store_params_read(tg_output_store_params_t *spec,
                            tg_output_store_t *output_store, tg_str_t raw,
                            const char **why)
{
    tg_spill_spec_t spill;
    tg_str_t owner;

    if (raw.data == NULL) {
        return TG_OK;
    }

    *why = "spill must be an object with owner, quota, keep_ms and preview";

    if (tg_json_read_fields(tg_spill_fields, raw, &spill, why) != TG_OK) {
        return TG_INVALID;
    }

    owner = tg_json_string_body(spill.owner);

    if (!tg_stored_output_is_name(owner.data, owner.len,
                                  TG_STORED_OUTPUT_OWNER_MAX))
    {
        return TG_INVALID;
    }

    memcpy(spec->owner, owner.data, owner.len);
    spec->owner[owner.len] = '\0';
    spec->output_store = output_store;
    spec->quota = (uint64_t) spill.quota;
    spec->keep_ms = (uint64_t) spill.keep_ms;
    spec->preview = (size_t) spill.preview;

    return TG_OK;
}

size_t
tg_output_store_params_get_max(const tg_output_store_params_t *spec,
                               size_t max_output)
{
    return spec->preview != 0 && spec->preview < max_output ? spec->preview
                                                            : max_output;
}

static tg_str_t
tg_output_trim_partial_char(tg_str_t text, int is_head)
{
    const char *p, *end;
    int i;

    p = text.data;
    end = tg_str_end(text);

    for (i = 0; i < 3 && !is_head && p < end && (*p & 0xc0) == 0x80; i++) {
        p++;
    }

    for (i = 0; i < 4 && is_head && end > p; i++) {
        end--;

        if ((*end & 0xc0) != 0x80) {
            end += tg_utf8_sequence_len(end, tg_str_end(text));
            break;
        }
    }

    return tg_str(p, (size_t) (end - p));
}

tg_str_t
tg_output_trim_to_lines(tg_str_t text, int is_head)
{
    const char *end, *line;

    text = tg_output_trim_partial_char(text, is_head);
    end = tg_str_end(text);
    line = text.len == 0 ? NULL
           : is_head     ? memrchr(text.data, '\n', text.len)
                         : memchr(text.data, '\n', text.len);

    if (line == NULL) {
        return text;
    }

    /* Without the newline: the text after the head begins with one. */
    if (is_head) {
        return line - text.data >= end - line
                   ? tg_str(text.data, (size_t) (line - text.data))
                   : text;
    }

    line++;

    return end - line >= line - text.data ? tg_str(line, (size_t) (end - line))
                                          : text;
}

void
tg_stored_output_append_usage(tg_stored_output_t *stored_output,
                              const tg_output_store_params_t *spec,
                              tg_buf_t *text)
{
    const char *key;

    key = tg_stored_output_publish(stored_output, spec->keep_ms);

    if (key == NULL) {
        tg_buf_append_cstr(text, "the rest could not be stored");
    } else {
        tg_buf_printf(text,
                      "the tool " TG_OUTPUT_PAGER_TOOL " reads the rest: "
                      "{\"output\":\"%s\"}, with \"line\" and \"lines\", "
                      "\"offset\" and \"bytes\", or a \"pattern\"",
                      key);
    }
}

void
tg_stored_output_read_tail(const tg_stored_output_t *stored_output, size_t most,
                           tg_buf_t *tail)
{
    size_t len;

    len = stored_output->size < most ? (size_t) stored_output->size : most;
    tg_buf_truncate(tail, 0);

    if (tg_buf_reserve(tail, len) == TG_OK) {
        tail->len = tg_stored_output_read(stored_output,
                                          stored_output->size - len, tail->data,
                                          len);
    }
}

int
tg_stored_output_append_preview(tg_stored_output_t *stored_output,
                                const tg_output_store_params_t *spec,
                                size_t max_output, tg_buf_t *text)
{
    tg_buf_t part;
    size_t shown;

    shown = spec->preview != 0 ? spec->preview : TG_OUTPUT_PREVIEW_BYTES;
    shown = shown < max_output ? shown : max_output;
    tg_buf_init(&part, tg_alloc_libc());

    if (tg_buf_reserve(&part, shown) == TG_OK) {
        part.len = tg_stored_output_read(stored_output, 0, part.data,
                                         shown / 2);
    }

    tg_utf8_append_lossy(text, tg_output_trim_to_lines(tg_buf_view(&part), 1));
    tg_buf_printf(text,
                  "\n[the whole output has %llu bytes in %llu %s; this is "
                  "its beginning and its end; ",
                  (unsigned long long) stored_output->size,
                  (unsigned long long) stored_output->lines,
                  tg_pick_plural(stored_output->lines, "line", "lines"));
    tg_stored_output_append_usage(stored_output, spec, text);
    tg_buf_append_cstr(text, "]\n");
    tg_stored_output_read_tail(stored_output, shown - shown / 2, &part);
    tg_utf8_append_lossy(text, tg_output_trim_to_lines(tg_buf_view(&part), 0));
    text->failed |= part.failed;
    tg_buf_deinit(&part);

    return stored_output->is_published ? 0 : -1;
}
