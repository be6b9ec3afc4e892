/* Parsing of a rule's conditions. */
#include "rule/tg_rule_impl.h"

static const struct {
    const char *name;
    tg_rule_op_t op;
} tg_rule_operators[] = {
    { "eq", TG_RULE_OP_EQ },
    { "equals", TG_RULE_OP_EQ },
    { "neq", TG_RULE_OP_NEQ },
    { "not_equals", TG_RULE_OP_NEQ },
    { "contains", TG_RULE_OP_CONTAINS },
    { "matches", TG_RULE_OP_MATCHES },
    { "gt", TG_RULE_OP_GT },
    { "gte", TG_RULE_OP_GTE },
    { "lt", TG_RULE_OP_LT },
    { "lte", TG_RULE_OP_LTE },
    { "exists", TG_RULE_OP_EXISTS },
    { "not_exists", TG_RULE_OP_NOT_EXISTS },
};

tg_rule_op_t
tg_rule_find_operator(tg_str_t name)
{
    size_t i;

    for (i = 0; i < sizeof(tg_rule_operators) / sizeof(tg_rule_operators[0]);
         i++) {
        if (tg_str_eq(name, tg_str_from_cstr(tg_rule_operators[i].name))) {
            return tg_rule_operators[i].op;
        }
    }

    return TG_RULE_OPS;
}

/* Reads a string member of the condition `name`, such as "conditions[0]". */
static int
tg_rule_reader_read_condition_text(tg_rule_reader_t *reader, const char *name,
                                   const char *member, tg_str_t raw,
                                   tg_str_t *value)
{
    char text[48];
    tg_buf_t parent;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return tg_rule_reader_fail(reader, "%s.%s: must be a string", name,
                                   member);
    }

    parent = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_printf(&parent, "%s.", name);
    tg_buf_append_char(&parent, '\0');
    *value = raw;

    return tg_rule_reader_decode(reader, text, member, value);
}

/* Reads `value` or `text`, and checks that it suits the operator. */
static int
tg_rule_reader_read_operand(tg_rule_reader_t *reader, const char *name,
                            tg_rule_condition_t *condition, tg_str_t raw)
{
    int rc;

    if (condition->op >= TG_RULE_OP_EXISTS) {
        return TG_OK;
    }

    if (raw.data == NULL && condition->text.data == NULL) {
        return tg_rule_reader_fail(reader, "%s: needs a value", name);
    }

    condition->value = raw;

    if (tg_json_type(raw) == TG_JSON_STRING) {
        rc = tg_rule_reader_read_condition_text(reader, name, "value", raw,
                                                &condition->text);

        if (rc != TG_OK) {
            return rc;
        }
    } else if (tg_json_type(raw) == TG_JSON_NUMBER) {
        condition->text = raw;
    } else if (tg_json_type(raw) == TG_JSON_OBJECT
               || tg_json_type(raw) == TG_JSON_ARRAY)
    {
        return tg_rule_reader_fail(
            reader,
            "%s.value: must be a string, a number, true, "
            "false or null",
            name);
    }

    if (condition->op == TG_RULE_OP_MATCHES) {
        return condition->text.data == NULL
                   ? tg_rule_reader_fail(reader, "%s.value: must be a pattern",
                                         name)
                   : tg_rule_reader_compile_pattern(reader, name,
                                                    condition->text,
                                                    &condition->pattern);
    }

    return condition->op >= TG_RULE_OP_GT && !tg_rule_is_number(condition->text)
               ? tg_rule_reader_fail(reader, "%s.value: must be a number", name)
               : TG_OK;
}

static int
tg_rule_reader_read_condition(tg_rule_reader_t *reader, const char *name,
                              tg_str_t raw, tg_rule_condition_t *condition)
{
    enum {
        FIELD,
        OPERATOR,
        VALUE,
        TEXT,
        MEMBERS
    };
    static const char *const names[] = { "field", "operator", "value", "text",
                                         NULL };
    tg_str_t values[MEMBERS], op;
    int rc;

    if (tg_json_get_members(raw, names, values) != TG_OK) {
        return tg_rule_reader_fail(reader, "%s: must be an object", name);
    }

    op = TG_STR_NONE;
    rc = tg_rule_reader_read_condition_text(reader, name, names[FIELD],
                                            values[FIELD], &condition->field);

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_condition_text(reader, name, names[OPERATOR],
                                                values[OPERATOR], &op);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_condition_text(reader, name, names[TEXT],
                                                values[TEXT], &condition->text);
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (condition->field.len == 0) {
        return tg_rule_reader_fail(reader, "%s: needs a field", name);
    }

    condition->op = tg_rule_find_operator(op);

    if (condition->op == TG_RULE_OPS) {
        return tg_rule_reader_fail(
            reader,
            "%s.operator: must be eq, neq, contains, matches, "
            "gt, gte, lt, lte, exists or not_exists",
            name);
    }

    return tg_rule_reader_read_operand(reader, name, condition, values[VALUE]);
}

int
tg_rule_reader_read_conditions(tg_rule_reader_t *reader, tg_str_t raw)
{
    tg_rule_t *rule;
    char name[32];
    tg_buf_t text;
    tg_json_cursor_t each;
    tg_str_t value;
    int rc;

    rule = reader->rule;
    rc = TG_OK;

    if (raw.data != NULL && tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_rule_reader_fail(reader, "conditions: must be an array");
    }

    for (tg_json_iter_init(&each, raw);
         rc == TG_OK && tg_json_iter_next(&each, &value);)
    {
        if (rule->nconditions == TG_RULE_CONDITIONS_MAX) {
            return tg_rule_reader_fail(reader,
                                       "conditions: must have at most "
                                       "%d",
                                       TG_RULE_CONDITIONS_MAX);
        }

        text = tg_buf_make_fixed(name, sizeof(name));
        tg_buf_printf(&text, "conditions[%u]", rule->nconditions);
        tg_buf_append_char(&text, '\0');
        rc = tg_rule_reader_read_condition(
            reader, name, value, &rule->conditions[rule->nconditions++]);
    }

    return rc;
}
