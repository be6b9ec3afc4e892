/* The table of the JSON Schema keywords. */
#include "schema/tg_schema_keyword.h"

#include "base/tg_suggest.h"
#include "schema/tg_schema_compiler.h"

#include <stddef.h>

#define TG_SCHEMA_V_FORMAT                                                     \
    (TG_SCHEMA_V_FORMAT_ANNOTATION | TG_SCHEMA_V_FORMAT_ASSERTION)

/* Sets of drafts that support a keyword. */
#define TG_SCHEMA_IN_4 TG_SCHEMA_DRAFT_4
#define TG_SCHEMA_IN_2019 TG_SCHEMA_DRAFT_2019
#define TG_SCHEMA_SINCE_2020 TG_SCHEMA_DRAFT_2020
#define TG_SCHEMA_SINCE_2019 (TG_SCHEMA_SINCE_2020 | TG_SCHEMA_DRAFT_2019)
#define TG_SCHEMA_SINCE_7 (TG_SCHEMA_SINCE_2019 | TG_SCHEMA_DRAFT_7)
#define TG_SCHEMA_SINCE_6 (TG_SCHEMA_SINCE_7 | TG_SCHEMA_DRAFT_6)
#define TG_SCHEMA_SINCE_4 (TG_SCHEMA_SINCE_6 | TG_SCHEMA_DRAFT_4)
#define TG_SCHEMA_UNTIL_7 TG_SCHEMA_DRAFTS_UNTIL_7
#define TG_SCHEMA_UNTIL_2019 (TG_SCHEMA_UNTIL_7 | TG_SCHEMA_DRAFT_2019)

#define TG_SCHEMA_IDENTITY(name, drafts)                                       \
    {                                                                          \
        name, NULL, 0, TG_SCHEMA_V_CORE, TG_SCHEMA_PART_NONE,                  \
            TG_SCHEMA_##drafts                                                 \
    }
#define TG_SCHEMA_ANNOTATION(name, drafts, vocabulary, read)                   \
    {                                                                          \
        name, tg_schema_read_##read, 0, TG_SCHEMA_V_##vocabulary,              \
            TG_SCHEMA_PART_NONE, TG_SCHEMA_##drafts                            \
    }
#define TG_SCHEMA_RULE(name, drafts, vocabulary, read, part, type, field)      \
    {                                                                          \
        name, tg_schema_read_##read, offsetof(tg_schema_##type, field),        \
            TG_SCHEMA_V_##vocabulary, TG_SCHEMA_PART_##part,                   \
            TG_SCHEMA_##drafts                                                 \
    }
/* A keyword whose reader accesses several members of its part. */
#define TG_SCHEMA_PART_RULE(name, drafts, vocabulary, read, part)              \
    {                                                                          \
        name, tg_schema_read_##read, 0, TG_SCHEMA_V_##vocabulary,              \
            TG_SCHEMA_PART_##part, TG_SCHEMA_##drafts                          \
    }
#define TG_SCHEMA_NODE_RULE(name, drafts, vocabulary, read, field)             \
    TG_SCHEMA_RULE(name, drafts, vocabulary, read, NODE, node_t, field)
#define TG_SCHEMA_NUMBER_RULE(name, drafts, read, field)                       \
    TG_SCHEMA_RULE(name, drafts, VALIDATION, read, NUMBER, number_rules_t,     \
                   field)
#define TG_SCHEMA_STRING_RULE(name, drafts, vocabulary, read, field)           \
    TG_SCHEMA_RULE(name, drafts, vocabulary, read, STRING, string_rules_t,     \
                   field)
#define TG_SCHEMA_ARRAY_RULE(name, drafts, vocabulary, read, field)            \
    TG_SCHEMA_RULE(name, drafts, vocabulary, read, ARRAY, array_rules_t, field)
#define TG_SCHEMA_OBJECT_RULE(name, drafts, vocabulary, read, field)           \
    TG_SCHEMA_RULE(name, drafts, vocabulary, read, OBJECT, object_rules_t,     \
                   field)
#define TG_SCHEMA_LOGIC_RULE(name, drafts, read, field)                        \
    TG_SCHEMA_RULE(name, drafts, APPLICATOR, read, LOGIC, logic_t, field)

