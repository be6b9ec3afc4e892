/* The metaschemas of the older drafts without annotations. */
#include "schema/tg_schema_node.h"

static const char tg_meta_draft_04[] =
    "{\"id\":\"http://json-schema.org/draft-04/schema#\",\"$schema\":\"http:"
    "//json-schema.org/draft-04/schema#\",\"definitions\":{\"schemaArray\":{"
    "\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#\"}},\"positiv"
    "eInteger\":{\"type\":\"integer\",\"minimum\":0},\"positiveIntegerDefaul"
    "t0\":{\"allOf\":[{\"$ref\":\"#/definitions/positiveInteger\"},{}]},\"si"
    "mpleTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"num"
    "ber\",\"object\",\"string\"]},\"stringArray\":{\"type\":\"array\",\"ite"
    "ms\":{\"type\":\"string\"},\"minItems\":1,\"uniqueItems\":true}},\"type"
    "\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"$schema\":"
    "{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"description\":{"
    "\"type\":\"string\"},\"default\":{},\"multipleOf\":{\"type\":\"number\""
    ",\"minimum\":0,\"exclusiveMinimum\":true},\"maximum\":{\"type\":\"numbe"
    "r\"},\"exclusiveMaximum\":{\"type\":\"boolean\"},\"minimum\":{\"type\":"
    "\"number\"},\"exclusiveMinimum\":{\"type\":\"boolean\"},\"maxLength\":{"
    "\"$ref\":\"#/definitions/positiveInteger\"},\"minLength\":{\"$ref\":\"#"
    "/definitions/positiveIntegerDefault0\"},\"pattern\":{\"type\":\"string"
    "\",\"format\":\"regex\"},\"additionalItems\":{\"anyOf\":[{\"type\":\"bo"
    "olean\"},{\"$ref\":\"#\"}]},\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$"
    "ref\":\"#/definitions/schemaArray\"}]},\"maxItems\":{\"$ref\":\"#/defin"
    "itions/positiveInteger\"},\"minItems\":{\"$ref\":\"#/definitions/positi"
    "veIntegerDefault0\"},\"uniqueItems\":{\"type\":\"boolean\"},\"maxProper"
    "ties\":{\"$ref\":\"#/definitions/positiveInteger\"},\"minProperties\":{"
    "\"$ref\":\"#/definitions/positiveIntegerDefault0\"},\"required\":{\"$re"
    "f\":\"#/definitions/stringArray\"},\"additionalProperties\":{\"anyOf\":"
    "[{\"type\":\"boolean\"},{\"$ref\":\"#\"}]},\"definitions\":{\"type\":\""
    "object\",\"additionalProperties\":{\"$ref\":\"#\"}},\"properties\":{\"t"
    "ype\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"}},\"patternPr"
    "operties\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#"
    "\"}},\"dependencies\":{\"type\":\"object\",\"additionalProperties\":{\""
    "anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/definitions/stringArray\"}]}},"
    "\"enum\":{\"type\":\"array\",\"minItems\":1,\"uniqueItems\":true},\"typ"
    "e\":{\"anyOf\":[{\"$ref\":\"#/definitions/simpleTypes\"},{\"type\":\"ar"
    "ray\",\"items\":{\"$ref\":\"#/definitions/simpleTypes\"},\"minItems\":1"
    ",\"uniqueItems\":true}]},\"format\":{\"type\":\"string\"},\"allOf\":{\""
    "$ref\":\"#/definitions/schemaArray\"},\"anyOf\":{\"$ref\":\"#/definitio"
    "ns/schemaArray\"},\"oneOf\":{\"$ref\":\"#/definitions/schemaArray\"},\""
    "not\":{\"$ref\":\"#\"}},\"dependencies\":{\"exclusiveMaximum\":[\"maxim"
    "um\"],\"exclusiveMinimum\":[\"minimum\"]}}";

/* The parts that the drafts 6 and 7 have in common. */
#define TG_META_6_7_HEAD                                                       \
    "\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":"  \
    "\"#\"}},\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},\"n"  \
    "onNegativeIntegerDefault0\":{\"allOf\":[{\"$ref\":\"#/definitions/nonNe"  \
    "gativeInteger\"},{}]},\"simpleTypes\":{\"enum\":[\"array\",\"boolean\","  \
    "\"integer\",\"null\",\"number\",\"object\",\"string\"]},\"stringArray\""  \
    ":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":tr"  \
    "ue}},\"type\":[\"object\",\"boolean\"],\"properties\":{\"$id\":{\"type"   \
    "\":\"string\",\"format\":\"uri-reference\"},\"$schema\":{\"type\":\"str"  \
    "ing\",\"format\":\"uri\"},\"$ref\":{\"type\":\"string\",\"format\":\"ur"  \
    "i-reference\"},"
