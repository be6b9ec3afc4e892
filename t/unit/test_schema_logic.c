/* allOf, anyOf, oneOf, not, if, and what is said when none fits. */
#include "schema_help.h"

HELP_TEST(all, "allOf")
{
    static const test_row_t rows[] = {
        { "{\"allOf\":[{\"type\":\"string\"},{\"maxLength\":2}]}", "\"ab\"",
          NULL },
        { NULL, "\"abc\"", "(root): must have at most 2 characters, got 3" },
        { NULL, "1", "*" },
        { "{\"allOf\":[true,false]}", "1", "*" },
        { "{\"allOf\":[{\"allOf\":[{\"type\":\"null\"}]}]}", "null", NULL },
        { NULL, "1", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(any, "anyOf")
{
    static const test_row_t rows[] = {
        { "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "\"x\"",
          NULL },
        { NULL, "null", NULL },
        { NULL, "1", "(root): expected string or null, got number" },
        { "{\"anyOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "1", NULL },
        { NULL, "2.5", NULL },
        { NULL, "3", NULL },
        { NULL, "1.5", "*" },
        { NULL, "\"x\"", NULL },
        { "{\"anyOf\":[true,false]}", "1", NULL },
        { "{\"anyOf\":[false,false]}", "1", "*" },
        { "{\"properties\":{\"s\":{\"anyOf\":[{\"type\":\"object\",\"prop"
          "erties\":{\"kind\":{\"const\":\"circle\"},\"r\":{\"type\":\"nu"
          "mber\"}},\"required\":[\"kind\",\"r\"]},{\"type\":\"object\","
          "\"properties\":{\"kind\":{\"const\":\"box\"},\"w\":{\"type\":"
          "\"number\"}},\"required\":[\"kind\",\"w\"]}]}}}",
          "{\"s\":{\"kind\":\"box\",\"w\":\"2\"}}",
          "/s: fits none of the 2 schemas of anyOf; closest is number 2: "
          "/s/w: expected number, got string" },
        { NULL, "{\"s\":{\"kind\":\"circle\",\"w\":2}}",
          "/s: fits none of the 2 schemas of anyOf; closest is number 1: "
          "/s/r: missing; this property is required" },
        { NULL, "{\"s\":5}", "/s: expected object, got number" },
        { "{\"anyOf\":[{\"type\":\"string\"},{\"anyOf\":[{\"type\":\"null"
          "\"},{\"type\":\"boolean\"}]}]}",
          "1", "(root): expected string, boolean or null, got number" },
        { "{\"anyOf\":[{\"type\":\"string\",\"maxLength\":1},{\"type\":\""
          "null\"}]}",
          "\"xx\"",
          "(root): fits none of the 2 schemas of anyOf; closest is number"
          " 1: (root): must have at most 1 character, got 2" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(one, "oneOf")
{
    static const test_row_t rows[] = {
        { "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "1", NULL },
        { NULL, "2.5", NULL },
        { NULL, "3",
          "(root): must fit exactly one schema of oneOf, fits numbers 1 a"
          "nd 2" },
        { NULL, "1.5", "*" },
        { "{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]},{\"r"
          "equired\":[\"c\"]}]}",
          "{\"a\":1}", NULL },
        { NULL, "{\"b\":1,\"c\":1}",
          "(root): must fit exactly one schema of oneOf, fits numbers 2 a"
          "nd 3" },
        { NULL, "{}", "*" },
        { "{\"oneOf\":[true,true]}", "1", "*" },
        { "{\"oneOf\":[false,true,false]}", "1", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(not, "not")
{
    static const test_row_t rows[] = {
        { "{\"not\":{\"type\":\"integer\"}}", "\"x\"", NULL },
        { NULL, "1", "(root): must not fit the schema of \"not\", got 1" },
        { "{\"not\":true}", "1", "*" },
        { "{\"not\":false}", "1", NULL },
        { "{\"not\":{\"not\":{\"type\":\"null\"}}}", "null", NULL },
        { NULL, "1", "*" },
        { "{\"not\":{\"properties\":{\"role\":{\"const\":\"admin\"}},\"re"
          "quired\":[\"role\"]}}",
          "{\"role\":\"user\"}", NULL },
        { NULL, "{\"role\":\"admin\"}", "*" },
        { NULL, "{\"role\":\"user\",\"role\":\"admin\"}",
          "/role: this key is given twice; give it once" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(if, "if, then, else")
{
    static const test_row_t rows[] = {
        { "{\"if\":{\"properties\":{\"k\":{\"const\":\"a\"}},\"required\""
          ":[\"k\"]},\"then\":{\"required\":[\"x\"]},\"else\":{\"required"
          "\":[\"y\"]}}",
          "{\"k\":\"a\",\"x\":1}", NULL },
        { NULL, "{\"k\":\"a\"}", "/x: missing; this property is required" },
        { NULL, "{\"y\":1}", NULL },
        { NULL, "{}", "/y: missing; this property is required" },
        { NULL, "{\"k\":\"b\",\"k\":\"a\",\"y\":1}",
          "/k: this key is given twice; give it once" },
        { "{\"if\":{\"const\":1}}", "2", NULL },
        { NULL, "1", NULL },
        { "{\"then\":false,\"else\":false}", "1", NULL },
        { "{\"if\":false,\"then\":false,\"else\":{\"const\":1}}", "1", NULL },
        { NULL, "2", "*" },
        { "{\"allOf\":[{\"if\":{\"exclusiveMaximum\":0}},{\"then\":{\"min"
          "imum\":-10}},{\"else\":{\"multipleOf\":2}}]}",
          "-100", NULL },
        { NULL, "3", NULL },
    };

    TEST_ROWS(rows);
}
