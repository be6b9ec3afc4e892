/* Validation of objects and arrays, including unevaluated… rules. */
#include "schema/tg_schema_validator.h"

typedef struct {
    const tg_schema_object_rules_t *rules;
    const char *at;
    const tg_schema_bitset_t *marks;
    tg_schema_walk_t walk;
    tg_schema_bitset_t seen; /* names of the schema that were found */
    uint32_t hint;
} tg_schema_object_walk_t;

static void
tg_schema_append_known_names(tg_buf_t *out, const tg_schema_names_t *names)
{
    const char *word;
    size_t i, start;

    word = "; known are ";
    start = out->len;

    for (i = 0; i < names->n; i++) {
        if (names->list[i].schema == NULL || names->list[i].schema->is_false) {
            continue;
        }

        if (out->len - start > 400) {
            tg_buf_append_cstr(out, ", …");
            return;
        }

        tg_buf_append_cstr(out, word);
        tg_schema_append_quoted(out, names->list[i].name);
        word = ", ";
    }
}

static int
tg_schema_check_additional(tg_schema_run_t *run,
                           const tg_schema_object_rules_t *rules,
                           const char *at)
{
    tg_buf_t *out;

    if (!rules->additional->is_false) {
        return tg_schema_check_child(run, rules->additional, at);
    }

    if (tg_schema_run_spend(run, 1) != TG_OK) {
        return TG_LIMIT;
    }

    run->level++;
    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_VALUE);
    run->level--;

    if (out != NULL) {
        tg_buf_append_cstr(out, "unknown property");
        tg_schema_append_known_names(out, &rules->names);
    }

    return TG_INVALID;
}

static int
tg_schema_check_patterns(tg_schema_run_t *run,
                         const tg_schema_object_walk_t *members, int *is_known)
{
    const tg_schema_pattern_t *pattern;
    tg_str_t text;
    size_t i;
    int rc;

    for (i = 0; i < members->rules->n_patterns; i++) {
        pattern = &members->rules->patterns[i];

        /* Checking a child may have overwritten the decoded key. */
        rc = tg_schema_run_unescape(run, members->walk.key, &text);

        if (rc == TG_OK) {
            rc = tg_schema_match_pattern(run, pattern, text);
        }

        if (rc == TG_OK) {
            *is_known = 1;
            rc = tg_schema_check_child(run, pattern->schema,
                                       members->walk.value);
        }

        if (rc != TG_OK && rc != TG_MISSING) {
            return rc;
        }
    }

    return TG_OK;
}

/* Stores the entry of the member's key, or NULL. Fails for a repeated key. */
static int
tg_schema_find_member_name(tg_schema_run_t *run,
                           tg_schema_object_walk_t *members,
                           const tg_schema_name_t **name)
{
    tg_str_t text;
    size_t index;
    int rc;

    rc = tg_schema_run_unescape(run, members->walk.key, &text);

    if (rc != TG_OK) {
        return rc;
    }

    *name = tg_schema_find_name(run, &members->rules->names, text,
                                &members->hint);

    if (*name == NULL) {
        return TG_OK;
    }

    index = (size_t) (*name - members->rules->names.list);

    if (tg_schema_bitset_has(run, &members->seen, index)) {
        return tg_schema_fail_duplicate_key(run, members->at,
                                            members->walk.key);
    }

    tg_schema_bitset_set(run, &members->seen, index);

    return TG_OK;
}

static int
tg_schema_check_property_name(tg_schema_run_t *run,
                              const tg_schema_object_walk_t *members)
{
    tg_buf_t *out;
    tg_str_t key;
    int rc;

    key = tg_str(members->walk.key.data - 1, members->walk.key.len + 2);
    run->level++;
    rc = tg_schema_try_node(run, members->rules->property_names, key.data,
                            NULL);
    run->level--;

    if (rc != TG_INVALID) {
        return rc;
    }

    out = tg_schema_fail_begin(run, members->at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_append_cstr(out, "the name ");
        tg_schema_append_value(out, key);
        tg_buf_append_cstr(out, " is not allowed (propertyNames)");
    }

    return TG_INVALID;
}

