/*
 * The keywords of JSON Schema, of all its drafts, and what their values are.
 */
#include "core/tg_tool_schema_impl.h"

typedef struct {
    const char *name;
    uint8_t len;
    uint8_t kind;
} tg_word_t;

#define TG_WORD(name, kind)                                                    \
    {                                                                          \
        name, sizeof(name) - 1, kind                                           \
    }

static const tg_word_t tg_words[] = {
    TG_WORD("type", TG_WORD_TYPE),
    TG_WORD("properties", TG_WORD_MAP),
    TG_WORD("required", TG_WORD_STRINGS),
    TG_WORD("items", TG_WORD_ITEMS),
    TG_WORD("enum", TG_WORD_ENUM),
    TG_WORD("title", TG_WORD_STRING),
    TG_WORD("description", TG_WORD_STRING),
    TG_WORD("default", TG_WORD_ANY),
    TG_WORD("const", TG_WORD_ANY),
    TG_WORD("examples", TG_WORD_ANY),
    TG_WORD("format", TG_WORD_STRING),
    TG_WORD("pattern", TG_WORD_PATTERN),
    TG_WORD("$ref", TG_WORD_REF),
    TG_WORD("$id", TG_WORD_ID),
    TG_WORD("id", TG_WORD_GONE),
    TG_WORD("nullable", TG_WORD_NULLABLE),
    TG_WORD("$schema", TG_WORD_STRING),
    TG_WORD("$anchor", TG_WORD_ID),
    TG_WORD("$dynamicAnchor", TG_WORD_ID),
    TG_WORD("$comment", TG_WORD_STRING),
    TG_WORD("$defs", TG_WORD_MAP),
    TG_WORD("definitions", TG_WORD_MAP),
    TG_WORD("patternProperties", TG_WORD_MAP),
    TG_WORD("dependentSchemas", TG_WORD_MAP),
    TG_WORD("dependentRequired", TG_WORD_NAMES),
    TG_WORD("dependencies", TG_WORD_NAMES),
    TG_WORD("additionalProperties", TG_WORD_SCHEMA),
    TG_WORD("additionalItems", TG_WORD_SCHEMA),
    TG_WORD("unevaluatedProperties", TG_WORD_SCHEMA),
    TG_WORD("unevaluatedItems", TG_WORD_SCHEMA),
    TG_WORD("propertyNames", TG_WORD_SCHEMA),
    TG_WORD("contains", TG_WORD_SCHEMA),
    TG_WORD("not", TG_WORD_SCHEMA),
    TG_WORD("if", TG_WORD_SCHEMA),
    TG_WORD("then", TG_WORD_SCHEMA),
    TG_WORD("else", TG_WORD_SCHEMA),
    TG_WORD("allOf", TG_WORD_LIST),
    TG_WORD("anyOf", TG_WORD_LIST),
    TG_WORD("oneOf", TG_WORD_LIST),
    TG_WORD("prefixItems", TG_WORD_LIST),
    TG_WORD("minimum", TG_WORD_NUMBER),
    TG_WORD("maximum", TG_WORD_NUMBER),
    TG_WORD("exclusiveMinimum", TG_WORD_NUMBER),
    TG_WORD("exclusiveMaximum", TG_WORD_NUMBER),
    TG_WORD("multipleOf", TG_WORD_NUMBER),
    TG_WORD("minLength", TG_WORD_NUMBER),
    TG_WORD("maxLength", TG_WORD_NUMBER),
    TG_WORD("minItems", TG_WORD_NUMBER),
    TG_WORD("maxItems", TG_WORD_NUMBER),
    TG_WORD("minContains", TG_WORD_NUMBER),
    TG_WORD("maxContains", TG_WORD_NUMBER),
    TG_WORD("minProperties", TG_WORD_NUMBER),
    TG_WORD("maxProperties", TG_WORD_NUMBER),
    TG_WORD("uniqueItems", TG_WORD_BOOLEAN),
};

tg_word_kind_t
tg_word_kind(tg_str_t key)
{
    const tg_word_t *word;
    char room[128];
    size_t i;

    if (key.len == 0) {
        return TG_WORD_NONE;
    }

    if (key.len <= sizeof(room) && memchr(key.data, '\\', key.len) != NULL) {
        key = tg_str(room, tg_json_decode(room, key));
    }

    for (i = 0; i < sizeof(tg_words) / sizeof(tg_words[0]); i++) {
        word = &tg_words[i];

        if (word->len == key.len && word->name[0] == key.data[0]
            && memcmp(word->name, key.data, key.len) == 0)
        {
            return (tg_word_kind_t) word->kind;
        }
    }

    return TG_WORD_NONE;
}

