/* Names of the JSON Schema keywords, by the content of their values. */
#include "schema/tg_schema_keyword_names.h"

static const char *const tg_schema_value_keywords[] = { "$id",
                                                        "id",
                                                        "$schema",
                                                        "$vocabulary",
                                                        "$anchor",
                                                        "$dynamicAnchor",
                                                        "$ref",
                                                        "$dynamicRef",
                                                        "$recursiveAnchor",
                                                        "$recursiveRef",
                                                        "$comment",
                                                        "type",
                                                        "const",
                                                        "enum",
                                                        "minimum",
                                                        "maximum",
                                                        "multipleOf",
                                                        "exclusiveMinimum",
                                                        "exclusiveMaximum",
                                                        "minLength",
                                                        "maxLength",
                                                        "format",
                                                        "pattern",
                                                        "minItems",
                                                        "maxItems",
                                                        "minContains",
                                                        "maxContains",
                                                        "uniqueItems",
                                                        "required",
                                                        "minProperties",
                                                        "maxProperties",
                                                        "title",
                                                        "dependentRequired",
                                                        "description",
                                                        "default",
                                                        "examples",
                                                        "deprecated",
                                                        "readOnly",
                                                        "writeOnly",
                                                        "contentEncoding",
                                                        "contentMediaType",
                                                        NULL };
static const char *const tg_schema_schema_keywords[] = {
    "prefixItems",
    "items",
    "contains",
    "not",
    "propertyNames",
    "additionalProperties",
    "if",
    "then",
    "unevaluatedItems",
    "else",
    "allOf",
    "unevaluatedProperties",
    "anyOf",
    "oneOf",
    "contentSchema",
    "additionalItems",
    NULL
};
static const char *const tg_schema_map_keywords[] = {
    "properties", "patternProperties", "dependentSchemas",
    "$defs",      "definitions",       "dependencies",
    NULL
};

const char *const *
tg_schema_keyword_list_names(tg_schema_keyword_content_t holds)
{
    static const char *const *const words[] = {
        [TG_SCHEMA_CONTENT_VALUE] = tg_schema_value_keywords,
        [TG_SCHEMA_CONTENT_SCHEMAS] = tg_schema_schema_keywords,
        [TG_SCHEMA_CONTENT_MAP] = tg_schema_map_keywords,
    };

    return words[holds];
}

tg_schema_keyword_content_t
tg_schema_keyword_get_content(tg_str_t key)
{
    const char *const *word;
    int holds;

    for (holds = TG_SCHEMA_CONTENT_VALUE; holds <= TG_SCHEMA_CONTENT_MAP;
         holds++) {
        for (word = tg_schema_keyword_list_names(
                 (tg_schema_keyword_content_t) holds);
             *word != NULL; word++)
        {
            if (tg_json_body_eq_text(key, tg_str_from_cstr(*word))) {
                return (tg_schema_keyword_content_t) holds;
            }
        }
    }

    return TG_SCHEMA_CONTENT_UNKNOWN;
}
