/*
 * Keywords and their readers.  What they say goes to the node, or to one of
 * its parts: the rules about values of a type, which are there when they have
 * a keyword.
 */
#include "schema/tg_schema_compile.h"

#include "schema/tg_schema_run.h"

#include <stddef.h>

static TG_SCHEMA_READER(type)
{
#define TG_SCHEMA_TYPE_NAMES                                                   \
    "must be one of string, number, integer, boolean, object, array, null"

    tg_schema_entries_t entries;
    unsigned bit, bits;

    bits = tg_schema_type_bit(raw);

    if (bits == 0 && tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_schema_mistake_value(compile, raw,
                                       TG_SCHEMA_TYPE_NAMES
                                       ", or a list of them");
    }

    tg_schema_entries(&entries, raw);

    while (tg_schema_entry(&entries)) {
        bit = tg_schema_type_bit(entries.value);

        if (bit == 0 || (bits & bit)) {
            return tg_schema_mistake_value(compile, entries.value,
                                           bit == 0 ? TG_SCHEMA_TYPE_NAMES
                                                    : TG_SCHEMA_ONCE);
        }

        bits |= bit;
    }

    if (bits == 0) {
        return tg_schema_mistake(compile, raw.data,
                                 "must name at least one type");
    }

    *(uint8_t *) to = (uint8_t) bits;

    return TG_OK;
}

/* A set of the texts, when all are strings. */
static int
tg_schema_build_strings(tg_schema_compile_t *compile,
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

    names = tg_schema_get(compile, sizeof(*names));
    rc = names != NULL ? TG_OK : TG_NOMEM;

    for (i = 0; rc == TG_OK && i < values->n; i++) {
        rc = tg_schema_decode(compile, tg_json_body(values->list[i]), &text);

        if (rc == TG_OK) {
            rc = tg_schema_names_add(names, &compile->schema->arena, text,
                                     &index);
        }
    }

    values->strings = names;

    return rc;
}

static TG_SCHEMA_READER(const)
{
    tg_schema_values_t *values;
    tg_str_t *list;

    values = tg_schema_get(compile, sizeof(*values));
    list = tg_schema_get(compile, sizeof(*list));

    if (values == NULL || list == NULL) {
        return TG_NOMEM;
    }

    *list = raw;
    values->list = list;
    values->n = 1;
    *(const tg_schema_values_t **) to = values;

    return tg_schema_build_strings(compile, values);
}

static TG_SCHEMA_READER(enum)
{
    tg_schema_entries_t entries;
    tg_schema_values_t *values;
    tg_str_t *list;
    int rc;

    rc = tg_schema_need(compile, raw, TG_JSON_ARRAY, "a list of values");

    if (rc != TG_OK) {
        return rc;
    }

    values = tg_schema_get(compile, sizeof(*values));
    list = tg_schema_get(compile, tg_schema_size(raw) * sizeof(*list));

    if (values == NULL || list == NULL) {
        return TG_NOMEM;
    }

    values->list = list;
    *(const tg_schema_values_t **) to = values;
    tg_schema_entries(&entries, raw);

    while (tg_schema_entry(&entries)) {
        list[values->n++] = entries.value;
    }

    return values->n != 0 ? tg_schema_build_strings(compile, values) : TG_OK;
}

static TG_SCHEMA_READER(bound)
{
    tg_schema_bound_t *bound;
    int rc;

    bound = to;
    rc = tg_schema_need(compile, raw, TG_JSON_NUMBER, "a number");

    if (rc == TG_OK && tg_number_parse(raw, &bound->value) != TG_OK) {
        return tg_schema_mistake_value(compile, raw,
                                       "the exponent is out of range");
    }

    bound->raw = raw;

    return rc;
}

