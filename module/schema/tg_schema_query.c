/* Queries about the text of a schema, by a bounded walk over its subschemas. */
#include "schema/tg_schema_query.h"

#include "schema/tg_uri.h"

/* Depth of schemas, and visited schemas: hand-written ones have fewer. */
#define TG_SCHEMA_QUERY_MAX_DEPTH 32
#define TG_SCHEMA_QUERY_MAX_SCHEMAS 2000
/* Maximum length of a reference. */
#define TG_SCHEMA_QUERY_REF_MAX 512

typedef struct tg_schema_query_s tg_schema_query_t;

struct tg_schema_query_s {
    tg_str_t root;
    /* Returns 1 if the schema has what the query searches for. */
    int (*visit)(tg_schema_query_t *query, tg_str_t schema);
    /* 1: also visit anyOf, oneOf, if, then, else */
    int visits_alternatives;
    unsigned schemas_left;
    int is_undecided; /* 1: a part of the schema could not be examined */
    int is_declared;
    const char *keyword;
    tg_str_t name;
    tg_schema_key_match_pt match_key;
    tg_str_t key;
    tg_str_t value;
};

int
tg_schema_query_ref(tg_str_t root, tg_str_t ref, size_t *bytes,
                    size_t bytes_max, tg_str_t *target)
{
    char text[TG_SCHEMA_QUERY_REF_MAX], room[TG_SCHEMA_QUERY_REF_MAX];
    tg_str_t pointer, token, found;

    if (ref.len > sizeof(text)) {
        return TG_MISSING;
    }

    pointer = tg_str(text, tg_json_unescape(text, ref));

    if (pointer.len == 0 || pointer.data[0] != '#'
        || memchr(pointer.data, '%', pointer.len) != NULL)
    {
        return TG_MISSING;
    }

    found = root;

    for (pointer = tg_str_skip(pointer, 1); pointer.len != 0; /* void */) {
        if (pointer.data[0] != '/' || *bytes > bytes_max) {
            return TG_MISSING;
        }

        *bytes += found.len;
        token = tg_schema_pointer_next_token(&pointer, room);

        if (tg_json_get_member(found, token, &found) != TG_OK) {
            return TG_MISSING;
        }
    }

    *target = found;

    return TG_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
static int
tg_schema_query_visit_schema(tg_schema_query_t *query, tg_str_t schema,
                             unsigned depth)
{
    static const char *const words[] = { "allOf", "anyOf", "oneOf",
                                         "if",    "then",  "else" };
    tg_str_t value, item;
    tg_json_cursor_t json;
    size_t i, bytes;

    if (tg_json_type(schema) != TG_JSON_OBJECT) {
        return 0;
    }

    if (query->schemas_left == 0 || depth == 0) {
        query->is_undecided = 1;
        return 0;
    }

    query->schemas_left--;

    if (query->visit(query, schema)) {
        return 1;
    }

    if (tg_json_get_member(schema, TG_STR("$dynamicRef"), &value) == TG_OK) {
        query->is_undecided = 1;
    }

    if (tg_json_has_member(schema, TG_STR("$ref"), TG_JSON_STRING, &value)) {
        bytes = 0;

        if (tg_schema_query_ref(query->root, tg_json_string_body(value), &bytes,
                                SIZE_MAX, &item)
                != TG_OK
            || tg_json_type(item) != TG_JSON_OBJECT)
        {
            query->is_undecided = 1;
        } else if (tg_schema_query_visit_schema(query, item, depth - 1)) {
            return 1;
        }
    }

    for (i = 0; i < (query->visits_alternatives ? 6U : 1U); i++) {
        if (tg_json_get_member(schema, tg_str_from_cstr(words[i]), &value)
            != TG_OK) {
            continue;
        }

        if (tg_json_type(value) == TG_JSON_OBJECT
            && tg_schema_query_visit_schema(query, value, depth - 1))
        {
            return 1;
        }

        for (tg_json_iter_init(&json, value); tg_json_iter_next(&json, &item);)
        {
            if (tg_schema_query_visit_schema(query, item, depth - 1)) {
                return 1;
            }
        }
    }

    return 0;
}

static int
tg_schema_query_run(tg_schema_query_t *query, tg_str_t schema)
{
    query->schemas_left = TG_SCHEMA_QUERY_MAX_SCHEMAS;

    return tg_schema_query_visit_schema(query, schema,
                                        TG_SCHEMA_QUERY_MAX_DEPTH);
}

int
tg_schema_query_is_closed(tg_str_t schema)
{
    tg_str_t value;

    return tg_json_has_member(schema, TG_STR("additionalProperties"),
                              TG_JSON_FALSE, &value)
           || tg_json_has_member(schema, TG_STR("unevaluatedProperties"),
                                 TG_JSON_FALSE, &value);
}

static int
tg_schema_query_visit_properties(tg_schema_query_t *query, tg_str_t schema)
{
    tg_str_t properties, value;
    tg_json_cursor_t json;

    if (tg_json_get_member(schema, TG_STR("patternProperties"), &value) == TG_OK
        || (tg_json_get_member(schema, TG_STR("additionalProperties"), &value)
                == TG_OK
            && tg_json_type(value) != TG_JSON_FALSE))
    {
        query->is_undecided = 1;
    }

    if (!tg_json_has_member(schema, TG_STR("properties"), TG_JSON_OBJECT,
                            &properties))
    {
        return 0;
    }

    query->is_declared = 1;
    tg_json_iter_init_members(&json, properties);

    while (tg_json_iter_next_member(&json, &query->key, &query->value)) {
        if (query->match_key != NULL
                ? query->match_key(query->name, query->key)
                : tg_json_body_eq_text(query->key, query->name))
        {
            return 1;
        }
    }

    return 0;
}

int
tg_schema_query_property(tg_str_t root, tg_str_t schema, tg_str_t name,
                         tg_schema_key_match_pt match_key, tg_str_t *key,
                         tg_str_t *value)
{
    tg_schema_query_t query = {
        .root = root,
        .visit = tg_schema_query_visit_properties,
        .visits_alternatives = 1,
        .name = name,
    };

    if (!tg_schema_query_run(&query, schema)) {
        query.match_key = match_key;

        if (match_key == NULL || !tg_schema_query_run(&query, schema)) {
            return query.is_undecided
                           || (!query.is_declared
                               && !tg_schema_query_is_closed(schema))
                       ? TG_AGAIN
                       : TG_MISSING;
        }
    }

    *key = query.key;
    *value = query.value;

    return TG_OK;
}

static int
tg_schema_query_visit_required(tg_schema_query_t *query, tg_str_t schema)
{
    tg_str_t required, item;
    tg_json_cursor_t json;

    if (tg_json_get_member(schema, TG_STR("required"), &required) != TG_OK) {
        return 0;
    }

    for (tg_json_iter_init(&json, required); tg_json_iter_next(&json, &item);) {
        if (tg_json_type(item) == TG_JSON_STRING
            && tg_json_body_eq(tg_json_string_body(item), query->key))
        {
            return 1;
        }
    }

    return 0;
}

int
tg_schema_query_is_required(tg_str_t root, tg_str_t schema, tg_str_t key)
{
    tg_schema_query_t query = {
        .root = root,
        .visit = tg_schema_query_visit_required,
        .key = key,
    };

    return tg_schema_query_run(&query, schema);
}

static int
tg_schema_query_visit_keyword(tg_schema_query_t *query, tg_str_t schema)
{
    return tg_json_get_member(schema, tg_str_from_cstr(query->keyword),
                              &query->value)
           == TG_OK;
}

int
tg_schema_query_keyword(tg_str_t root, tg_str_t schema, const char *keyword,
                        tg_str_t *value)
{
    tg_schema_query_t query = {
        .root = root,
        .visit = tg_schema_query_visit_keyword,
        .keyword = keyword,
    };

    if (!tg_schema_query_run(&query, schema)) {
        return TG_MISSING;
    }

    *value = query.value;

    return TG_OK;
}

int
tg_schema_query_allows_type(tg_str_t root, tg_str_t schema, const char *type)
{
    tg_str_t types, item;
    tg_json_cursor_t json;

    if (tg_schema_query_keyword(root, schema, "type", &types) != TG_OK
        || tg_json_string_eq(types, tg_str_from_cstr(type)))
    {
        return 1;
    }

    for (tg_json_iter_init(&json, types); tg_json_iter_next(&json, &item);) {
        if (tg_json_string_eq(item, tg_str_from_cstr(type))) {
            return 1;
        }
    }

    return 0;
}

int
tg_schema_query_is_integer(tg_str_t root, tg_str_t schema)
{
    static const char *const words[] = { "anyOf", "oneOf" };
    tg_str_t value, item;
    tg_json_cursor_t json;
    int is_integer;
    size_t i;

    if (tg_schema_query_keyword(root, schema, "type", &value) == TG_OK) {
        return tg_schema_query_allows_type(root, schema, "integer")
               && !tg_schema_query_allows_type(root, schema, "number");
    }

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_schema_query_keyword(root, schema, words[i], &value) != TG_OK) {
            continue;
        }

        is_integer = 0;

        for (tg_json_iter_init(&json, value); tg_json_iter_next(&json, &item);)
        {
            if (tg_schema_query_allows_type(root, item, "number")) {
                return 0;
            }

            is_integer |= tg_schema_query_allows_type(root, item, "integer");
        }

        return is_integer;
    }

    return 0;
}
