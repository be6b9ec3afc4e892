/*
 * The metaschemas from the specifications, without annotations. All macros are
 * JSON; each draft redefines what differs from the drafts before it.
 */
#include "schema/tg_schema_node.h"

#define TG_META_2020_BASE "https://json-schema.org/draft/2020-12/"
#define TG_META_2019_BASE "https://json-schema.org/draft/2019-09/"

/* 2020-12 has a vocabulary for each of these. */
#define TG_META_V_2019_FORMAT                                                  \
    (TG_SCHEMA_V_FORMAT_ANNOTATION | TG_SCHEMA_V_FORMAT_ASSERTION)

/* clang-format off */

/* Returns JSON, in which macros are replaced, as a string. */
#define TG_META_TEXT(...) #__VA_ARGS__
#define TG_META_JSON(...) TG_META_TEXT(__VA_ARGS__)

#define STRING {"type": "string"}
#define NUMBER {"type": "number"}
#define BOOLEAN {"type": "boolean"}
#define FORMAT(name) {"type": "string", "format": name}
#define LIST(...) {"type": "array", "items": __VA_ARGS__}
#define MAP(...) {"type": "object", "additionalProperties": __VA_ARGS__}
#define ANY(...) {"anyOf": [__VA_ARGS__]}

#define SIZE_DEFINITION {"type": "integer", "minimum": 0}
#define SCHEMAS_DEFINITION {"type": "array", "minItems": 1, "items": SELF}
#define STRINGS_DEFINITION                                                     \
    {"type": "array", "items": STRING, "uniqueItems": true}
#define TYPES_DEFINITION                                                       \
    {"enum": ["array", "boolean", "integer", "null", "number", "object",       \
              "string"]}

#define TYPE_RULE                                                              \
    "type": ANY(TYPES, {"type": "array", "items": TYPES, "minItems": 1,        \
                        "uniqueItems": true})
#define SIZE_RULES                                                             \
    "maxLength": SIZE, "minLength": SIZE_OR_0, "maxItems": SIZE,               \
    "minItems": SIZE_OR_0, "maxProperties": SIZE, "minProperties": SIZE_OR_0
#define VALIDATION_RULES                                                       \
    TYPE_RULE, SIZE_RULES, "maximum": NUMBER, "minimum": NUMBER,               \
    "exclusiveMaximum": EXCLUSIVE, "exclusiveMinimum": EXCLUSIVE,              \
    "pattern": FORMAT("regex"), "uniqueItems": BOOLEAN, "required": STRINGS
#define LOGIC_RULES                                                            \
    "allOf": SCHEMAS, "anyOf": SCHEMAS, "oneOf": SCHEMAS, "not": SELF
#define IF_RULES "if": SELF, "then": SELF, "else": SELF
#define PATTERN_RULE                                                           \
    "patternProperties": {"type": "object", "additionalProperties": SELF,      \
                          "propertyNames": {"format": "regex"}}
#define DEPENDENCIES "dependencies": MAP(ANY(SELF, STRINGS))

/* --- drafts 4, 6 and 7 --- */

#define SELF {"$ref": "#"}
#define TYPES {"$ref": "#/definitions/simpleTypes"}
#define STRINGS {"$ref": "#/definitions/stringArray"}
#define SCHEMAS {"$ref": "#/definitions/schemaArray"}
#define SIZE {"$ref": "#/definitions/positiveInteger"}
#define SIZE_OR_0 {"$ref": "#/definitions/positiveIntegerDefault0"}
#define EXCLUSIVE BOOLEAN
#define OLD_RULES                                                              \
    VALIDATION_RULES, LOGIC_RULES, DEPENDENCIES, "properties": MAP(SELF),      \
    "definitions": MAP(SELF), "items": ANY(SELF, SCHEMAS), "format": STRING,   \
    "title": STRING, "description": STRING

static const char tg_meta_draft_04[] = TG_META_JSON({
    "id": "http://json-schema.org/draft-04/schema#",
    "$schema": "http://json-schema.org/draft-04/schema#",
    "definitions": {
        "schemaArray": SCHEMAS_DEFINITION, "simpleTypes": TYPES_DEFINITION,
        "positiveInteger": SIZE_DEFINITION,
        "positiveIntegerDefault0": {"allOf": [SIZE, {}]},
        "stringArray": {"type": "array", "items": STRING, "minItems": 1,
                        "uniqueItems": true}},
    "type": "object",
    "properties": {
        OLD_RULES, "id": STRING, "$schema": STRING, "default": {},
        "multipleOf": {"type": "number", "minimum": 0,
                       "exclusiveMinimum": true},
        "additionalItems": ANY(BOOLEAN, SELF),
        "additionalProperties": ANY(BOOLEAN, SELF),
        "patternProperties": MAP(SELF),
        "enum": {"type": "array", "minItems": 1, "uniqueItems": true}},
    "dependencies": {"exclusiveMaximum": ["maximum"],
                     "exclusiveMinimum": ["minimum"]}});