int
tg_is_empty_array(tg_str_t raw)
{
    tg_json_t json;

    tg_json_each(&json, raw);

    return tg_json_type(raw) == TG_JSON_ARRAY && !tg_json_item(&json, NULL);
}

/* --- what only an output schema has to stand --- */

static int
tg_is_type_name(tg_str_t raw)
{
    static const char *const names[] = { "string", "number",  "integer",
                                         "object", "boolean", "array",
                                         "null" };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (tg_json_is_text(raw, tg_str_c(names[i]))) {
            return 1;
        }
    }

    return 0;
}

static int
tg_is_type(tg_str_t raw)
{
    tg_json_t json;
    tg_str_t name;

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        return tg_is_type_name(raw);
    }

    for (tg_json_each(&json, raw); tg_json_item(&json, &name);) {
        if (!tg_is_type_name(name)) {
            return 0;
        }
    }

    return 1;
}

int
tg_word_is_pattern(const tg_walk_t *walk, tg_str_t body)
{
    tg_buf_t text;
    int is_pattern;

    if (walk->kind != TG_TOOL_OUTPUT || walk->repair->is_pattern == NULL) {
        return 1;
    }

    tg_buf_init(&text, walk->out->alloc);
    tg_json_put_decoded(&text, body);
    is_pattern = !tg_buf_failed(&text)
                 && walk->repair->is_pattern(tg_buf_view(&text));
    tg_buf_deinit(&text);

    return is_pattern;
}

/* One token of a JSON pointer in a fragment; 0 when it has unusual escapes. */
static int
tg_ref_token(tg_str_t *path, char *room, size_t size, tg_str_t *token)
{
    size_t n;
    char c;

    for (n = 0; path->len != 0 && path->data[0] != '/' && n < size; n++) {
        c = path->data[0];

        if (c == '~' && path->len > 1) {
            c = path->data[1] == '1' ? '/' : '~';
            path->data++;
            path->len--;
        }

        if (c == '%') {
            return 0;
        }

        room[n] = c;
        path->data++;
        path->len--;
    }

    *token = tg_str(room, n);

    return n < size;
}

/* Is the target of a reference in the schema itself? */
static int
tg_is_ref(tg_walk_t *walk, tg_str_t raw)
{
    char text[256], room[256];
    tg_str_t path, token, at;

    if (walk->kind != TG_TOOL_OUTPUT) {
        return 1;
    }

    if (raw.len > sizeof(text)) {
        return 0;
    }

    path = tg_str(text, tg_json_decode(text, tg_json_body(raw)));

    if (path.len == 0 || path.data[0] != '#') {
        return 0;
    }

    at = walk->root;
    path = tg_str(path.data + 1, path.len - 1);

    while (path.len != 0) {
        if (path.data[0] != '/' || walk->repair->refs > TG_TOOL_REFS_MAX) {
            return 0;
        }

        walk->repair->refs += at.len;

        path = tg_str(path.data + 1, path.len - 1);

        if (!tg_ref_token(&path, room, sizeof(room), &token)
            || tg_json_type(at) != TG_JSON_OBJECT
            || tg_json_get(at, token, &at) != TG_OK)
        {
            return 0;
        }
    }

    return 1;
}

int
tg_word_fits(tg_walk_t *walk, tg_word_kind_t kind, tg_str_t raw)
{
    tg_json_type_t type;

    type = tg_json_type(raw);

    switch (kind) {
    case TG_WORD_NUMBER:
        return type == TG_JSON_NUMBER;
    case TG_WORD_BOOLEAN:
        return type == TG_JSON_TRUE || type == TG_JSON_FALSE;
    case TG_WORD_STRING:
        return type == TG_JSON_STRING;
    case TG_WORD_PATTERN:
        return type == TG_JSON_STRING
               && tg_word_is_pattern(walk, tg_json_body(raw));
    case TG_WORD_REF:
        walk->is_dangling |= type == TG_JSON_STRING && !tg_is_ref(walk, raw);
        return type == TG_JSON_STRING;
    case TG_WORD_ID:
        walk->has_ids = 1;
        return type == TG_JSON_STRING;
    case TG_WORD_TYPE:
        return tg_is_type(raw);
    case TG_WORD_ENUM:
        return type == TG_JSON_ARRAY && !tg_is_empty_array(raw);
    case TG_WORD_NAMES:
        return type == TG_JSON_OBJECT;
    case TG_WORD_GONE:
        return 0;
    default:
        return 1;
    }
}
