/* Keywords about plain values, and remarks. */
#include "schema/tg_schema_compile.h"

#include "schema/tg_pattern.h"
#include "schema/tg_schema_run.h"

static unsigned
tg_schema_type_bit(tg_str_t raw)
{
    static const struct {
        const char *name;
        unsigned type;
    } types[] = {
        { "string", TG_SCHEMA_STRING },   { "number", TG_SCHEMA_NUMBER },
        { "integer", TG_SCHEMA_INTEGER }, { "boolean", TG_SCHEMA_BOOLEAN },
        { "object", TG_SCHEMA_OBJECT },   { "array", TG_SCHEMA_ARRAY },
        { "null", TG_SCHEMA_NULL }
    };
    size_t i;

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return 0;
    }

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (tg_json_body_is(tg_json_body(raw), tg_str_c(types[i].name))) {
            return types[i].type;
        }
    }

    return 0;
}

#define TG_SCHEMA_TYPE_NAMES                                                   \
    "must be one of string, number, integer, boolean, object, array, null"

static int
tg_schema_build_types(tg_schema_compile_t *compile, tg_str_t raw,
                      unsigned *types)
{
    unsigned bit, bits;
    tg_json_t json;
    tg_str_t item;

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        *types = tg_schema_type_bit(raw);
        return *types != 0 ? TG_OK
                           : tg_schema_mistake_value(compile, raw,
                                                     TG_SCHEMA_TYPE_NAMES
                                                     ", or a list of them");
    }

    tg_json_init(&json, raw);
    (void) tg_json_array(&json);
    bits = 0;

    while (tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &item);
        bit = tg_schema_type_bit(item);

        if (bit == 0) {
            return tg_schema_mistake_value(compile, item, TG_SCHEMA_TYPE_NAMES);
        }

        if (bits & bit) {
            return tg_schema_mistake_value(compile, item,
                                           "must be there only once");
        }

        bits |= bit;
    }

    if (bits == 0) {
        return tg_schema_mistake(compile, raw.data,
                                 "must name at least one type");
    }

    *types = bits;

    return TG_OK;
}

/* A set of the texts, when all are strings and it pays. */
static int
tg_schema_build_strings(tg_schema_compile_t *compile,
                        tg_schema_values_t *values)
{
    tg_schema_names_t *names;
    tg_str_t text;
    size_t i;
    int rc;

    for (i = 0; i < values->n; i++) {
        if (tg_json_type(values->list[i]) != TG_JSON_STRING) {
            return TG_OK;
        }
    }

    names = values->n != 0 ? tg_schema_get(compile, sizeof(*names)) : NULL;

    if (names == NULL) {
        return values->n != 0 ? TG_NOMEM : TG_OK;
    }

    rc = tg_schema_names_init(names, &compile->schema->arena, values->n);

    for (i = 0; rc == TG_OK && i < values->n; i++) {
        rc = tg_schema_decode(compile, tg_json_body(values->list[i]), &text);

        if (rc == TG_OK) {
            (void) tg_schema_names_add(names, text);
        }
    }

    values->strings = names;

    return rc;
}

static int
tg_schema_build_list(tg_schema_compile_t *compile, tg_str_t raw, int is_one,
                     const tg_schema_values_t **out)
{
    tg_schema_values_t *values;
    tg_str_t *list;
    tg_json_t json;

    values = tg_schema_get(compile, sizeof(*values));

    if (values == NULL) {
        return TG_NOMEM;
    }

    values->n = is_one ? 1 : tg_schema_size(raw);
    list = tg_schema_get(compile, values->n * sizeof(*list));

    if (list == NULL) {
        return TG_NOMEM;
    }

    values->list = list;
    *out = values;

    if (is_one) {
        *list = raw;
        return tg_schema_build_strings(compile, values);
    }

    tg_json_init(&json, raw);
    (void) tg_json_array(&json);

    while (tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, list++);
    }

    return tg_schema_build_strings(compile, values);
}

int
tg_schema_build_values(tg_schema_compile_t *compile,
                       const tg_schema_object_t *object, tg_schema_node_t *node)
{
    unsigned types;
    tg_str_t raw;
    int rc;

    rc = TG_OK;
    types = 0;
    raw = object->k[TG_SCHEMA_K_TYPE];

    if (raw.data != NULL) {
        rc = tg_schema_build_types(compile, raw, &types);

        if (rc == TG_OK) {
            node->types = (uint8_t) types;
        }
    }

    raw = object->k[TG_SCHEMA_K_CONST];

    if (rc == TG_OK && raw.data != NULL) {
        rc = tg_schema_build_list(compile, raw, 1, &node->constant);
    }

    raw = object->k[TG_SCHEMA_K_ENUM];

    if (rc == TG_OK && raw.data != NULL) {
        if (tg_json_type(raw) != TG_JSON_ARRAY) {
            return tg_schema_mistake_value(compile, raw,
                                           "must be a list of values");
        }

        rc = tg_schema_build_list(compile, raw, 0, &node->values);
    }

    return rc;
}

