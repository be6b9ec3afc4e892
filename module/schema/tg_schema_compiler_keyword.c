/*
 * Compiles schema objects to nodes. A keyword sets a member of the node or of a
 * part: the rules for values of one type, which exist only if needed. The
 * recursion is as deep as the JSON nests and follows no references.
 */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_schema_validator.h"

TG_SCHEMA_READER(schema)
{
    return tg_schema_build_node(compile, raw, node->resource, to);
}

static int
tg_schema_build_schemas(tg_schema_compiler_t *compile, tg_str_t raw,
                        const tg_schema_node_t *node, tg_schema_nodes_t *nodes)
{
    tg_schema_entries_t entries;
    int rc;

    nodes->list = tg_schema_alloc(compile, tg_schema_count_entries(raw)
                                               * sizeof(*nodes->list));
    rc = nodes->list != NULL ? TG_OK : TG_NOMEM;
    tg_schema_entries_init(&entries, raw);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        rc = tg_schema_build_node(compile, entries.value, node->resource,
                                  &nodes->list[nodes->n++]);
    }

    return rc;
}

TG_SCHEMA_READER(schemas)
{
    if (tg_json_type(raw) != TG_JSON_ARRAY || tg_schema_count_entries(raw) == 0)
    {
        return tg_schema_error_set_value(
            compile, raw, "must be a list of at least one schema");
    }

    return tg_schema_build_schemas(compile, raw, node, to);
}

/* Until 2019-09 a list of schemas in `items` means `prefixItems`. */
TG_SCHEMA_READER(items)
{
    tg_schema_array_rules_t *rules;

    rules = to;

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_schema_read_schema(compile, raw, node, &rules->items);
    }

    if (node->resource->draft == TG_SCHEMA_DRAFT_2020) {
        return tg_schema_error_set(compile, raw.data,
                                   "must be one schema for all items; write a "
                                   "list of schemas as \"prefixItems\"");
    }

    return tg_schema_build_schemas(compile, raw, node, &rules->prefix);
}

/* Reads `additionalItems`, which is ignored without a list in `items`. */
TG_SCHEMA_READER(additional_items)
{
    tg_schema_array_rules_t *rules;
    const tg_schema_node_t *unused;

    rules = to;

    return tg_schema_read_schema(compile, raw, node,
                                 rules->prefix.list != NULL ? &rules->items
                                                            : &unused);
}

/* Collects the values of all keywords; ignores unknown members. */
static int
tg_schema_collect_keywords(tg_schema_compiler_t *compile, tg_str_t raw,
                           tg_schema_keyword_values_t *object)
{
    const tg_schema_keyword_row_t *row;
    tg_schema_entries_t entries;

    memset(object, 0, sizeof(*object));
    tg_schema_entries_init(&entries, raw);

    while (tg_schema_entries_next(&entries)) {
        if (tg_schema_compiler_spend(compile, TG_SCHEMA_STEPS_PER_ENTRY)
            != TG_OK) {
            return TG_LIMIT;
        }

        row = tg_schema_keyword_find(entries.key);

        if (row != NULL) {
            object->k[row - tg_schema_keywords] = entries.value;
        }
    }

    return TG_OK;
}

/*
 * Removes keywords that the draft does not support. Until draft 7 `$ref` hides
 * its siblings; only `definitions` is read, for its ids.
 */
static void
tg_schema_filter_draft(tg_schema_keyword_values_t *object, unsigned draft)
{
    int is_alone;
    size_t i;

    is_alone = (draft & TG_SCHEMA_DRAFTS_UNTIL_7)
               && object->k[TG_SCHEMA_K_REF].data != NULL;

    for (i = 0; i < tg_schema_n_keywords; i++) {
        if (!(tg_schema_keywords[i].drafts & draft)
            || (is_alone && i != TG_SCHEMA_K_REF && i != TG_SCHEMA_K_SCHEMA
                && i != TG_SCHEMA_K_DEFINITIONS))
        {
            object->k[i] = TG_STR_NONE;
        }
    }

    if (draft == TG_SCHEMA_DRAFT_4) {
        object->k[TG_SCHEMA_K_ID] = object->k[TG_SCHEMA_K_OLD_ID];
    }
}

static const size_t tg_schema_part_sizes[] = {
    [TG_SCHEMA_PART_NUMBER] = sizeof(tg_schema_number_rules_t),
    [TG_SCHEMA_PART_STRING] = sizeof(tg_schema_string_rules_t),
    [TG_SCHEMA_PART_ARRAY] = sizeof(tg_schema_array_rules_t),
    [TG_SCHEMA_PART_OBJECT] = sizeof(tg_schema_object_rules_t),
    [TG_SCHEMA_PART_LOGIC] = sizeof(tg_schema_logic_t),
};

static void *
tg_schema_part_new(tg_schema_compiler_t *compile, tg_schema_part_t part)
{
    tg_schema_string_rules_t *string;
    tg_schema_array_rules_t *array;
    tg_schema_object_rules_t *object;
    void *rules;

    rules = tg_schema_alloc(compile, tg_schema_part_sizes[part]);

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

static void
tg_schema_node_set_parts(tg_schema_node_t *node, void *const *parts)
{
    const tg_schema_object_rules_t *object;
    const tg_schema_string_rules_t *string;
    tg_schema_array_rules_t *array;
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
        array->is_contained_evaluated = node->resource->draft
                                        == TG_SCHEMA_DRAFT_2020;
        node->array = array;
    }

    if (object != NULL
        && (object->names.n != 0 || object->n_patterns != 0
            || object->additional != NULL || object->property_names != NULL
            || object->min != 0 || object->max != SIZE_MAX))
    {
        node->object = object;
    }

    /* Without `if` the others have no effect; they must not count as cycles. */
    if (logic != NULL && logic->if_schema == NULL) {
        logic->then_schema = NULL;
        logic->else_schema = NULL;
    }
}

