/*
 * The compiler: schema objects become nodes.  What keywords say goes to the
 * node, or to one of its parts: the rules about values of a type, which are
 * there when they have a keyword.  It recurses as deep as JSON nests, never
 * along references.
 */
#include "schema/tg_schema_compile.h"

#include "schema/tg_schema_run.h"

#include <stddef.h>

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
        name, NULL, 0, TG_SCHEMA_V_CORE, TG_SCHEMA_PART_NONE                   \
    }
#define TG_SCHEMA_REMARK(name, vocabulary, read)                               \
    {                                                                          \
        name, tg_schema_read_##read, 0, TG_SCHEMA_V_##vocabulary,              \
            TG_SCHEMA_PART_NONE                                                \
    }
#define TG_SCHEMA_RULE(name, vocabulary, read, part, type, field)              \
    {                                                                          \
        name, tg_schema_read_##read, offsetof(tg_schema_##type, field),        \
            TG_SCHEMA_V_##vocabulary, TG_SCHEMA_PART_##part                    \
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
    tg_schema_read_pt read;
    size_t offset;
    unsigned vocabulary;
    tg_schema_part_t part;
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
    { "format", tg_schema_read_format, 0, TG_SCHEMA_V_FORMAT,
      TG_SCHEMA_PART_STRING },
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

/* Sorts the members of a schema object; unknown ones are remarks. */
static int
tg_schema_collect(tg_schema_compile_t *compile, tg_str_t raw,
                  tg_schema_object_t *object)
{
    tg_schema_entries_t entries;
    size_t i;

    memset(object, 0, sizeof(*object));
    tg_schema_entries(&entries, raw);

    while (tg_schema_entry(&entries)) {
        if (tg_schema_work(compile, TG_SCHEMA_ENTRY_STEPS) != TG_OK) {
            return TG_LIMIT;
        }

        for (i = 0; i < TG_SCHEMA_KEYWORDS; i++) {
            if (tg_json_body_is(entries.key,
                                tg_str_c(tg_schema_keywords[i].name))) {
                object->k[i] = entries.value;
                break;
            }
        }
    }

    return TG_OK;
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

static int
tg_schema_read_rules(tg_schema_compile_t *compile, tg_schema_object_t *object,
                     tg_schema_node_t *node)
{
    void *parts[TG_SCHEMA_PARTS] = { NULL };
    unsigned vocabularies;
    tg_schema_part_t part;
    uint64_t nowhere[4] = { 0 };
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

        to = part < TG_SCHEMA_PARTS        ? parts[part]
             : part == TG_SCHEMA_PART_NODE ? (char *) node
                                           : (char *) nowhere;
        rc = tg_schema_keywords[i].read(compile, object->k[i], node,
                                        to + tg_schema_keywords[i].offset);
    }

    tg_schema_keep_parts(node, parts);

    return rc;
}

/* The name of a place in a document. */
static tg_str_t
tg_schema_place(const char *const *at)
{
    return tg_str((const char *) at, sizeof(*at));
}

tg_schema_node_t *
tg_schema_node_at(const tg_schema_compile_t *compile, const char *at)
{
    const tg_schema_name_t *name;
    uint32_t hint;

    hint = 0;
    name = tg_schema_names_find(&compile->places, tg_schema_place(&at), &hint);

    return name != NULL ? compile->nodes[name - compile->places.list] : NULL;
}

static int
tg_schema_node_add(tg_schema_compile_t *compile, tg_schema_node_t *node)
{
    uint32_t index;

    if (tg_schema_grow(compile->alloc, &compile->nodes, &compile->cap_nodes,
                       compile->n_nodes + 1, sizeof(*compile->nodes))
            != TG_OK
        || tg_schema_names_add(&compile->places, &compile->temp,
                               tg_schema_place(&node->at), &index)
               != TG_OK)
    {
        return TG_NOMEM;
    }

    compile->nodes[compile->n_nodes++] = node;

    return TG_OK;
}

static int
tg_schema_has_rules(const tg_schema_node_t *node,
                    const tg_schema_object_t *object)
{
    return node->types != TG_SCHEMA_ANY || node->constant != NULL
           || node->values != NULL || node->number != NULL
           || node->string != NULL || node->array != NULL
           || node->object != NULL || node->logic != NULL
           || node->unevaluated_items != NULL
           || node->unevaluated_properties != NULL
           || object->k[TG_SCHEMA_K_REF].data != NULL
           || object->k[TG_SCHEMA_K_DYNAMIC_REF].data != NULL;
}

static int
tg_schema_build_object(tg_schema_compile_t *compile, tg_str_t raw,
                       tg_schema_node_t *node)
{
    tg_schema_object_t object;
    int rc;

    rc = tg_schema_collect(compile, raw, &object);

    if (rc != TG_OK) {
        return rc;
    }

    rc = tg_schema_build_identity(compile, &object, node);

    if (rc == TG_OK) {
        rc = tg_schema_read_rules(compile, &object, node);
    }

    node->is_true = !tg_schema_has_rules(node, &object);

    return rc;
}

int
tg_schema_build(tg_schema_compile_t *compile, tg_str_t raw,
                tg_schema_resource_t *resource, const tg_schema_node_t **out)
{
    tg_schema_node_t *node;
    int rc;

    node = tg_schema_node_at(compile, raw.data);

    if (node != NULL) {
        *out = node;
        return TG_OK;
    }

    if (compile->n_nodes == compile->options.max_subschemas) {
        return tg_schema_mistake(compile, raw.data,
                                 "too many subschemas; split the schema or "
                                 "raise the limit");
    }

    /* Its bytes are passed by its parent, to look for keys, and by readers. */
    rc = tg_schema_work(compile, TG_SCHEMA_NODE_STEPS
                                     + 4 * raw.len / TG_SCHEMA_PASS_BYTES);

    if (rc != TG_OK) {
        return rc;
    }

    node = tg_schema_get(compile, sizeof(*node));

    if (node == NULL) {
        return TG_NOMEM;
    }

    node->at = raw.data;
    node->len = raw.len;
    node->resource = resource;
    node->types = TG_SCHEMA_ANY;
    rc = tg_schema_node_add(compile, node);

    if (rc != TG_OK) {
        return rc;
    }

    *out = node;

    switch (tg_json_type(raw)) {
    case TG_JSON_TRUE:
        node->is_true = 1;
        return TG_OK;

    case TG_JSON_FALSE:
        node->is_false = 1;
        return TG_OK;

    case TG_JSON_OBJECT:
        return tg_schema_build_object(compile, raw, node);

    default:
        return tg_schema_mistake_value(compile, raw,
                                       "a schema must be an object, true or "
                                       "false");
    }
}