static int
tg_schema_read_bound(tg_schema_compile_t *compile, tg_str_t raw,
                     tg_schema_bound_t *bound)
{
    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_NUMBER) {
        return tg_schema_mistake_value(compile, raw, "must be a number");
    }

    if (tg_number_parse(raw, &bound->value) != TG_OK) {
        return tg_schema_mistake_value(compile, raw,
                                       "the exponent is out of range");
    }

    bound->raw = raw;

    return TG_OK;
}

static int
tg_schema_read_multiple(tg_schema_compile_t *compile, tg_str_t raw,
                        tg_schema_bound_t *bound)
{
    int rc;

    rc = tg_schema_read_bound(compile, raw, bound);

    if (rc != TG_OK || raw.data == NULL) {
        return rc;
    }

    if (bound->value.is_negative || bound->value.count == 0) {
        return tg_schema_mistake_value(compile, raw, "must be above 0");
    }

    if (bound->value.count > TG_NUMBER_DIVISOR_DIGITS) {
        return tg_schema_mistake_value(compile, raw,
                                       "must have at most 18 digits");
    }

    return TG_OK;
}

int
tg_schema_build_number(tg_schema_compile_t *compile,
                       const tg_schema_object_t *object, tg_schema_node_t *node)
{
    tg_schema_number_rules_t *rules;
    const tg_str_t *k;
    int rc;

    k = object->k;

    if (k[TG_SCHEMA_K_MINIMUM].data == NULL
        && k[TG_SCHEMA_K_MAXIMUM].data == NULL
        && k[TG_SCHEMA_K_ABOVE].data == NULL
        && k[TG_SCHEMA_K_BELOW].data == NULL
        && k[TG_SCHEMA_K_MULTIPLE].data == NULL)
    {
        return TG_OK;
    }

    rules = tg_schema_get(compile, sizeof(*rules));

    if (rules == NULL) {
        return TG_NOMEM;
    }

    node->number = rules;

    if ((rc = tg_schema_read_bound(compile, k[TG_SCHEMA_K_MINIMUM],
                                   &rules->minimum))
            != TG_OK
        || (rc = tg_schema_read_bound(compile, k[TG_SCHEMA_K_MAXIMUM],
                                      &rules->maximum))
               != TG_OK
        || (rc = tg_schema_read_bound(compile, k[TG_SCHEMA_K_ABOVE],
                                      &rules->above))
               != TG_OK
        || (rc = tg_schema_read_bound(compile, k[TG_SCHEMA_K_BELOW],
                                      &rules->below))
               != TG_OK)
    {
        return rc;
    }

    return tg_schema_read_multiple(compile, k[TG_SCHEMA_K_MULTIPLE],
                                   &rules->multiple);
}

int
tg_schema_read_size(tg_schema_compile_t *compile, tg_str_t raw, size_t *size)
{
    tg_number_t number;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_NUMBER
        || tg_number_parse(raw, &number) != TG_OK
        || tg_number_size(&number, size) != TG_OK)
    {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a whole number, 0 or more");
    }

    return TG_OK;
}

/* The host's regular expression for an ECMA-262 pattern. */
int
tg_schema_build_pattern(tg_schema_compile_t *compile, const char *at,
                        tg_str_t text, tg_schema_pattern_t *pattern)
{
    const tg_schema_regex_t *regex;
    tg_schema_regexes_t *entry;
    const char *why;
    tg_buf_t translated;
    int rc;

    regex = compile->options.regex;
    entry = tg_schema_get(compile, sizeof(*entry));

    if (entry == NULL) {
        return TG_NOMEM;
    }

    if (regex == NULL) {
        return tg_schema_mistake(compile, at,
                                 "patterns are not supported here");
    }

    pattern->text = text;
    tg_buf_init(&translated, compile->alloc);
    rc = tg_pattern_translate(text, &translated, &pattern->weight, &why);
    (void) tg_schema_mistake_begin(compile, at);

    if (rc == TG_BAD) {
        tg_buf_text(compile->error, why);

    } else if (rc == TG_OK) {
        rc = regex->compile(regex->ctx, tg_buf_view(&translated), &entry->regex,
                            compile->error);
    }

    tg_buf_deinit(&translated);

    if (rc == TG_OK) {
        tg_buf_truncate(compile->error, compile->error_start);
        entry->next = compile->schema->regexes;
        compile->schema->regexes = entry;
        pattern->regex = entry->regex;
    }

    return rc;
}

