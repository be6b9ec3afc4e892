/*
 * Repairs the schemas of tools in one pass. Legacy clients check only `type`,
 * `properties` and `required` at an input schema's root. The common MCP SDK
 * compiles each output schema, and one error makes the list unusable, so all of
 * its parts must be valid.
 */
#include "catalog/tg_tool_repair_impl.h"

#include "base/tg_json_fields.h"

typedef enum {
    TG_MAP_PLAIN,
    TG_MAP_ROOT, /* `properties` at the root: the arguments */
    TG_MAP_PATTERNS
} tg_schema_map_type_t;

static void tg_schema_repair_object(tg_schema_repair_t *walk,
                                    const tg_str_t *values);

static int
tg_schema_repair_is_list(tg_schema_repair_t *walk)
{
    tg_json_cursor_t ahead;

    if (tg_json_peek_type(&walk->json) != TG_JSON_ARRAY) {
        return 0;
    }

    ahead = walk->json;

    return tg_json_enter_array(&ahead) == TG_OK
           && tg_json_next_element(&ahead) == TG_OK;
}

static void
tg_schema_repair_add(tg_schema_repair_t *walk, tg_tool_repair_type_t what)
{
    tg_tool_repair_add(walk->repair, what);
}

/* Appends the value at the cursor unchanged and returns it. */
static tg_str_t
tg_schema_repair_copy_value(tg_schema_repair_t *walk)
{
    tg_str_t raw;

    if (tg_json_read_value(&walk->json, &raw) != TG_OK) {
        walk->is_bad = 1;
        return TG_STR_NONE;
    }

    tg_buf_append_str(walk->out, raw);

    return raw;
}

static void
tg_schema_repair_replace_value(tg_schema_repair_t *walk, const char *text,
                               tg_tool_repair_type_t what)
{
    walk->is_bad |= tg_json_read_value(&walk->json, NULL) != TG_OK;
    tg_buf_append_cstr(walk->out, text);
    tg_schema_repair_add(walk, what);
}

/* Replaces an argument's schema that is a scalar; copies all others. */
static void
tg_schema_repair_scalar(tg_schema_repair_t *walk, int is_argument,
                        const char *text, tg_tool_repair_type_t what)
{
    if (is_argument) {
        tg_schema_repair_replace_value(walk, text, what);
    } else {
        (void) tg_schema_repair_copy_value(walk);
    }
}

/* Repairs an array in place of an object: PHP writes an empty object as []. */
static void
tg_schema_repair_array(tg_schema_repair_t *walk)
{
    size_t start;
    tg_str_t raw;

    start = walk->out->len;
    raw = tg_schema_repair_copy_value(walk);

    if (!tg_is_empty_array(raw)) {
        walk->is_bad = 1;

    } else if (!tg_buf_has_failed(walk->out)) {
        tg_buf_truncate(walk->out, start);
        tg_buf_append_cstr(walk->out, "{}");
        tg_schema_repair_add(walk, TG_REPAIR_EMPTY);
    }
}

/* Repairs a subschema. is_root: it is the schema of an argument. */
static void
tg_schema_repair_property(tg_schema_repair_t *walk, int is_root)
{
    switch (tg_json_peek_type(&walk->json)) {
    case TG_JSON_OBJECT:
        tg_schema_repair_object(walk, NULL);
        break;
    case TG_JSON_ARRAY:
        tg_schema_repair_array(walk);
        break;
    case TG_JSON_NULL:
        tg_schema_repair_replace_value(walk, "{}", TG_REPAIR_NULL);
        break;
    case TG_JSON_TRUE:
        tg_schema_repair_scalar(walk, is_root, "{}", TG_REPAIR_BOOLEAN);
        break;
    case TG_JSON_FALSE:
        tg_schema_repair_scalar(walk, is_root, "{\"not\":{}}",
                                TG_REPAIR_BOOLEAN);
        break;
    default:
        walk->is_bad = 1;
        tg_schema_repair_scalar(walk, is_root, "{}", TG_REPAIR_PROPERTY);
    }
}

