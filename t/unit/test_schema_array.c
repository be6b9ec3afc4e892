/* Rules about the elements of an array. */
#include "schema_help.h"

HELP_TEST(items, "items, prefixItems")
{
    static const test_row_t rows[] = {
        { "{\"items\":{\"type\":\"integer\"}}", "[]", NULL },
        { NULL, "[1,2]", NULL },
        { NULL, "[1,\"x\"]", "/1: expected integer, got string" },
        { NULL, "{\"0\":\"x\"}", NULL },
        { "{\"items\":false}", "[]", NULL },
        { NULL, "[1]", "/0: no value is allowed here; leave it out" },
        { "{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}"
          "]}",
          "[1,\"a\",null]", NULL },
        { NULL, "[1]", NULL },
        { NULL, "[]", NULL },
        { NULL, "[\"a\",1]", "/0: expected integer, got string" },
        { NULL, "[1,1]", "/1: expected string, got number" },
        { "{\"prefixItems\":[true,{\"const\":2}],\"items\":{\"type\":\"nu"
          "ll\"}}",
          "[5,2,null,null]", NULL },
        { NULL, "[5,2,3]", "/2: expected null, got number" },
        { NULL, "[null,null]", "*" },
        { "{\"prefixItems\":[true],\"items\":false}", "[1]", NULL },
        { NULL, "[1,2]", "/1: no value is allowed here; leave it out" },
        { "{\"items\":{\"items\":{\"items\":{\"type\":\"null\"}}}}",
          "[[[null],[]],[[null]]]", NULL },
        { NULL, "[[[null],[1]]]", "/0/1/0: expected null, got number" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(contains, "contains")
{
    static const test_row_t rows[] = {
        { "{\"contains\":{\"minimum\":5}}", "[1,6]", NULL },
        { NULL, "[1,2]",
          "(root): must have at least 1 items that fit \"contains\", got "
          "0" },
        { NULL, "[]", "*" },
        { NULL, "[\"x\"]", NULL },
        { NULL, "{}", NULL },
        { "{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":"
          "3}",
          "[1,1]", NULL },
        { NULL, "[1,1,1,0]", NULL },
        { NULL, "[1]", "*" },
        { NULL, "[1,1,1,1]",
          "(root): must have at most 3 items that fit \"contains\", got 4" },
        { "{\"contains\":{\"const\":1},\"minContains\":0}", "[]", NULL },
        { NULL, "[2]", NULL },
        { "{\"contains\":{\"const\":1},\"minContains\":0,\"maxContains\":"
          "1}",
          "[]", NULL },
        { NULL, "[1]", NULL },
        { NULL, "[1,1]", "*" },
        { "{\"minContains\":2,\"maxContains\":0}", "[1]", NULL },
        { "{\"contains\":{\"const\":1},\"minContains\":2.0}", "[1]", "*" },
        { NULL, "[1,1]", NULL },
        { "{\"contains\":{\"const\":1},\"maxContains\":0}", "[]", "*" },
        { NULL, "[1]", "*" },
        { "{\"contains\":true}", "[]", "*" },
        { NULL, "[null]", NULL },
        { "{\"contains\":false}", "[]", "*" },
        { NULL, "[1]", "*" },
        { NULL, "\"x\"", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(sizes, "minItems, maxItems")
{
    static const test_row_t rows[] = {
        { "{\"minItems\":1}", "[1]", NULL },
        { NULL, "[]", "(root): must have at least 1 item, got 0" },
        { NULL, "\"\"", NULL },
        { "{\"maxItems\":2.0}", "[1,2]", NULL },
        { NULL, "[1,2,3]", "(root): must have at most 2 items, got 3" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(unique, "uniqueItems")
{
    static const test_row_t rows[] = {
        { "{\"uniqueItems\":true}", "[1,2]", NULL },
        { NULL, "[1,1]",
          "(root): items must be unique, but 0 and 1 are equal: 1" },
        { NULL, "[1,1.0]", "*" },
        { NULL, "[100,1e2]", "*" },
        { NULL, "[0,-0.0]", "*" },
        { NULL, "[0,false]", NULL },
        { NULL, "[1,true]", NULL },
        { NULL, "[\"a\",\"\\u0061\"]", "*" },
        { NULL, "[\"a\",\"A\"]", NULL },
        { NULL, "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1.0}]", "*" },
        { NULL, "[{\"a\":1},{\"a\":2}]", NULL },
        { NULL, "[[1],[1]]", "*" },
        { NULL, "[[1,2],[2,1]]", NULL },
        { NULL, "[[],{}]", NULL },
        { NULL, "[null,null]", "*" },
        { NULL, "[{\"a\":{\"b\":[1,{}]}},{\"a\":{\"b\":[1,{}]}}]", "*" },
        { NULL, "[[0],[false]]", NULL },
        { NULL, "[{\"a\":0},{\"a\":false}]", NULL },
        { NULL, "[]", NULL },
        { NULL, "[\"1\",1]", NULL },
        { NULL, "[9007199254740992,9007199254740993]", NULL },
        { NULL, "[1e400,10e399]", "*" },
        { NULL, "[\"/\",\"\\/\"]", "*" },
        { NULL, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,3]",
          "(root): items must be unique, but 2 and 20 are equal: 3" },
        { NULL, "[[1,[2]],[1,[2],3]]", NULL },
        { NULL, "[{},{\"a\":null}]", NULL },
        { "{\"uniqueItems\":false}", "[1,1]", NULL },
        { "{\"items\":{\"uniqueItems\":true},\"uniqueItems\":true}",
          "[[1,2],[1,3]]", NULL },
        { NULL, "[[1,2],[1,2]]", "*" },
        { NULL, "[[1,1],[2,3]]",
          "/0: items must be unique, but 0 and 1 are equal: 1" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(unevaluated, "unevaluatedItems")
{
    static const test_row_t rows[] = {
        { "{\"unevaluatedItems\":false}", "[]", NULL },
        { NULL, "[1]", "/0: item not allowed (unevaluatedItems)" },
        { NULL, "{}", NULL },
        { "{\"prefixItems\":[true],\"unevaluatedItems\":{\"type\":\"strin"
          "g\"}}",
          "[1,\"x\"]", NULL },
        { NULL, "[1,2]", "/1: expected string, got number" },
        { "{\"items\":true,\"unevaluatedItems\":false}", "[1]", NULL },
        { "{\"contains\":{\"type\":\"string\"},\"unevaluatedItems\":false"
          "}",
          "[\"a\",\"b\"]", NULL },
        { NULL, "[\"a\",1]", "/1: item not allowed (unevaluatedItems)" },
        { "{\"allOf\":[{\"contains\":{\"multipleOf\":2}},{\"contains\":{"
          "\"multipleOf\":3}}],\"unevaluatedItems\":{\"multipleOf\":5}}",
          "[2,3,4,5,6]", NULL },
        { NULL, "[2,3,4,7,8]", "*" },
        { "{\"prefixItems\":[true],\"anyOf\":[{\"prefixItems\":[true,{\"c"
          "onst\":\"b\"}]},{\"prefixItems\":[true,true,{\"const\":\"c\"}]"
          "}],\"unevaluatedItems\":false}",
          "[1,\"b\"]", NULL },
        { NULL, "[1,\"b\",\"c\"]", NULL },
        { NULL, "[1,\"x\",\"c\"]", NULL },
        { NULL, "[1,\"b\",\"x\"]", "*" },
        { "{\"allOf\":[{\"prefixItems\":[true]},{\"unevaluatedItems\":fal"
          "se}]}",
          "[1]", "*" },
        { NULL, "[]", NULL },
        { "{\"if\":{\"prefixItems\":[{\"const\":1}]},\"then\":{\"prefixIt"
          "ems\":[true,true]},\"unevaluatedItems\":false}",
          "[1,2]", NULL },
        { NULL, "[2]", "*" },
        { "{\"not\":{\"not\":{\"prefixItems\":[true]}},\"unevaluatedItems"
          "\":false}",
          "[1]", "*" },
        { "{\"$ref\":\"#/$defs/x\",\"unevaluatedItems\":false,\"$defs\":{"
          "\"x\":{\"prefixItems\":[{\"type\":\"string\"}]}}}",
          "[\"a\"]", NULL },
        { NULL, "[\"a\",\"b\"]", "*" },
        { "{\"minContains\":0,\"contains\":{\"const\":1},\"unevaluatedIte"
          "ms\":false}",
          "[]", NULL },
        { NULL, "[1]", NULL },
        { NULL, "[2]", "*" },
        { "{\"properties\":{\"a\":{\"prefixItems\":[true]}},\"unevaluated"
          "Items\":false}",
          "{\"a\":[1,2]}", NULL },
    };

    TEST_ROWS(rows);
}
