/*
 * Flat objects: most schemas of tools name properties with a type each and
 * little else.  Whether noted members fit one takes a look-up for each, and
 * no pass over their bytes.
 *
 * Here it is only found that they fit.  Where anything is unusual, or wrong,
 * the whole check decides, and has the words for it.
 */
#include "schema/tg_schema_run.h"

/* Names that one word of marks holds. */
#define TG_SCHEMA_FLAT_NAMES 64

/* Does what a note says tell whether a value fits? */
static int
tg_schema_is_plain(const tg_schema_node_t *node)
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

/* Then the marks of the names that are required are stored. */
static int
tg_schema_is_flat(const tg_schema_node_t *node, uint64_t *required)
{
    const tg_schema_object_rules_t *rules;
    const tg_schema_name_t *name;
    uint32_t i;

    rules = node->object;

    if (rules == NULL || node->is_false || !(node->types & TG_SCHEMA_OBJECT)
        || node->constant != NULL || node->values != NULL || node->ref != NULL
        || node->dynamic_ref != NULL || node->logic != NULL
        || node->unevaluated_properties != NULL)
    {
        return 0;
    }

    /* Keys are compared with each other where more than one has to be. */
    if (rules->names.n > TG_SCHEMA_FLAT_NAMES || rules->n_patterns != 0
        || rules->key_schema != NULL || rules->min > 1)
    {
        return 0;
    }

    for (i = 0; i < rules->names.n; i++) {
        name = &rules->names.list[i];

        if (name->dependent != NULL || name->n_needs != 0) {
            return 0;
        }

        *required |= (uint64_t) name->is_required << i;
    }

    return 1;
}

void
tg_schema_flatten(tg_schema_t *schema, tg_schema_node_t *const *nodes, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        nodes[i]->is_plain = tg_schema_is_plain(nodes[i]) ? 1 : 0;
    }

    schema->flat = tg_schema_is_flat(schema->root, &schema->required)
                       ? schema->root->object
                       : NULL;
}

/* Digits alone: then it is whole, whatever its size. */
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

/* Characters are counted by the whole check, where bytes leave a doubt. */
static int
tg_schema_string_fits(const tg_schema_node_t *node, const tg_json_note_t *note)
{
    uint32_t hint;
    size_t len;

    len = note->value.len - 2;

    if (node->values != NULL) {
        hint = 0;

        if (note->escapes != 0
            || tg_schema_names_find(node->values->strings,
                                    tg_json_body(note->value), &hint)
                   == NULL)
        {
            return 0;
        }
    }

    return node->string == NULL
           || (note->escapes == 0 && len <= node->string->max
               && len / 4 >= node->string->min);
}

static int
tg_schema_value_fits(const tg_schema_node_t *node, const tg_json_note_t *note)
{
    unsigned type;

    if (node->is_true) {
        return 1;
    }

    if (!node->is_plain) {
        return 0;
    }

    type = tg_schema_type_at(note->value.data[0]);

    if (type == TG_SCHEMA_STRING) {
        return (node->types & TG_SCHEMA_STRING)
               && tg_schema_string_fits(node, note);
    }

    if (node->values != NULL) {
        return 0;
    }

    return (node->types & type)
           || (type == TG_SCHEMA_NUMBER && (node->types & TG_SCHEMA_INTEGER)
               && tg_schema_is_digits(note->value));
}

int
tg_schema_fits(const tg_schema_t *schema, const tg_json_notes_t *notes)
{
    const tg_schema_object_rules_t *rules;
    const tg_schema_name_t *name;
    const tg_json_note_t *note;
    uint64_t seen, bit;
    uint32_t hint;
    size_t i;

    rules = schema->flat;

    if (rules == NULL || notes == NULL || notes->n > TG_JSON_NOTES
        || notes->n < rules->min || notes->n > rules->max)
    {
        return 0;
    }

    seen = 0;
    hint = 0;

    for (i = 0; i < notes->n; i++) {
        note = &notes->list[i];

        if (note->key_escapes != 0) {
            return 0;
        }

        name = tg_schema_names_find(&rules->names, note->key, &hint);

        if (name != NULL) {
            bit = UINT64_C(1) << (hint - 1);

            /* Given twice. */
            if (seen & bit) {
                return 0;
            }

            seen |= bit;
        }

        if (name != NULL && name->schema != NULL) {
            if (!tg_schema_value_fits(name->schema, note)) {
                return 0;
            }

        } else if (rules->additional != NULL && !rules->additional->is_true) {
            return 0;
        }
    }

    return (schema->required & ~seen) == 0;
}