static void
tg_schema_repair_map(tg_schema_repair_t *walk, tg_schema_map_type_t names)
{
    tg_str_t key;

    if (tg_json_peek_type(&walk->json) == TG_JSON_ARRAY) {
        tg_schema_repair_array(walk);
        return;
    }

    if (tg_json_peek_type(&walk->json) != TG_JSON_OBJECT) {
        walk->is_bad = 1;
        (void) tg_schema_repair_copy_value(walk);
        return;
    }

    (void) tg_json_enter_object(&walk->json);
    tg_buf_append_char(walk->out, '{');

    while (tg_json_next_member(&walk->json, &key) == TG_OK) {
        tg_json_begin_raw_member(walk->out, key);
        walk->is_bad |= names == TG_MAP_PATTERNS
                        && !tg_schema_repair_is_pattern(walk, key);
        tg_schema_repair_property(walk, names == TG_MAP_ROOT);
    }

    tg_buf_append_char(walk->out, '}');
}

static void
tg_schema_repair_list(tg_schema_repair_t *walk)
{
    if (tg_json_peek_type(&walk->json) != TG_JSON_ARRAY) {
        walk->is_bad = 1;
        (void) tg_schema_repair_copy_value(walk);
        return;
    }

    (void) tg_json_enter_array(&walk->json);
    tg_buf_append_char(walk->out, '[');

    while (tg_json_next_element(&walk->json) == TG_OK) {
        tg_json_begin_element(walk->out);
        tg_schema_repair_property(walk, 0);
    }

    tg_buf_append_char(walk->out, ']');
}

/* Repairs `required`. Returns 0 if it must be left out. */
static int
tg_schema_repair_required(tg_schema_repair_t *walk)
{
    tg_str_t raw, name;
    tg_json_type_t type;
    tg_json_cursor_t json;

    type = tg_json_read_value(&walk->json, &raw) == TG_OK ? tg_json_type(raw)
                                                          : TG_JSON_NONE;

    if (type == TG_JSON_ARRAY && tg_json_count_strings(raw) >= 0) {
        tg_buf_append_str(walk->out, raw);
        return 1;
    }

    tg_schema_repair_add(walk, TG_REPAIR_REQUIRED);

    if (type == TG_JSON_STRING) {
        tg_buf_append_char(walk->out, '[');
        tg_buf_append_str(walk->out, raw);
        tg_buf_append_char(walk->out, ']');
        return 1;
    }

    if (type != TG_JSON_ARRAY) {
        return 0;
    }

    tg_buf_append_char(walk->out, '[');
    tg_json_iter_init(&json, raw);

    while (tg_json_iter_next(&json, &name)) {
        if (tg_json_type(name) == TG_JSON_STRING) {
            tg_json_begin_element(walk->out);
            tg_buf_append_str(walk->out, name);
        }
    }

    tg_buf_append_char(walk->out, ']');

    return 1;
}

/* Appends a keyword's repaired value. Returns 0 if it must be left out. */
static int
tg_schema_repair_keyword(tg_schema_repair_t *walk, tg_str_t key, int is_root)
{
    tg_keyword_type_t kind;

    kind = tg_keyword_get_type(key);

    if (kind > TG_KEYWORD_ANY && kind != TG_KEYWORD_REMOVED
        && tg_json_peek_type(&walk->json) == TG_JSON_NULL)
    {
        walk->is_bad |= tg_json_read_value(&walk->json, NULL) != TG_OK;
        tg_schema_repair_add(walk, TG_REPAIR_NULL);
        return 0;
    }

    switch (kind) {
    case TG_KEYWORD_SCHEMA:
        tg_schema_repair_property(walk, 0);
        break;
    case TG_KEYWORD_ITEMS:
        if (tg_schema_repair_is_list(walk)) {
            tg_schema_repair_list(walk);
        } else {
            tg_schema_repair_property(walk, 0);
        }

        break;
    case TG_KEYWORD_MAP:
        tg_schema_repair_map(
            walk, tg_json_body_eq_text(key, TG_STR("patternProperties"))
                      ? TG_MAP_PATTERNS
                  : is_root && tg_json_body_eq_text(key, TG_STR("properties"))
                      ? TG_MAP_ROOT
                      : TG_MAP_PLAIN);
        break;
    case TG_KEYWORD_LIST:
        tg_schema_repair_list(walk);
        break;
    case TG_KEYWORD_STRINGS:
        return tg_schema_repair_required(walk);
    case TG_KEYWORD_NAMES:
        if (tg_json_peek_type(&walk->json) == TG_JSON_ARRAY) {
            tg_schema_repair_array(walk);
            break;
        }

        /* fall through */
    default:
        walk->is_bad |= !tg_schema_repair_is_valid_value(
            walk, kind, tg_schema_repair_copy_value(walk));
    }

    return 1;
}

/* --- root keywords --- */

