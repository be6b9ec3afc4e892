/*
 * Readers of the keywords for objects. All property names are in one set, so a
 * validation looks up each key once.
 */
#include "schema/tg_schema_compiler.h"

/* Stores the entry of a name, given as an escaped body. A new name is added. */
static int
tg_schema_intern_key(tg_schema_compiler_t *compile,
                     tg_schema_object_rules_t *rules, tg_str_t body,
                     tg_schema_name_t **name)
{
    uint32_t index;
    tg_str_t text;
    int rc;

    rc = tg_schema_unescape(compile, body, &text);

    if (rc == TG_OK) {
        rc = tg_schema_names_add(&rules->names, &compile->schema->arena, text,
                                 &index);
    }

    if (rc == TG_OK) {
        *name = &rules->names.list[index];
    }

    return rc;
}

static int
tg_schema_intern_listed_name(tg_schema_compiler_t *compile,
                             tg_schema_object_rules_t *rules, tg_str_t raw,
                             tg_schema_name_t **name)
{
    int rc;

    rc = tg_schema_expect_type(compile, raw, TG_JSON_STRING,
                               "a property name, a string");

    return rc == TG_OK ? tg_schema_intern_key(compile, rules,
                                              tg_json_string_body(raw), name)
                       : rc;
}

static int
tg_schema_expect_names(tg_schema_compiler_t *compile, tg_str_t raw)
{
    return tg_schema_expect_type(compile, raw, TG_JSON_ARRAY,
                                 "a list of property names");
}

static int
tg_schema_expect_object(tg_schema_compiler_t *compile, tg_str_t raw,
                        tg_schema_entries_t *entries)
{
    tg_schema_entries_init(entries, raw);

    return tg_schema_expect_type(compile, raw, TG_JSON_OBJECT, "an object");
}

TG_SCHEMA_READER(required)
{
    tg_schema_object_rules_t *rules;
    tg_schema_entries_t entries;
    tg_schema_name_t *name;
    int rc;

    rules = to;
    rc = tg_schema_expect_names(compile, raw);
    tg_schema_entries_init(&entries, raw);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        rc = tg_schema_intern_listed_name(compile, rules, entries.value, &name);

        if (rc != TG_OK) {
            break;
        }

        if (name->is_required) {
            return tg_schema_error_set_value(compile, entries.value,
                                             TG_SCHEMA_DUPLICATE_TEXT);
        }

        name->is_required = 1;
        rules->has_required_rules = 1;
    }

    return rc;
}

static int
tg_schema_build_dependent_required(tg_schema_compiler_t *compile,
                                   tg_schema_object_rules_t *rules,
                                   tg_str_t body, tg_str_t raw)
{
    tg_schema_entries_t entries;
    tg_schema_name_t *name;
    uint32_t *dependent_required, n, i;
    int rc;

    rc = tg_schema_expect_names(compile, raw);

    if (rc != TG_OK) {
        return rc;
    }

    dependent_required = tg_schema_alloc(
        compile, tg_schema_count_entries(raw) * sizeof(*dependent_required));
    rc = dependent_required != NULL ? TG_OK : TG_NOMEM;
    tg_schema_entries_init(&entries, raw);

    for (n = 0; rc == TG_OK && tg_schema_entries_next(&entries); n++) {
        /* Each name is compared with all earlier ones. */
        rc = tg_schema_compiler_spend(compile,
                                      TG_SCHEMA_STEPS_PER_ENTRY + n / 8);

        if (rc != TG_OK) {
            return rc;
        }

        rc = tg_schema_intern_listed_name(compile, rules, entries.value, &name);

        if (rc != TG_OK) {
            return rc;
        }

        dependent_required[n] = (uint32_t) (name - rules->names.list);

        for (i = 0; i < n; i++) {
            if (dependent_required[i] == dependent_required[n]) {
                return tg_schema_error_set_value(compile, entries.value,
                                                 TG_SCHEMA_DUPLICATE_TEXT);
            }
        }
    }

    if (rc == TG_OK) {
        rc = tg_schema_intern_key(compile, rules, body, &name);
    }

    if (rc == TG_OK) {
        name->dependent_required = dependent_required;
        name->n_dependent_required = n;
        rules->has_required_rules = 1;
    }

    return rc;
}

