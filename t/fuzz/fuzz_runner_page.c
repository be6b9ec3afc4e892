/*
 * Pages of a large output: whoever follows what each says has all of it, and
 * a pattern finds the lines that it finds in each line alone.
 *
 * Input: how many lines and bytes a page has, where to begin, as lines or
 * bytes (a byte each); a line with a pattern, which may be empty; the output.
 */
#include "help.h"

#include "base/tg_utf8.h"
#include "runner/spill/tg_spill_page.h"

#include <regex.h>
#include <stdlib.h>

static int
page_goes_on(void *ctx)
{
    return 0;
}

static int
page_get(tg_str_t text, const tg_spill_query_t *query, tg_buf_t *page,
         tg_buf_t *remark)
{
    int rc;

    tg_buf_truncate(page, 0);
    tg_buf_truncate(remark, 0);
    rc = tg_spill_page(text, query, page, remark, page_goes_on, NULL);
    FUZZ(rc == TG_OK || rc == TG_BAD);
    FUZZ(tg_utf8_is_valid(tg_buf_view(page)));
    FUZZ_LINE(tg_buf_view(remark));
    FUZZ(remark->len != 0);

    return rc;
}

/* The number behind a key of the remark, or 0. */
static int64_t
page_number(const tg_buf_t *remark, const char *key)
{
    const char *at;

    at = memmem(remark->data, remark->len, key, strlen(key));

    return at != NULL ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* Page by page to the end, as the remarks say. */
static void
page_all(tg_str_t text, tg_spill_query_t query)
{
    tg_buf_t page, remark, all, whole;
    int64_t line, offset;

    tg_buf_init(&page, tg_alloc_libc());
    tg_buf_init(&remark, tg_alloc_libc());
    tg_buf_init(&all, tg_alloc_libc());
    tg_buf_init(&whole, tg_alloc_libc());
    query.pattern = NULL;
    query.line = 1;
    query.offset = query.offset < 0 ? -1 : 0;

    do {
        FUZZ(page_get(text, &query, &page, &remark) == TG_OK);
        tg_buf_str(&all, tg_buf_view(&page));
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

    tg_utf8_put_lossy(&whole, text);

    /* What is none may be cut anywhere, and then is more of nothing. */
    if (tg_utf8_is_valid(text)) {
        FUZZ_EQ(tg_buf_view(&all), tg_buf_view(&whole));
    }

    tg_buf_deinit(&page);
    tg_buf_deinit(&remark);
    tg_buf_deinit(&all);
    tg_buf_deinit(&whole);
}

/* --- patterns --- */

static int
page_matches(const regex_t *regex, tg_str_t line)
{
    regmatch_t range;

    range.rm_so = 0;
    range.rm_eo = (regoff_t) line.len;

    return regexec(regex, line.data, 1, &range, REG_STARTEND) == 0;
}

/* The numbers of the lines that are found, each behind a newline. */
static void
page_expect(const regex_t *regex, tg_str_t text, tg_buf_t *numbers)
{
    const char *p, *end, *next;
    int64_t line;

    end = tg_str_end(text);

    for (p = text.data, line = 1; p < end; p = next + 1, line++) {
        next = memchr(p, '\n', (size_t) (end - p));
        next = next != NULL ? next : end;

        if (page_matches(regex, tg_str(p, (size_t) (next - p)))) {
            tg_buf_printf(numbers, "\n%lld", (long long) line);
        }
    }
}

static void
page_search(tg_str_t text, tg_spill_query_t query)
{
    tg_buf_t page, remark, found, expected;
    regex_t regex;
    int64_t n;

    tg_buf_init(&page, tg_alloc_libc());
    tg_buf_init(&remark, tg_alloc_libc());
    tg_buf_init(&found, tg_alloc_libc());
    tg_buf_init(&expected, tg_alloc_libc());
    query.line = 1;

    if (page_get(text, &query, &page, &remark) == TG_OK) {
        FUZZ(regcomp(&regex, query.pattern, REG_EXTENDED | REG_NOSUB) == 0);
        page_expect(&regex, text, &expected);
        regfree(&regex);

        /* A line a page: its number is what the page begins with. */
        query.lines = 1;

        do {
            FUZZ(page_get(text, &query, &page, &remark) == TG_OK);
            n = page_number(&remark, "\"line\": ");
            FUZZ(n == 0 || n > query.line);
            query.line = n;

            if (page.len != 0) {
                tg_buf_char(&page, '\0');
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_spill_query_t query;
    tg_buf_t page, remark;
    tg_str_t text, line;
    char *pattern, *copy;
    fuzz_in_t in;
    unsigned from;

    in = fuzz_in(data, size);
    memset(&query, 0, sizeof(query));
    query.lines = 1 + fuzz_byte(&in);
    query.bytes = 4 + fuzz_byte(&in);
    from = fuzz_byte(&in);
    query.line = 1 + from / 2;
    query.offset = from & 1 ? (int64_t) (from / 2) : -1;
    line = fuzz_until_newline(&in);
    text = fuzz_rest(&in);
    pattern = strndup(line.data != NULL ? line.data : "", line.len);
    /* The sanitizer's regexec() wants an end that ours does not need. */
    copy = calloc(1, text.len + 1);
    memcpy(copy, text.len != 0 ? text.data : "", text.len);
    text = tg_str(copy, text.len);

    /* From anywhere. */
    tg_buf_init(&page, tg_alloc_libc());
    tg_buf_init(&remark, tg_alloc_libc());
    FUZZ(page_get(text, &query, &page, &remark) == TG_OK);
    query.pattern = pattern;
    (void) page_get(text, &query, &page, &remark);
    tg_buf_deinit(&page);
    tg_buf_deinit(&remark);

    page_all(text, query);

    if (pattern[0] != '\0') {
        page_search(text, query);
    }

    free(copy);
    free(pattern);

    return 0;
}