enum {
    TG_ROOT_TYPE,
    TG_ROOT_PROPERTIES,
    TG_ROOT_REQUIRED,
    TG_ROOT_DIALECT,
    TG_ROOT_CHECKED,
    TG_ROOT_ANY_OF = TG_ROOT_CHECKED,
    TG_ROOT_ONE_OF,
    TG_ROOT_ALL_OF,
    TG_ROOT_KEYWORDS
};

static const char *const tg_schema_root_keywords[] = {
    [TG_ROOT_TYPE] = "type",         [TG_ROOT_PROPERTIES] = "properties",
    [TG_ROOT_REQUIRED] = "required", [TG_ROOT_DIALECT] = "$schema",
    [TG_ROOT_ANY_OF] = "anyOf",      [TG_ROOT_ONE_OF] = "oneOf",
    [TG_ROOT_ALL_OF] = "allOf",      [TG_ROOT_KEYWORDS] = NULL,
};

/*
 * Returns 0 if the root's `type` is "object", 1 if it must become that (absent,
 * null, or a list with "object"), or -1 if the schema is not for objects.
 */
static int
tg_schema_root_check_type(tg_str_t type)
{
    tg_json_cursor_t json;
    tg_str_t name;

    if (tg_json_string_eq(type, TG_STR("object"))) {
        return 0;
    }

    if (type.data == NULL || tg_json_type(type) == TG_JSON_NULL) {
        return 1;
    }

    for (tg_json_iter_init(&json, type); tg_json_iter_next(&json, &name);) {
        if (tg_json_string_eq(name, TG_STR("object"))) {
            return 1;
        }
    }

    return -1;
}

static tg_str_t
tg_schema_root_find_union(const tg_str_t *values)
{
    int i;

    for (i = TG_ROOT_ANY_OF; i <= TG_ROOT_ALL_OF; i++) {
        if (tg_json_type(values[i]) == TG_JSON_ARRAY) {
            return tg_str_from_cstr(tg_schema_root_keywords[i]);
        }
    }

    return TG_STR_NONE;
}

/* Checks whether a root member is left out. values: the last root keywords. */
static int
tg_schema_root_is_left_out(tg_schema_repair_t *walk, tg_str_t key,
                           const tg_str_t *values, int has_type)
{
    tg_json_type_t type;
    int i;

    i = tg_json_body_find(key, tg_schema_root_keywords);

    if (i < 0 || i >= TG_ROOT_CHECKED) {
        return 0;
    }

    type = tg_json_peek_type(&walk->json);

    if (walk->json.pos != values[i].data) {
        tg_schema_repair_add(walk, TG_REPAIR_DUPLICATE);
        return 1;
    }

    if (i == TG_ROOT_TYPE) {
        return has_type;
    }

    if (i == TG_ROOT_DIALECT && type != TG_JSON_STRING) {
        tg_schema_repair_add(walk, TG_REPAIR_SCHEMA_URI);
        return 1;
    }

    if (i == TG_ROOT_PROPERTIES && type != TG_JSON_OBJECT
        && type != TG_JSON_NULL && !tg_is_empty_array(values[i]))
    {
        tg_schema_repair_add(walk, TG_REPAIR_PROPERTIES);
        walk->is_bad = 1;
        return 1;
    }

    return 0;
}

static void
tg_schema_repair_member(tg_schema_repair_t *walk, tg_str_t key, int is_root)
{
    size_t start;

    start = walk->out->len;
    tg_json_begin_raw_member(walk->out, key);

    if (!tg_schema_repair_keyword(walk, key, is_root)
        && !tg_buf_has_failed(walk->out))
    {
        tg_buf_truncate(walk->out, start);
    }
}

/* Repairs a schema object. values: the root keywords, or NULL if nested. */
static void
tg_schema_repair_object(tg_schema_repair_t *walk, const tg_str_t *values)
{
    int has_type, has_nullable, is_typed;
    tg_keyword_type_t kind;
    tg_str_t key;

    is_typed = values != NULL && walk->kind == TG_TOOL_SCHEMA_INPUT
               && tg_schema_root_check_type(values[TG_ROOT_TYPE]) != 0;
    has_type = is_typed;
    has_nullable = 0;
    (void) tg_json_enter_object(&walk->json);
    tg_buf_append_char(walk->out, '{');

    if (is_typed) {
        tg_schema_repair_add(walk, TG_REPAIR_TYPE);
        tg_buf_append_cstr(walk->out,
                           values[TG_ROOT_PROPERTIES].data != NULL
                               ? "\"type\":\"object\""
                               : "\"type\":\"object\",\"properties\":{}");
    }

    while (tg_json_next_member(&walk->json, &key) == TG_OK) {
        kind = tg_keyword_get_type(key);
        has_type |= kind == TG_KEYWORD_TYPE;
        has_nullable |= kind == TG_KEYWORD_NULLABLE;

        if (values != NULL
            && tg_schema_root_is_left_out(walk, key, values, is_typed)) {
            walk->is_bad |= tg_json_read_value(&walk->json, NULL) != TG_OK;
        } else {
            tg_schema_repair_member(walk, key, values != NULL);
        }
    }

    walk->is_bad |= has_nullable && !has_type;
    tg_buf_append_char(walk->out, '}');
}

