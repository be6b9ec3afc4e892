/*
 * The schemas of the 2020-12 dialect, from its specification.  What they
 * say in $comment is left out.
 */
#include "schema/tg_schema_node.h"

#define TG_META "https://json-schema.org/draft/2020-12/"

static const char tg_meta_schema[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/schema\",\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
    "\"https://json-schema.org/draft/2020-12/vocab/applicator\":true,"
    "\"https://json-schema.org/draft/2020-12/vocab/unevaluated\":true,"
    "\"https://json-schema.org/draft/2020-12/vocab/validation\":true,"
    "\"https://json-schema.org/draft/2020-12/vocab/meta-data\":true,"
    "\"https://json-schema.org/draft/2020-12/vocab/format-annotation\":true"
    ",\"https://json-schema.org/draft/2020-12/vocab/content\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Core and Validation specifications meta-schema\",\"allOf\":[{"
    "\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},{\"$ref\":"
    "\"meta/unevaluated\"},{\"$ref\":\"meta/validation\"},{\"$ref\":"
    "\"meta/meta-data\"},{\"$ref\":\"meta/format-annotation\"},{\"$ref\":"
    "\"meta/content\"}],\"type\":[\"object\",\"boolean\"],\"properties\":{"
    "\"definitions\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"$dynamicRef\":\"#meta\"},\"default\":{},\"deprecated\":true},"
    "\"dependencies\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"anyOf\":[{\"$dynamicRef\":\"#meta\"},{\"$ref\":"
    "\"meta/validation#/$defs/stringArray\"}]},\"default\":{},"
    "\"deprecated\":true},\"$recursiveAnchor\":{\"$ref\":"
    "\"meta/core#/$defs/anchorString\",\"deprecated\":true},"
    "\"$recursiveRef\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\","
    "\"deprecated\":true}}}";

static const char tg_meta_core[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/core\",\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/core\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":\"Core vocabulary meta-schema\","
    "\"type\":[\"object\",\"boolean\"],\"properties\":{\"$id\":{\"$ref\":"
    "\"#/$defs/uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},\"$schema\":"
    "{\"$ref\":\"#/$defs/uriString\"},\"$ref\":{\"$ref\":"
    "\"#/$defs/uriReferenceString\"},\"$anchor\":{\"$ref\":"
    "\"#/$defs/anchorString\"},\"$dynamicRef\":{\"$ref\":"
    "\"#/$defs/uriReferenceString\"},\"$dynamicAnchor\":{\"$ref\":"
    "\"#/$defs/anchorString\"},\"$vocabulary\":{\"type\":\"object\","
    "\"propertyNames\":{\"$ref\":\"#/$defs/uriString\"},"
    "\"additionalProperties\":{\"type\":\"boolean\"}},\"$comment\":{"
    "\"type\":\"string\"},\"$defs\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"}}},\"$defs\":{"
    "\"anchorString\":{\"type\":\"string\",\"pattern\":"
    "\"^[A-Za-z_][-A-Za-z0-9._]*$\"},\"uriString\":{\"type\":\"string\","
    "\"format\":\"uri\"},\"uriReferenceString\":{\"type\":\"string\","
    "\"format\":\"uri-reference\"}}}";

