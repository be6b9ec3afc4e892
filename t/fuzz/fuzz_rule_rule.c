/*
 * Checks rules as JSON: the result is a rule or a one-line error. A rule is
 * written as JSON that makes the same rule again; its output for an event is
 * within its bounds.
 *
 * Input: a byte (128: the allocation that fails), the rule, newline, an event.
 */
#include "help.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"
#include "rule/tg_rule.h"

static void
rule_use(const tg_rule_t *rule, tg_str_t event)
{
    HELP_BUFFER(json);
    int rc;

    tg_buf_append_char(&json, '{');
    tg_rule_write_json(&json, rule);
    tg_buf_append_char(&json, '}');
    FUZZ(tg_json_validate(tg_buf_view(&json), NULL) == TG_OK);
    FUZZ(rule->id.len != 0 && rule->id.len <= TG_RULE_ID_MAX);
    FUZZ(rule->nconditions <= TG_RULE_CONDITIONS_MAX);
    FUZZ(rule->nglobs <= TG_RULE_GLOBS_MAX);
    FUZZ(rule->cooldown_ms >= 0);
    (void) tg_rule_match_file(rule, TG_STR("src/main.c"));

    if (tg_json_type(event) != TG_JSON_OBJECT
        || tg_json_validate(event, NULL) != TG_OK)
    {
        return;
    }

    rc = tg_rule_match_event(rule, event);
    FUZZ(rc == TG_OK || rc == TG_MISSING || rc == TG_LIMIT);
    FUZZ(rule->trigger == TG_TRIGGER_EVENT || rc == TG_MISSING);
    rc = tg_rule_check_conditions(rule, event);
    FUZZ(rc == TG_OK || rc == TG_MISSING || rc == TG_LIMIT);
    FUZZ(rule->nconditions != 0 || rc == TG_OK);
    FUZZ(rc == tg_rule_check_conditions(rule, event));
}

static int
rule_read(const tg_alloc_t *alloc, tg_str_t raw, tg_str_t event)
{
    tg_rule_t *rule;
    HELP_BUFFER(why);
    char *copy;
    int rc;

    rule = NULL;
    copy = help_copy(raw);
    rc = tg_rule_parse(alloc, tg_str(copy, raw.len), tg_pcre2_get_engine(),
                       &rule, &why);
    free(copy);

    if (rc == TG_OK) {
        rule_use(rule, event);
    } else {
        FUZZ(rule == NULL);
        FUZZ(rc == TG_NOMEM || (rc == TG_INVALID && why.len != 0));
        FUZZ_LINE(tg_buf_view(&why));
    }

    tg_rule_free(rule);

    return rc;
}

FUZZ_TARGET(in)
{
    tg_str_t raw, event;
    help_alloc_t alloc;
    unsigned byte;

    byte = fuzz_byte(&in);
    raw = fuzz_until_newline(&in);
    event = fuzz_rest(&in);

    if (tg_json_validate(raw, NULL) != TG_OK) {
        return;
    }

    FUZZ(rule_read(tg_alloc_libc(), raw, event) != TG_NOMEM);

    if (byte & 128) {
        fuzz_alloc_init(&alloc, 1 + (byte & 7));
        (void) rule_read(&alloc.alloc, raw, TG_STR(""));
        FUZZ(alloc.live == 0);
    }
}
