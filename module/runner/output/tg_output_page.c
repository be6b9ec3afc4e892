/* Finds the lines or bytes of a page and describes the page in a remark. */
#include "runner/output/tg_output_page.h"

#include "base/tg_utf8.h"

const char *
tg_output_find_line_end(const char *p, const char *end)
{
    const char *newline;

    newline = memchr(p, '\n', (size_t) (end - p));

    return newline != NULL ? newline + 1 : end;
}

const char *
tg_output_cut_at_char(const char *p, const char *end, size_t most)
{
    const char *cut;
    int i;

    if ((size_t) (end - p) <= most) {
        return end;
    }

    cut = p + most;

    for (i = 0; i < 3 && cut > p + 1 && (*cut & 0xc0) == 0x80; i++) {
        cut--;
    }

    return cut;
}

static void
tg_output_page_append_bytes(tg_str_t text, const tg_output_page_query_t *query,
                            tg_buf_t *page, tg_buf_t *remark)
{
    const char *p, *end, *cut;

    end = tg_str_end(text);
    p = (uint64_t) query->offset < text.len ? text.data + query->offset : end;
    cut = tg_output_cut_at_char(p, end, (size_t) query->bytes);
    tg_utf8_append_lossy(page, tg_str(p, (size_t) (cut - p)));
    tg_buf_printf(remark, "[%zu %s from offset %zu, of %zu", (size_t) (cut - p),
                  tg_pick_plural((size_t) (cut - p), "byte", "bytes"),
                  (size_t) (p - text.data), text.len);

    if (cut < end) {
        tg_buf_printf(remark, "; continue with \"offset\": %zu]",
                      (size_t) (cut - text.data));
    } else {
        tg_buf_append_cstr(remark, "; end of the output]");
    }
}

static void
tg_output_page_append_lines(tg_str_t text, const tg_output_page_query_t *query,
                            tg_buf_t *page, tg_buf_t *remark)
{
    const char *p, *end, *start, *next;
    int64_t line, n;

    end = tg_str_end(text);
    p = text.data;

    for (line = 1; line < query->line && p < end; line++) {
        p = tg_output_find_line_end(p, end);
    }

    for (start = p, n = 0; p < end && n < query->lines; p = next, n++) {
        next = tg_output_find_line_end(p, end);

        if (next - start > query->bytes) {
            break;
        }
    }

    /* The first line alone is larger than a page. */
    if (n == 0 && p < end && query->lines > 0) {
        next = tg_output_cut_at_char(p, end, (size_t) query->bytes);
        tg_utf8_append_lossy(page, tg_str(p, (size_t) (next - p)));
        tg_buf_printf(remark,
                      "[the beginning of line %lld; continue with "
                      "\"offset\": %zu]",
                      (long long) line, (size_t) (next - text.data));
        return;
    }

    tg_utf8_append_lossy(page, tg_str(start, (size_t) (p - start)));

    if (n == 0) {
        tg_buf_printf(remark, "[there %s %lld %s; this is past the end]",
                      line == 2 ? "is" : "are", (long long) line - 1,
                      line == 2 ? "line" : "lines");
        return;
    }

    tg_buf_printf(remark, "[line%s %lld", tg_pick_plural((uint64_t) n, "", "s"),
                  (long long) line);

    if (n > 1) {
        tg_buf_printf(remark, " to %lld", (long long) line + n - 1);
    }

    if (p < end) {
        tg_buf_printf(remark, "; continue with \"line\": %lld]",
                      (long long) line + n);
    } else {
        tg_buf_append_cstr(remark, "; end of the output]");
    }
}

void
tg_output_page_append(tg_str_t text, const tg_output_page_query_t *query,
                      tg_buf_t *page, tg_buf_t *remark)
{
    if (query->offset >= 0) {
        tg_output_page_append_bytes(text, query, page, remark);
    } else {
        tg_output_page_append_lines(text, query, page, remark);
    }
}
