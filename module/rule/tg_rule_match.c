/* Matching of events and files against rules, and JSON output. */
#include "rule/tg_rule.h"

#include "base/tg_json.h"
#include "base/tg_number.h"
#include "base/tg_url.h"

/* Characters of a pattern that count as one step. */
#define TG_RULE_CHARS_PER_STEP 16

static int
tg_rule_match_pattern(const tg_rule_t *rule, const tg_rule_pattern_t *pattern,
                      tg_str_t text)
{
    uint64_t spent;
    size_t weight;

    weight = pattern->weight < text.len ? pattern->weight : text.len;

    return rule->regex->match(rule->regex->ctx, pattern->code, text,
                              TG_RULE_REGEX_STEPS_MAX
                                  / (1 + weight / TG_RULE_CHARS_PER_STEP),
                              &spent);
}

static int
tg_rule_compare_numbers(tg_str_t a, tg_str_t b, int *order)
{
    tg_number_t x, y;

    if (tg_json_type(a) != TG_JSON_NUMBER || tg_json_type(b) != TG_JSON_NUMBER
        || tg_number_parse(a, &x) != TG_OK || tg_number_parse(b, &y) != TG_OK)
    {
        return TG_MISSING;
    }

    *order = tg_number_compare(&x, &y);

    return TG_OK;
}

int
tg_rule_is_number(tg_str_t text)
{
    tg_number_t number;

    return tg_json_type(text) == TG_JSON_NUMBER
           && tg_json_validate(text, NULL) == TG_OK
           && tg_number_parse(text, &number) == TG_OK;
}

/* Compares a raw value with the condition's value or text. */
static int
tg_rule_condition_is_equal(const tg_rule_condition_t *condition, tg_str_t value)
{
    tg_str_t other;
    int order;

    other = condition->value;

    if (other.data == NULL) {
        if (tg_json_type(value) == TG_JSON_STRING) {
            return tg_json_body_eq_text(tg_json_string_body(value),
                                        condition->text);
        }

        if (tg_str_eq(value, condition->text)) {
            return 1;
        }

        return tg_rule_is_number(condition->text)
               && tg_rule_compare_numbers(value, condition->text, &order)
                      == TG_OK
               && order == 0;
    }

    if (tg_json_type(value) != tg_json_type(other)) {
        return 0;
    }

    switch (tg_json_type(value)) {
    case TG_JSON_STRING:
        return tg_json_body_eq(tg_json_string_body(value),
                               tg_json_string_body(other));
    case TG_JSON_NUMBER:
        return tg_rule_compare_numbers(value, other, &order) == TG_OK
               && order == 0;
    default:
        return 1; /* true, false, null */
    }
}

static int
tg_rule_find_substring(tg_str_t text, tg_str_t part)
{
    size_t i;

    for (i = 0; i + part.len <= text.len; i++) {
        if (part.len == 0 || memcmp(text.data + i, part.data, part.len) == 0) {
            return TG_OK;
        }
    }

    return TG_MISSING;
}

static int
tg_rule_match_string(const tg_rule_t *rule,
                     const tg_rule_condition_t *condition, tg_str_t value)
{
    tg_buf_t text;
    int rc;

    tg_buf_init(&text, rule->alloc);
    tg_json_append_unescaped(&text, tg_json_string_body(value));

    if (tg_buf_has_failed(&text)) {
        rc = TG_NOMEM;
    } else if (condition->op == TG_RULE_OP_MATCHES) {
        rc = tg_rule_match_pattern(rule, &condition->pattern,
                                   tg_buf_view(&text));
    } else {
        rc = tg_rule_find_substring(tg_buf_view(&text), condition->text);
    }

    tg_buf_deinit(&text);

    return rc;
}

static int
tg_rule_condition_has_element(const tg_rule_condition_t *condition,
                              tg_str_t array)
{
    tg_json_cursor_t each;
    tg_str_t value;

    for (tg_json_iter_init(&each, array); tg_json_iter_next(&each, &value);) {
        if (tg_rule_condition_is_equal(condition, value)) {
            return 1;
        }
    }

    return 0;
}

static int
tg_rule_condition_is_ordered(const tg_rule_condition_t *condition,
                             tg_str_t value)
{
    int order;

    if (tg_rule_compare_numbers(value, condition->text, &order) != TG_OK) {
        return 0;
    }

    switch (condition->op) {
    case TG_RULE_OP_GT:
        return order > 0;
    case TG_RULE_OP_GTE:
        return order >= 0;
    case TG_RULE_OP_LT:
        return order < 0;
    default:
        return order <= 0;
    }
}