static int
tg_schema_build_format(tg_schema_compile_t *compile, tg_str_t raw,
                       const tg_schema_node_t *node,
                       tg_schema_string_rules_t *rules)
{
    int is_asserted, rc;
    tg_str_t name;

    if (raw.data == NULL) {
        return TG_OK;
    }

    rc = tg_schema_read_string(compile, raw, &name);
    is_asserted = (node->resource->vocabularies & TG_SCHEMA_V_FORMAT_ASSERTION)
                  != 0;

    if (rc != TG_OK || !(is_asserted || compile->options.is_format_asserted)) {
        return rc;
    }

    rules->format = tg_schema_format_find(name);
    rules->format_name = name;

    /* A dialect that asserts formats must not let one pass unseen. */
    if (is_asserted && rules->format == NULL) {
        return tg_schema_mistake_value(compile, raw, "unknown format");
    }

    return TG_OK;
}

int
tg_schema_build_string(tg_schema_compile_t *compile,
                       const tg_schema_object_t *object, tg_schema_node_t *node)
{
    tg_schema_string_rules_t *rules;
    tg_schema_pattern_t *pattern;
    const tg_str_t *k;
    tg_str_t text;
    int rc;

    k = object->k;
    rules = tg_schema_get(compile, sizeof(*rules));

    if (rules == NULL) {
        return TG_NOMEM;
    }

    rules->max = SIZE_MAX;

    if ((rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MIN_LENGTH],
                                  &rules->min))
            != TG_OK
        || (rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MAX_LENGTH],
                                     &rules->max))
               != TG_OK
        || (rc = tg_schema_build_format(compile, k[TG_SCHEMA_K_FORMAT], node,
                                        rules))
               != TG_OK)
    {
        return rc;
    }

    if (k[TG_SCHEMA_K_PATTERN].data != NULL) {
        pattern = tg_schema_get(compile, sizeof(*pattern));

        if (pattern == NULL) {
            return TG_NOMEM;
        }

        rules->pattern = pattern;
        rc = tg_schema_read_string(compile, k[TG_SCHEMA_K_PATTERN], &text);

        if (rc == TG_OK) {
            rc = tg_schema_build_pattern(compile, k[TG_SCHEMA_K_PATTERN].data,
                                         text, pattern);
        }
    }

    if (rules->min != 0 || rules->max != SIZE_MAX || rules->pattern != NULL
        || rules->format != NULL)
    {
        node->string = rules;
    }

    return rc;
}

/* Remarks decide nothing, but a wrong one is a mistake all the same. */
int
tg_schema_build_remarks(tg_schema_compile_t *compile,
                        const tg_schema_object_t *object,
                        tg_schema_node_t *node)
{
    static const tg_schema_keyword_t strings[] = {
        TG_SCHEMA_K_COMMENT,          TG_SCHEMA_K_TITLE,
        TG_SCHEMA_K_DESCRIPTION,      TG_SCHEMA_K_FORMAT,
        TG_SCHEMA_K_CONTENT_ENCODING, TG_SCHEMA_K_CONTENT_TYPE
    };
    static const tg_schema_keyword_t booleans[] = { TG_SCHEMA_K_DEPRECATED,
                                                    TG_SCHEMA_K_READ_ONLY,
                                                    TG_SCHEMA_K_WRITE_ONLY };
    tg_schema_node_t *content;
    tg_str_t raw;
    size_t i;

    for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        raw = object->k[strings[i]];

        if (raw.data != NULL && tg_json_type(raw) != TG_JSON_STRING) {
            return tg_schema_mistake_value(compile, raw, "must be a string");
        }
    }

    for (i = 0; i < sizeof(booleans) / sizeof(booleans[0]); i++) {
        raw = object->k[booleans[i]];

        if (raw.data != NULL && tg_json_type(raw) != TG_JSON_TRUE
            && tg_json_type(raw) != TG_JSON_FALSE)
        {
            return tg_schema_mistake_value(compile, raw,
                                           "must be true or false");
        }
    }

    raw = object->k[TG_SCHEMA_K_EXAMPLES];

    if (raw.data != NULL && tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a list of values");
    }

    raw = object->k[TG_SCHEMA_K_CONTENT_SCHEMA];

    return raw.data != NULL
               ? tg_schema_build(compile, raw, node->resource, &content)
               : TG_OK;
}
