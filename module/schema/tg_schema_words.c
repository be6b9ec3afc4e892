#include "schema/tg_schema_words.h"

static const char *const tg_schema_word_values[] = { "$id",
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
static const char *const tg_schema_word_schemas[] = { "prefixItems",
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
                                                      NULL };
static const char *const tg_schema_word_maps[] = {
    "properties", "patternProperties", "dependentSchemas",
    "$defs",      "definitions",       "dependencies",
    NULL
};

const char *const *
tg_schema_words_of(tg_schema_holds_t holds)
{
    static const char *const *const words[] = {
        [TG_SCHEMA_HOLDS_VALUE] = tg_schema_word_values,
        [TG_SCHEMA_HOLDS_SCHEMAS] = tg_schema_word_schemas,
        [TG_SCHEMA_HOLDS_MAP] = tg_schema_word_maps,
    };

    return words[holds];
}

tg_schema_holds_t
tg_schema_holds(tg_str_t key)
{
    const char *const *word;
    int holds;

    for (holds = TG_SCHEMA_HOLDS_VALUE; holds <= TG_SCHEMA_HOLDS_MAP; holds++) {
        for (word = tg_schema_words_of((tg_schema_holds_t) holds);
             *word != NULL; word++)
        {
            if (tg_json_body_is(key, tg_str_c(*word))) {
                return (tg_schema_holds_t) holds;
            }
        }
    }

    return TG_SCHEMA_HOLDS_NOTHING;
}