static int
tg_rule_check_condition(const tg_rule_t *rule,
                        const tg_rule_condition_t *condition, tg_str_t event)
{
    tg_str_t value;
    int is_there, is;

    is_there = tg_event_get_field(event, condition->field, &value) == TG_OK;

    switch (condition->op) {
    case TG_RULE_OP_EXISTS:
        is = is_there && tg_json_type(value) != TG_JSON_NULL;
        break;
    case TG_RULE_OP_NOT_EXISTS:
        is = !is_there || tg_json_type(value) == TG_JSON_NULL;
        break;
    case TG_RULE_OP_EQ:
        is = is_there && tg_rule_condition_is_equal(condition, value);
        break;
    case TG_RULE_OP_NEQ:
        is = !is_there || !tg_rule_condition_is_equal(condition, value);
        break;
    case TG_RULE_OP_CONTAINS:
    case TG_RULE_OP_MATCHES:
        if (is_there && tg_json_type(value) == TG_JSON_STRING
            && condition->text.data != NULL)
        {
            return tg_rule_match_string(rule, condition, value);
        }

        is = is_there && condition->op == TG_RULE_OP_CONTAINS
             && tg_rule_condition_has_element(condition, value);
        break;
    default:
        is = is_there && tg_rule_condition_is_ordered(condition, value);
    }

    return is ? TG_OK : TG_MISSING;
}

int
tg_rule_check_conditions(const tg_rule_t *rule, tg_str_t event)
{
    unsigned i;
    int rc;

    for (i = 0, rc = TG_OK; rc == TG_OK && i < rule->nconditions; i++) {
        rc = tg_rule_check_condition(rule, &rule->conditions[i], event);
    }

    return rc;
}

static tg_str_t
tg_rule_get_event_member(tg_str_t event, const char *name)
{
    tg_str_t value;

    return tg_json_has_member(event, tg_str_from_cstr(name), TG_JSON_STRING,
                              &value)
               ? tg_json_string_body(value)
               : TG_STR("");
}

int
tg_rule_match_event(const tg_rule_t *rule, tg_str_t event)
{
    tg_str_t type, source;
    tg_buf_t text;
    int rc;

    type = tg_rule_get_event_member(event, "type");
    source = tg_rule_get_event_member(event, "source");

    if (rule->trigger != TG_TRIGGER_EVENT
        || (rule->type.data != NULL && !tg_json_body_eq_text(type, rule->type))
        || (rule->source.data != NULL
            && !tg_json_body_eq_text(source, rule->source)))
    {
        return TG_MISSING;
    }

    if (rule->pattern.code == NULL) {
        return TG_OK;
    }

    tg_buf_init(&text, rule->alloc);
    tg_json_append_unescaped(&text, type);
    tg_buf_append_char(&text, ':');
    tg_json_append_unescaped(&text, source);
    rc = tg_buf_has_failed(&text)
             ? TG_NOMEM
             : tg_rule_match_pattern(rule, &rule->pattern, tg_buf_view(&text));
    tg_buf_deinit(&text);

    return rc;
}

int
tg_rule_match_file(const tg_rule_t *rule, tg_str_t path)
{
    unsigned i;

    for (i = 0; i < rule->nglobs; i++) {
        if (tg_path_glob_match(rule->globs[i], path)) {
            return 1;
        }
    }

    return rule->nglobs == 0;
}

/* Appends a URL without its path, which may be a service's only secret. */
static void
tg_rule_append_url_origin(tg_buf_t *json, tg_str_t text)
{
    const char *why;
    tg_url_t url;
    tg_buf_t origin;

    tg_buf_init(&origin, json->alloc);

    if (tg_url_parse(text, &url, &why) == TG_OK) {
        tg_url_append_origin(&origin, &url);
    }

    tg_json_write_string(json, tg_buf_view(&origin));
    tg_buf_deinit(&origin);
}

void
tg_rule_write_json(tg_buf_t *json, const tg_rule_t *rule)
{
    const struct {
        const char *key;
        tg_str_t text;
    } members[] = {
        { ",\"agent\":", rule->agent },
        { ",\"prompt\":", rule->prompt },
        { ",\"message\":", rule->message },
        { ",\"channel\":", rule->channel },
    };
    static const char *const types[] = { "agent", "notify", "webhook" };
    tg_str_t trigger;
    size_t i;

    (void) tg_json_get_member(rule->raw, TG_STR("trigger"), &trigger);
    tg_json_begin_member(json, "trigger");
    tg_json_write_compact(json, trigger);
    tg_buf_printf(json, ",\"action\":{\"type\":\"%s\"", types[rule->action]);

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].text.data != NULL) {
            tg_buf_append_cstr(json, members[i].key);
            tg_json_write_string(json, members[i].text);
        }
    }

    if (rule->action == TG_ACTION_AGENT) {
        tg_json_add_int(json, "priority", rule->priority);
    } else if (rule->action == TG_ACTION_WEBHOOK) {
        tg_json_begin_member(json, "url");
        tg_rule_append_url_origin(json, rule->url);
    }

    tg_buf_append_char(json, '}');
}
