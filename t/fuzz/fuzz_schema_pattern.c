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
    HELP_BUFFER(error);
    void *compiled;
    int rc;

    regex = tg_pcre2_get_engine();
    rc = regex->compile(regex->ctx, translated, &compiled, &error);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && error.len != 0));
    FUZZ_LINE(tg_buf_view(&error));

    if (rc != TG_OK) {
        return;
    }

    rc = regex->match(regex->ctx, compiled, text, PATTERN_STEPS, &spent);
    FUZZ(rc == TG_OK || rc == TG_MISSING || rc == TG_LIMIT);
    FUZZ(rc == regex->match(regex->ctx, compiled, text, PATTERN_STEPS, &again));
    FUZZ(spent == again);
    regex->free(regex->ctx, compiled);
}

FUZZ_TARGET(in)
{
    tg_str_t pattern, text;
    const char *why;
    unsigned weight;
    HELP_BUFFER(out);
    int rc;

    pattern = fuzz_until_newline(&in);
    text = fuzz_rest(&in);

    if (!tg_utf8_is_valid(pattern) || !tg_utf8_is_valid(text)) {
        return;
    }

    rc = tg_pattern_translate(pattern, &out, &weight, &why);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && why != NULL && why[0] != '\0'));

    if (rc == TG_OK) {
        FUZZ(tg_utf8_is_valid(tg_buf_view(&out)));
        pattern_match(tg_buf_view(&out), text);
    }
}