static TG_SCHEMA_READER(multiple)
{
    tg_schema_bound_t *bound;
    int rc;

    bound = to;
    rc = tg_schema_read_bound(compile, raw, node, to);

    if (rc == TG_OK && (bound->value.is_negative || bound->value.count == 0)) {
        return tg_schema_mistake_value(compile, raw, "must be above 0");
    }

    if (rc == TG_OK && bound->value.count > TG_NUMBER_DIVISOR_DIGITS) {
        return tg_schema_mistake_value(compile, raw,
                                       "must have at most 18 digits");
    }

    return rc;
}

static TG_SCHEMA_READER(size)
{
    tg_number_t number;

    if (tg_json_type(raw) != TG_JSON_NUMBER
        || tg_number_parse(raw, &number) != TG_OK
        || tg_number_size(&number, to) != TG_OK)
    {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a whole number, 0 or more");
    }

    return TG_OK;
}

static TG_SCHEMA_READER(flag)
{
    *(int *) to = tg_json_type(raw) == TG_JSON_TRUE;

    return *(int *) to
               ? TG_OK
               : tg_schema_need(compile, raw, TG_JSON_FALSE, "true or false");
}

/* Remarks decide nothing, but a wrong one is a mistake all the same. */
static TG_SCHEMA_READER(text)
{
    return tg_schema_need(compile, raw, TG_JSON_STRING, "a string");
}

static TG_SCHEMA_READER(list)
{
    return tg_schema_need(compile, raw, TG_JSON_ARRAY, "a list of values");
}

static TG_SCHEMA_READER(pattern)
{
    tg_schema_pattern_t *pattern;
    tg_str_t text;
    int rc;

    pattern = tg_schema_get(compile, sizeof(*pattern));

    if (pattern == NULL) {
        return TG_NOMEM;
    }

    *(const tg_schema_pattern_t **) to = pattern;
    rc = tg_schema_read_string(compile, raw, &text);

    return rc == TG_OK
               ? tg_schema_build_pattern(compile, raw.data, text, pattern)
               : rc;
}

static TG_SCHEMA_READER(format)
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

    /* A dialect that asserts formats must not let one pass unseen. */
    if (is_asserted && rules->format == NULL) {
        return tg_schema_mistake_value(compile, raw, "unknown format");
    }

    return TG_OK;
}

static TG_SCHEMA_READER(schema)
{
    return tg_schema_build(compile, raw, node->resource, to);
}

static TG_SCHEMA_READER(items)
{
    if (tg_json_type(raw) == TG_JSON_ARRAY) {
        return tg_schema_mistake(compile, raw.data,
                                 "must be one schema for all items; write a "
                                 "list of schemas as \"prefixItems\"");
    }

    return tg_schema_read_schema(compile, raw, node, to);
}

static TG_SCHEMA_READER(schemas)
{
    tg_schema_entries_t entries;
    tg_schema_nodes_t *nodes;
    int rc;

    nodes = to;

    if (tg_json_type(raw) != TG_JSON_ARRAY || tg_schema_size(raw) == 0) {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a list of at least one schema");
    }

    nodes->list = tg_schema_get(compile,
                                tg_schema_size(raw) * sizeof(*nodes->list));
    rc = nodes->list != NULL ? TG_OK : TG_NOMEM;
    tg_schema_entries(&entries, raw);

    while (rc == TG_OK && tg_schema_entry(&entries)) {
        rc = tg_schema_build(compile, entries.value, node->resource,
                             &nodes->list[nodes->n++]);
    }

    return rc;
}

/* --- the table --- */

/* Where a reader writes: the node itself, a part of it, or nowhere. */
typedef enum {
    TG_SCHEMA_PART_NUMBER,
    TG_SCHEMA_PART_STRING,
    TG_SCHEMA_PART_ARRAY,
    TG_SCHEMA_PART_OBJECT,
    TG_SCHEMA_PART_LOGIC,
    TG_SCHEMA_PARTS,
    TG_SCHEMA_PART_NODE,
    TG_SCHEMA_PART_NONE
} tg_schema_part_t;