const tg_schema_keyword_row_t tg_schema_keywords[] = {
    TG_SCHEMA_IDENTITY("$id", SINCE_6),
    TG_SCHEMA_IDENTITY("id", IN_4),
    TG_SCHEMA_IDENTITY("$schema", SINCE_4),
    TG_SCHEMA_IDENTITY("$vocabulary", SINCE_2019),
    TG_SCHEMA_IDENTITY("$anchor", SINCE_2019),
    TG_SCHEMA_IDENTITY("$dynamicAnchor", SINCE_2020),
    TG_SCHEMA_IDENTITY("$recursiveAnchor", IN_2019),
    TG_SCHEMA_IDENTITY("$ref", SINCE_4),
    TG_SCHEMA_IDENTITY("$dynamicRef", SINCE_2020),
    TG_SCHEMA_IDENTITY("$recursiveRef", IN_2019),
    TG_SCHEMA_ANNOTATION("definitions", UNTIL_2019, CORE, defs),

    TG_SCHEMA_NODE_RULE("type", SINCE_4, VALIDATION, type, types),
    TG_SCHEMA_NODE_RULE("const", SINCE_6, VALIDATION, const, constant),
    TG_SCHEMA_NODE_RULE("enum", SINCE_4, VALIDATION, enum, values),

    TG_SCHEMA_NUMBER_RULE("minimum", SINCE_4, bound, minimum),
    TG_SCHEMA_NUMBER_RULE("maximum", SINCE_4, bound, maximum),
    TG_SCHEMA_PART_RULE("exclusiveMinimum", SINCE_4, VALIDATION,
                        exclusive_minimum, NUMBER),
    TG_SCHEMA_PART_RULE("exclusiveMaximum", SINCE_4, VALIDATION,
                        exclusive_maximum, NUMBER),
    TG_SCHEMA_NUMBER_RULE("multipleOf", SINCE_4, multiple, multiple),

    TG_SCHEMA_STRING_RULE("minLength", SINCE_4, VALIDATION, size, min),
    TG_SCHEMA_STRING_RULE("maxLength", SINCE_4, VALIDATION, size, max),
    TG_SCHEMA_PART_RULE("format", SINCE_4, FORMAT, format, STRING),
    TG_SCHEMA_STRING_RULE("pattern", SINCE_4, VALIDATION, pattern, pattern),

    TG_SCHEMA_ARRAY_RULE("minItems", SINCE_4, VALIDATION, size, min),
    TG_SCHEMA_ARRAY_RULE("maxItems", SINCE_4, VALIDATION, size, max),
    TG_SCHEMA_ARRAY_RULE("minContains", SINCE_2019, VALIDATION, size,
                         min_contains),
    TG_SCHEMA_ARRAY_RULE("maxContains", SINCE_2019, VALIDATION, size,
                         max_contains),
    TG_SCHEMA_ARRAY_RULE("uniqueItems", SINCE_4, VALIDATION, flag, is_unique),
    TG_SCHEMA_ARRAY_RULE("prefixItems", SINCE_2020, APPLICATOR, schemas,
                         prefix),
    TG_SCHEMA_PART_RULE("items", SINCE_4, APPLICATOR, items, ARRAY),
    TG_SCHEMA_PART_RULE("additionalItems", UNTIL_2019, APPLICATOR,
                        additional_items, ARRAY),
    TG_SCHEMA_ARRAY_RULE("contains", SINCE_6, APPLICATOR, schema, contains),
    TG_SCHEMA_NODE_RULE("unevaluatedItems", SINCE_2019, UNEVALUATED, schema,
                        unevaluated_items),

    TG_SCHEMA_ANNOTATION("$defs", SINCE_2019, CORE, defs),
    TG_SCHEMA_OBJECT_RULE("properties", SINCE_4, APPLICATOR, properties, names),
    TG_SCHEMA_OBJECT_RULE("patternProperties", SINCE_4, APPLICATOR, patterns,
                          names),
    TG_SCHEMA_OBJECT_RULE("additionalProperties", SINCE_4, APPLICATOR, schema,
                          additional),
    TG_SCHEMA_OBJECT_RULE("propertyNames", SINCE_6, APPLICATOR, schema,
                          property_names),
    TG_SCHEMA_NODE_RULE("unevaluatedProperties", SINCE_2019, UNEVALUATED,
                        schema, unevaluated_properties),
    TG_SCHEMA_OBJECT_RULE("required", SINCE_4, VALIDATION, required, names),
    TG_SCHEMA_OBJECT_RULE("dependentSchemas", SINCE_2019, APPLICATOR,
                          dependent_schema, names),
    TG_SCHEMA_OBJECT_RULE("dependentRequired", SINCE_2019, VALIDATION,
                          dependent_required, names),
    TG_SCHEMA_OBJECT_RULE("dependencies", UNTIL_7, APPLICATOR, dependencies,
                          names),
    TG_SCHEMA_OBJECT_RULE("minProperties", SINCE_4, VALIDATION, size, min),
    TG_SCHEMA_OBJECT_RULE("maxProperties", SINCE_4, VALIDATION, size, max),

    TG_SCHEMA_LOGIC_RULE("allOf", SINCE_4, schemas, all),
    TG_SCHEMA_LOGIC_RULE("anyOf", SINCE_4, schemas, any),
    TG_SCHEMA_LOGIC_RULE("oneOf", SINCE_4, schemas, one),
    TG_SCHEMA_LOGIC_RULE("not", SINCE_4, schema, not_schema),
    TG_SCHEMA_LOGIC_RULE("if", SINCE_7, schema, if_schema),
    TG_SCHEMA_LOGIC_RULE("then", SINCE_7, schema, then_schema),
    TG_SCHEMA_LOGIC_RULE("else", SINCE_7, schema, else_schema),

    TG_SCHEMA_ANNOTATION("$comment", SINCE_7, CORE, text),
    TG_SCHEMA_ANNOTATION("title", SINCE_4, METADATA, text),
    TG_SCHEMA_ANNOTATION("description", SINCE_4, METADATA, text),
    TG_SCHEMA_ANNOTATION("contentEncoding", SINCE_7, CONTENT, text),
    TG_SCHEMA_ANNOTATION("contentMediaType", SINCE_7, CONTENT, text),
    TG_SCHEMA_ANNOTATION("deprecated", SINCE_2019, METADATA, flag),
    TG_SCHEMA_ANNOTATION("readOnly", SINCE_7, METADATA, flag),
    TG_SCHEMA_ANNOTATION("writeOnly", SINCE_7, METADATA, flag),
    TG_SCHEMA_ANNOTATION("examples", SINCE_6, METADATA, list),
    TG_SCHEMA_ANNOTATION("contentSchema", SINCE_2019, CONTENT, schema),
    TG_SCHEMA_IDENTITY("default", SINCE_4),
};

