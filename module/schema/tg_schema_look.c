#include "schema/tg_schema_look.h"

/* Schemas behind each other, and in all: more than anybody writes by hand. */
#define TG_SCHEMA_LOOK_DEPTH 32
#define TG_SCHEMA_LOOK_STEPS 2000
/* Of one name in a JSON pointer. */
#define TG_SCHEMA_LOOK_NAME 256

typedef struct tg_schema_look_s tg_schema_look_t;

struct tg_schema_look_s {
    tg_str_t root;
    /* Is it what is looked for? */
    int (*visit)(tg_schema_look_t *look, tg_str_t schema);
    int has_choices; /* schemas that a value may fit, too */
    unsigned left;
    int is_vague; /* there is something that cannot be told */
    int is_declared;
    const char *keyword;
    tg_str_t name;
    tg_schema_is_named_pt is_named;
    tg_str_t key;
    tg_str_t value;
};

/* Follows `#/a/b`: TG_OK or TG_MISSING. */
static int
tg_schema_look_pointer(tg_str_t root, tg_str_t pointer, tg_str_t *found)
{
    char name[TG_SCHEMA_LOOK_NAME];
    const char *p, *end;
    size_t len;

    if (pointer.len == 0 || pointer.data[0] != '#') {
        return TG_MISSING;
    }

    *found = root;
    end = pointer.data + pointer.len;

    for (p = pointer.data + 1; p < end; /* void */) {
        if (*p++ != '/') {
            return TG_MISSING;
        }

        for (len = 0; p < end && *p != '/' && len < sizeof(name); p++) {
            if (*p == '%' || *p == '\\') {
                return TG_MISSING;
            }

            name[len++] = *p;

            if (*p == '~' && p + 1 < end) {
                name[len - 1] = *++p == '0' ? '~' : '/';
            }
        }

        if (len == sizeof(name)
            || !tg_json_has(*found, tg_str(name, len), TG_JSON_OBJECT, found))
        {
            return TG_MISSING;
        }
    }

    return TG_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as depth */
static int
tg_schema_look_at(tg_schema_look_t *look, tg_str_t schema, unsigned depth)
{
    static const char *const words[] = { "allOf", "anyOf", "oneOf",
                                         "if",    "then",  "else" };
    tg_str_t value, item;
    tg_json_t json;
    size_t i;

    if (tg_json_type(schema) != TG_JSON_OBJECT) {
        return 0;
    }

    if (look->left == 0 || depth == 0) {
        look->is_vague = 1;
        return 0;
    }

    look->left--;

    if (look->visit(look, schema)) {
        return 1;
    }

    if (tg_json_get(schema, TG_STR("$dynamicRef"), &value) == TG_OK) {
        look->is_vague = 1;
    }

    if (tg_json_has(schema, TG_STR("$ref"), TG_JSON_STRING, &value)) {
        if (tg_schema_look_pointer(look->root, tg_json_body(value), &item)
            != TG_OK) {
            look->is_vague = 1;
        } else if (tg_schema_look_at(look, item, depth - 1)) {
            return 1;
        }
    }

    for (i = 0; i < (look->has_choices ? 6U : 1U); i++) {
        if (tg_json_get(schema, tg_str_c(words[i]), &value) != TG_OK) {
            continue;
        }

        if (tg_json_type(value) == TG_JSON_OBJECT
            && tg_schema_look_at(look, value, depth - 1))
        {
            return 1;
        }

        for (tg_json_each(&json, value); tg_json_item(&json, &item);) {
            if (tg_schema_look_at(look, item, depth - 1)) {
                return 1;
            }
        }
    }

    return 0;
}

static int
tg_schema_look(tg_schema_look_t *look, tg_str_t schema)
{
    look->left = TG_SCHEMA_LOOK_STEPS;

    return tg_schema_look_at(look, schema, TG_SCHEMA_LOOK_DEPTH);
}

/* --- properties --- */

int
tg_schema_look_is_closed(tg_str_t schema)
{
    tg_str_t value;

    return tg_json_has(schema, TG_STR("additionalProperties"), TG_JSON_FALSE,
                       &value)
           || tg_json_has(schema, TG_STR("unevaluatedProperties"),
                          TG_JSON_FALSE, &value);
}

static int
tg_schema_visit_properties(tg_schema_look_t *look, tg_str_t schema)
{
    tg_str_t properties, key, value;
    tg_json_t json;

    if (tg_json_get(schema, TG_STR("patternProperties"), &value) == TG_OK
        || (tg_json_get(schema, TG_STR("additionalProperties"), &value) == TG_OK
            && tg_json_type(value) != TG_JSON_FALSE))
    {
        look->is_vague = 1;
    }

    if (!tg_json_has(schema, TG_STR("properties"), TG_JSON_OBJECT, &properties))
    {
        return 0;
    }

    look->is_declared = 1;
    tg_json_init(&json, properties);
    (void) tg_json_object(&json);

    while (tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);

        if (look->is_named != NULL ? look->is_named(look->name, key)
                                   : tg_json_body_is(key, look->name))
        {
            look->key = key;
            look->value = value;
            return 1;
        }
    }

    return 0;
}