static const size_t tg_schema_part_sizes[] = {
    [TG_SCHEMA_PART_NUMBER] = sizeof(tg_schema_number_rules_t),
    [TG_SCHEMA_PART_STRING] = sizeof(tg_schema_string_rules_t),
    [TG_SCHEMA_PART_ARRAY] = sizeof(tg_schema_array_rules_t),
    [TG_SCHEMA_PART_OBJECT] = sizeof(tg_schema_object_rules_t),
    [TG_SCHEMA_PART_LOGIC] = sizeof(tg_schema_logic_t),
};

#define TG_SCHEMA_V_FORMAT                                                     \
    (TG_SCHEMA_V_FORMAT_ANNOTATION | TG_SCHEMA_V_FORMAT_ASSERTION)

#define TG_SCHEMA_IDENTITY(name)                                               \
    {                                                                          \
        name, TG_SCHEMA_V_CORE, NULL, TG_SCHEMA_PART_NONE, 0                   \
    }
#define TG_SCHEMA_REMARK(name, vocabulary, read)                               \
    {                                                                          \
        name, TG_SCHEMA_V_##vocabulary, tg_schema_read_##read,                 \
            TG_SCHEMA_PART_NONE, 0                                             \
    }
#define TG_SCHEMA_RULE(name, vocabulary, read, part, type, field)              \
    {                                                                          \
        name, TG_SCHEMA_V_##vocabulary, tg_schema_read_##read,                 \
            TG_SCHEMA_PART_##part, offsetof(tg_schema_##type, field)           \
    }
#define TG_SCHEMA_NODE(name, vocabulary, read, field)                          \
    TG_SCHEMA_RULE(name, vocabulary, read, NODE, node_t, field)
#define TG_SCHEMA_NUMBERS(name, read, field)                                   \
    TG_SCHEMA_RULE(name, VALIDATION, read, NUMBER, number_rules_t, field)
#define TG_SCHEMA_STRINGS(name, vocabulary, read, field)                       \
    TG_SCHEMA_RULE(name, vocabulary, read, STRING, string_rules_t, field)
#define TG_SCHEMA_ARRAYS(name, vocabulary, read, field)                        \
    TG_SCHEMA_RULE(name, vocabulary, read, ARRAY, array_rules_t, field)
#define TG_SCHEMA_OBJECTS(name, vocabulary, read, field)                       \
    TG_SCHEMA_RULE(name, vocabulary, read, OBJECT, object_rules_t, field)
#define TG_SCHEMA_BRANCH(name, read, field)                                    \
    TG_SCHEMA_RULE(name, APPLICATOR, read, LOGIC, logic_t, field)