TG_SCHEMA_READER(dependent_required)
{
    tg_schema_entries_t entries;
    int rc;

    rc = tg_schema_expect_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        rc = tg_schema_build_dependent_required(compile, to, entries.key,
                                                entries.value);
    }

    return rc;
}

typedef enum {
    TG_SCHEMA_NAMED_PROPERTIES,
    TG_SCHEMA_NAMED_DEPENDENTS,
    /* Until draft 7 this keyword has dependent schemas and names. */
    TG_SCHEMA_NAMED_DEPENDENCIES
} tg_schema_named_t;

static int
tg_schema_read_named_schemas(tg_schema_compiler_t *compile, tg_str_t raw,
                             const tg_schema_node_t *node,
                             tg_schema_object_rules_t *rules,
                             tg_schema_named_t named)
{
    tg_schema_entries_t entries;
    const tg_schema_node_t *built;
    tg_schema_name_t *name;
    int rc;

    rc = tg_schema_expect_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        if (named == TG_SCHEMA_NAMED_DEPENDENCIES
            && tg_json_type(entries.value) == TG_JSON_ARRAY)
        {
            rc = tg_schema_build_dependent_required(compile, rules, entries.key,
                                                    entries.value);
            continue;
        }

        rc = tg_schema_build_node(compile, entries.value, node->resource,
                                  &built);

        if (rc == TG_OK) {
            rc = tg_schema_intern_key(compile, rules, entries.key, &name);
        }

        if (rc == TG_OK && named == TG_SCHEMA_NAMED_PROPERTIES) {
            name->schema = built;

        } else if (rc == TG_OK) {
            name->dependent_schema = built;
            rules->has_required_rules = 1;
        }
    }

    return rc;
}

TG_SCHEMA_READER(properties)
{
    return tg_schema_read_named_schemas(compile, raw, node, to,
                                        TG_SCHEMA_NAMED_PROPERTIES);
}

TG_SCHEMA_READER(dependent_schema)
{
    return tg_schema_read_named_schemas(compile, raw, node, to,
                                        TG_SCHEMA_NAMED_DEPENDENTS);
}

TG_SCHEMA_READER(dependencies)
{
    return tg_schema_read_named_schemas(compile, raw, node, to,
                                        TG_SCHEMA_NAMED_DEPENDENCIES);
}

TG_SCHEMA_READER(patterns)
{
    tg_schema_object_rules_t *rules;
    tg_schema_pattern_t *pattern;
    tg_schema_entries_t entries;
    tg_str_t text;
    int rc;

    rules = to;
    rc = tg_schema_expect_object(compile, raw, &entries);

    if (rc != TG_OK) {
        return rc;
    }

    pattern = tg_schema_alloc(compile,
                              tg_schema_count_entries(raw) * sizeof(*pattern));
    rc = pattern != NULL ? TG_OK : TG_NOMEM;
    rules->patterns = pattern;

    for (/* void */; rc == TG_OK && tg_schema_entries_next(&entries); pattern++)
    {
        rc = tg_schema_unescape(compile, entries.key, &text);

        if (rc == TG_OK) {
            rc = tg_schema_build_pattern(compile, entries.value.data, text,
                                         pattern);
        }

        if (rc == TG_OK) {
            rc = tg_schema_build_node(compile, entries.value, node->resource,
                                      &pattern->schema);
        }

        rules->n_patterns++;
    }

    return rc;
}

/* Compiles even schemas that nothing refers to, to find mistakes. */
TG_SCHEMA_READER(defs)
{
    tg_schema_entries_t entries;
    const tg_schema_node_t *built;
    int rc;

    rc = tg_schema_expect_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entries_next(&entries)) {
        rc = tg_schema_build_node(compile, entries.value, node->resource,
                                  &built);
    }

    return rc;
}