static int
tg_schema_read_keywords(tg_schema_compiler_t *compile,
                        tg_schema_keyword_values_t *object,
                        tg_schema_node_t *node)
{
    void *parts[TG_SCHEMA_N_PARTS] = { NULL };
    unsigned vocabularies;
    tg_schema_part_t part;
    uint64_t nowhere[4] = { 0 };
    size_t i;
    char *to;
    int rc;

    vocabularies = node->resource->vocabularies | TG_SCHEMA_V_CORE;

    for (i = 0, rc = TG_OK; rc == TG_OK && i < tg_schema_n_keywords; i++) {
        /* Keywords that the dialect does not enable are annotations. */
        if (object->k[i].data == NULL || tg_schema_keywords[i].read == NULL
            || !(tg_schema_keywords[i].vocabulary & vocabularies))
        {
            continue;
        }

        part = tg_schema_keywords[i].part;

        if (part < TG_SCHEMA_N_PARTS && parts[part] == NULL) {
            parts[part] = tg_schema_part_new(compile, part);

            if (parts[part] == NULL) {
                return TG_NOMEM;
            }
        }

        to = part < TG_SCHEMA_N_PARTS      ? parts[part]
             : part == TG_SCHEMA_PART_NODE ? (char *) node
                                           : (char *) nowhere;
        rc = tg_schema_keywords[i].read(compile, object->k[i], node,
                                        to + tg_schema_keywords[i].offset);
    }

    tg_schema_node_set_parts(node, parts);

    return rc;
}

static tg_str_t
tg_schema_position_key(const char *const *at)
{
    return tg_str((const char *) at, sizeof(*at));
}

tg_schema_node_t *
tg_schema_node_find(const tg_schema_compiler_t *compile, const char *at)
{
    const tg_schema_name_t *name;
    uint32_t hint;

    hint = 0;
    name = tg_schema_names_find(&compile->node_positions,
                                tg_schema_position_key(&at), &hint);

    return name != NULL ? compile->nodes[name - compile->node_positions.list]
                        : NULL;
}

static int
tg_schema_node_add(tg_schema_compiler_t *compile, tg_schema_node_t *node)
{
    uint32_t index;

    if (tg_schema_grow_array(compile->alloc, &compile->nodes,
                             &compile->cap_nodes, compile->n_nodes + 1,
                             sizeof(*compile->nodes))
            != TG_OK
        || tg_schema_names_add(&compile->node_positions, &compile->temp,
                               tg_schema_position_key(&node->at), &index)
               != TG_OK)
    {
        return TG_NOMEM;
    }

    compile->nodes[compile->n_nodes++] = node;

    return TG_OK;
}

static int
tg_schema_has_rules(const tg_schema_node_t *node,
                    const tg_schema_keyword_values_t *object)
{
    return node->types != TG_SCHEMA_TYPE_ANY || node->constant != NULL
           || node->values != NULL || node->number != NULL
           || node->string != NULL || node->array != NULL
           || node->object != NULL || node->logic != NULL
           || node->unevaluated_items != NULL
           || node->unevaluated_properties != NULL
           || object->k[TG_SCHEMA_K_REF].data != NULL
           || object->k[TG_SCHEMA_K_DYNAMIC_REF].data != NULL
           || object->k[TG_SCHEMA_K_RECURSIVE_REF].data != NULL;
}

static int
tg_schema_build_object(tg_schema_compiler_t *compile, tg_str_t raw,
                       tg_schema_node_t *node)
{
    tg_schema_keyword_values_t object;
    unsigned draft;
    int rc;

    rc = tg_schema_collect_keywords(compile, raw, &object);

    if (rc != TG_OK) {
        return rc;
    }

    draft = tg_schema_resolve_draft(compile, object.k[TG_SCHEMA_K_SCHEMA],
                                    node->resource->draft);
    tg_schema_filter_draft(&object, draft);
    rc = tg_schema_build_identity(compile, &object, draft, node);

    if (rc == TG_OK) {
        rc = tg_schema_read_keywords(compile, &object, node);
    }

    node->is_true = !tg_schema_has_rules(node, &object);

    return rc;
}

int
tg_schema_build_node(tg_schema_compiler_t *compile, tg_str_t raw,
                     tg_schema_resource_t *resource,
                     const tg_schema_node_t **out)
{
    tg_schema_node_t *node;
    int rc;

    node = tg_schema_node_find(compile, raw.data);

    if (node != NULL) {
        *out = node;
        return TG_OK;
    }

    if (compile->n_nodes == compile->options.max_subschemas) {
        return tg_schema_error_set(compile, raw.data,
                                   "too many subschemas; split the schema or "
                                   "raise the limit");
    }

    /* The text is read by the parent, for keys, and by the readers. */
    rc = tg_schema_compiler_spend(
        compile,
        TG_SCHEMA_STEPS_PER_NODE + 4 * raw.len / TG_SCHEMA_SKIP_BYTES_PER_STEP);

    if (rc != TG_OK) {
        return rc;
    }

    node = tg_schema_alloc(compile, sizeof(*node));

    if (node == NULL) {
        return TG_NOMEM;
    }

    node->at = raw.data;
    node->len = raw.len;
    node->resource = resource;
    node->types = TG_SCHEMA_TYPE_ANY;
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
        return tg_schema_error_set_value(compile, raw,
                                         "a schema must be an object, true or "
                                         "false");
    }
}