#define TG_SCHEMA_N_KEYWORDS                                                   \
    (sizeof(tg_schema_keywords) / sizeof(tg_schema_keywords[0]))

const size_t tg_schema_n_keywords = TG_SCHEMA_N_KEYWORDS;

const tg_schema_keyword_row_t *
tg_schema_keyword_find(tg_str_t key)
{
    size_t i;

    for (i = 0; i < TG_SCHEMA_N_KEYWORDS; i++) {
        if (tg_json_body_eq_text(key,
                                 tg_str_from_cstr(tg_schema_keywords[i].name)))
        {
            return &tg_schema_keywords[i];
        }
    }

    return NULL;
}

unsigned
tg_schema_keyword_get_drafts(tg_str_t key)
{
    const tg_schema_keyword_row_t *row;

    row = tg_schema_keyword_find(key);

    return row != NULL
                   && (row->read == NULL || row->part != TG_SCHEMA_PART_NONE)
               ? row->drafts
               : ~0U;
}

/* Classifies a keyword by its reader. */
static tg_schema_keyword_content_t
tg_schema_keyword_row_get_content(const tg_schema_keyword_row_t *row)
{
    static const tg_schema_keyword_read_pt readers[][5] = {
        [TG_SCHEMA_CONTENT_SCHEMAS] = { tg_schema_read_schema,
                                        tg_schema_read_schemas,
                                        tg_schema_read_items,
                                        tg_schema_read_additional_items },
        [TG_SCHEMA_CONTENT_MAP] = { tg_schema_read_defs,
                                    tg_schema_read_properties,
                                    tg_schema_read_patterns,
                                    tg_schema_read_dependent_schema,
                                    tg_schema_read_dependencies },
    };
    int content, i;

    for (content = TG_SCHEMA_CONTENT_SCHEMAS; content <= TG_SCHEMA_CONTENT_MAP;
         content++)
    {
        for (i = 0; i < 5; i++) {
            if (row->read != NULL && row->read == readers[content][i]) {
                return (tg_schema_keyword_content_t) content;
            }
        }
    }

    return TG_SCHEMA_CONTENT_VALUE;
}

tg_schema_keyword_content_t
tg_schema_keyword_get_content(tg_str_t key)
{
    const tg_schema_keyword_row_t *row;

    row = tg_schema_keyword_find(key);

    return row != NULL ? tg_schema_keyword_row_get_content(row)
                       : TG_SCHEMA_CONTENT_UNKNOWN;
}

const char *
tg_schema_keyword_suggest(tg_str_t key)
{
    const char *names[TG_SCHEMA_N_KEYWORDS + 1], *near;
    size_t i, n;
    int content;

    near = NULL;

    for (content = TG_SCHEMA_CONTENT_VALUE;
         near == NULL && content <= TG_SCHEMA_CONTENT_MAP; content++)
    {
        for (i = n = 0; i < TG_SCHEMA_N_KEYWORDS; i++) {
            if ((int) tg_schema_keyword_row_get_content(&tg_schema_keywords[i])
                == content) {
                names[n++] = tg_schema_keywords[i].name;
            }
        }

        names[n] = NULL;
        near = tg_suggest_word(key, names);
    }

    return near;
}
