/* Keywords that hold schemas. */
#include "schema/tg_schema_compile.h"

/* An absent keyword leaves *node as it is. */
static int
tg_schema_build_one(tg_schema_compile_t *compile, tg_str_t raw,
                    const tg_schema_node_t *parent,
                    const tg_schema_node_t **node)
{
    tg_schema_node_t *built;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    rc = tg_schema_build(compile, raw, parent->resource, &built);

    if (rc == TG_OK) {
        *node = built;
    }

    return rc;
}

static int
tg_schema_build_nodes(tg_schema_compile_t *compile, tg_str_t raw,
                      const tg_schema_node_t *parent, tg_schema_nodes_t *nodes)
{
    tg_json_t json;
    tg_str_t item;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_ARRAY || tg_schema_size(raw) == 0) {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a list of at least one schema");
    }

    nodes->list = tg_schema_get(compile,
                                tg_schema_size(raw) * sizeof(*nodes->list));

    if (nodes->list == NULL) {
        return TG_NOMEM;
    }

    tg_json_init(&json, raw);
    rc = tg_json_array(&json);

    while (rc == TG_OK && tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &item);
        rc = tg_schema_build(compile, item, parent->resource,
                             &nodes->list[nodes->n]);
        nodes->n++;
    }

    return rc;
}

int
tg_schema_build_logic(tg_schema_compile_t *compile,
                      const tg_schema_object_t *object, tg_schema_node_t *node)
{
    static const tg_schema_keyword_t used[] = {
        TG_SCHEMA_K_ALL, TG_SCHEMA_K_ANY,  TG_SCHEMA_K_ONE, TG_SCHEMA_K_NOT,
        TG_SCHEMA_K_IF,  TG_SCHEMA_K_THEN, TG_SCHEMA_K_ELSE
    };
    tg_schema_logic_t *logic;
    const tg_str_t *k;
    size_t i;
    int rc;

    k = object->k;

    for (i = 0; k[used[i]].data == NULL; i++) {
        if (i + 1 == sizeof(used) / sizeof(used[0])) {
            return TG_OK;
        }
    }

    logic = tg_schema_get(compile, sizeof(*logic));

    if (logic == NULL) {
        return TG_NOMEM;
    }

    node->logic = logic;

    if ((rc = tg_schema_build_nodes(compile, k[TG_SCHEMA_K_ALL], node,
                                    &logic->all))
            != TG_OK
        || (rc = tg_schema_build_nodes(compile, k[TG_SCHEMA_K_ANY], node,
                                       &logic->any))
               != TG_OK
        || (rc = tg_schema_build_nodes(compile, k[TG_SCHEMA_K_ONE], node,
                                       &logic->one))
               != TG_OK
        || (rc = tg_schema_build_one(compile, k[TG_SCHEMA_K_NOT], node,
                                     &logic->none))
               != TG_OK
        || (rc = tg_schema_build_one(compile, k[TG_SCHEMA_K_IF], node,
                                     &logic->when))
               != TG_OK
        || (rc = tg_schema_build_one(compile, k[TG_SCHEMA_K_THEN], node,
                                     &logic->then))
               != TG_OK
        || (rc = tg_schema_build_one(compile, k[TG_SCHEMA_K_ELSE], node,
                                     &logic->otherwise))
               != TG_OK)
    {
        return rc;
    }

    /* Without `if`, the others mean nothing, and may not form loops. */
    if (logic->when == NULL) {
        logic->then = NULL;
        logic->otherwise = NULL;
    }

    return TG_OK;
}

static int
tg_schema_read_flag(tg_schema_compile_t *compile, tg_str_t raw, int *flag)
{
    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_TRUE && tg_json_type(raw) != TG_JSON_FALSE)
    {
        return tg_schema_mistake_value(compile, raw, "must be true or false");
    }

    *flag = tg_json_type(raw) == TG_JSON_TRUE;

    return TG_OK;
}

static int
tg_schema_build_items(tg_schema_compile_t *compile,
                      const tg_schema_object_t *object, tg_schema_node_t *node,
                      tg_schema_array_rules_t *rules)
{
    tg_str_t items;
    int rc;

    items = object->k[TG_SCHEMA_K_ITEMS];

    if (tg_json_type(items) == TG_JSON_ARRAY) {
        return tg_schema_mistake(compile, items.data,
                                 "must be one schema for all items; write a "
                                 "list of schemas as \"prefixItems\"");
    }

    if ((rc = tg_schema_build_nodes(compile,
                                    object->k[TG_SCHEMA_K_PREFIX_ITEMS], node,
                                    &rules->prefix))
            != TG_OK
        || (rc = tg_schema_build_one(compile, items, node, &rules->items))
               != TG_OK
        || (rc = tg_schema_build_one(compile, object->k[TG_SCHEMA_K_CONTAINS],
                                     node, &rules->contains))
               != TG_OK)
    {
        return rc;
    }

    return tg_schema_build_one(compile,
                               object->k[TG_SCHEMA_K_UNEVALUATED_ITEMS], node,
                               &node->unevaluated_items);
}

int
tg_schema_build_array(tg_schema_compile_t *compile,
                      const tg_schema_object_t *object, tg_schema_node_t *node)
{
    tg_schema_array_rules_t *rules;
    const tg_str_t *k;
    int rc;

    k = object->k;
    rules = tg_schema_get(compile, sizeof(*rules));

    if (rules == NULL) {
        return TG_NOMEM;
    }

    rules->max = SIZE_MAX;
    rules->min_contains = 1;
    rules->max_contains = SIZE_MAX;

    if ((rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MIN_ITEMS],
                                  &rules->min))
            != TG_OK
        || (rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MAX_ITEMS],
                                     &rules->max))
               != TG_OK
        || (rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MIN_CONTAINS],
                                     &rules->min_contains))
               != TG_OK
        || (rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MAX_CONTAINS],
                                     &rules->max_contains))
               != TG_OK
        || (rc = tg_schema_read_flag(compile, k[TG_SCHEMA_K_UNIQUE],
                                     &rules->is_unique))
               != TG_OK
        || (rc = tg_schema_build_items(compile, object, node, rules)) != TG_OK)
    {
        return rc;
    }

    if (rules->prefix.n != 0 || rules->items != NULL || rules->contains != NULL
        || rules->min != 0 || rules->max != SIZE_MAX || rules->is_unique)
    {
        node->array = rules;
    }

    return TG_OK;
}
