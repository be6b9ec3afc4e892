/*
 * Checks pages of a large output: a reader that follows the remarks gets all
 * of it, and a pattern finds the lines that match alone.
 *
 * Input: lines and bytes per page, where to begin, in lines or bytes (a byte
 * each); a line with a pattern, which may be empty; the output.
 */
#include "help.h"

#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"
#include "runner/output/tg_output_search.h"
#include "schema/tg_pattern.h"

/* Makes the page in as many time slices as it takes. */
static int
page_run(tg_str_t text, const tg_output_page_query_t *query, tg_buf_t *page,
         tg_buf_t *remark)
{
    tg_output_search_t *search;
    int rc;

    if (query->pattern.data == NULL) {
        tg_output_page_append(text, query, page, remark);
        return TG_OK;
    }

    search = tg_output_search_new(text, query, page, remark);

    if (search == NULL) {
        return TG_INVALID;
    }

    do {
        rc = tg_output_search_run(search);
    } while (rc == TG_AGAIN);

    tg_output_search_free(search);

    return rc;
}

static int
page_get(tg_str_t text, const tg_output_page_query_t *query, tg_buf_t *page,
         tg_buf_t *remark)
{
    int rc;

    tg_buf_truncate(page, 0);
    tg_buf_truncate(remark, 0);
    rc = page_run(text, query, page, remark);
    FUZZ(rc == TG_OK || rc == TG_INVALID);
    FUZZ(tg_utf8_is_valid(tg_buf_view(page)));
    FUZZ_LINE(tg_buf_view(remark));
    FUZZ(remark->len != 0);

    return rc;
}

/* Returns the number after a key of the remark, or 0. */
static int64_t
page_number(const tg_buf_t *remark, const char *key)
{
    const char *at;

    at = memmem(remark->data, remark->len, key, strlen(key));

    return at != NULL ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* Reads all pages to the end, as the remarks say. */
static void
page_read_all(tg_str_t text, tg_output_page_query_t query)
{
    tg_buf_t page = HELP_BUF, remark = HELP_BUF, all = HELP_BUF,
             whole = HELP_BUF;
    int64_t line, offset;

    query.pattern = TG_STR_NONE;
    query.line = 1;
    query.offset = query.offset < 0 ? -1 : 0;

    do {
        FUZZ(page_get(text, &query, &page, &remark) == TG_OK);
        tg_buf_append_str(&all, tg_buf_view(&page));
        line = page_number(&remark, "\"line\": ");
        offset = page_number(&remark, "\"offset\": ");
        FUZZ(line == 0 || line > query.line);
        FUZZ(offset == 0 || offset > query.offset);

        if (offset != 0) {
            query.offset = offset;
        } else {
            query.line = line;
        }
    } while (line != 0 || offset != 0);

    tg_utf8_append_lossy(&whole, text);

    /* Invalid UTF-8 may be cut anywhere and then has more replacements. */
    if (tg_utf8_is_valid(text)) {
        FUZZ_EQ(tg_buf_view(&all), tg_buf_view(&whole));
    }

    tg_buf_deinit(&page);
    tg_buf_deinit(&remark);
    tg_buf_deinit(&all);
    tg_buf_deinit(&whole);
}

/* --- patterns --- */

/* Returns TG_OK, TG_MISSING or TG_LIMIT. */
static int
page_matches(void *code, unsigned weight, tg_str_t line)
{
    const tg_schema_regex_engine_t *regex;
    uint64_t spent;
    HELP_BUFFER(valid);
    int rc;

    regex = tg_pcre2_get_engine();
    tg_utf8_append_lossy(&valid, line);
    weight = weight < valid.len ? weight : (unsigned) valid.len;
    rc = regex->match(regex->ctx, code, tg_buf_view(&valid),
                      TG_OUTPUT_SEARCH_LINE_STEPS
                          / (1 + weight / TG_OUTPUT_SEARCH_CHARS_PER_STEP),
                      &spent);

    return rc;
}

/*
 * Appends the numbers of the matching lines, each with a newline; returns 0 if
 * a line exceeds the step limit.
 */
static int
page_expect(tg_str_t pattern, tg_str_t text, tg_buf_t *numbers)
{
    const tg_schema_regex_engine_t *regex;
    const char *p, *end, *next, *why;
    unsigned weight;
    HELP_BUFFER(source);
    int64_t line;
    void *code;
    int rc;

    regex = tg_pcre2_get_engine();
    FUZZ(tg_pattern_translate(pattern, &source, &weight, &why) == TG_OK);
    FUZZ(regex->compile(regex->ctx, tg_buf_view(&source), &code, &source)
         == TG_OK);
    end = tg_str_end(text);
    rc = TG_MISSING;

    for (p = text.data, line = 1; p < end && rc != TG_LIMIT; p = next + 1) {
        next = memchr(p, '\n', (size_t) (end - p));
        next = next != NULL ? next : end;
        rc = page_matches(code, weight, tg_str(p, (size_t) (next - p)));

        if (rc == TG_OK) {
            tg_buf_printf(numbers, "\n%lld", (long long) line);
        }

        line++;
    }

    regex->free(regex->ctx, code);

    return rc != TG_LIMIT;
}

static void
page_search(tg_str_t text, tg_output_page_query_t query)
{
    tg_buf_t page = HELP_BUF, remark = HELP_BUF, found = HELP_BUF,
             expected = HELP_BUF;
    int64_t n;

    query.line = 1;

    if (page_get(text, &query, &page, &remark) == TG_OK
        && page_expect(query.pattern, text, &expected))
    {
        /* With one line per page, the page begins with the line's number. */
        query.lines = 1;

        do {
            FUZZ(page_get(text, &query, &page, &remark) == TG_OK);
            n = page_number(&remark, "\"line\": ");
            FUZZ(n == 0 || n > query.line);
            query.line = n;

            if (page.len != 0) {
                tg_buf_append_char(&page, '\0');
                tg_buf_printf(&found, "\n%lld", strtoll(page.data, NULL, 10));
            }
        } while (n != 0);

        FUZZ_EQ(tg_buf_view(&found), tg_buf_view(&expected));
    }

    tg_buf_deinit(&page);
    tg_buf_deinit(&remark);
    tg_buf_deinit(&found);
    tg_buf_deinit(&expected);
}

FUZZ_TARGET(in)
{
    tg_output_page_query_t query;
    HELP_BUFFER(page);
    HELP_BUFFER(remark);
    tg_str_t text, line;
    unsigned from;

    memset(&query, 0, sizeof(query));
    query.lines = 1 + fuzz_byte(&in);
    query.bytes = 4 + fuzz_byte(&in);
    from = fuzz_byte(&in);
    query.line = 1 + from / 2;
    query.offset = from & 1 ? (int64_t) (from / 2) : -1;
    line = fuzz_until_newline(&in);
    text = fuzz_rest(&in);
    /* Begins at any offset. */
    FUZZ(page_get(text, &query, &page, &remark) == TG_OK);
    query.pattern = line;

    if (tg_utf8_is_valid(line)) {
        (void) page_get(text, &query, &page, &remark);
    }

    page_read_all(text, query);

    if (line.len != 0 && tg_utf8_is_valid(line)) {
        page_search(text, query);
    }
}