/* tg_schema_keyword_t has the first ones. */
static const struct {
    const char *name;
    unsigned vocabulary;
    tg_schema_read_pt read;
    tg_schema_part_t part;
    size_t offset;
} tg_schema_keywords[] = {
    TG_SCHEMA_IDENTITY("$id"),
    TG_SCHEMA_IDENTITY("$schema"),
    TG_SCHEMA_IDENTITY("$vocabulary"),
    TG_SCHEMA_IDENTITY("$anchor"),
    TG_SCHEMA_IDENTITY("$dynamicAnchor"),
    TG_SCHEMA_IDENTITY("$ref"),
    TG_SCHEMA_IDENTITY("$dynamicRef"),

    TG_SCHEMA_NODE("type", VALIDATION, type, types),
    TG_SCHEMA_NODE("const", VALIDATION, const, constant),
    TG_SCHEMA_NODE("enum", VALIDATION, enum, values),

    TG_SCHEMA_NUMBERS("minimum", bound, minimum),
    TG_SCHEMA_NUMBERS("maximum", bound, maximum),
    TG_SCHEMA_NUMBERS("exclusiveMinimum", bound, above),
    TG_SCHEMA_NUMBERS("exclusiveMaximum", bound, below),
    TG_SCHEMA_NUMBERS("multipleOf", multiple, multiple),

    TG_SCHEMA_STRINGS("minLength", VALIDATION, size, min),
    TG_SCHEMA_STRINGS("maxLength", VALIDATION, size, max),
    { "format", TG_SCHEMA_V_FORMAT, tg_schema_read_format,
      TG_SCHEMA_PART_STRING, 0 },
    TG_SCHEMA_STRINGS("pattern", VALIDATION, pattern, pattern),

    TG_SCHEMA_ARRAYS("minItems", VALIDATION, size, min),
    TG_SCHEMA_ARRAYS("maxItems", VALIDATION, size, max),
    TG_SCHEMA_ARRAYS("minContains", VALIDATION, size, min_contains),
    TG_SCHEMA_ARRAYS("maxContains", VALIDATION, size, max_contains),
    TG_SCHEMA_ARRAYS("uniqueItems", VALIDATION, flag, is_unique),
    TG_SCHEMA_ARRAYS("prefixItems", APPLICATOR, schemas, prefix),
    TG_SCHEMA_ARRAYS("items", APPLICATOR, items, items),
    TG_SCHEMA_ARRAYS("contains", APPLICATOR, schema, contains),
    TG_SCHEMA_NODE("unevaluatedItems", UNEVALUATED, schema, unevaluated_items),

    TG_SCHEMA_REMARK("$defs", CORE, defs),
    TG_SCHEMA_OBJECTS("properties", APPLICATOR, properties, names),
    TG_SCHEMA_OBJECTS("patternProperties", APPLICATOR, patterns, names),
    TG_SCHEMA_OBJECTS("additionalProperties", APPLICATOR, schema, additional),
    TG_SCHEMA_OBJECTS("propertyNames", APPLICATOR, schema, key_schema),
    TG_SCHEMA_NODE("unevaluatedProperties", UNEVALUATED, schema,
                   unevaluated_properties),
    TG_SCHEMA_OBJECTS("required", VALIDATION, required, names),
    TG_SCHEMA_OBJECTS("dependentSchemas", APPLICATOR, dependent, names),
    TG_SCHEMA_OBJECTS("dependentRequired", VALIDATION, needs, names),
    TG_SCHEMA_OBJECTS("minProperties", VALIDATION, size, min),
    TG_SCHEMA_OBJECTS("maxProperties", VALIDATION, size, max),

    TG_SCHEMA_BRANCH("allOf", schemas, all),
    TG_SCHEMA_BRANCH("anyOf", schemas, any),
    TG_SCHEMA_BRANCH("oneOf", schemas, one),
    TG_SCHEMA_BRANCH("not", schema, none),
    TG_SCHEMA_BRANCH("if", schema, when),
    TG_SCHEMA_BRANCH("then", schema, then),
    TG_SCHEMA_BRANCH("else", schema, otherwise),

    TG_SCHEMA_REMARK("$comment", CORE, text),
    TG_SCHEMA_REMARK("title", METADATA, text),
    TG_SCHEMA_REMARK("description", METADATA, text),
    TG_SCHEMA_REMARK("contentEncoding", CONTENT, text),
    TG_SCHEMA_REMARK("contentMediaType", CONTENT, text),
    TG_SCHEMA_REMARK("deprecated", METADATA, flag),
    TG_SCHEMA_REMARK("readOnly", METADATA, flag),
    TG_SCHEMA_REMARK("writeOnly", METADATA, flag),
    TG_SCHEMA_REMARK("examples", METADATA, list),
    TG_SCHEMA_REMARK("contentSchema", CONTENT, schema),
};

#define TG_SCHEMA_KEYWORDS                                                     \
    (sizeof(tg_schema_keywords) / sizeof(tg_schema_keywords[0]))

void
tg_schema_collect(tg_str_t raw, tg_schema_object_t *object)
{
    tg_schema_entries_t entries;
    size_t i;

    memset(object, 0, sizeof(*object));
    tg_schema_entries(&entries, raw);

    while (tg_schema_entry(&entries)) {
        for (i = 0; i < TG_SCHEMA_KEYWORDS; i++) {
            if (tg_json_body_is(entries.key,
                                tg_str_c(tg_schema_keywords[i].name))) {
                object->k[i] = entries.value;
                break;
            }
        }
    }
}

