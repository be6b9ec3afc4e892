/* The metaschemas of 2020-12, from the specification, without annotations. */
#include "schema/tg_schema_node.h"

#define TG_META_2020_BASE "https://json-schema.org/draft/2020-12/"
#define TG_META_2019_BASE "https://json-schema.org/draft/2019-09/"

#define TG_META_USES(name) "\"" TG_META_2020_BASE "vocab/" name "\":true"

#define TG_META_SCHEMA(id, vocabularies, rest)                                 \
    "{\"$schema\":\"" TG_META_2020_BASE                                        \
    "schema\",\"$id\":\"" TG_META_2020_BASE id                                 \
    "\",\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],"        \
    "\"$vocabulary\":{" vocabularies "}," rest

/* A metaschema of one vocabulary. */
#define TG_META_PART(name, rest)                                               \
    TG_META_SCHEMA("meta/" name, TG_META_USES(name), rest)

static const char tg_meta_schema[] = TG_META_SCHEMA(
    "schema",
    "\"" TG_META_2020_BASE "vocab/core\":true,\"" TG_META_2020_BASE
    "vocab/applicator\":true,\"" TG_META_2020_BASE
    "vocab/unevaluated\":true,\"" TG_META_2020_BASE
    "vocab/validation\":true,\"" TG_META_2020_BASE
    "vocab/meta-data\":true,\"" TG_META_2020_BASE
    "vocab/format-annotation\":true,\"" TG_META_2020_BASE
    "vocab/content\":true",
    "\"allOf\":[{\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},{"
    "\"$ref\":\"meta/unevaluated\"},{\"$ref\":\"meta/validation\"},{\"$ref\":"
    "\"meta/meta-data\"},{\"$ref\":\"meta/format-annotation\"},{\"$ref\":"
    "\"meta/content\"}],\"properties\":{\"definitions\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"}},\"dependencies\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"$dynamicRef\""
    ":\"#meta\"},{\"$ref\":\"meta/validation#/$defs/stringArray\"}]}},"
    "\"$recursiveAnchor\":{\"$ref\":\"meta/core#/$defs/anchorString\"},"
    "\"$recursiveRef\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\"}}}");

static const char tg_meta_core[] = TG_META_PART(
    "core",
    "\"properties\":{\"$id\":{\"$ref\":\"#/$defs/uriReferenceString\","
    "\"pattern\":\"^[^#]*#?$\"},\"$schema\":{\"$ref\":\"#/$defs/uriString\"},"
    "\"$ref\":{\"$ref\":\"#/$defs/uriReferenceString\"},\"$anchor\":{\"$ref\":"
    "\"#/$defs/anchorString\"},\"$dynamicRef\":{\"$ref\":"
    "\"#/$defs/uriReferenceString\"},\"$dynamicAnchor\":{\"$ref\":"
    "\"#/$defs/anchorString\"},\"$vocabulary\":{\"type\":\"object\","
    "\"propertyNames\":{\"$ref\":\"#/$defs/uriString\"},"
    "\"additionalProperties\":{\"type\":\"boolean\"}},\"$comment\":{\"type\":"
    "\"string\"},\"$defs\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"$dynamicRef\":\"#meta\"}}},\"$defs\":{\"anchorString\":{\"type\":"
    "\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},\"uriString\":{"
    "\"type\":\"string\",\"format\":\"uri\"},\"uriReferenceString\":{\"type\":"
    "\"string\",\"format\":\"uri-reference\"}}}");

static const char tg_meta_applicator[] = TG_META_PART(
    "applicator",
    "\"properties\":{\"prefixItems\":{\"$ref\":\"#/$defs/schemaArray\"},"
    "\"items\":{\"$dynamicRef\":\"#meta\"},\"contains\":{\"$dynamicRef\":"
    "\"#meta\"},\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},"
    "\"properties\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"$dynamicRef\":\"#meta\"}},\"patternProperties\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"propertyNames\":{"
    "\"format\":\"regex\"}},\"dependentSchemas\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"}},\"propertyNames\":{"
    "\"$dynamicRef\":\"#meta\"},\"if\":{\"$dynamicRef\":\"#meta\"},\"then\":{"
    "\"$dynamicRef\":\"#meta\"},\"else\":{\"$dynamicRef\":\"#meta\"},\"allOf\""
    ":{\"$ref\":\"#/$defs/schemaArray\"},\"anyOf\":{\"$ref\":"
    "\"#/$defs/schemaArray\"},\"oneOf\":{\"$ref\":\"#/$defs/schemaArray\"},"
    "\"not\":{\"$dynamicRef\":\"#meta\"}},\"$defs\":{\"schemaArray\":{\"type\""
    ":\"array\",\"minItems\":1,\"items\":{\"$dynamicRef\":\"#meta\"}}}}");

static const char tg_meta_unevaluated[] = TG_META_PART(
    "unevaluated",
    "\"properties\":{\"unevaluatedItems\":{\"$dynamicRef\":\"#meta\"},"
    "\"unevaluatedProperties\":{\"$dynamicRef\":\"#meta\"}}}");