#define TG_META_6_7_RULES                                                      \
    "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\""  \
    ":{\"type\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},\"min"  \
    "imum\":{\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"number\"}"  \
    ",\"maxLength\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},\"minLen"  \
    "gth\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},\"pattern"  \
    "\":{\"type\":\"string\",\"format\":\"regex\"},\"additionalItems\":{\"$r"  \
    "ef\":\"#\"},\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/defini"  \
    "tions/schemaArray\"}]},\"maxItems\":{\"$ref\":\"#/definitions/nonNegati"  \
    "veInteger\"},\"minItems\":{\"$ref\":\"#/definitions/nonNegativeIntegerD"  \
    "efault0\"},\"uniqueItems\":{\"type\":\"boolean\"},\"contains\":{\"$ref"   \
    "\":\"#\"},\"maxProperties\":{\"$ref\":\"#/definitions/nonNegativeIntege"  \
    "r\"},\"minProperties\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefa"  \
    "ult0\"},\"required\":{\"$ref\":\"#/definitions/stringArray\"},\"additio"  \
    "nalProperties\":{\"$ref\":\"#\"},\"definitions\":{\"type\":\"object\","   \
    "\"additionalProperties\":{\"$ref\":\"#\"}},\"properties\":{\"type\":\"o"  \
    "bject\",\"additionalProperties\":{\"$ref\":\"#\"}},\"patternProperties"   \
    "\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"},\"pro"  \
    "pertyNames\":{\"format\":\"regex\"}},\"dependencies\":{\"type\":\"objec"  \
    "t\",\"additionalProperties\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#"  \
    "/definitions/stringArray\"}]}},\"propertyNames\":{\"$ref\":\"#\"},"
#define TG_META_6_7_TYPE                                                       \
    "\"type\":{\"anyOf\":[{\"$ref\":\"#/definitions/simpleTypes\"},{\"type\""  \
    ":\"array\",\"items\":{\"$ref\":\"#/definitions/simpleTypes\"},\"minItem"  \
    "s\":1,\"uniqueItems\":true}]},\"format\":{\"type\":\"string\"},"
#define TG_META_6_7_TAIL                                                       \
    "\"allOf\":{\"$ref\":\"#/definitions/schemaArray\"},\"anyOf\":{\"$ref\":"  \
    "\"#/definitions/schemaArray\"},\"oneOf\":{\"$ref\":\"#/definitions/sche"  \
    "maArray\"},\"not\":{\"$ref\":\"#\"}}}"

static const char tg_meta_draft_06[] =
    "{\"$schema\":\"http://json-schema.org/draft-06/schema#\",\"$id\":\"http://"
    "json-schema.org/draft-06/schema#\",\"definitions\":"
    "{" TG_META_6_7_HEAD
    "\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"},\"de"
    "fault\":{},\"examples\":{\"type\":\"array\",\"items\":{}}"
    "," TG_META_6_7_RULES "\"const\":{},\"enum\":{\"type\":\"array\"}"
    "," TG_META_6_7_TYPE TG_META_6_7_TAIL;

static const char tg_meta_draft_07[] =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$id\":\"http://"
    "json-schema.org/draft-07/schema#\",\"definitions\":"
    "{" TG_META_6_7_HEAD
    "\"$comment\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"descr"
    "iption\":{\"type\":\"string\"},\"default\":true,\"readOnly\":{\"type\":\"b"
    "oolean\"},\"examples\":{\"type\":\"array\",\"items\":true}"
    "," TG_META_6_7_RULES
    "\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true}"
    "," TG_META_6_7_TYPE
    "\"contentMediaType\":{\"type\":\"string\"},\"contentEncoding\":{\"type\":"
    "\"string\"},\"if\":{\"$ref\":\"#\"},\"then\":{\"$ref\":\"#\"},\"else\":{\""
    "$ref\":\"#\"}"
    "," TG_META_6_7_TAIL;