/* The rules of a part, which say nothing yet. */
static void *
tg_schema_part_new(tg_schema_compile_t *compile, tg_schema_part_t part)
{
    tg_schema_string_rules_t *string;
    tg_schema_array_rules_t *array;
    tg_schema_object_rules_t *object;
    void *rules;

    rules = tg_schema_get(compile, tg_schema_part_sizes[part]);

    if (rules != NULL && part == TG_SCHEMA_PART_STRING) {
        string = rules;
        string->max = SIZE_MAX;

    } else if (rules != NULL && part == TG_SCHEMA_PART_ARRAY) {
        array = rules;
        array->max = SIZE_MAX;
        array->min_contains = 1;
        array->max_contains = SIZE_MAX;

    } else if (rules != NULL && part == TG_SCHEMA_PART_OBJECT) {
        object = rules;
        object->max = SIZE_MAX;
    }

    return rules;
}

/* Keeps the parts that have something to say. */
static void
tg_schema_keep_parts(tg_schema_node_t *node, void *const *parts)
{
    const tg_schema_object_rules_t *object;
    const tg_schema_string_rules_t *string;
    const tg_schema_array_rules_t *array;
    tg_schema_logic_t *logic;

    node->number = parts[TG_SCHEMA_PART_NUMBER];
    string = parts[TG_SCHEMA_PART_STRING];
    array = parts[TG_SCHEMA_PART_ARRAY];
    object = parts[TG_SCHEMA_PART_OBJECT];
    node->logic = logic = parts[TG_SCHEMA_PART_LOGIC];

    if (string != NULL
        && (string->min != 0 || string->max != SIZE_MAX
            || string->pattern != NULL || string->format != NULL))
    {
        node->string = string;
    }

    if (array != NULL
        && (array->prefix.n != 0 || array->items != NULL
            || array->contains != NULL || array->min != 0
            || array->max != SIZE_MAX || array->is_unique))
    {
        node->array = array;
    }

    if (object != NULL
        && (object->names.n != 0 || object->n_patterns != 0
            || object->additional != NULL || object->key_schema != NULL
            || object->min != 0 || object->max != SIZE_MAX))
    {
        node->object = object;
    }

    /* Without `if`, the others mean nothing, and may not form loops. */
    if (logic != NULL && logic->when == NULL) {
        logic->then = NULL;
        logic->otherwise = NULL;
    }
}

int
tg_schema_read_rules(tg_schema_compile_t *compile, tg_schema_object_t *object,
                     tg_schema_node_t *node)
{
    void *parts[TG_SCHEMA_PARTS] = { NULL };
    unsigned vocabularies;
    tg_schema_part_t part;
    uint64_t nowhere[4];
    size_t i;
    char *to;
    int rc;

    vocabularies = node->resource->vocabularies | TG_SCHEMA_V_CORE;

    for (i = 0, rc = TG_OK; rc == TG_OK && i < TG_SCHEMA_KEYWORDS; i++) {
        /* What the dialect does not switch on is a remark, whatever it is. */
        if (object->k[i].data == NULL || tg_schema_keywords[i].read == NULL
            || !(tg_schema_keywords[i].vocabulary & vocabularies))
        {
            continue;
        }

        part = tg_schema_keywords[i].part;

        if (part < TG_SCHEMA_PARTS && parts[part] == NULL) {
            parts[part] = tg_schema_part_new(compile, part);

            if (parts[part] == NULL) {
                return TG_NOMEM;
            }
        }

        to = part == TG_SCHEMA_PART_NODE   ? (char *) node
             : part == TG_SCHEMA_PART_NONE ? (char *) nowhere
                                           : parts[part];
        rc = tg_schema_keywords[i].read(compile, object->k[i], node,
                                        to + tg_schema_keywords[i].offset);
    }

    tg_schema_keep_parts(node, parts);

    return rc;
}