static const char tg_meta_validation[] = TG_META_PART(
    "validation",
    "\"properties\":{\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/simpleTypes\"},{"
    "\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/simpleTypes\"},"
    "\"minItems\":1,\"uniqueItems\":true}]},\"const\":true,\"enum\":{\"type\":"
    "\"array\",\"items\":true},\"multipleOf\":{\"type\":\"number\","
    "\"exclusiveMinimum\":0},\"maximum\":{\"type\":\"number\"},"
    "\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{\"type\":"
    "\"number\"},\"exclusiveMinimum\":{\"type\":\"number\"},\"maxLength\":{"
    "\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minLength\":{\"$ref\":"
    "\"#/$defs/nonNegativeIntegerDefault0\"},\"pattern\":{\"type\":\"string\","
    "\"format\":\"regex\"},\"maxItems\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\"},\"minItems\":{\"$ref\":"
    "\"#/$defs/nonNegativeIntegerDefault0\"},\"uniqueItems\":{\"type\":"
    "\"boolean\"},\"maxContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
    "\"minContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
    "\"maxProperties\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
    "\"minProperties\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},"
    "\"required\":{\"$ref\":\"#/$defs/stringArray\"},\"dependentRequired\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"$ref\":"
    "\"#/$defs/stringArray\"}}},\"$defs\":{\"nonNegativeInteger\":{\"type\":"
    "\"integer\",\"minimum\":0},\"nonNegativeIntegerDefault0\":{\"$ref\":"
    "\"#/$defs/nonNegativeInteger\"},\"simpleTypes\":{\"enum\":[\"array\","
    "\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]},"
    "\"stringArray\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
    "\"uniqueItems\":true}}}");

static const char tg_meta_meta_data[] = TG_META_PART(
    "meta-data",
    "\"properties\":{\"title\":{\"type\":\"string\"},\"description\":{\"type\""
    ":\"string\"},\"default\":true,\"deprecated\":{\"type\":\"boolean\"},"
    "\"readOnly\":{\"type\":\"boolean\"},\"writeOnly\":{\"type\":\"boolean\"},"
    "\"examples\":{\"type\":\"array\",\"items\":true}}}");

static const char tg_meta_format_annotation[] = TG_META_PART(
    "format-annotation", "\"properties\":{\"format\":{\"type\":\"string\"}}}");

static const char tg_meta_format_assertion[] = TG_META_PART(
    "format-assertion", "\"properties\":{\"format\":{\"type\":\"string\"}}}");

static const char tg_meta_content[] = TG_META_PART(
    "content", "\"properties\":{\"contentEncoding\":{\"type\":\"string\"},"
               "\"contentMediaType\":{\"type\":\"string\"},\"contentSchema\":{"
               "\"$dynamicRef\":\"#meta\"}}}");

static const struct {
    const char *name;
    unsigned bit;
    const char *text;
} tg_meta_parts[] = {
    { "core", TG_SCHEMA_V_CORE, tg_meta_core },
    { "applicator", TG_SCHEMA_V_APPLICATOR, tg_meta_applicator },
    { "unevaluated", TG_SCHEMA_V_UNEVALUATED, tg_meta_unevaluated },
    { "validation", TG_SCHEMA_V_VALIDATION, tg_meta_validation },
    { "meta-data", TG_SCHEMA_V_METADATA, tg_meta_meta_data },
    { "format-annotation", TG_SCHEMA_V_FORMAT_ANNOTATION,
      tg_meta_format_annotation },
    { "format-assertion", TG_SCHEMA_V_FORMAT_ASSERTION,
      tg_meta_format_assertion },
    { "content", TG_SCHEMA_V_CONTENT, tg_meta_content },
};

#define TG_META_N_PARTS (sizeof(tg_meta_parts) / sizeof(tg_meta_parts[0]))

/* Returns the part that the rest of a URI names, or TG_META_N_PARTS. */
static size_t
tg_meta_find_part(tg_str_t uri, tg_str_t start)
{
    size_t i;

    if (uri.len < start.len || memcmp(uri.data, start.data, start.len) != 0) {
        return TG_META_N_PARTS;
    }

    uri = tg_str(uri.data + start.len, uri.len - start.len);

    for (i = 0; i < TG_META_N_PARTS; i++) {
        if (tg_str_eq(uri, tg_str_from_cstr(tg_meta_parts[i].name))) {
            break;
        }
    }

    return i;
}

tg_str_t
tg_schema_meta_find(tg_str_t uri)
{
    size_t i;

    if (tg_str_eq(uri, TG_STR(TG_META_2020_BASE "schema"))) {
        return TG_STR(tg_meta_schema);
    }

    i = tg_meta_find_part(uri, TG_STR(TG_META_2020_BASE "meta/"));

    return i < TG_META_N_PARTS ? tg_str_from_cstr(tg_meta_parts[i].text)
                               : tg_schema_meta_find_old(uri);
}

/* Returns the bits of a 2019-09 vocabulary; 2020-12 split two of them. */
static unsigned
tg_meta_get_2019_vocabulary(tg_str_t uri, int is_required)
{
    size_t i;

    if (tg_str_eq(uri, TG_STR(TG_META_2019_BASE "vocab/applicator"))) {
        return TG_SCHEMA_V_APPLICATOR | TG_SCHEMA_V_UNEVALUATED;
    }

    if (tg_str_eq(uri, TG_STR(TG_META_2019_BASE "vocab/format"))) {
        return is_required ? TG_SCHEMA_V_FORMAT_ASSERTION
                           : TG_SCHEMA_V_FORMAT_ANNOTATION;
    }

    i = tg_meta_find_part(uri, TG_STR(TG_META_2019_BASE "vocab/"));

    return i < TG_META_N_PARTS ? tg_meta_parts[i].bit : 0;
}

unsigned
tg_schema_meta_get_vocabulary(tg_str_t uri, int is_required)
{
    size_t i;

    i = tg_meta_find_part(uri, TG_STR(TG_META_2020_BASE "vocab/"));

    return i < TG_META_N_PARTS ? tg_meta_parts[i].bit
                               : tg_meta_get_2019_vocabulary(uri, is_required);
}