static int
tg_schema_check_member(tg_schema_run_t *run, tg_schema_object_walk_t *members)
{
    const tg_schema_object_rules_t *rules;
    const tg_schema_name_t *name;
    int is_known, rc;

    rules = members->rules;
    name = NULL;
    rc = rules->names.n != 0 ? tg_schema_find_member_name(run, members, &name)
                             : TG_OK;

    if (rc == TG_OK && rules->property_names != NULL) {
        rc = tg_schema_check_property_name(run, members);
    }

    is_known = name != NULL && name->schema != NULL;

    if (rc == TG_OK && is_known) {
        rc = tg_schema_check_child(run, name->schema, members->walk.value);
    }

    if (rc == TG_OK && rules->n_patterns != 0) {
        rc = tg_schema_check_patterns(run, members, &is_known);
    }

    if (rc == TG_OK && !is_known && rules->additional != NULL) {
        is_known = 1;
        rc = tg_schema_check_additional(run, rules, members->walk.value);
    }

    if (is_known && members->marks != NULL) {
        tg_schema_bitset_set(run, members->marks, members->walk.index);
    }

    return rc;
}

static int
tg_schema_check_dependent_required(tg_schema_run_t *run,
                                   const tg_schema_object_walk_t *members,
                                   const tg_schema_name_t *name)
{
    tg_buf_t *out;
    uint32_t i;

    for (i = 0; i < name->n_dependent_required; i++) {
        if (tg_schema_bitset_has(run, &members->seen,
                                 name->dependent_required[i])) {
            continue;
        }

        out = tg_schema_fail_missing_begin(
            run, members->at,
            members->rules->names.list[name->dependent_required[i]].name);

        if (out != NULL) {
            tg_buf_append_cstr(out, "missing; required when ");
            tg_schema_append_quoted(out, name->name);
            tg_buf_append_cstr(out, " is given");
        }

        return TG_INVALID;
    }

    return TG_OK;
}

static int
tg_schema_check_required(tg_schema_run_t *run,
                         const tg_schema_object_walk_t *members)
{
    const tg_schema_names_t *names;
    const tg_schema_name_t *name;
    tg_buf_t *out;
    uint32_t i;
    int rc;

    names = &members->rules->names;
    rc = tg_schema_run_spend(run, 1 + names->n / 4);

    for (i = 0; rc == TG_OK && i < names->n; i++) {
        name = &names->list[i];

        if (tg_schema_bitset_has(run, &members->seen, i)) {
            rc = tg_schema_check_dependent_required(run, members, name);

            if (rc == TG_OK && name->dependent_schema != NULL) {
                rc = tg_schema_check_node(run, name->dependent_schema,
                                          members->at, members->marks);
            }

        } else if (name->is_required) {
            out = tg_schema_fail_missing_begin(run, members->at, name->name);

            if (out != NULL) {
                tg_buf_append_cstr(out, "missing; this property is required");
            }

            rc = TG_INVALID;
        }
    }

    return rc;
}

static int
tg_schema_check_property_count(tg_schema_run_t *run,
                               const tg_schema_object_walk_t *members)
{
    static const char *const properties[] = { " property", " properties" };
    tg_schema_duplicate_t same;
    int rc;

    rc = tg_schema_check_count_range(run, members->at, members->walk.index,
                                     members->rules->min, members->rules->max,
                                     properties);

    if (rc != TG_OK || members->rules->min <= 1) {
        return rc;
    }

    /* A duplicate key must not count as two properties. */
    rc = tg_schema_find_duplicate(run, members->at, &same);

    return rc == TG_END ? tg_schema_fail_duplicate_key(
               run, members->at,
               tg_json_string_body(tg_schema_get_raw(run, same.at)))
                        : rc;
}

/*
 * Searches the rest of an object after a failure for duplicate keys: `not` or
 * `if` may turn a silent failure into success, but a duplicate key must be
 * reported. TG_INVALID: there is none.
 */
static int
tg_schema_find_later_duplicate(tg_schema_run_t *run,
                               tg_schema_object_walk_t *members)
{
    const tg_schema_name_t *name;
    int rc;

    if (run->error != NULL || members->rules->names.n == 0) {
        return TG_INVALID;
    }

    do {
        rc = tg_schema_walk_next(run, &members->walk);

        if (rc == TG_OK) {
            rc = tg_schema_find_member_name(run, members, &name);
        }
    } while (rc == TG_OK);

    return rc == TG_END ? TG_INVALID : rc;
}

int
tg_schema_check_object(tg_schema_run_t *run, const tg_schema_node_t *node,
                       const char *at, const tg_schema_bitset_t *marks)
{
    tg_schema_object_walk_t members;
    size_t words;
    int rc;

    words = run->validator->n_words;
    memset(&members, 0, sizeof(members));
    members.rules = node->object;
    members.at = at;
    members.marks = marks;
    tg_schema_walk_init(&members.walk, at);
    rc = tg_schema_bitset_alloc(run, members.rules->names.n, &members.seen);

    while (rc == TG_OK) {
        rc = tg_schema_walk_next(run, &members.walk);

        if (rc == TG_OK) {
            rc = tg_schema_check_member(run, &members);
        }
    }

    if (rc == TG_INVALID) {
        rc = tg_schema_find_later_duplicate(run, &members);

    } else if (rc == TG_END) {
        rc = tg_schema_check_property_count(run, &members);
    }

    if (rc == TG_OK && members.rules->has_required_rules) {
        rc = tg_schema_check_required(run, &members);
    }

    run->validator->n_words = words;

    return rc;
}

