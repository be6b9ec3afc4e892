/*
 * Fast path for flat objects: most tool schemas declare little more than a type
 * for each property. An indexed object is checked by one lookup per member. The
 * fast path only confirms validity; in all other cases the full validation
 * decides.
 */
#include "schema/tg_schema_validator.h"

/* Maximum number of names: one bit each in a word. */
#define TG_SCHEMA_FLAT_MAX_NAMES 64

/* Checks whether an indexed member decides the validity of its value. */
static int
tg_schema_is_simple(const tg_schema_node_t *node)
{
    if (node->is_false || node->constant != NULL || node->ref != NULL
        || node->dynamic_ref != NULL || node->logic != NULL
        || node->number != NULL || node->array != NULL || node->object != NULL
        || node->unevaluated_items != NULL
        || node->unevaluated_properties != NULL)
    {
        return 0;
    }

    if (node->values != NULL && node->values->strings == NULL) {
        return 0;
    }

    return node->string == NULL
           || (node->string->pattern == NULL && node->string->format == NULL);
}

/* Stores the required names of such a root as bits. */
static int
tg_schema_has_fast_path(const tg_schema_node_t *node, uint64_t *required)
{
    const tg_schema_object_rules_t *rules;
    const tg_schema_name_t *name;
    uint32_t i;

    rules = node->object;

    if (rules == NULL || node->is_false
        || !(node->types & TG_SCHEMA_TYPE_OBJECT) || node->constant != NULL
        || node->values != NULL || node->ref != NULL
        || node->dynamic_ref != NULL || node->logic != NULL
        || node->unevaluated_properties != NULL)
    {
        return 0;
    }

    /* A minimum of several properties requires a comparison of all keys. */
    if (rules->names.n > TG_SCHEMA_FLAT_MAX_NAMES || rules->n_patterns != 0
        || rules->property_names != NULL || rules->min > 1)
    {
        return 0;
    }

    for (i = 0; i < rules->names.n; i++) {
        name = &rules->names.list[i];

        if (name->dependent_schema != NULL || name->n_dependent_required != 0) {
            return 0;
        }

        *required |= (uint64_t) name->is_required << i;
    }

    return 1;
}

void
tg_schema_prepare_fast_path(tg_schema_t *schema, tg_schema_node_t *const *nodes,
                            size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        nodes[i]->is_simple = tg_schema_is_simple(nodes[i]) ? 1 : 0;
    }

    schema->fast_path_rules = tg_schema_has_fast_path(schema->root,
                                                      &schema->required)
                                  ? schema->root->object
                                  : NULL;
}

/* Checks for digits only, which are an integer of any size. */
static int
tg_schema_is_digits(tg_str_t raw)
{
    size_t i;

    for (i = raw.data[0] == '-'; i < raw.len; i++) {
        if (!tg_is_digit(raw.data[i])) {
            return 0;
        }
    }

    return 1;
}

/* Checks the length in bytes. Returns 0 if characters must be counted. */
static int
tg_schema_is_string_valid_fast(const tg_schema_node_t *node,
                               const tg_json_member_t *member)
{
    uint32_t hint;
    size_t len;

    len = member->value.len - 2;

    if (node->values != NULL) {
        hint = 0;

        if (member->escapes != 0
            || tg_schema_names_find(node->values->strings,
                                    tg_json_string_body(member->value), &hint)
                   == NULL)
        {
            return 0;
        }
    }

    return node->string == NULL
           || (member->escapes == 0 && len <= node->string->max
               && len / 4 >= node->string->min);
}

static int
tg_schema_is_value_valid_fast(const tg_schema_node_t *node,
                              const tg_json_member_t *member)
{
    unsigned type;

    if (node->is_true) {
        return 1;
    }

    if (!node->is_simple) {
        return 0;
    }

    type = tg_schema_type_of_char(member->value.data[0]);

    if (type == TG_SCHEMA_TYPE_STRING) {
        return (node->types & TG_SCHEMA_TYPE_STRING)
               && tg_schema_is_string_valid_fast(node, member);
    }

    if (node->values != NULL) {
        return 0;
    }

    return (node->types & type)
           || (type == TG_SCHEMA_TYPE_NUMBER
               && (node->types & TG_SCHEMA_TYPE_INTEGER)
               && tg_schema_is_digits(member->value));
}

int
tg_schema_is_valid_fast(const tg_schema_t *schema, const tg_json_index_t *index)
{
    const tg_schema_object_rules_t *rules;
    const tg_schema_name_t *name;
    const tg_json_member_t *member;
    uint64_t seen, bit;
    uint32_t hint;
    size_t i;

    rules = schema->fast_path_rules;

    if (rules == NULL || index == NULL || index->n > TG_JSON_INDEX_MAX
        || index->n < rules->min || index->n > rules->max)
    {
        return 0;
    }

    seen = 0;
    hint = 0;

    for (i = 0; i < index->n; i++) {
        member = &index->list[i];

        if (member->key_escapes != 0) {
            return 0;
        }

        name = tg_schema_names_find(&rules->names, member->key, &hint);

        if (name != NULL) {
            bit = UINT64_C(1) << (hint - 1);

            /* duplicate key */
            if (seen & bit) {
                return 0;
            }

            seen |= bit;
        }

        if (name != NULL && name->schema != NULL) {
            if (!tg_schema_is_value_valid_fast(name->schema, member)) {
                return 0;
            }

        } else if (rules->additional != NULL && !rules->additional->is_true) {
            return 0;
        }
    }

    return (schema->required & ~seen) == 0;
}