static const char tg_meta_applicator[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/applicator\","
    "\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/applicator\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Applicator vocabulary meta-schema\",\"type\":[\"object\",\"boolean\""
    "],\"properties\":{\"prefixItems\":{\"$ref\":\"#/$defs/schemaArray\"},"
    "\"items\":{\"$dynamicRef\":\"#meta\"},\"contains\":{\"$dynamicRef\":"
    "\"#meta\"},\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},"
    "\"properties\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"$dynamicRef\":\"#meta\"},\"default\":{}},\"patternProperties\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef\":"
    "\"#meta\"},\"propertyNames\":{\"format\":\"regex\"},\"default\":{}},"
    "\"dependentSchemas\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"$dynamicRef\":\"#meta\"},\"default\":{}},\"propertyNames\":{"
    "\"$dynamicRef\":\"#meta\"},\"if\":{\"$dynamicRef\":\"#meta\"},\"then\""
    ":{\"$dynamicRef\":\"#meta\"},\"else\":{\"$dynamicRef\":\"#meta\"},"
    "\"allOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"anyOf\":{\"$ref\":"
    "\"#/$defs/schemaArray\"},\"oneOf\":{\"$ref\":\"#/$defs/schemaArray\"},"
    "\"not\":{\"$dynamicRef\":\"#meta\"}},\"$defs\":{\"schemaArray\":{"
    "\"type\":\"array\",\"minItems\":1,\"items\":{\"$dynamicRef\":\"#meta\""
    "}}}}";

static const char tg_meta_unevaluated[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/unevaluated\","
    "\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/unevaluated\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Unevaluated applicator vocabulary meta-schema\",\"type\":[\"object\""
    ",\"boolean\"],\"properties\":{\"unevaluatedItems\":{\"$dynamicRef\":"
    "\"#meta\"},\"unevaluatedProperties\":{\"$dynamicRef\":\"#meta\"}}}";

static const char tg_meta_validation[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/validation\","
    "\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/validation\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Validation vocabulary meta-schema\",\"type\":[\"object\",\"boolean\""
    "],\"properties\":{\"type\":{\"anyOf\":[{\"$ref\":"
    "\"#/$defs/simpleTypes\"},{\"type\":\"array\",\"items\":{\"$ref\":"
    "\"#/$defs/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]},"
    "\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true},"
    "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
    "\"maximum\":{\"type\":\"number\"},\"exclusiveMaximum\":{\"type\":"
    "\"number\"},\"minimum\":{\"type\":\"number\"},\"exclusiveMinimum\":{"
    "\"type\":\"number\"},\"maxLength\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\"},\"minLength\":{\"$ref\":"
    "\"#/$defs/nonNegativeIntegerDefault0\"},\"pattern\":{\"type\":"
    "\"string\",\"format\":\"regex\"},\"maxItems\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\"},\"minItems\":{\"$ref\":"
    "\"#/$defs/nonNegativeIntegerDefault0\"},\"uniqueItems\":{\"type\":"
    "\"boolean\",\"default\":false},\"maxContains\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\"},\"minContains\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\",\"default\":1},\"maxProperties\":{"
    "\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minProperties\":{\"$ref\":"
    "\"#/$defs/nonNegativeIntegerDefault0\"},\"required\":{\"$ref\":"
    "\"#/$defs/stringArray\"},\"dependentRequired\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$ref\":\"#/$defs/stringArray\"}}},"
    "\"$defs\":{\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0}"
    ",\"nonNegativeIntegerDefault0\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\",\"default\":0},\"simpleTypes\":{"
    "\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\","
    "\"object\",\"string\"]},\"stringArray\":{\"type\":\"array\",\"items\":"
    "{\"type\":\"string\"},\"uniqueItems\":true,\"default\":[]}}}";

static const char tg_meta_meta_data[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/meta-data\","
    "\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/meta-data\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Meta-data vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"]"
    ",\"properties\":{\"title\":{\"type\":\"string\"},\"description\":{"
    "\"type\":\"string\"},\"default\":true,\"deprecated\":{\"type\":"
    "\"boolean\",\"default\":false},\"readOnly\":{\"type\":\"boolean\","
    "\"default\":false},\"writeOnly\":{\"type\":\"boolean\",\"default\":"
    "false},\"examples\":{\"type\":\"array\",\"items\":true}}}";

static const char tg_meta_format_annotation[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/format-annotation\","
    "\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/format-annotation\":true"
    "},\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Format vocabulary meta-schema for annotation results\",\"type\":["
    "\"object\",\"boolean\"],\"properties\":{\"format\":{\"type\":"
    "\"string\"}}}";

static const char tg_meta_format_assertion[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/format-assertion\","
    "\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2020-12/vocab/format-assertion\":true}"
    ",\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Format vocabulary meta-schema for assertion results\",\"type\":["
    "\"object\",\"boolean\"],\"properties\":{\"format\":{\"type\":"
    "\"string\"}}}";

static const char tg_meta_content[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2020-12/meta/content\",\"$vocabulary\""
    ":{\"https://json-schema.org/draft/2020-12/vocab/content\":true},"
    "\"$dynamicAnchor\":\"meta\",\"title\":"
    "\"Content vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{\"contentEncoding\":{\"type\":\"string\"},"
    "\"contentMediaType\":{\"type\":\"string\"},\"contentSchema\":{"
    "\"$dynamicRef\":\"#meta\"}}}";

static const struct {
    tg_str_t uri;
    tg_str_t text;
} tg_meta_documents[] = {
    { { TG_META "schema", sizeof(TG_META "schema") - 1 },
      { tg_meta_schema, sizeof(tg_meta_schema) - 1 } },
    { { TG_META "meta/core", sizeof(TG_META "meta/core") - 1 },
      { tg_meta_core, sizeof(tg_meta_core) - 1 } },
    { { TG_META "meta/applicator", sizeof(TG_META "meta/applicator") - 1 },
      { tg_meta_applicator, sizeof(tg_meta_applicator) - 1 } },
    { { TG_META "meta/unevaluated", sizeof(TG_META "meta/unevaluated") - 1 },
      { tg_meta_unevaluated, sizeof(tg_meta_unevaluated) - 1 } },
    { { TG_META "meta/validation", sizeof(TG_META "meta/validation") - 1 },
      { tg_meta_validation, sizeof(tg_meta_validation) - 1 } },
    { { TG_META "meta/meta-data", sizeof(TG_META "meta/meta-data") - 1 },
      { tg_meta_meta_data, sizeof(tg_meta_meta_data) - 1 } },
    { { TG_META "meta/format-annotation",
        sizeof(TG_META "meta/format-annotation") - 1 },
      { tg_meta_format_annotation, sizeof(tg_meta_format_annotation) - 1 } },
    { { TG_META "meta/format-assertion",
        sizeof(TG_META "meta/format-assertion") - 1 },
      { tg_meta_format_assertion, sizeof(tg_meta_format_assertion) - 1 } },
    { { TG_META "meta/content", sizeof(TG_META "meta/content") - 1 },
      { tg_meta_content, sizeof(tg_meta_content) - 1 } },
};

static const struct {
    const char *uri;
    unsigned bit;
} tg_meta_vocabularies[] = {
    { TG_META "vocab/core", TG_SCHEMA_V_CORE },
    { TG_META "vocab/applicator", TG_SCHEMA_V_APPLICATOR },
    { TG_META "vocab/unevaluated", TG_SCHEMA_V_UNEVALUATED },
    { TG_META "vocab/validation", TG_SCHEMA_V_VALIDATION },
    { TG_META "vocab/meta-data", TG_SCHEMA_V_METADATA },
    { TG_META "vocab/format-annotation", TG_SCHEMA_V_FORMAT_ANNOTATION },
    { TG_META "vocab/format-assertion", TG_SCHEMA_V_FORMAT_ASSERTION },
    { TG_META "vocab/content", TG_SCHEMA_V_CONTENT },
};

tg_str_t
tg_schema_meta_find(tg_str_t uri)
{
    size_t i;

    for (i = 0; i < sizeof(tg_meta_documents) / sizeof(tg_meta_documents[0]);
         i++) {
        if (tg_str_eq(uri, tg_meta_documents[i].uri)) {
            return tg_meta_documents[i].text;
        }
    }

    return TG_STR_NONE;
}

unsigned
tg_schema_meta_vocabulary(tg_str_t uri)
{
    size_t i;

    for (i = 0;
         i < sizeof(tg_meta_vocabularies) / sizeof(tg_meta_vocabularies[0]);
         i++)
    {
        if (tg_str_eq(uri, tg_str_c(tg_meta_vocabularies[i].uri))) {
            return tg_meta_vocabularies[i].bit;
        }
    }

    return 0;
}