#define TG_META_2019_BASE "https://json-schema.org/draft/2019-09/"

#define TG_META_2019_SCHEMA(id, vocabularies, rest)                            \
    "{\"$schema\":\"" TG_META_2019_BASE                                        \
    "schema\",\"$id\":\"" TG_META_2019_BASE id                                 \
    "\",\"$vocabulary\":{" vocabularies "},\"$recursiveAnchor\":true," rest

/* A metaschema of one vocabulary. */
#define TG_META_2019_PART(name, rest)                                          \
    TG_META_2019_SCHEMA("meta/" name,                                          \
                        "\"" TG_META_2019_BASE "vocab/" name "\":true",        \
                        "\"type\":[\"object\",\"boolean\"]," rest)

static const char tg_meta_2019[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/schema\",\"$vocabulary\":{\"htt"
    "ps://json-schema.org/draft/2019-09/vocab/core\":true,\"https://json-sch"
    "ema.org/draft/2019-09/vocab/applicator\":true,\"https://json-schema.org"
    "/draft/2019-09/vocab/validation\":true,\"https://json-schema.org/draft/"
    "2019-09/vocab/meta-data\":true,\"https://json-schema.org/draft/2019-09/"
    "vocab/format\":false,\"https://json-schema.org/draft/2019-09/vocab/cont"
    "ent\":true},\"$recursiveAnchor\":true,\"allOf\":[{\"$ref\":\"meta/core"
    "\"},{\"$ref\":\"meta/applicator\"},{\"$ref\":\"meta/validation\"},{\"$r"
    "ef\":\"meta/meta-data\"},{\"$ref\":\"meta/format\"},{\"$ref\":\"meta/co"
    "ntent\"}],\"type\":[\"object\",\"boolean\"],\"properties\":{\"definitio"
    "ns\":{\"type\":\"object\",\"additionalProperties\":{\"$recursiveRef\":"
    "\"#\"}},\"dependencies\":{\"type\":\"object\",\"additionalProperties\":"
    "{\"anyOf\":[{\"$recursiveRef\":\"#\"},{\"$ref\":\"meta/validation#/$def"
    "s/stringArray\"}]}}}}";

static const char tg_meta_2019_core[] = TG_META_2019_PART(
    "core",
    "\"properties\":{\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\","
    "\"pattern\":\"^[^#]*#?$\"},\"$schema\":{\"type\":\"string\",\"format\":\"u"
    "ri\"},\"$anchor\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z][-A-Za-z0-9."
    ":_]*$\"},\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$re"
    "cursiveRef\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$recursi"
    "veAnchor\":{\"type\":\"boolean\"},\"$vocabulary\":{\"type\":\"object\",\"p"
    "ropertyNames\":{\"type\":\"string\",\"format\":\"uri\"},\"additionalProper"
    "ties\":{\"type\":\"boolean\"}},\"$comment\":{\"type\":\"string\"},\"$defs"
    "\":{\"type\":\"object\",\"additionalProperties\":{\"$recursiveRef\":\"#\"}"
    "}}}");

static const char tg_meta_2019_applicator[] = TG_META_2019_PART(
    "applicator",
    "\"properties\":{\"additionalItems\":{\"$recursiveRef\":\"#\"},\"unevaluate"
    "dItems\":{\"$recursiveRef\":\"#\"},\"items\":{\"anyOf\":[{\"$recursiveRef"
    "\":\"#\"},{\"$ref\":\"#/$defs/schemaArray\"}]},\"contains\":{\"$recursiveR"
    "ef\":\"#\"},\"additionalProperties\":{\"$recursiveRef\":\"#\"},\"unevaluat"
    "edProperties\":{\"$recursiveRef\":\"#\"},\"properties\":{\"type\":\"object"
    "\",\"additionalProperties\":{\"$recursiveRef\":\"#\"}},\"patternProperties"
    "\":{\"type\":\"object\",\"additionalProperties\":{\"$recursiveRef\":\"#\"}"
    ",\"propertyNames\":{\"format\":\"regex\"}},\"dependentSchemas\":{\"type\":"
    "\"object\",\"additionalProperties\":{\"$recursiveRef\":\"#\"}},\"propertyN"
    "ames\":{\"$recursiveRef\":\"#\"},\"if\":{\"$recursiveRef\":\"#\"},\"then\""
    ":{\"$recursiveRef\":\"#\"},\"else\":{\"$recursiveRef\":\"#\"},\"allOf\":{"
    "\"$ref\":\"#/$defs/schemaArray\"},\"anyOf\":{\"$ref\":\"#/$defs/schemaArra"
    "y\"},\"oneOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"not\":{\"$recursiveRef"
    "\":\"#\"}},\"$defs\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,"
    "\"items\":{\"$recursiveRef\":\"#\"}}}}");

static const char tg_meta_2019_validation[] = TG_META_2019_PART(
    "validation",
    "\"properties\":{\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0"
    "},\"maximum\":{\"type\":\"number\"},\"exclusiveMaximum\":{\"type\":\"numbe"
    "r\"},\"minimum\":{\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"nu"
    "mber\"},\"maxLength\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minLengt"
    "h\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"pattern\":{\"type"
    "\":\"string\",\"format\":\"regex\"},\"maxItems\":{\"$ref\":\"#/$defs/nonNe"
    "gativeInteger\"},\"minItems\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefaul"
    "t0\"},\"uniqueItems\":{\"type\":\"boolean\"},\"maxContains\":{\"$ref\":\"#"
    "/$defs/nonNegativeInteger\"},\"minContains\":{\"$ref\":\"#/$defs/nonNegati"
    "veInteger\"},\"maxProperties\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
    "\"minProperties\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"requ"
    "ired\":{\"$ref\":\"#/$defs/stringArray\"},\"dependentRequired\":{\"type\":"
    "\"object\",\"additionalProperties\":{\"$ref\":\"#/$defs/stringArray\"}},\""
    "const\":true,\"enum\":{\"type\":\"array\",\"items\":true},\"type\":{\"anyO"
    "f\":[{\"$ref\":\"#/$defs/simpleTypes\"},{\"type\":\"array\",\"items\":{\"$"
    "ref\":\"#/$defs/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]}},\"$"
    "defs\":{\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},\"nonN"
    "egativeIntegerDefault0\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"simpl"
    "eTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\","
    "\"object\",\"string\"]},\"stringArray\":{\"type\":\"array\",\"items\":{\"t"
    "ype\":\"string\"},\"uniqueItems\":true}}}");

static const char tg_meta_2019_meta_data[] = TG_META_2019_PART(
    "meta-data",
    "\"properties\":{\"title\":{\"type\":\"string\"},\"description\":{\"type\":"
    "\"string\"},\"default\":true,\"deprecated\":{\"type\":\"boolean\"},\"readO"
    "nly\":{\"type\":\"boolean\"},\"writeOnly\":{\"type\":\"boolean\"},\"exampl"
    "es\":{\"type\":\"array\",\"items\":true}}}");

static const char tg_meta_2019_format[] = TG_META_2019_PART(
    "format", "\"properties\":{\"format\":{\"type\":\"string\"}}}");

static const char tg_meta_2019_content[] = TG_META_2019_PART(
    "content",
    "\"properties\":{\"contentMediaType\":{\"type\":\"string\"},\"contentEncodi"
    "ng\":{\"type\":\"string\"},\"contentSchema\":{\"$recursiveRef\":\"#\"}}}");

tg_str_t
tg_schema_meta_find_old(tg_str_t uri)
{
    static const struct {
        const char *uri;
        const char *text;
    } docs[] = {
        { "http://json-schema.org/draft-04/schema", tg_meta_draft_04 },
        { "http://json-schema.org/draft-06/schema", tg_meta_draft_06 },
        { "http://json-schema.org/draft-07/schema", tg_meta_draft_07 },
        { TG_META_2019_BASE "schema", tg_meta_2019 },
        { TG_META_2019_BASE "meta/core", tg_meta_2019_core },
        { TG_META_2019_BASE "meta/applicator", tg_meta_2019_applicator },
        { TG_META_2019_BASE "meta/validation", tg_meta_2019_validation },
        { TG_META_2019_BASE "meta/meta-data", tg_meta_2019_meta_data },
        { TG_META_2019_BASE "meta/format", tg_meta_2019_format },
        { TG_META_2019_BASE "meta/content", tg_meta_2019_content },
    };
    size_t i;

    for (i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        if (tg_str_eq(uri, tg_str_from_cstr(docs[i].uri))) {
            return tg_str_from_cstr(docs[i].text);
        }
    }

    return TG_STR_NONE;
}
