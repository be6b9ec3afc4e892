#include "runner/spill/tg_spill_page.h"

#include "base/tg_utf8.h"

#include <regex.h>
#include <time.h>

/* Up to the end of the line at p, its newline included. */
static const char *
tg_spill_line_end(const char *p, const char *end)
{
    const char *newline;

    newline = memchr(p, '\n', (size_t) (end - p));

    return newline != NULL ? newline + 1 : end;
}

/* The end of what fits, not within a character. */
static const char *
tg_spill_cut(const char *p, const char *end, size_t most)
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

static uint64_t
tg_spill_clock(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

static void
tg_spill_bytes(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
               tg_buf_t *remark)
{
    const char *p, *end, *cut;

    end = tg_str_end(text);
    p = (uint64_t) query->offset < text.len ? text.data + query->offset : end;
    cut = tg_spill_cut(p, end, (size_t) query->bytes);
    tg_utf8_put_lossy(page, tg_str(p, (size_t) (cut - p)));
    tg_buf_printf(remark, "[%zu bytes from offset %zu on, of %zu",
                  (size_t) (cut - p), (size_t) (p - text.data), text.len);

    if (cut < end) {
        tg_buf_printf(remark, "; it goes on with \"offset\": %zu]",
                      (size_t) (cut - text.data));
    } else {
        tg_buf_text(remark, "; this is the end]");
    }
}

static void
tg_spill_lines(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
               tg_buf_t *remark)
{
    const char *p, *end, *start, *next;
    int64_t line, n;

    end = tg_str_end(text);
    p = text.data;

    for (line = 1; line < query->line && p < end; line++) {
        p = tg_spill_line_end(p, end);
    }

    for (start = p, n = 0; p < end && n < query->lines; p = next, n++) {
        next = tg_spill_line_end(p, end);

        if (next - start > query->bytes) {
            break;
        }
    }

    /* One line alone that is larger than a page. */
    if (n == 0 && p < end && query->lines > 0) {
        next = tg_spill_cut(p, end, (size_t) query->bytes);
        tg_utf8_put_lossy(page, tg_str(p, (size_t) (next - p)));
        tg_buf_printf(remark,
                      "[the beginning of line %lld; it goes on with "
                      "\"offset\": %zu]",
                      (long long) line, (size_t) (next - text.data));
        return;
    }

    tg_utf8_put_lossy(page, tg_str(start, (size_t) (p - start)));

    if (n == 0) {
        tg_buf_printf(remark, "[there are %lld lines; this is behind the end]",
                      (long long) line - 1);
    } else if (p < end) {
        tg_buf_printf(remark,
                      "[lines %lld to %lld; it goes on with \"line\": %lld]",
                      (long long) line, (long long) (line + n - 1),
                      (long long) (line + n));
    } else {
        tg_buf_printf(remark, "[lines %lld to %lld; this is the end]",
                      (long long) line, (long long) (line + n - 1));
    }
}

/* --- a pattern --- */

/*
 * glibc is quick with what has no backreferences, and needs much memory for
 * repetitions of repetitions.
 */
static const char *
tg_spill_pattern_mistake(const char *pattern)
{
    unsigned nbraces;
    const char *p;

    for (p = pattern, nbraces = 0; *p != '\0'; p++) {
        nbraces += *p == '{';

        if (*p == '\\' && p[1] >= '1' && p[1] <= '9') {
            return "it has a backreference, which is not known here";
        }

        p += *p == '\\' && p[1] != '\0';
    }

    if (p - pattern > TG_SPILL_PATTERN_MAX) {
        return "it is longer than 256 bytes";
    }

    return nbraces > 1 ? "it has more than one {…}; write repetitions out"
                       : NULL;
}

static int
tg_spill_compile(regex_t *regex, const char *pattern, tg_buf_t *remark)
{
    const char *why;
    char room[128];
    int rc;

    why = tg_spill_pattern_mistake(pattern);

    if (why == NULL) {
        rc = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);

        if (rc == 0) {
            return TG_OK;
        }

        (void) regerror(rc, regex, room, sizeof(room));
        why = room;
    }

    tg_buf_printf(remark,
                  "\"pattern\" is no regular expression (POSIX, "
                  "extended): %s.",
                  why);

    return TG_BAD;
}

static int
tg_spill_matches(const regex_t *regex, const char *p, const char *next)
{
    regmatch_t range;
    size_t len;

    len = (size_t) (next - p);
    len -= len != 0 && next[-1] == '\n';
    range.rm_so = 0;
    range.rm_eo = (regoff_t) (len < TG_SPILL_LINE_MAX ? len
                                                      : TG_SPILL_LINE_MAX);

    return regexec(regex, p, 1, &range, REG_STARTEND) == 0;
}

/* As of `grep -n`. */
static void
tg_spill_put_match(tg_buf_t *page, int64_t line, const char *p,
                   const char *next, size_t most)
{
    const char *cut;

    tg_buf_printf(page, "%lld:", (long long) line);
    cut = tg_spill_cut(p, next, most);
    tg_utf8_put_lossy(page, tg_str(p, (size_t) (cut - p)));

    if (cut < next || cut == p || cut[-1] != '\n') {
        tg_buf_char(page, '\n');
    }
}

static int
tg_spill_search(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
                tg_buf_t *remark, int (*is_stopped)(void *ctx), void *ctx)
{
    const char *p, *end, *next;
    int64_t line, n;
    uint64_t until;
    regex_t regex;

    if (tg_spill_compile(&regex, query->pattern, remark) != TG_OK) {
        return TG_BAD;
    }

    end = tg_str_end(text);
    until = tg_spill_clock() + TG_SPILL_SEARCH_MS;

    for (p = text.data, line = 1, n = 0; p < end; p = next, line++) {
        next = tg_spill_line_end(p, end);

        if (line < query->line) {
            continue;
        }

        if (n >= query->lines || page->len >= (size_t) query->bytes
            || (line % 256 == 0
                && (tg_spill_clock() > until || is_stopped(ctx))))
        {
            break;
        }

        if (tg_spill_matches(&regex, p, next)) {
            tg_spill_put_match(page, line, p, next,
                               (size_t) query->bytes - page->len);
            n++;
        }
    }

    regfree(&regex);
    tg_buf_printf(remark, "[%lld matching lines", (long long) n);

    if (p < end) {
        tg_buf_printf(remark, "; the search goes on with \"line\": %lld]",
                      (long long) line);
    } else {
        tg_buf_text(remark, "; there are no more]");
    }

    return TG_OK;
}

int
tg_spill_page(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
              tg_buf_t *remark, int (*is_stopped)(void *ctx), void *ctx)
{
    if (query->pattern != NULL) {
        return tg_spill_search(text, query, page, remark, is_stopped, ctx);
    }

    if (query->offset >= 0) {
        tg_spill_bytes(text, query, page, remark);
    } else {
        tg_spill_lines(text, query, page, remark);
    }

    return TG_OK;
}
