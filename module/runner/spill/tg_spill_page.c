#include "runner/spill/tg_spill_page.h"

#include "base/tg_utf8.h"

#include <regex.h>
#include <stdio.h>
#include <time.h>

#define TG_SPILL_REGEX (REG_EXTENDED | REG_NOSUB)

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
    tg_buf_printf(remark, "[%zu %s from offset %zu on, of %zu",
                  (size_t) (cut - p),
                  tg_plural((size_t) (cut - p), "byte", "bytes"),
                  (size_t) (p - text.data), text.len);

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
        tg_buf_printf(remark, "[there %s %lld %s; this is behind the end]",
                      line == 2 ? "is" : "are", (long long) line - 1,
                      line == 2 ? "line" : "lines");
        return;
    }

    tg_buf_printf(remark, "[line%s %lld", tg_plural((uint64_t) n, "", "s"),
                  (long long) line);

    if (n > 1) {
        tg_buf_printf(remark, " to %lld", (long long) line + n - 1);
    }

    if (p < end) {
        tg_buf_printf(remark, "; it goes on with \"line\": %lld]",
                      (long long) line + n);
    } else {
        tg_buf_text(remark, "; this is the end]");
    }
}

/* --- a pattern --- */

/* The larger number of {n}, {n,} and {n,m}; 1 at least. */
static uint64_t
tg_spill_times(const char *p)
{
    uint64_t most, n;

    for (most = 1, n = 0; (*p >= '0' && *p <= '9') || *p == ','; p++) {
        n = *p == ',' ? 0 : n * 10 + (uint64_t) (*p - '0');
        n = n < TG_SPILL_SIZE_MAX ? n : TG_SPILL_SIZE_MAX;
        most = n > most ? n : most;
    }

    return most;
}

/* Behind the bracket expression at p, or its end where it has none. */
static const char *
tg_spill_brackets(const char *p)
{
    const char *end;
    char close[3];

    p += p[1] == '^' ? 2 : 1;
    p += *p == ']';

    for (/* void */; *p != '\0' && *p != ']'; p++) {
        if (*p == '[' && tg_is_one_of(p[1], ":.=") && p[1] != '\0') {
            close[0] = p[1];
            close[1] = ']';
            close[2] = '\0';
            end = strstr(p + 2, close);
            p = end != NULL ? end + 1 : p;
        }
    }

    return p;
}

/*
 * Alone, such a parenthesis is one for glibc; within ours it would be the end
 * of ours.
 */
static int
tg_spill_is_balanced(const char *p)
{
    int depth;

    for (depth = 0; *p != '\0' && depth >= 0; p++) {
        if (*p == '[') {
            p = tg_spill_brackets(p);
            p -= *p == '\0';
        } else if (*p == '\\' && p[1] != '\0') {
            p++;
        } else {
            depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
        }
    }

    return depth == 0;
}

/*
 * glibc is quick with what has no backreferences, but writes repetitions out:
 * {n} so many times, and + once more, which doubles what is repeated already.
 */
static const char *
tg_spill_pattern_mistake(const char *pattern)
{
    unsigned nbraces;
    uint64_t times;
    const char *p;

    for (p = pattern, nbraces = 0, times = 1; *p != '\0'; p++) {
        if (*p == '\\' && p[1] >= '1' && p[1] <= '9') {
            return "it has a backreference, which is not known here";
        }

        if (*p == '{') {
            nbraces++;
            times *= tg_spill_times(p + 1);
        } else if (*p == '+' && p != pattern && tg_is_one_of(p[-1], ")}+*?")) {
            times *= 2;
        }

        times = times < TG_SPILL_SIZE_MAX ? times : TG_SPILL_SIZE_MAX;
        p += *p == '\\' && p[1] != '\0';
    }

    if (!tg_spill_is_balanced(pattern)) {
        return "its parentheses are not in pairs; write \"\\\\)\" for one of "
               "the text";
    }

    if (p - pattern > TG_SPILL_PATTERN_MAX) {
        return "it is longer than 256 bytes";
    }

    if (nbraces > 1) {
        return "it has more than one {…}; write repetitions out";
    }

    return times > 1 && (uint64_t) (p - pattern) * times > TG_SPILL_SIZE_MAX
               ? "it repeats too much; make it shorter, or repeat less"
               : NULL;
}

