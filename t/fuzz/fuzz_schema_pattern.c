/*
 * Patterns: translated, compiled and run by PCRE2, within a bound.
 *
 * Input: pattern, newline, text.
 */
#include "help.h"

#include "schema/tg_pattern.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"

#define PATTERN_STEPS 5000

static void
pattern_match(tg_str_t translated, tg_str_t text)
{
    const tg_schema_regex_engine_t *regex;
    uint64_t spent, again;
    tg_buf_t error = HELP_BUF;
    void *compiled;
    int rc;

    regex = tg_pcre2_get_engine();
    rc = regex->compile(regex->ctx, translated, &compiled, &error);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && error.len != 0));
    FUZZ_LINE(tg_buf_view(&error));
    tg_buf_deinit(&error);

    if (rc != TG_OK) {
        return;
    }

    rc = regex->match(regex->ctx, compiled, text, PATTERN_STEPS, &spent);
    FUZZ(rc == TG_OK || rc == TG_MISSING || rc == TG_LIMIT);
    FUZZ(rc == regex->match(regex->ctx, compiled, text, PATTERN_STEPS, &again));
    FUZZ(spent == again);
    regex->free(regex->ctx, compiled);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_str_t pattern, text;
    const char *why;
    unsigned weight;
    fuzz_in_t in;
    tg_buf_t out = HELP_BUF;
    int rc;

    in = fuzz_in(data, size);
    pattern = fuzz_until_newline(&in);
    text = fuzz_rest(&in);

    if (!tg_utf8_is_valid(pattern) || !tg_utf8_is_valid(text)) {
        return 0;
    }

    rc = tg_pattern_translate(pattern, &out, &weight, &why);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && why != NULL && why[0] != '\0'));

    if (rc == TG_OK) {
        FUZZ(tg_utf8_is_valid(tg_buf_view(&out)));
        pattern_match(tg_buf_view(&out), text);
    }

    tg_buf_deinit(&out);

    return 0;
}
