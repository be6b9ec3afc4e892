/* Searches a large output by lines, in slices of limited cost. */
#include "runner/output/tg_output_search.h"

#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"
#include "schema/tg_pattern.h"

#include <stdlib.h>
#include <time.h>

struct tg_output_search_s {
    const tg_output_page_query_t *query;
    tg_buf_t *page;
    tg_buf_t *remark;
    const tg_schema_regex_engine_t *regex;
    void *code;
    unsigned weight; /* weight of the pattern, see tg_pattern.h */

    const char *start; /* beginning of the searched text */
    const char *p;     /* beginning of the next line */
    const char *end;
    int64_t line;

    /* End of the part of the last match that fitted, or NULL. */
    const char *cut_at;

    int64_t nfound;     /* number of matching lines */
    int64_t ntruncated; /* number of lines searched only in part */
    int is_truncated;   /* the current line is searched only in part */
    tg_buf_t valid;     /* current line after replacing invalid UTF-8 */

    size_t work_since_clock;   /* bytes and steps since the clock was read */
    uint64_t began_at;         /* start of the first time slice; 0: none yet */
    uint64_t spent_ms;         /* run time of earlier time slices */
    uint64_t slice_started_at; /* start of this time slice */
    int is_first;              /* this is the first time slice */
};

static uint64_t
tg_output_search_clock_ms(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* --- pattern --- */

/* Compiles the pattern. TG_INVALID: the reason is in `why`; or TG_NOMEM. */
static int
tg_output_search_compile(tg_output_search_t *search, tg_buf_t *why)
{
    tg_str_t pattern;
    const char *text;
    tg_buf_t code;
    int rc;

    pattern = search->query->pattern;

    if (pattern.len > TG_OUTPUT_SEARCH_PATTERN_MAX) {
        tg_buf_append_cstr(why, "it is longer than 256 bytes");
        return TG_INVALID;
    }

    tg_buf_init(&code, tg_alloc_libc());
    rc = tg_pattern_translate(pattern, &code, &search->weight, &text);

    if (rc == TG_INVALID) {
        tg_buf_append_cstr(why, text);
    } else if (rc == TG_OK) {
        rc = search->regex->compile(search->regex->ctx, tg_buf_view(&code),
                                    &search->code, why);
    }

    tg_buf_deinit(&code);

    return rc;
}

tg_output_search_t *
tg_output_search_new(tg_str_t text, const tg_output_page_query_t *query,
                     tg_buf_t *page, tg_buf_t *remark)
{
    tg_output_search_t *search;
    tg_buf_t why;
    int rc;

    search = calloc(1, sizeof(*search));

    if (search == NULL) {
        return NULL;
    }

    search->query = query;
    search->page = page;
    search->remark = remark;
    search->regex = tg_pcre2_get_engine();
    search->start = text.data;
    search->p = text.data;
    search->end = tg_str_end(text);
    search->line = 1;
    search->is_first = 1;
    tg_buf_init(&search->valid, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_output_search_compile(search, &why);

    if (rc == TG_INVALID) {
        tg_buf_printf(remark,
                      "\"pattern\" is not a valid regular expression "
                      "(ECMA-262, as in JSON Schema): %.*s.",
                      (int) why.len, why.data);
    }

    tg_buf_deinit(&why);

    if (rc != TG_OK) {
        tg_output_search_free(search);
        return NULL;
    }

    return search;
}

void
tg_output_search_free(tg_output_search_t *search)
{
    search->regex->free(search->regex->ctx, search->code);
    tg_buf_deinit(&search->valid);
    free(search);
}

/* --- lines --- */

/* Returns a line as UTF-8, at most TG_OUTPUT_SEARCH_LINE_MAX bytes. */
static tg_str_t
tg_output_search_get_line(tg_output_search_t *search, const char *next)
{
    const char *end, *cut;
    tg_str_t text;

    end = next > search->p && next[-1] == '\n' ? next - 1 : next;
    cut = tg_output_cut_at_char(search->p, end, TG_OUTPUT_SEARCH_LINE_MAX);
    search->is_truncated = cut < end;
    text = tg_str(search->p, (size_t) (cut - search->p));

    if (!tg_utf8_is_valid(text)) {
        tg_buf_truncate(&search->valid, 0);
        tg_utf8_append_lossy(&search->valid, text);
        text = tg_buf_view(&search->valid);
    }

    return text;
}

/*
 * Matches the line that ends at `next`. Returns TG_OK; TG_MISSING: no match;
 * TG_LIMIT: too many steps; TG_AGAIN: too many for the first slice; TG_NOMEM.
 */
static int
tg_output_search_match_line(tg_output_search_t *search, const char *next)
{
    uint64_t spent, weight, steps;
    tg_str_t text;
    int rc;

    text = tg_output_search_get_line(search, next);

    if (tg_buf_has_failed(&search->valid)) {
        return TG_NOMEM;
    }

    spent = 0;
    weight = search->weight < text.len ? search->weight : text.len;
    weight = 1 + weight / TG_OUTPUT_SEARCH_CHARS_PER_STEP;
    steps = search->is_first ? TG_OUTPUT_SEARCH_FIRST_STEPS
                             : TG_OUTPUT_SEARCH_LINE_STEPS;
    rc = search->regex->match(search->regex->ctx, search->code, text,
                              steps / weight, &spent);
    search->work_since_clock += text.len + spent * weight;

    return rc == TG_LIMIT && search->is_first ? TG_AGAIN : rc;
}

/* Ends the page before a line with too many steps, or fails an empty page. */
static int
tg_output_search_fail_steps(tg_output_search_t *search)
{
    if (search->nfound != 0) {
        return TG_END;
    }

    tg_buf_printf(search->remark,
                  "\"pattern\" takes too many steps on line %lld, and no "
                  "line before it matches. Make the pattern simpler, without "
                  "nested repetition, or search after that line with "
                  "\"line\": %lld.",
                  (long long) search->line, (long long) search->line + 1);

    return TG_INVALID;
}

/*
 * Appends a line like `grep -n`. TG_END: it exceeds the rest of the page; a too
 * large first line is cut.
 */
static int
tg_output_search_append_line(tg_output_search_t *search, const char *next)
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
    cut = tg_output_cut_at_char(search->p, next, most);
    tg_utf8_append_lossy(page, tg_str(search->p, (size_t) (cut - search->p)));

    if (cut < next || cut == search->p || cut[-1] != '\n') {
        tg_buf_append_char(page, '\n');
    }

    search->nfound++;
    search->cut_at = cut < next ? cut : NULL;

    return TG_OK;
}

/* Searches the next line. TG_END: the page is full; TG_AGAIN: needs a slice. */
static int
tg_output_search_next_line(tg_output_search_t *search)
{
    const char *next;
    int rc;

    if (search->cut_at != NULL || search->nfound >= search->query->lines) {
        return TG_END;
    }

    next = tg_output_find_line_end(search->p, search->end);
    rc = TG_MISSING;

    if (search->line < search->query->line) {
        search->work_since_clock += 1
                                    + (size_t) (next - search->p)
                                          / TG_OUTPUT_SEARCH_CHARS_PER_STEP;
    } else {
        rc = tg_output_search_match_line(search, next);
    }

    if (rc == TG_LIMIT) {
        return tg_output_search_fail_steps(search);
    }

    if (rc == TG_OK) {
        rc = tg_output_search_append_line(search, next);
    }

    if (rc != TG_OK && rc != TG_MISSING) {
        return rc;
    }

    search->ntruncated += search->is_truncated;
    search->is_truncated = 0;
    search->p = next;
    search->line++;

    return TG_OK;
}

/* --- page --- */

/* Checks the time: TG_OK, TG_AGAIN: the slice is over, TG_END: the page is. */
static int
tg_output_search_check_time(tg_output_search_t *search)
{
    uint64_t now, slice, most;

    if (search->work_since_clock < TG_OUTPUT_SEARCH_CLOCK_BYTES) {
        return TG_OK;
    }

    search->work_since_clock = 0;
    now = tg_output_search_clock_ms();
    slice = now - search->slice_started_at;

    /* A page covers at least one line of the requested range. */
    if (search->line > search->query->line
        && (search->spent_ms + slice >= TG_OUTPUT_SEARCH_TOTAL_MS
            || now - search->began_at >= TG_OUTPUT_SEARCH_ELAPSED_MS))
    {
        return TG_END;
    }

    most = search->is_first ? TG_OUTPUT_SEARCH_FIRST_MS
                            : TG_OUTPUT_SEARCH_SLICE_MS;

    if (slice < most) {
        return TG_OK;
    }

    search->spent_ms += slice;

    return TG_AGAIN;
}

static void
tg_output_search_append_remark(const tg_output_search_t *search)
{
    tg_buf_t *remark;

    remark = search->remark;
    tg_buf_printf(remark, "[%lld matching %s", (long long) search->nfound,
                  tg_pick_plural((uint64_t) search->nfound, "line", "lines"));

    if (search->cut_at != NULL) {
        tg_buf_printf(remark, ", cut here; continue with \"offset\": %zu",
                      (size_t) (search->cut_at - search->start));
    }

    if (search->ntruncated != 0) {
        tg_buf_printf(remark,
                      "; of %lld %s only the first %d bytes were "
                      "searched",
                      (long long) search->ntruncated,
                      tg_pick_plural((uint64_t) search->ntruncated, "line",
                                     "lines"),
                      TG_OUTPUT_SEARCH_LINE_MAX);
    }

    if (search->p < search->end) {
        tg_buf_printf(remark, "; continue the search with \"line\": %lld]",
                      (long long) search->line);
    } else {
        tg_buf_append_cstr(remark, "; no more matches]");
    }
}

int
tg_output_search_run(tg_output_search_t *search)
{
    int rc;

    search->slice_started_at = tg_output_search_clock_ms();

    if (search->began_at == 0) {
        search->began_at = search->slice_started_at;
    }

    for (rc = TG_OK; rc == TG_OK && search->p < search->end; /* void */) {
        rc = tg_output_search_next_line(search);

        if (rc == TG_OK) {
            rc = tg_output_search_check_time(search);
        }
    }

    search->is_first = 0;

    if (rc != TG_OK && rc != TG_END) {
        return rc;
    }

    tg_output_search_append_remark(search);

    return TG_OK;
}