int
tg_schema_look_property(tg_str_t root, tg_str_t schema, tg_str_t name,
                        tg_schema_is_named_pt is_named, tg_str_t *key,
                        tg_str_t *value)
{
    tg_schema_look_t look = {
        .root = root,
        .visit = tg_schema_visit_properties,
        .has_choices = 1,
        .name = name,
    };

    if (!tg_schema_look(&look, schema)) {
        look.is_named = is_named;

        if (is_named == NULL || !tg_schema_look(&look, schema)) {
            return look.is_vague
                           || (!look.is_declared
                               && !tg_schema_look_is_closed(schema))
                       ? TG_AGAIN
                       : TG_MISSING;
        }
    }

    *key = look.key;
    *value = look.value;

    return TG_OK;
}

static int
tg_schema_visit_required(tg_schema_look_t *look, tg_str_t schema)
{
    tg_str_t required, item;
    tg_json_t json;

    if (tg_json_get(schema, TG_STR("required"), &required) != TG_OK) {
        return 0;
    }

    for (tg_json_each(&json, required); tg_json_item(&json, &item);) {
        if (tg_json_type(item) == TG_JSON_STRING
            && tg_json_body_eq(tg_json_body(item), look->key))
        {
            return 1;
        }
    }

    return 0;
}

int
tg_schema_look_is_required(tg_str_t root, tg_str_t schema, tg_str_t key)
{
    tg_schema_look_t look = {
        .root = root,
        .visit = tg_schema_visit_required,
        .key = key,
    };

    return tg_schema_look(&look, schema);
}

/* --- keywords --- */

static int
tg_schema_visit_keyword(tg_schema_look_t *look, tg_str_t schema)
{
    return tg_json_get(schema, tg_str_c(look->keyword), &look->value) == TG_OK;
}

int
tg_schema_look_keyword(tg_str_t root, tg_str_t schema, const char *keyword,
                       tg_str_t *value)
{
    tg_schema_look_t look = {
        .root = root,
        .visit = tg_schema_visit_keyword,
        .keyword = keyword,
    };

    if (!tg_schema_look(&look, schema)) {
        return TG_MISSING;
    }

    *value = look.value;

    return TG_OK;
}

int
tg_schema_look_allows(tg_str_t root, tg_str_t schema, const char *type)
{
    tg_str_t types, item;
    tg_json_t json;

    if (tg_schema_look_keyword(root, schema, "type", &types) != TG_OK
        || tg_json_is_text(types, tg_str_c(type)))
    {
        return 1;
    }

    for (tg_json_each(&json, types); tg_json_item(&json, &item);) {
        if (tg_json_is_text(item, tg_str_c(type))) {
            return 1;
        }
    }

    return 0;
}

int
tg_schema_look_is_integer(tg_str_t root, tg_str_t schema)
{
    static const char *const words[] = { "anyOf", "oneOf" };
    tg_str_t value, item;
    tg_json_t json;
    int is_integer;
    size_t i;

    if (tg_schema_look_keyword(root, schema, "type", &value) == TG_OK) {
        return tg_schema_look_allows(root, schema, "integer")
               && !tg_schema_look_allows(root, schema, "number");
    }

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_schema_look_keyword(root, schema, words[i], &value) != TG_OK) {
            continue;
        }

        is_integer = 0;

        for (tg_json_each(&json, value); tg_json_item(&json, &item);) {
            if (tg_schema_look_allows(root, item, "number")) {
                return 0;
            }

            is_integer |= tg_schema_look_allows(root, item, "integer");
        }

        return is_integer;
    }

    return 0;
}
