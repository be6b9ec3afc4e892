/*
 * Keywords about the members of an object.  All names that they mention go
 * into one set, so that checking looks a key up once.
 */
#include "schema/tg_schema_compile.h"

/* The name of an escaped body, which is added where it is new, or NULL. */
static int
tg_schema_name(tg_schema_compile_t *compile, tg_schema_object_rules_t *rules,
               tg_str_t body, tg_schema_name_t **name)
{
    uint32_t index;
    tg_str_t text;
    int rc;

    rc = tg_schema_decode(compile, body, &text);

    if (rc == TG_OK) {
        rc = tg_schema_names_add(&rules->names, &compile->schema->arena, text,
                                 &index);
    }

    if (rc == TG_OK) {
        *name = &rules->names.list[index];
    }

    return rc;
}

/* The same for the value of a list of names. */
static int
tg_schema_listed(tg_schema_compile_t *compile, tg_schema_object_rules_t *rules,
                 tg_str_t raw, tg_schema_name_t **name)
{
    int rc;

    rc = tg_schema_need(compile, raw, TG_JSON_STRING,
                        "a property name, a string");

    return rc == TG_OK ? tg_schema_name(compile, rules, tg_json_body(raw), name)
                       : rc;
}

static int
tg_schema_need_names(tg_schema_compile_t *compile, tg_str_t raw)
{
    return tg_schema_need(compile, raw, TG_JSON_ARRAY,
                          "a list of property names");
}

static int
tg_schema_need_object(tg_schema_compile_t *compile, tg_str_t raw,
                      tg_schema_entries_t *entries)
{
    tg_schema_entries(entries, raw);

    return tg_schema_need(compile, raw, TG_JSON_OBJECT, "an object");
}

/* properties, or dependentSchemas. */
static int
tg_schema_read_named(tg_schema_compile_t *compile, tg_str_t raw,
                     const tg_schema_node_t *node,
                     tg_schema_object_rules_t *rules, int is_dependent)
{
    tg_schema_entries_t entries;
    const tg_schema_node_t *built;
    tg_schema_name_t *name;
    int rc;

    rc = tg_schema_need_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entry(&entries)) {
        rc = tg_schema_build(compile, entries.value, node->resource, &built);

        if (rc == TG_OK) {
            rc = tg_schema_name(compile, rules, entries.key, &name);
        }

        if (rc == TG_OK && is_dependent) {
            name->dependent = built;
            rules->has_presence = 1;

        } else if (rc == TG_OK) {
            name->schema = built;
        }
    }

    return rc;
}

TG_SCHEMA_READER(properties)
{
    return tg_schema_read_named(compile, raw, node, to, 0);
}

TG_SCHEMA_READER(dependent)
{
    return tg_schema_read_named(compile, raw, node, to, 1);
}

TG_SCHEMA_READER(required)
{
    tg_schema_object_rules_t *rules;
    tg_schema_entries_t entries;
    tg_schema_name_t *name;
    int rc;

    rules = to;
    rc = tg_schema_need_names(compile, raw);
    tg_schema_entries(&entries, raw);

    while (rc == TG_OK && tg_schema_entry(&entries)) {
        rc = tg_schema_listed(compile, rules, entries.value, &name);

        if (rc != TG_OK) {
            break;
        }

        if (name->is_required) {
            return tg_schema_mistake_value(compile, entries.value,
                                           TG_SCHEMA_ONCE);
        }

        name->is_required = 1;
        rules->has_presence = 1;
    }

    return rc;
}

/* One member of dependentRequired. */
static int
tg_schema_build_needs(tg_schema_compile_t *compile,
                      tg_schema_object_rules_t *rules, tg_str_t body,
                      tg_str_t raw)
{
    tg_schema_entries_t entries;
    tg_schema_name_t *name;
    uint32_t *needs, n, i;
    int rc;

    rc = tg_schema_need_names(compile, raw);

    if (rc != TG_OK) {
        return rc;
    }

    needs = tg_schema_get(compile, tg_schema_size(raw) * sizeof(*needs));
    rc = needs != NULL ? TG_OK : TG_NOMEM;
    tg_schema_entries(&entries, raw);

    for (n = 0; rc == TG_OK && tg_schema_entry(&entries); n++) {
        /* It is compared with those before it. */
        rc = tg_schema_work(compile, TG_SCHEMA_ENTRY_STEPS + n / 8);

        if (rc != TG_OK) {
            return rc;
        }

        rc = tg_schema_listed(compile, rules, entries.value, &name);

        if (rc != TG_OK) {
            return rc;
        }

        needs[n] = (uint32_t) (name - rules->names.list);

        for (i = 0; i < n; i++) {
            if (needs[i] == needs[n]) {
                return tg_schema_mistake_value(compile, entries.value,
                                               TG_SCHEMA_ONCE);
            }
        }
    }

    if (rc == TG_OK) {
        rc = tg_schema_name(compile, rules, body, &name);
    }

    if (rc == TG_OK) {
        name->needs = needs;
        name->n_needs = n;
        rules->has_presence = 1;
    }

    return rc;
}

TG_SCHEMA_READER(needs)
{
    tg_schema_entries_t entries;
    int rc;

    rc = tg_schema_need_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entry(&entries)) {
        rc = tg_schema_build_needs(compile, to, entries.key, entries.value);
    }

    return rc;
}

/* What dependentSchemas and dependentRequired were up to draft 7. */
TG_SCHEMA_READER(dependencies)
{
    tg_schema_object_rules_t *rules;
    tg_schema_entries_t entries;
    const tg_schema_node_t *built;
    tg_schema_name_t *name;
    int rc;

    rules = to;
    rc = tg_schema_need_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entry(&entries)) {
        if (tg_json_type(entries.value) == TG_JSON_ARRAY) {
            rc = tg_schema_build_needs(compile, rules, entries.key,
                                       entries.value);
            continue;
        }

        rc = tg_schema_build(compile, entries.value, node->resource, &built);

        if (rc == TG_OK) {
            rc = tg_schema_name(compile, rules, entries.key, &name);
        }

        if (rc == TG_OK) {
            name->dependent = built;
            rules->has_presence = 1;
        }
    }

    return rc;
}

TG_SCHEMA_READER(patterns)
{
    tg_schema_object_rules_t *rules;
    tg_schema_pattern_t *pattern;
    tg_schema_entries_t entries;
    tg_str_t text;
    int rc;

    rules = to;
    rc = tg_schema_need_object(compile, raw, &entries);

    if (rc != TG_OK) {
        return rc;
    }

    pattern = tg_schema_get(compile, tg_schema_size(raw) * sizeof(*pattern));
    rc = pattern != NULL ? TG_OK : TG_NOMEM;
    rules->patterns = pattern;

    for (/* void */; rc == TG_OK && tg_schema_entry(&entries); pattern++) {
        rc = tg_schema_decode(compile, entries.key, &text);

        if (rc == TG_OK) {
            rc = tg_schema_build_pattern(compile, entries.value.data, text,
                                         pattern);
        }

        if (rc == TG_OK) {
            rc = tg_schema_build(compile, entries.value, node->resource,
                                 &pattern->schema);
        }

        rules->n_patterns++;
    }

    return rc;
}

/* $defs holds schemas that nobody uses by itself, but that may be wrong. */
TG_SCHEMA_READER(defs)
{
    tg_schema_entries_t entries;
    const tg_schema_node_t *built;
    int rc;

    rc = tg_schema_need_object(compile, raw, &entries);

    while (rc == TG_OK && tg_schema_entry(&entries)) {
        rc = tg_schema_build(compile, entries.value, node->resource, &built);
    }

    return rc;
}
