/* Every mistake in a schema is found, with its path and a way out. */
#include "schema_help.h"

HELP_TEST(text, "text")
{
    static const test_mistake_t rows[] = {
        { "", "is not valid JSON: it is empty" },
        { "{",
          "is not valid JSON: the text ends too early (line 1, column 2)" },
        { "{\"a\":1,}",
          "is not valid JSON: a key is missing (line 1, column 8)" },
        { "1", "(root): a schema must be an object, true or false, got 1" },
        { "{\"properties\":{\"a\":null}}",
          "/properties/a: a schema must be an object, true or false, got "
          "null" },
        { "{\"type\":\"string\",\"type\":\"null\"}",
          "/type: this key is given twice; give it once" },
        { "{\"const\":{\"a\":[{\"b\":1,\"\\u0062\":2}]}}",
          "/const/a/0/b: this key is given twice; give it once" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(types, "types")
{
    static const test_mistake_t rows[] = {
        { "{\"type\":\"int\"}",
          "/type: must be one of string, number, integer, boolean, object"
          ", array, null, or a list of them, got \"int\"" },
        { "{\"type\":5}",
          "/type: must be one of string, number, integer, boolean, object"
          ", array, null, or a list of them, got 5" },
        { "{\"type\":[]}", "/type: must name at least one type" },
        { "{\"type\":[\"string\",\"any\"]}",
          "/type/1: must be one of string, number, integer, boolean, obje"
          "ct, array, null, got \"any\"" },
        { "{\"type\":[\"string\",\"string\"]}",
          "/type/1: must be there only once, got \"string\"" },
        { "{\"enum\":\"a\"}", "/enum: must be a list of values, got \"a\"" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(numbers, "numbers")
{
    static const test_mistake_t rows[] = {
        { "{\"minLength\":-1}",
          "/minLength: must be a whole number, 0 or more, got -1" },
        { "{\"maxLength\":1.5}",
          "/maxLength: must be a whole number, 0 or more, got 1.5" },
        { "{\"minItems\":\"1\"}",
          "/minItems: must be a whole number, 0 or more, got \"1\"" },
        { "{\"maxItems\":-0.5}",
          "/maxItems: must be a whole number, 0 or more, got -0.5" },
        { "{\"minContains\":null}",
          "/minContains: must be a whole number, 0 or more, got null" },
        { "{\"maxContains\":[]}",
          "/maxContains: must be a whole number, 0 or more, got []" },
        { "{\"minProperties\":true}",
          "/minProperties: must be a whole number, 0 or more, got true" },
        { "{\"maxProperties\":{}}",
          "/maxProperties: must be a whole number, 0 or more, got {}" },
        { "{\"minimum\":\"0\"}", "/minimum: must be a number, got \"0\"" },
        { "{\"exclusiveMinimum\":true}",
          "/exclusiveMinimum: must be a number, got true" },
        { "{\"maximum\":null}", "/maximum: must be a number, got null" },
        { "{\"exclusiveMaximum\":1e99999999999999999}",
          "/exclusiveMaximum: the exponent is out of range, got 1e9999999"
          "9999999999" },
        { "{\"multipleOf\":0}", "/multipleOf: must be above 0, got 0" },
        { "{\"multipleOf\":-2}", "/multipleOf: must be above 0, got -2" },
        { "{\"multipleOf\":1234567890123456789}",
          "/multipleOf: must have at most 18 digits, got 1234567890123456"
          "789" },
        { "{\"uniqueItems\":1}", "/uniqueItems: must be true or false, got 1" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(patterns, "patterns")
{
    static const test_mistake_t rows[] = {
        { "{\"pattern\":5}", "/pattern: must be a string, got 5" },
        { "{\"pattern\":\"a)\"}",
          "/pattern: ) without (; write \\) for itself" },
        { "{\"patternProperties\":{\"[\":{}}}",
          "/patternProperties/[: a class is not closed with ]" },
        { "{\"pattern\":\"\\\\p{Nonsense}\"}", "/pattern: *" },
        { "{\"pattern\":\"(?<=a+)b\"}", "/pattern: lookbehind *" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(schemas, "schemas")
{
    static const test_mistake_t rows[] = {
        { "{\"properties\":[]}", "/properties: must be an object, got []" },
        { "{\"patternProperties\":1}",
          "/patternProperties: must be an object, got 1" },
        { "{\"dependentSchemas\":null}",
          "/dependentSchemas: must be an object, got null" },
        { "{\"$defs\":[]}", "/$defs: must be an object, got []" },
        { "{\"$defs\":{\"a\":{\"type\":1}}}",
          "/$defs/a/type: must be one of string, number, integer, boolean"
          ", object, array, null, or a list of them, got 1" },
        { "{\"allOf\":[]}",
          "/allOf: must be a list of at least one schema, got []" },
        { "{\"anyOf\":{}}",
          "/anyOf: must be a list of at least one schema, got {}" },
        { "{\"oneOf\":[1]}",
          "/oneOf/0: a schema must be an object, true or false, got 1" },
        { "{\"prefixItems\":[]}",
          "/prefixItems: must be a list of at least one schema, got []" },
        { "{\"items\":[{}]}",
          "/items: must be one schema for all items; write a list of sche"
          "mas as \"prefixItems\"" },
        { "{\"contains\":[]}",
          "/contains: a schema must be an object, true or false, got []" },
        { "{\"additionalProperties\":\"no\"}",
          "/additionalProperties: a schema must be an object, true or fal"
          "se, got \"no\"" },
        { "{\"propertyNames\":1}",
          "/propertyNames: a schema must be an object, true or false, got"
          " 1" },
        { "{\"not\":[]}",
          "/not: a schema must be an object, true or false, got []" },
        { "{\"if\":1}",
          "/if: a schema must be an object, true or false, got 1" },
        { "{\"then\":1}",
          "/then: a schema must be an object, true or false, got 1" },
        { "{\"else\":1}",
          "/else: a schema must be an object, true or false, got 1" },
        { "{\"unevaluatedItems\":1}",
          "/unevaluatedItems: a schema must be an object, true or false, "
          "got 1" },
        { "{\"unevaluatedProperties\":1}",
          "/unevaluatedProperties: a schema must be an object, true or fa"
          "lse, got 1" },
        { "{\"contentSchema\":1}",
          "/contentSchema: a schema must be an object, true or false, got"
          " 1" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(names, "names")
{
    static const test_mistake_t rows[] = {
        { "{\"required\":\"a\"}",
          "/required: must be a list of property names, got \"a\"" },
        { "{\"required\":[1]}",
          "/required/0: must be a property name, a string, got 1" },
        { "{\"required\":[\"a\",\"\\u0061\"]}",
          "/required/1: must be there only once, got \"\\u0061\"" },
        { "{\"properties\":{\"a\":{\"required\":true}}}",
          "/properties/a/required: must be a list of property names, got "
          "true" },
        { "{\"dependentRequired\":[]}",
          "/dependentRequired: must be an object, got []" },
        { "{\"dependentRequired\":{\"a\":\"b\"}}",
          "/dependentRequired/a: must be a list of property names, got \""
          "b\"" },
        { "{\"dependentRequired\":{\"a\":[\"b\",\"b\"]}}",
          "/dependentRequired/a/1: must be there only once, got \"b\"" },
        { "{\"dependentRequired\":{\"a\":[null]}}",
          "/dependentRequired/a/0: must be a property name, a string, got"
          " null" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(identity, "identity")
{
    static const test_mistake_t rows[] = {
        { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://json-schema.org/draft-07/sch"
          "ema#\"" },
        { "{\"$schema\":1}", "/$schema: must be a string, got 1" },
        { "{\"properties\":{\"a\":{\"$schema\":\"https://json-schema.org/"
          "draft/2020-12/schema\"}}}",
          "/properties/a/$schema: \"$schema\" belongs to the root of a sc"
          "hema or beside an \"$id\"" },
        { "{\"$id\":\"a#b\"}",
          "/$id: must have no fragment; name a part of a schema with \"$a"
          "nchor\", got \"a#b\"" },
        { "{\"$id\":1}", "/$id: must be a string, got 1" },
        { "{\"$id\":\"a b\"}", "/$id: must be a URI reference, got \"a b\"" },
        { "{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}",
          "/$defs/b/$id: two schemas have this \"$id\", got \"x\"" },
        { "{\"$defs\":{\"a\":{\"$id\":\"\"}}}",
          "/$defs/a/$id: two schemas have this \"$id\", got \"\"" },
        { "{\"$anchor\":\"1\"}",
          "/$anchor: must be a letter or _ followed by letters, digits, _"
          ", - and ., got \"1\"" },
        { "{\"$dynamicAnchor\":\"\"}",
          "/$dynamicAnchor: must be a letter or _ followed by letters, di"
          "gits, _, - and ., got \"\"" },
        { "{\"$anchor\":\"a\",\"$defs\":{\"b\":{\"$anchor\":\"a\"}}}",
          "/$defs/b/$anchor: two schemas have this anchor, got \"a\"" },
        { "{\"$vocabulary\":1}", "/$vocabulary: must be an object, got 1" },
        { "{\"$vocabulary\":{\"http://a.example/v\":1}}",
          "/$vocabulary/http:~1~1a.example~1v: must be true or false, got"
          " 1" },
        { "{\"$vocabulary\":{\"v\":true}}",
          "/$vocabulary/v: the name of a vocabulary must be a URI" },
    };

    TEST_MISTAKES(rows);
}

HELP_TEST(remarks, "remarks")
{
    static const test_mistake_t rows[] = {
        { "{\"title\":1}", "/title: must be a string, got 1" },
        { "{\"description\":[]}", "/description: must be a string, got []" },
        { "{\"$comment\":null}", "/$comment: must be a string, got null" },
        { "{\"format\":{}}", "/format: must be a string, got {}" },
        { "{\"contentEncoding\":1}",
          "/contentEncoding: must be a string, got 1" },
        { "{\"contentMediaType\":1}",
          "/contentMediaType: must be a string, got 1" },
        { "{\"deprecated\":\"yes\"}",
          "/deprecated: must be true or false, got \"yes\"" },
        { "{\"readOnly\":0}", "/readOnly: must be true or false, got 0" },
        { "{\"writeOnly\":0}", "/writeOnly: must be true or false, got 0" },
        { "{\"examples\":\"x\"}",
          "/examples: must be a list of values, got \"x\"" },
    };

    TEST_MISTAKES(rows);
}