/*
 * The pattern is compiled twice: alone, so that it is right by itself, and
 * behind all that may stand before it in a line, so that glibc goes over a
 * line once, not once for each of its bytes.
 */
static int
tg_spill_compile(regex_t *regex, const char *pattern, tg_buf_t *remark)
{
    char room[TG_SPILL_PATTERN_MAX + sizeof("^[^\n]*()")];
    const char *why;
    int rc;

    why = tg_spill_pattern_mistake(pattern);

    if (why == NULL) {
        rc = regcomp(regex, pattern, TG_SPILL_REGEX);

        if (rc == 0) {
            regfree(regex);
            (void) snprintf(room, sizeof(room), "^[^\n]*(%s)", pattern);
            rc = regcomp(regex, room, TG_SPILL_REGEX);
        }

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

/* As of `grep -n`; where it was cut, which is its end if it was not. */
static const char *
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

    return cut;
}

/* A search under way. */
typedef struct {
    const tg_spill_query_t *query;
    tg_buf_t *page;
    tg_buf_t *remark;
    int (*is_stopped)(void *ctx);
    void *ctx;
    regex_t regex;
    uint64_t until;
    size_t looked;   /* bytes, since the clock was asked */
    const char *cut; /* where the last line goes on; NULL: it is whole */
    int64_t n;       /* lines */
} tg_spill_search_t;

/* May the line be searched?  0: it is for the next page. */
static int
tg_spill_may(tg_spill_search_t *search, size_t len)
{
    search->looked += 1 + (len < TG_SPILL_LINE_MAX ? len : TG_SPILL_LINE_MAX);

    if (search->n >= search->query->lines) {
        return 0;
    }

    if (search->looked < TG_SPILL_LOOK) {
        return 1;
    }

    search->looked = 0;

    if (tg_spill_clock() > search->until || search->is_stopped(search->ctx)) {
        return 0;
    }

    /* glibc keeps all states that it has met. */
    regfree(&search->regex);

    return tg_spill_compile(&search->regex, search->query->pattern,
                            search->remark)
           == TG_OK;
}

/* The first line of p..end that is not searched; *line is its number. */
static const char *
tg_spill_search_from(tg_spill_search_t *search, const char *p, const char *end,
                     int64_t *line)
{
    const char *next, *cut;
    size_t room;

    for (; p < end; p = next, ++*line) {
        next = tg_spill_line_end(p, end);

        if (*line < search->query->line) {
            continue;
        }

        if (!tg_spill_may(search, (size_t) (next - p))) {
            break;
        }

        if (!tg_spill_matches(&search->regex, p, next)) {
            continue;
        }

        room = (size_t) search->query->bytes;

        if (search->page->len != 0
            && search->page->len + (size_t) (next - p) > room) {
            break;
        }

        cut = tg_spill_put_match(search->page, *line, p, next, room);
        search->n++;

        /* One alone that is larger than a page. */
        if (cut < next) {
            search->cut = cut;
            ++*line;
            return next;
        }
    }

    return p;
}

static int
tg_spill_search(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
                tg_buf_t *remark, int (*is_stopped)(void *ctx), void *ctx)
{
    tg_spill_search_t search;
    const char *p, *end;
    int64_t line;

    memset(&search, 0, sizeof(search));
    search.query = query;
    search.page = page;
    search.remark = remark;
    search.is_stopped = is_stopped;
    search.ctx = ctx;

    if (tg_spill_compile(&search.regex, query->pattern, remark) != TG_OK) {
        return TG_BAD;
    }

    search.until = tg_spill_clock() + TG_SPILL_SEARCH_MS;
    line = 1;
    end = tg_str_end(text);
    p = tg_spill_search_from(&search, text.data, end, &line);
    regfree(&search.regex);
    tg_buf_printf(remark, "[%lld matching %s", (long long) search.n,
                  tg_plural((uint64_t) search.n, "line", "lines"));

    if (search.cut != NULL) {
        tg_buf_printf(remark,
                      ", the beginning of it; it goes on with \"offset\": %zu",
                      (size_t) (search.cut - text.data));
    }

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
