/*
 * Keywords about the members of an object.  All names that they mention go
 * into one set, so that checking looks a key up once.
 */
#include "schema/tg_schema_compile.h"

typedef struct {
    tg_schema_compile_t *compile;
    const tg_schema_node_t *node;
    tg_schema_object_rules_t *rules;
} tg_schema_members_build_t;

static int
tg_schema_need_object(tg_schema_compile_t *compile, tg_str_t raw)
{
    if (raw.data != NULL && tg_json_type(raw) != TG_JSON_OBJECT) {
        return tg_schema_mistake_value(compile, raw, "must be an object");
    }

    return TG_OK;
}

static int
tg_schema_need_array(tg_schema_compile_t *compile, tg_str_t raw)
{
    if (raw.data != NULL && tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_schema_mistake_value(compile, raw,
                                       "must be a list of property names");
    }

    return TG_OK;
}

/* The most names that the keywords can mention, with their types checked. */
static int
tg_schema_count_names(tg_schema_compile_t *compile,
                      const tg_schema_object_t *object, size_t *n)
{
    static const tg_schema_keyword_t objects[] = {
        TG_SCHEMA_K_PROPERTIES, TG_SCHEMA_K_PATTERNS,
        TG_SCHEMA_K_DEPENDENT_SCHEMAS, TG_SCHEMA_K_DEPENDENT_REQUIRED
    };
    tg_str_t raw, key, value;
    tg_json_t json;
    size_t i, sum;
    int rc;

    raw = object->k[TG_SCHEMA_K_REQUIRED];
    rc = tg_schema_need_array(compile, raw);
    sum = rc == TG_OK && raw.data != NULL ? tg_schema_size(raw) : 0;

    for (i = 0; rc == TG_OK && i < sizeof(objects) / sizeof(objects[0]); i++) {
        raw = object->k[objects[i]];
        rc = tg_schema_need_object(compile, raw);

        if (rc == TG_OK && raw.data != NULL
            && objects[i] != TG_SCHEMA_K_PATTERNS) {
            sum += tg_schema_size(raw);
        }
    }

    if (rc != TG_OK || raw.data == NULL) {
        *n = sum;
        return rc;
    }

    tg_json_init(&json, raw);
    (void) tg_json_object(&json);

    while (rc == TG_OK && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_schema_need_array(compile, value);
        sum += rc == TG_OK ? tg_schema_size(value) : 0;
    }

    *n = sum;

    return rc;
}

static int
tg_schema_name_index(tg_schema_members_build_t *build, tg_str_t body,
                     uint32_t *index)
{
    tg_str_t text;
    int rc;

    rc = tg_schema_decode(build->compile, body, &text);

    if (rc == TG_OK) {
        *index = tg_schema_names_add(&build->rules->names, text);
    }

    return rc;
}

/* properties, or dependentSchemas. */
static int
tg_schema_build_named(tg_schema_members_build_t *build, tg_str_t raw,
                      int is_dependent)
{
    tg_schema_node_t *built;
    tg_schema_name_t *name;
    tg_str_t key, value;
    tg_json_t json;
    uint32_t index;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    tg_json_init(&json, raw);
    rc = tg_json_object(&json);

    while (rc == TG_OK && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_schema_name_index(build, key, &index);

        if (rc == TG_OK) {
            rc = tg_schema_build(build->compile, value, build->node->resource,
                                 &built);
        }

        if (rc != TG_OK) {
            break;
        }

        name = &build->rules->names.list[index];

        if (is_dependent) {
            name->dependent = built;
            build->rules->has_presence = 1;
        } else {
            name->schema = built;
            build->rules->n_properties++;
        }
    }

    return rc;
}

static int
tg_schema_read_name(tg_schema_members_build_t *build, tg_str_t raw,
                    uint32_t *index)
{
    if (tg_json_type(raw) != TG_JSON_STRING) {
        return tg_schema_mistake_value(build->compile, raw,
                                       "must be a property name, a string");
    }

    return tg_schema_name_index(build, tg_json_body(raw), index);
}

static int
tg_schema_build_required(tg_schema_members_build_t *build, tg_str_t raw)
{
    tg_schema_name_t *name;
    tg_json_t json;
    tg_str_t item;
    uint32_t index;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    index = 0;
    tg_json_init(&json, raw);
    rc = tg_json_array(&json);

    while (rc == TG_OK && tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &item);
        rc = tg_schema_read_name(build, item, &index);

        if (rc != TG_OK) {
            break;
        }

        name = &build->rules->names.list[index];

        if (name->is_required) {
            return tg_schema_mistake_value(build->compile, item,
                                           "must be there only once");
        }

        name->is_required = 1;
        build->rules->has_presence = 1;
    }

    return rc;
}

/* One member of dependentRequired. */
static int
tg_schema_build_needs(tg_schema_members_build_t *build, uint32_t owner,
                      tg_str_t raw)
{
    tg_json_t json;
    uint32_t *needs, n, i;
    tg_str_t item;
    int rc;

    needs = tg_schema_get(build->compile, tg_schema_size(raw) * sizeof(*needs));

    if (needs == NULL) {
        return TG_NOMEM;
    }

    tg_json_init(&json, raw);
    rc = tg_json_array(&json);
    n = 0;

    while (rc == TG_OK && tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &item);
        rc = tg_schema_read_name(build, item, &needs[n]);

        for (i = 0; rc == TG_OK && i < n; i++) {
            if (needs[i] == needs[n]) {
                return tg_schema_mistake_value(build->compile, item,
                                               "must be there only once");
            }
        }

        n++;
    }

    build->rules->names.list[owner].needs = needs;
    build->rules->names.list[owner].n_needs = n;
    build->rules->has_presence = 1;

    return rc;
}

