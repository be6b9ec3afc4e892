/*
 * Checks conditions: an operator's verdict is the opposite of its negation's,
 * stays the same beside a condition that always holds, and is reached in
 * bounded time.
 *
 * Input: a byte for the operator, the field, newline, the value (JSON or
 * text), newline, an event.
 */
#include "help.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"
#include "rule/tg_rule.h"

static const char *const condition_ops[] = {
    "eq",     "neq",        "gt",       "lte",     "gte",    "lt",
    "exists", "not_exists", "contains", "matches", "equals", "not_equals",
};

typedef struct {
    tg_str_t field;
    tg_str_t value;
    tg_str_t event;
} condition_t;

static void
condition_put(tg_buf_t *json, const condition_t *c, const char *op)
{
    tg_buf_append_cstr(json, "{\"field\":");
    tg_json_write_string(json, c->field);
    tg_buf_printf(json, ",\"operator\":\"%s\"", op);

    if (c->value.len != 0 && tg_json_validate(c->value, NULL) == TG_OK) {
        tg_buf_append_cstr(json, ",\"value\":");
        tg_buf_append_str(json, c->value);
    } else {
        tg_buf_append_cstr(json, ",\"text\":");
        tg_json_write_string(json, c->value);
    }

    tg_buf_append_char(json, '}');
}

/*
 * Evaluates a condition alone and beside itself; TG_INVALID: not a condition.
 */
static int
condition_holds(const condition_t *c, const char *op, int times)
{
    tg_rule_t *rule;
    HELP_BUFFER(json);
    HELP_BUFFER(why);
    int rc;

    tg_buf_append_cstr(&json,
                       "{\"id\":\"r\",\"trigger\":{\"type\":\"t\"},"
                       "\"action\":{\"type\":\"notify\",\"message\":\"m\"},"
                       "\"conditions\":[");

    while (times-- > 0) {
        condition_put(&json, c, op);
        tg_buf_append_cstr(&json, times != 0 ? "," : "]}");
    }

    rc = tg_rule_parse(tg_alloc_libc(), tg_buf_view(&json),
                       tg_pcre2_get_engine(), &rule, &why);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && why.len != 0));
    FUZZ_LINE(tg_buf_view(&why));

    if (rc == TG_OK) {
        rc = tg_rule_check_conditions(rule, c->event);
        FUZZ(rc == TG_OK || rc == TG_MISSING || rc == TG_LIMIT);
        tg_rule_free(rule);
    }

    return rc;
}

FUZZ_TARGET(in)
{
    static const size_t n = HELP_COUNT(condition_ops);
    tg_str_t value;
    condition_t c;
    size_t op;
    int rc, other;

    op = fuzz_byte(&in) % n;
    c.field = fuzz_until_newline(&in);
    c.value = fuzz_until_newline(&in);
    c.event = fuzz_rest(&in);

    if (!tg_utf8_is_valid(c.field) || !tg_utf8_is_valid(c.value)
        || tg_json_type(c.event) != TG_JSON_OBJECT
        || tg_json_validate(c.event, NULL) != TG_OK)
    {
        return;
    }

    rc = condition_holds(&c, condition_ops[op], 1);

    if (rc == TG_INVALID) {
        return;
    }

    FUZZ(condition_holds(&c, condition_ops[op], 2) == rc);

    /* Of eq and neq, and of exists and not_exists, exactly one holds. */
    if (op < 2 || op == 6 || op == 7 || op >= 10) {
        other = condition_holds(&c, condition_ops[op ^ 1], 1);
        FUZZ((rc == TG_OK) == (other == TG_MISSING));

        /*
         * gt and lte never hold together, and neither holds for a value that
         * is not a number.
         */
    } else if (op < 6) {
        other = condition_holds(&c, condition_ops[op ^ 1], 1);
        FUZZ(rc == TG_MISSING || other == TG_MISSING);
    }

    /* A field exists if a comparison with it holds. */
    if (rc == TG_OK && op != 1 && op != 7 && op != 11) {
        FUZZ(tg_event_get_field(c.event, c.field, &value) == TG_OK);
    }
}
