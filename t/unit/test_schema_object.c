/* Rules about the members of an object. */
#include "schema_help.h"

HELP_TEST(properties, "properties")
{
    static const test_row_t rows[] = {
        { "{\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{\"type\":"
          "\"string\"}}}",
          "{}", NULL },
        { NULL, "{\"a\":1,\"b\":\"x\"}", NULL },
        { NULL, "{\"b\":1,\"a\":1}", "/b: expected string, got number" },
        { NULL, "{\"c\":[]}", NULL },
        { NULL, "[]", NULL },
        { NULL, "{\"\\u0061\":\"x\"}", "/a: expected number, got string" },
        { NULL, "{\"A\":\"x\"}", NULL },
        { "{\"properties\":{\"a/b\":{\"const\":1},\"m~n\":{\"const\":1},"
          "\"\":{\"const\":1},\"\\u00e9\":{\"const\":1},\"q\\\"\":{\"cons"
          "t\":1}}}",
          "{\"a/b\":2}", "/a~1b: expected 1, got 2" },
        { NULL, "{\"m~n\":2}", "/m~0n: expected 1, got 2" },
        { NULL, "{\"\":2}", "/: expected 1, got 2" },
        { NULL, "{\"é\":2}", "/é: expected 1, got 2" },
        { NULL, "{\"q\\\"\":2}", "/q\": expected 1, got 2" },
        { "{\"properties\":{\"a\":{\"type\":\"number\"}}}", "{\"a\":1,\"a\":2}",
          "/a: this key is given twice; give it once" },
        { NULL, "{\"a\":1,\"\\u0061\":2}", "*" },
        { NULL, "{\"b\":1,\"b\":2}", NULL },
        { NULL, "{\"a\":\"x\",\"a\":2}", "*" },
        { "{\"properties\":{\"__proto__\":{\"type\":\"number\"},\"toStrin"
          "g\":{\"type\":\"string\"},\"constructor\":{\"type\":\"number\""
          "}}}",
          "{}", NULL },
        { NULL, "{\"__proto__\":\"x\"}", "*" },
        { NULL, "{\"toString\":1}", "*" },
        { "{\"properties\":{\"a\":true}}", "{\"a\":5}", NULL },
        { "{\"properties\":{\"p0\":{\"const\":0},\"p1\":{\"const\":1},\"p"
          "2\":{\"const\":2},\"p3\":{\"const\":3},\"p4\":{\"const\":4},\""
          "p5\":{\"const\":5},\"p6\":{\"const\":6},\"p7\":{\"const\":7}}}",
          "{\"p7\":7,\"p3\":3,\"p0\":0,\"p1\":1,\"p8\":9}", NULL },
        { NULL, "{\"p7\":7,\"p6\":7}", "/p6: expected 6, got 7" },
        { "{\"properties\":{\"a\":{\"properties\":{\"b\":{\"properties\":"
          "{\"c\":{\"type\":\"null\"}}}}}}}",
          "{\"a\":{\"b\":{\"c\":1}}}", "/a/b/c: expected null, got number" },
        { NULL, "{\"a\":{\"b\":{\"c\":null}},\"z\":{\"c\":1}}", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(required, "required")
{
    static const test_row_t rows[] = {
        { "{\"required\":[\"a\",\"b\"]}", "{\"a\":1,\"b\":2}", NULL },
        { NULL, "{\"b\":2}", "/a: missing; this property is required" },
        { NULL, "{}", "*" },
        { NULL, "[]", NULL },
        { NULL, "{\"a\":null,\"\\u0062\":null}", NULL },
        { "{\"required\":[]}", "{}", NULL },
        { "{\"properties\":{\"o\":{\"required\":[\"x/y\"]}}}", "{\"o\":{}}",
          "/o/x~1y: missing; this property is required" },
        { "{\"required\":[\"a\"],\"properties\":{\"a\":false}}", "{}", "*" },
        { NULL, "{\"a\":1}", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(additional, "additionalProperties")
{
    static const test_row_t rows[] = {
        { "{\"properties\":{\"a\":{},\"b\":{}},\"patternProperties\":{\"^"
          "v\":{}},\"additionalProperties\":false}",
          "{\"a\":1,\"v1\":2}", NULL },
        { NULL, "{\"c\":1}", "/c: unknown property; known are \"a\", \"b\"" },
        { NULL, "{\"a\":1,\"vx\":0,\"xv\":0}", "*" },
        { "{\"additionalProperties\":{\"type\":\"boolean\"}}", "{\"a\":true}",
          NULL },
        { NULL, "{\"a\":1}", "/a: expected boolean, got number" },
        { "{\"additionalProperties\":false}", "{}", NULL },
        { NULL, "{\"a\":1}", "/a: unknown property" },
        { NULL, "[1]", NULL },
        { "{\"allOf\":[{\"properties\":{\"a\":{}}}],\"additionalPropertie"
          "s\":{\"type\":\"boolean\"}}",
          "{\"a\":1}", "*" },
        { "{\"required\":[\"a\"],\"additionalProperties\":false}", "{\"a\":1}",
          "*" },
        { "{\"properties\":{\"secret\":false,\"a\":true},\"additionalProp"
          "erties\":false}",
          "{\"x\":1}", "/x: unknown property; known are \"a\"" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(patterns, "patternProperties")
{
    static const test_row_t rows[] = {
        { "{\"patternProperties\":{\"f.*o\":{\"type\":\"integer\"},\"^a\""
          ":{\"maximum\":9}}}",
          "{\"foo\":1,\"a\":9}", NULL },
        { NULL, "{\"foo\":\"x\"}", "/foo: expected integer, got string" },
        { NULL, "{\"afo\":10}", "/afo: must be at most 9, got 10" },
        { NULL, "{\"afo\":\"x\"}", "*" },
        { NULL, "{\"xfoox\":1.5}", "*" },
        { NULL, "{\"\\u0066oo\":null}", "*" },
        { "{\"patternProperties\":{\"é\":{\"type\":\"null\"}},\"propertie"
          "s\":{\"é\":{\"type\":[\"null\",\"string\"]}}}",
          "{\"é\":null}", NULL },
        { NULL, "{\"é\":\"x\"}", "*" },
        { NULL, "{\"\\u00e9\":\"x\"}", "*" },
        { "{\"patternProperties\":{\"b\":false}}", "{\"abc\":1}", "*" },
        { NULL, "{\"c\":1}", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(names, "propertyNames")
{
    static const test_row_t rows[] = {
        { "{\"propertyNames\":{\"maxLength\":3}}", "{\"abc\":1}", NULL },
        { NULL, "{\"abcd\":1}",
          "(root): the name \"abcd\" is not allowed (propertyNames)" },
        { NULL, "{}", NULL },
        { NULL, "[]", NULL },
        { "{\"propertyNames\":{\"enum\":[\"a\",\"b\"]}}", "{\"\\u0061\":1}",
          NULL },
        { NULL, "{\"c\":1}", "*" },
        { "{\"propertyNames\":false}", "{}", NULL },
        { NULL, "{\"a\":1}", "*" },
        { "{\"propertyNames\":{\"type\":\"string\"}}", "{\"a\":1}", NULL },
        { "{\"propertyNames\":{\"type\":\"number\"}}", "{\"1\":1}", "*" },
        { "{\"properties\":{\"o\":{\"propertyNames\":{\"pattern\":\"^x\"}"
          "}}}",
          "{\"o\":{\"y\":1}}",
          "/o: the name \"y\" is not allowed (propertyNames)" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(sizes, "minProperties, maxProperties")
{
    static const test_row_t rows[] = {
        { "{\"minProperties\":2}", "{\"a\":1,\"b\":2}", NULL },
        { NULL, "{\"a\":1}", "(root): must have at least 2 properties, got 1" },
        { NULL, "{\"a\":1,\"a\":2}",
          "/a: this key is given twice; give it once" },
        { NULL, "{\"a\":1,\"\\u0061\":2}", "*" },
        { NULL, "[1]", NULL },
        { "{\"maxProperties\":1}", "{\"a\":1}", NULL },
        { NULL, "{\"a\":1,\"b\":2}",
          "(root): must have at most 1 property, got 2" },
        { NULL, "{}", NULL },
        { "{\"maxProperties\":0}", "{}", NULL },
        { NULL, "{\"a\":1}", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(dependent_required, "dependentRequired")
{
    static const test_row_t rows[] = {
        { "{\"dependentRequired\":{\"card\":[\"address\",\"zip\"],\"x\":["
          "]}}",
          "{}", NULL },
        { NULL, "{\"address\":1}", NULL },
        { NULL, "{\"card\":1,\"address\":1,\"zip\":2}", NULL },
        { NULL, "{\"card\":1,\"zip\":1}",
          "/address: missing; required when \"card\" is given" },
        { NULL, "{\"x\":1}", NULL },
        { NULL, "[]", NULL },
        { "{\"dependentRequired\":{\"a\":[\"b\"],\"b\":[\"a\"]}}", "{\"a\":1}",
          "*" },
        { NULL, "{\"b\":1}", "*" },
        { NULL, "{\"b\":1,\"a\":1}", NULL },
        { "{\"dependentRequired\":{\"a\":[\"a\"]}}", "{\"a\":1}", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(dependent_schemas, "dependentSchemas")
{
    static const test_row_t rows[] = {
        { "{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":{\"type\":"
          "\"integer\"}},\"required\":[\"b\"]},\"c\":false,\"d\":true}}",
          "{\"b\":\"x\"}", NULL },
        { NULL, "{\"a\":1,\"b\":\"x\"}", "/b: expected integer, got string" },
        { NULL, "{\"a\":1}", "/b: missing; this property is required" },
        { NULL, "{\"c\":1}", "*" },
        { NULL, "{\"d\":1}", NULL },
        { NULL, "\"a\"", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(unevaluated, "unevaluatedProperties")
{
    static const test_row_t rows[] = {
        { "{\"unevaluatedProperties\":false}", "{}", NULL },
        { NULL, "{\"a\":1}", "/a: unknown property (unevaluatedProperties)" },
        { NULL, "[1]", NULL },
        { "{\"properties\":{\"a\":{}},\"allOf\":[{\"properties\":{\"b\":{"
          "}}},{\"patternProperties\":{\"^c\":{}}}],\"unevaluatedProperti"
          "es\":{\"type\":\"null\"}}",
          "{\"a\":1,\"b\":1,\"cx\":1,\"d\":null}", NULL },
        { NULL, "{\"d\":1}", "/d: expected null, got number" },
        { "{\"anyOf\":[{\"properties\":{\"a\":{\"const\":1}},\"required\""
          ":[\"a\"]},{\"properties\":{\"b\":{\"const\":2}},\"required\":["
          "\"b\"]}],\"unevaluatedProperties\":false}",
          "{\"a\":1}", NULL },
        { NULL, "{\"a\":1,\"b\":2}", NULL },
        { NULL, "{\"a\":1,\"b\":3}", "*" },
        { NULL, "{\"b\":2,\"a\":0}", "*" },
        { "{\"oneOf\":[{\"properties\":{\"a\":{\"const\":1}},\"required\""
          ":[\"a\"]},{\"properties\":{\"b\":{\"const\":2}},\"required\":["
          "\"b\"]}],\"unevaluatedProperties\":false}",
          "{\"a\":1}", NULL },
        { NULL, "{\"a\":1,\"b\":3}", "*" },
        { "{\"not\":{\"not\":{\"properties\":{\"a\":{}},\"required\":[\"a"
          "\"]}},\"unevaluatedProperties\":false}",
          "{\"a\":1}", "*" },
        { "{\"if\":{\"properties\":{\"k\":{\"const\":1}},\"required\":[\""
          "k\"]},\"then\":{\"properties\":{\"t\":{}}},\"else\":{\"propert"
          "ies\":{\"e\":{}}},\"unevaluatedProperties\":false}",
          "{\"k\":1,\"t\":1}", NULL },
        { NULL, "{\"k\":1,\"e\":1}", "*" },
        { NULL, "{\"k\":2}", "*" },
        { NULL, "{\"e\":1}", NULL },
        { "{\"if\":{\"patternProperties\":{\"^k\":true}},\"unevaluatedPro"
          "perties\":false}",
          "{\"k\":1}", NULL },
        { NULL, "{\"j\":1}", "*" },
        { "{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":{}}}},\"pr"
          "operties\":{\"a\":{}},\"unevaluatedProperties\":false}",
          "{\"a\":1,\"b\":1}", NULL },
        { NULL, "{\"b\":1}", "*" },
        { "{\"$ref\":\"#/$defs/x\",\"properties\":{\"b\":{}},\"unevaluate"
          "dProperties\":false,\"$defs\":{\"x\":{\"properties\":{\"a\":{}"
          "}}}}",
          "{\"a\":1,\"b\":1}", NULL },
        { NULL, "{\"c\":1}", "*" },
        { "{\"allOf\":[{\"properties\":{\"a\":{}}},{\"unevaluatedProperti"
          "es\":false}]}",
          "{\"a\":1}", "*" },
        { NULL, "{}", NULL },
        { "{\"allOf\":[{\"unevaluatedProperties\":true}],\"unevaluatedPro"
          "perties\":false}",
          "{\"a\":1}", NULL },
        { "{\"allOf\":[{\"unevaluatedProperties\":{\"type\":\"string\"}}]"
          ",\"unevaluatedProperties\":false}",
          "{\"a\":\"x\"}", NULL },
        { NULL, "{\"a\":1}", "*" },
        { "{\"additionalProperties\":true,\"unevaluatedProperties\":false"
          "}",
          "{\"a\":1}", NULL },
        { "{\"properties\":{\"o\":{\"properties\":{\"x\":{}}}},\"unevalua"
          "tedProperties\":false}",
          "{\"o\":{\"x\":1,\"y\":2}}", NULL },
        { NULL, "{\"x\":1}", "*" },
        { "{\"properties\":{\"o\":{\"unevaluatedProperties\":false}},\"un"
          "evaluatedProperties\":false}",
          "{\"o\":{}}", NULL },
        { NULL, "{\"o\":{\"x\":1}}", "*" },
        { "{\"propertyNames\":{\"maxLength\":5},\"unevaluatedProperties\""
          ":false}",
          "{\"a\":1}", "*" },
        { "{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},true],\"unevaluatedProper"
          "ties\":false,\"$defs\":{\"a\":{\"properties\":{\"a\":{}}}}}",
          "{\"a\":1}", NULL },
        { NULL, "{\"b\":1}", "*" },
        { "{\"type\":\"object\",\"$ref\":\"#/$defs/n\",\"unevaluatedPrope"
          "rties\":false,\"$defs\":{\"n\":{\"properties\":{\"v\":{},\"nex"
          "t\":{\"$ref\":\"#/$defs/n\"}}}}}",
          "{\"v\":1,\"next\":{\"v\":2,\"more\":3}}", NULL },
        { NULL, "{\"v\":1,\"more\":3}", "*" },
    };

    TEST_ROWS(rows);
}