static int
tg_schema_build_dependent(tg_schema_members_build_t *build, tg_str_t raw)
{
    tg_str_t key, value;
    tg_json_t json;
    uint32_t index;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    tg_json_init(&json, raw);
    rc = tg_json_object(&json);

    while (rc == TG_OK && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_schema_name_index(build, key, &index);

        if (rc == TG_OK) {
            rc = tg_schema_build_needs(build, index, value);
        }
    }

    return rc;
}

static int
tg_schema_build_patterns(tg_schema_members_build_t *build, tg_str_t raw)
{
    tg_schema_pattern_t *patterns;
    tg_schema_node_t *built;
    tg_str_t key, value, text;
    tg_json_t json;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    patterns = tg_schema_get(build->compile,
                             tg_schema_size(raw) * sizeof(*patterns));

    if (patterns == NULL) {
        return TG_NOMEM;
    }

    build->rules->patterns = patterns;
    tg_json_init(&json, raw);
    rc = tg_json_object(&json);

    while (rc == TG_OK && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_schema_decode(build->compile, key, &text);

        if (rc == TG_OK) {
            rc = tg_schema_build_pattern(build->compile, value.data, text,
                                         patterns);
        }

        if (rc == TG_OK) {
            rc = tg_schema_build(build->compile, value, build->node->resource,
                                 &built);
        }

        if (rc == TG_OK) {
            patterns->schema = built;
            patterns++;
            build->rules->n_patterns++;
        }
    }

    return rc;
}

/* additionalProperties, propertyNames, unevaluatedProperties. */
static int
tg_schema_build_rest(tg_schema_members_build_t *build,
                     const tg_schema_object_t *object, tg_schema_node_t *node)
{
    const struct {
        tg_schema_keyword_t keyword;
        const tg_schema_node_t **to;
    } rest[] = {
        { TG_SCHEMA_K_ADDITIONAL, &build->rules->additional },
        { TG_SCHEMA_K_NAMES, &build->rules->key_schema },
        { TG_SCHEMA_K_UNEVALUATED_PROPERTIES, &node->unevaluated_properties },
    };
    tg_schema_node_t *built;
    tg_str_t raw;
    size_t i;
    int rc;

    for (i = 0, rc = TG_OK; rc == TG_OK && i < sizeof(rest) / sizeof(rest[0]);
         i++) {
        raw = object->k[rest[i].keyword];

        if (raw.data != NULL) {
            rc = tg_schema_build(build->compile, raw, node->resource, &built);
            *rest[i].to = built;
        }
    }

    return rc;
}

/* $defs holds schemas that nobody uses by itself, but that may be wrong. */
static int
tg_schema_build_defs(tg_schema_compile_t *compile, tg_str_t raw,
                     const tg_schema_node_t *node)
{
    tg_schema_node_t *built;
    tg_str_t key, value;
    tg_json_t json;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    rc = tg_schema_need_object(compile, raw);
    tg_json_init(&json, raw);
    (void) tg_json_object(&json);

    while (rc == TG_OK && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_schema_build(compile, value, node->resource, &built);
    }

    return rc;
}

static int
tg_schema_has_members(const tg_schema_object_rules_t *rules)
{
    return rules->names.n != 0 || rules->n_patterns != 0
           || rules->additional != NULL || rules->key_schema != NULL
           || rules->min != 0 || rules->max != SIZE_MAX;
}

int
tg_schema_build_members(tg_schema_compile_t *compile,
                        const tg_schema_object_t *object,
                        tg_schema_node_t *node)
{
    tg_schema_members_build_t build;
    const tg_str_t *k;
    size_t n;
    int rc;

    k = object->k;
    build.compile = compile;
    build.node = node;
    build.rules = tg_schema_get(compile, sizeof(*build.rules));

    if (build.rules == NULL) {
        return TG_NOMEM;
    }

    build.rules->max = SIZE_MAX;

    if ((rc = tg_schema_build_defs(compile, k[TG_SCHEMA_K_DEFS], node)) != TG_OK
        || (rc = tg_schema_count_names(compile, object, &n)) != TG_OK
        || (rc = tg_schema_names_init(&build.rules->names,
                                      &compile->schema->arena, n))
               != TG_OK
        || (rc = tg_schema_build_named(&build, k[TG_SCHEMA_K_PROPERTIES], 0))
               != TG_OK
        || (rc = tg_schema_build_patterns(&build, k[TG_SCHEMA_K_PATTERNS]))
               != TG_OK
        || (rc = tg_schema_build_rest(&build, object, node)) != TG_OK
        || (rc = tg_schema_build_required(&build, k[TG_SCHEMA_K_REQUIRED]))
               != TG_OK
        || (rc = tg_schema_build_named(&build, k[TG_SCHEMA_K_DEPENDENT_SCHEMAS],
                                       1))
               != TG_OK
        || (rc = tg_schema_build_dependent(&build,
                                           k[TG_SCHEMA_K_DEPENDENT_REQUIRED]))
               != TG_OK
        || (rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MIN_PROPERTIES],
                                     &build.rules->min))
               != TG_OK
        || (rc = tg_schema_read_size(compile, k[TG_SCHEMA_K_MAX_PROPERTIES],
                                     &build.rules->max))
               != TG_OK)
    {
        return rc;
    }

    if (tg_schema_has_members(build.rules)) {
        node->object = build.rules;
    }

    return TG_OK;
}