#undef SIZE
#undef SIZE_OR_0
#undef EXCLUSIVE
#define SIZE {"$ref": "#/definitions/nonNegativeInteger"}
#define SIZE_OR_0 {"$ref": "#/definitions/nonNegativeIntegerDefault0"}
#define EXCLUSIVE NUMBER
#define POSITIVE {"type": "number", "exclusiveMinimum": 0}

#define TG_META_6_7(uri, any, ...)                                             \
    TG_META_JSON({                                                             \
        "$schema": uri, "$id": uri,                                            \
        "definitions": {                                                       \
            "schemaArray": SCHEMAS_DEFINITION,                                 \
            "simpleTypes": TYPES_DEFINITION,                                   \
            "stringArray": STRINGS_DEFINITION,                                 \
            "nonNegativeInteger": SIZE_DEFINITION,                             \
            "nonNegativeIntegerDefault0": {"allOf": [SIZE, {}]}},              \
        "type": ["object", "boolean"],                                         \
        "properties": {                                                        \
            OLD_RULES, PATTERN_RULE, "$id": FORMAT("uri-reference"),           \
            "$schema": FORMAT("uri"), "$ref": FORMAT("uri-reference"),         \
            "multipleOf": POSITIVE, "additionalItems": SELF,                   \
            "contains": SELF, "additionalProperties": SELF,                    \
            "propertyNames": SELF, "default": any, "const": any,               \
            "examples": LIST(any), __VA_ARGS__}})

static const char tg_meta_draft_06[] = TG_META_6_7(
    "http://json-schema.org/draft-06/schema#", {}, "enum": {"type": "array"});

static const char tg_meta_draft_07[] = TG_META_6_7(
    "http://json-schema.org/draft-07/schema#", true, "enum": LIST(true),
    IF_RULES, "$comment": STRING, "readOnly": BOOLEAN,
    "contentMediaType": STRING, "contentEncoding": STRING);

/* --- 2019-09 and 2020-12 --- */

#undef TYPES
#undef STRINGS
#undef SCHEMAS
#undef SIZE
#undef SIZE_OR_0
#define TYPES {"$ref": "#/$defs/simpleTypes"}
#define STRINGS {"$ref": "#/$defs/stringArray"}
#define SCHEMAS {"$ref": "#/$defs/schemaArray"}
#define SIZE {"$ref": "#/$defs/nonNegativeInteger"}
#define SIZE_OR_0 {"$ref": "#/$defs/nonNegativeIntegerDefault0"}

#define ROOT_RULES                                                             \
    "definitions": MAP(SELF),                                                  \
    "dependencies":                                                            \
        MAP(ANY(SELF, {"$ref": "meta/validation#/$defs/stringArray"}))
#define APPLICATOR_RULES                                                       \
    LOGIC_RULES, IF_RULES, PATTERN_RULE, "contains": SELF,                     \
    "additionalProperties": SELF, "properties": MAP(SELF),                     \
    "dependentSchemas": MAP(SELF), "propertyNames": SELF
#define APPLICATOR_DEFINITIONS "$defs": {"schemaArray": SCHEMAS_DEFINITION}
#define VALIDATION                                                             \
    "properties": {                                                            \
        VALIDATION_RULES, "multipleOf": POSITIVE, "maxContains": SIZE,         \
        "minContains": SIZE, "dependentRequired": MAP(STRINGS),                \
        "const": true, "enum": LIST(true)},                                    \
    "$defs": {                                                                 \
        "nonNegativeInteger": SIZE_DEFINITION,                                 \
        "nonNegativeIntegerDefault0": SIZE, "simpleTypes": TYPES_DEFINITION,   \
        "stringArray": STRINGS_DEFINITION}
#define METADATA                                                               \
    "properties": {                                                            \
        "title": STRING, "description": STRING, "default": true,               \
        "deprecated": BOOLEAN, "readOnly": BOOLEAN, "writeOnly": BOOLEAN,      \
        "examples": LIST(true)}
#define CONTENT                                                                \
    "properties": {"contentMediaType": STRING, "contentEncoding": STRING,      \
                   "contentSchema": SELF}
#define FORMAT_PART "properties": {"format": STRING}

