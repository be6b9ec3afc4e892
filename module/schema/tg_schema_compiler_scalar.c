/* Readers of the keywords that contain no schemas. */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_pattern.h"
#include "schema/tg_schema_validator.h"

/* Charges a compiled regex: its size is known only now, but bounded. */
static int
tg_schema_charge_regex(tg_schema_compiler_t *compile, void *regex)
{
    const tg_schema_regex_engine_t *by = compile->options.regex;
    size_t size;

    size = by->size(by->ctx, regex);
    compile->schema->size += size;

    if (tg_schema_memory_reserve(compile->schema->arena.memory, size) != TG_OK)
    {
        return TG_NOMEM;
    }

    return tg_schema_compiler_spend(compile,
                                    size / TG_SCHEMA_REGEX_BYTES_PER_STEP);
}

int
tg_schema_build_pattern(tg_schema_compiler_t *compile, const char *at,
                        tg_str_t text, tg_schema_pattern_t *pattern)
{
    const tg_schema_regex_engine_t *regex;
    tg_schema_regex_entry_t *entry;
    tg_buf_t translated, error;
    const char *why;
    int rc;

    regex = compile->options.regex;
    entry = tg_schema_alloc(compile, sizeof(*entry));

    if (entry == NULL) {
        return TG_NOMEM;
    }

    if (regex == NULL) {
        return tg_schema_error_set(compile, at,
                                   "patterns are not supported here");
    }

    rc = tg_schema_compiler_spend(
        compile, TG_SCHEMA_STEPS_PER_PATTERN
                     + TG_SCHEMA_STEPS_PER_PATTERN_BYTE * text.len);

    if (rc != TG_OK) {
        return rc;
    }

    pattern->text = text;
    tg_buf_init(&translated, compile->alloc);
    tg_buf_init(&error, compile->alloc);
    rc = tg_pattern_translate(text, &translated, &pattern->weight, &why);

    if (rc == TG_INVALID) {
        (void) tg_schema_error_set(compile, at, why);

    } else if (rc == TG_OK) {
        rc = regex->compile(regex->ctx, tg_buf_view(&translated), &entry->regex,
                            &error);
    }

    if (rc == TG_INVALID && error.len != 0) {
        (void) tg_schema_error_begin(compile, at);
        tg_buf_append_str(compile->error, tg_buf_view(&error));
    }

    tg_buf_deinit(&error);
    tg_buf_deinit(&translated);

    if (rc == TG_OK) {
        entry->next = compile->schema->regexes;
        compile->schema->regexes = entry;
        pattern->regex = entry->regex;
        rc = tg_schema_charge_regex(compile, entry->regex);
    }

    return rc;
}

TG_SCHEMA_READER(type)
{
#define TG_SCHEMA_TYPE_NAMES                                                   \
    "must be one of string, number, integer, boolean, object, array, null"

    tg_schema_entries_t entries;
    unsigned bit, bits;

    bits = tg_schema_type_from_name(raw);

    if (bits == 0 && tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_schema_error_set_value(compile, raw,
                                         TG_SCHEMA_TYPE_NAMES
                                         ", or a list of them");
    }

    tg_schema_entries_init(&entries, raw);

    while (tg_schema_entries_next(&entries)) {
        bit = tg_schema_type_from_name(entries.value);

        if (bit == 0 || (bits & bit)) {
            return tg_schema_error_set_value(compile, entries.value,
                                             bit == 0
                                                 ? TG_SCHEMA_TYPE_NAMES
                                                 : TG_SCHEMA_DUPLICATE_TEXT);
        }

        bits |= bit;
    }

    if (bits == 0) {
        return tg_schema_error_set(compile, raw.data,
                                   "must name at least one type");
    }

    *(uint8_t *) to = (uint8_t) bits;

    return TG_OK;
}

/* Builds the set of decoded strings if all values are strings. */
static int
tg_schema_build_string_set(tg_schema_compiler_t *compile,
                           tg_schema_values_t *values)
{
    tg_schema_names_t *names;
    uint32_t index;
    tg_str_t text;
    size_t i;
    int rc;

    for (i = 0; i < values->n; i++) {
        if (tg_json_type(values->list[i]) != TG_JSON_STRING) {
            return TG_OK;
        }
    }

    names = tg_schema_alloc(compile, sizeof(*names));
    rc = names != NULL ? TG_OK : TG_NOMEM;

    for (i = 0; rc == TG_OK && i < values->n; i++) {
        rc = tg_schema_compiler_spend(compile, TG_SCHEMA_STEPS_PER_ENTRY);

        if (rc == TG_OK) {
            rc = tg_schema_unescape(compile,
                                    tg_json_string_body(values->list[i]),
                                    &text);
        }

        if (rc == TG_OK) {
            rc = tg_schema_names_add(names, &compile->schema->arena, text,
                                     &index);
        }
    }

    values->strings = names;

    return rc;
}

/* Builds the list of raw itself if is_one is set, else of its elements. */
static int
tg_schema_build_values(tg_schema_compiler_t *compile, tg_str_t raw, int is_one,
                       const tg_schema_values_t **to)
{
    tg_schema_entries_t entries;
    tg_schema_values_t *values;
    tg_str_t *list;
    size_t n;

    n = is_one ? 1 : tg_schema_count_entries(raw);
    values = tg_schema_alloc(compile, sizeof(*values));
    list = tg_schema_alloc(compile, n * sizeof(*list));

    if (values == NULL || list == NULL) {
        return TG_NOMEM;
    }

    values->list = list;
    values->n = n;
    *to = values;
    *list = raw;
    tg_schema_entries_init(&entries, raw);

    while (!is_one && tg_schema_entries_next(&entries)) {
        *list++ = entries.value;
    }

    return n != 0 ? tg_schema_build_string_set(compile, values) : TG_OK;
}

