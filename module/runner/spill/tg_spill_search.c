#include "runner/spill/tg_spill_search.h"

#include "base/tg_utf8.h"
#include "regex/tg_regex.h"
#include "schema/tg_pattern.h"

#include <stdlib.h>
#include <time.h>

struct tg_spill_search_s {
    const tg_spill_query_t *query;
    tg_buf_t *page;
    tg_buf_t *remark;
    const tg_schema_regex_t *regex;
    void *code;
    unsigned weight; /* of the pattern, see tg_pattern.h */

    const char *start; /* of the text */
    const char *p;     /* the next line, and its number */
    const char *end;
    int64_t line;

    const char *rest; /* of the last line found; NULL: it is whole */
    int64_t nfound;   /* lines that match */
    int64_t nlong;    /* lines of which only the beginning was searched */
    int is_long;      /* the line that is searched is one of those */
    tg_buf_t valid;   /* the text of a line that is not valid UTF-8 */

    size_t looked;       /* bytes and steps, since the clock was read */
    uint64_t began_at;   /* the first time slice; 0: none yet */
    uint64_t spent_ms;   /* in earlier time slices */
    uint64_t slice_from; /* this time slice */
    int is_first;        /* it is the first one */
};

static uint64_t
tg_spill_clock(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* --- the pattern --- */

/* TG_BAD: why says what is wrong with it. */
static int
tg_spill_search_compile(tg_spill_search_t *search, tg_buf_t *why)
{
    tg_str_t pattern;
    const char *text;
    tg_buf_t code;
    int rc;

    pattern = search->query->pattern;

    if (pattern.len > TG_SPILL_PATTERN_MAX) {
        tg_buf_text(why, "it is longer than 256 bytes");
        return TG_BAD;
    }

    tg_buf_init(&code, tg_alloc_libc());
    rc = tg_pattern_translate(pattern, &code, &search->weight, &text);

    if (rc == TG_BAD) {
        tg_buf_text(why, text);
    } else if (rc == TG_OK) {
        rc = search->regex->compile(search->regex->ctx, tg_buf_view(&code),
                                    &search->code, why);
    }

    tg_buf_deinit(&code);

    return rc;
}

tg_spill_search_t *
tg_spill_search_new(tg_str_t text, const tg_spill_query_t *query,
                    tg_buf_t *page, tg_buf_t *remark)
{
    tg_spill_search_t *search;
    tg_buf_t why;
    int rc;

    search = calloc(1, sizeof(*search));

    if (search == NULL) {
        return NULL;
    }

    search->query = query;
    search->page = page;
    search->remark = remark;
    search->regex = tg_regex_pcre2();
    search->start = text.data;
    search->p = text.data;
    search->end = tg_str_end(text);
    search->line = 1;
    search->is_first = 1;
    tg_buf_init(&search->valid, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_spill_search_compile(search, &why);

    if (rc == TG_BAD) {
        tg_buf_printf(remark,
                      "\"pattern\" is not a regular expression (of ECMA-262, "
                      "as in JSON Schema): %.*s.",
                      (int) why.len, why.data);
    }

    tg_buf_deinit(&why);

    if (rc != TG_OK) {
        tg_spill_search_free(search);
        return NULL;
    }

    return search;
}

void
tg_spill_search_free(tg_spill_search_t *search)
{
    search->regex->free(search->regex->ctx, search->code);
    tg_buf_deinit(&search->valid);
    free(search);
}

/* --- a line --- */

/* The text of the line up to next, as the pattern is to see it. */
static tg_str_t
tg_spill_search_text(tg_spill_search_t *search, const char *next)
{
    const char *end, *cut;
    tg_str_t text;

    end = next > search->p && next[-1] == '\n' ? next - 1 : next;
    cut = tg_spill_cut(search->p, end, TG_SPILL_LINE_MAX);
    search->is_long = cut < end;
    text = tg_str(search->p, (size_t) (cut - search->p));

    if (!tg_utf8_is_valid(text)) {
        tg_buf_truncate(&search->valid, 0);
        tg_utf8_put_lossy(&search->valid, text);
        text = tg_buf_view(&search->valid);
    }

    return text;
}

/*
 * TG_OK if the line up to next has a match, TG_MISSING, TG_LIMIT, TG_NOMEM;
 * TG_AGAIN: not in the first time slice.
 */
static int
tg_spill_search_match(tg_spill_search_t *search, const char *next)
{
    uint64_t spent, weight, steps;
    tg_str_t text;
    int rc;

    text = tg_spill_search_text(search, next);

    if (tg_buf_failed(&search->valid)) {
        return TG_NOMEM;
    }

    spent = 0;
    weight = search->weight < text.len ? search->weight : text.len;
    weight = 1 + weight / TG_SPILL_RUN;
    steps = search->is_first ? TG_SPILL_FIRST_STEPS : TG_SPILL_STEPS;
    rc = search->regex->match(search->regex->ctx, search->code, text,
                              steps / weight, &spent);
    search->looked += text.len + spent * weight;

    return rc == TG_LIMIT && search->is_first ? TG_AGAIN : rc;
}

/* Ends the page before a line that takes too long. */
static int
tg_spill_search_limit(tg_spill_search_t *search)
{
    if (search->nfound != 0) {
        return TG_END;
    }

    tg_buf_printf(search->remark,
                  "\"pattern\" takes too many steps on line %lld, and no line "
                  "before it matches. Make the pattern simpler, without a "
                  "repetition of a repetition, or search behind that line with "
                  "\"line\": %lld.",
                  (long long) search->line, (long long) search->line + 1);

    return TG_BAD;
}

/*
 * Appends the line up to next as `grep -n` does.  TG_END: it is larger than a
 * page, or than what is left of this one.
 */
static int
tg_spill_search_append(tg_spill_search_t *search, const char *next)
{
    tg_buf_t *page;
    const char *cut;
    size_t most;

    page = search->page;
    most = (size_t) search->query->bytes;

    if (page->len != 0 && page->len + (size_t) (next - search->p) > most) {
        return TG_END;
    }

    tg_buf_printf(page, "%lld:", (long long) search->line);
    cut = tg_spill_cut(search->p, next, most);
    tg_utf8_put_lossy(page, tg_str(search->p, (size_t) (cut - search->p)));

    if (cut < next || cut == search->p || cut[-1] != '\n') {
        tg_buf_char(page, '\n');
    }

    search->nfound++;
    search->rest = cut < next ? cut : NULL;

    return TG_OK;
}

/*
 * Searches the next line.  TG_OK; TG_END: the page ends; TG_AGAIN: not in this
 * time slice; TG_BAD, TG_NOMEM.
 */
static int
tg_spill_search_line(tg_spill_search_t *search)
{
    const char *next;
    int rc;

    if (search->rest != NULL || search->nfound >= search->query->lines) {
        return TG_END;
    }

    next = tg_spill_line_end(search->p, search->end);
    rc = TG_MISSING;

    if (search->line < search->query->line) {
        search->looked += 1 + (size_t) (next - search->p) / TG_SPILL_RUN;
    } else {
        rc = tg_spill_search_match(search, next);
    }

    if (rc == TG_LIMIT) {
        return tg_spill_search_limit(search);
    }

    if (rc == TG_OK) {
        rc = tg_spill_search_append(search, next);
    }

    if (rc != TG_OK && rc != TG_MISSING) {
        return rc;
    }

    search->nlong += search->is_long;
    search->is_long = 0;
    search->p = next;
    search->line++;

    return TG_OK;
}

/* --- the page --- */

/* TG_OK; TG_AGAIN: the time slice is over; TG_END: that of the page. */
static int
tg_spill_search_time(tg_spill_search_t *search)
{
    uint64_t now, slice, most;

    if (search->looked < TG_SPILL_LOOK) {
        return TG_OK;
    }

    search->looked = 0;
    now = tg_spill_clock();
    slice = now - search->slice_from;

    /* A page that was asked for has a line at least. */
    if (search->line > search->query->line
        && (search->spent_ms + slice >= TG_SPILL_SEARCH_MS
            || now - search->began_at >= TG_SPILL_WAIT_MS))
    {
        return TG_END;
    }

    most = search->is_first ? TG_SPILL_FIRST_MS : TG_SPILL_SLICE_MS;

    if (slice < most) {
        return TG_OK;
    }

    search->spent_ms += slice;

    return TG_AGAIN;
}

static void
tg_spill_search_remark(const tg_spill_search_t *search)
{
    tg_buf_t *remark;

    remark = search->remark;
    tg_buf_printf(remark, "[%lld matching %s", (long long) search->nfound,
                  tg_plural((uint64_t) search->nfound, "line", "lines"));

    if (search->rest != NULL) {
        tg_buf_printf(remark,
                      ", the beginning of it; it goes on with \"offset\": %zu",
                      (size_t) (search->rest - search->start));
    }

    if (search->nlong != 0) {
        tg_buf_printf(remark,
                      "; of %lld %s only the first %d bytes were "
                      "searched",
                      (long long) search->nlong,
                      tg_plural((uint64_t) search->nlong, "line", "lines"),
                      TG_SPILL_LINE_MAX);
    }

    if (search->p < search->end) {
        tg_buf_printf(remark, "; the search goes on with \"line\": %lld]",
                      (long long) search->line);
    } else {
        tg_buf_text(remark, "; there are no more]");
    }
}

int
tg_spill_search_run(tg_spill_search_t *search)
{
    int rc;

    search->slice_from = tg_spill_clock();

    if (search->began_at == 0) {
        search->began_at = search->slice_from;
    }

    for (rc = TG_OK; rc == TG_OK && search->p < search->end; /* void */) {
        rc = tg_spill_search_line(search);

        if (rc == TG_OK) {
            rc = tg_spill_search_time(search);
        }
    }

    search->is_first = 0;

    if (rc != TG_OK && rc != TG_END) {
        return rc;
    }

    tg_spill_search_remark(search);

    return TG_OK;
}