/* A metaschema, or one of its parts with the rules of one vocabulary. */
#define TG_META_SCHEMA(base, anchor, id, vocabularies, ...)                    \
    "{\"$schema\":\"" base "schema\",\"$id\":\"" base id                       \
    "\",\"$vocabulary\":{" vocabularies "}," TG_META_JSON(                     \
        anchor, "type": ["object", "boolean"], __VA_ARGS__) "}"
#define TG_META_USES(base, name) "\"" base "vocab/" name "\":true"

typedef struct {
    const char *name;
    unsigned bits; /* of the vocabulary */
    const char *text;
} tg_meta_part_t;

#undef SELF
#define SELF {"$recursiveRef": "#"}
#define TG_META_2019(id, vocabularies, ...)                                    \
    TG_META_SCHEMA(TG_META_2019_BASE, "$recursiveAnchor": true, id,            \
                   vocabularies, __VA_ARGS__)
#define TG_META_2019_USES(name) TG_META_USES(TG_META_2019_BASE, name)
#define TG_META_2019_PART(name, bits, ...)                                     \
    {name, bits, TG_META_2019("meta/" name, TG_META_2019_USES(name),           \
                              __VA_ARGS__)}

static const char tg_meta_2019[] = TG_META_2019(
    "schema",
    TG_META_2019_USES("core") "," TG_META_2019_USES("applicator") ","
    TG_META_2019_USES("validation") "," TG_META_2019_USES("meta-data") ","
    TG_META_2019_USES("content") ",\"" TG_META_2019_BASE "vocab/format\":false",
    "allOf": [{"$ref": "meta/core"}, {"$ref": "meta/applicator"},
              {"$ref": "meta/validation"}, {"$ref": "meta/meta-data"},
              {"$ref": "meta/format"}, {"$ref": "meta/content"}],
    "properties": {ROOT_RULES});

static const tg_meta_part_t tg_meta_2019_parts[] = {
    TG_META_2019_PART("core", TG_SCHEMA_V_CORE, "properties": {
        "$id": {"type": "string", "format": "uri-reference",
                "pattern": "^[^#]*#?$"},
        "$schema": FORMAT("uri"),
        "$anchor": {"type": "string", "pattern": "^[A-Za-z][-A-Za-z0-9.:_]*$"},
        "$ref": FORMAT("uri-reference"),
        "$recursiveRef": FORMAT("uri-reference"),
        "$recursiveAnchor": BOOLEAN,
        "$vocabulary": {"type": "object", "propertyNames": FORMAT("uri"),
                        "additionalProperties": BOOLEAN},
        "$comment": STRING, "$defs": MAP(SELF)}),
    TG_META_2019_PART("applicator",
        TG_SCHEMA_V_APPLICATOR | TG_SCHEMA_V_UNEVALUATED, "properties": {
        APPLICATOR_RULES, "additionalItems": SELF, "unevaluatedItems": SELF,
        "items": ANY(SELF, SCHEMAS), "unevaluatedProperties": SELF},
        APPLICATOR_DEFINITIONS),
    TG_META_2019_PART("validation", TG_SCHEMA_V_VALIDATION, VALIDATION),
    TG_META_2019_PART("meta-data", TG_SCHEMA_V_METADATA, METADATA),
    TG_META_2019_PART("format", TG_META_V_2019_FORMAT, FORMAT_PART),
    TG_META_2019_PART("content", TG_SCHEMA_V_CONTENT, CONTENT),
    {NULL, 0, NULL}
};

#undef SELF
#define SELF {"$dynamicRef": "#meta"}
#define TG_META_2020(id, vocabularies, ...)                                    \
    TG_META_SCHEMA(TG_META_2020_BASE, "$dynamicAnchor": "meta", id,            \
                   vocabularies, __VA_ARGS__)
#define TG_META_2020_USES(name) TG_META_USES(TG_META_2020_BASE, name)
#define TG_META_2020_PART(name, bits, ...)                                     \
    {name, bits, TG_META_2020("meta/" name, TG_META_2020_USES(name),           \
                              __VA_ARGS__)}

static const char tg_meta_2020[] = TG_META_2020(
    "schema",
    TG_META_2020_USES("core") "," TG_META_2020_USES("applicator") ","
    TG_META_2020_USES("unevaluated") "," TG_META_2020_USES("validation") ","
    TG_META_2020_USES("meta-data") "," TG_META_2020_USES("content") ","
    TG_META_2020_USES("format-annotation"),
    "allOf": [{"$ref": "meta/core"}, {"$ref": "meta/applicator"},
              {"$ref": "meta/unevaluated"}, {"$ref": "meta/validation"},
              {"$ref": "meta/meta-data"}, {"$ref": "meta/format-annotation"},
              {"$ref": "meta/content"}],
    "properties": {
        ROOT_RULES,
        "$recursiveAnchor": {"$ref": "meta/core#/$defs/anchorString"},
        "$recursiveRef": {"$ref": "meta/core#/$defs/uriReferenceString"}});