TG_SCHEMA_READER(const)
{
    return tg_schema_build_values(compile, raw, 1, to);
}

TG_SCHEMA_READER(enum)
{
    int rc;

    rc = tg_schema_expect_type(compile, raw, TG_JSON_ARRAY, "a list of values");

    return rc == TG_OK ? tg_schema_build_values(compile, raw, 0, to) : rc;
}

TG_SCHEMA_READER(bound)
{
    tg_schema_bound_t *bound;
    int rc;

    bound = to;
    rc = tg_schema_expect_type(compile, raw, TG_JSON_NUMBER, "a number");

    if (rc == TG_OK && tg_number_parse(raw, &bound->value) != TG_OK) {
        return tg_schema_error_set_value(compile, raw,
                                         "the exponent is out of range");
    }

    bound->raw = raw;

    return rc;
}

/* Reads an exclusive bound; in draft 4 a boolean about the other bound. */
static int
tg_schema_read_exclusive(tg_schema_compiler_t *compile, tg_str_t raw,
                         const tg_schema_node_t *node,
                         tg_schema_bound_t *exclusive, tg_schema_bound_t *bound)
{
    int is_exclusive = 0;
    int rc;

    if (node->resource->draft != TG_SCHEMA_DRAFT_4) {
        return tg_schema_read_bound(compile, raw, node, exclusive);
    }

    rc = tg_schema_read_flag(compile, raw, node, &is_exclusive);

    if (rc == TG_OK && is_exclusive) {
        *exclusive = *bound;
        bound->raw = TG_STR_NONE;
    }

    return rc;
}

TG_SCHEMA_READER(exclusive_minimum)
{
    tg_schema_number_rules_t *rules;

    rules = to;

    return tg_schema_read_exclusive(compile, raw, node,
                                    &rules->exclusive_minimum, &rules->minimum);
}

TG_SCHEMA_READER(exclusive_maximum)
{
    tg_schema_number_rules_t *rules;

    rules = to;

    return tg_schema_read_exclusive(compile, raw, node,
                                    &rules->exclusive_maximum, &rules->maximum);
}

TG_SCHEMA_READER(multiple)
{
    tg_schema_bound_t *bound;
    int rc;

    bound = to;
    rc = tg_schema_read_bound(compile, raw, node, to);

    if (rc == TG_OK && (bound->value.is_negative || bound->value.count == 0)) {
        return tg_schema_error_set_value(compile, raw, "must be above 0");
    }

    if (rc == TG_OK && bound->value.count > TG_NUMBER_DIVISOR_DIGITS) {
        return tg_schema_error_set_value(compile, raw,
                                         "must have at most 18 digits");
    }

    return rc;
}

TG_SCHEMA_READER(size)
{
    tg_number_t number;

    if (tg_json_type(raw) != TG_JSON_NUMBER
        || tg_number_parse(raw, &number) != TG_OK
        || tg_number_to_size(&number, to) != TG_OK)
    {
        return tg_schema_error_set_value(compile, raw,
                                         "must be a whole number, 0 or more");
    }

    return TG_OK;
}

TG_SCHEMA_READER(flag)
{
    *(int *) to = tg_json_type(raw) == TG_JSON_TRUE;

    return *(int *) to ? TG_OK
                       : tg_schema_expect_type(compile, raw, TG_JSON_FALSE,
                                               "true or false");
}

/* Annotations have no effect, but a wrong type is a mistake. */
TG_SCHEMA_READER(text)
{
    return tg_schema_expect_type(compile, raw, TG_JSON_STRING, "a string");
}

TG_SCHEMA_READER(list)
{
    return tg_schema_expect_type(compile, raw, TG_JSON_ARRAY,
                                 "a list of values");
}

TG_SCHEMA_READER(pattern)
{
    tg_schema_pattern_t *pattern;
    tg_str_t text;
    int rc;

    pattern = tg_schema_alloc(compile, sizeof(*pattern));

    if (pattern == NULL) {
        return TG_NOMEM;
    }

    *(const tg_schema_pattern_t **) to = pattern;
    rc = tg_schema_read_string(compile, raw, &text);

    return rc == TG_OK
               ? tg_schema_build_pattern(compile, raw.data, text, pattern)
               : rc;
}

TG_SCHEMA_READER(format)
{
    tg_schema_string_rules_t *rules;
    int is_asserted, rc;
    tg_str_t name;

    rules = to;
    rc = tg_schema_read_string(compile, raw, &name);
    is_asserted = (node->resource->vocabularies & TG_SCHEMA_V_FORMAT_ASSERTION)
                  != 0;

    if (rc != TG_OK || !(is_asserted || compile->options.is_format_asserted)) {
        return rc;
    }

    rules->format = tg_schema_format_find(name);
    rules->format_name = name;

    /* A dialect that asserts formats must not accept an unknown one. */
    if (is_asserted && rules->format == NULL) {
        return tg_schema_error_set_value(compile, raw, "unknown format");
    }

    return TG_OK;
}
