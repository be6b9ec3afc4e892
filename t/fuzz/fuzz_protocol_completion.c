/*
 * Filters the values of a completion: the result is valid JSON with at most 100
 * values, each of which contains what was typed.
 *
 * Input: kind of the outcome, what was typed, a newline, the outcome.
 */
#include "help.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "protocol/tg_peer_impl.h"

/* Checks whether a text contains another one, without regard to case. */
static int
completion_contains(tg_str_t text, tg_str_t part)
{
    size_t i;

    for (i = 0; i + part.len <= text.len; i++) {
        if (tg_str_eq_nocase(tg_str(text.data + i, part.len), part)) {
            return 1;
        }
    }

    return 0;
}

static void
completion_check(tg_str_t result, tg_str_t typed)
{
    tg_str_t completion, values, value, total, has_more;
    tg_json_cursor_t json;
    HELP_BUFFER(part);
    int64_t n, sent;

    FUZZ(tg_json_validate(result, NULL) == TG_OK);
    FUZZ(tg_json_has_member(result, TG_STR("completion"), TG_JSON_OBJECT,
                            &completion));
    FUZZ(tg_json_has_member(completion, TG_STR("values"), TG_JSON_ARRAY,
                            &values));
    tg_json_append_unescaped(&part, typed);
    sent = 0;

    for (tg_json_iter_init(&json, values); tg_json_iter_next(&json, &value);) {
        HELP_BUFFER(text);

        tg_json_append_unescaped(&text, tg_json_string_body(value));
        FUZZ(completion_contains(tg_buf_view(&text), tg_buf_view(&part)));
        sent++;
    }

    FUZZ(tg_json_get_member(completion, TG_STR("hasMore"), &has_more) == TG_OK);
    FUZZ(sent <= 100);

    if (tg_json_get_member(completion, TG_STR("total"), &total) == TG_OK) {
        FUZZ(tg_json_parse_int64(total, &n) == TG_OK && n >= sent);
        FUZZ((tg_json_type(has_more) == TG_JSON_TRUE) == (n > sent));
    } else {
        FUZZ(tg_json_type(has_more) == TG_JSON_TRUE && sent == 100);
    }
}

FUZZ_TARGET(in)
{
    static const tg_outcome_type_t kinds[] = { TG_OUTCOME_TEXT, TG_OUTCOME_BODY,
                                               TG_OUTCOME_JSON };
    tg_outcome_t outcome;
    HELP_BUFFER(typed);
    HELP_BUFFER(body);
    HELP_BUFFER(out);
    tg_str_t text, value;
    unsigned kind;

    kind = fuzz_byte(&in) % HELP_COUNT(kinds);
    text = fuzz_until_newline(&in);
    value = fuzz_rest(&in);

    if (!tg_utf8_is_valid(text) || !tg_utf8_is_valid(value)) {
        return;
    }

    tg_json_write_escaped(&typed, text);
    tg_json_write_escaped(&body, value);

    if (kinds[kind] == TG_OUTCOME_JSON
        && tg_json_validate(value, NULL) != TG_OK) {
        return;
    }

    outcome = tg_outcome_make(kinds[kind], kinds[kind] == TG_OUTCOME_BODY
                                               ? tg_buf_view(&body)
                                               : value);
    tg_buf_append_char(&out, '{');
    tg_completion_write_values(&out, &outcome, tg_buf_view(&typed));
    tg_buf_append_char(&out, '}');
    completion_check(tg_buf_view(&out), tg_buf_view(&typed));
}
