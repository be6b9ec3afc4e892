/*
 * The metaschemas of the older drafts, from the specifications, without
 * annotations.
 */
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

static const char tg_meta_draft_06[] =
    "{\"$schema\":\"http://json-schema.org/draft-06/schema#\",\"$id\":\"http"
    "://json-schema.org/draft-06/schema#\",\"definitions\":{\"schemaArray\":"
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#\"}},\"nonNeg"
    "ativeInteger\":{\"type\":\"integer\",\"minimum\":0},\"nonNegativeIntege"
    "rDefault0\":{\"allOf\":[{\"$ref\":\"#/definitions/nonNegativeInteger\"}"
    ",{}]},\"simpleTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"nu"
    "ll\",\"number\",\"object\",\"string\"]},\"stringArray\":{\"type\":\"arr"
    "ay\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}},\"type\":["
    "\"object\",\"boolean\"],\"properties\":{\"$id\":{\"type\":\"string\",\""
    "format\":\"uri-reference\"},\"$schema\":{\"type\":\"string\",\"format\""
    ":\"uri\"},\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
    "\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"},"
    "\"default\":{},\"examples\":{\"type\":\"array\",\"items\":{}},\"multipl"
    "eOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"type"
    "\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{"
    "\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"number\"},\"maxLe"
    "ngth\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},\"minLength\":{"
    "\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},\"pattern\":{\"t"
    "ype\":\"string\",\"format\":\"regex\"},\"additionalItems\":{\"$ref\":\""
    "#\"},\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/definitions/s"
    "chemaArray\"}]},\"maxItems\":{\"$ref\":\"#/definitions/nonNegativeInteg"
    "er\"},\"minItems\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0"
    "\"},\"uniqueItems\":{\"type\":\"boolean\"},\"contains\":{\"$ref\":\"#\""
    "},\"maxProperties\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},\"m"
    "inProperties\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},"
    "\"required\":{\"$ref\":\"#/definitions/stringArray\"},\"additionalPrope"
    "rties\":{\"$ref\":\"#\"},\"definitions\":{\"type\":\"object\",\"additio"
    "nalProperties\":{\"$ref\":\"#\"}},\"properties\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$ref\":\"#\"}},\"patternProperties\":{\"typ"
    "e\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"},\"propertyName"
    "s\":{\"format\":\"regex\"}},\"dependencies\":{\"type\":\"object\",\"add"
    "itionalProperties\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/definiti"
    "ons/stringArray\"}]}},\"propertyNames\":{\"$ref\":\"#\"},\"const\":{},"
    "\"enum\":{\"type\":\"array\"},\"type\":{\"anyOf\":[{\"$ref\":\"#/defini"
    "tions/simpleTypes\"},{\"type\":\"array\",\"items\":{\"$ref\":\"#/defini"
    "tions/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]},\"format\":"
    "{\"type\":\"string\"},\"allOf\":{\"$ref\":\"#/definitions/schemaArray\""
    "},\"anyOf\":{\"$ref\":\"#/definitions/schemaArray\"},\"oneOf\":{\"$ref"
    "\":\"#/definitions/schemaArray\"},\"not\":{\"$ref\":\"#\"}}}";

