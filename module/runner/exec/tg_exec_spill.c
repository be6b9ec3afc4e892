#include "runner/exec/tg_exec_spill.h"

#include "base/tg_utf8.h"

int
tg_exec_is_spilled(const tg_exec_output_t *output)
{
    return output->spill.fd != -1;
}

int
tg_exec_is_large(const tg_exec_output_t *output, size_t more)
{
    const tg_exec_keep_t *keep;
    size_t most;

    keep = &output->how.keep;
    most = output->how.max_output;

    if (keep->preview != 0 && keep->preview < most) {
        most = keep->preview;
    }

    return keep->spills != NULL && output->how.bytes == TG_EXEC_NO_BYTES
           && !output->is_refused
           && (output->out.len + more > most
               || output->size + more > output->how.max_output);
}

int
tg_exec_spill(tg_exec_output_t *output)
{
    const tg_exec_keep_t *keep;

    keep = &output->how.keep;

    if (tg_spill_begin(&output->spill, keep->spills, keep->owner, keep->quota)
            == -1
        || tg_spill_write(&output->spill, output->out.data, output->out.len)
               == -1)
    {
        tg_spill_end(&output->spill);
        output->is_refused = 1;
        return -1;
    }

    /* What is in the file does not count any more. */
    output->size -= output->out.len;
    tg_buf_reset(&output->out, 0);

    return 0;
}

int
tg_exec_spill_more(tg_exec_output_t *output, const char *data, size_t len)
{
    if (tg_spill_write(&output->spill, data, len) == -1) {
        tg_spill_end(&output->spill);
        return TG_LIMIT;
    }

    return TG_OK;
}

void
tg_exec_spill_tail(tg_exec_output_t *output, size_t most)
{
    const tg_spill_t *spill;
    tg_buf_t *out;
    size_t len;

    spill = &output->spill;
    out = &output->out;
    len = spill->size < most ? (size_t) spill->size : most;
    tg_buf_truncate(out, 0);

    if (tg_buf_reserve(out, len) == TG_OK) {
        out->len = tg_spill_read(spill, spill->size - len, out->data, len);
    }
}

/* Characters that a cut went through are no text. */
static tg_str_t
tg_exec_whole(tg_str_t text, int is_head)
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
            end += tg_utf8_length(end, tg_str_end(text));
            break;
        }
    }

    return tg_str(p, (size_t) (end - p));
}

tg_str_t
tg_exec_lines(tg_str_t text, int is_head)
{
    const char *end, *line;

    text = tg_exec_whole(text, is_head);
    end = tg_str_end(text);
    line = text.len == 0 ? NULL
           : is_head     ? memrchr(text.data, '\n', text.len)
                         : memchr(text.data, '\n', text.len);

    if (line == NULL) {
        return text;
    }

    /* The newline of the head is that of what follows. */
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
tg_exec_spill_put_where(tg_exec_output_t *output, tg_buf_t *text)
{
    const char *key;

    key = tg_spill_keep(&output->spill, output->how.keep.keep_ms);

    if (key == NULL) {
        tg_buf_text(text, "the rest could not be kept");
    } else {
        tg_buf_printf(text,
                      "the tool " TG_EXEC_READER " reads the rest: "
                      "{\"output\":\"%s\"}, with \"line\" and \"lines\", "
                      "\"offset\" and \"bytes\", or a \"pattern\"",
                      key);
    }
}

int
tg_exec_spill_text(tg_exec_output_t *output, tg_buf_t *text)
{
    const tg_spill_t *spill;
    tg_str_t head, tail;
    size_t shown;

    spill = &output->spill;
    shown = output->how.keep.preview != 0 ? output->how.keep.preview
                                          : TG_EXEC_PREVIEW;
    shown = shown < output->how.max_output ? shown : output->how.max_output;
    tg_buf_truncate(&output->out, 0);

    if (tg_buf_reserve(&output->out, shown) != TG_OK) {
        return -1;
    }

    head = tg_str(output->out.data,
                  tg_spill_read(spill, 0, output->out.data, shown / 2));
    tg_utf8_put_lossy(text, tg_exec_lines(head, 1));
    tg_buf_printf(text,
                  "\n[all of it has %llu bytes in %llu %s; this is its "
                  "beginning and its end; ",
                  (unsigned long long) spill->size,
                  (unsigned long long) spill->lines,
                  tg_plural(spill->lines, "line", "lines"));
    tg_exec_spill_tail(output, shown - shown / 2);
    tail = tg_exec_lines(tg_buf_view(&output->out), 0);
    tg_exec_spill_put_where(output, text);
    tg_buf_text(text, "]\n");
    tg_utf8_put_lossy(text, tail);

    return output->spill.is_kept ? 0 : -1;
}