/* Returns what replaces a schema that is not an object, or NULL. */
static const char *
tg_schema_find_replacement(tg_tool_repair_t *repair, tg_tool_schema_type_t kind,
                           tg_str_t raw)
{
    switch (tg_json_type(raw)) {
    case TG_JSON_ARRAY:
        if (!tg_is_empty_array(raw)) {
            return NULL;
        }

        tg_tool_repair_add(repair, TG_REPAIR_EMPTY);
        break;
    case TG_JSON_TRUE:
        tg_tool_repair_add(repair, TG_REPAIR_BOOLEAN);
        break;
    case TG_JSON_NONE:
    case TG_JSON_NULL:
        if (kind == TG_TOOL_SCHEMA_OUTPUT) {
            return NULL;
        }

        tg_tool_repair_add(repair, TG_REPAIR_INPUT);
        break;
    default:
        return NULL;
    }

    return kind == TG_TOOL_SCHEMA_INPUT ? TG_TOOL_NO_ARGUMENTS : "{}";
}

static int
tg_schema_repair_root(tg_tool_repair_t *repair, tg_tool_schema_type_t kind,
                      tg_str_t raw, tg_buf_t *out)
{
    tg_str_t values[TG_ROOT_KEYWORDS];
    tg_schema_repair_t walk;

    if (tg_json_get_members(raw, tg_schema_root_keywords, values) != TG_OK
        || (kind == TG_TOOL_SCHEMA_INPUT
            && tg_schema_root_check_type(values[TG_ROOT_TYPE]) == -1))
    {
        return TG_INVALID;
    }

    memset(&walk, 0, sizeof(walk));
    walk.repair = repair;
    walk.kind = kind;
    walk.root = raw;
    walk.out = out;
    tg_json_init(&walk.json, raw);
    tg_schema_repair_object(&walk, values);

    if (kind == TG_TOOL_SCHEMA_INPUT) {
        repair->root_union = tg_schema_root_find_union(values);
        return TG_OK;
    }

    repair->is_modern = !tg_json_string_eq(values[TG_ROOT_TYPE],
                                           TG_STR("object"));

    return walk.is_bad || (walk.is_dangling && !walk.has_ids) ? TG_INVALID
                                                              : TG_OK;
}

int
tg_tool_schema_write_repaired(tg_tool_repair_t *repair,
                              tg_tool_schema_type_t kind, tg_str_t raw,
                              tg_buf_t *out)
{
    const char *instead;
    unsigned before;
    size_t start;
    int rc;

    start = out->len;
    before = repair->repairs;
    repair->repairs = 0;

    if (tg_json_type(raw) == TG_JSON_OBJECT) {
        rc = tg_schema_repair_root(repair, kind, raw, out);

        if (!tg_buf_has_failed(out) && (rc != TG_OK || repair->repairs == 0)) {
            tg_buf_truncate(out, start);
            tg_buf_append_str(out, rc == TG_OK ? raw : TG_STR_NONE);
        }

    } else {
        instead = tg_schema_find_replacement(repair, kind, raw);
        rc = instead != NULL ? TG_OK : TG_INVALID;
        tg_buf_append_cstr(out, instead != NULL ? instead : "");
        repair->is_modern |= kind == TG_TOOL_SCHEMA_OUTPUT && instead != NULL;
    }

    repair->repairs |= before;

    return rc;
}

tg_str_t
tg_tool_schema_find_union(tg_str_t raw)
{
    tg_str_t values[TG_ROOT_KEYWORDS];

    return tg_json_get_members(raw, tg_schema_root_keywords, values) == TG_OK
               ? tg_schema_root_find_union(values)
               : TG_STR_NONE;
}