static const char tg_meta_draft_07[] =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$id\":\"http"
    "://json-schema.org/draft-07/schema#\",\"definitions\":{\"schemaArray\":"
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#\"}},\"nonNeg"
    "ativeInteger\":{\"type\":\"integer\",\"minimum\":0},\"nonNegativeIntege"
    "rDefault0\":{\"allOf\":[{\"$ref\":\"#/definitions/nonNegativeInteger\"}"
    ",{}]},\"simpleTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"nu"
    "ll\",\"number\",\"object\",\"string\"]},\"stringArray\":{\"type\":\"arr"
    "ay\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}},\"type\":["
    "\"object\",\"boolean\"],\"properties\":{\"$id\":{\"type\":\"string\",\""
    "format\":\"uri-reference\"},\"$schema\":{\"type\":\"string\",\"format\""
    ":\"uri\"},\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
    "\"$comment\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"de"
    "scription\":{\"type\":\"string\"},\"default\":true,\"readOnly\":{\"type"
    "\":\"boolean\"},\"examples\":{\"type\":\"array\",\"items\":true},\"mult"
    "ipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"ty"
    "pe\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\""
    ":{\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"number\"},\"max"
    "Length\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},\"minLength\":"
    "{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},\"pattern\":{\""
    "type\":\"string\",\"format\":\"regex\"},\"additionalItems\":{\"$ref\":"
    "\"#\"},\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/definitions"
    "/schemaArray\"}]},\"maxItems\":{\"$ref\":\"#/definitions/nonNegativeInt"
    "eger\"},\"minItems\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefaul"
    "t0\"},\"uniqueItems\":{\"type\":\"boolean\"},\"contains\":{\"$ref\":\"#"
    "\"},\"maxProperties\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minProperties\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0"
    "\"},\"required\":{\"$ref\":\"#/definitions/stringArray\"},\"additionalP"
    "roperties\":{\"$ref\":\"#\"},\"definitions\":{\"type\":\"object\",\"add"
    "itionalProperties\":{\"$ref\":\"#\"}},\"properties\":{\"type\":\"object"
    "\",\"additionalProperties\":{\"$ref\":\"#\"}},\"patternProperties\":{\""
    "type\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"},\"propertyN"
    "ames\":{\"format\":\"regex\"}},\"dependencies\":{\"type\":\"object\",\""
    "additionalProperties\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/defin"
    "itions/stringArray\"}]}},\"propertyNames\":{\"$ref\":\"#\"},\"const\":t"
    "rue,\"enum\":{\"type\":\"array\",\"items\":true},\"type\":{\"anyOf\":[{"
    "\"$ref\":\"#/definitions/simpleTypes\"},{\"type\":\"array\",\"items\":{"
    "\"$ref\":\"#/definitions/simpleTypes\"},\"minItems\":1,\"uniqueItems\":"
    "true}]},\"format\":{\"type\":\"string\"},\"contentMediaType\":{\"type\""
    ":\"string\"},\"contentEncoding\":{\"type\":\"string\"},\"if\":{\"$ref\""
    ":\"#\"},\"then\":{\"$ref\":\"#\"},\"else\":{\"$ref\":\"#\"},\"allOf\":{"
    "\"$ref\":\"#/definitions/schemaArray\"},\"anyOf\":{\"$ref\":\"#/definit"
    "ions/schemaArray\"},\"oneOf\":{\"$ref\":\"#/definitions/schemaArray\"},"
    "\"not\":{\"$ref\":\"#\"}}}";

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

