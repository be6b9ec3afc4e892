/* The JSON Schema keywords of all drafts, and checks of their values. */
#include "catalog/tg_tool_repair_impl.h"

#include "catalog/tg_mcp_type.h"
#include "schema/tg_schema_query.h"

typedef struct {
    const char *name;
    uint8_t len;
    uint8_t kind;
} tg_keyword_t;

#define TG_KEYWORD(name, kind)                                                 \
    {                                                                          \
        name, sizeof(name) - 1, kind                                           \
    }

static const tg_keyword_t tg_keywords[] = {
    TG_KEYWORD("type", TG_KEYWORD_TYPE),
    TG_KEYWORD("properties", TG_KEYWORD_MAP),
    TG_KEYWORD("required", TG_KEYWORD_STRINGS),
    TG_KEYWORD("items", TG_KEYWORD_ITEMS),
    TG_KEYWORD("enum", TG_KEYWORD_ENUM),
    TG_KEYWORD("title", TG_KEYWORD_STRING),
    TG_KEYWORD("description", TG_KEYWORD_STRING),
    TG_KEYWORD("default", TG_KEYWORD_ANY),
    TG_KEYWORD("const", TG_KEYWORD_ANY),
    TG_KEYWORD("examples", TG_KEYWORD_ANY),
    TG_KEYWORD("format", TG_KEYWORD_STRING),
    TG_KEYWORD("pattern", TG_KEYWORD_PATTERN),
    TG_KEYWORD("$ref", TG_KEYWORD_REF),
    TG_KEYWORD("$id", TG_KEYWORD_ID),
    TG_KEYWORD("id", TG_KEYWORD_REMOVED),
    TG_KEYWORD("nullable", TG_KEYWORD_NULLABLE),
    TG_KEYWORD("$schema", TG_KEYWORD_STRING),
    TG_KEYWORD("$anchor", TG_KEYWORD_ID),
    TG_KEYWORD("$dynamicAnchor", TG_KEYWORD_ID),
    TG_KEYWORD("$comment", TG_KEYWORD_STRING),
    TG_KEYWORD("$defs", TG_KEYWORD_MAP),
    TG_KEYWORD("definitions", TG_KEYWORD_MAP),
    TG_KEYWORD("patternProperties", TG_KEYWORD_MAP),
    TG_KEYWORD("dependentSchemas", TG_KEYWORD_MAP),
    TG_KEYWORD("dependentRequired", TG_KEYWORD_NAMES),
    TG_KEYWORD("dependencies", TG_KEYWORD_NAMES),
    TG_KEYWORD("additionalProperties", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("additionalItems", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("unevaluatedProperties", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("unevaluatedItems", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("propertyNames", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("contains", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("not", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("if", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("then", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("else", TG_KEYWORD_SCHEMA),
    TG_KEYWORD("allOf", TG_KEYWORD_LIST),
    TG_KEYWORD("anyOf", TG_KEYWORD_LIST),
    TG_KEYWORD("oneOf", TG_KEYWORD_LIST),
    TG_KEYWORD("prefixItems", TG_KEYWORD_LIST),
    TG_KEYWORD("minimum", TG_KEYWORD_NUMBER),
    TG_KEYWORD("maximum", TG_KEYWORD_NUMBER),
    TG_KEYWORD("exclusiveMinimum", TG_KEYWORD_NUMBER),
    TG_KEYWORD("exclusiveMaximum", TG_KEYWORD_NUMBER),
    TG_KEYWORD("multipleOf", TG_KEYWORD_NUMBER),
    TG_KEYWORD("minLength", TG_KEYWORD_NUMBER),
    TG_KEYWORD("maxLength", TG_KEYWORD_NUMBER),
    TG_KEYWORD("minItems", TG_KEYWORD_NUMBER),
    TG_KEYWORD("maxItems", TG_KEYWORD_NUMBER),
    TG_KEYWORD("minContains", TG_KEYWORD_NUMBER),
    TG_KEYWORD("maxContains", TG_KEYWORD_NUMBER),
    TG_KEYWORD("minProperties", TG_KEYWORD_NUMBER),
    TG_KEYWORD("maxProperties", TG_KEYWORD_NUMBER),
    TG_KEYWORD("uniqueItems", TG_KEYWORD_BOOLEAN),
};

tg_keyword_type_t
tg_keyword_get_type(tg_str_t key)
{
    const tg_keyword_t *word;
    char room[128];
    size_t i;

    if (key.len == 0) {
        return TG_KEYWORD_NONE;
    }

    if (key.len <= sizeof(room) && memchr(key.data, '\\', key.len) != NULL) {
        key = tg_str(room, tg_json_unescape(room, key));
    }

    for (i = 0; i < sizeof(tg_keywords) / sizeof(tg_keywords[0]); i++) {
        word = &tg_keywords[i];

        if (word->len == key.len && word->name[0] == key.data[0]
            && memcmp(word->name, key.data, key.len) == 0)
        {
            return (tg_keyword_type_t) word->kind;
        }
    }

    return TG_KEYWORD_NONE;
}

int
tg_is_empty_array(tg_str_t raw)
{
    tg_json_cursor_t json;

    tg_json_iter_init(&json, raw);

    return tg_json_type(raw) == TG_JSON_ARRAY
           && !tg_json_iter_next(&json, NULL);
}

static int
tg_schema_is_type_name(tg_str_t raw)
{
    static const char *const names[] = { "string", "number",  "integer",
                                         "object", "boolean", "array",
                                         "null",   NULL };

    return tg_json_string_find(raw, names) >= 0;
}

int
tg_schema_repair_is_pattern(const tg_schema_repair_t *walk, tg_str_t body)
{
    tg_buf_t text;
    int is_pattern;

    if (walk->kind != TG_TOOL_SCHEMA_OUTPUT || walk->repair->is_pattern == NULL)
    {
        return 1;
    }

    tg_buf_init(&text, walk->out->alloc);
    tg_json_append_unescaped(&text, body);
    is_pattern = !tg_buf_has_failed(&text)
                 && walk->repair->is_pattern(tg_buf_view(&text));
    tg_buf_deinit(&text);

    return is_pattern;
}

/* Checks whether the target of a reference is in the schema itself. */
static int
tg_schema_repair_has_ref_target(tg_schema_repair_t *walk, tg_str_t raw)
{
    tg_str_t target;

    return walk->kind != TG_TOOL_SCHEMA_OUTPUT
           || tg_schema_query_ref(walk->root, tg_json_string_body(raw),
                                  &walk->repair->refs, TG_TOOL_REF_BYTES_MAX,
                                  &target)
                  == TG_OK;
}

int
tg_schema_repair_is_valid_value(tg_schema_repair_t *walk,
                                tg_keyword_type_t kind, tg_str_t raw)
{
    tg_json_type_t type;

    type = tg_json_type(raw);

    switch (kind) {
    case TG_KEYWORD_NUMBER:
        return type == TG_JSON_NUMBER;
    case TG_KEYWORD_BOOLEAN:
        return type == TG_JSON_TRUE || type == TG_JSON_FALSE;
    case TG_KEYWORD_STRING:
        return type == TG_JSON_STRING;
    case TG_KEYWORD_PATTERN:
        return type == TG_JSON_STRING
               && tg_schema_repair_is_pattern(walk, tg_json_string_body(raw));
    case TG_KEYWORD_REF:
        walk->is_dangling |= type == TG_JSON_STRING
                             && !tg_schema_repair_has_ref_target(walk, raw);
        return type == TG_JSON_STRING;
    case TG_KEYWORD_ID:
        walk->has_ids = 1;
        return type == TG_JSON_STRING;
    case TG_KEYWORD_TYPE:
        return type == TG_JSON_ARRAY
                   ? tg_mcp_is_array_of(raw, tg_schema_is_type_name)
                   : tg_schema_is_type_name(raw);
    case TG_KEYWORD_ENUM:
        return type == TG_JSON_ARRAY && !tg_is_empty_array(raw);
    case TG_KEYWORD_NAMES:
        return type == TG_JSON_OBJECT;
    case TG_KEYWORD_REMOVED:
        return 0;
    default:
        return 1;
    }
}