static const tg_meta_part_t tg_meta_2020_parts[] = {
    TG_META_2020_PART("core", TG_SCHEMA_V_CORE, "properties": {
        "$id": {"$ref": "#/$defs/uriReferenceString", "pattern": "^[^#]*#?$"},
        "$schema": {"$ref": "#/$defs/uriString"},
        "$ref": {"$ref": "#/$defs/uriReferenceString"},
        "$anchor": {"$ref": "#/$defs/anchorString"},
        "$dynamicRef": {"$ref": "#/$defs/uriReferenceString"},
        "$dynamicAnchor": {"$ref": "#/$defs/anchorString"},
        "$vocabulary": {"type": "object",
                        "propertyNames": {"$ref": "#/$defs/uriString"},
                        "additionalProperties": BOOLEAN},
        "$comment": STRING, "$defs": MAP(SELF)},
        "$defs": {
            "anchorString": {"type": "string",
                             "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
            "uriString": FORMAT("uri"),
            "uriReferenceString": FORMAT("uri-reference")}),
    TG_META_2020_PART("applicator", TG_SCHEMA_V_APPLICATOR,
        "properties": {APPLICATOR_RULES, "prefixItems": SCHEMAS, "items": SELF},
        APPLICATOR_DEFINITIONS),
    TG_META_2020_PART("unevaluated", TG_SCHEMA_V_UNEVALUATED, "properties": {
        "unevaluatedItems": SELF, "unevaluatedProperties": SELF}),
    TG_META_2020_PART("validation", TG_SCHEMA_V_VALIDATION, VALIDATION),
    TG_META_2020_PART("meta-data", TG_SCHEMA_V_METADATA, METADATA),
    TG_META_2020_PART("format-annotation", TG_SCHEMA_V_FORMAT_ANNOTATION,
        FORMAT_PART),
    TG_META_2020_PART("format-assertion", TG_SCHEMA_V_FORMAT_ASSERTION,
        FORMAT_PART),
    TG_META_2020_PART("content", TG_SCHEMA_V_CONTENT, CONTENT),
    {NULL, 0, NULL}
};

/* clang-format on */

/* Returns the part that a URI names, or NULL. */
static const tg_meta_part_t *
tg_meta_find_part(tg_str_t uri, const char *folder)
{
    const tg_meta_part_t *part;
    size_t base, len;

    base = sizeof(TG_META_2020_BASE) - 1;
    len = base + strlen(folder);

    if (uri.len < len || memcmp(uri.data + base, folder, len - base) != 0) {
        return NULL;
    }

    if (memcmp(uri.data, TG_META_2020_BASE, base) == 0) {
        part = tg_meta_2020_parts;
    } else if (memcmp(uri.data, TG_META_2019_BASE, base) == 0) {
        part = tg_meta_2019_parts;
    } else {
        return NULL;
    }

    uri = tg_str_skip(uri, len);

    while (part->name != NULL && !tg_str_eq(uri, tg_str_from_cstr(part->name)))
    {
        part++;
    }

    return part->name != NULL ? part : NULL;
}

tg_str_t
tg_schema_meta_find(tg_str_t uri)
{
    static const struct {
        const char *uri;
        const char *text;
    } docs[] = {
        { "http://json-schema.org/draft-04/schema", tg_meta_draft_04 },
        { "http://json-schema.org/draft-06/schema", tg_meta_draft_06 },
        { "http://json-schema.org/draft-07/schema", tg_meta_draft_07 },
        { TG_META_2019_BASE "schema", tg_meta_2019 },
        { TG_META_2020_BASE "schema", tg_meta_2020 },
    };
    const tg_meta_part_t *part;
    size_t i;

    for (i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        if (tg_str_eq(uri, tg_str_from_cstr(docs[i].uri))) {
            return tg_str_from_cstr(docs[i].text);
        }
    }

    part = tg_meta_find_part(uri, "meta/");

    return part != NULL ? tg_str_from_cstr(part->text) : TG_STR_NONE;
}

unsigned
tg_schema_meta_get_vocabulary(tg_str_t uri, int is_required)
{
    const tg_meta_part_t *part;

    part = tg_meta_find_part(uri, "vocab/");

    if (part != NULL && part->bits == TG_META_V_2019_FORMAT) {
        return is_required ? TG_SCHEMA_V_FORMAT_ASSERTION
                           : TG_SCHEMA_V_FORMAT_ANNOTATION;
    }

    return part != NULL ? part->bits : 0;
}