static const char tg_meta_2019_core[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/meta/core\",\"$vocabulary\":{\""
    "https://json-schema.org/draft/2019-09/vocab/core\":true},\"$recursiveAn"
    "chor\":true,\"type\":[\"object\",\"boolean\"],\"properties\":{\"$id\":{"
    "\"type\":\"string\",\"format\":\"uri-reference\",\"pattern\":\"^[^#]*#?"
    "$\"},\"$schema\":{\"type\":\"string\",\"format\":\"uri\"},\"$anchor\":{"
    "\"type\":\"string\",\"pattern\":\"^[A-Za-z][-A-Za-z0-9.:_]*$\"},\"$ref"
    "\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$recursiveRef\""
    ":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$recursiveAnchor"
    "\":{\"type\":\"boolean\"},\"$vocabulary\":{\"type\":\"object\",\"proper"
    "tyNames\":{\"type\":\"string\",\"format\":\"uri\"},\"additionalProperti"
    "es\":{\"type\":\"boolean\"}},\"$comment\":{\"type\":\"string\"},\"$defs"
    "\":{\"type\":\"object\",\"additionalProperties\":{\"$recursiveRef\":\"#"
    "\"}}}}";

static const char tg_meta_2019_applicator[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/meta/applicator\",\"$vocabulary"
    "\":{\"https://json-schema.org/draft/2019-09/vocab/applicator\":true},\""
    "$recursiveAnchor\":true,\"type\":[\"object\",\"boolean\"],\"properties"
    "\":{\"additionalItems\":{\"$recursiveRef\":\"#\"},\"unevaluatedItems\":"
    "{\"$recursiveRef\":\"#\"},\"items\":{\"anyOf\":[{\"$recursiveRef\":\"#"
    "\"},{\"$ref\":\"#/$defs/schemaArray\"}]},\"contains\":{\"$recursiveRef"
    "\":\"#\"},\"additionalProperties\":{\"$recursiveRef\":\"#\"},\"unevalua"
    "tedProperties\":{\"$recursiveRef\":\"#\"},\"properties\":{\"type\":\"ob"
    "ject\",\"additionalProperties\":{\"$recursiveRef\":\"#\"}},\"patternPro"
    "perties\":{\"type\":\"object\",\"additionalProperties\":{\"$recursiveRe"
    "f\":\"#\"},\"propertyNames\":{\"format\":\"regex\"}},\"dependentSchemas"
    "\":{\"type\":\"object\",\"additionalProperties\":{\"$recursiveRef\":\"#"
    "\"}},\"propertyNames\":{\"$recursiveRef\":\"#\"},\"if\":{\"$recursiveRe"
    "f\":\"#\"},\"then\":{\"$recursiveRef\":\"#\"},\"else\":{\"$recursiveRef"
    "\":\"#\"},\"allOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"anyOf\":{\"$re"
    "f\":\"#/$defs/schemaArray\"},\"oneOf\":{\"$ref\":\"#/$defs/schemaArray"
    "\"},\"not\":{\"$recursiveRef\":\"#\"}},\"$defs\":{\"schemaArray\":{\"ty"
    "pe\":\"array\",\"minItems\":1,\"items\":{\"$recursiveRef\":\"#\"}}}}";

static const char tg_meta_2019_validation[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/meta/validation\",\"$vocabulary"
    "\":{\"https://json-schema.org/draft/2019-09/vocab/validation\":true},\""
    "$recursiveAnchor\":true,\"type\":[\"object\",\"boolean\"],\"properties"
    "\":{\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maxim"
    "um\":{\"type\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},"
    "\"minimum\":{\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"numb"
    "er\"},\"maxLength\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minLeng"
    "th\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"pattern\":{\"t"
    "ype\":\"string\",\"format\":\"regex\"},\"maxItems\":{\"$ref\":\"#/$defs"
    "/nonNegativeInteger\"},\"minItems\":{\"$ref\":\"#/$defs/nonNegativeInte"
    "gerDefault0\"},\"uniqueItems\":{\"type\":\"boolean\"},\"maxContains\":{"
    "\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minContains\":{\"$ref\":\"#/"
    "$defs/nonNegativeInteger\"},\"maxProperties\":{\"$ref\":\"#/$defs/nonNe"
    "gativeInteger\"},\"minProperties\":{\"$ref\":\"#/$defs/nonNegativeInteg"
    "erDefault0\"},\"required\":{\"$ref\":\"#/$defs/stringArray\"},\"depende"
    "ntRequired\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\""
    "#/$defs/stringArray\"}},\"const\":true,\"enum\":{\"type\":\"array\",\"i"
    "tems\":true},\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/simpleTypes\"},{"
    "\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/simpleTypes\"},\"minIt"
    "ems\":1,\"uniqueItems\":true}]}},\"$defs\":{\"nonNegativeInteger\":{\"t"
    "ype\":\"integer\",\"minimum\":0},\"nonNegativeIntegerDefault0\":{\"$ref"
    "\":\"#/$defs/nonNegativeInteger\"},\"simpleTypes\":{\"enum\":[\"array\""
    ",\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]},\""
    "stringArray\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uni"
    "queItems\":true}}}";

static const char tg_meta_2019_meta_data[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/meta/meta-data\",\"$vocabulary"
    "\":{\"https://json-schema.org/draft/2019-09/vocab/meta-data\":true},\"$"
    "recursiveAnchor\":true,\"type\":[\"object\",\"boolean\"],\"properties\""
    ":{\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"}"
    ",\"default\":true,\"deprecated\":{\"type\":\"boolean\"},\"readOnly\":{"
    "\"type\":\"boolean\"},\"writeOnly\":{\"type\":\"boolean\"},\"examples\""
    ":{\"type\":\"array\",\"items\":true}}}";

static const char tg_meta_2019_format[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/meta/format\",\"$vocabulary\":{"
    "\"https://json-schema.org/draft/2019-09/vocab/format\":true},\"$recursi"
    "veAnchor\":true,\"type\":[\"object\",\"boolean\"],\"properties\":{\"for"
    "mat\":{\"type\":\"string\"}}}";

static const char tg_meta_2019_content[] =
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":"
    "\"https://json-schema.org/draft/2019-09/meta/content\",\"$vocabulary\":"
    "{\"https://json-schema.org/draft/2019-09/vocab/content\":true},\"$recur"
    "siveAnchor\":true,\"type\":[\"object\",\"boolean\"],\"properties\":{\"c"
    "ontentMediaType\":{\"type\":\"string\"},\"contentEncoding\":{\"type\":"
    "\"string\"},\"contentSchema\":{\"$recursiveRef\":\"#\"}}}";

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
        { "https://json-schema.org/draft/2019-09/schema", tg_meta_2019 },
        { "https://json-schema.org/draft/2019-09/meta/core",
          tg_meta_2019_core },
        { "https://json-schema.org/draft/2019-09/meta/applicator",
          tg_meta_2019_applicator },
        { "https://json-schema.org/draft/2019-09/meta/validation",
          tg_meta_2019_validation },
        { "https://json-schema.org/draft/2019-09/meta/meta-data",
          tg_meta_2019_meta_data },
        { "https://json-schema.org/draft/2019-09/meta/format",
          tg_meta_2019_format },
        { "https://json-schema.org/draft/2019-09/meta/content",
          tg_meta_2019_content },
    };
    size_t i;

    for (i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        if (tg_str_eq(uri, tg_str_from_cstr(docs[i].uri))) {
            return tg_str_from_cstr(docs[i].text);
        }
    }

    return TG_STR_NONE;
}