static int
tg_schema_check_element(tg_schema_run_t *run,
                        const tg_schema_array_rules_t *rules,
                        const tg_schema_walk_t *walk,
                        const tg_schema_bitset_t *marks, size_t *n_fit)
{
    const tg_schema_node_t *node;
    int is_known, rc;

    node = walk->index < rules->prefix.n ? rules->prefix.list[walk->index]
                                         : rules->items;
    is_known = node != NULL;
    rc = TG_OK;

    if (node != NULL) {
        rc = tg_schema_check_child(run, node, walk->value);
    }

    if (rc == TG_OK && rules->contains != NULL) {
        run->level++;
        rc = tg_schema_try_node(run, rules->contains, walk->value, NULL);
        run->level--;

        if (rc == TG_OK) {
            is_known |= rules->is_contained_evaluated;
            (*n_fit)++;

        } else if (rc == TG_INVALID) {
            rc = TG_OK;
        }
    }

    if (is_known && marks != NULL) {
        tg_schema_bitset_set(run, marks, walk->index);
    }

    return rc;
}

static int
tg_schema_check_unique(tg_schema_run_t *run, const char *at)
{
    tg_schema_duplicate_t same;
    tg_buf_t *out;
    int rc;

    rc = tg_schema_find_duplicate(run, at, &same);

    if (rc != TG_END) {
        return rc;
    }

    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_append_cstr(out, "items must be unique, but ");
        tg_buf_append_uint(out, same.first);
        tg_buf_append_cstr(out, " and ");
        tg_buf_append_uint(out, same.second);
        tg_buf_append_cstr(out, " are equal: ");
        tg_schema_append_value(out, tg_schema_get_raw(run, same.at));
    }

    return TG_INVALID;
}

int
tg_schema_check_array(tg_schema_run_t *run, const tg_schema_node_t *node,
                      const char *at, const tg_schema_bitset_t *marks)
{
    static const char *const items[] = { " item", " items" };
    static const char *const fitting[] = { " item that matches \"contains\"",
                                           " items that match \"contains\"" };
    const tg_schema_array_rules_t *rules;
    tg_schema_walk_t walk;
    size_t n_fit;
    int rc;

    rules = node->array;
    n_fit = 0;
    tg_schema_walk_init(&walk, at);

    while ((rc = tg_schema_walk_next(run, &walk)) == TG_OK) {
        rc = tg_schema_check_element(run, rules, &walk, marks, &n_fit);

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    rc = tg_schema_check_count_range(run, at, walk.index, rules->min,
                                     rules->max, items);

    if (rc == TG_OK && rules->contains != NULL) {
        rc = tg_schema_check_count_range(run, at, n_fit, rules->min_contains,
                                         rules->max_contains, fitting);
    }

    if (rc == TG_OK && rules->is_unique && walk.index > 1) {
        rc = tg_schema_check_unique(run, at);
    }

    return rc;
}

static int
tg_schema_check_unevaluated_entry(tg_schema_run_t *run,
                                  const tg_schema_node_t *node, const char *at,
                                  int is_object)
{
    int rc;

    if (!node->is_false) {
        return tg_schema_check_child(run, node, at);
    }

    run->level++;
    rc = tg_schema_fail_text(run, at, TG_SCHEMA_FAIL_VALUE,
                             is_object
                                 ? "unknown property (unevaluatedProperties)"
                                 : "item not allowed (unevaluatedItems)");
    run->level--;

    return rc;
}

int
tg_schema_check_unevaluated(tg_schema_run_t *run, const tg_schema_node_t *node,
                            const char *at, const tg_schema_bitset_t *marks)
{
    const tg_schema_node_t *rest;
    tg_schema_walk_t walk;
    int is_object, rc;

    is_object = *at == '{';
    rest = is_object ? node->unevaluated_properties : node->unevaluated_items;
    tg_schema_walk_init(&walk, at);

    for (;;) {
        rc = tg_schema_walk_next(run, &walk);

        if (rc != TG_OK) {
            return rc == TG_END ? TG_OK : rc;
        }

        if (!tg_schema_bitset_has(run, marks, walk.index)) {
            rc = tg_schema_check_unevaluated_entry(run, rest, walk.value,
                                                   is_object);

            if (rc != TG_OK) {
                return rc;
            }
        }
    }
}
